# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The memory of devices in messages (gpudirect.c): fake devices, the stub of the CUDA runtime with an MPI that reaches
# its memory and with one that does not, and the simulated world, where messages do not wait for copies then.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/mpi/gpudirect
export STARPU_NCPU=1 STARPU_MPI_GPUDIRECT

real() { ok "$ORRERY" run -n "$1" --oversubscribe "$program" "$2"; }

if [ "${ORR_TEST_MPI:-yes}" = yes ]; then
	export ORRERY_FAKE_DEVICES=1
	STARPU_MPI_GPUDIRECT=1
	real 2 direct
	real 4 direct
	ORRERY_TRANSPORT=mpi real 2 direct
	STARPU_MPI_GPUDIRECT=0
	real 2 main
	STARPU_MPI_GPUDIRECT=-1
	real 2 main
	ORRERY_FAKE_DEVICES=0
fi
if [ "${ORR_TEST_MPI:-yes}" = yes ] && [ "${ORR_TEST_CUDA:-yes}" = yes ]; then
	use_cuda_stub
	export ORR_CUDART_OPEN=1 ORR_TEST_CUDA_AWARE=1
	real 2 direct
	STARPU_MPI_GPUDIRECT=0
	real 2 main
	ORR_TEST_CUDA_AWARE=0
	STARPU_MPI_GPUDIRECT=-1
	real 2 main
	if grep GPUDIRECT err; then die "a warning that nobody asked for"; fi
	STARPU_MPI_GPUDIRECT=1
	real 2 main
	has err 'STARPU_MPI_GPUDIRECT=1: this MPI does not reach the memory of GPUs'
	unset ORRERY_CUDART
fi
[ "${ORR_TEST_SIM:-yes}" = yes ] || exit 0

# Messages of 256 KiB need not wait for the copy, which takes 26 ms.
export ORRERY_FAKE_DEVICES=1 ORRERY_FAKE_COPY_MBS=10
simulated() { ok "$ORRERY" sim -n "$1" --report r.json "$program.sim" "$2"; sed -n 's/.*makespan_s": *\([0-9.]*\).*/\1/p' r.json; }
STARPU_MPI_GPUDIRECT=1
simulated 4 direct > /dev/null
fast=$(simulated 2 direct)
STARPU_MPI_GPUDIRECT=-1
slow=$(simulated 2 main)
awk -v fast="$fast" -v slow="$slow" 'BEGIN { exit !(fast > 0 && slow - fast > 0.15) }' || die "virtual times $fast with GPUDIRECT, $slow without"
exit 0
