/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers and the groups that step them: their life.
 *
 * Invariant: a worker's state is touched only by the thread of its group. */
#ifndef ORR_CORE_WORKER_H
#define ORR_CORE_WORKER_H

#include "core/worker/core.h"
#include "core/worker/worker_life.h"

/* For drivers: has the world start func as the kernel of t on w; a NULL func runs elsewhere, or
 * nowhere. Returns ORR_STARTED_RAN or ORR_STARTED_TIMED, as orr_sys_kernel_start does. */

struct orr_device;
struct orr_driver_ops;

/* From here on the thread steps worker w, or none (NULL). Each worker has the scheduling context
 * that the program chose in it, as if it had a thread of its own. A thread of the program that
 * drives a worker keeps its choice for itself. */
static inline void orr_worker_enter(struct orr_thread *self, struct orr_worker *w)
{
	if (self->worker)
		self->worker->own_ctx = self->ctx;
	else
		self->idle_ctx = self->ctx;
	self->ctx = w ? w->own_ctx : self->idle_ctx;
	self->worker = w;
	self->memnode = w ? w->memnode : STARPU_MAIN_RAM;
}

/* Makes the workers of the CPUs, which have that driver, and of these devices, and cuts them into
 * groups. 0 or -errno. */
int orr_workers_create(struct orr_process *proc, const struct orr_driver_ops *cpu_driver,
		       const struct orr_device *devices, unsigned ndevices);
void orr_workers_free(struct orr_process *proc);

/* Does the program drive this worker itself (starpu_driver_run)? */
int orr_worker_driven_by_program(struct orr_process *proc, struct orr_worker *w);
/* The unit that is kept for the thread that starts the runtime; -1: none. */
int orr_worker_main_unit(const struct orr_process *proc);
/* The unit that is kept for the progression thread of MPI (ORRERY_MPI_RESERVE_CORE); -1: none. */
int orr_worker_engine_unit(const struct orr_process *proc);

#endif
