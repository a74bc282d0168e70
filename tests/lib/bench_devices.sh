# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by benchmarks of devices.
#     on_each_device PROGRAM     runs a benchmark on a fake device, one of CUDA and PoCL's, as far as they are there; its
#                                status is not 0 if one of them failed
on_each_device() {
	status=0
	for device in ORRERY_FAKE_DEVICES=1 STARPU_NCUDA=1 "STARPU_OPENCL_ON_CPUS=1 STARPU_NCUDA=0"; do
		printf '%s: ' "$device"
		# shellcheck disable=SC2086 # variables are words
		env $device "$ORR_TEST_BUILDDIR/tests/bench/$1" || { [ $? = 77 ] && echo "no device"; } || status=1
	done
	return $status
}
