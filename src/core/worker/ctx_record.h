/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The record of a scheduling context (core/ctx/sched_ctx.h says what one is). It stands in the
 * lowest room because the record of the core embeds the default context.
 *
 * Invariant: fields that several threads write are atomics, or are protected by the lock named
 * beside them. */
#ifndef ORR_CORE_CTX_RECORD_H
#define ORR_CORE_CTX_RECORD_H

#include "base/process.h"
#include "base/world.h"

struct starpu_sched_tree;

/* A scheduling context, see core/ctx/sched_ctx.h. */
struct orr_ctx {
	struct starpu_sched_policy *policy;
	void *policy_data;  /* the policy's own */
	uint8_t own_policy; /* the program chose one; otherwise the policy is a matter of ours */
	uint8_t of_teams;   /* atomic: its workers take tasks for their parallel workers
			     * (core/flow/team.h)
			     */
	void *program_data; /* in a context without policy: what the program keeps as its data */
	struct starpu_sched_tree *tree; /* of components (sched/component.h), NULL: none */
	unsigned id;
	unsigned state;   /* atomic: enum orr_ctx_state */
	int whole;        /* atomic: all workers are in it */
	int policy_wakes; /* the policy wakes workers itself */
	int min_prio, max_prio;
	int fixed_min, fixed_max; /* given when it was made */
	int cap_min, cap_max;     /* atomic: its tasks get priorities in this range */
	char *name;
	void *user_data;
	unsigned inheritor;                       /* atomic */
	void (*close_callback)(unsigned, void *); /* atomic: the program's, called at its end */
	void *close_arg;
	unsigned nested, level; /* nested: the context around it, itself when there is none */
	int nsms;               /* multiprocessors of a GPU, -1: not told */
	unsigned epoch;         /* atomic: counts additions of workers */
	orr_lock_t lock;        /* protects the list, and the collection with its members */
	struct starpu_task_list homeless; /* ready tasks that none of its workers can execute */
	struct starpu_worker_collection *collection; /* its workers, made when asked for */
	uint64_t nsubmitted __attribute__((
		aligned(ORR_LINE))); /* atomic: not used by context 0, see orr_ctx_npending */
	uint64_t ncompleted;         /* atomic */
	unsigned npushing; /* atomic: threads inside push_task and do_schedule; push_task is not
			      counted for context 0 */
	int live;          /* atomic: the policy may be called by whoever is counted there */
	unsigned phase; /* atomic: how often the program has waited for all tasks of this context */
} __attribute__((aligned(ORR_LINE)));

#endif
