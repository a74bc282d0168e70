/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that are tried again when they fail (see task_retry.h).
 *
 * Invariant: one try of a meta task is under way at a time, unless the program makes more. */
#include "core/flow/task_retry.h"

#include <string.h>

#include "base/log.h"
#include "core/worker/core.h"
#include "core/flow/task_state.h"

/* The task that the calling thread executes, or NULL after a message. */
static struct starpu_task *current(const char *what)
{
	struct starpu_task *task = starpu_task_get_current();

	if (!task)
		orr_error("%s: call it inside a task or its callbacks", what);
	return task;
}

/* A failed try may have changed data that the next one reads. */
static void warn_of_changes(const struct starpu_task *meta)
{
	for (unsigned i = 0; i < orr_task_nbuffers(meta); i++)
		if ((orr_task_mode(meta, i) & STARPU_RW) == STARPU_RW)
			orr_warn(
				"task %s failed and is tried again, but it both reads and writes its datum %u, which the failed try may have changed: write to another datum",
				orr_task_name(meta), i);
}

struct starpu_task *starpu_task_ft_create_retry(const struct starpu_task *meta_task,
						const struct starpu_task *template_task,
						void (*check_ft)(void *))
{
	if (!meta_task || !template_task || !check_ft) {
		orr_error("%s: the meta task, the template or the check is NULL", __func__);
		return NULL;
	}
	struct starpu_task *task = starpu_task_dup((struct starpu_task *) template_task);
	if (!task) {
		orr_error("%s: out of memory for a try of task %s", __func__,
			  orr_task_name(meta_task));
		return NULL;
	}
	task->destroy = task->detach = 1;
	task->use_tag = task->synchronous = task->regenerate = 0;
	task->failed = 0;
	task->status = STARPU_TASK_INIT;
	task->transaction = NULL;
	task->prev = task->next = NULL;
	task->nb_termination_call_required = 0;
	task->prologue_callback_func = NULL;
	task->prologue_callback_arg = NULL;
	task->epilogue_callback_func = NULL;
	task->epilogue_callback_arg = NULL;
	task->callback_func = check_ft;
	task->callback_arg = (void *) (uintptr_t) meta_task;
	if (!task->execute_on_a_specific_worker)
		task->workerid = (unsigned) -1;
	orr_assertf(!orr_task_of(task)->owner.naccess && !orr_task_of(task)->owner.held,
		    "a try of task %s holds data before it is submitted", orr_task_name(meta_task));
	orr_task_of(task)->borrows = 1;
	return task;
}

static void submit(struct starpu_task *meta, const struct starpu_task *template,
		   void (*check)(void *))
{
	struct starpu_task *try = starpu_task_ft_create_retry(meta, template, check);
	int ret = try ? starpu_task_submit_nodeps(try) : -1;

	if (ret)
		orr_fatal("task %s cannot be tried: %s", orr_task_name(meta), strerror(-ret));
}

/* The check of programs that give none: tries until one succeeds. */
static void retry_check(void *arg)
{
	struct starpu_task *meta = arg, *try = starpu_task_get_current();

	if (!try->failed) {
		starpu_task_ft_success(meta);
		return;
	}
	warn_of_changes(meta);
	submit(meta, try, retry_check);
}

void starpu_task_ft_prologue(void *check_ft)
{
	struct starpu_task *meta = current(__func__);

	if (!meta)
		return;
	struct orr_task *t = orr_task_of(meta);
	if (t->borrows || t->skipped)
		return;
	if (t->where & STARPU_NOWHERE) {
		orr_error("starpu_task_ft_prologue: task %s has no kernel that could fail",
			  orr_task_name(meta));
		return;
	}
	orr_assertf(t->owner.held || !t->owner.naccess, "task %s lends data that it does not hold",
		    orr_task_name(meta));
	t->where = STARPU_NOWHERE;
	t->skipped = 1;
	starpu_task_end_dep_add(meta, 1);
	submit(meta, meta, check_ft ? (void (*)(void *)) check_ft : retry_check);
}

void starpu_task_ft_failed(struct starpu_task *task)
{
	if (task)
		task->failed = 1;
	else
		orr_error("starpu_task_ft_failed: the task is NULL");
}

void starpu_task_ft_success(struct starpu_task *meta_task)
{
	if (meta_task && orr_task_of(meta_task) && orr_task_of(meta_task)->skipped)
		starpu_task_end_dep_release(meta_task);
	else
		orr_error("starpu_task_ft_success: %s is no task whose tries are under way",
			  meta_task ? orr_task_name(meta_task) : "NULL");
}
