# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The table of failures.
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"
