#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A simulated program that is linked with a shared library of the user's: its
# variables are common to all ranks, and orrery sim says so.
# orr-test: world sim
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "${ORR_TEST_SIM:-yes}" = yes ] || skip "the simulated world was not built"

echo 'int counted; int count(void) { return ++counted; }' >count.c
cat >main.c <<'END'
#include <starpu.h>
int count(void);
int main(void) { return starpu_init(NULL) ? 77 : (starpu_shutdown(), count() < 1); }
END
ok "$ORRERY" cc --sim -shared count.c -o libcount.so
ok "$ORRERY" cc --sim main.c -L. -lcount -Wl,-rpath,"$PWD" -o shared.sim
ok "$ORRERY" cc --sim main.c count.c -o own.sim
ok "$ORRERY" sim --quiet -n 2 ./shared.sim
has err "warning: all 2 ranks share the global variables of $PWD/libcount.so: link it statically"
ok "$ORRERY" sim --show -n 2 ./shared.sim
has out "^# shared by all ranks: $PWD/libcount.so"
ok "$ORRERY" sim --quiet ./shared.sim
[ ! -s err ] || die "a warning for one rank: $(cat err)"
ok "$ORRERY" sim --quiet -n 2 ./own.sim
[ ! -s err ] || die "a warning without a library: $(cat err)"
echo "shared libraries are named"
