/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of the life of a task (see task_life.h). In debug builds only.
 *
 * Invariant: the tables and doc/pictures/task.txt say the same. */
#include "core/task/task_life.h"

#ifdef ORR_DEBUG

#define BIT(x) (1U << (x))

/* The states that may follow each state. */
static const uint8_t next_states[] = {
	[ORR_TASK_NEW] = BIT(ORR_TASK_BLOCKED),
	[ORR_TASK_BLOCKED] = BIT(ORR_TASK_READY),
	/* AGAIN without ENDED: the callback of a task that frees itself set `regenerate`. */
	[ORR_TASK_READY] = BIT(ORR_TASK_RUNNING) | BIT(ORR_TASK_ENDED) | BIT(ORR_TASK_AGAIN),
	[ORR_TASK_RUNNING] = BIT(ORR_TASK_ENDED) | BIT(ORR_TASK_AGAIN),
	[ORR_TASK_ENDED] = BIT(ORR_TASK_AGAIN) | BIT(ORR_TASK_DONE),
	/* AGAIN twice: it regenerates, and somebody submitted it, too. DONE: the submission failed.
	 */
	[ORR_TASK_AGAIN] = BIT(ORR_TASK_NEW) | BIT(ORR_TASK_AGAIN) | BIT(ORR_TASK_DONE),
	[ORR_TASK_DONE] = BIT(ORR_TASK_NEW),
};

static const char *const state_names[] = {
	[ORR_TASK_NEW] = "new",         [ORR_TASK_BLOCKED] = "blocked", [ORR_TASK_READY] = "ready",
	[ORR_TASK_RUNNING] = "running", [ORR_TASK_ENDED] = "ended",     [ORR_TASK_AGAIN] = "again",
	[ORR_TASK_DONE] = "done",
};

/* The parties to which each party may give a task. */
static const uint8_t next_holders[ORR_NTASK_HOLDERS] = {
	[ORR_TASK_OF_PROGRAM] = BIT(ORR_TASK_OF_COUNTER),
	[ORR_TASK_OF_COUNTER] = BIT(ORR_TASK_OF_DATA),
	[ORR_TASK_OF_DATA] = BIT(ORR_TASK_OF_POLICY) | BIT(ORR_TASK_OF_RUNTIME),
	[ORR_TASK_OF_POLICY] = BIT(ORR_TASK_OF_WORKER),
	[ORR_TASK_OF_WORKER] = BIT(ORR_TASK_OF_END),
	[ORR_TASK_OF_RUNTIME] = BIT(ORR_TASK_OF_END),
	[ORR_TASK_OF_END] = BIT(ORR_TASK_OF_PROGRAM),
};

static const char *const holder_names[ORR_NTASK_HOLDERS] = {
	[ORR_TASK_OF_PROGRAM] = "the program",
	[ORR_TASK_OF_COUNTER] = "the counter of its dependencies",
	[ORR_TASK_OF_DATA] = "one of its data",
	[ORR_TASK_OF_POLICY] = "the policy or the list of a worker",
	[ORR_TASK_OF_WORKER] = "its worker",
	[ORR_TASK_OF_RUNTIME] = "the runtime, which executes it nowhere",
	[ORR_TASK_OF_END] = "the thread that ends it",
};

void orr_task_check_arrow(const struct orr_task *t, enum orr_task_state to, const char *where)
{
	unsigned from = ORR_ATOMIC_LOAD_RELAXED(&t->state);

	orr_assertf(from <= ORR_TASK_DONE && (unsigned) to <= ORR_TASK_DONE,
		    "%s: the state of a task is %u and becomes %u", where, from, (unsigned) to);
	orr_assertf(next_states[from] & BIT(to), "%s: task %s is %s, and would become %s", where,
		    orr_task_name(t->pub), state_names[from], state_names[to]);
}

void orr_task_check_holder(const struct orr_task *t, enum orr_task_holder holder, const char *where)
{
	orr_assertf(t->holder < ORR_NTASK_HOLDERS, "%s: a task belongs to party %u", where,
		    t->holder);
	orr_assertf(t->holder == holder, "%s: task %s belongs to %s, not to %s", where,
		    orr_task_name(t->pub), holder_names[t->holder], holder_names[holder]);
}

void orr_task_check_pass(struct orr_task *t, enum orr_task_holder from, enum orr_task_holder to,
			 const char *where)
{
	orr_task_check_holder(t, from, where);
	orr_assertf(next_holders[from] & BIT(to), "%s: %s gives task %s to %s", where,
		    holder_names[from], orr_task_name(t->pub), holder_names[to]);
	t->holder = (uint8_t) to;
}

void orr_task_check_end(const struct orr_task *t, const char *where)
{
	unsigned state = ORR_ATOMIC_LOAD(&t->state);

	orr_assertf(t->holder == ORR_TASK_OF_PROGRAM || t->holder == ORR_TASK_OF_END,
		    "%s: task %s is freed while %s has it", where, orr_task_name(t->pub),
		    holder_names[t->holder]);
	orr_assertf(state != ORR_TASK_BLOCKED, "%s: task %s is freed while it is %s", where,
		    orr_task_name(t->pub), state_names[state]);
}

#endif
