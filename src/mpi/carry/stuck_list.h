/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of what a rank waits for, on its way to the rank that prints those of all (stuck.c).
 *
 * Invariant: a list is short, however much waits; what it leaves out is known to be left out. */
#ifndef ORR_MPI_STUCK_LIST_H
#define ORR_MPI_STUCK_LIST_H

#include "base/standstill.h"
#include "mpi/carry/layer.h"

struct orr_stuck_list {
	char *v; /* owned */
	size_t n, room;
};

/* By the engine's owner: what this rank waits for, its program in the call `what`. */
void orr_stuck_list_make(struct orr_mpi *mpi, const char *what, struct orr_stuck_list *b);
/* Adds bytes of a list that comes in parts. 0, or -1 without memory. */
int orr_stuck_list_append(struct orr_stuck_list *b, const void *bytes, size_t n);
/* Enters a whole list, of that rank, which is of no use afterwards. */
void orr_stuck_list_enter(struct orr_standstill *all, int rank, struct orr_stuck_list *b);

#endif
