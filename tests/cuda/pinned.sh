# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Pinned main memory on the stub of the CUDA runtime (tests/lib/cudart/cudart.h): the pool is used
# again, settings switch it off, and a machine that refuses to pin gets one warning.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
use_cuda_stub
tests=$ORR_TEST_BUILDDIR/tests/cuda
export STARPU_NCPU=1

ok "$tests/pinned" pool
ORRERY_PINNED_KEEP=0 ok "$tests/pinned" alone
STARPU_DISABLE_PINNING=1 ok "$tests/pinned" none

# The tests of kernels with pinned buffers that cannot be had.
ORR_CUDART_FAIL=pin:1+ ok "$tests/kernels"
ORR_CUDART_FAIL=pin:1+ fails 1 'main memory cannot be pinned' "$tests/pinned" pool
[ "$(grep -c 'cannot be pinned' err)" -eq 1 ] || die "the warning comes more than once: $(cat err)"
exit 0
