/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks of a device whose copies take as long as their kernels: on a fake device, where
 * ORRERY_FAKE_COPY_MBS=10 and ORRERY_FAKE_KERNEL_US=4000 set both times, in either world; on a
 * device of OpenCL or CUDA spin.h makes the kernels as long as the program wants.
 *
 * Invariant: each task adds 1 to the first element of its vector of step_floats() elements. */
#ifndef TESTS_LIB_STEP_H
#define TESTS_LIB_STEP_H

#include "lib/spin.h"

#define STEP_US 4000.0
#define STEP_FLOATS 10000          /* 4 ms at 10 MB/s */
#define STEP_FLOATS_OPENCL 1000000 /* of a device that really copies */
#define STEP_FLOATS_CUDA 10000000

static inline unsigned step_floats(void)
{
	if (spin_has_cuda())
		return STEP_FLOATS_CUDA;
	return starpu_opencl_worker_get_count() ? STEP_FLOATS_OPENCL : STEP_FLOATS;
}

static void step_on_fake(void *buffers[], void *arg)
{
	float *v = (float *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	v[0] += 1;
}

/* A simulated run takes the time of kernels from here. */
static double step_us(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) task;
	(void) arch;
	(void) nimpl;
	const char *us = getenv("ORRERY_FAKE_KERNEL_US");

	return us ? atof(us) : STEP_US;
}

static struct starpu_perfmodel step_model = { .type = STARPU_PER_ARCH,
					      .arch_cost_function = step_us };

static struct starpu_codelet step_cl = { .cuda_funcs = { step_on_fake },
					 .cuda_flags = { STARPU_CUDA_ASYNC },
					 .opencl_funcs = { spin_on_opencl },
					 .opencl_flags = { STARPU_OPENCL_ASYNC },
					 .nbuffers = 1,
					 .modes = { STARPU_RW },
					 .model = &step_model,
					 .name = "step" };

#endif
