/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data of tasks: how a task becomes an owner of accesses (data/access.h).
 *
 * Invariant: t->owner.access[i] is the access to datum i of the task. */
#ifndef ORR_CORE_TASK_DATA_H
#define ORR_CORE_TASK_DATA_H

#include "core/task/task.h"

static inline struct orr_task *orr_task_of_owner(const struct orr_owner *o)
{
	return (struct orr_task *) ((char *) o - offsetof(struct orr_task, owner));
}

/* The task that owns o, or NULL if it is no task's. */
struct orr_task *orr_task_data_owner(struct orr_owner *o);
/* The answers of a task, as an owner of accesses, to the data layer. */
extern const struct orr_owner_ops orr_task_owner_ops;

/* Memory for the n accesses of a task, before anybody hears of its submission. Returns 0, or
 * -ENOMEM after a message. */
int orr_task_data_reserve_many(struct orr_task *t, unsigned n);
static inline int orr_task_data_reserve(struct orr_task *t, unsigned n)
{
	if (!t->owner.ops) /* one that is submitted again has them */
		t->owner.ops = &orr_task_owner_ops;
	t->owner.naccess = n;
	t->owner.access = t->inl_access;
	return __builtin_expect(n <= ORR_TASK_INLINE, 1) ? 0 : orr_task_data_reserve_many(t, n);
}
/* Enqueues all accesses of a task being submitted (adds to t->owner.ndeps for those whose turn has
 * not come). nodeps: outside of sequential consistency. */
void orr_task_data_submit(struct orr_task *t, int nodeps);

#endif
