#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A run that grows and shrinks many times keeps nothing of it: no descriptor, no thread, no process, and no
# memory but what a start costs in plain MPI (about 100 kB with Open MPI 4.1.4), or in SMPI (about 11 kB).
# orr-test: timeout 200
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

programs=$ORR_TEST_BUILDDIR/tests/elastic
STARPU_NCPU=1
export STARPU_NCPU

# changes N: N times a process more, and one less.
changes() {
	sizes=2
	: > script
	for i in $(seq "$1"); do
		printf 'at 0.01 grow 1\nat 0.01 shrink 1\n' >> script
		sizes="$sizes 3 2"
	done
}

# kept BYTES: a run whose output is in out kept at most so much for each growth, after the first three.
kept() {
	has out '^all is right'
	sed -n 's/^step .*: 2 ranks, \([0-9]*\) bytes, \([0-9]*\) descriptors, \([0-9]*\) threads,.*$/\1 \2 \3/p' out > after
	awk -v most="$1" 'NR == 4 { b = $1; d = $2; t = $3 } END { each = ($1 - b) / (NR - 4); print each " bytes for each growth; " most " allowed"
		exit !(each <= most && $2 <= d && $3 <= t) }' after || { cat out; die "something is kept"; }
}

if [ "$ORR_TEST_SIM" = yes ]; then
	changes 100
	ok "$ORRERY" sim -n 2 --elastic --max 3 --scenario script --cost-start 1000 --cost-join 1000 "$programs/follow.sim" 3 $sizes
	kept 14000
fi
[ "$ORR_TEST_MPI" = yes ] || exit 0
ok "$ORRERY" run -n 1 --mpirun --oversubscribe "$programs/leak" 9
plain=$(sed -n 's/^\([39]\) starts, \([0-9]*\) bytes$/\2/p' out | tr '\n' ' ' | awk '{ printf "%d", ($2 - $1) / 6 * 1.25 + 8000 }')
changes 10
ok "$ORRERY" run -n 2 --elastic --max 3 --manager script:script "$programs/follow" 3 $sizes
kept "$plain"
ps -e -o args= | grep -v grep | grep -q "^$programs/.*follow 3 2" && die "a process is still there"
exit 0
