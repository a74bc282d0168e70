/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Doubly linked lists of tasks, for scheduling policies; links are the tasks' prev and next fields.
 *
 * Invariant: a task is in at most one list at a time. Lists do no locking.
 */
#ifndef STARPU_TASK_LIST_H
#define STARPU_TASK_LIST_H

#include <starpu_task.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_task_list {
	struct starpu_task *head; /* front, NULL when empty */
	struct starpu_task *tail; /* back, NULL when empty */
};

/* Make the list empty. */
static inline void starpu_task_list_init(struct starpu_task_list *list)
{
	list->head = NULL;
	list->tail = NULL;
}

static inline int starpu_task_list_empty(const struct starpu_task_list *list)
{
	return list->head == NULL;
}

static inline void starpu_task_list_push_front(struct starpu_task_list *list,
					       struct starpu_task *task)
{
	task->prev = NULL;
	task->next = list->head;
	if (list->head)
		list->head->prev = task;
	else
		list->tail = task;
	list->head = task;
}

static inline void starpu_task_list_push_back(struct starpu_task_list *list,
					      struct starpu_task *task)
{
	task->next = NULL;
	task->prev = list->tail;
	if (list->tail)
		list->tail->next = task;
	else
		list->head = task;
	list->tail = task;
}

/* First and last task, NULL when empty; they stay in the list. */
static inline struct starpu_task *starpu_task_list_front(const struct starpu_task_list *list)
{
	return list->head;
}

static inline struct starpu_task *starpu_task_list_back(const struct starpu_task_list *list)
{
	return list->tail;
}

/* Take a task, which must be in the list, out of it. */
static inline void starpu_task_list_erase(struct starpu_task_list *list, struct starpu_task *task)
{
	if (task->prev)
		task->prev->next = task->next;
	else
		list->head = task->next;
	if (task->next)
		task->next->prev = task->prev;
	else
		list->tail = task->prev;
	task->prev = NULL;
	task->next = NULL;
}

/* Take the first or the last task out, NULL when empty. */
static inline struct starpu_task *starpu_task_list_pop_front(struct starpu_task_list *list)
{
	struct starpu_task *task = list->head;

	if (task)
		starpu_task_list_erase(list, task);
	return task;
}

static inline struct starpu_task *starpu_task_list_pop_back(struct starpu_task_list *list)
{
	struct starpu_task *task = list->tail;

	if (task)
		starpu_task_list_erase(list, task);
	return task;
}

/* Iterate: for (t = begin(l); t != end(l); t = next(t)). */
static inline struct starpu_task *starpu_task_list_begin(const struct starpu_task_list *list)
{
	return list->head;
}

static inline struct starpu_task *starpu_task_list_end(const struct starpu_task_list *list)
{
	(void) list;
	return NULL;
}

static inline struct starpu_task *starpu_task_list_next(const struct starpu_task *task)
{
	return task->next;
}

/* True if the task is in the list; takes a walk through it. */
static inline int starpu_task_list_ismember(const struct starpu_task_list *list,
					    const struct starpu_task *look)
{
	const struct starpu_task *task;

	for (task = list->head; task; task = task->next)
		if (task == look)
			return 1;
	return 0;
}

/* Move all tasks of lsrc to ldst, whose own content is lost. */
static inline void starpu_task_list_move(struct starpu_task_list *ldst,
					 struct starpu_task_list *lsrc)
{
	*ldst = *lsrc;
	starpu_task_list_init(lsrc);
}

#ifdef __cplusplus
}
#endif
#endif
