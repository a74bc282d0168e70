/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI layer's answers (see mpi_upcalls.h). */
#include "mpi/carry/mpi_upcalls.h"

#include "mpi/carry/layer.h"
#include "mpi/carry/burst.h"
#include "mpi/carry/engine.h"
#include "mpi/carry/limits.h"
#include "mpi/carry/request_list.h"
#include "mpi/carry/rest.h"
#include "mpi/carry/mpi_stall.h"
#include "mpi/carry/mpi_tell.h"
#include "mpi/carry/stuck.h"

static int upcall_expects(const struct orr_process *proc)
{
	return orr_mpi_busy(proc->mpi);
}

static int upcall_workers_poll(const struct orr_process *proc)
{
	return proc->mpi->engine.workers_poll;
}

/* The engine's own thread, if it has the engine just now, is in the middle of something. */
static void upcall_parked(struct orr_process *proc, const char *what)
{
	struct orr_mpi *mpi = proc->mpi;

	if (!mpi->may_drive || !ORR_ATOMIC_LOAD(&mpi->engine.running) || !orr_mpi_own(mpi))
		return;
	orr_mpi_stuck_watch(mpi, what, 0);
	orr_mpi_unown(mpi);
}

static void upcall_burst_end(struct orr_process *proc, struct orr_thread *self)
{
	self->bursts++;
	orr_mpi_burst_end(proc->mpi, self);
}

static int upcall_drives(const struct orr_process *proc, const struct orr_thread *self)
{
	return ORR_ATOMIC_LOAD(&proc->mpi->engine.owner) == self;
}

static void upcall_iteration(struct orr_process *proc, int begins)
{
	if (proc->mpi->guests.iteration)
		proc->mpi->guests.iteration(proc->mpi, begins);
}

static int upcall_yield_memory(struct orr_process *proc)
{
	return orr_mpi_early_yield(proc->mpi);
}

static int upcall_dump(struct orr_process *proc, FILE *f, unsigned max)
{
	if (proc->mpi)
		orr_mpi_stall_tell(proc->mpi, f);
	return orr_mpi_dump(proc, f, max);
}

const struct orr_mpi_upcalls orr_mpi_upcalls = {
	.parked = upcall_parked,
	.burst_end = upcall_burst_end,
	.expects = upcall_expects,
	.workers_look = upcall_workers_poll,
	.dump = upcall_dump,
	.tell = orr_mpi_tell,
	.waits = orr_mpi_waits,
	.drives = upcall_drives,
	.iteration = upcall_iteration,
	.yield_memory = upcall_yield_memory,
};
