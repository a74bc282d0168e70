#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Every recorded machine of the samples runs a small Cholesky factorization, with
# each size of tiles that was measured: it ends, above its lower bounds, and what
# the measurements lack is named. Skipped where the samples are not at hand.
# orr-test: world sim
# orr-test: timeout 180
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"
[ -n "$ORR_PERFMODELS_SAMPLES" ] || skip "the samples are not at hand"
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
n=0

# factor MACHINE POLICY NODES TILE: the seconds go to $s, the share without measurements to $guessed.
factor() {
	ok env STARPU_SCHED="$2" STARPU_SILENT=1 "$ORRERY" sim -n "$3" --machine "$ORR_PERFMODELS_SAMPLES/$1" --kernels skip --bound \
		--report r.json "$cholesky" --single --models chol_model_ -nt 10 -b "$4"
	line=$(python3 - "$1" "$2" "$3" "$4" <<- 'END'
	import json, sys
	r, out = json.load(open("r.json")), open("out").read()
	s, gflops = (float(out.split(key + "=")[1].split()[0]) for key in ("time_s", "gflops"))
	assert r["makespan_s"] >= max(r["area_bound_s"], r["path_bound_s"]) > 0, r
	assert 20 < gflops < 4000 * int(sys.argv[3]), out
	print(s, r["uncalibrated_fraction"] - r["uncalibrated"].get("orrery_sinit", 0) / 1e9)
	END
	) || die "$*: $(cat r.json out)"
	s=${line% *} guessed=${line#* }
	echo "$* $s"
	n=$((n + 1))
}

for config in "$ORR_PERFMODELS_SAMPLES"/bus/*.config; do
	machine=$(basename "$config" .config)
	for tile in 320 640 960; do
		factor "$machine" eager 1 $tile
		eager=$s
		factor "$machine" dmdas 1 $tile
		awk -v a="$s" -v b="$eager" 'BEGIN { exit !(a < b) }' || die "$machine, tiles of $tile: dmdas takes $s s, eager $eager s"
	done
	factor "$machine" dmdas 4 960
	case $machine in
	hannibal*) has err 'uncalibrated: .*chol_model_potrf' ;;	# was never measured on its cores
	*) ! grep -q 'uncalibrated: .*chol_model' err || die "$machine: $(cat err)" ;;
	esac
done
[ $n -ge 35 ] || die "only $n runs"
