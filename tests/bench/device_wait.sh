# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What it costs to wait for a device, and how late its ends are noticed: a fake device, one of CUDA and PoCL's.
[ "$ORR_TEST_MPI" = yes ] || exit 77
export STARPU_NCPU=0
status=0

for device in ORRERY_FAKE_DEVICES=1 STARPU_NCUDA=1 "STARPU_OPENCL_ON_CPUS=1 STARPU_NCUDA=0"; do
	printf '%s: ' "$device"
	env $device "$ORR_TEST_BUILDDIR/tests/bench/device_wait" || { [ $? = 77 ] && echo "no device"; } || status=1
done
exit $status
