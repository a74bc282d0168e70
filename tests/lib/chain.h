/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tasks that multiply and add, on CPUs and on one kind of device in turn, for tests of drivers:
 * each has kernels of its own for the device.
 *
 * Invariant: chain_ncpu and chain_ndevice count the kernels that were executed. */
#ifndef TESTS_LIB_CHAIN_H
#define TESTS_LIB_CHAIN_H

#include <starpu.h>

#include "lib/test.h"

#define CHAIN_N 1000
#define CHAIN_NTASKS 20

static unsigned chain_ncpu, chain_ndevice;
static unsigned chain_ndevices; /* workers of the device; 0: CPUs stand in */

/* v = v * by + plus. wait: the kernel's function waits for it. */
struct chain_args {
	float by, plus;
	int wait;
};

static void chain_on_cpu(void *buffers[], void *arg)
{
	const struct chain_args *a = arg;
	float *v = (float *) STARPU_VECTOR_GET_PTR(buffers[0]);

	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i] = v[i] * a->by + a->plus;
	__atomic_add_fetch(&chain_ncpu, 1, __ATOMIC_RELAXED);
}

/* where: STARPU_CPU, or the kind of the device. */
static void chain_submit(struct starpu_codelet *cl, starpu_data_handle_t h,
			 const struct chain_args *a, uint32_t where)
{
	struct starpu_task *t = starpu_task_create();

	t->cl = cl;
	t->handles[0] = h;
	t->cl_arg = (void *) a;
	t->cl_arg_size = sizeof(*a);
	t->where = chain_ndevices ? where : STARPU_CPU;
	OK(starpu_task_submit(t));
}

/* A chain on one datum, on the device and on CPUs in turn. */
static void chain_test(struct starpu_codelet *cl, uint32_t device, int wait)
{
	const struct chain_args twice = { 2, 0, wait }, one_more = { 1, 1, wait };
	static float v[CHAIN_N];
	float expected[CHAIN_N];
	starpu_data_handle_t h;

	for (unsigned i = 0; i < CHAIN_N; i++)
		v[i] = expected[i] = (float) i;
	chain_ncpu = chain_ndevice = 0;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, CHAIN_N, sizeof(float));
	for (unsigned k = 0; k < CHAIN_NTASKS; k++) {
		const struct chain_args *a = k % 2 ? &one_more : &twice;

		chain_submit(cl, h, a, k % 5 ? device : STARPU_CPU);
		for (unsigned i = 0; i < CHAIN_N; i++)
			expected[i] = expected[i] * a->by + a->plus;
	}
	starpu_data_unregister(h);
	for (unsigned i = 0; i < CHAIN_N; i++)
		CHECK(v[i] == expected[i], "element %u is %g, not %g", i, v[i], expected[i]);
	CHECK_IS(chain_ndevice, chain_ndevices ? CHAIN_NTASKS * 4 / 5 : 0);
	CHECK_IS(chain_ncpu + chain_ndevice, CHAIN_NTASKS);
}

#endif
