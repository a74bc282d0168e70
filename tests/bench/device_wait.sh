# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The cost of waiting for a device, and how late its ends are noticed: a fake device, one of CUDA and PoCL's.
[ "$ORR_TEST_MPI" = yes ] || exit 77
. "$ORR_TEST_SRCDIR/tests/lib/bench_devices.sh"
export STARPU_NCPU=0
on_each_device device_wait
