#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs on three hosts with shared memory inside each of them. Two hosts never take each other for one.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/hosts_programs.sh"
hosts_world "$@"
programs shm
if ! grep -q "may not reach" err; then has err "shm: [1-9][0-9]* payloads"; fi
exit 0
