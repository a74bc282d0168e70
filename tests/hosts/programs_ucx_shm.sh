#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs on three hosts over UCX, with copies between neighbours.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/hosts_programs.sh"
[ "$ORR_TEST_UCX" = yes ] || skip "built without UCX"
hosts_world "$@"
programs ucx,shm
has err "ucx: [1-9][0-9]* messages"
exit 0
