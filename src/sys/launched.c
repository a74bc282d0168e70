/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The variables of launchers. Invariant: see launched.h. */
#include "sys/launched.h"

#include <limits.h>
#include <stdlib.h>

/* A launcher inside another one's job comes first if it stands first: the variables of a batch
 * system are those of the outer one. */
static const char *const variables[][4] = {
	/* Open MPI, all releases */
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
	  "OMPI_COMM_WORLD_LOCAL_SIZE" },
	/* Hydra: MPICH and its relatives */
	{ "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS" },
};
#define NLAUNCHERS ((int) (sizeof(variables) / sizeof(variables[0])))

unsigned orr_real_launched(enum orr_launched what)
{
	int is_number = what == ORR_LAUNCHED_RANK || what == ORR_LAUNCHED_PROC;
	const char *text = NULL;
	char *end;

	for (int i = 0; i < NLAUNCHERS && !text; i++)
		text = getenv(variables[i][what]);
	if (!text)
		return is_number ? 0 : 1;
	long n = strtol(text, &end, 10), least = is_number ? 0 : 1;
	return (unsigned) (end != text && n >= least && n <= INT_MAX ? n : least);
}
