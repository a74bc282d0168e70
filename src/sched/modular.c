/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policies that are made of components: rows of modular.h.
 *
 * Invariant: a policy stands in a struct orr_modular, which init_sched finds by it. */
#include "sched/modular.h"
#include "core/ctx/sched_ctx_query.h"

#include <limits.h>

/* Each component has its own type of data; none is given. */
#define CREATE(NAME) \
	static struct starpu_sched_component *create_##NAME(struct starpu_sched_tree *tree, \
							    void *data) \
	{ \
		return starpu_sched_component_##NAME##_create(tree, data); \
	}
CREATE(eager)
CREATE(eager_prio)
CREATE(random)
CREATE(work_stealing)
CREATE(mct)
CREATE(heft)
CREATE(heteroprio)

enum {
	WORKERS = STARPU_SCHED_SIMPLE_DECIDE_WORKERS,
	MEMNODES = STARPU_SCHED_SIMPLE_DECIDE_MEMNODES,
	ARCHS = STARPU_SCHED_SIMPLE_DECIDE_ARCHS,
	PERFMODEL = STARPU_SCHED_SIMPLE_PERFMODEL,
	IMPL = STARPU_SCHED_SIMPLE_IMPL,
	FIFO_ABOVE = STARPU_SCHED_SIMPLE_FIFO_ABOVE,
	FIFO_ABOVE_PRIO = STARPU_SCHED_SIMPLE_FIFO_ABOVE_PRIO,
	FIFOS_BELOW = STARPU_SCHED_SIMPLE_FIFOS_BELOW,
	FIFOS_BELOW_PRIO = STARPU_SCHED_SIMPLE_FIFOS_BELOW_PRIO,
	FIFOS_BELOW_READY = STARPU_SCHED_SIMPLE_FIFOS_BELOW_READY,
	FIFOS_BELOW_NOLIMIT = STARPU_SCHED_SIMPLE_FIFOS_BELOW_NOLIMIT,
	FIFOS_BELOW_EXP = STARPU_SCHED_SIMPLE_FIFOS_BELOW_EXP,
	COMBINED_WORKERS = STARPU_SCHED_SIMPLE_COMBINED_WORKERS
};

static void init(unsigned ctx_id)
{
	struct orr_ctx *ctx = orr_self()->core->ctx[ctx_id];
	const struct orr_modular *m = (const struct orr_modular *) ctx->policy;

	if ((m->flags & STARPU_SCHED_SIMPLE_DECIDE_MASK) == ARCHS)
		orr_component_kinds_then_workers(ctx_id, m->create, (m->flags ^ ARCHS) | WORKERS);
	else
		starpu_sched_component_initialize_simple_scheduler(m->create, NULL, m->flags,
								   ctx_id);
	if (m->by_priority)
		orr_ctx_set_prios(ctx, INT_MIN, INT_MAX);
}

/* Without another word it is workers that are chosen. */
#define X(ID, NAME, COMPONENT, BY_PRIORITY, FLAGS, DESCRIPTION) \
	struct orr_modular orr_modular_##ID = { \
		.policy = { \
			.init_sched = init, \
			.deinit_sched = starpu_sched_tree_deinitialize, \
			.add_workers = starpu_sched_tree_add_workers, \
			.remove_workers = starpu_sched_tree_remove_workers, \
			.push_task = starpu_sched_tree_push_task, \
			.pop_task = starpu_sched_tree_pop_task, \
			.pre_exec_hook = starpu_sched_component_worker_pre_exec_hook, \
			.post_exec_hook = starpu_sched_component_worker_post_exec_hook, \
			.prefetches = ((FLAGS) &FIFOS_BELOW) != 0, \
			.policy_name = NAME, \
			.policy_description = DESCRIPTION, \
			.worker_type = STARPU_WORKER_LIST, \
		}, \
		.create = create_##COMPONENT, \
		.flags = ((FLAGS) &STARPU_SCHED_SIMPLE_DECIDE_MASK) \
				 ? (FLAGS) \
				 : ((FLAGS) | STARPU_SCHED_SIMPLE_DECIDE_WORKERS), \
		.by_priority = BY_PRIORITY, \
	};
ORR_MODULAR_LIST(X)
