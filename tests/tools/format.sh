#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# All C and C++ sources are in the tree's dialect (.clang-format).
# orr-test: timeout 300
# orr-test: debug none
. "$ORR_TEST_SRCDIR/tests/lib/script.sh"

sh "$ORR_TEST_SRCDIR/build-aux/format" --check
status=$?
[ $status != 77 ] || skip "needs the version of clang-format that build-aux/format names"
[ $status = 0 ] || die "see above"
exit 0
