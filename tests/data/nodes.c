/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The places where a task's data are wanted (handbook 27.11): on its unit's node, in main memory,
 * on a given node, wherever they are already, or nowhere; and tasks that execute nowhere but bring
 * their data together.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 */
#include "data/mem_test.h"
#include "data/staged.h"

#define N 100
#define NDATA 6

static enum starpu_worker_archtype device;
static int v[NDATA][N];
static starpu_data_handle_t h[NDATA];

static unsigned unit(unsigned i)
{
	return (unsigned) starpu_worker_get_by_type(device, (int) i);
}
static unsigned node_of(unsigned i)
{
	return starpu_worker_get_memory_node(unit(i));
}

static int got[NDATA];

/* Adds 1 to each datum that it finds in main memory, 10 to those elsewhere, and notes where they
 * were. */
static void where_func(void *buffers[], void *arg)
{
	unsigned i, k, n = *(unsigned *) arg;

	for (i = 0; i < n; i++) {
		struct staged_array a;

		got[i] = starpu_task_get_current_data_node(i);
		if (got[i] < 0)
			continue;
		a = staged_dense(buffers[i]);
		a.copy = malloc(sizeof(v[0]));
		staged_move(&a, (unsigned) got[i], 1);
		for (k = 0; k < N; k++)
			((int *) (void *) a.copy)[k] += got[i] == STARPU_MAIN_RAM ? 1 : 10;
		staged_move(&a, (unsigned) got[i], 0);
		free(a.copy);
	}
	CHECK(starpu_task_get_current_data_node(n) == -1);
}

/* On device 0: where are the data? Waits for the answer in got[]. */
static void ask(unsigned n, const int *nodes, int dyn)
{
	struct starpu_codelet cl = { .cuda_funcs = { where_func },
				     .opencl_funcs = { where_func },
				     .nbuffers = (int) n,
				     .name = "where",
				     .specific_nodes = 1 };
	struct starpu_task *task = starpu_task_create();
	int copy[NDATA];

	if (dyn)
		cl.dyn_nodes = copy;
	for (unsigned i = 0; i < n; i++) {
		cl.modes[i] = STARPU_RW;
		STARPU_CODELET_SET_NODE(&cl, nodes[i], i);
		CHECK(STARPU_CODELET_GET_NODE(&cl, i) == nodes[i]);
		task->handles[i] = h[i];
		got[i] = -99;
	}
	task->cl = &cl;
	task->cl_arg = &n;
	task->cl_arg_size = sizeof(n);
	task->execute_on_a_specific_worker = 1;
	task->workerid = unit(0);
	task->synchronous = 1;
	CHECK(starpu_task_submit(task) == 0);
}

static void check_values(int datum, int plus)
{
	CHECK(starpu_data_acquire(h[datum], STARPU_R) == 0);
	for (int k = 0; k < N; k++)
		CHECK(v[datum][k] == k + plus);
	starpu_data_release(h[datum]);
}

static void kinds(int dyn)
{
	const int nodes[NDATA] = { STARPU_SPECIFIC_NODE_LOCAL, STARPU_SPECIFIC_NODE_CPU,
				   STARPU_SPECIFIC_NODE_SLOW,  STARPU_SPECIFIC_NODE_FAST,
				   STARPU_SPECIFIC_NODE_NONE,  (int) node_of(1) };

	ask(NDATA, nodes, dyn);
	CHECK(got[0] == (int) node_of(0) && got[3] == (int) node_of(0));
	CHECK(got[1] == STARPU_MAIN_RAM && got[2] == STARPU_MAIN_RAM);
	CHECK(got[4] == -1);
	CHECK(got[5] == (int) node_of(1));
	for (int i = 0; i < NDATA; i++)
		if (got[i] >= 0)
			CHECK(starpu_data_is_on_node(h[i], (unsigned) got[i]));
	/* Data that were wanted in main memory were never on the device. */
	CHECK(!starpu_data_test_if_allocated_on_node(h[1], node_of(0)) &&
	      !starpu_data_test_if_allocated_on_node(h[2], node_of(0)));
	CHECK(!starpu_data_test_if_allocated_on_node(h[4], node_of(0)) &&
	      !starpu_data_test_if_allocated_on_node(h[5], node_of(0)));
}

/* Left in main memory as long as it is valid only there; used on the device once it is there. */
static void local_or_cpu(void)
{
	const int nodes[1] = { STARPU_SPECIFIC_NODE_LOCAL_OR_CPU };

	ask(1, nodes, 0);
	CHECK(got[0] == STARPU_MAIN_RAM);
	CHECK(starpu_data_prefetch_on_node(h[0], node_of(0), 0) == 0);
	ask(1, nodes, 0);
	CHECK(got[0] == (int) node_of(0));
}

/* Nobody executes it; the data are brought to where it wants them all the same. */
static void nowhere(void)
{
	struct starpu_codelet cl = { .where = STARPU_NOWHERE,
				     .nbuffers = 2,
				     .modes = { STARPU_RW, STARPU_R },
				     .specific_nodes = 1,
				     .name = "switch" };
	struct starpu_codelet order = {
		.where = STARPU_NOWHERE, .nbuffers = 1, .modes = { STARPU_RW }, .name = "order"
	};

	cl.nodes[0] = STARPU_MAIN_RAM;
	cl.nodes[1] = (int) node_of(1);
	ask(1, (int[]){ STARPU_SPECIFIC_NODE_LOCAL }, 0);
	CHECK(!starpu_data_is_on_node(h[0], STARPU_MAIN_RAM));
	CHECK(starpu_task_insert(&cl, STARPU_RW, h[0], STARPU_R, h[1], 0) == 0);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(starpu_data_is_on_node(h[0], STARPU_MAIN_RAM) &&
	      !starpu_data_is_on_node(h[0], node_of(0))); /* it wrote there */
	CHECK(starpu_data_is_on_node(h[1], STARPU_MAIN_RAM) &&
	      starpu_data_is_on_node(h[1], node_of(1)));
	/* Without nodes it only orders: nothing moves. */
	ask(1, (int[]){ STARPU_SPECIFIC_NODE_LOCAL }, 0);
	CHECK(starpu_task_insert(&order, STARPU_RW, h[0], 0) == 0);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(starpu_data_is_on_node(h[0], node_of(0)) &&
	      !starpu_data_is_on_node(h[0], STARPU_MAIN_RAM));
}

int main(void)
{
	start();
	device = starpu_opencl_worker_get_count() ? STARPU_OPENCL_WORKER : STARPU_CUDA_WORKER;
	if (starpu_worker_get_count_by_type(device) < 2)
		return 77;
	for (int i = 0; i < NDATA; i++) {
		for (int k = 0; k < N; k++)
			v[i][k] = k;
		starpu_vector_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) v[i], N,
					    sizeof(**v));
	}
	local_or_cpu();
	check_values(0, 11);
	kinds(0);
	kinds(1);
	check_values(0, 31);
	check_values(1, 2);
	check_values(2, 2);
	check_values(3, 20);
	check_values(4, 0);
	check_values(5, 20);
	nowhere();
	check_values(0, 51);
	check_values(1, 2);
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(h[i]);
	for (int k = 0; k < N; k++)
		CHECK(v[0][k] == k + 51 && v[3][k] == k + 20 && v[5][k] == k + 20);
	starpu_shutdown();
	return 0;
}
