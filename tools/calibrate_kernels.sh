#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Measures the kernels of the Cholesky example on this machine, for a machine directory:
#     sh tools/calibrate_kernels.sh BUILD-DIR MACHINE-DIR [SIZE...]
# writes MACHINE-DIR/codelets/45/orrery_*.NAME, NAME being the last part of MACHINE-DIR.
# Invariant: one worker and one BLAS thread, so that a kernel has a core of its own; the run is put before all
# others where that is permitted (chrt), so that a busy machine measures the same as an idle one.
set -eu
if [ $# -lt 2 ]; then
	echo "usage: $0 BUILD-DIR MACHINE-DIR [SIZE...]" >&2
	exit 2
fi
program=$1/examples/cholesky/cholesky
machine=${2%/}
shift 2
if [ ! -x "$program" ]; then
	echo "$0: there is no $program; name the build tree, after make" >&2
	exit 2
fi
mkdir -p "$machine"
STARPU_PERF_MODEL_DIR=$(cd "$machine" && pwd)
STARPU_HOSTNAME=$(basename "$STARPU_PERF_MODEL_DIR")
export STARPU_PERF_MODEL_DIR STARPU_HOSTNAME
export STARPU_CALIBRATE=1 STARPU_NCPU=1 OPENBLAS_NUM_THREADS=1
first=
if chrt -f 10 true 2> /dev/null; then first="chrt -f 10"; fi

for b in ${*:-64 128 256 512 960}; do
	nt=6
	repeat=6
	if [ "$b" -lt 256 ]; then nt=12 repeat=12; fi
	i=0
	# --check also runs the kernel that verifies, written in plain loops: slow on large tiles.
	while [ "$i" -lt "$repeat" ]; do
		check=
		if [ "$i" -eq 0 ] || [ "$b" -lt 256 ]; then check=--check; fi
		$first "$program" -nt $nt -b "$b" $check
		i=$((i + 1))
	done
done
rm -f "$STARPU_PERF_MODEL_DIR/.lock"
