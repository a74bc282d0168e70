# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The registry of process sets answers the processes of the run at once, whatever strangers do who trickle, flood, sit or
# guess, and survives peers that lie (strangers.py). ORR_MESSAGES sets how many random messages it gets.
# orr-test: timeout 240
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "needs Open MPI"
command -v "$PYTHON" > /dev/null || skip "needs Python"
unset ORRERY_DYN_HOSTS ORRERY_DYN_ADDRESS
ok "$PYTHON" "$ORR_TEST_SRCDIR/tests/elastic/strangers.py" "$ORR_TEST_BUILDDIR/orrery-elastic"
cat out

# It listens on this host for itself only, and tells nobody its key.
export ORRERY_DYN_SERVER=127.0.0.1:1:0123456789abcdef0123456789abcdef
"$ORR_TEST_BUILDDIR/tests/elastic/sets" > out 2>&1 && die "a process without a registry goes on"
has out 'does not answer at 127.0.0.1:1$'
if grep -q 0123456789abcdef out; then die "the key is printed"; fi
exit 0
