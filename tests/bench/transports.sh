#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Ping-pong between two ranks of this host by each transport, and by Open MPI itself in the same
# run (pingpong.c): with the kernel's copies between processes (cma), and without (none).
set -u
[ "$ORR_TEST_MPI" = yes ] || { echo "transports: no mpirun, skipped"; exit 77; }
STARPU_SILENT=1 STARPU_NCPU=1
export STARPU_SILENT STARPU_NCPU
for single in cma none; do
	for transport in mpi shm $([ "${ORR_TEST_UCX:-no}" = yes ] && echo ucx); do
		echo "ORRERY_TRANSPORT=$transport, Open MPI's own copies: $single"
		OMPI_MCA_btl_vader_single_copy_mechanism=$single ORRERY_TRANSPORT=$transport \
			"$ORRERY" run -n 2 "$ORR_TEST_BUILDDIR/tests/bench/pingpong" || exit 1
	done
done
