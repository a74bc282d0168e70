# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Handles of cuBLAS, cuSPARSE and cuSOLVER on the stub of the CUDA runtime (tests/lib/cudart/cudart.h), and one that
# cannot be made.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
use_cuda_stub
tests=$ORR_TEST_BUILDDIR/tests/cuda
export STARPU_NCPU=1 ORR_CUDART_DEVICES=2 STARPU_NWORKER_PER_CUDA

# No devices, nothing to start.
ok env -u ORRERY_CUDART "$tests/handles"
has out '^0 workers$'
for STARPU_NWORKER_PER_CUDA in 1 3; do
	ok "$tests/handles"
	has out "^$((2 * STARPU_NWORKER_PER_CUDA)) workers$"
	has err 'starpu_cusparse_get_local_handle: the library was not started on this worker'
	has err 'starpu_cublas_get_local_handle: the calling thread is no worker of a device that CUDA drives'
done
STARPU_NWORKER_PER_CUDA=1
# The second call of starpu_cublas_init() tries again.
ORR_CUDART_FAIL=handle:2,handle:3 ok "$tests/handles" 1
has err 'no handle for CUDA .*: status 1'
exit 0
