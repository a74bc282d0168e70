# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The examples verify their own results in both worlds and at every size; at 4
# ranks both worlds send the same messages and bytes between the same pairs; the same simulated
# run twice gives the same files.
# orr-test: timeout 300
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
examples=$ORR_TEST_BUILDDIR/examples
[ "$ORR_TEST_MPI$ORR_TEST_SIM" != nono ] || skip "no world with ranks"

# real N PROGRAM ARGS...: a real run; sim N PROGRAM ARGS...: a simulated one.
real() { n=$1 p=$2; shift 2; ok "$ORRERY" run -n $n --oversubscribe "$examples/$p/$p" "$@"; }
sim() { n=$1 p=$2; shift 2; ok "$ORRERY" sim -n $n --stats s.csv --report r.json "$examples/$p/$p.sim" "$@"; }

# all WORLD N: every example on N ranks.
all() {
	[ $2 = 1 ] || for ring in ring_mpi ring_acquire ring; do $1 $2 $ring; done
	$1 $2 stencil5 -x 24 -y 24 --niter 5 --check
	has out 'check: OK'
	$1 $2 cholesky -nt 8 -b 16 --check
	has out 'check: OK'
	$1 $2 cholesky -nt 5 -b 16 --check --no-prune
	has out 'check: OK'
	$1 $2 lu -nt 7 -b 16 --check
	has out 'check: OK'
	$1 $2 stencil -nx 5 -ny 8 -b 9 --niter 7 --check
	has out 'check: OK'
}

if [ "$ORR_TEST_MPI" = yes ]; then for n in 1 2 4; do all real $n; done; fi
if [ "$ORR_TEST_SIM" = yes ]; then for n in 1 4 16 64; do all sim $n; done; fi
[ "$ORR_TEST_MPI$ORR_TEST_SIM" = yesyes ] || exit 0

# pairs FILE: source, destination, bytes and messages of each pair in a file of statistics.
pairs() { grep '^[0-9]' "$1" | cut -d, -f1-4 | sort; }
for example in "ring" "stencil5 -x 24 -y 24 --niter 5" "cholesky -nt 8 -b 16" "lu -nt 7 -b 16" "stencil -nx 5 -ny 4 -b 9 --niter 7"; do
	ORRERY_MPI_STATS_FILE=$PWD/real.csv
	export ORRERY_MPI_STATS_FILE
	real 4 $example
	unset ORRERY_MPI_STATS_FILE
	pairs real.csv > real.txt
	sim 4 $example
	pairs s.csv > sim.txt
	[ -s real.txt ] || die "no statistics of $example"
	diff real.txt sim.txt || die "the worlds differ in what $example sends"
done

sim 16 cholesky -nt 8 -b 16
cp s.csv s1.csv
sed 's/"\(wall_s\|peak_rss_bytes\)": *[0-9.e+-]*//g' r.json > r1.json
sim 16 cholesky -nt 8 -b 16
sed 's/"\(wall_s\|peak_rss_bytes\)": *[0-9.e+-]*//g' r.json > r2.json
cmp s1.csv s.csv && cmp r1.json r2.json || die "the same simulated run twice gave different files"
"$PYTHON" -c '
import json
report = json.load(open("r.json"))
missing = [key for key in "nodes makespan_s tasks messages bytes wall_s peak_rss_bytes".split() if key not in report]
assert not missing, missing
assert report["nodes"] == 16 and report["tasks"] > 0 and report["makespan_s"] > 0 and report["messages"] > 0, report
' || die "the report is wrong"
