/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The instance of a policy in a context (see policy.h).
 *
 * Invariant: ctx->live is set while the policy may be called by whoever is counted in
 * ctx->npushing. */
#include "core/ctx/policy.h"

#include <errno.h>

#include "base/assert.h"
#include "base/log.h"

/* Does a policy of ours keep ready tasks back until it is told to schedule? */
static int holds(const struct orr_ctx *ctx)
{
	return ctx->policy_wakes && ctx->policy->do_schedule != NULL;
}

int orr_policy_start(struct orr_process *proc, struct orr_ctx *ctx,
		     struct starpu_sched_policy *policy)
{
	struct orr_thread *self = orr_thread_self();
	unsigned saved = self->ctx;

	orr_assertf(!ctx->live && !ctx->policy, "context %u has a policy already", ctx->id);
	if (!policy->push_task || !policy->pop_task) {
		orr_error("scheduling policy %s lacks push_task or pop_task",
			  policy->policy_name ? policy->policy_name : "of the program");
		return -EINVAL;
	}
	ctx->policy = policy;
	ctx->policy_wakes = proc->core->policies->is_ours(policy);
	if (!ctx->fixed_min)
		ctx->min_prio = proc->cfg->has_min_prio ? proc->cfg->min_prio : 0;
	if (!ctx->fixed_max)
		ctx->max_prio = proc->cfg->has_max_prio ? proc->cfg->max_prio : 0;
	ctx->fixed_min |= proc->cfg->has_min_prio;
	ctx->fixed_max |= proc->cfg->has_max_prio;
	/* Its answers about priorities concern this context. */
	self->ctx = ctx->id + 1;
	if (policy->init_sched)
		policy->init_sched(ctx->id);
	self->ctx = saved;
	orr_assert(!ORR_ATOMIC_LOAD(&ctx->npushing));
	if (holds(ctx))
		ORR_ATOMIC_ADD(&proc->nholding, 1);
	ORR_ATOMIC_STORE(&ctx->live, 1);
	return 0;
}

void orr_policy_stop(struct orr_ctx *ctx)
{
	ORR_ATOMIC_STORE(&ctx->live, 0);
	orr_assertf(!ORR_ATOMIC_LOAD(&ctx->npushing), "a policy ends while threads are inside it");
	orr_assertf(starpu_task_list_empty(&ctx->homeless),
		    "the policy of context %u ends, and tasks wait there for workers", ctx->id);
	orr_assert(!ctx->policy || !holds(ctx) || ORR_ATOMIC_LOAD(&orr_self()->nholding) > 0);
	if (ctx->policy && holds(ctx))
		ORR_ATOMIC_ADD(&orr_self()->nholding, (unsigned) -1);
	if (ctx->policy && ctx->policy->deinit_sched)
		ctx->policy->deinit_sched(ctx->id);
	ctx->policy = NULL;
}

/* Contexts of any state, as long as their policy is there: what was submitted before the program
 * said that it submits no more waits too. */
void orr_policy_give_out(struct orr_process *proc, int ours_only)
{
	for (unsigned i = 0; i < STARPU_NMAX_SCHED_CTXS; i++) {
		struct orr_ctx *ctx = proc->core->ctx[i];

		if (!ctx)
			continue;
		/* The thread that deletes the context says so first and looks at npushing
		 * afterwards. */
		ORR_ATOMIC_ADD(&ctx->npushing, 1);
		if (ORR_ATOMIC_LOAD(&ctx->live) && ctx->policy->do_schedule &&
		    (ctx->policy_wakes || !ours_only))
			ctx->policy->do_schedule(i);
		orr_assert(ORR_ATOMIC_LOAD(&ctx->npushing) > 0);
		ORR_ATOMIC_ADD(&ctx->npushing, -1);
	}
}
