/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks inside the runtime: what is kept beside struct starpu_task.
 *
 * Invariant: between submission and completion exactly one party owns the task at any time: the
 * dependency counter, the scheduling policy, or the worker that executes it (task_state.h). */
#ifndef ORR_CORE_TASK_H
#define ORR_CORE_TASK_H

#include "core/worker/core.h"
#include "core/task/task_array.h"
#include "data/access.h"

enum orr_task_state {
	ORR_TASK_NEW,
	ORR_TASK_BLOCKED,
	ORR_TASK_READY,
	ORR_TASK_RUNNING,
	ORR_TASK_ENDED, /* its successors were released, its callback is not over */
	ORR_TASK_AGAIN, /* the same, and it was submitted again */
	ORR_TASK_DONE
};

struct orr_edges;

/* Accesses that lie in the task itself. Few tasks have more; in large simulations tasks are most
 * of the memory. */
#define ORR_TASK_INLINE 4

struct orr_task {
	uint8_t nimpl;        /* chosen implementation */
	uint8_t internal;     /* made by the runtime: not counted, invisible to the program */
	uint8_t auto_destroy; /* copy of pub->destroy taken at submission */
	uint8_t user_wait;    /* not detached: somebody will call starpu_task_wait */
	uint8_t embedded : 1; /* pub is the neighbour allocated with us (starpu_task_create) */
	uint8_t terminated : 1;
	uint8_t tag_begun : 1; /* its tag has begun the next round */
	uint8_t resubmits : 1; /* AGAIN: its next round begins */
	uint8_t ended : 1;   /* it was executed, and all tasks that its end waited for have ended */
	uint8_t bundled : 1; /* pub->bundle is set */
	uint8_t switches : 1; /* between views of a partitioned data: accesses to it are not checked
			       */
	uint8_t skipped : 1; /* its kernel is not executed: its transaction's epoch is cancelled, or
				other tasks stand in for it (core/flow/task_retry.c) */
	uint8_t copies : 1;  /* its kernel copies data: its worker's time is the data's */
	uint8_t slab_info : 1; /* pub->profiling_info is from core->info_slab */
	uint8_t borrows : 1; /* it uses the data that another task holds (core/flow/task_retry.c) */
	uint16_t team; /* number of the parallel worker that executes it + 1 (core/flow/team.c) */
	uint8_t monitored;    /* where it was counted (core/flow/monitor.h) */
	uint8_t again_nodeps; /* atomic: AGAIN, by starpu_task_submit_nodeps */
	uint8_t forced_impl;  /* the program chose nimpl */
	uint8_t impl_chosen;  /* the policy chose nimpl */
	uint8_t cause; /* with profiling: who made it ready, enum orr_time (core/task/times.h) */
	struct starpu_task *pub; /* the public half */
	struct orr_owner owner;  /* of its accesses, inl_access or allocated; ndeps counts all that
				    the task waits for before it may begin */
	orr_lock_t lock;         /* protects succ and the transition to DONE */
	int32_t nend_deps; /* atomic: end dependencies still missing, +1 for the execution itself */
	uint32_t where;    /* kinds of units that may execute it */
	uint64_t job_id;   /* sequence number, ties and traces; set by the thread that submits the
			      task or declares its dependencies, atomic where others may release
			      the task meanwhile */
	struct orr_task_array succ;     /* tasks waiting for us */
	struct orr_task_array end_succ; /* tasks whose end waits for us */
	struct orr_edges *edges; /* dependencies that are kept (core/task/task_edges.h), or NULL */
	struct orr_tag *tag;     /* when use_tag */
	unsigned tag_missing;    /* dependencies of the tag that it waits for */
	uint32_t ended_by; /* traced: the cause that its end waited for last (data/access_trace.h),
			      0: none but its own execution */
	struct orr_task *tag_next; /* the next live task with the same tag */
	struct orr_worker *worker; /* executes, or executed, it */
	struct orr_parallel
		*parallel; /* while several workers execute it, or are to (core/flow/parallel.h) */
	void **interfaces; /* pub->interfaces or dyn_interfaces */
	double submit_us, ready_us;
	unsigned
		nfetching; /* atomic: transfers that it waits for, +1 while they are being issued */
	struct orr_access *starved; /* atomic: the access that found no memory on the worker, see
				       core/run/inputs.h */
	/* Of a task of the runtime that executes nowhere, see struct orr_inner_task. */
	void (*body)(struct orr_owner *owner, void *arg);
	int32_t queue_prio; /* the policy's: priority in its queue */
	uint32_t record;    /* its place in the recorded graph + 1, 0 when it was not recorded
			       (core/task/graph.h) */
	int64_t load;       /* the policy's: what it adds to the load of its queue */
	uint32_t footprint;
	uint8_t footprint_valid;
#ifdef ORR_DEBUG
	uint8_t holder; /* enum orr_task_holder (core/task/task_life.h): who has the task */
#endif
	/* Atomic, each by itself: those who look at all tasks (starpu_task_nready and its like)
	 * read them at any time of the task's life. What stands before them is copied from a
	 * template when a task is made. */
	uint8_t state; /* enum orr_task_state, changed as core/task/task_life.h says; DONE is stored
			  with release */
	uint8_t ctx;   /* number of its scheduling context */
	uint8_t renewed; /* NEW: it was submitted again, and its next round is about to begin */
	double flops;    /* of pub when it was submitted */
	struct orr_access inl_access[ORR_TASK_INLINE];
};

static inline struct orr_task *orr_task_of(const struct starpu_task *t)
{
	return (struct orr_task *) t->starpu_private;
}

/* The handles and modes of a task wherever they are stored. */
static inline starpu_data_handle_t orr_task_handle(const struct starpu_task *t, unsigned i)
{
	return t->dyn_handles ? t->dyn_handles[i] : t->handles[i];
}
static inline unsigned orr_task_nbuffers(const struct starpu_task *t)
{
	if (!t->cl)
		return 0;
	return (unsigned) (t->cl->nbuffers == STARPU_VARIABLE_NBUFFERS ? t->nbuffers
								       : t->cl->nbuffers);
}
static inline enum starpu_data_access_mode orr_task_mode(const struct starpu_task *t, unsigned i)
{
	return STARPU_TASK_GET_MODE(t, i);
}
/* A name for messages: the task's, the codelet's, the model's, or "unnamed". */
const char *orr_task_name(const struct starpu_task *t);

/* Gives t its number, if it has none. */
static inline void orr_task_give_number(struct orr_process *proc, struct orr_task *t)
{
	if (!t->job_id)
		ORR_ATOMIC_STORE_RELAXED(&t->job_id,
					 ORR_ATOMIC_ADD_RELAXED(&proc->core->next_job, 1));
}
struct orr_task *orr_task_make_private(struct starpu_task *t);
/* Ensures that the private half exists. Returns NULL when memory is exhausted. */
static inline struct orr_task *orr_task_private(struct starpu_task *t)
{
	return __builtin_expect(t->starpu_private != NULL, 1) ? orr_task_of(t)
							      : orr_task_make_private(t);
}

/* A task that completed may be submitted again: its private half starts anew, and waits for the
 * dependencies that were kept. */
void orr_task_renew(struct orr_task *t);
/* Frees both halves and what they own. */
void orr_task_destroy(struct orr_task *t);
/* The size of the objects of core->task_slab: a public half and, behind it, a private one. */
size_t orr_task_slab_size(void);
/* The same of core->access_slab: the accesses of a task with more than ORR_TASK_INLINE data. */
size_t orr_task_access_slab_size(void);
/* A record for pub->profiling_info, all zeroes, which the task owns; NULL without memory. */
struct starpu_profiling_task_info *orr_task_alloc_info(struct orr_process *proc,
						       struct orr_task *t);
/* Room for n > ORR_TASK_INLINE accesses of a task, which owns it; NULL without memory. */
struct orr_access *orr_task_alloc_accesses(struct orr_process *proc, unsigned n);
/* Gives back what t has of that, if it has; t->owner.naccess still tells how many. */
void orr_task_free_accesses(struct orr_task *t);

#endif
