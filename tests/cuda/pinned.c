/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pinned main memory, on the stub of the CUDA runtime: memory of starpu_malloc, memory that the
 * program pins, and buffers of data, which come from a pool. pinned.sh runs it in many settings;
 * the argument says what to expect: pool, alone (freed buffers are not kept), or none. */
#include <starpu.h>

#include <errno.h>
#include <string.h>

#include "lib/cudart/cudart.h"
#include "lib/test.h"

#define N (1 << 16) /* floats: 256 KiB */
#define NDATA 12
#define NROUNDS 6

static enum { POOL, ALONE, NONE } expected;
static unsigned npinned; /* buffers that kernels saw */

static struct stub_pinned now(void)
{
	struct stub_pinned p;

	stub_pinned(&p);
	return p;
}

static int is_pinned(const void *p, size_t size)
{
	stub_lock_for_test();
	int yes = stub_is_pinned(p, size);

	stub_unlock_for_test();
	return yes;
}

static void fill(void *buffers[], void *arg)
{
	float *v = (float *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i] = (float) i;
	__atomic_add_fetch(&npinned, (unsigned) is_pinned(v, N * sizeof(*v)), __ATOMIC_RELAXED);
}

static void verify(void *buffers[], void *arg)
{
	const float *v = (const float *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		CHECK(v[i] == (float) i + 1, "element %u is %g", i, v[i]);
}

struct launched {
	float *v;
	unsigned n;
};

static void kernel(void *arg)
{
	const struct launched *l = arg;
	float *v = stub_memory(l->v, l->n * sizeof(*v));

	for (unsigned i = 0; i < l->n; i++)
		v[i]++;
}

static void add(void *buffers[], void *arg)
{
	struct launched l = { (float *) STARPU_VECTOR_GET_PTR(buffers[0]),
			      STARPU_VECTOR_GET_NX(buffers[0]) };

	(void) arg;
	CHECK_IS(stub_launch(kernel, &l, sizeof(l), starpu_cuda_get_local_stream()), cudaSuccess);
}

static struct starpu_codelet fill_cl = { .cpu_funcs = { fill },
					 .nbuffers = 1,
					 .modes = { STARPU_W } },
			     add_cl = { .cuda_funcs = { add },
					.cuda_flags = { STARPU_CUDA_ASYNC },
					.nbuffers = 1,
					.modes = { STARPU_RW } },
			     verify_cl = { .cpu_funcs = { verify },
					   .nbuffers = 1,
					   .modes = { STARPU_R } };

/* Data without a home: their buffers in main memory are the runtime's. */
static void data(void)
{
	starpu_data_handle_t h[NDATA];

	for (unsigned i = 0; i < NDATA; i++) {
		starpu_vector_data_register(&h[i], -1, 0, N, sizeof(float));
		OK(starpu_task_insert(&fill_cl, STARPU_W, h[i], 0));
		OK(starpu_task_insert(&add_cl, STARPU_RW, h[i], 0));
		OK(starpu_task_insert(&verify_cl, STARPU_R, h[i], 0));
	}
	for (unsigned i = 0; i < NDATA; i++)
		starpu_data_unregister(h[i]);
}

static void pool(void)
{
	data();
	unsigned long first = now().npins, copies = now().npageable;

	for (unsigned k = 1; k < NROUNDS; k++)
		data();
	CHECK_IS(npinned, expected == NONE ? 0 : NDATA * NROUNDS);
	if (expected == POOL) {
		/* 1, 1, 2, 4 and 8 blocks. */
		CHECK(first >= 1 && first <= 5, "%lu slabs for %u buffers", first, NDATA);
		CHECK(now().npins <= 5, "%lu slabs", now().npins);
	} else if (expected == ALONE) {
		CHECK_IS(now().npins, NDATA * NROUNDS);
		CHECK_IS(now().nranges, 0);
	}
	if (expected != NONE)
		CHECK_IS(now().npageable, copies);
	else
		CHECK(now().npageable > copies, "no copy from or to pageable memory");
}

static void of_program(void)
{
	size_t size = N * sizeof(float);
	const struct stub_pinned before = now();
	static _Alignas(4096) char mine[3 * 4096];
	char *a, *small;

	OK(starpu_malloc((void **) &a, size + 1));
	OK(starpu_malloc((void **) &small, 100));
	memset(a, 1, size + 1);
	CHECK_IS(is_pinned(a, size + 1), expected != NONE);
	CHECK_IS(is_pinned(small, 100), 0);
	OK(starpu_free_noflag(small, 100));
	OK(starpu_free_noflag(a, size + 1));
	OK(starpu_malloc_flags((void **) &a, size, 0));
	CHECK_IS(is_pinned(a, size), 0);
	OK(starpu_free_flags(a, size, 0));
	CHECK_IS(now().nranges, before.nranges);

	OK(starpu_memory_pin(mine, sizeof(mine) - 4096));
	CHECK_IS(is_pinned(mine, sizeof(mine) - 4096), expected != NONE);
	CHECK_IS(starpu_memory_pin(mine + 100, 10), expected != NONE ? -EBUSY : 0);
	OK(starpu_memory_unpin(mine, sizeof(mine) - 4096));
	CHECK_IS(starpu_memory_unpin(mine, 10), expected != NONE ? -EINVAL : 0);
	CHECK_IS(starpu_memory_pin(NULL, 10), -EINVAL);
	CHECK_IS(now().nranges, before.nranges);
	/* The end of the runtime undoes this. */
	OK(starpu_memory_pin(mine, sizeof(mine)));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "none";

	expected = !strcmp(what, "pool") ? POOL : !strcmp(what, "alone") ? ALONE : NONE;
	OK(starpu_init(NULL));
	CHECK_IS(starpu_cuda_worker_get_count(), 1);
	pool();
	of_program();
	starpu_shutdown();
	CHECK_IS(now().nranges, 0);
	return 0;
}
