/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices none */
/* NUMA nodes as memory nodes: workers next to them, data that move between them, and main memory as
 * one node when nobody asks for more. `numa NODES CORES`: checks a machine with so many; without
 * arguments, whatever machine this is with STARPU_USE_NUMA unset. Driven by numa.sh on described
 * machines. Prints the virtual microseconds of a copy of 1 MiB from the last node to the first. */
#include "core_test.h"

#include <string.h>

#define LENGTH (1 << 18)

static unsigned nodes;
static int value[LENGTH];
static int ran_on[STARPU_NMAXWORKERS];

static void add(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]), i, id = starpu_worker_get_id();

	(void) arg;
	CHECK(starpu_worker_get_local_memory_node() ==
	      starpu_worker_get_memory_node((unsigned) id));
	CHECK(nodes == 1 || starpu_worker_get_memory_node((unsigned) id) == 0 || v != value);
	for (i = 0; i < LENGTH; i++)
		v[i]++;
	INCR(ran_on[id]);
}

static struct starpu_codelet add_cl = {
	.cpu_funcs = { add }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "add"
};

static void numbers(unsigned cores)
{
	CHECK_IS(starpu_memory_nodes_get_numa_count(), nodes);
	CHECK_IS(starpu_memory_nodes_get_count(), nodes);
	CHECK_IS(starpu_memory_nodes_get_count_by_kind(STARPU_CPU_RAM), nodes);
	for (unsigned i = 0; i < nodes; i++) {
		CHECK_IS(starpu_node_get_kind(i), STARPU_CPU_RAM);
		CHECK_IS(starpu_memory_node_get_devid(i), i);
		CHECK_IS(starpu_memory_nodes_numa_id_to_devid(
				 starpu_memory_nodes_numa_devid_to_id(i)),
			 i);
	}
	CHECK(starpu_memory_nodes_numa_devid_to_id(nodes) == -1 &&
	      starpu_memory_nodes_numa_id_to_devid(4711) == -1);
	CHECK_IS(starpu_bus_get_count(), nodes * (nodes - 1));
	CHECK(!cores || starpu_cpu_worker_get_count() == cores);
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		CHECK(!cores || starpu_worker_get_memory_node(i) == i * nodes / cores);
}

/* A datum visits every worker. */
static void visit(void)
{
	starpu_data_handle_t h;
	unsigned w, n = starpu_worker_get_count();

	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) value, LENGTH, sizeof(int));
	for (w = 0; w < n; w++)
		CHECK_IS(starpu_task_insert(&add_cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER,
					    (int) w, 0),
			 0);
	starpu_data_unregister(h);
	for (w = 0; w < n; w++)
		CHECK_IS(ran_on[w], 1);
	for (int i = 0; i < LENGTH; i++)
		CHECK_IS(value[i], n);
}

static double copy_us(void)
{
	starpu_data_handle_t h;
	double us;
	int last = (int) nodes - 1;

	starpu_vector_data_register(&h, -1, 0, LENGTH, sizeof(int));
	CHECK_IS(starpu_data_acquire_on_node(h, last, STARPU_W), 0);
	starpu_data_release_on_node(h, last);
	starpu_timing_now();
	us = starpu_timing_now();
	CHECK_IS(starpu_data_acquire_on_node(h, 0, STARPU_R), 0);
	us = starpu_timing_now() - us;
	starpu_data_release_on_node(h, 0);
	starpu_data_unregister(h);
	return us;
}

int main(int argc, char **argv)
{
	nodes = argc > 1 ? (unsigned) atoi(argv[1]) : 1;
	CHECK_IS(starpu_init(NULL), 0);
	numbers(argc > 2 ? (unsigned) atoi(argv[2]) : 0);
	visit();
	printf("copy %.1f\n", nodes > 1 ? copy_us() : 0.);
	starpu_shutdown();
	return 0;
}
