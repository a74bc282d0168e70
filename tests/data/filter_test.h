/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the tests of partitions share: start and end, kernels on vectors of ints, a
 * sequential copy to compare with.
 *
 * Invariant: public interface only; a failed check names its line and ends the program with
 * status 1. */
#ifndef FILTER_TEST_H
#define FILTER_TEST_H

#include <starpu.h>
#include <errno.h>
#include <string.h>

#include "data/staged.h"
#include "lib/test.h"

/* v = 3 v + value: the order of two of them shows. */
static inline void mix_cpu(void *buffers[], void *arg)
{
	unsigned *v = (unsigned *) STARPU_VECTOR_GET_PTR(buffers[0]), i,
		 n = STARPU_VECTOR_GET_NX(buffers[0]);
	unsigned value;

	starpu_codelet_unpack_args(arg, &value);
	for (i = 0; i < n; i++)
		v[i] = 3 * v[i] + value;
}

/* Adds up a vector, weighted by position, into one unsigned. */
static inline void sum_cpu(void *buffers[], void *arg)
{
	unsigned *v = (unsigned *) STARPU_VECTOR_GET_PTR(buffers[0]), i,
		 n = STARPU_VECTOR_GET_NX(buffers[0]);
	unsigned *out = (unsigned *) STARPU_VARIABLE_GET_PTR(buffers[1]), sum = 0;

	(void) arg;
	for (i = 0; i < n; i++)
		sum += (i + 1) * v[i];
	*out = *out * 7 + sum;
}

STAGED(mix_staged, mix_cpu, 1)
STAGED(sum_staged, sum_cpu, 2)

static struct starpu_codelet mix_cl = { .cpu_funcs = { mix_cpu },
					.cpu_funcs_name = { "mix_cpu" },
					.nbuffers = 1,
					.modes = { STARPU_RW },
					.name = "mix" };
static struct starpu_codelet sum_cl = { .cpu_funcs = { sum_cpu },
					.cpu_funcs_name = { "sum_cpu" },
					.nbuffers = 2,
					.modes = { STARPU_R, STARPU_RW },
					.name = "sum" };

/* Devices made of host memory run C functions: then the kernels exist for them too. */
static inline void start(void)
{
	int ret;

	if (getenv("ORRERY_FAKE_DEVICES")) {
		mix_cl.cuda_funcs[0] = mix_cpu;
		sum_cl.cuda_funcs[0] = sum_cpu;
	}
	mix_cl.opencl_funcs[0] = mix_staged;
	sum_cl.opencl_funcs[0] = sum_staged;
	ret = starpu_init(NULL);
	if (ret == -ENODEV)
		exit(77);
	CHECK(ret == 0);
}

static inline void mix(starpu_data_handle_t h, unsigned value)
{
	CHECK(starpu_task_insert(&mix_cl, STARPU_RW, h, STARPU_VALUE, &value, sizeof(value), 0) ==
	      0);
}

static inline void sum(starpu_data_handle_t h, starpu_data_handle_t out)
{
	CHECK(starpu_task_insert(&sum_cl, STARPU_R, h, STARPU_RW, out, 0) == 0);
}

/* The same, sequentially. */
static inline void seq_mix(unsigned *v, unsigned n, unsigned value)
{
	unsigned i;

	for (i = 0; i < n; i++)
		v[i] = 3 * v[i] + value;
}

static inline void seq_sum(const unsigned *v, unsigned n, unsigned *out)
{
	unsigned i, s = 0;

	for (i = 0; i < n; i++)
		s += (i + 1) * v[i];
	*out = *out * 7 + s;
}

/* The begin of piece i of n when nx elements are cut by starpu_vector_filter_block. */
static inline unsigned block_start(unsigned nx, unsigned n, unsigned i)
{
	return i * (nx / n) + (i < nx % n ? i : nx % n);
}

static inline struct starpu_data_filter blocks(unsigned n)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = n };

	return f;
}

#endif
