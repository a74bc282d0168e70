/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of what is under way, for people and for the worlds.
 *
 * Invariant: it reads only; what it says of requests that go on meanwhile may be out of date. */
#ifndef ORR_MPI_REQUEST_LIST_H
#define ORR_MPI_REQUEST_LIST_H

#include <stdio.h>

struct orr_mpi_wait;
struct orr_process;

/* Diagnosis: pending requests of this process, at most max lines. Returns how many are pending. */
int orr_mpi_dump(struct orr_process *proc, FILE *f, unsigned max);
/* Tells note() what the process waits for of others (base/upcalls.h). */
void orr_mpi_waits(struct orr_process *proc, void (*note)(const struct orr_mpi_wait *w, void *arg),
		   void *arg);

#endif
