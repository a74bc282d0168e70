#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Threads of C++ in both worlds; a rank that would become another program is refused.
# orr-test: timeout 240
# orr-test: sanitizer none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
source=$ORR_TEST_SRCDIR/tests/tools/cxx_threads.cpp
CXX=${CXX-g++}
command -v "${CXX%% *}" > /dev/null || skip "needs a C++ compiler"
echo '#include <latch>' | $CXX -std=c++20 -fsyntax-only -x c++ - 2> /dev/null || skip "needs C++20"

ok "$ORRERY" cc -std=c++20 -O1 "$source" -o threads
ok timeout 60 ./threads
has out '^threads of C[+][+]$'
has out '^the object of the main thread has ended$'
[ "$ORR_TEST_SIM" = yes ] || exit 0
ok "$ORRERY" cc --sim -std=c++20 -O1 "$source" -o threads.sim
ok timeout 60 "$ORRERY" sim -n 3 ./threads.sim
[ "$(grep -c '^threads of C++$' out)" = 3 ] || die "not three ranks: $(cat out)"
[ "$(grep -c '^the object of the main thread has ended$' out)" = 3 ] || die "not three ends: $(cat out)"

cat > become.c << 'END'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int status;
	if (fork() == 0) {
		execlp("true", "true", (char *) NULL);
		_exit(3);
	}
	if (wait(&status) < 0 || status)
		return 1;
	if (execl("/bin/echo", "echo", "replaced", (char *) NULL) != -1)
		return 2;
	puts("stays");
	return 0;
}
END
ok "$ORRERY" cc --sim become.c -o become.sim
ok timeout 60 "$ORRERY" sim -n 2 ./become.sim
[ "$(grep -c '^stays$' out)" = 2 ] || die "a rank is gone: $(cat out)"
has err 'rank 1: execl[(]"/bin/echo"[)]: another program cannot take the place of a rank'
exit 0
