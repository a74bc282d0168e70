/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of tasks: waiting in all forms, tasks that the program owns, copies, regeneration,
 * synchronous tasks, counters.
 *
 * Invariant: a task that was waited for has executed exactly as often as it was submitted. */
#include "core_test.h"
#include <orrery.h>

#include <errno.h>
#include <string.h>

static int ran;
static struct starpu_codelet cl = { .cpu_funcs = { core_count_kernel }, .name = "count" };

static struct starpu_task *make(void)
{
	struct starpu_task *task = starpu_task_create();

	CHECK(task != NULL);
	CHECK(task->detach == 1 && task->destroy == 1 && task->sequential_consistency == 1 &&
	      task->status == STARPU_TASK_INIT);
	task->cl = &cl;
	task->cl_arg = &ran;
	return task;
}

static void check_wait(void)
{
	struct starpu_task *t[100];

	ran = 0;
	for (int i = 0; i < 100; i++) {
		t[i] = make();
		t[i]->detach = 0;
		CHECK_IS(starpu_task_submit(t[i]), 0);
	}
	CHECK_IS(starpu_task_wait(t[99]), 0); /* destroys it */
	CHECK_IS(starpu_task_wait_array(t, 99), 0);
	CHECK_IS(ran, 100);
	t[0] = make();
	CHECK_IS(starpu_task_wait(t[0]), -EINVAL); /* detached */
	t[0]->detach = 0;
	CHECK_IS(starpu_task_wait(t[0]), -EINVAL); /* not submitted */
	starpu_task_destroy(t[0]);
	starpu_task_destroy(NULL);
}

static void check_finished(void)
{
	struct starpu_task *task = make();

	ran = 0;
	task->detach = 0;
	task->destroy = 0;
	CHECK(!starpu_task_finished(task));
	CHECK_IS(starpu_task_submit(task), 0);
	CHECK_IS(starpu_task_wait(task), 0);
	CHECK(starpu_task_finished(task));
	CHECK_IS(starpu_task_wait(task), 0); /* again, at no cost */
	CHECK_IS(task->status, STARPU_TASK_FINISHED);
	CHECK(starpu_task_get_job_id(task) > 0);
	/* The same task once more. */
	CHECK_IS(starpu_task_submit(task), 0);
	CHECK_IS(starpu_task_wait(task), 0);
	CHECK_IS(ran, 2);
	starpu_task_destroy(task);
	/* Whoever changes his mind: */
	task = make();
	task->destroy = 0;
	starpu_task_set_destroy(task);
	CHECK_IS(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
	CHECK_IS(ran, 3);
}

/* Tasks in the program's memory. */
static void check_owned(void)
{
	static struct starpu_task constant = STARPU_TASK_INITIALIZER;
	struct starpu_task task;

	ran = 0;
	starpu_task_init(&task);
	CHECK(!task.destroy && task.detach && task.where == -1);
	for (int i = 0; i < 50; i++) {
		task.cl = &cl;
		task.cl_arg = &ran;
		task.detach = 0;
		CHECK_IS(starpu_task_submit(&task), 0);
		CHECK_IS(starpu_task_wait(&task), 0);
		if (i % 2)
			starpu_task_clean(&task);
	}
	starpu_task_clean(&task);
	constant.cl = &cl;
	constant.cl_arg = &ran;
	constant.synchronous = 1;
	CHECK_IS(starpu_task_submit(&constant), 0);
	CHECK_IS(ran, 51);
	starpu_task_clean(&constant);
}

static void check_dup(void)
{
	struct starpu_task *task = make(), *copy;
	int *arg = malloc(sizeof(*arg));

	*arg = 0;
	ran = 0;
	task->priority = 0;
	task->name = "original";
	copy = starpu_task_dup(task);
	CHECK(copy != task && copy->cl == &cl && copy->cl_arg == &ran &&
	      !strcmp(copy->name, "original"));
	CHECK_IS(starpu_task_submit(task), 0);
	CHECK_IS(starpu_task_submit(copy), 0);
	starpu_task_wait_for_all();
	CHECK_IS(ran, 2);
	/* The copy owns nothing of the first. */
	task = make();
	task->cl_arg = arg;
	task->cl_arg_free = 1;
	copy = starpu_task_dup(task);
	CHECK(!copy->cl_arg_free);
	copy->synchronous = 1;
	CHECK_IS(starpu_task_submit(copy), 0);
	CHECK_IS(*arg, 1);
	CHECK_IS(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
}

static int rounds;

static void again(void *arg)
{
	struct starpu_task *task = arg;

	if (++rounds == 10)
		task->regenerate = 0;
}

static void check_regenerate(void)
{
	struct starpu_task task;
	int x = 0;
	starpu_data_handle_t h = core_register(&x);
	static struct starpu_codelet data_cl = { .cpu_funcs = { core_count_kernel },
						 .nbuffers = 1,
						 .modes = { STARPU_RW } };

	for (int i = 0; i < 2; i++) {
		ran = rounds = 0;
		starpu_task_init(&task);
		task.cl = i ? &data_cl : &cl;
		task.handles[0] = h;
		task.cl_arg = &ran;
		task.detach = 0;
		task.regenerate = 1;
		task.callback_func = again;
		task.callback_arg = &task;
		CHECK_IS(starpu_task_submit(&task), 0);
		starpu_task_wait_for_all();
		CHECK_IS(ran, 10);
		CHECK_IS(rounds, 10);
		starpu_task_clean(&task);
	}
	starpu_data_unregister(h);
}

static void check_synchronous(void)
{
	ran = 0;
	for (int i = 1; i <= 100; i++) {
		struct starpu_task *task = make();

		task->synchronous = 1;
		CHECK_IS(starpu_task_submit(task), 0);
		CHECK_IS(LOAD(ran), i);
	}
}

static void check_counters(void)
{
	struct orrery_task_stats before, after;
	int x = 0;
	starpu_data_handle_t h = core_register(&x);
	static struct starpu_codelet rw = { .cpu_funcs = { core_count_kernel },
					    .nbuffers = 1,
					    .modes = { STARPU_RW } };

	ran = 0;
	starpu_task_wait_for_all();
	CHECK_IS(starpu_task_nsubmitted(), 0);
	CHECK_IS(starpu_task_nready(), 0);
	orrery_task_stats(&before);
	CHECK_IS(before.submitted, before.executed);
	CHECK_IS(starpu_data_acquire(h, STARPU_RW), 0);
	for (int i = 0; i < 20; i++)
		CHECK_IS(starpu_task_insert(&rw, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &ran,
					    sizeof(ran), 0),
			 0);
	CHECK_IS(starpu_task_nsubmitted(), 20);
	CHECK_IS(starpu_task_nready(), 0);
	CHECK_IS(starpu_task_wait_for_no_ready(), 0);
	CHECK_IS(starpu_task_wait_for_n_submitted(20), 0);
	CHECK_IS(LOAD(ran), 0);
	starpu_data_release(h);
	CHECK_IS(starpu_task_wait_for_n_submitted(10), 0);
	CHECK(LOAD(ran) >= 10);
	CHECK_IS(starpu_task_wait_for_n_submitted_in_ctx(0, 0), 0);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(0), 0);
	CHECK_IS(ran, 20);
	orrery_task_stats(&after);
	CHECK_IS(after.submitted - before.submitted, 20);
	CHECK_IS(after.executed - before.executed, 20);
	starpu_data_unregister(h);
}

static void check_names(void)
{
	static struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED,
						 .symbol = "life_model" };
	struct starpu_codelet c;
	struct starpu_task *task = starpu_task_create();

	starpu_codelet_init(&c);
	CHECK(c.nbuffers == 0 && c.cpu_funcs[0] == NULL);
	task->cl = &c;
	CHECK(starpu_task_get_model_name(task) == NULL);
	c.model = &model;
	CHECK(!strcmp(starpu_task_get_model_name(task), "life_model"));
	c.name = "codelet";
	CHECK(!strcmp(starpu_task_get_name(task), "codelet"));
	task->name = "task";
	CHECK(!strcmp(starpu_task_get_name(task), "task"));
	CHECK(strlen(starpu_task_status_get_as_string(STARPU_TASK_BLOCKED)) > 0);
	CHECK(starpu_task_get_current() == NULL);
	starpu_task_destroy(task);
}

int main(void)
{
	core_start(2, NULL);
	check_wait();
	check_finished();
	check_owned();
	check_dup();
	check_regenerate();
	check_synchronous();
	check_counters();
	check_names();
	starpu_shutdown();
	return 0;
}
