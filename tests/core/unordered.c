/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks outside of sequential consistency wait for nothing but those who hold their data.
 *
 * Others that are before them in the submission order, and whose turn on a datum has come, but
 * which still wait for something else, are in nobody's way: here they wait for the very tasks that
 * they would block. Invariant: still, a writer is alone with its datum. */
#include "core_test.h"

#define N 4

static int x[N], inside[N], overlaps, ran;
static starpu_data_handle_t h[N];

/* A writer of all its data, each of which knows its number from its address. */
static void writer_kernel(void *buffers[], void *arg)
{
	int i, k, n = *(int *) arg;

	for (i = 0; i < n; i++) {
		k = (int) (core_int(buffers[i]) - x);
		if (INCR(inside[k]) != 1)
			INCR(overlaps);
		++x[k];
	}
	for (i = 0; i < n; i++)
		__atomic_sub_fetch(&inside[core_int(buffers[i]) - x], 1, __ATOMIC_ACQ_REL);
	INCR(ran);
}

static void reader_kernel(void *buffers[], void *arg)
{
	(void) arg;
	if (LOAD(inside[core_int(buffers[0]) - x]))
		INCR(overlaps);
	INCR(ran);
}

static struct starpu_codelet writer1 = { .cpu_funcs = { writer_kernel },
					 .nbuffers = 1,
					 .modes = { STARPU_RW } };
static struct starpu_codelet writer2 = { .cpu_funcs = { writer_kernel },
					 .nbuffers = 2,
					 .modes = { STARPU_RW, STARPU_RW } };
static struct starpu_codelet commuter2 = { .cpu_funcs = { writer_kernel },
					   .nbuffers = 2,
					   .modes = { STARPU_RW | STARPU_COMMUTE,
						      STARPU_RW | STARPU_COMMUTE } };
static struct starpu_codelet reader = { .cpu_funcs = { reader_kernel },
					.nbuffers = 1,
					.modes = { STARPU_R } };
static int one = 1, two = 2;

static struct starpu_task *build(struct starpu_codelet *cl, int a, int b, int ordered)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->handles[0] = h[a];
	if (cl->nbuffers > 1)
		task->handles[1] = h[b];
	task->cl_arg = cl->nbuffers > 1 ? &two : &one;
	task->cl_arg_size = sizeof(int);
	task->sequential_consistency = ordered & 1;
	task->detach = 0;
	return task;
}

static void submit(struct starpu_task *task)
{
	CHECK_IS(starpu_task_submit(task), 0);
}
static void wait(struct starpu_task *task)
{
	CHECK_IS(starpu_task_wait(task), 0);
}

/* `first` has its turn on the datum and depends on `second`, which comes behind it. */
static void depends(struct starpu_codelet *cl_first, struct starpu_codelet *cl_second)
{
	struct starpu_task *first = build(cl_first, 0, 1, 1), *second = build(cl_second, 0, 1, 0);

	ran = 0;
	starpu_task_declare_deps(first, 1, second);
	submit(first);
	submit(second);
	wait(second);
	wait(first);
	CHECK_IS(ran, 2);
}

/* The same by a tag, and with the order switched off for the datum. */
static void tagged(void)
{
	struct starpu_task *first = build(&writer1, 0, 0, 1), *second;

	ran = 0;
	first->use_tag = 1;
	first->tag_id = 7;
	starpu_tag_declare_deps(7, 1, (starpu_tag_t) 8);
	submit(first);
	starpu_data_set_sequential_consistency_flag(h[0], 0);
	second = build(&writer1, 0, 0, 1);
	second->use_tag = 1;
	second->tag_id = 8;
	submit(second);
	wait(second);
	wait(first);
	starpu_data_set_sequential_consistency_flag(h[0], 1);
	CHECK_IS(ran, 2);
	starpu_tag_remove(7);
	starpu_tag_remove(8);
}

/* `first` waits for a datum that the program has until `second` is over. */
static void acquired(struct starpu_codelet *cl)
{
	struct starpu_task *first = build(cl, 0, 1, 1), *second = build(&writer1, 0, 0, 0),
			   *third = build(&reader, 0, 0, 0);

	ran = 0;
	CHECK_IS(starpu_data_acquire(h[1], STARPU_RW), 0);
	submit(first);
	submit(second);
	submit(third);
	wait(second);
	wait(third);
	CHECK_IS(LOAD(ran), 2);
	starpu_data_release(h[1]);
	wait(first);
	CHECK_IS(ran, 3);
}

/* An acquisition outside of the order, by callback. */
static int called;

static void callback(void *arg)
{
	(void) arg;
	STORE(called, 1);
	starpu_data_release(h[0]);
}

static void acquisition(void)
{
	struct starpu_task *first = build(&writer2, 0, 1, 1);

	called = 0;
	CHECK_IS(starpu_data_acquire(h[1], STARPU_RW), 0);
	submit(first);
	CHECK_IS(starpu_data_acquire_cb_sequential_consistency(h[0], STARPU_RW, callback, NULL, 0),
		 0);
	CHECK_IS(LOAD(called), 1);
	starpu_data_release(h[1]);
	wait(first);
}

/* Whoever holds the datum outside of the order is waited for, by those whose turn it is and by the
 * end of the datum. */
static int kept;

static void keep(void *arg)
{
	(void) arg;
	STORE(kept, 1);
}

static void held(void)
{
	struct starpu_task *first;

	ran = kept = 0;
	CHECK_IS(starpu_data_acquire_cb_sequential_consistency(h[0], STARPU_RW, keep, NULL, 0), 0);
	CHECK_IS(LOAD(kept), 1);
	first = build(&writer1, 0, 0, 1);
	submit(first);
	starpu_usleep(1000);
	CHECK_IS(LOAD(ran), 0);
	starpu_data_release(h[0]);
	wait(first);
	CHECK_IS(ran, 1);
}

/* Many of all kinds, on one or two data in any order. */
static void mixture(void)
{
	enum { TASKS = 2000 };
	static struct starpu_codelet *const kinds[] = { &writer1, &writer2, &commuter2, &reader };
	int want[N] = { 0 }, i, k;

	for (k = 0; k < N; k++)
		x[k] = 0;
	ran = 0;
	for (i = 0; i < TASKS; i++) {
		struct starpu_codelet *cl = kinds[rand() % 4];
		int a = rand() % N, b = (a + 1 + rand() % (N - 1)) % N;
		struct starpu_task *task = build(cl, a, b, rand() % 2);

		task->detach = 1;
		want[a] += cl != &reader;
		want[b] += cl->nbuffers > 1;
		submit(task);
	}
	starpu_task_wait_for_all();
	CHECK_IS(ran, TASKS);
	CHECK_IS(overlaps, 0);
	for (k = 0; k < N; k++)
		CHECK_IS(x[k], want[k]);
}

int main(void)
{
	core_start(2, NULL);
	for (int i = 0; i < N; i++)
		h[i] = core_register(&x[i]);
	depends(&writer1, &writer1);
	depends(&reader, &writer1);
	depends(&writer1, &reader);
	depends(&writer2, &writer2);
	depends(&commuter2, &writer2);
	depends(&writer2, &commuter2);
	tagged();
	acquired(&writer2);
	acquired(&commuter2);
	acquisition();
	held();
	for (int i = 0; i < 5; i++)
		mixture();
	for (int i = 0; i < N; i++)
		starpu_data_unregister(h[i]);
	starpu_shutdown();
	return 0;
}
