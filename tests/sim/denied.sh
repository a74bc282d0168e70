#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A simulated run in a sandbox that forbids one system call is as right as without, or says which call and what to do.
# The numbers of calls are those of x86-64.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$ORR_TEST_SIM" = yes ] || skip "built without the simulated world"
[ "$(uname -m)" = x86_64 ] || skip "the numbers of system calls are those of x86-64"
cholesky=$ORR_TEST_BUILDDIR/examples/cholesky/cholesky.sim
deny="$PYTHON -B $ORR_TEST_SRCDIR/tests/lib/deny.py"
$deny 39 1 true || { [ $? = 77 ] && skip "no filters of system calls here"; die "deny.py"; }
if $deny 39 1 "$PYTHON" -c 'import ctypes; ctypes.CDLL(None).syscall(39) >= 0 or exit(3)'; then die "nothing was denied"; fi

sim() { "$ORRERY" sim -n 4 "$cholesky" -nt 4 -b 96 --check; }
ok sim
sed -n 's/.*\(time_s=[0-9.]*\).*/\1/p' out > right
[ -s right ] || die "no time: $(cat out)"
# fallocate, epoll_create1, socket, timer_create, sched_getaffinity, sched_setaffinity, mbind, sigaltstack, getrusage, mlock
for call in 285 291 41 222 204 203 237 131 98 149; do
	# AddressSanitizer ends a process that may not make these calls.
	case $call-$ORR_TEST_SANITIZER in *-no) ;; 204-* | 131-*) continue ;; esac
	ORRERY_SIM_WRAPPER="$deny $call 1" ok sim
	grep -q "$(cat right)" out || die "without call $call: $(cat out), not $(cat right)"
done
# memfd_create: the copies of the program cannot be made in memory
mkdir copies
for error in 1 38; do
	ORRERY_SIM_WRAPPER="$deny 319 $error" fails 1 'memfd_create.*sandbox.*ORR_SIM_KEEP_COPIES' sim
	ORR_SIM_KEEP_COPIES=$PWD/copies ORRERY_SIM_WRAPPER="$deny 319 $error" ok sim
	grep -q "$(cat right)" out || die "copies in files: $(cat out)"
done
exit 0
