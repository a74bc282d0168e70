/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The account of a process's work that the world gets for the summary and the report of the run.
 *
 * Invariant: it is of the present start of the runtime; the world adds up several starts. */
#ifndef ORR_CORE_WORK_H
#define ORR_CORE_WORK_H

struct orr_process;

/* [main] Tells the world how many tasks are complete, and how the workers spent their time. Between
 * starpu_init() and starpu_shutdown(); without a runtime it does nothing. */
void orr_work_tell(struct orr_process *proc);

#endif
