#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Objects and static libraries of executables cannot be part of a simulated program: the message
# names them and the remedy. Other failures of a link are the linker's own.
# orr-test: timeout 240
# orr-test: debug none
# orr-test: sanitizer none
# shellcheck disable=SC2086  # CC may be several words
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "needs the simulated world"

cat > part.c << 'END'
#include <stdio.h>
void say(const char *text) { fprintf(stderr, "%s\n", text); }
END
cat > app.c << 'END'
void say(const char *text);
int main(void) { say("here"); return 0; }
END
remedy='was compiled without -fPIC.*compile it again with -fPIC.*shared library'
ok $CC -fPIE -c part.c -o part.o
ok ar rc libpart.a part.o
fails 2 "libpart[.]a[(]part[.]o[)] $remedy" "$ORRERY" cc --sim app.c libpart.a -o app.sim
fails 2 "libpart[.]a[(]part[.]o[)] $remedy" "$ORRERY" cc --both app.c -L. -lpart -o app
[ -x app ] || die "no program for the real world"
fails 2 "part[.]o $remedy" "$ORRERY" cc --sim app.c part.o -o app.sim
has err R_X86_64
fails 1 'undefined reference' "$ORRERY" cc --sim app.c -o app.sim
grep -q "without -fPIC" err && die "no object is to blame"
fails 1 'error:' "$ORRERY" cc --sim -Dmain= app.c -o app.sim

# The remedies.
ok $CC -fPIC -c part.c -o part.o
ok ar rcs libpart.a part.o
ok "$ORRERY" cc --sim app.c libpart.a -o app.sim
ok timeout 60 "$ORRERY" sim -n 2 ./app.sim
rm libpart.a
ok $CC -shared -fPIC part.c -o libpart.so
ok "$ORRERY" cc --sim app.c -L. -lpart "-Wl,-rpath,$PWD" -o app.sim
ok timeout 60 "$ORRERY" sim -n 2 ./app.sim
ok "$ORRERY" cc --sim -c part.c -o part.o
ok "$ORRERY" cc --sim app.c part.o -o app.sim
exit 0
