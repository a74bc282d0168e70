/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that fail and are tried again: until one try succeeds, or as the program's check decides;
 * nobody sees the datum before.
 *
 * Invariant: a task completes after exactly one try that did not fail. */
#include "core_test.h"

#define NTASKS 20

static int ntries[NTASKS], failures[NTASKS], nchecks, ncallbacks;

/* Fails the first failures[id] times. */
static void kernel(void *buffers[], void *arg)
{
	int id, n;

	starpu_codelet_unpack_args(arg, &id);
	n = INCR(ntries[id]);
	*core_int(buffers[1]) = *core_int(buffers[0]) + (n > failures[id] ? 1 : 1000);
	if (n <= failures[id])
		starpu_task_ft_failed(starpu_task_get_current());
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel },
				    .nbuffers = 2,
				    .modes = { STARPU_R, STARPU_W },
				    .name = "unreliable" };

/* Gives up after the third try, and takes what there is. */
static void check(void *arg)
{
	struct starpu_task *meta = arg, *try = starpu_task_get_current();

	INCR(nchecks);
	if (!try->failed || nchecks % 3 == 0) {
		starpu_task_ft_success(meta);
		return;
	}
	struct starpu_task *next = starpu_task_ft_create_retry(meta, try, check);
	CHECK(next != NULL);
	OK(starpu_task_submit_nodeps(next));
}

static void callback(void *arg)
{
	(void) arg;
	CHECK_IS(starpu_task_get_current()->failed, 0);
	INCR(ncallbacks);
}

static void insert(int id, starpu_data_handle_t from, starpu_data_handle_t to, void *own)
{
	OK(starpu_task_insert(&cl, STARPU_R, from, STARPU_W, to, STARPU_VALUE, &id, sizeof(id),
			      STARPU_PROLOGUE_CALLBACK, starpu_task_ft_prologue,
			      STARPU_PROLOGUE_CALLBACK_ARG_NFREE, own, STARPU_CALLBACK, callback,
			      0));
}

/* A chain through two data, whose every task fails a few times. */
static void chain(void)
{
	int x[2] = { 0, -1 };
	starpu_data_handle_t h[2] = { core_register(&x[0]), core_register(&x[1]) };

	for (int i = 0; i < NTASKS; i++) {
		ntries[i] = 0;
		failures[i] = i % 4;
		insert(i, h[i % 2], h[1 - i % 2], NULL);
	}
	starpu_data_unregister(h[0]);
	starpu_data_unregister(h[1]);
	OK(starpu_task_wait_for_all());
	for (int i = 0; i < NTASKS; i++)
		CHECK_IS(ntries[i], failures[i] + 1);
	CHECK_IS(x[NTASKS % 2], NTASKS);
	CHECK_IS(ncallbacks, NTASKS);
}

static void own_check(void)
{
	int x[2] = { 0, -1 };
	starpu_data_handle_t h[2] = { core_register(&x[0]), core_register(&x[1]) };

	ntries[0] = 0;
	failures[0] = 10;
	insert(0, h[0], h[1], (void *) check);
	OK(starpu_task_wait_for_all());
	CHECK_IS(ntries[0], 3);
	CHECK_IS(nchecks, 3);
	starpu_data_unregister(h[0]);
	starpu_data_unregister(h[1]);
	CHECK_IS(x[1], 1000);
}

int main(void)
{
	core_start(3, NULL);
	chain();
	own_check();
	CHECK(!starpu_task_ft_create_retry(NULL, NULL, NULL));
	starpu_shutdown();
	return 0;
}
