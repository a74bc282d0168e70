/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data that follow the number of ranks in use, as the rest of the MPI layer sees them; by the
 * program's thread.
 *
 * Invariant: a program that does not use them has no struct orr_resize, and no datum follows. */
#ifndef ORR_MPI_RESIZE_H
#define ORR_MPI_RESIZE_H

#include "mpi/carry/layer.h"

/* The functions that follow a process set (elastic.c), for orrery_resize_point(). */
struct orr_resize_hooks {
	/* On rank 0: whether the set is to change. */
	int (*wants)(struct orr_mpi *mpi, void *arg);
	/* [waits] At the same point on all ranks; agreed: rank 0 wanted it two points ago, or one.
	 * 0; 1: this rank has left; -errno. */
	int (*point)(struct orr_mpi *mpi, void *arg, int agreed);
	void *arg;
};

/* From now on, points ask these hooks, which stay the caller's; NULL: nobody. 0, or -ENOMEM after a
 * message. */
int orr_mpi_resize_hook(struct orr_mpi *mpi, const struct orr_resize_hooks *hooks);
const struct orr_resize_hooks *orr_mpi_resize_hooks(const struct orr_mpi *mpi);

/* From here on the number of ranks in use is known without their number. 0, or -ENOMEM after a
 * message. */
int orr_mpi_resize_begin(struct orr_mpi *mpi);
/* This process has just joined a run with that many ranks in use. */
void orr_mpi_resize_join(struct orr_mpi *mpi, int size);
/* Ranks that are to leave give what they own to others. places, the same on all ranks: the number
 * that a rank has afterwards, -1 if it leaves; n: how many ranks are in use then. What
 * orrery_resize() returns. */
int orr_mpi_resize_leave(struct orr_mpi *mpi, const int *places, int n);
/* [waits] Ends what the ranks agree on just now. */
void orr_mpi_resize_pause(struct orr_mpi *mpi);
/* Ranks from mpi->size on do not exist any more. */
void orr_mpi_resize_switch(struct orr_mpi *mpi);
/* The number of ranks, 0: this one has left, and of those in use. */
struct orr_resize_sizes {
	int all, used;
};
struct orr_resize_sizes orr_mpi_resize_sizes(const struct orr_mpi *mpi);
/* For the trace: a step that began then may have changed the sizes, which were these. */
void orr_mpi_resize_trace(struct orr_mpi *mpi, double since_us, struct orr_resize_sizes before);
/* After a pause: forgets which data follow. */
void orr_mpi_resize_exit(struct orr_mpi *mpi);

#endif
