/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Communicators that the program uses, by the ranks of the engine's world.
 *
 * Invariant: comms.all[0] is the world's; an entry keeps its index, and its memory until the layer
 * ends. */
#ifndef ORR_MPI_COMM_RECORD_H
#define ORR_MPI_COMM_RECORD_H

#include "starpu_mpi.h"
#include "base/seam.h"

struct orr_mpi;

struct orr_mpi_comm {
	MPI_Comm comm;
	int rank, size; /* as the program sees them */
	uint32_t context;
	int32_t *to_world; /* NULL: ranks are those of the engine's world */
	uint16_t index;
	uint8_t dead;      /* the program freed it */
	uint8_t attribute; /* we hung an attribute on it */
	uint32_t group_hash;
	struct orr_mpi *mpi;
};

struct orr_mpi_comms {
	orr_lock_t lock; /* of what follows */
	struct orr_mpi_comm **all;
	unsigned n;
	struct orr_mpi_comm *last; /* atomic: that was used last */
	int keyval;
};

#endif
