/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers that another component's thread steps (see lend.h).
 *
 * Invariant: group->rung is set exactly while the worker is lent. */
#include "core/run/lend.h"

#include "base/assert.h"
#include "core/worker/device.h"
#include "core/run/group.h"
#include "core/worker/wake.h"
#include "core/worker/worker.h"

struct orr_group *orr_lend_begin(struct orr_process *proc, unsigned cpu,
				 void (*rung)(struct orr_process *))
{
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		struct orr_worker *w = &proc->core->workers[i];

		if (w->arch != STARPU_CPU_WORKER || w->devid != (int) cpu)
			continue;
		if (w->group->thread || w->group->nworkers != 1)
			return NULL;
		orr_assertf(!ORR_ATOMIC_LOAD(&w->group->rung), "worker %u is lent twice", w->id);
		w->driver->init(w);
		ORR_ATOMIC_STORE(&w->group->rung, rung);
		return w->group;
	}
	return NULL;
}

void orr_lend_end(struct orr_group *g)
{
	struct orr_worker *w = g->workers;

	orr_assertf(!w->task, "a worker with a task is taken back");
	orr_assertf(ORR_ATOMIC_LOAD(&g->rung), "worker %u is taken back and was not lent", w->id);
	orr_assert(!g->nheap && !orr_wake_is_listed(g));
	ORR_ATOMIC_STORE(&g->rung, NULL);
	w->driver->deinit(w);
}

int orr_lend_run(struct orr_group *g, unsigned tasks)
{
	const struct orr_worker *w = g->workers;
	uint64_t before = w->ncompleted;
	int advanced, any = 0;
	double next_us;

	orr_assertf(ORR_ATOMIC_LOAD(&g->rung), "worker %u executes tasks and is not lent", w->id);
	do {
		advanced = orr_group_step(g, &next_us);
		any |= advanced;
		/* In a simulated run a kernel has begun: the caller is busy until its end. */
		if (g->nheap)
			orr_sys_polled(g->heap[0]->kernel.end_us);
	} while ((advanced || g->nheap) && w->ncompleted - before < tasks);
	if (!advanced)
		orr_waitq_wake(&g->proc->done); /* as in orr_group_main */
	return any;
}

void orr_lend_sleeps(struct orr_group *g)
{
	orr_assertf(!g->nheap, "the borrower of worker %u sleeps during a kernel", g->first);
	orr_wake_enlist(g);
	ORR_ATOMIC_FENCE();
}

void orr_lend_wakes(struct orr_group *g)
{
	orr_wake_delist(g);
}
