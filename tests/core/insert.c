/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The markers of starpu_task_insert, _build and _set: values, data, arrays, names, placement,
 * flags.
 *
 * Invariant: kernels see exactly what the list said, in its order. */
#include "core_test.h"

#include <string.h>

static int ran;

static void values_kernel(void *buffers[], void *arg)
{
	int i;
	double d;
	char text[8];
	void *p;

	(void) buffers;
	starpu_codelet_unpack_args(arg, &i, &d, text, &p);
	CHECK(i == 42 && d == 2.5 && !strcmp(text, "seven") && p == &ran);
	INCR(ran);
}

static struct starpu_codelet values_cl = { .cpu_funcs = { values_kernel }, .name = "values" };

static void check_values(void)
{
	int i = 42;
	double d = 2.5;
	char text[8] = "seven";
	void *p = &ran;

	ran = 0;
	CHECK_IS(starpu_task_insert(&values_cl, STARPU_VALUE, &i, sizeof(i), STARPU_VALUE, &d,
				    sizeof(d), STARPU_VALUE, text, sizeof(text), STARPU_VALUE, &p,
				    sizeof(p), 0),
		 0);
	i = 0; /* it was copied */
	d = 0;
	CHECK_IS(starpu_insert_task(&values_cl, STARPU_VALUE, (int[]){ 42 }, sizeof(int),
				    STARPU_VALUE, (double[]){ 2.5 }, sizeof(double), STARPU_NAME,
				    "named", STARPU_VALUE, text, sizeof(text), STARPU_VALUE, &p,
				    sizeof(p), 0),
		 0);
	starpu_task_wait_for_all();
	CHECK_IS(ran, 2);
}

static struct starpu_codelet count_cl = { .cpu_funcs = { core_count_kernel }, .name = "count" };

static void pointer_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	INCR(**(int **) arg);
}

static struct starpu_codelet pointer_cl = { .cpu_funcs = { pointer_kernel } };

static void check_cl_args(void)
{
	int **owned = malloc(sizeof(*owned));

	ran = 0;
	*owned = &ran;
	CHECK_IS(starpu_task_insert(&pointer_cl, STARPU_CL_ARGS, owned, sizeof(*owned), 0), 0);
	CHECK_IS(starpu_task_insert(&count_cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran), 0), 0);
	starpu_task_wait_for_all();
	CHECK_IS(ran, 2);
}

static void sum_kernel(void *buffers[], void *arg)
{
	int *n = arg;

	*core_int(buffers[2]) = 10 * *core_int(buffers[0]) + *core_int(buffers[1]);
	INCR(*n);
}

static struct starpu_codelet sum_cl = { .cpu_funcs = { sum_kernel },
					.nbuffers = 3,
					.modes = { STARPU_R, STARPU_R, STARPU_W } };
static struct starpu_codelet free_sum_cl = { .cpu_funcs = { sum_kernel },
					     .nbuffers = STARPU_VARIABLE_NBUFFERS };

static int result(starpu_data_handle_t h, int *x)
{
	int v;

	CHECK_IS(starpu_data_acquire(h, STARPU_RW), 0);
	v = *x;
	*x = -1;
	starpu_data_release(h);
	return v;
}

static void check_data(void)
{
	int x[3] = { 1, 2, 0 };
	starpu_data_handle_t h[3] = { core_register(&x[0]), core_register(&x[1]),
				      core_register(&x[2]) };
	struct starpu_data_descr d[3] = { { h[1], STARPU_R },
					  { h[0], STARPU_R },
					  { h[2], STARPU_W } };

	ran = 0;
	CHECK_IS(starpu_task_insert(&sum_cl, STARPU_R, h[0], STARPU_R, h[1], STARPU_W, h[2],
				    STARPU_CL_ARGS_NFREE, &ran, sizeof(ran), 0),
		 0);
	CHECK_IS(result(h[2], &x[2]), 12);
	CHECK_IS(starpu_task_insert(&sum_cl, STARPU_DATA_ARRAY, h, 3, STARPU_CL_ARGS_NFREE, &ran,
				    sizeof(ran), 0),
		 0);
	CHECK_IS(result(h[2], &x[2]), 12);
	CHECK_IS(starpu_task_insert(&sum_cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
				    STARPU_DATA_MODE_ARRAY, d, 3, 0),
		 0);
	CHECK_IS(result(h[2], &x[2]), 21);
	CHECK_IS(starpu_task_insert(&free_sum_cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
				    STARPU_DATA_MODE_ARRAY, d, 3, 0),
		 0);
	CHECK_IS(result(h[2], &x[2]), 21);
	CHECK_IS(starpu_task_insert(&free_sum_cl, STARPU_R, h[0], STARPU_DATA_MODE_ARRAY, d + 1, 2,
				    STARPU_CL_ARGS_NFREE, &ran, sizeof(ran), 0),
		 0);
	CHECK_IS(result(h[2], &x[2]), 11);
	/* One handle twice is one access; locality is a hint. */
	CHECK_IS(starpu_task_insert(&sum_cl, STARPU_R, h[0], STARPU_R | STARPU_LOCALITY, h[0],
				    STARPU_W, h[2], STARPU_CL_ARGS_NFREE, &ran, sizeof(ran), 0),
		 0);
	CHECK_IS(result(h[2], &x[2]), 11);
	CHECK_IS(ran, 6);
	for (int i = 0; i < 3; i++)
		starpu_data_unregister(h[i]);
}

static void fields_kernel(void *buffers[], void *arg)
{
	struct starpu_task *task = starpu_task_get_current();

	(void) buffers;
	(void) arg;
	CHECK(task != NULL);
	CHECK(!strcmp(starpu_task_get_name(task), "fields"));
	CHECK_IS(task->tag_id, 77);
	CHECK_IS(task->use_tag, 0);
	CHECK(task->flops == 1e6);
	CHECK_IS(task->color, 0x123456);
	CHECK_IS(task->priority, 0);
	CHECK(task->sched_data == &ran);
	CHECK_IS(task->line, 12);
	CHECK(!strcmp(task->file, "somewhere"));
	INCR(ran);
}

static struct starpu_codelet fields_cl = { .cpu_funcs = { fields_kernel } };

static void check_fields(void)
{
	struct starpu_task *task;

	ran = 0;
	CHECK_IS(starpu_task_insert(&fields_cl, STARPU_NAME, "fields", STARPU_TAG_ONLY,
				    (starpu_tag_t) 77, STARPU_FLOPS, 1e6, STARPU_TASK_COLOR,
				    0x123456, STARPU_PRIORITY, 0, STARPU_TASK_SCHED_DATA, &ran,
				    STARPU_TASK_LINE, 12, STARPU_TASK_FILE, "somewhere",
				    STARPU_SCHED_CTX, 0u, STARPU_POSSIBLY_PARALLEL, 0u,
				    STARPU_TASK_NO_SUBMITORDER, 0u, STARPU_EXECUTE_ON_NODE, 3,
				    STARPU_EXECUTE_ON_WORKER, -1, STARPU_WORKER_ORDER, 0u,
				    STARPU_TASK_SYNCHRONOUS, 1, 0),
		 0);
	CHECK_IS(ran, 1); /* it was synchronous */
	task = starpu_task_build(&count_cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran), STARPU_NAME,
				 "built", 0);
	CHECK(task && task->destroy && task->cl == &count_cl && !strcmp(task->name, "built"));
	CHECK_IS(starpu_task_submit(task), 0);
	task = starpu_task_create();
	CHECK_IS(starpu_task_set(task, &count_cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
				 STARPU_EXECUTE_WHERE, (unsigned long long) STARPU_CPU, 0),
		 0);
	CHECK_IS(starpu_task_submit_line(task, __FILE__, __LINE__), 0);
	starpu_task_wait_for_all();
	CHECK_IS(ran, 3);
}

/* A task without codelet only orders. */
static void check_no_codelet(void)
{
	struct starpu_task *task = starpu_task_create();

	task->detach = 0;
	CHECK_IS(starpu_task_submit(task), 0);
	CHECK_IS(starpu_task_wait(task), 0);
	CHECK_IS(starpu_task_insert(&starpu_codelet_nop, STARPU_TASK_SYNCHRONOUS, 1, 0), 0);
}

int main(void)
{
	core_start(2, NULL);
	check_values();
	check_cl_args();
	check_data();
	check_fields();
	check_no_codelet();
	starpu_shutdown();
	return 0;
}
