#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A resource manager that gives an elastic run room on hosts, made up by rooms.py: its lines in good order, late,
# malformed and at random. No MPI and no Slurm is needed for that.
# orr-test: timeout 180
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
[ -x "$ORR_TEST_BUILDDIR/orrery-elastic" ] || skip "needs Open MPI"
command -v "$PYTHON" > /dev/null || skip "needs Python"
unset ORRERY_DYN_HOSTS ORRERY_DYN_ADDRESS
ok "$PYTHON" -B "$ORR_TEST_SRCDIR/tests/elastic/rooms.py" "$ORR_TEST_BUILDDIR/orrery-elastic"
cat out
exit 0
