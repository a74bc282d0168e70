#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A machine with CUDA and OpenCL devices: which are used, several workers on one
# device, codelets that ask to be executed (gpu_kinds.c).
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/gpu_kinds.sim

mkdir -p m/bus m/codelets/45
printf '8 # Number of CPUs\n2 # Number of CUDA devices\n3 # Number of OpenCL devices\n' > m/bus/box.config
for i in 0 1 2 3 4 5; do echo "1000 1000 1000 1000 1000 500"; done > m/bus/box.bandwidth
for i in 0 1 2 3 4 5; do echo "10 10 10 10 10 10"; done > m/bus/box.latency
printf 'cuda1 512 MiB\nopencl0 128 MiB\nopencl2 256 MiB\nalloc 0 us\n' > m/bus/box.memory
printf '45\n1\n1\n2\n0\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n12345678 1024 0 700 0 7000 0 10\n' > m/codelets/45/kinds_known.box

# box TEXT WORDS: the program with these arguments prints the text.
box() {
	text=$1
	shift
	ok env ORR_SIM_COSTS=0 STARPU_SILENT=1 $variables "$ORRERY" sim --machine box --machine-path "$PWD/m" $options "$program" "$@"
	[ "$(cat out)" = "$text" ] || die "not '$text' but '$(cat out)': $variables $*"
}

# A GPU that CUDA drives is not there again.
options= variables=
box '5 cpu 2 cuda 1 opencl, 4 nodes, last is OpenCL 0 with 128 MiB' show
variables=STARPU_NCUDA=0
box '5 cpu 0 cuda 3 opencl, 4 nodes, last is OpenCL 2 with 256 MiB' show
variables="STARPU_NOPENCL=3 STARPU_LIMIT_OPENCL_2_MEM=64"
box '3 cpu 2 cuda 3 opencl, 6 nodes, last is OpenCL 2 with 64 MiB' show
variables="STARPU_NOPENCL=0 STARPU_NWORKER_PER_CUDA=3"
box '6 cpu 6 cuda 0 opencl, 3 nodes, last is CUDA 1.2 with 512 MiB' show

# Workers of a device share it, unless it executes several kernels at once.
variables=
box '1 workers took 24000 us' cuda
box '1 workers took 24000 us' opencl
variables=STARPU_NWORKER_PER_CUDA=4
box '4 workers took 24000 us' cuda
echo 'kernels 2 streams' >> m/bus/box.memory
box '4 workers took 12000 us' cuda
echo 'kernels 3 streams' >> m/bus/box.memory
fails 1 'box.memory:6: malformed.*kernels only once' "$ORRERY" sim --machine box --machine-path "$PWD/m" "$program" show
printf 'opencl3 5 MiB\n' > m/bus/box.memory
fails 1 'box.memory:1: malformed.*counted from cuda0 and opencl0' "$ORRERY" sim --machine box --machine-path "$PWD/m" "$program" show
printf 'alloc 0 us\n' > m/bus/box.memory
fails 1 'STARPU_NWORKER_PER_CUDA=0' env STARPU_NWORKER_PER_CUDA=0 "$ORRERY" sim --machine box --machine-path "$PWD/m" "$program" show

# There and back, 10 us and 1024 bytes each way, the kernel 700 us.
variables=
box 'took 722 us' known
options="--kernels run"
box '' run
options="--kernels skip"
box '' skip
