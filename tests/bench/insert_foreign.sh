#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs insert_foreign as a fake rank of few and of many: the cost must be the same.
set -eu
for size in 16 16384; do
	STARPU_MPI_FAKE_RANK=5 STARPU_MPI_FAKE_SIZE=$size "$ORR_TEST_BUILDDIR/tests/bench/insert_foreign"
done
