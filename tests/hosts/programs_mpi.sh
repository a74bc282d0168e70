#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Programs on three hosts over MPI alone: no payload is copied between neighbours.
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/hosts_programs.sh"
hosts_world "$@"
programs mpi
if grep "shm:\|ucx:" err; then die "payloads went another way than MPI"; fi
exit 0
