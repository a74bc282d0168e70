#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A real run in a sandbox that forbids to ask which processors there are ends with a message, and does not hang: hwloc
# would ask for ever. The number of the call is that of x86-64.
# orr-test: timeout 60
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ "$(uname -m)" = x86_64 ] || skip "the numbers of system calls are those of x86-64"
deny() { "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/lib/deny.py" "$@"; }
deny 39 1 true || { [ $? = 77 ] && skip "no filters of system calls here"; die "deny.py"; }
ok "$ORR_TEST_BUILDDIR/tests/core/deps"
for error in 1 38; do
	if deny 204 $error "$ORR_TEST_BUILDDIR/tests/core/deps" 2> err; then die "nobody was refused"; fi
	has err 'sched_getaffinity\(2\): .*sandbox'
	has err "starpu_init.* is -$error"
done
exit 0
