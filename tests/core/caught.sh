# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A signal that the program handles: the runtime says once what it was doing, then the program's own
# handler runs (caught.c checks that); nothing is said with catch_signals = 0 or
# STARPU_CATCH_SIGNALS=0. Both worlds.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/core/caught

# once PATTERN: one line of err is like it.
once() { [ "$(grep -c -E "$1" err)" = 1 ] || die "not once: $1: $(cat err)"; }

# world COMMAND...: runs the program in one of the worlds.
world() {
	ok "$@"
	once 'rank 0: signal SIGINT, which the program handles: in task interrupts \(job [0-9]+\) of codelet raises on worker'
	once 'rank 0: signal SIGTRAP, which the program handles: 3 of 3 submitted tasks are complete'
	ok "$@" off
	if grep 'signal' err; then die "switched off by the program"; fi
	STARPU_CATCH_SIGNALS=0 ok "$@"
	if grep 'signal' err; then die "switched off by the variable"; fi
}
world "$program"
[ "$ORR_TEST_SIM" = no ] || world "$ORRERY" sim -n 1 "$program.sim"
echo "handled signals are told once"
