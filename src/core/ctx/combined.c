/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Combined workers: which there are, and what can be asked about them.
 *
 * They follow the machine: each object of the topology that has several CPU workers below it makes
 * one (cores that share a cache, a package, the machine); where an object has many children, groups
 * of STARPU_SYNTHESIZE_ARITY_COMBINED_WORKER of them, groups of these groups and so on. Without a
 * topology the CPU workers, in the order of their numbers, are children of one object. Invariant:
 * combined workers are only added; no two have the same members in the same order; all members are
 * CPU workers. */
#include "core/ctx/combined.h"
#include "core/worker/core.h"
#include "base/codelet_fields.h"
#include "base/seam_machine.h"
#include "core/task/codelet.h"
#include "core/ctx/sched_ctx.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COMBINED STARPU_NMAXWORKERS

struct orr_combined *orr_combined_get(struct orr_process *proc, unsigned id)
{
	return id >= proc->core->nworkers &&
			       id - proc->core->nworkers < ORR_ATOMIC_LOAD(&proc->core->ncombined)
		       ? proc->core->combined[id - proc->core->nworkers]
		       : NULL;
}

/* ---- making them ---- */

static struct orr_combined *make(struct orr_process *proc, const int *workers, unsigned n)
{
	struct orr_combined *c = malloc(sizeof(*c));

	if (c)
		c->workers = malloc(n * sizeof(int));
	if (!c || !c->workers) {
		free(c);
		return NULL;
	}
	memcpy(c->workers, workers, n * sizeof(int));
	c->n = n;
	c->arch = *proc->core->workers[workers[0]].perf_arch;
	for (unsigned i = 0; i < n; i++)
		orr_assertf(proc->core->workers[workers[i]].arch == STARPU_CPU_WORKER,
			    "worker %d of a combined worker is no CPU worker", workers[i]);
	c->arch.ncores = (int) n;
	return c;
}

static int add_locked(struct orr_process *proc, const int *workers, unsigned n)
{
	unsigned count = proc->core->ncombined;
	struct orr_combined *c;

	orr_assert_locked(&proc->lock);
	orr_assert(n > 1 && count <= MAX_COMBINED - proc->core->nworkers);

	for (unsigned i = 0; i < count; i++)
		if (proc->core->combined[i]->n == n &&
		    !memcmp(proc->core->combined[i]->workers, workers, n * sizeof(int)))
			return (int) proc->core->combined[i]->id;
	if (count == MAX_COMBINED - proc->core->nworkers)
		return -ENODEV;
	if (!proc->core->combined)
		proc->core->combined = calloc(MAX_COMBINED, sizeof(*proc->core->combined));
	c = proc->core->combined ? make(proc, workers, n) : NULL;
	if (!c)
		return -ENOMEM;
	c->id = proc->core->nworkers + count;
	proc->core->combined[count] = c;
	ORR_ATOMIC_STORE(&proc->core->ncombined, count + 1);
	return (int) c->id;
}

int orr_combined_assign(struct orr_process *proc, const int *workers, unsigned n)
{
	int ret;

	for (unsigned i = 0; i < n; i++) {
		if (workers[i] < 0 || (unsigned) workers[i] >= proc->core->nworkers ||
		    proc->core->workers[workers[i]].arch != STARPU_CPU_WORKER)
			return -EINVAL;
		for (unsigned k = 0; k < i; k++)
			if (workers[k] == workers[i])
				return -EINVAL;
	}
	if (!n)
		return -EINVAL;
	if (n == 1)
		return workers[0];
	orr_lock(&proc->lock);
	ret = add_locked(proc, workers, n);
	orr_unlock(&proc->lock);
	return ret;
}

/* CPU workers in the order of the machine, cut into groups that are cut again. */
struct builder {
	struct orr_process *proc;
	int order[STARPU_NMAXWORKERS];
	unsigned n, min, max, arity;
};

static void suggest(struct builder *b, unsigned first, unsigned n)
{
	if (n > 1 && n >= b->min && n <= b->max)
		orr_combined_assign(b->proc, &b->order[first], n);
}

/* Children begin at start[0..m); start[m] is the end of the last. Their groups, groups of groups,
 * ... and all together. */
static void combine(struct builder *b, unsigned *start, unsigned m)
{
	unsigned k;

	orr_assert(b->arity > 1 && b->min > 1);
	while (m > b->arity) {
		for (unsigned i = k = 0; i < m; i += b->arity, k++) {
			unsigned end = i + b->arity < m ? i + b->arity : m;

			orr_assert(start[i] < start[end] && start[end] <= b->n);

			suggest(b, start[i], start[end] - start[i]);
			start[k] = start[i];
		}
		start[k] = start[m];
		m = k;
	}
	if (m > 1)
		suggest(b, start[0], start[m] - start[0]);
}

static void flat(struct builder *b)
{
	unsigned start[STARPU_NMAXWORKERS + 1], i;

	for (i = 0; i < b->proc->core->nworkers; i++)
		if (b->proc->core->workers[i].arch == STARPU_CPU_WORKER)
			b->order[b->n++] = (int) i;
	for (i = 0; i <= b->n; i++)
		start[i] = i;
	combine(b, start, b->n);
}

/* Appends the workers below a part of the machine to the order. */
static void walk(struct builder *b, const struct orr_part *part)
{
	unsigned start[STARPU_NMAXWORKERS + 1], m = 0, i, k;
	const struct orr_part *child;
	int unit = orr_sys_part_unit(b->proc, part);

	for (k = 0; (child = orr_sys_part_child(part, k)) != NULL; k++) {
		start[m] = b->n;
		walk(b, child);
		m += b->n > start[m];
	}
	/* Those of this very part: each is a child. */
	for (i = 0; unit >= 0 && i < b->proc->core->nworkers; i++)
		if (b->proc->core->workers[i].arch == STARPU_CPU_WORKER &&
		    b->proc->core->workers[i].bindid == unit) {
			start[m++] = b->n;
			b->order[b->n++] = (int) i;
		}
	start[m] = b->n;
	combine(b, start, m);
}

/* 0 when the machine does not tell where the workers are. */
static int by_topology(struct builder *b)
{
	const struct orr_part *root = orr_sys_part_root(b->proc);

	for (unsigned i = 0; i < b->proc->core->nworkers; i++) {
		const struct orr_worker *w = &b->proc->core->workers[i];

		if (w->arch == STARPU_CPU_WORKER &&
		    (!root || w->bindid < 0 || (unsigned) w->bindid >= b->proc->topo.nunits))
			return 0;
	}
	if (root)
		walk(b, root);
	return root != NULL;
}

void orr_combined_build(struct orr_process *proc)
{
	const struct orr_config *cfg = proc->cfg;
	unsigned ncpus = starpu_cpu_worker_get_count();
	struct builder b = { .proc = proc };

	if (ORR_ATOMIC_XCHG(&proc->core->combined_built, 1))
		return;
	b.min = cfg->min_workersize > 2 ? (unsigned) cfg->min_workersize : 2;
	b.max = cfg->max_workersize > 0 ? (unsigned) cfg->max_workersize : ncpus;
	b.arity = cfg->combined_arity > 1 ? (unsigned) cfg->combined_arity : 2;
	/* One that is alone never runs beside another. */
	if (cfg->single_combined || proc->conf->single_combined_worker > 0) {
		b.min = b.max < ncpus ? b.max : ncpus;
		b.arity = ncpus > 1 ? ncpus : 2;
	}
	if (!by_topology(&b)) {
		b.n = 0;
		flat(&b);
	}
}

void orr_combined_exit(struct orr_process *proc)
{
	for (unsigned i = 0; i < proc->core->ncombined; i++) {
		orr_assert(proc->core->combined[i]->id == proc->core->nworkers + i);
		free(proc->core->combined[i]->workers);
		free(proc->core->combined[i]);
	}
	free(proc->core->combined);
	proc->core->combined = NULL;
	proc->core->ncombined = proc->core->combined_built = 0;
}

/* ---- who can execute what ---- */

static unsigned largest(const struct starpu_codelet *cl)
{
	return cl->max_parallelism > 0  ? (unsigned) cl->max_parallelism
	       : cl->type == STARPU_SEQ ? 1
					: UINT_MAX;
}

int orr_combined_can_run(const struct orr_combined *c, const struct starpu_task *task,
			 unsigned impl)
{
	const struct starpu_codelet *cl = task->cl;
	uint32_t where = task->where != -1 ? (uint32_t) task->where : orr_codelet_where(cl);

	if (impl >= STARPU_MAXIMPLEMENTATIONS || !(where & STARPU_CPU) ||
	    !orr_codelet_cpu_func(cl, impl) || c->n > largest(cl))
		return 0;
	for (unsigned i = 0; i < c->n && task->workerids_len; i++) {
		unsigned w = (unsigned) c->workers[i];

		if (w / 32 >= task->workerids_len || !(task->workerids[w / 32] >> w % 32 & 1))
			return 0;
	}
	return !cl->can_execute || cl->can_execute(c->id, (struct starpu_task *) task, impl);
}

int orr_combined_first_impl(const struct orr_combined *c, const struct starpu_task *task)
{
	const struct orr_task *t = orr_task_of(task);

	if (t && t->forced_impl)
		return orr_combined_can_run(c, task, t->nimpl) ? t->nimpl : -1;
	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
		if (orr_combined_can_run(c, task, i))
			return (int) i;
	return -1;
}

int orr_combined_in_ctx(struct orr_process *proc, const struct orr_combined *c,
			const struct orr_ctx *ctx)
{
	if (ctx->of_teams)
		return 0; /* each of its workers stands for several that belong together */
	for (unsigned i = 0; i < c->n; i++)
		if (!orr_ctx_has(ctx, &proc->core->workers[c->workers[i]]))
			return 0;
	return 1;
}

static int has_worker(const struct orr_combined *c, unsigned id)
{
	unsigned i;

	for (i = 0; i < c->n && c->workers[i] != (int) id; i++)
		;
	return i < c->n;
}

struct orr_combined *orr_combined_largest(struct orr_process *proc, const struct orr_worker *w,
					  const struct starpu_task *task)
{
	const struct orr_ctx *ctx = proc->core->ctx[orr_task_of(task)->ctx];
	unsigned i, n = ORR_ATOMIC_LOAD(&proc->core->ncombined);
	struct orr_combined *best = NULL;

	for (i = 0; i < n; i++) {
		struct orr_combined *c = proc->core->combined[i];

		if ((!best || c->n > best->n) && has_worker(c, w->id) &&
		    orr_combined_in_ctx(proc, c, ctx) && orr_combined_first_impl(c, task) >= 0)
			best = c;
	}
	return best;
}

/* ---- for programs ---- */

unsigned starpu_combined_worker_get_count(void)
{
	return ORR_ATOMIC_LOAD(&orr_self()->core->ncombined);
}
unsigned starpu_worker_is_combined_worker(int id)
{
	return id >= 0 && orr_combined_get(orr_self(), (unsigned) id) != NULL;
}

int starpu_combined_worker_assign_workerid(int nworkers, int workerid_array[])
{
	return nworkers > 0 ? orr_combined_assign(orr_self(), workerid_array, (unsigned) nworkers)
			    : -EINVAL;
}

int starpu_combined_worker_get_description(int workerid, int *worker_size, int **combined_workerid)
{
	struct orr_combined *c = workerid >= 0 ? orr_combined_get(orr_self(), (unsigned) workerid)
					       : NULL;

	if (!c)
		return -EINVAL;
	if (worker_size)
		*worker_size = (int) c->n;
	if (combined_workerid)
		*combined_workerid = c->workers;
	return 0;
}

int starpu_combined_worker_can_execute_task(unsigned workerid, struct starpu_task *task,
					    unsigned nimpl)
{
	struct orr_process *proc = orr_self();
	struct orr_combined *c = orr_combined_get(proc, workerid);

	if (!task->cl)
		return 0;
	return c ? orr_combined_can_run(c, task, nimpl)
		 : workerid < proc->core->nworkers &&
			       orr_task_can_run(&proc->core->workers[workerid], task, nimpl);
}

void starpu_sched_find_all_worker_combinations(void)
{
	orr_combined_build(orr_self());
}
