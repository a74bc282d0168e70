/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Upcalls: what a world asks of the floors above the seam.
 *
 * A world implements the seam and stands on the ground floor; it does not know the structures of
 * the floors that call it. Where it needs an answer from them, that floor fills in a table of
 * functions below. A real world asks a few numbers; the simulated one models cores and messages,
 * and so asks more.
 *
 * Invariant: every slot is filled; a table is constant and reached through the process. No upcall
 * waits. */
#ifndef ORR_BASE_UPCALLS_H
#define ORR_BASE_UPCALLS_H

#include <stdio.h>

struct orr_process;

/* The MPI layer's, while proc->mpi is set. */
struct orr_mpi_upcalls {
	/* Whether a message or a completion is expected. */
	int (*expects)(const struct orr_process *proc);
	/* Whether workers poll between tasks. */
	int (*workers_look)(const struct orr_process *proc);
	/* Diagnosis: writes at most max pending requests, one a line. Returns how many are pending.
	 */
	int (*dump)(struct orr_process *proc, FILE *f, unsigned max);
};

#endif
