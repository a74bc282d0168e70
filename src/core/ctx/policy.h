/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The instance of a scheduling policy that a context has: its start, its end, and what the core
 * asks of the floor of policies.
 *
 * Invariant: the policy of a context does not change between orr_policy_start and
 * orr_policy_stop. */
#ifndef ORR_CORE_POLICY_H
#define ORR_CORE_POLICY_H

#include "core/worker/core.h"

/* The core's calls of the floor of policies; core->policies. Every slot is filled. */
struct orr_policies {
	/* The policy of that name, built in or of STARPU_SCHED_LIB; NULL after a message listing
	 * what there is. */
	struct starpu_sched_policy *(*find)(struct orr_process *proc, const char *name);
	/* Is it one of ours, which wakes workers itself? */
	int (*is_ours)(const struct starpu_sched_policy *policy);
	/* Of contexts that are made without a policy. */
	struct starpu_sched_policy *together;
};

/* Starts and ends the instance of a policy in a context. 0, or -EINVAL after a message. */
int orr_policy_start(struct orr_process *proc, struct orr_ctx *ctx,
		     struct starpu_sched_policy *policy);
void orr_policy_stop(struct orr_ctx *ctx);
/* Makes policies that hold tasks until the whole graph is there give them out: policies of ours
 * only, or all. */
void orr_policy_give_out(struct orr_process *proc, int ours_only);

#endif
