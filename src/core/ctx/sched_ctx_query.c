/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions about scheduling contexts, and what programs and policies attach to them. Questions
 * about their workers: sched_ctx_members.c.
 *
 * Invariant: nothing here changes who is in a context. */
#include "core/ctx/sched_ctx_query.h"
#include "core/ctx/policy.h"
#include "base/log.h"
#include "base/refuse.h"
#include "core/worker/core.h"
#include "core/ctx/sched_ctx.h"
#include "core/ctx/sched_ctx_life.h"
#include "core/task/task.h"

#include "base/slab.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* ---- the thread's ---- */

void starpu_sched_ctx_set_context(unsigned *sched_ctx_id)
{
	struct orr_thread *self = orr_thread_self();

	if (!sched_ctx_id || *sched_ctx_id == STARPU_NMAX_SCHED_CTXS)
		self->ctx = 0;
	else if (orr_ctx_get(*sched_ctx_id, "starpu_sched_ctx_set_context"))
		self->ctx = *sched_ctx_id + 1;
}

unsigned starpu_sched_ctx_get_context(void)
{
	unsigned ctx = orr_thread_self()->ctx;

	return ctx ? ctx - 1 : STARPU_NMAX_SCHED_CTXS;
}

/* ---- relatives ---- */

unsigned starpu_sched_ctx_get_inheritor(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_get_inheritor");

	return ctx ? ORR_ATOMIC_LOAD(&ctx->inheritor) : STARPU_NMAX_SCHED_CTXS;
}

unsigned starpu_sched_ctx_get_hierarchy_level(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_get_hierarchy_level");

	return ctx ? ctx->level : 0;
}

/* ---- policy and data ---- */

/* The place where the program finds the policy's data. NULL: there is no such context. init_sched
 * asks before the context is open. */
static void **policy_data_of(unsigned id)
{
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = id < STARPU_NMAX_SCHED_CTXS ? proc->core->ctx[id] : NULL;

	if (!ctx)
		return NULL;
	return ctx->own_policy || !id ? &ctx->policy_data : &ctx->program_data;
}

void starpu_sched_ctx_set_policy_data(unsigned sched_ctx_id, void *policy_data)
{
	void **p = policy_data_of(sched_ctx_id);

	if (p)
		*p = policy_data;
	else
		orr_error("%s: there is no scheduling context %u", __func__, sched_ctx_id);
}

void *starpu_sched_ctx_get_policy_data(unsigned sched_ctx_id)
{
	void **p = policy_data_of(sched_ctx_id);

	return p ? *p : NULL;
}

struct starpu_sched_policy *starpu_sched_get_sched_policy_in_ctx(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_get_sched_policy_in_ctx");

	return ctx && (ctx->own_policy || !ctx->id) ? ctx->policy : NULL;
}

struct starpu_sched_policy *starpu_sched_ctx_get_sched_policy(unsigned sched_ctx_id)
{
	return starpu_sched_get_sched_policy_in_ctx(sched_ctx_id);
}

void *starpu_sched_ctx_get_user_data(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_get_user_data");

	return ctx ? ctx->user_data : NULL;
}

void starpu_sched_ctx_set_user_data(unsigned sched_ctx_id, void *user_data)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_set_user_data");

	if (ctx)
		ctx->user_data = user_data;
}

/* ---- priorities ---- */

void orr_ctx_set_prios(struct orr_ctx *ctx, int min_prio, int max_prio)
{
	if (!ctx->fixed_min)
		ctx->min_prio = min_prio;
	if (!ctx->fixed_max)
		ctx->max_prio = max_prio;
}

/* One end of the range of priorities of the default context, as struct starpu_conf asks for it. */
static void prefer_prio(const struct orr_process *proc, int asked, int by_environment, int *prio,
			int *fixed)
{
	if (asked == INT_MIN ||
	    (by_environment && !proc->conf->precedence_over_environment_variables))
		return;
	*prio = asked;
	*fixed = 1;
}

int orr_ctx_prios_by_conf(struct orr_process *proc, struct orr_ctx *ctx)
{
	int min = proc->conf->global_sched_ctx_min_priority,
	    max = proc->conf->global_sched_ctx_max_priority;

	if (min == -1 && max == -1)
		return 0;
	prefer_prio(proc, min, proc->cfg->has_min_prio, &ctx->min_prio, &ctx->fixed_min);
	prefer_prio(proc, max, proc->cfg->has_max_prio, &ctx->max_prio, &ctx->fixed_max);
	if (!ctx->fixed_min || !ctx->fixed_max || ctx->min_prio <= ctx->max_prio)
		return 0;
	orr_error(
		"starpu_init: the priorities %d to %d are none: global_sched_ctx_min_priority must not be above global_sched_ctx_max_priority",
		ctx->min_prio, ctx->max_prio);
	return -EINVAL;
}

int starpu_sched_ctx_get_min_priority(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_get_min_priority");

	return ctx ? ctx->min_prio : 0;
}

int starpu_sched_ctx_get_max_priority(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_get_max_priority");

	return ctx ? ctx->max_prio : 0;
}

/* The context whose policy is starting is not open yet. */
static struct orr_ctx *to_change(unsigned id)
{
	struct orr_process *proc = orr_self();

	return id < STARPU_NMAX_SCHED_CTXS ? proc->core->ctx[id] : NULL;
}

int starpu_sched_ctx_set_min_priority(unsigned sched_ctx_id, int min_prio)
{
	struct orr_ctx *ctx = to_change(sched_ctx_id);

	if (!ctx)
		return -EINVAL;
	ctx->min_prio = min_prio;
	return 0;
}

int starpu_sched_ctx_set_max_priority(unsigned sched_ctx_id, int max_prio)
{
	struct orr_ctx *ctx = to_change(sched_ctx_id);

	if (!ctx)
		return -EINVAL;
	ctx->max_prio = max_prio;
	return 0;
}

/* Asked for before starpu_init, too: then there is one priority. */
int starpu_sched_get_min_priority(void)
{
	struct orr_ctx *ctx = to_change(orr_ctx_current(orr_thread_self()));

	return ctx ? ctx->min_prio : 0;
}

int starpu_sched_get_max_priority(void)
{
	struct orr_ctx *ctx = to_change(orr_ctx_current(orr_thread_self()));

	return ctx ? ctx->max_prio : 0;
}

int starpu_sched_set_min_priority(int min_prio)
{
	return starpu_sched_ctx_set_min_priority(orr_ctx_current(orr_thread_self()), min_prio);
}
int starpu_sched_set_max_priority(int max_prio)
{
	return starpu_sched_ctx_set_max_priority(orr_ctx_current(orr_thread_self()), max_prio);
}

/* ---- tasks ---- */

struct ready {
	unsigned ctx, n;
	double flops;
};

static void count_ready(void *obj, void *arg)
{
	struct orr_task *t = (struct orr_task *) ((char *) obj + sizeof(struct starpu_task));
	struct ready *r = arg;
	unsigned state = ORR_ATOMIC_LOAD_RELAXED(&t->state);
	double flops;

	if (state != ORR_TASK_READY || ORR_ATOMIC_LOAD_RELAXED(&t->ctx) != r->ctx)
		return;
	__atomic_load(&t->flops, &flops, __ATOMIC_RELAXED);
	r->n++;
	r->flops += flops;
}

static struct ready ready_in(unsigned id, const char *what)
{
	struct ready r = { id, 0, 0 };

	if (orr_ctx_get(id, what))
		orr_slab_foreach(&orr_self()->core->task_slab, count_ready, &r);
	return r;
}

int starpu_sched_ctx_get_nready_tasks(unsigned sched_ctx_id)
{
	return (int) ready_in(sched_ctx_id, "starpu_sched_ctx_get_nready_tasks").n;
}
double starpu_sched_ctx_get_nready_flops(unsigned sched_ctx_id)
{
	return ready_in(sched_ctx_id, "starpu_sched_ctx_get_nready_flops").flops;
}

/* ---- units ---- */

void starpu_sched_ctx_get_available_cpuids(unsigned sched_ctx_id, int **cpuids, int *ncpuids)
{
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_get_available_cpuids");

	*ncpuids = 0;
	*cpuids = ctx ? malloc((proc->core->nworkers + 1) * sizeof(int)) : NULL;
	for (unsigned i = 0; i < proc->core->nworkers && *cpuids; i++)
		if (orr_ctx_has(ctx, &proc->core->workers[i]) && proc->core->workers[i].bindid >= 0)
			(*cpuids)[(*ncpuids)++] = proc->core->workers[i].bindid;
}

void starpu_sched_ctx_bind_current_thread_to_cpuid(unsigned cpuid)
{
	starpu_bind_thread_on_cpu((int) cpuid);
}

/* Contexts that were given multiprocessors share the worker's GPU one after the other, in the order
 * of their numbers. */
void starpu_sched_ctx_get_sms_interval(int stream_workerid, int *start, int *end)
{
	struct orr_process *proc = orr_self();
	int first = 0;

	*start = *end = -1;
	for (unsigned i = 0; i < STARPU_NMAX_SCHED_CTXS; i++) {
		struct orr_ctx *ctx = proc->core->ctx[i];

		if (!ctx || ctx->nsms < 0 || ORR_ATOMIC_LOAD(&ctx->state) == ORR_CTX_FREE)
			continue;
		if (starpu_sched_ctx_contains_worker(stream_workerid, i)) {
			*start = first;
			*end = first + ctx->nsms;
			return;
		}
		first += ctx->nsms;
	}
}

unsigned starpu_sched_ctx_get_ctx_for_task(struct starpu_task *task)
{
	return task->sched_ctx;
}

unsigned starpu_sched_ctx_has_starpu_scheduler(unsigned sched_ctx_id, unsigned *awake_workers)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, __func__);

	if (awake_workers)
		*awake_workers = 0; /* idle workers always sleep */
	return ctx && ctx->policy != orr_self()->core->policies->together;
}

int starpu_sched_ctx_get_nsms(unsigned sched_ctx)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx, __func__);

	return ctx ? ctx->nsms : -1;
}

int starpu_sched_ctx_min_priority_is_set(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, __func__);

	return ctx && (ctx->fixed_min || ctx->min_prio != 0);
}

int starpu_sched_ctx_max_priority_is_set(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, __func__);

	return ctx && (ctx->fixed_max || ctx->max_prio != 0);
}

void (*starpu_sched_ctx_get_sched_policy_callback(unsigned sched_ctx_id))(unsigned)
{
	return sched_ctx_id ? NULL : orr_self()->conf->sched_policy_callback;
}

void starpu_sched_ctx_register_close_callback(unsigned sched_ctx_id,
					      void (*close_callback)(unsigned sched_ctx_id,
								     void *args),
					      void *args)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, __func__);

	if (!ctx)
		return;
	ctx->close_arg = args;
	ORR_ATOMIC_STORE(&ctx->close_callback, close_callback);
}

void starpu_sched_ctx_stop_task_submission(void)
{
	orr_refuse(__func__, "call starpu_sched_ctx_finished_submit for the context");
}

void starpu_sched_ctx_revert_task_counters_ctx_locked(unsigned sched_ctx_id, double flops)
{
	(void) sched_ctx_id;
	(void) flops;
	orr_refuse(__func__, "the runtime counts tasks of contexts itself");
}

void starpu_sched_ctx_move_task_to_ctx_locked(struct starpu_task *task, unsigned sched_ctx,
					      unsigned with_repush)
{
	(void) task;
	(void) sched_ctx;
	(void) with_repush;
	orr_refuse(__func__, "choose the context when the task is submitted");
}
