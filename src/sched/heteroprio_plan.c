/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* heteroprio arranged by the program (schedulers/starpu_heteroprio.h).
 *
 * Invariant: each look of a plan is into one of its buckets; a plan does not change once there are
 * tasks. */
#include "sched/heteroprio.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/ctx/sched_ctx.h"
#include "core/ctx/sched_ctx_life.h"
#include "core/task/task.h"

#include <schedulers/starpu_heteroprio.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BUCKETS 100000

/* ---- the plan ---- */

struct orr_heteroprio_plan *orr_heteroprio_plan_new(void)
{
	struct orr_heteroprio_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		orr_fatal("out of memory for the buckets of heteroprio");
	return plan;
}

void orr_heteroprio_plan_free(struct orr_heteroprio_plan *plan)
{
	if (!plan)
		return;
	for (unsigned a = 0; a < STARPU_NARCH; a++)
		free(plan->look[a]);
	free(plan->times);
	free(plan);
}

static void need_buckets(struct orr_heteroprio_plan *plan, unsigned n)
{
	if (n <= plan->nbuckets)
		return;
	plan->times = realloc(plan->times, n * sizeof(*plan->times));
	if (!plan->times)
		orr_fatal("out of memory for the buckets of heteroprio");
	memset(&plan->times[plan->nbuckets], 0, (n - plan->nbuckets) * sizeof(*plan->times));
	plan->nbuckets = n;
}

static int looks_into(const struct orr_heteroprio_plan *plan, unsigned arch, unsigned bucket)
{
	for (unsigned k = 0; k < plan->nlooks[arch]; k++)
		if (plan->look[arch][k] == bucket)
			return 1;
	return 0;
}

int orr_heteroprio_plan_check(const struct orr_heteroprio_plan *plan,
			      const struct starpu_task *task)
{
	uint32_t where = orr_task_of(task)->where & orr_self()->arch_mask;

	for (unsigned a = 0; a < STARPU_NARCH && task->priority >= 0; a++)
		if ((where & STARPU_WORKER_TO_MASK(a)) &&
		    looks_into(plan, a, (unsigned) task->priority))
			return 0;
	orr_error(
		"heteroprio: task %s has priority %d, and no kind of worker that can execute it looks into that bucket; give it another priority, or call starpu_heteroprio_set_mapping",
		orr_task_name(task), task->priority);
	return -EINVAL;
}

/* ---- calls of the program ---- */

/* The buckets of a context, NULL after a message. */
static struct orr_heteroprio *heteroprio_of(unsigned id, const char *what)
{
	struct orr_ctx *ctx = orr_ctx_get(id, what);

	if (ctx && ctx->policy != &orr_sched_heteroprio) {
		orr_error("%s: the policy of scheduling context %u is %s, not heteroprio", what, id,
			  ctx->policy && ctx->policy->policy_name ? ctx->policy->policy_name
								  : "of the program");
		return NULL;
	}
	return ctx ? ctx->policy_data : NULL;
}

/* The plan of a context, NULL after a message. */
static struct orr_heteroprio_plan *plan_of(unsigned id, enum starpu_worker_archtype arch,
					   const char *what)
{
	struct orr_heteroprio *h = heteroprio_of(id, what);
	struct orr_heteroprio_plan *plan;

	if (!h)
		return NULL;
	if ((int) arch < 0 || arch >= STARPU_NARCH) {
		orr_error("%s: %d is no kind of workers", what, (int) arch);
		return NULL;
	}
	plan = orr_heteroprio_plan_get(h);
	if (!plan)
		orr_error("%s: context %u has had tasks; arrange its buckets before the first one",
			  what, id);
	return plan;
}

void starpu_heteroprio_set_nb_prios(unsigned sched_ctx_id, enum starpu_worker_archtype arch,
				    unsigned max_prio)
{
	static const char what[] = "starpu_heteroprio_set_nb_prios";
	struct orr_heteroprio_plan *plan = plan_of(sched_ctx_id, arch, what);

	if (!plan)
		return;
	if (max_prio > MAX_BUCKETS) {
		orr_error("%s: %u buckets are more than %d", what, max_prio, MAX_BUCKETS);
		return;
	}
	free(plan->look[arch]);
	plan->look[arch] = malloc((max_prio + 1) * sizeof(unsigned));
	if (!plan->look[arch])
		orr_fatal("out of memory for the buckets of heteroprio");
	plan->nlooks[arch] = max_prio;
	for (unsigned k = 0; k < max_prio; k++)
		plan->look[arch][k] = k;
	need_buckets(plan, max_prio);
}

void starpu_heteroprio_set_mapping(unsigned sched_ctx_id, enum starpu_worker_archtype arch,
				   unsigned source_prio, unsigned dest_bucket_id)
{
	static const char what[] = "starpu_heteroprio_set_mapping";
	struct orr_heteroprio_plan *plan = plan_of(sched_ctx_id, arch, what);

	if (!plan)
		return;
	if (source_prio >= plan->nlooks[arch] || dest_bucket_id >= MAX_BUCKETS) {
		orr_error(
			"%s: workers of kind %s look into %u buckets, and this would be look %u, into bucket %u; call starpu_heteroprio_set_nb_prios first",
			what, starpu_worker_get_type_as_string(arch), plan->nlooks[arch],
			source_prio, dest_bucket_id);
		return;
	}
	plan->look[arch][source_prio] = dest_bucket_id;
	need_buckets(plan, dest_bucket_id + 1);
}

static void set_time(unsigned ctx, enum starpu_worker_archtype arch, unsigned bucket, double time,
		     const char *what)
{
	struct orr_heteroprio_plan *plan = plan_of(ctx, arch, what);

	if (!plan)
		return;
	if (bucket >= plan->nbuckets || !(time >= 1)) {
		orr_error(
			"%s: there is no bucket %u of %u, or the factor %g is below 1; call starpu_heteroprio_set_nb_prios first",
			what, bucket, plan->nbuckets, time);
		return;
	}
	plan->times[bucket][arch] = time;
}

void starpu_heteroprio_set_faster_arch(unsigned sched_ctx_id, enum starpu_worker_archtype arch,
				       unsigned bucket_id)
{
	set_time(sched_ctx_id, arch, bucket_id, 1, "starpu_heteroprio_set_faster_arch");
}

void starpu_heteroprio_set_arch_slow_factor(unsigned sched_ctx_id, enum starpu_worker_archtype arch,
					    unsigned bucket_id, float slow_factor)
{
	set_time(sched_ctx_id, arch, bucket_id, slow_factor,
		 "starpu_heteroprio_set_arch_slow_factor");
}

void starpu_heteroprio_set_use_locality(unsigned sched_ctx_id, unsigned use_locality)
{
	struct orr_heteroprio *h = heteroprio_of(sched_ctx_id,
						 "starpu_heteroprio_set_use_locality");

	if (h)
		orr_heteroprio_set_locality(h, use_locality != 0);
}

/* They are so already. */
void starpu_heteroprio_map_wgroup_memory_nodes(unsigned sched_ctx_id)
{
	orr_ctx_get(sched_ctx_id, "starpu_heteroprio_map_wgroup_memory_nodes");
}

void starpu_heteroprio_print_wgroups(FILE *stream, unsigned sched_ctx_id)
{
	struct orr_ctx *ctx = orr_ctx_get(sched_ctx_id, "starpu_heteroprio_print_wgroups");
	struct orr_core *core = orr_self()->core;

	for (unsigned node = 0; node < starpu_memory_nodes_get_count() && ctx; node++) {
		unsigned n = 0;

		for (unsigned i = 0; i < core->nworkers; i++) {
			const struct orr_worker *w = &core->workers[i];

			if (w->memnode != node || !orr_ctx_has(ctx, w))
				continue;
			if (!n++)
				fprintf(stream, "group %u: %s", node, w->name);
			else
				fprintf(stream, ", %s", w->name);
		}
		if (n)
			fputc('\n', stream);
	}
}
