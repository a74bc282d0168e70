/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A node with simulated GPUs, as gpu.sh describes it: 4 cores, 2 GPUs, a codelet that only has a
 * function for the CPU, and a model that knows both kinds of units. `gpu PART` runs one part and
 * prints what it took in virtual time.
 *
 * Invariant: ends with 0 when every datum has the value that its tasks gave it. */
#include <starpu.h>

#include <string.h>

#include "lib/test.h"

#define LENGTH (1 << 18) /* ints: 1 MiB, which is what the model was measured for */
#define MOST 64

static int *value[MOST];
static starpu_data_handle_t handle[MOST];

static void add(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);
	size_t i, n = STARPU_VECTOR_GET_NX(buffers[0]);

	(void) arg;
	for (i = 0; i < n; i++)
		v[i]++;
}

static struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED, .symbol = "gpu_add" };
static struct starpu_codelet add_cl = {
	.cpu_funcs = { add }, .nbuffers = 1, .modes = { STARPU_RW }, .model = &model, .name = "add"
};

static void begin(int n)
{
	for (int i = 0; i < n; i++) {
		value[i] = malloc(LENGTH * sizeof(int));
		for (int k = 0; k < LENGTH; k++)
			value[i][k] = i;
		starpu_vector_data_register(&handle[i], STARPU_MAIN_RAM, (uintptr_t) value[i],
					    LENGTH, sizeof(int));
	}
}

static void end(int n, int added)
{
	for (int i = 0; i < n; i++) {
		starpu_data_unregister(handle[i]);
		for (int k = 0; k < LENGTH; k++)
			CHECK_IS(value[i][k], i + added);
		free(value[i]);
	}
}

static void add_on(int i, int worker)
{
	CHECK(starpu_task_insert(&add_cl, STARPU_RW, handle[i], STARPU_EXECUTE_ON_WORKER, worker,
				 0) == 0,
	      "a task was refused");
}

/* Ten independent tasks on one device: all but the first fetch their data while another computes.
 */
static double pipeline(int gpu)
{
	double start;

	begin(10);
	start = starpu_timing_now();
	for (int i = 0; i < 10; i++)
		add_on(i, gpu);
	starpu_task_wait_for_all();
	start = starpu_timing_now() - start;
	end(10, 1);
	return start;
}

/* One datum to each of two devices at the same time. */
static double two_copies(void)
{
	double start;

	begin(2);
	starpu_timing_now();
	start = starpu_timing_now();
	for (int i = 0; i < 2; i++)
		starpu_data_prefetch_on_node(handle[i], (unsigned) i + 1, 1);
	for (int i = 0; i < 2; i++) {
		starpu_data_acquire_on_node(handle[i], i + 1, STARPU_R);
		starpu_data_release_on_node(handle[i], i + 1);
	}
	start = starpu_timing_now() - start;
	end(2, 0);
	return start;
}

/* Buffers in main memory while there are devices that copy from it. */
static double pin(void)
{
	double start = starpu_timing_now();
	void *a;

	OK(starpu_malloc(&a, (size_t) 8 << 20));
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 4; i++) {
			starpu_vector_data_register(&handle[i], -1, 0, LENGTH, sizeof(int));
			OK(starpu_data_acquire(handle[i], STARPU_W));
			starpu_data_release(handle[i]);
		}
		for (int i = 0; i < 4; i++)
			starpu_data_unregister(handle[i]);
	}
	OK(starpu_free_noflag(a, (size_t) 8 << 20));
	/* All that was charged is spent. */
	starpu_task_wait_for_all();
	return starpu_timing_now() - start;
}

/* From one device to the other. */
static double peer(int gpu)
{
	double start;

	begin(1);
	add_on(0, gpu);
	starpu_task_wait_for_all();
	start = starpu_timing_now();
	starpu_data_acquire_on_node(handle[0], 2, STARPU_R);
	start = starpu_timing_now() - start;
	starpu_data_release_on_node(handle[0], 2);
	end(1, 1);
	return start;
}

/* More data than fit, used in turn by whichever unit the policy chooses. */
static double evict(void)
{
	double start = starpu_timing_now();

	begin(24);
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 24; i++)
			CHECK(starpu_task_insert(&add_cl, STARPU_RW, handle[i], 0) == 0,
			      "a task was refused");
	starpu_task_wait_for_all();
	start = starpu_timing_now() - start;
	end(24, 3);
	return start;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	int ids[2];
	double us = 0;

	CHECK(starpu_init(NULL) == 0);
	if (strcmp(part, "none")) {
		CHECK(starpu_cuda_worker_get_count() == 2 && starpu_memory_nodes_get_count() == 3,
		      "there are not 2 devices");
		CHECK(starpu_cpu_worker_get_count() == 2,
		      "a device does not take one of the 4 cores");
		CHECK(starpu_node_get_kind(1) == STARPU_CUDA_RAM, "node 1 is no device");
		CHECK(getenv("STARPU_LIMIT_CUDA_MEM") ||
			      starpu_memory_get_total(2) == (starpu_ssize_t) 512 << 20,
		      "the second device does not have its 512 MiB");
		starpu_worker_get_ids_by_type(STARPU_CUDA_WORKER, ids, 2);
	}
	if (!strcmp(part, "pipeline"))
		us = pipeline(ids[0]);
	else if (!strcmp(part, "pin"))
		us = pin();
	else if (!strcmp(part, "copies"))
		us = two_copies();
	else if (!strcmp(part, "peer"))
		us = peer(ids[0]);
	else if (!strcmp(part, "evict"))
		us = evict();
	else
		CHECK(!starpu_cuda_worker_get_count(), "there are devices");
	printf("%s %.1f\n", part, us);
	starpu_shutdown();
	return 0;
}
