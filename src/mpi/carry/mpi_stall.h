/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stalls across ranks: what a rank that waits for messages knows of those that it waits for.
 *
 * Invariant: questions and answers are not counted among the messages of the program; they need no
 * receive, and no order. */
#ifndef ORR_MPI_MPI_STALL_H
#define ORR_MPI_MPI_STALL_H

#include "mpi/carry/layer.h"

#define ORR_MPI_ASK 16  /* of an envelope: it asks for a struct of mpi_stall.c */
#define ORR_MPI_TELL 32 /* ... and this one brings it */

#define ORR_MPI_ASIDE_MAX 1024 /* bytes of a message aside, of this file or of stuck.h */

/* By the engine's owner: sends a message that is not the program's, which begins with an envelope
 * that says so, and frees it by and by. */
void orr_mpi_aside_post(struct orr_mpi *mpi, int rank, void *message, size_t bytes);

/* By the engine's owner: a question or an answer came. */
void orr_mpi_stall_in(struct orr_mpi *mpi, const char *message, size_t bytes, int source);
/* By the engine's owner, whenever nothing happens: if nothing has for the time of the watchdog,
 * asks the ranks that this one waits for, and soon after that prints what waits. */
void orr_mpi_stall_watch(struct orr_mpi *mpi);
/* Writes a line for each rank that receives wait for, a few at most. */
void orr_mpi_stall_tell(struct orr_mpi *mpi, FILE *f);
/* Tells people which ranks receives wait for, a few at most, and what else waits. */
void orr_mpi_stall_show(struct orr_mpi *mpi);
void orr_mpi_stall_exit(struct orr_mpi *mpi);

#endif
