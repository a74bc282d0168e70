/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Common to the two transports of the simulated world (sim_mpi.c on SMPI, sim_native.c on events):
 * the MPI layer of a rank, and what its engine does when a message ends its sleep.
 *
 * Invariant: only the file whose transport it is uses the fields of a transport. */
#ifndef ORR_SIM_MPI_H
#define ORR_SIM_MPI_H

#include "actors/sim_bell.h"
#include "actors/sim_event.h"
#include "actors/sim_rank.h"
#include "base/seam_mpi.h"

struct orr_sim_endpoint;
struct orr_sim_world;

struct orr_sim_mpi {
	struct orr_sim_event alarm; /* rings the engine's bell; first */
	struct orr_process *proc;   /* of the alarm */
	int *members; /* ranks of the program's communicator in the world of engines; NULL: all, in
			 order */
	int nmembers;
	int active; /* between orr_sys_mpi_init and orr_sys_mpi_exit, but not between two
		       communicators */
	int entered;
	int initialized_here; /* we called MPI_Init for the program */
	/* fields that each turn looks at, those of `native` among them */
	int rung;        /* to be told to the engine by its next wait */
	int computes;    /* the engine executes tasks, and looks between them */
	double event_us; /* when a message was handled last */
	double yield_us; /* for so long the real engine would yield then, see base/patience.h */

	/* native */
	int waits;             /* the engine is in its wait ... */
	int sleeping;          /* ... and nothing has come */
	double busy_until_s;   /* what it was charged before goes on until then; or negative */
	double waits_since_us; /* and then it is idle */
	struct orr_sim_endpoint *endpoint;
	struct orr_sim_world *world;

	MPI_Comm comm; /* smpi: the engines of these ranks; native: for packing only,
			  NULL until then */
	int tag;       /* of envelopes */

	/* smpi */
	struct orr_sim_bell bell;
	struct orr_parcel_set set; /* what is under way, and room for the bell behind it */
	char *envelope;            /* the one that comes next ... */
	size_t most;               /* ... has at most that many bytes */
};

static inline struct orr_sim_mpi *orr_sim_mpi_of(struct orr_process *proc)
{
	struct orr_sim_rank *r = proc->sys;
	return r->mpi;
}

/* The process of a rank of the program's communicator. */
static inline int orr_sim_mpi_member(const struct orr_sim_mpi *m, int rank)
{
	return m->members && rank >= 0 && rank < m->nmembers ? m->members[rank] : rank;
}

/* True if the bell rang since the engine was told last. */
static inline int orr_sim_mpi_take_note(struct orr_sim_mpi *m)
{
	int rung = m->rung;
	m->rung = 0;
	return rung;
}

/* [waits] The engine handles a message, after it slept for so long. */
void orr_sim_mpi_make_room(struct orr_process *proc, double asleep_us);

/* The launcher's: describes the route between two ranks, and a message of a rank to itself
 * (sim_network.h). */
struct orr_sim_route;
extern void (*orr_sim_mpi_route)(int source, int dest, struct orr_sim_route *route);
extern double (*orr_sim_mpi_to_itself_s)(int rank, size_t bytes);
/* smpi: the time that the caller still copies what it sent, which it is told once. */
extern double (*orr_sim_mpi_owed_us)(void);

/* A transport of this world: orr_sim_smpi or orr_sim_native (sim_native.h). */
struct orr_sim_carrier {
	struct orr_transport transport;
	void (*enter)(struct orr_process *proc); /* orr_sys_mpi_engine_enter() */
	void (*leave)(struct orr_process *proc); /* orr_sys_mpi_engine_leave() */
	/* [waits] orr_sys_mpi_sum_start(), or orr_sys_mpi_barrier_start() if n is 0, until it is
	 * over. Returns whether it succeeded. */
	int (*sum)(MPI_Comm comm, const uint64_t *mine, uint64_t *sums, int n);
};

extern const struct orr_sim_carrier orr_sim_smpi;

/* MPI_Init of a program, called in its main actor. */
int orr_sim_mpi_init_program(int *argc, char ***argv);
/* Makes an engine or driver known to SMPI. [waits] for the others of its kind. */
void orr_sim_mpi_init_actor(struct orr_sim_actor *a);

#endif
