/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a task, as doc/pictures/task.txt draws it: who has the task, and along which arrows
 * its state changes. Debug builds check both at each door; other builds only store the state.
 *
 * Invariant: exactly one party has a task at any time, and only that party passes it on, to one of
 * the parties that the table in task_life.c allows. t->state changes in the functions that call
 * those of this header, and nowhere else. */
#ifndef ORR_CORE_TASK_LIFE_H
#define ORR_CORE_TASK_LIFE_H

#include "core/task/task.h"

/* The party that has a task. */
enum orr_task_holder {
	ORR_TASK_OF_PROGRAM, /* it is new, or done, or nobody's */
	ORR_TASK_OF_COUNTER, /* owner.ndeps: who takes it to zero goes on with the task */
	ORR_TASK_OF_DATA,    /* it collects the right to use its data, and may be parked on one */
	ORR_TASK_OF_POLICY,  /* the policy, or the list of the worker that was named */
	ORR_TASK_OF_WORKER,  /* the worker that executes it, t->worker */
	ORR_TASK_OF_RUNTIME, /* executes nowhere: its body is under way */
	ORR_TASK_OF_END,     /* was executed: who takes nend_deps to zero ends it */
	ORR_NTASK_HOLDERS
};

#ifdef ORR_DEBUG

/* `where` is the function that passes the task on, for the message. */
void orr_task_check_arrow(const struct orr_task *t, enum orr_task_state to, const char *where);
void orr_task_check_holder(const struct orr_task *t, enum orr_task_holder holder,
			   const char *where);
void orr_task_check_pass(struct orr_task *t, enum orr_task_holder from, enum orr_task_holder to,
			 const char *where);
void orr_task_check_end(const struct orr_task *t, const char *where);

/* The state may change to `to`: for a change by compare-and-exchange or with a stronger order. */
#define orr_task_may_go(t, to) orr_task_check_arrow((t), (to), __func__)
/* The party has the task. */
#define orr_task_assert_of(t, holder) orr_task_check_holder((t), (holder), __func__)
/* The party `from` has the task, and gives it to `to`. Call it before `to` can see the task. */
#define orr_task_pass(t, from, to) orr_task_check_pass((t), (from), (to), __func__)
/* The private half is about to be freed: it is the program's or ends, and is not submitted. */
#define orr_task_may_be_freed(t) orr_task_check_end((t), __func__)

#else

#define orr_task_may_go(t, to) ((void) sizeof(t), (void) sizeof(to))
#define orr_task_assert_of(t, holder) ((void) sizeof(t), (void) sizeof(holder))
#define orr_task_pass(t, from, to) ((void) sizeof(t), (void) sizeof(from), (void) sizeof(to))
#define orr_task_may_be_freed(t) ((void) sizeof(t))

#endif

/* Changes the state, seen by those who count or show tasks. */
#define orr_task_go(t, to) \
	(orr_task_may_go((t), (to)), ORR_ATOMIC_STORE_RELAXED(&(t)->state, (uint8_t) (to)))

#endif
