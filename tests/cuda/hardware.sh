# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The CUDA driver on a GPU that is really there, and the examples with their kernels for CUDA.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_CUDA" = yes ] || skip "configured with --disable-cuda"
tests=$ORR_TEST_BUILDDIR/tests/cuda
examples=$ORR_TEST_BUILDDIR/examples
[ -x "$tests/hardware" ] || skip "no nvcc, cuBLAS or cuSOLVER when this was configured"
export STARPU_NCPU=2 STARPU_NOPENCL=0
status=0
"$tests/hardware" > out 2> err || status=$?
[ $status != 77 ] || skip "there is no GPU that CUDA drives"
[ $status = 0 ] || die "hardware: exit status $status: $(cat out err)"

# Pipelines, threads, streams.
for STARPU_CUDA_PIPELINE in 0 4; do
	export STARPU_CUDA_PIPELINE
	STARPU_NWORKER_PER_CUDA=3 ok "$tests/hardware"
done
unset STARPU_CUDA_PIPELINE
for thread in WORKER=1 DEV=1 DEV=0; do
	env STARPU_CUDA_THREAD_PER_$thread STARPU_NWORKER_PER_CUDA=3 "$tests/hardware" > out 2> err ||
		die "STARPU_CUDA_THREAD_PER_$thread: $(cat out err)"
done

# Little memory, copies that are waited for, nothing pinned, data beyond 4 GiB.
STARPU_LIMIT_CUDA_MEM=20 ok "$tests/hardware"
STARPU_DISABLE_ASYNCHRONOUS_CUDA_COPY=1 ok "$tests/hardware"
STARPU_DISABLE_PINNING=1 ok "$tests/hardware"
[ "$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)" -lt 16 ] || ok "$tests/hardware" large

# A kernel that writes nowhere ends the program, with its task's name.
fails 1 'task writes_nowhere failed on CUDA 0' "$tests/hardware" fault

# The examples.
[ "$ORR_TEST_MPI" = yes ] || exit 0
checked() { p=$1; shift; ok "$examples/$p/$p" --devices "$@"; has out 'check: OK'; }
ok "$examples/vector_scal/vector_scal" --devices
has out 'on_cpu=0 on_devices=40'
checked complex_interface -n 1000 -p 7
checked stencil -nx 3 -ny 2 -b 9 --niter 5 --check
checked stencil -nx 1 -ny 1 -b 1 --niter 4 --check
checked cholesky -nt 4 -b 17 --check
checked cholesky -nt 6 -b 320 --check
checked cholesky -nt 3 -b 8 --single --check
checked lu -nt 4 -b 17 --check
checked lu -nt 6 -b 320 --check
ok "$examples/multiformat/multiformat" --steps 6
has out 'check: OK'
many() { p=$1; shift; ok "$ORRERY" run -n 2 --oversubscribe "$examples/$p/$p" --devices "$@"; }
many ring -n 5
many cholesky -nt 6 -b 64 --check
has out 'check: OK'
exit 0
