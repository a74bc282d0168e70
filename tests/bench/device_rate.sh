# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The cost of a task of a device: a fake one, one of CUDA and PoCL's.
[ "$ORR_TEST_MPI" = yes ] || exit 77
. "$ORR_TEST_SRCDIR/tests/lib/bench_devices.sh"
export STARPU_NCPU=0
on_each_device device_rate
