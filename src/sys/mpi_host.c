/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranks of one host. Invariant: see mpi_host.h. */
#include "sys/mpi_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "base/fnv.h"
#include "base/log.h"

/* The start of the system, and the namespace of that kind in which this process is. */
static uint64_t identify(const char *namespace)
{
	char boot[64] = "";
	struct stat st = { 0 };
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
	size_t n = f ? fread(boot, 1, sizeof(boot), f) : 0;

	if (f)
		fclose(f);
	stat(namespace, &st);
	uint64_t h = orr_fnv(ORR_FNV_START, boot, n);
	h = orr_fnv(h, &st.st_dev, sizeof(st.st_dev));
	return orr_fnv(h, &st.st_ino, sizeof(st.st_ino));
}

void orr_real_identify_host(uint64_t *network, uint64_t *pids)
{
	*network = identify("/proc/self/ns/net");
	*pids = orr_fnv(*network, "", 1) ^ identify("/proc/self/ns/pid");
}

MPI_Comm orr_real_neighbours(MPI_Comm comm)
{
	uint64_t network, mine;
	MPI_Comm host;
	int rank, size, first = 0;

	orr_real_identify_host(&network, &mine);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	uint64_t *all = calloc((size_t) size, sizeof(*all));
	if (!all)
		orr_fatal("out of memory for the hosts of %d ranks", size);
	MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, comm);
	while (all[first] != mine)
		first++;
	free(all);
	MPI_Comm_split(comm, first, rank, &host);
	return host;
}
