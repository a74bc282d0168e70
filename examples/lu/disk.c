/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LU out of core (--disk): main memory is limited, and a folder becomes the memory node to which
 * the runtime moves tiles that do not fit. The factorisation is the same.
 *
 * Invariant: each rank has a folder of its own under the one that was named, which it removes at
 * the end.
 */
#include <orrery.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lu.h"

/* Before the runtime starts; what the user has set stays. */
void disk_limit_memory(void)
{
	setenv("STARPU_LIMIT_CPU_MEM", "2", 0);
}

int disk_open(struct problem *pb)
{
	snprintf(pb->folder, sizeof(pb->folder), "%s/lu.%d", pb->disk, pb->grid.rank);
	if ((mkdir(pb->disk, 0700) && errno != EEXIST) ||
	    (mkdir(pb->folder, 0700) && errno != EEXIST)) {
		fprintf(stderr, "lu: rank %d cannot make the folder %s: %s\n", pb->grid.rank,
			pb->folder, strerror(errno));
		return 1;
	}
	pb->disk_node = starpu_disk_register(&starpu_disk_unistd_ops, pb->folder, -1);
	return pb->disk_node < 0;
}

/* A tile that was received stays in memory until the tasks that read it are done, and receives are
 * posted as fast as tasks are submitted: without an end of each step they would take all memory. So
 * the row and the column of one step have to fit. */
void disk_settle(const struct problem *pb)
{
	if (pb->disk)
		starpu_mpi_wait_for_all(pb->grid.comm);
}

/* Rank 0 says how much went through all disks. */
void disk_print(const struct problem *pb)
{
	uint64_t bytes[2], sum[2];

	orrery_transfer_bytes((unsigned) pb->disk_node, &bytes[0], &bytes[1]);
	MPI_Reduce(bytes, sum, 2, MPI_UINT64_T, MPI_SUM, 0, pb->grid.comm);
	if (pb->grid.rank == 0)
		printf("lu data_mib=%.1f written_mib=%.1f read_mib=%.1f\n",
		       (double) tile_count(pb) * pb->b * pb->b * sizeof(double) / 0x1p20,
		       (double) sum[0] / 0x1p20, (double) sum[1] / 0x1p20);
}

/* After the end of the runtime, which has removed its files. */
void disk_close(const struct problem *pb)
{
	rmdir(pb->folder);
	rmdir(pb->disk); /* by the last rank */
}
