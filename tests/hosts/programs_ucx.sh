#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs on three hosts over UCX.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/hosts_programs.sh"
[ "$ORR_TEST_UCX" = yes ] || skip "built without UCX"
hosts_world "$@"
programs ucx
has err "ucx: [1-9][0-9]* messages, [1-9][0-9]* B, sent to [1-5] of 5 ranks"
exit 0
