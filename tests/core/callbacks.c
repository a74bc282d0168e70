/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The callbacks of a task: prologue, prologue on pop, kernel, epilogue, release of successors,
 * callback, in this order.
 *
 * Invariant: the epilogue precedes the start of a successor; every callback runs once; arguments
 * handed over are freed. */
#include "core_test.h"

static int step[5], clock_now;

static void record(int which)
{
	CHECK_IS(step[which], 0);
	step[which] = INCR(clock_now);
}

static void prologue(void *arg)
{
	CHECK(*(int *) arg == 1);
	CHECK(starpu_task_get_current() != NULL);
	record(0);
}
static void pop(void *arg)
{
	CHECK(*(int *) arg == 2);
	record(1);
}
static void epilogue(void *arg)
{
	CHECK(*(int *) arg == 3);
	record(3);
}

static void callback(void *arg)
{
	CHECK(*(int *) arg == 4);
	CHECK(starpu_task_get_current() != NULL);
	record(4);
}

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	CHECK(starpu_task_get_current() != NULL);
	record(2);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel } };

static int *boxed(int v)
{
	int *p = malloc(sizeof(*p));

	*p = v;
	return p;
}

static void check_steps(void)
{
	for (int i = 0; i < 5; i++)
		CHECK_IS(step[i], i + 1);
	for (int i = 0; i < 5; i++)
		step[i] = 0;
	clock_now = 0;
}

static void check_markers(void)
{
	static int one = 1, two = 2, four = 4;

	CHECK_IS(starpu_task_insert(
			 &cl, STARPU_PROLOGUE_CALLBACK, prologue, STARPU_PROLOGUE_CALLBACK_ARG,
			 boxed(1), STARPU_PROLOGUE_CALLBACK_POP, pop,
			 STARPU_PROLOGUE_CALLBACK_POP_ARG, boxed(2), STARPU_EPILOGUE_CALLBACK,
			 epilogue, STARPU_EPILOGUE_CALLBACK_ARG, boxed(3), STARPU_CALLBACK,
			 callback, STARPU_CALLBACK_ARG, boxed(4), 0),
		 0);
	starpu_task_wait_for_all();
	check_steps();
	CHECK_IS(starpu_task_insert(
			 &cl, STARPU_PROLOGUE_CALLBACK, prologue,
			 STARPU_PROLOGUE_CALLBACK_ARG_NFREE, &one, STARPU_PROLOGUE_CALLBACK_POP,
			 pop, STARPU_PROLOGUE_CALLBACK_POP_ARG_NFREE, &two,
			 STARPU_EPILOGUE_CALLBACK, epilogue, STARPU_EPILOGUE_CALLBACK_ARG, boxed(3),
			 STARPU_CALLBACK, callback, STARPU_CALLBACK_ARG_NFREE, &four, 0),
		 0);
	starpu_task_wait_for_all();
	check_steps();
	CHECK_IS(starpu_task_insert(&cl, STARPU_CALLBACK_WITH_ARG, callback, boxed(4), 0), 0);
	CHECK_IS(starpu_task_insert(&starpu_codelet_nop, STARPU_CALLBACK_WITH_ARG_NFREE, prologue,
				    &one, 0),
		 0);
	starpu_task_wait_for_all();
	CHECK(step[0] && step[2] && step[4] > step[2]);
	step[0] = step[2] = step[4] = clock_now = 0;
}

static int epilogues, calls;

static void count_epilogue(void *arg)
{
	(void) arg;
	INCR(epilogues);
}
static void count_call(void *arg)
{
	(void) arg;
	INCR(calls);
}

/* The n-th task of a chain sees n epilogues. */
static void chain_kernel(void *buffers[], void *arg)
{
	int n;

	starpu_codelet_unpack_args(arg, &n);
	CHECK_IS(LOAD(epilogues), n);
	++*core_int(buffers[0]);
}

static struct starpu_codelet chain_cl = { .cpu_funcs = { chain_kernel },
					  .nbuffers = 1,
					  .modes = { STARPU_RW } };

static void check_chain(void)
{
	int x = 0;
	starpu_data_handle_t h = core_register(&x);

	for (int i = 0; i < 100; i++)
		CHECK_IS(starpu_task_insert(&chain_cl, STARPU_RW, h, STARPU_VALUE, &i, sizeof(i),
					    STARPU_EPILOGUE_CALLBACK, count_epilogue,
					    STARPU_CALLBACK, count_call, 0),
			 0);
	starpu_task_wait_for_all(); /* callbacks included */
	CHECK_IS(calls, 100);
	starpu_data_unregister(h);
	CHECK_IS(x, 100);
}

static int shared_calls;

static void shared_callback(void *arg)
{
	(void) arg;
	INCR(shared_calls);
}

/* A codelet's callback is for its tasks that have none. */
static void check_codelet_callback(void)
{
	static struct starpu_codelet with = { .cpu_funcs = { core_count_kernel },
					      .callback_func = shared_callback };
	int n = 0;

	calls = 0;
	CHECK_IS(starpu_task_insert(&with, STARPU_CL_ARGS_NFREE, &n, sizeof(n), 0), 0);
	CHECK_IS(starpu_task_insert(&with, STARPU_CL_ARGS_NFREE, &n, sizeof(n), STARPU_CALLBACK,
				    count_call, 0),
		 0);
	starpu_task_wait_for_all();
	CHECK(n == 2 && shared_calls == 1 && calls == 1);
}

int main(void)
{
	core_start(2, NULL);
	check_markers();
	check_chain();
	check_codelet_callback();
	starpu_shutdown();
	return 0;
}
