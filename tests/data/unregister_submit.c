/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env ORRERY_FAKE_DEVICES=1 */
/* Unregistration that is submitted behind accesses that have not happened yet: what becomes of the
 * value is decided when it happens.
 *
 * Invariant: after the runtime stopped, the home buffer of each datum holds the last value that was
 * written before the submission, or was not touched when there was none. */
#include "mem_test.h"

enum { CASES = 8, N = 1000 };

static int home[CASES][N], gate_value;
static starpu_data_handle_t h[CASES], gate;

static void set_kernel(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]), i;

	for (i = 0; i < N; i++)
		v[i] = (int) (intptr_t) arg + i;
}

static void add_kernel(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]), i;

	for (i = 0; i < N; i++)
		v[i] += (int) (intptr_t) arg;
}

/* The gate keeps them from running: they read it. */
static struct starpu_codelet set_cl = {
	.cuda_funcs = { set_kernel }, .nbuffers = 2, .modes = { STARPU_W, STARPU_R }, .name = "set"
};
static struct starpu_codelet add_on_device = {
	.cuda_funcs = { add_kernel }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_R }, .name = "add"
};

static void submit(struct starpu_codelet *cl, int i, int value, int ordered)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = cl;
	task->handles[0] = h[i];
	task->handles[1] = gate;
	task->cl_arg = (void *) (intptr_t) value;
	task->sequential_consistency = ordered & 1;
	CHECK(starpu_task_submit(task) == 0);
}

/* Adds without waiting for the gate's turn: an access outside of the order. */
static void submit_unordered(int i, int value, struct starpu_task *after)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &add_on_device;
	task->handles[0] = h[i];
	task->handles[1] = gate;
	task->cl_arg = (void *) (intptr_t) value;
	task->sequential_consistency = 0;
	starpu_task_declare_deps_array(task, 1, &after);
	CHECK(starpu_task_submit(task) == 0);
}

static void check_home(int i, int first, int step)
{
	for (int k = 0; k < N; k++)
		CHECK(home[i][k] == first + step * k, "case %d, word %d: %d", i, k, home[i][k]);
}

int main(void)
{
	static struct starpu_codelet nothing = { .where = STARPU_NOWHERE };
	struct starpu_task *late = NULL;

	start();
	if (!starpu_cuda_worker_get_count()) {
		starpu_shutdown();
		return 77;
	}
	starpu_variable_data_register(&gate, STARPU_MAIN_RAM, (uintptr_t) &gate_value,
				      sizeof(gate_value));
	CHECK(starpu_data_acquire(gate, STARPU_W) == 0);
	for (int i = 0; i < CASES; i++) {
		for (int k = 0; k < N; k++)
			home[i][k] = -1;
		starpu_vector_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) home[i], N,
					    sizeof(int));
	}
	/* 0: a write on the device that has not happened. */
	submit(&set_cl, 0, 10, 1);
	/* 1: no value now, but a write to come. */
	starpu_data_invalidate(h[1]);
	submit(&set_cl, 1, 20, 1);
	/* 2: a value now, but an invalidation to come, behind a write. */
	submit(&set_cl, 2, 30, 1);
	starpu_data_invalidate_submit(h[2]);
	/* 3: an invalidation to come, then a write. */
	starpu_data_invalidate_submit(h[3]);
	submit(&set_cl, 3, 40, 1);
	submit(&add_on_device, 3, 1, 1);
	/* 4: an access outside of the order that comes last. */
	late = starpu_task_create();
	late->cl = &nothing;
	late->use_tag = 1;
	late->tag_id = 1;
	late->destroy = 0;
	late->detach = 0;
	starpu_tag_declare_deps(1, 1, (starpu_tag_t) 2);
	submit_unordered(4, 5, late);
	CHECK(starpu_task_submit(late) == 0);
	/* 5: nothing at all; 6: no value, and none to come. */
	starpu_data_invalidate(h[6]);
	for (int i = 0; i < 7; i++)
		starpu_data_unregister_submit(h[i]);
	starpu_data_release(gate);
	/* 7: the value is on the device already. */
	submit(&set_cl, 7, 70, 1);
	CHECK(starpu_data_acquire_on_node(h[7], STARPU_ACQUIRE_NO_NODE, STARPU_R) == 0);
	starpu_data_release_on_node(h[7], STARPU_ACQUIRE_NO_NODE);
	starpu_data_unregister_submit(h[7]);
	starpu_tag_notify_from_apps(2);
	CHECK(starpu_task_wait(late) == 0);
	starpu_task_destroy(late);
	starpu_data_unregister(gate);
	starpu_shutdown();
	check_home(0, 10, 1);
	check_home(1, 20, 1);
	check_home(3, 41, 1);
	check_home(4, 4, 0);
	check_home(5, -1, 0);
	check_home(6, -1, 0);
	check_home(7, 70, 1);
	return 0;
}
