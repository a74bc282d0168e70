/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All ranks wait, and nothing can act any more: they find that out together, and rank 0 says it.
 * Only in a real run; a simulation sees it by itself.
 *
 * Invariant: the verdict is never given while a thread of the program or a message can still act
 * (stuck.c says why). */
#ifndef ORR_MPI_STUCK_H
#define ORR_MPI_STUCK_H

#include "mpi/carry/layer.h"

#define ORR_MPI_STUCK 128 /* of an envelope: it is one of stuck.c */

/* [main] The engine runs from now on, or does not any more. */
void orr_mpi_stuck_begin(struct orr_mpi *mpi);
void orr_mpi_stuck_end(struct orr_mpi *mpi);
/* By the engine's owner, a thread of the program that has just found that it must go on waiting.
 * what: the call that waits, NULL: it ends by itself. collective: it waits for all ranks, for the
 * last collective of the world that began. */
void orr_mpi_stuck_watch(struct orr_mpi *mpi, const char *what, int collective);
/* By the engine's owner: a message of this file came. */
void orr_mpi_stuck_in(struct orr_mpi *mpi, const char *message, size_t bytes, int source);

#endif
