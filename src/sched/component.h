/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Modular schedulers inside (starpu_sched_component.h): what the components of ours share.
 *
 * A worker that pulls is marked (orr_comp_pulling), so that a queue above gives it only tasks that
 * it can execute itself; who pumps gets any task that a worker below its target can execute.
 *
 * Invariant: no lock is held while another component is called. A task in a component of ours is in
 * exactly one queue, and stands there until it is pulled, pumped, or its workers have left. */
#ifndef ORR_SCHED_COMPONENT_H
#define ORR_SCHED_COMPONENT_H

#include "sched/sched.h"
#include "core/ctx/combined.h"

#include <starpu_sched_component.h>

/* ---- queues ---- */

/* A queue of ready tasks in a component. */
struct orr_compq {
	orr_lock_t lock; /* protects q */
	struct orr_taskq q;
	int64_t queued_ns; /* atomic: loads of what is in q */
	int by_prio, ready, exp, steals;
	int lengths;        /* expected times are asked for when no decision has told them */
	unsigned max_tasks; /* 0: no limit */
	int64_t max_ns;     /* 0: no limit */
	unsigned pumping;   /* atomic: calls that want a round of the pump */
	int pushes;         /* atomic: its tasks must be pushed, nobody pulls them */
	int always_pushes;  /* its component said so when it was made */
	struct starpu_sched_component *component;
};

void orr_compq_init(struct orr_compq *q, struct starpu_sched_component *component);
void orr_compq_exit(struct orr_compq *q);
/* Queues a task whose load is set. Wakes nobody. Non-zero when no worker below can execute it. */
int orr_compq_put(struct orr_compq *q, struct starpu_task *task);
/* Puts one back that was taken from the front. */
void orr_compq_put_back(struct orr_compq *q, struct starpu_task *task);
/* Takes a task that the pulling worker, or else a worker below `to`, can execute. */
struct starpu_task *orr_compq_take(struct orr_compq *q, struct starpu_sched_component *to,
				   int steal);
/* Moves tasks that no worker below the component can execute any more to the list. */
void orr_compq_evacuate(struct orr_compq *q, struct starpu_sched_component *component,
			struct starpu_task_list *list);
/* The queue of a component that has one of ours (fifo, prio, worker, heft), or NULL; is it one that
 * decides? */
struct orr_compq *orr_compq_of(const struct starpu_sched_component *component);
int orr_compq_decides(const struct starpu_sched_component *c);
/* A fifo or prio without limits. */
struct starpu_sched_component *orr_component_queue(struct starpu_sched_tree *tree, const char *name,
						   int by_prio);
/* A round of the pump, in turn with those of other threads. Non-zero when something was pushed. */
int orr_compq_pump(struct orr_compq *q);
/* Calls round(arg) at least once more from now on; one thread at a time does so, for all that come
 * meanwhile. *requests counts them, atomic. Returns non-zero if a round of this thread did. */
int orr_component_in_turn(unsigned *requests, int (*round)(void *arg), void *arg);
/* Push and pull of a component that is such a queue. */
int orr_compq_push_task(struct starpu_sched_component *c, struct starpu_task *task);

/* ---- components ---- */

/* A component with its own data, or the end of the program when memory is exhausted. */
struct starpu_sched_component *orr_component_new(struct starpu_sched_tree *tree, const char *name,
						 void *data,
						 void (*deinit)(struct starpu_sched_component *));
void *orr_component_alloc(size_t size);
/* The functions by which a component adds and removes a child. Replaces one; returns the old one.
 */
struct orr_component_children {
	void (*add)(struct starpu_sched_component *c, struct starpu_sched_component *child);
	void (*remove)(struct starpu_sched_component *c, struct starpu_sched_component *child);
};
struct orr_component_children orr_component_replace_children(struct starpu_sched_component *c,
							     struct orr_component_children now);
/* The message of notify() by which the runtime asks for tasks whose workers have left; arg is a
 * struct starpu_task_list. */
#define ORR_COMPONENT_EVACUATE (-1)
/* Do tasks come to the workers below only by being pushed? */
int orr_component_wants_pushes(const struct starpu_sched_component *c);
/* Tells those below that there is something; all of them when the task is choosy. */
void orr_component_announce(struct starpu_sched_component *c, int choosy);
/* Workers differ: the first to wake might not be able to execute the task. */
int orr_component_mixed(void);
/* Tasks that wait or are under way below. */
unsigned orr_component_ntasks(const struct starpu_sched_component *c);
/* Those that wait in a work-stealing component; 0 for others. */
unsigned orr_ws_ntasks(const struct starpu_sched_component *c);
/* The first inside of a composed component; NULL for others. */
struct starpu_sched_component *orr_composed_top(const struct starpu_sched_component *c);
/* Sum of the speeds of its workers in the context. */
double orr_component_speed(struct starpu_sched_component *c);
/* May the worker, or combined worker, of that number execute the task? */
int orr_component_worker_can(struct orr_process *proc, unsigned id, struct starpu_task *task);

/* pull_task of decisions that only push; is it such a decision, ours or the program's? */
struct starpu_task *orr_component_pull_nothing(struct starpu_sched_component *from,
					       struct starpu_sched_component *to);
int orr_component_is_push_only(const struct starpu_sched_component *c);

/* Makes the tree of a context: the component that `create` returns chooses a kind of workers for
 * each task, and below it a decision by expected ends chooses one of that kind, when it has room.
 * flags: STARPU_SCHED_SIMPLE_DECIDE_WORKERS and what stands below the decision. */
void orr_component_kinds_then_workers(unsigned ctx, starpu_sched_component_create_t create,
				      unsigned flags);

/* ---- workers ---- */

struct orr_comp_worker {
	struct orr_compq q; /* what was pushed to it */
	struct orr_worker *w;
	const struct orr_combined *comb; /* or this one */
	int pulling;                     /* touched by the worker's thread only */
	unsigned nunderway;              /* atomic: tasks that it pulled and that are not over */
	int64_t underway_ns;             /* atomic: loads of those that have not begun */
	int64_t free_ns;                 /* atomic: when what it executes is expected to be over */
};

struct orr_comp_worker *orr_comp_worker_of(const struct starpu_sched_component *c);
/* The worker that is pulling in this thread, in that tree, or NULL. */
struct orr_worker *orr_comp_pulling(const struct starpu_sched_tree *tree);
/* The worker of this thread pulls, or not; returns what was before. */
int orr_comp_set_pulling(const struct starpu_sched_tree *tree, int pulling);

static inline int64_t orr_comp_now_ns(void)
{
	return (int64_t) (orr_sys_now_us() * 1e3);
}

/* ---- estimates ---- */

struct orr_comp_estimate {
	int able;
	int known; /* us comes from a model */
	int has_model;
	unsigned worker; /* the one that it is about */
	unsigned impl;
	double us; /* NAN when not known */
	double transfer_us;
};

/* The best worker below the component for a task. */
struct orr_comp_estimate orr_component_estimate(struct starpu_sched_component *c,
						struct starpu_task *task);
/* Writes the estimate into the task, before it is pushed. */
void orr_component_decide(struct starpu_task *task, const struct orr_comp_estimate *e);

#endif
