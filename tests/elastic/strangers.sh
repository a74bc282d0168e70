# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The registry of process sets answers the processes of the run at once, whatever strangers do who trickle, flood, sit or
# guess, and survives peers that lie (strangers.py). It neither dies nor grows from random messages through real sockets
# (tests/real/stranger.c): ORR_MESSAGES of strangers, and a tenth as many of threads with the key, 20000 for each registry.
# orr-test: timeout 240
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_MPI" = yes ] || skip "needs Open MPI"
command -v "$PYTHON" > /dev/null || skip "needs Python"
unset ORRERY_DYN_HOSTS ORRERY_DYN_ADDRESS
ok "$PYTHON" "$ORR_TEST_SRCDIR/tests/elastic/strangers.py" "$ORR_TEST_BUILDDIR/orrery-elastic"
cat out
server=$ORR_TEST_BUILDDIR/orrery-elastic stranger=$ORR_TEST_BUILDDIR/tests/real/stranger messages=${ORR_MESSAGES:-5000}
export ORRERY_DYN_PATIENCE=1000000 # for processes that random requests ask for
ok "$server" 1 4 - "$stranger" fuzz "$messages" 1
cat out
seed=0
while [ $((seed * 20000)) -lt $((messages / 10)) ]; do
	left=$((messages / 10 - seed * 20000))
	[ $left -lt 20000 ] || left=20000
	seed=$((seed + 1))
	ok "$server" 1 4 - "$stranger" keyed $left $seed
	cat out
done
unset ORRERY_DYN_PATIENCE

# It listens on this host for itself only, and tells nobody its key.
export ORRERY_DYN_SERVER=127.0.0.1:1:0123456789abcdef0123456789abcdef
"$ORR_TEST_BUILDDIR/tests/elastic/sets" > out 2>&1 && die "a process without a registry goes on"
has out 'does not answer at 127.0.0.1:1$'
if grep -q 0123456789abcdef out; then die "the key is printed"; fi
exit 0
