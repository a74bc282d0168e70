/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of a worker in the dm family (see dm.c).
 *
 * A worker costs a task: its expected end + alpha * expected length + beta * expected transfers +
 * gamma * energy, where keeping the whole machine busy for longer costs its idle power
 * (STARPU_SCHED_ALPHA, _BETA, _GAMMA, STARPU_IDLE_POWER). A task's energy is what its energy model
 * tells; without one, the watts of such a worker while it executes, where the machine's are known.
 * Where nothing is known, flops over an assumed speed serve when the program gave flops; else tasks
 * go in turn to the workers that have fewest, so that while calibrating each class gets its
 * samples.
 *
 * Invariant: of equal costs the first class and the lowest worker win. */
#include "sched/dm.h"
#include "core/task/bundle.h"
#include "core/task/expect.h"
#include "data/bus_time.h"
#include "perf/machine.h"
#include "core/worker/core.h"
#include "core/run/inputs.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"

#include <errno.h>
#include <math.h>

enum knowledge { CANNOT, KNOWN, UNKNOWN };

struct estimate {
	enum knowledge k;
	unsigned impl;
	double us;
};

struct search {
	struct orr_process *proc;
	struct orr_dm *dm;
	struct starpu_task *task;
	int64_t now;
	double last_us; /* from now to the expected end of all that was pushed, when idle power
			   counts */
	int one_by_one; /* workers of a class may differ for this task */
	const double *transfer; /* by class */
	const double *others; /* by class: cost of the other tasks of its bundle; NULL: they do not
				 matter */
	int memnode;          /* where the tasks of its bundle go, -1: anywhere */
	struct orr_dm_choice best; /* by cost */
	double best_cost;
	struct orr_dm_choice trial; /* of the classes of which nothing is known: the worker with
				       fewest tasks */
	unsigned trial_class, trial_ntasks, trial_tried;
	int found, may_try;
	int energy; /* something is known of it */
};

/* ---- energy ---- */

/* Watts of the machine as long as anything executes. What the user says comes first. */
static double idle_watts(const struct orr_process *proc)
{
	return proc->cfg->idle_power > 0 ? proc->cfg->idle_power : proc->idle_watts;
}

double orr_dm_energy_us(struct orr_process *proc, struct starpu_task *task,
			const struct orr_arch *arch, unsigned impl, double us, double longer_us)
{
	double joules = orr_expect_joules(proc, arch, task, impl, us);

	return proc->cfg->gamma *
	       ((isnan(joules) ? 0 : joules) + idle_watts(proc) * longer_us * 1e-6);
}

/* From now to the expected end of all that was pushed. */
static double last_us(struct orr_process *proc, struct orr_dm *dm, int64_t now)
{
	int64_t last = now;

	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		int64_t end = orr_dm_available(&dm->w[i], now);

		if (end > last)
			last = end;
	}
	return (double) (last - now) * 1e-3;
}

double orr_dm_longer_us(struct orr_process *proc, struct orr_dm *dm, int64_t now, double end_us)
{
	return idle_watts(proc) > 0 ? fmax(0, end_us - last_us(proc, dm, now)) : 0;
}

static int energy_counts(const struct orr_process *proc, const struct starpu_task *task)
{
	int i, counts = task->cl->energy_model || idle_watts(proc) > 0;

	for (i = 0; i < STARPU_NARCH && !counts; i++)
		counts = proc->watts[i] > 0;
	return counts;
}

/* ---- data ---- */

uint32_t orr_dm_where(starpu_data_handle_t h)
{
	const struct orr_replicate *r;
	uint32_t valid = 0, coming = 0;

	orr_lock(&h->lock);
	for (r = &h->main; r; r = r->next) {
		if (r->state != ORR_INVALID)
			valid |= 1u << r->memnode;
		else if (r->loading || r->requested)
			coming |= 1u << r->memnode;
	}
	orr_unlock(&h->lock);
	return valid ? valid | coming : ~0u;
}

static double transfer_us(struct orr_process *proc, uint32_t where, unsigned dst, size_t size)
{
	double best = INFINITY;

	for (uint32_t rest = where; rest; rest &= rest - 1) {
		double us = orr_bus_time_us(proc, (unsigned) __builtin_ctz(rest), dst, size);

		if (isnan(us))
			us = ORR_MACHINE_BUS_US + (double) size / ORR_MACHINE_BUS_MBS;
		if (us < best)
			best = us;
	}
	return best;
}

/* Expected transfers for each class. */
static void sum_transfers(struct search *s, double *sum)
{
	struct orr_task *t = orr_task_of(s->task);

	for (unsigned u = 0; u < s->dm->nclasses; u++)
		sum[u] = 0;
	for (unsigned i = 0; i < t->owner.naccess && orr_dm_transfers(s->proc); i++) {
		struct orr_access *a = &t->owner.access[i];
		uint32_t where;
		size_t size = 0;

		if (!orr_dm_moves(a))
			continue;
		where = orr_dm_where(a->handle);
		for (unsigned u = 0; u < s->dm->nclasses; u++) {
			int dst = s->task->cl->specific_nodes
					  ? orr_inputs_target_node(s->dm->classes[u].lead, s->task,
								   i)
					  : (int) s->dm->classes[u].memnode;

			if (dst < 0 || (where >> dst & 1))
				continue;
			if (!size)
				size = starpu_data_get_size(a->handle);
			sum[u] += transfer_us(s->proc, where, (unsigned) dst, size);
		}
	}
}

/* ---- execution ---- */

/* The fastest implementation on a worker; while calibrating, the first of which too little is
 * known. */
static struct estimate estimate(struct orr_process *proc, struct orr_worker *w,
				struct starpu_task *task, int use_defaults)
{
	const struct orr_task *t = orr_task_of(task);
	struct estimate e = { CANNOT, 0, INFINITY };
	unsigned i = t->forced_impl ? t->nimpl : 0,
		 end = t->forced_impl ? i + 1 : STARPU_MAXIMPLEMENTATIONS;

	for (; i < end; i++) {
		double us;

		if (!orr_task_can_run(w, task, i))
			continue;
		us = orr_expect_us(proc, w->perf_arch, task, i, use_defaults, NULL);
		if (isnan(us)) {
			if (e.k == CANNOT || proc->cfg->calibrate)
				e = (struct estimate){ UNKNOWN, i, 0 };
			if (proc->cfg->calibrate)
				return e;
		} else if (e.k != KNOWN || us < e.us) {
			e = (struct estimate){ KNOWN, i, us };
		}
	}
	return e;
}

/* ---- workers ---- */

/* Expected end without the queued tasks that are less urgent. */
static int64_t available_for(struct orr_dm_worker *w, int64_t now, int prio)
{
	int64_t end = orr_dm_available(w, now);

	if (!ORR_ATOMIC_LOAD_RELAXED(&w->q.ntasks))
		return end;
	orr_lock(&w->lock);
	for (unsigned i = 0; i < w->q.n && w->q.bucket[i].prio < prio; i++)
		end -= w->q.bucket[i].load;
	orr_unlock(&w->lock);
	return end > now ? end : now;
}

static int64_t available(struct search *s, unsigned worker)
{
	struct orr_dm_worker *w = &s->dm->w[worker];

	return s->dm->v->by_prio ? available_for(w, s->now, s->task->priority)
				 : orr_dm_available(w, s->now);
}

static double cost(struct search *s, const struct orr_dm_choice *c, int64_t avail)
{
	const struct orr_config *cfg = s->proc->cfg;
	const struct orr_worker *w = &s->proc->core->workers[c->worker];
	double wait = (double) (avail - s->now) * 1e-3, sum = wait + cfg->alpha * c->us;

	if (s->dm->v->data)
		sum += cfg->beta * c->transfer_us;
	if (__builtin_expect(s->energy, 0))
		sum += orr_dm_energy_us(s->proc, s->task, w->perf_arch, c->impl, c->us,
					fmax(0, wait + c->us + c->transfer_us - s->last_us));
	return sum;
}

static void consider(struct search *s, unsigned cls, unsigned worker, int64_t avail,
		     const struct estimate *e)
{
	struct orr_dm_choice c = { worker, e->impl, 1, e->us, s->transfer[cls] };
	double x = cost(s, &c, avail) + (s->others ? s->others[cls] : 0);

	if (s->found && x >= s->best_cost)
		return;
	s->found = 1;
	s->best = c;
	s->best_cost = x;
}

static void consider_trying(struct search *s, unsigned cls, unsigned worker,
			    const struct estimate *e)
{
	unsigned ntasks = ORR_ATOMIC_LOAD_RELAXED(&s->dm->w[worker].ntasks),
		 tried = ORR_ATOMIC_LOAD_RELAXED(&s->dm->classes[cls].tried);

	if (s->may_try &&
	    (ntasks > s->trial_ntasks || (ntasks == s->trial_ntasks && tried >= s->trial_tried)))
		return;
	s->may_try = 1;
	s->trial = (struct orr_dm_choice){ worker, e->impl, 0, 0, s->transfer[cls] };
	s->trial_class = cls;
	s->trial_ntasks = ntasks;
	s->trial_tried = tried;
}

/* The members are all the same for the task: the one that is free first. */
static void look_at_class(struct search *s, unsigned u, const struct estimate *e)
{
	struct orr_dm_class *cls = &s->dm->classes[u];
	unsigned first = 0;
	int64_t best = 0;
	int any = 0;

	for (unsigned i = 0; i < cls->n && e->k == UNKNOWN; i++)
		if (!orr_dm_away(s->dm, cls->member[i]))
			consider_trying(s, u, cls->member[i], e);
	for (unsigned i = 0; i < cls->n && e->k == KNOWN; i++) {
		int64_t avail;

		if (orr_dm_away(s->dm, cls->member[i]))
			continue;
		avail = available(s, cls->member[i]);
		if (any && avail >= best)
			continue;
		any = 1;
		best = avail;
		first = cls->member[i];
		if (avail <= s->now)
			break;
	}
	if (any)
		consider(s, u, first, best, e);
}

static void look_at_each(struct search *s, unsigned u, int use_defaults)
{
	struct orr_dm_class *cls = &s->dm->classes[u];

	for (unsigned i = 0; i < cls->n; i++) {
		unsigned w = cls->member[i];
		struct estimate e = orr_dm_away(s->dm, w)
					    ? (struct estimate){ CANNOT, 0, 0 }
					    : estimate(s->proc, &s->proc->core->workers[w], s->task,
						       use_defaults);

		if (e.k == KNOWN)
			consider(s, u, w, available(s, w), &e);
		else if (e.k == UNKNOWN)
			consider_trying(s, u, w, &e);
	}
}

static void look(struct search *s, int use_defaults)
{
	struct estimate e[s->dm->nclasses + 1];

	s->found = s->may_try = 0;
	for (unsigned u = 0; u < s->dm->nclasses; u++) {
		/* A later class may take over the estimate, so it is made here, too. */
		if (s->memnode >= 0 && s->dm->classes[u].memnode != (unsigned) s->memnode) {
			e[u] = estimate(s->proc, s->dm->classes[u].lead, s->task, use_defaults);
			continue;
		}
		if (s->one_by_one) {
			look_at_each(s, u, use_defaults);
			continue;
		}
		e[u] = s->dm->classes[u].alike < u
			       ? e[s->dm->classes[u].alike]
			       : estimate(s->proc, s->dm->classes[u].lead, s->task, use_defaults);
		look_at_class(s, u, &e[u]);
	}
}

/* The first task of a bundle draws the others after it: they count for each class, as far as they
 * are known. */
static void look_at_bundle(struct search *s, double *others)
{
	const struct orr_config *cfg = s->proc->cfg;
	starpu_task_bundle_t bundle = s->task->bundle;

	for (unsigned u = 0; u < s->dm->nclasses; u++) {
		const struct orr_dm_class *cls = &s->dm->classes[u];
		struct starpu_perfmodel_arch *arch = starpu_worker_get_perf_archtype(
			(int) cls->lead->id, 0);
		double us = arch ? starpu_task_bundle_expected_length(bundle, arch, 0) : NAN;
		double transfer = s->dm->v->data ? starpu_task_bundle_expected_data_transfer_time(
							   bundle, cls->memnode)
						 : 0;

		others[u] = (isnan(us) ? 0 : cfg->alpha * us / cls->n) +
			    (isnan(transfer) ? 0 : cfg->beta * transfer);
	}
	s->others = others;
}

static void look_for_bundle(struct search *s, int use_defaults)
{
	double others[s->dm->nclasses + 1];

	s->memnode = orr_bundle_memnode(s->task);
	if (s->memnode < 0)
		look_at_bundle(s, others);
	look(s, use_defaults);
	/* Nobody there can execute it: anywhere. */
	if (s->memnode >= 0 && !s->found && !s->may_try) {
		s->memnode = -1;
		look(s, use_defaults);
	}
	s->others = NULL;
}

int orr_dm_decide(struct orr_process *proc, struct orr_dm *dm, struct starpu_task *task,
		  int64_t now, struct orr_dm_choice *c)
{
	const struct starpu_perfmodel *model = task->cl->model;
	double transfer[dm->nclasses + 1];
	struct search s = { .proc = proc,
			    .dm = dm,
			    .task = task,
			    .now = now,
			    .transfer = transfer,
			    .memnode = -1 };

	s.one_by_one = task->cl->can_execute || task->workerids_len ||
		       (model && model->worker_cost_function);
	s.energy = energy_counts(proc, task);
	s.last_us = s.energy && idle_watts(proc) > 0 ? last_us(proc, dm, now) : 0;
	sum_transfers(&s, transfer);
	if (__builtin_expect(orr_task_of(task)->bundled, 0))
		look_for_bundle(&s, 0);
	else
		look(&s, 0);
	if (s.may_try && !proc->cfg->calibrate && task->flops > 0)
		look(&s, 1);
	/* Nothing will be measured: the unknown serves when it has nothing else to do. */
	if (s.may_try && s.found && !proc->cfg->calibrate && s.trial_ntasks)
		s.may_try = 0;
	if (!s.may_try && !s.found)
		return -ENODEV;
	*c = s.may_try ? s.trial : s.best;
	if (__builtin_expect(orr_task_of(task)->bundled, 0))
		orr_bundle_settle(task, proc->core->workers[c->worker].memnode);
	if (s.may_try)
		ORR_ATOMIC_ADD_RELAXED(&dm->classes[s.trial_class].tried, 1);
	return 0;
}
