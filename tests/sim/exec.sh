#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A rank that wants to become another program is refused with a message, by each
# form of exec, and goes on; so do the others. A real process is not refused.
# orr-test: timeout 60
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
program=$ORR_TEST_BUILDDIR/tests/core/exec
forms="execve execv execvp execvpe execl execlp execle fexecve"

STARPU_NCPU=1 ok "$program" here
for form in $forms; do has out "^$form: Permission denied$"; done
[ "${ORR_TEST_SIM:-yes}" = yes ] || exit 0

ok "$ORRERY" sim -n 2 "$program.sim" here
for form in $forms; do
	[ "$(grep -c "^$form: Operation not supported$" out)" = 2 ] || { cat out; die "$form was not refused twice"; }
	for rank in 0 1; do
		has err "rank $rank: $form\(\".*\"\): another program cannot take the place of a rank"
	done
done
