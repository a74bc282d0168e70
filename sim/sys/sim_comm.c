/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Communicators of engines: one for each start of the MPI layer, shared by the ranks that start it.
 *
 * SMPI's own calls agree on the number of a communicator by a broadcast, which takes virtual time
 * and runs the algorithm that the user chose for the program's messages. Here all ranks live in one
 * process: the first one that comes makes the communicator, the others find it.
 *
 * Invariant: of each set of ranks at most one communicator is open, because a start ends together
 * (orr_mpi_settle) before any of its ranks enters the next one of the same set. */
#include <stdlib.h>
#include <string.h>
#include <smpi/smpi.h>
#include "sim.h"
#include "base/assert.h"

#undef malloc
#undef calloc
#undef free

/* SMPI numbers its own from 0 on. */
#define FIRST_ID (1 << 30)

struct open_comm {
	struct open_comm *next;
	int *members, n; /* NULL: all ranks */
	int missing;     /* ranks that have not entered it */
	MPI_Comm comm;
};

static struct {
	struct open_comm *open;
	int nmade;
} comms;

static int same(const struct open_comm *c, const int *members, int n)
{
	if (!members || !c->members)
		return !members && !c->members;
	return c->n == n && !memcmp(c->members, members, (size_t) n * sizeof(*members));
}

static struct open_comm *make(const int *members, int n)
{
	struct open_comm *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->n = c->missing = members ? n : orr_sim.nranks;
	if (members && (c->members = malloc((size_t) n * sizeof(*members))))
		memcpy(c->members, members, (size_t) n * sizeof(*members));
	if (!members || c->members)
		c->comm = orr_sim_glue_comm_new(orr_sim_glue_world(), members, n,
						FIRST_ID + comms.nmade++);
	if (c->comm == MPI_COMM_NULL) {
		free(c->members);
		free(c);
		return NULL;
	}
	c->next = comms.open;
	comms.open = c;
	return c;
}

MPI_Comm orr_sim_comm_enter(const int *members, int n)
{
	struct open_comm **at = &comms.open, *c;
	while (*at && !same(*at, members, n))
		at = &(*at)->next;
	if (*at)
		orr_sim_glue_comm_share((*at)->comm);
	else if (make(members, n))
		at = &comms.open;
	else
		return MPI_COMM_NULL;
	c = *at;
	MPI_Comm comm = c->comm;
	orr_assert(c->missing > 0);
	if (!--c->missing) {
		*at = c->next;
		free(c->members);
		free(c);
	}
	return comm;
}
