/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The collection of workers that a context keeps for its policy, and what policies tell the runtime
 * about the tasks that workers find there.
 *
 * Invariant: the collection has the workers of the context that has it; both change under the
 * context's lock. */
#include "base/log.h"
#include "core/worker/core.h"
#include "core/ctx/sched_ctx.h"
#include "core/ctx/sched_ctx_life.h"
#include "core/task/task.h"
#include "core/worker/wake.h"

#include <stdlib.h>

/* ---- the collection ---- */

static struct starpu_worker_collection *make(const struct orr_ctx *ctx,
					     enum starpu_worker_collection_type type)
{
	struct starpu_worker_collection *c = malloc(sizeof(*c));

	if (!c)
		orr_fatal("not enough memory for the workers of scheduling context %u", ctx->id);
	*c = type == STARPU_WORKER_TREE ? starpu_worker_tree : starpu_worker_list;
	c->init(c);
	return c;
}

static void destroy(struct starpu_worker_collection *c)
{
	c->deinit(c);
	free(c);
}

/* The one that there is, or a new one. */
static struct starpu_worker_collection *get_or_make(struct orr_ctx *ctx,
						    enum starpu_worker_collection_type type)
{
	struct orr_process *proc = orr_self();
	struct starpu_worker_collection *c = ORR_ATOMIC_LOAD(&ctx->collection), *unused = NULL;

	if (c)
		return c;
	c = make(ctx, type);
	orr_lock(&ctx->lock);
	if (ctx->collection) {
		unused = c;
		c = ctx->collection;
	} else {
		for (unsigned i = 0; i < proc->core->nworkers; i++)
			if (orr_ctx_has(ctx, &proc->core->workers[i]))
				c->add(c, (int) i);
		ORR_ATOMIC_STORE(&ctx->collection, c);
	}
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		orr_assertf(!c->present[i] == !orr_ctx_has(ctx, &proc->core->workers[i]),
			    "context %u and its collection disagree about worker %u", ctx->id, i);
	orr_unlock(&ctx->lock);
	if (unused)
		destroy(unused);
	return c;
}

struct starpu_worker_collection *starpu_sched_ctx_get_worker_collection(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_get_worker_collection");

	if (!ctx)
		return NULL;
	return get_or_make(ctx, orr_self()->cfg->worker_tree ? STARPU_WORKER_TREE
							     : ctx->policy->worker_type);
}

struct starpu_worker_collection *starpu_sched_ctx_create_worker_collection(
	unsigned sched_ctx_id, enum starpu_worker_collection_type type)
{
	static const char what[] = "starpu_sched_ctx_create_worker_collection";
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, what);
	struct starpu_worker_collection *c = ctx ? get_or_make(ctx, type) : NULL;

	if (!c || c->type == type)
		return c;
	orr_error(
		"%s: scheduling context %u has a collection of the other type; call starpu_sched_ctx_delete_worker_collection first",
		what, sched_ctx_id);
	return NULL;
}

void starpu_sched_ctx_delete_worker_collection(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id,
					  "starpu_sched_ctx_delete_worker_collection");
	struct starpu_worker_collection *c;

	if (!ctx)
		return;
	orr_lock(&ctx->lock);
	c = ctx->collection;
	ORR_ATOMIC_STORE(&ctx->collection, NULL);
	orr_unlock(&ctx->lock);
	if (c)
		destroy(c);
}

/* ---- what workers find ---- */

/* Workers look into all their contexts: nothing needs to be counted, but a worker that sleeps must
 * wake. */
void starpu_sched_ctx_list_task_counters_increment(unsigned sched_ctx_id, int workerid)
{
	if (starpu_sched_ctx_contains_worker(workerid, sched_ctx_id))
		orr_wake_worker(&orr_self()->core->workers[workerid]);
}

void starpu_sched_ctx_list_task_counters_decrement(unsigned sched_ctx_id, int workerid)
{
	(void) sched_ctx_id;
	(void) workerid;
}

void starpu_sched_ctx_list_task_counters_reset(unsigned sched_ctx_id, int workerid)
{
	(void) sched_ctx_id;
	(void) workerid;
}

void starpu_sched_ctx_list_task_counters_increment_all_ctx_locked(struct starpu_task *task,
								  unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(
		sched_ctx_id, "starpu_sched_ctx_list_task_counters_increment_all_ctx_locked");

	(void) task;
	if (ctx)
		orr_ctx_wake_all(orr_self(), ctx);
}

void starpu_sched_ctx_list_task_counters_decrement_all_ctx_locked(struct starpu_task *task,
								  unsigned sched_ctx_id)
{
	(void) task;
	(void) sched_ctx_id;
}

void starpu_sched_ctx_list_task_counters_reset_all(struct starpu_task *task, unsigned sched_ctx_id)
{
	(void) task;
	(void) sched_ctx_id;
}

void starpu_sched_ctx_worker_shares_tasks_lists(int workerid, int sched_ctx_id)
{
	starpu_sched_ctx_list_task_counters_increment((unsigned) sched_ctx_id, workerid);
}
