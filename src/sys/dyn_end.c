/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of a process of an elastic run: it leaves alone. MPI_Finalize() of Open MPI waits for all
 * that were started together, and MPI_Comm_disconnect() for all of the communicator, so neither
 * happens; the process ends as if it were the only one. `orrery run --elastic` tells mpirun to
 * expect that.
 *
 * Invariant: a process that is not part of an elastic run gets MPI's own functions. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "dyn_real.h"

static struct {
	void (*bye)(int status);
	int finalized;
} ending;

/* Small messages may still be in a queue of Open MPI when MPI_Send() has returned: MPI gets this
 * long to pass them on. */
#define LINGER_NS 5000000L

static void linger(void)
{
	struct timespec begin, now;
	int flag;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		PMPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec <
		 LINGER_NS);
}

/* The name of the PMIx library that Open MPI has loaded; the path of an object stays as it is. */
static int find_pmix(struct dl_phdr_info *object, size_t size, void *found)
{
	(void) size;
	const char *name = strrchr(object->dlpi_name, '/');
	if (name && !strncmp(name, "/libpmix.so", 11))
		*(const char **) found = object->dlpi_name;
	return name && !strncmp(name, "/libpmix.so", 11);
}

/* Takes leave of mpirun, through PMIx. Without, mpirun takes the end for a failure, and one that
 * loses several processes at a time has been seen not to answer new ones any more. */
static void leave_pmix(void)
{
	const char *path = NULL;
	dl_iterate_phdr(find_pmix, &path);
	void *pmix = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	int (*finalize)(const void *, size_t) = NULL;
	int (*initialized)(void) = NULL;
	if (pmix) {
		*(void **) &finalize = dlsym(pmix, "PMIx_Finalize");
		*(void **) &initialized = dlsym(pmix, "PMIx_Initialized");
	}
	for (int i = 0; finalize && initialized && i < 8 && initialized(); i++)
		finalize(NULL, 0);
}

static void at_exit(int status, void *arg)
{
	(void) arg;
	linger();
	ending.bye(status);
	leave_pmix();
}

void orr_dyn_end_watch(void (*bye)(int status))
{
	ending.bye = bye;
	on_exit(at_exit, NULL);
}

#pragma GCC visibility push(default)

int MPI_Finalize(void)
{
	if (!orr_dyn_elastic())
		return PMPI_Finalize();
	ending.finalized = 1;
	return MPI_SUCCESS;
}

int MPI_Finalized(int *flag)
{
	if (!ending.finalized)
		return PMPI_Finalized(flag);
	*flag = 1;
	return MPI_SUCCESS;
}

int MPI_Comm_disconnect(MPI_Comm *comm)
{
	return orr_dyn_elastic() ? PMPI_Comm_free(comm) : PMPI_Comm_disconnect(comm);
}

#pragma GCC visibility pop
