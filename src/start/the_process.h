/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The making of processes: the ground floor's struct orr_process together with the parts of the
 * floors above it, and the tables by which lower floors reach higher ones.
 *
 * Invariant: a process has its data and core parts from the beginning to the end, so that questions
 * may be asked before starpu_init and after starpu_shutdown. */
#ifndef ORR_START_PROCESS_H
#define ORR_START_PROCESS_H

#include "base/process.h"

/* The process of a real run, and in a simulated run a process without workers that the launcher
 * speaks for. */
extern struct orr_process orr_the_process;
/* A process with its parts, as before starpu_init; NULL when memory is exhausted. For worlds with
 * several processes. */
struct orr_process *orr_process_new(void);
/* Frees it; the runtime must be down. */
void orr_process_free(struct orr_process *proc);

#endif
