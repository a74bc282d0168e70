/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the tests of memory nodes share: a check that ends the program, and a codelet that
 * adds a constant to a vector of ints on a chosen unit. Devices come from the environment
 * (ORRERY_FAKE_DEVICES); their "kernels" are the C functions of the CPU. */
#ifndef MEM_TEST_H
#define MEM_TEST_H

#include <starpu.h>

#include <string.h>

#include "lib/test.h"

static void start(void)
{
	int ret = starpu_init(NULL);

	if (ret == -ENODEV)
		exit(77);
	CHECK(ret == 0);
}

/* The memory node of device i. */
__attribute__((unused)) static unsigned device_node(unsigned i)
{
	return starpu_worker_get_memory_node(
		(unsigned) starpu_worker_get_by_devid(STARPU_CUDA_WORKER, (int) i));
}

static void add_func(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);
	unsigned n = STARPU_VECTOR_GET_NX(buffers[0]), i;

	for (i = 0; i < n; i++)
		v[i] += *(int *) arg;
}

static struct starpu_codelet add_cl = {
	.cpu_funcs = { add_func },
	.cuda_funcs = { add_func },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "add",
};

/* Submits v[i] += x on device dev, on any CPU worker when dev is -1. */
__attribute__((unused)) static void add_on(starpu_data_handle_t h, int dev, int x)
{
	struct starpu_task *task = starpu_task_create();
	int *arg = malloc(sizeof(*arg));

	*arg = x;
	task->cl = &add_cl;
	task->handles[0] = h;
	task->cl_arg = arg;
	task->cl_arg_size = sizeof(*arg);
	task->cl_arg_free = 1;
	if (dev >= 0) {
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned) starpu_worker_get_by_devid(STARPU_CUDA_WORKER, dev);
	} else {
		task->where = STARPU_CPU;
	}
	CHECK(starpu_task_submit(task) == 0);
}

#endif
