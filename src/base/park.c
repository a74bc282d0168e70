/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of the program that wait for what never comes.
 *
 * Tasks that depend on each other in a circle, or on something that nobody will do, leave all
 * workers asleep and the program waiting. If the process has no other thread at all, nothing can
 * act any more, and that is said. Where processes exchange messages, the others may act: the MPI
 * layer asks them (mpi/carry/stuck.h). A master and its slaves wait in silence.
 *
 * Invariant: the verdict is never given while a thread other than the caller may do something. */
#include "base/park.h"

#include "base/log.h"
#include "base/notice.h"
#include "base/process.h"
#include "base/upcalls.h"

static int nobody_else(struct orr_process *proc, const char *what)
{
	if (proc->link || proc->slaves || ORR_ATOMIC_LOAD(&proc->nparked) != 1 ||
	    !proc->core_up->asleep(proc))
		return 0;
	if (!proc->mpi)
		return orr_sys_only_threads(proc, proc->ngroups + 1);
	proc->mpi_up->parked(proc, what);
	return 0;
}

int orr_park_wait(struct orr_process *proc, unsigned key, const char *what)
{
	double limit = orr_sys_stall_us(proc);

	if (limit < 0) {
		orr_waitq_wait(&proc->done, key, -1);
		return 0;
	}
	/* Ranks look several times before they agree. */
	if (proc->mpi)
		limit /= ORR_PARK_LOOKS;
	ORR_ATOMIC_ADD(&proc->nparked, 1);
	int stuck = orr_waitq_wait(&proc->done, key, limit) && nobody_else(proc, what);
	ORR_ATOMIC_ADD(&proc->nparked, -1);
	return stuck;
}

void orr_park_stuck(struct orr_process *proc, const char *what)
{
	struct orr_notice n;

	orr_error(
		"%s waits for ever: all %u workers sleep, and no other thread can act (ORRERY_STALL_TIMEOUT=0 goes on waiting). What waits:",
		what, proc->ngroups);
	proc->core_up->dump(proc, orr_notice_open(&n), 50);
	orr_notice_write(&n);
	orr_sys_abort();
}
