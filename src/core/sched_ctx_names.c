/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls about scheduling contexts that few programs make: contexts of a size, who is in them in
 * which place, the end of one.
 *
 * Invariant: like those of sched_ctx_query.c, they do not change who is in a context that exists.
 */
#include "core/core.h"
#include "core/policy.h"
#include "core/sched_ctx.h"
#include "core/sched_ctx_life.h"
#include "core/task.h"

#include <errno.h>

#include "base/log.h"

/* ---- a new context of some size ---- */

/* May worker w be in a new context? */
static int is_free(const struct orr_worker *w, unsigned allow_overlap)
{
	/* Bit 0 is the default context, in which all are. */
	return allow_overlap || !(ORR_ATOMIC_LOAD(&w->ctxs) & ~UINT32_C(1));
}

/* Appends up to max workers that are CPUs, or that are not. Returns how many. */
static int take(struct orr_process *proc, int cpus, int max, unsigned allow_overlap, int *ids)
{
	int n = 0;

	for (unsigned i = 0; i < proc->core->nworkers && n < max; i++) {
		const struct orr_worker *w = &proc->core->workers[i];

		if ((w->arch == STARPU_CPU_WORKER) == cpus && is_free(w, allow_overlap))
			ids[n++] = (int) i;
	}
	return n;
}

unsigned starpu_sched_ctx_create_inside_interval(const char *policy_name,
						 const char *sched_ctx_name, int min_ncpus,
						 int max_ncpus, int min_ngpus, int max_ngpus,
						 unsigned allow_overlap)
{
	struct orr_process *proc = orr_self();
	int ids[STARPU_NMAXWORKERS], ncpus = take(proc, 1, max_ncpus, allow_overlap, ids),
				     ngpus = take(proc, 0, max_ngpus, allow_overlap, ids + ncpus);

	if (ncpus >= min_ncpus && ngpus >= min_ngpus)
		return starpu_sched_ctx_create(ids, ncpus + ngpus, sched_ctx_name,
					       STARPU_SCHED_CTX_POLICY_NAME,
					       policy_name ? policy_name : "", 0);
	orr_error(
		"starpu_sched_ctx_create_inside_interval: %d CPU workers and %d others can be had, %d and %d are asked for",
		ncpus, ngpus, min_ncpus, min_ngpus);
	return STARPU_NMAX_SCHED_CTXS;
}

/* ---- questions ---- */

unsigned starpu_sched_ctx_get_workers_list_raw(unsigned sched_ctx_id, int **workerids)
{
	struct starpu_worker_collection *c = starpu_sched_ctx_get_worker_collection(sched_ctx_id);

	*workerids = c ? c->workerids : NULL;
	return c ? c->nworkers : 0;
}

unsigned starpu_sched_ctx_get_ctx_for_task(struct starpu_task *task)
{
	return task->sched_ctx;
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
	return sched_ctx_id ? NULL : orr_self()->conf.sched_policy_callback;
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

/* ---- the end ---- */

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
