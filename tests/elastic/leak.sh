#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A run that grows and shrinks many times keeps nothing of it: no descriptor, no thread, no process, and no
# memory but what a start costs in plain MPI (about 100 kB with Open MPI 4.1.4), or in SMPI (about 11 kB with SimGrid
# 3.32, 16 kB with 4.0: objects of actors and of instances that SimGrid makes and keeps).
# The real run makes 12 changes; `make check-long` lets it make 200 (ORR_GROWTHS=100).
# orr-test: timeout 300
# orr-test: sanitizer none
# orr-test: waits
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/elastic.sh"

programs=$ORR_TEST_BUILDDIR/tests/elastic
STARPU_NCPU=1
export STARPU_NCPU

# Programs of awk begin with this: the median of the differences of a[n], n from first + 1 to last. A
# start that happens to keep more or less than the others does not count.
median='function median_step(a, first, last, n, d, i, j, t) {
	for (n = first + 1; n <= last; n++) {
		t = a[n] - a[n - 1]
		for (i = n - first; i > 1 && d[i - 1] > t; i--) d[i] = d[i - 1]
		d[i] = t
	}
	n = last - first
	return (d[int((n + 1) / 2)] + d[int(n / 2) + 1]) / 2
}'

# kept BYTES: a run whose output is in out kept at most so much for each growth, after the first ones,
# and no descriptor or thread. Some live for a moment only, for instance the thread that asks the
# registry: the fewest of the second half of the run are compared with the most of the first half.
kept() {
	has out '^all is right'
	sed -n 's/^step .*: 2 ranks, \([0-9]*\) bytes, \([0-9]*\) descriptors, \([0-9]*\) threads,.*$/\1 \2 \3/p' out > after
	awk -v most="$1" "$median"' { bytes[NR] = $1; descriptors[NR] = $2; threads[NR] = $3 }
		function grew(a, half, n, most, least) {
			half = int((NR + 1) / 2)
			for (n = 2; n <= half; n++) if (a[n] > most) most = a[n]
			for (least = a[NR]; n <= NR; n++) if (a[n] < least) least = a[n]
			return least > most
		}
		END { each = median_step(bytes, 2, NR)
			print NR - 1 " growths and shrinks, " each " bytes for each growth; " most " allowed"
			print "descriptors, first and last: " descriptors[1] ", " descriptors[NR] "; threads: " threads[1] ", " threads[NR]
			exit !(NR > 6 && each <= most && !grew(descriptors) && !grew(threads)) }' after ||
		{ cat out; die "something is kept"; }
}

if [ "$ORR_TEST_SIM" = yes ]; then
	changes 100
	ok "$ORRERY" sim -n 2 --elastic --max 3 --scenario script --cost-start 1000 --cost-join 1000 "$programs/follow.sim" 3 $sizes
	case $(cat err) in *"SimGrid 3."*) kept 14000 ;; *) kept 18000 ;; esac
fi
[ "$ORR_TEST_MPI" = yes ] || exit 0
# MPI_Comm_spawn() of Open MPI 4.1.4 hangs now and then in PMIx_Lookup(), also in plain MPI.
for _ in 1 2 3 4 5; do
	timeout 25 "$ORRERY" run -n 1 --oversubscribe "$programs/leak" 5 > out 2> err && break
done
has out '^5 starts'
plain=$(sed -n 's/^[0-9]* starts, \([0-9]*\) bytes$/\1/p' out | awk "$median"' { b[NR] = $1 } END { printf "%d", median_step(b, 2, NR) * 1.25 + 8000 }')
[ "$plain" -gt 8000 ] || { cat out; die "plain MPI keeps nothing"; }
changes "${ORR_GROWTHS:-6}"
ok "$ORRERY" run -n 2 --elastic --max 3 --manager script:script "$programs/follow" 3 $sizes
kept "$plain"
ended "^$programs/.*follow 3 2"
exit 0
