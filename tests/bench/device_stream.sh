# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Tasks whose copies take as long as their kernels: a fake device in both worlds, one of CUDA, and PoCL's.
export STARPU_NCPU=0 STARPU_HOME="$TMPDIR"
program=$ORR_TEST_BUILDDIR/tests/bench/device_stream
status=0

# stream TITLE COMMAND...
stream() {
	printf '%s: ' "$1"
	shift
	"$@" || { [ $? = 77 ] && echo "there is no such device" || status=1; }
}

export ORRERY_FAKE_DEVICES=1 ORRERY_FAKE_COPY_MBS=10 ORRERY_FAKE_KERNEL_US=4000
[ "$ORR_TEST_MPI" != yes ] || stream "fake device" "$program"
[ "$ORR_TEST_SIM" != yes ] || stream "fake device, simulated" "$ORRERY" sim -n 1 "$program.sim"
ORRERY_FAKE_DEVICES=0
[ "$ORR_TEST_MPI" != yes ] || stream "CUDA" env STARPU_NOPENCL=0 "$program"
[ "$ORR_TEST_MPI" != yes ] || stream "PoCL" env STARPU_NCUDA=0 STARPU_OPENCL_ON_CPUS=1 "$program"
[ "$ORR_TEST_MPI" != yes ] || stream "PoCL, kernels that sleep" env STARPU_NCUDA=0 STARPU_OPENCL_ON_CPUS=1 "$program" sleep
exit $status
