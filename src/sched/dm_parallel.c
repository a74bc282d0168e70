/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parallel tasks in the dm family (pheft): several CPU workers execute a task when all of them
 * together end it earlier than the best single worker; while calibrating, each combined worker gets
 * its samples.
 *
 * Invariant: a launched task is a load of each member until it ends. */
#include "core/task/expect.h"
#include "core/flow/parallel.h"
#include "sched/dm.h"
#include "core/worker/core.h"
#include "core/ctx/combined.h"
#include "core/task/task.h"

#include <math.h>

static void launch(struct orr_process *proc, struct orr_dm *dm, struct orr_task *t,
		   const struct orr_combined *c, unsigned impl, double us)
{
	t->load = us > 0 ? (int64_t) (us * 1e3) : 0;
	t->nimpl = (uint8_t) impl;
	t->impl_chosen = 1;
	t->pub->predicted = us;
	for (unsigned i = 0; i < c->n; i++) {
		struct orr_dm_worker *w = &dm->w[c->workers[i]];

		ORR_ATOMIC_ADD_RELAXED(&w->queued_ns, t->load);
		ORR_ATOMIC_ADD_RELAXED(&w->ntasks, 1);
	}
	orr_parallel_launch(proc, t, c);
}

/* The time at which all members are free. */
static int64_t available(struct orr_dm *dm, const struct orr_combined *c, int64_t now)
{
	int64_t last = now;

	for (unsigned i = 0; i < c->n; i++) {
		int64_t end = orr_dm_available(&dm->w[c->workers[i]], now);

		if (end > last)
			last = end;
	}
	return last;
}

int orr_dm_try_parallel(struct orr_process *proc, struct orr_dm *dm, struct starpu_task *task,
			int64_t now, const struct orr_dm_choice *single)
{
	const struct orr_config *cfg = proc->cfg;
	struct orr_task *t = orr_task_of(task);
	double best_us = NAN,
	       wait = (double) (orr_dm_available(&dm->w[single->worker], now) - now) * 1e-3;
	double least = wait + cfg->alpha * single->us + cfg->beta * single->transfer_us +
		       orr_dm_energy_us(proc, task, proc->core->workers[single->worker].perf_arch,
					single->impl, single->us,
					orr_dm_longer_us(proc, dm, now,
							 wait + single->us + single->transfer_us));
	unsigned i, n = ORR_ATOMIC_LOAD(&proc->core->ncombined), best_impl = 0;
	const struct orr_combined *best = NULL;

	for (i = 0; i < n; i++) {
		const struct orr_combined *c = proc->core->combined[i];
		int impl = orr_combined_in_ctx(proc, c, proc->core->ctx[t->ctx])
				   ? orr_combined_first_impl(c, task)
				   : -1;
		double us, cost, transfer;

		if (impl < 0)
			continue;
		us = orr_expect_us(proc, &c->arch, task, (unsigned) impl, 0, NULL);
		if (isnan(us) && cfg->calibrate && task->cl->model) {
			launch(proc, dm, t, c, (unsigned) impl, NAN);
			return 1;
		}
		if (isnan(us) || !single->known)
			continue;
		transfer = starpu_task_expected_data_transfer_time(
			proc->core->workers[c->workers[0]].memnode, task);
		if (!(transfer > 0))
			transfer = 0;
		wait = (double) (available(dm, c, now) - now) * 1e-3;
		cost = wait + cfg->alpha * us + cfg->beta * transfer +
		       orr_dm_energy_us(proc, task, &c->arch, (unsigned) impl, us,
					orr_dm_longer_us(proc, dm, now, wait + us + transfer));
		if (cost >= least)
			continue;
		least = cost;
		best = c;
		best_impl = (unsigned) impl;
		best_us = us;
	}
	if (!best)
		return 0;
	launch(proc, dm, t, best, best_impl, best_us);
	return 1;
}
