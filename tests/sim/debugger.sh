# SPDX-License-Identifier: LGPL-2.1-or-later
# A simulation runs to its end under gdb, which opens the copies of the program by their paths.
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "the simulated world was not built"
command -v gdb > /dev/null || skip "there is no gdb"
gdb -q -batch -ex run -ex 'print 6 * 7' --args true > out 2>&1 < /dev/null
grep -q 'exited normally' out || skip "gdb may not run programs here"

cat > app.c << 'END'
#include <starpu.h>
#include <stdio.h>
int main(void)
{
	if (starpu_init(NULL))
		return 1;
	starpu_shutdown();
	puts("program done");
	return 0;
}
END
ok "$ORRERY" cc --sim app.c -o app.sim
ORRERY_SIM_WRAPPER="gdb -q -batch -ex run --args" timeout 50 "$ORRERY" sim -n 2 app.sim > out 2>&1 < /dev/null ||
	die "gdb ended with status $?: $(cat out)"
has out 'program done'
has out 'exited normally'
