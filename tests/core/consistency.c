/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sequential consistency switched off: for a task, for one datum of a task, for a handle, by
 * default.
 *
 * The program reads a datum, a writer waits for it, and a reader comes behind the writer.
 *
 * Invariant: a reader under sequential consistency waits for the writer; one that is not goes
 * ahead. */
#include "core_test.h"

static int wrote, read_by[2];

static void write_kernel(void *buffers[], void *arg)
{
	(void) arg;
	++*core_int(buffers[0]);
	INCR(wrote);
}

static void read_kernel(void *buffers[], void *arg)
{
	(void) arg;
	STORE(read_by[0], *core_int(buffers[0]));
	STORE(read_by[1], *core_int(buffers[1]));
}

static struct starpu_codelet writer = { .cpu_funcs = { write_kernel },
					.nbuffers = 1,
					.modes = { STARPU_RW } };
static struct starpu_codelet reader = { .cpu_funcs = { read_kernel },
					.nbuffers = 2,
					.modes = { STARPU_R, STARPU_R } };

static int x, y;
static starpu_data_handle_t a, b;

/* From here to let_go() writers wait. */
static void hold(int both)
{
	x = 10;
	y = 20;
	wrote = 0;
	read_by[0] = read_by[1] = 0;
	CHECK_IS(starpu_data_acquire(a, STARPU_R), 0);
	CHECK_IS(starpu_data_acquire(b, STARPU_R), 0);
	CHECK_IS(starpu_task_insert(&writer, STARPU_RW, a, 0), 0);
	if (both)
		CHECK_IS(starpu_task_insert(&writer, STARPU_RW, b, 0), 0);
}

static void let_go(int both)
{
	starpu_data_release(a);
	starpu_data_release(b);
	starpu_task_wait_for_all();
	CHECK_IS(wrote, 1 + both);
	CHECK(x == 11 && y == 20 + both);
}

/* The reader that the marker and its argument make: does it go ahead? */
static void goes_ahead(struct starpu_task *task, int both)
{
	task->detach = 0;
	CHECK_IS(starpu_task_submit(task), 0);
	CHECK_IS(starpu_task_wait(task), 0);
	CHECK_IS(LOAD(wrote), 0);
	CHECK(read_by[0] == 10 && read_by[1] == 20);
	let_go(both);
}

static void waits(struct starpu_task *task, int both)
{
	task->detach = 0;
	task->destroy = 0;
	CHECK_IS(starpu_task_submit(task), 0);
	starpu_usleep(2000);
	CHECK(!starpu_task_finished(task));
	let_go(both);
	CHECK_IS(starpu_task_wait(task), 0);
	CHECK(read_by[0] == 11 && read_by[1] == 20 + both);
	starpu_task_destroy(task);
}

static struct starpu_task *build(void)
{
	return starpu_task_build(&reader, STARPU_R, a, STARPU_R, b, 0);
}

static void check_tasks(void)
{
	unsigned char first[2] = { 0, 1 };

	hold(1);
	waits(build(), 1);
	hold(1);
	goes_ahead(starpu_task_build(&reader, STARPU_R, a, STARPU_R, b,
				     STARPU_SEQUENTIAL_CONSISTENCY, 0u, 0),
		   1);
	hold(0);
	goes_ahead(starpu_task_build(&reader, STARPU_R, a, STARPU_R, b,
				     STARPU_HANDLES_SEQUENTIAL_CONSISTENCY, first, 0),
		   0);
	hold(1);
	waits(starpu_task_build(&reader, STARPU_R, a, STARPU_R, b,
				STARPU_HANDLES_SEQUENTIAL_CONSISTENCY, first, 0),
	      1);
	first[0] = 1;
	first[1] = 0;
	hold(0);
	waits(starpu_task_build(&reader, STARPU_R, a, STARPU_R, b,
				STARPU_HANDLES_SEQUENTIAL_CONSISTENCY, first, 0),
	      0);
}

static void check_handles(void)
{
	CHECK_IS(starpu_data_get_sequential_consistency_flag(a), 1);
	hold(0);
	starpu_data_set_sequential_consistency_flag(a, 0);
	CHECK_IS(starpu_data_get_sequential_consistency_flag(a), 0);
	goes_ahead(build(), 0);
	starpu_data_set_sequential_consistency_flag(a, 1);
	hold(0);
	waits(build(), 0);
}

static void check_default(void)
{
	starpu_data_handle_t h;
	int z = 0;

	CHECK_IS(starpu_data_get_default_sequential_consistency_flag(), 1);
	starpu_data_set_default_sequential_consistency_flag(0);
	h = core_register(&z);
	CHECK_IS(starpu_data_get_sequential_consistency_flag(h), 0);
	/* Out of order, but still one at a time; and unregistration waits for all. */
	for (int i = 0; i < 200; i++)
		CHECK_IS(starpu_task_insert(&writer, STARPU_RW, h, 0), 0);
	starpu_data_unregister(h);
	CHECK_IS(z, 200);
	starpu_data_set_default_sequential_consistency_flag(1);
	h = core_register(&z);
	CHECK_IS(starpu_data_get_sequential_consistency_flag(h), 1);
	starpu_data_unregister(h);
}

int main(void)
{
	core_start(2, NULL);
	a = core_register(&x);
	b = core_register(&y);
	check_tasks();
	check_handles();
	check_default();
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	starpu_shutdown();
	return 0;
}
