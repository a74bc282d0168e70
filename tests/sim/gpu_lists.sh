#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# dmdas against eager on machines with 12 cores and 3 GPUs: a machine that this
# script describes, and the recorded one of the samples where they are at hand.
# gpu_lists.c says what is checked.
# orr-test: world sim
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
program=$ORR_TEST_BUILDDIR/tests/sim/gpu_lists.sim

# machine DIR BANDWIDTH LATENCY: bus/trio in DIR, all links alike.
machine() {
	mkdir -p "$1/bus" "$1/codelets"
	printf '12 # Number of CPUs\n3 # Number of CUDA devices\n0 # Number of OpenCL devices\n' > "$1/bus/trio.config"
	for i in 1 2 3 4; do echo "$2 $2 $2 $2"; done > "$1/bus/trio.bandwidth"
	for i in 1 2 3 4; do echo "$3 $3 $3 $3"; done > "$1/bus/trio.latency"
	printf 'alloc %s us\n' "$3" > "$1/bus/trio.memory"
}

# model KERNEL TILES CPU_US FAST_GPU_US SLOW_GPU_US: for TILES tiles of 512 x 512 floats.
model() {
	{
		printf '45\n4\n'
		for unit in "0 0 $3" "1 0 $4" "1 1 $4" "1 2 $5"; do
			set -- "$1" "$2" "$3" "$4" "$5" $unit
			printf '1\n%s\n%s\n1\n1\n1\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n' "$6" "$7"
			printf '%08x %s 0 %s 0 %s 0 10\n' "$2" $(($2 * 512 * 512 * 4)) "$8" "${8}0"
		done
	} > "real/codelets/45/lists_$1.trio"
}

# both PREFIX NT B: with links that are free, then as they are.
both() {
	ok env ORR_SIM_COSTS=0 STARPU_SILENT=1 "$ORRERY" sim --kernels skip --machine trio --machine-path "$PWD/free" "$program" "$@" exact
	cat out
	ok env STARPU_SILENT=1 "$ORRERY" sim --kernels skip --machine $machine --machine-path "$path" "$program" "$@"
	cat out
}

machine real 5000 10
machine free 1000000000 0
mkdir real/codelets/45
model potrf 1 4500 3500 6000
model trsm 2 8500 1700 3100
model syrk 2 8000 700 1500
model gemm 3 16000 800 1700
ln -s ../../real/codelets/45 free/codelets/45
machine=trio path=$PWD/real
both lists_ 8 512
both lists_ 14 512

[ -n "$ORR_PERFMODELS_SAMPLES" ] || { echo "the samples are not at hand: mirage is left out"; exit 0; }
rm free/codelets/45
mkdir free/codelets/45
for k in potrf trsm syrk gemm; do ln -s "$ORR_PERFMODELS_SAMPLES/codelets/45/chol_model_$k.mirage" free/codelets/45/chol_model_$k.trio; done
machine=mirage path=$ORR_PERFMODELS_SAMPLES
both chol_model_ 16 960
