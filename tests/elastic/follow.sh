#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A task program follows the resource manager at its resize points, in both worlds: it grows and
# shrinks, and its data are right. What cannot be met is refused, and the run goes on.
# orr-test: timeout 120
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
. "$ORR_TEST_SRCDIR/tests/lib/elastic.sh"

program=$ORR_TEST_BUILDDIR/tests/elastic/follow
STARPU_NCPU=1
export STARPU_NCPU

# sizes SIZES...: the run had these sizes.
sizes() { [ "$(sed -n 's/^step .*: \([0-9]*\) ranks,.*$/\1/p' out | tr '\n' ' ')" = "$* " ] || { cat out err; die "the sizes are not $*"; }; has out '^all is right'; }

printf 'at 0.2 grow 2\nat 0.21 grow 1\nat 0.22 shrink 4\nat 0.23 grow 3\n' > script
# more than the pool has, and more than there are
# a rank that owns a datum which does not follow stays; a process that dies while it joins is none
keeps() {
	FOLLOW_KEEPS=1 ok "$@" 5 2 1 2
	sizes 2 1 2
	has err 'rank 1 cannot leave, because it owns data'
	has err 'because 1 of 2 ranks refuse'
	has err 'takes back processes that cannot leave; the run goes on with all 2'
}
dies() {
	rm -f count
	FOLLOW_DIES=$PWD/count ok "$@" 5 2 3
	sizes 2 3
	has err 'ended while it joined; the run goes on without the 1 new processes'
}
# a process whose runtime cannot begin is none
cannot_begin() {
	rm -f count
	FOLLOW_FAILS=$PWD/count ok "$@" 5 2 3
	sizes 2 3
	has err 'there is no scheduling policy .nothing'
	has err '1 of its new processes refuse'
	has err 'the run does not grow to 3 ranks; it goes on with 2'
}
# a growth that the ranks refuse, because one of them uses another communicator: the new process ends
is_refused() {
	rm -f seen
	FOLLOW_OTHER=$PWD/seen ok "$@" 5 2
	sizes 2
	[ -e seen ] || die "no process was refused"
	has err 'messages have used another communicator'
	has err '2 of the processes of the communicator refuse it'
	has err 'the run does not grow to 3 ranks; it goes on with 2'
}
# hosts go away whose ranks are not the last ones, the first one among them
printf 'at 0.1 leave node-1\nat 0.2 leave node-0\nat 0.3 grow 1\nat 0.4 leave node-3\n' > hosts
cat > hosted <<'END'
#!/bin/sh
ORRERY_DYN_HOST=node-$OMPI_COMM_WORLD_RANK exec "$FOLLOW" "$@"
END
chmod +x hosted
printf 'at 0.1 shrink 1\n' > back
printf 'at 0.01 grow 1\n' > more
printf 'at 0.1 grow 1\nat 0.11 grow 1\n' > twice
printf 'at 0.1 grow 3\nat 0.11 shrink 2\nat 0.12 grow 1\n' > refused
if [ "$ORR_TEST_SIM" = yes ]; then
	ok "$ORRERY" sim -n 2 --elastic --max 5 --scenario script "$program.sim" 5 2 4 5 1 4
	sizes 2 4 5 1 4
	ok "$ORRERY" sim -n 2 --elastic --max 4 --scenario refused "$program.sim" 5 2 3
	sizes 2 3
	has err '3 more processes are refused: 2 of 4 in the pool are in use'
	has err '2 of the 2 processes of .* cannot leave: none would be left'
	keeps "$ORRERY" sim -n 2 --elastic --scenario back "$program.sim"
	dies "$ORRERY" sim -n 2 --elastic --max 3 --scenario twice "$program.sim"
	cannot_begin "$ORRERY" sim -n 2 --elastic --max 3 --scenario twice "$program.sim"
	is_refused "$ORRERY" sim -n 2 --elastic --max 3 --scenario more --cost-start 1000 "$program.sim"
	ok "$ORRERY" sim -n 5 --elastic --max 6 --scenario hosts "$program.sim" 20 5 4 3 4 3
	sizes 5 4 3 4 3
	# the run ends with processes that just start
	printf 'at 0.1 grow 1\nat 1.3 grow 1\n' > late
	ok "$ORRERY" sim -n 2 --elastic --max 4 --scenario late "$program.sim" 500 2 3
	sizes 2 3
	fails 1 'does not run elastically' "$ORRERY" sim -n 2 "$program.sim" 5 2
	# begun and ended twice
	ok "$ORRERY" sim -n 2 --elastic "$program.sim" 5 2
	has err 'the MPI layer is running; leave starpu_mpi_init_conf\(\) out'
	has err 'orrery_elastic_start\(\) has not begun this run'
fi
[ "$ORR_TEST_MPI" = yes ] || exit 0
ok "$ORRERY" run -n 2 --elastic --max 5 --manager script:script "$program" 5 2 4 5 1 4
sizes 2 4 5 1 4
ok "$ORRERY" run -n 2 --elastic --max 4 --manager script:refused "$program" 5 2 3
sizes 2 3
has err '3 more processes are refused: 2 of 4 in the pool are in use'
FOLLOW=$program ok "$ORRERY" run -n 5 --elastic --max 6 --manager script:hosts ./hosted 20 5 4 3 4 3
sizes 5 4 3 4 3
keeps "$ORRERY" run -n 2 --elastic --manager script:back "$program"
dies "$ORRERY" run -n 2 --elastic --max 3 --manager script:twice "$program"
cannot_begin "$ORRERY" run -n 2 --elastic --max 3 --manager script:twice "$program"
is_refused "$ORRERY" run -n 2 --elastic --max 3 --manager script:more "$program"
ended "^$program 5"
exit 0
