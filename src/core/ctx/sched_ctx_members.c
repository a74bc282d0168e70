/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions about the workers of a scheduling context, and about the contexts of a worker.
 *
 * Invariant: nothing here changes who is in a context that exists; answers are as of some moment of
 * the call. */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/refuse.h"
#include "core/ctx/policy.h"
#include "core/ctx/sched_ctx.h"
#include "core/ctx/sched_ctx_life.h"
#include "core/ctx/sched_ctx_query.h"

static unsigned list(const struct orr_ctx *ctx, int *ids)
{
	struct orr_process *proc = orr_self();
	unsigned n = 0;

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (orr_ctx_has(ctx, &proc->core->workers[i])) {
			if (ids)
				ids[n] = (int) i;
			n++;
		}
	return n;
}

unsigned starpu_sched_ctx_get_workers_list(unsigned sched_ctx_id, int **workerids)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_get_workers_list");

	*workerids = NULL;
	if (!ctx)
		return 0;
	*workerids = malloc((orr_self()->core->nworkers + 1) * sizeof(int));
	return *workerids ? list(ctx, *workerids) : 0;
}

unsigned starpu_sched_ctx_get_nworkers(unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_get_nworkers");

	return ctx ? list(ctx, NULL) : 0;
}

unsigned starpu_sched_ctx_get_nshared_workers(unsigned sched_ctx_id, unsigned sched_ctx_id2)
{
	struct orr_process *proc = orr_self();
	struct orr_ctx *a = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_get_nshared_workers");
	struct orr_ctx *b = orr_ctx_get(sched_ctx_id2, "starpu_sched_ctx_get_nshared_workers");
	unsigned n = 0;

	for (unsigned i = 0; i < proc->core->nworkers && a && b; i++)
		n += orr_ctx_has(a, &proc->core->workers[i]) &&
		     orr_ctx_has(b, &proc->core->workers[i]);
	return n;
}

unsigned starpu_sched_ctx_contains_worker(int workerid, unsigned sched_ctx_id)
{
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_contains_worker");

	return ctx && workerid >= 0 && (unsigned) workerid < proc->core->nworkers &&
	       orr_ctx_has(ctx, &proc->core->workers[workerid]);
}

unsigned starpu_sched_ctx_contains_type_of_worker(enum starpu_worker_archtype arch,
						  unsigned sched_ctx_id)
{
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_contains_type_of_worker");

	for (unsigned i = 0; i < proc->core->nworkers && ctx; i++)
		if (proc->core->workers[i].arch == arch &&
		    orr_ctx_has(ctx, &proc->core->workers[i]))
			return 1;
	return 0;
}

unsigned starpu_sched_ctx_worker_get_id(unsigned sched_ctx_id)
{
	struct orr_process *proc = orr_self();
	struct orr_worker *w = orr_thread_self()->worker;
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_worker_get_id");
	unsigned rank = 0;

	if (!ctx || !w || !orr_ctx_has(ctx, w))
		return UINT_MAX;
	for (unsigned i = 0; i < w->id; i++)
		rank += orr_ctx_has(ctx, &proc->core->workers[i]);
	return rank;
}

void starpu_sched_ctx_display_workers(unsigned sched_ctx_id, FILE *f)
{
	struct orr_process *proc = orr_self();
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_sched_ctx_display_workers");

	if (!ctx)
		return;
	fprintf(f, "scheduling context %u (%s), policy %s: %u workers\n", ctx->id, ctx->name,
		ctx->policy->policy_name ? ctx->policy->policy_name : "of the program",
		list(ctx, NULL));
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (orr_ctx_has(ctx, &proc->core->workers[i]))
			fprintf(f, "\t%s\n", proc->core->workers[i].name);
}

unsigned starpu_sched_ctx_get_workers_list_raw(unsigned sched_ctx_id, int **workerids)
{
	struct starpu_worker_collection *c = starpu_sched_ctx_get_worker_collection(sched_ctx_id);

	*workerids = c ? c->workerids : NULL;
	return c ? c->nworkers : 0;
}

unsigned starpu_sched_ctx_overlapping_ctxs_on_worker(int workerid)
{
	struct orr_process *proc = orr_self();

	if (workerid < 0 || (unsigned) workerid >= proc->core->nworkers)
		return 0;
	uint32_t ctxs = ORR_ATOMIC_LOAD(&proc->core->workers[workerid].ctxs);
	return (ctxs & (ctxs - 1)) != 0;
}

int starpu_sched_ctx_get_worker_rank(unsigned sched_ctx_id)
{
	int *ids, me = starpu_worker_get_id();
	unsigned n = starpu_sched_ctx_get_workers_list_raw(sched_ctx_id, &ids);

	for (unsigned i = 0; i < n; i++)
		if (ids[i] == me)
			return (int) i;
	return -1;
}

int starpu_sched_ctx_get_stream_worker(unsigned sub_ctx)
{
	struct orr_process *proc = orr_self();

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (proc->core->workers[i].arch == STARPU_CUDA_WORKER &&
		    starpu_sched_ctx_contains_worker((int) i, sub_ctx))
			return (int) i;
	return -1;
}

unsigned starpu_worker_get_sched_ctx_id_stream(unsigned stream_workerid)
{
	for (unsigned i = 1; i < STARPU_NMAX_SCHED_CTXS; i++) {
		struct orr_ctx *ctx = orr_self()->core->ctx[i];

		if (ctx && ctx->nsms >= 0 &&
		    starpu_sched_ctx_contains_worker((int) stream_workerid, i))
			return i;
	}
	return STARPU_NMAX_SCHED_CTXS;
}

unsigned starpu_sched_ctx_worker_is_master_for_child_ctx(int workerid, unsigned sched_ctx_id)
{
	(void) workerid;
	(void) sched_ctx_id;
	return STARPU_NMAX_SCHED_CTXS; /* no worker is the master of others for longer than a task
					*/
}

unsigned starpu_sched_ctx_master_get_context(int masterid)
{
	(void) masterid;
	return STARPU_NMAX_SCHED_CTXS;
}

/* All contexts of a worker are looked at in turn. */
unsigned starpu_sched_ctx_get_priority(int worker, unsigned sched_ctx_id)
{
	return worker >= 0 && starpu_sched_ctx_contains_worker(worker, sched_ctx_id) ? 1 : 0;
}

unsigned starpu_worker_is_slave_somewhere(int workerid)
{
	(void) workerid;
	return 0; /* a worker of a context without policy takes part in one task at a time only */
}

unsigned starpu_worker_get_sched_ctx_list(int worker, unsigned **sched_ctx)
{
	struct orr_process *proc = orr_self();
	unsigned n = 0, *list = malloc(STARPU_NMAX_SCHED_CTXS * sizeof(*list));

	for (unsigned i = 0; list && i < STARPU_NMAX_SCHED_CTXS; i++)
		if (worker >= 0 && (unsigned) worker < proc->core->nworkers &&
		    starpu_sched_ctx_contains_worker(worker, i))
			list[n++] = i;
	if (n == 0) {
		free(list);
		list = NULL;
	}
	*sched_ctx = list;
	return n;
}

void starpu_sched_ctx_set_priority(int *workers, int nworkers, unsigned sched_ctx_id,
				   unsigned priority)
{
	(void) workers;
	(void) nworkers;
	(void) sched_ctx_id;
	(void) priority;
	orr_refuse(__func__,
		   "a worker looks at its contexts in turn; give tasks priorities instead");
}

int starpu_sched_ctx_book_workers_for_task(unsigned sched_ctx_id, int *workerids, int nworkers)
{
	(void) sched_ctx_id;
	(void) workerids;
	(void) nworkers;
	return orr_refuse(__func__,
			  "submit the task to a combined worker, or to a context of its own");
}

void starpu_sched_ctx_unbook_workers_for_task(unsigned sched_ctx_id, int master)
{
	(void) sched_ctx_id;
	(void) master;
	orr_refuse(__func__, "nothing can be booked");
}
