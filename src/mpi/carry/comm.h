/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of communicators (comm_record.h): entering, switching, translating ranks.
 *
 * Invariant: an entry is made once for each communicator. */
#ifndef ORR_MPI_COMM_H
#define ORR_MPI_COMM_H

#include "mpi/carry/layer.h"

int orr_mpi_comms_init(struct orr_mpi *mpi, MPI_Comm comm);
void orr_mpi_comms_exit(struct orr_mpi *mpi);
/* 0, or -errno after a message if the layer cannot go on with this communicator: its first ranks
 * are others than those of the world, and ranks may not get other numbers; the program has
 * communicators besides; or a rank that is not in it owns data. */
int orr_mpi_comms_check_switch(struct orr_mpi *mpi, MPI_Comm comm, int renumber);
/* The places that the ranks of the world get in the communicator, -1: none, to be freed; NULL: the
 * first ones keep theirs. */
int *orr_mpi_comms_places(const struct orr_mpi *mpi, MPI_Comm comm);
/* True if the communicator has processes that are not ranks of the world. */
int orr_mpi_comms_has_new(const struct orr_mpi *mpi, MPI_Comm comm);
/* The world is another one, of which rank and size are in mpi. */
void orr_mpi_comms_switch(struct orr_mpi *mpi, MPI_Comm comm);
static inline int orr_mpi_to_world(const struct orr_mpi_comm *c, int rank)
{
	orr_assertf(rank >= 0 && rank < c->size, "rank %d of %d", rank, c->size);
	return c->to_world ? c->to_world[rank] : rank;
}
/* A rank of the engine's world as the communicator numbers it; -1 when it is not in it. */
int orr_mpi_from_world(const struct orr_mpi_comm *c, int world);

/* The entry of a communicator, made at its first use; NULL after a message. */
struct orr_mpi_comm *orr_mpi_comm_enter(struct orr_mpi *mpi, MPI_Comm comm);
static inline struct orr_mpi_comm *orr_mpi_comm_of(struct orr_mpi *mpi, MPI_Comm comm)
{
	struct orr_mpi_comm *c = ORR_ATOMIC_LOAD(&mpi->comms.last);
	return c->comm == comm ? c : orr_mpi_comm_enter(mpi, comm);
}

#endif
