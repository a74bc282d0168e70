/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-bench: alone */
/* orr-bench: sim -n 1 */
/* orr-bench: env ORRERY_FAKE_DEVICES=1 STARPU_LIMIT_CUDA_MEM=16 STARPU_NCPU=1 */
/* A working set ten times as large as the device's memory streams through it: c[i] = a[i] + s *
 * b[i] over blocks, several passes.
 *
 * Prints the bytes moved over the least possible (each pass reads a and b once and brings c back
 * once) and fails above 1.3.
 *
 * Invariant: the results are those of the same loop on the host. */
#include <starpu.h>
#include <orrery.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK (128 << 10) /* doubles: 1 MiB */
#define PASSES 3
#define TIMES 10 /* working set over the device's memory */

static uint64_t bytes_in, bytes_out; /* of what kernels used, by one pass after the other */

static void triad(void *buffers[], void *arg)
{
	const double *a = (const double *) STARPU_VECTOR_GET_PTR(buffers[0]),
		     *b = (const double *) STARPU_VECTOR_GET_PTR(buffers[1]);
	double *c = (double *) STARPU_VECTOR_GET_PTR(buffers[2]), s = *(double *) arg;
	unsigned i, n = STARPU_VECTOR_GET_NX(buffers[0]);

	for (i = 0; i < n; i++)
		c[i] = a[i] + s * b[i];
}

static struct starpu_codelet cl = { .cuda_funcs = { triad },
				    .nbuffers = 3,
				    .modes = { STARPU_R, STARPU_R, STARPU_W },
				    .name = "triad" };

static double *vector(starpu_data_handle_t *h, size_t n, double value)
{
	double *v;

	if (starpu_malloc((void **) &v, n * sizeof(*v)))
		abort();
	for (size_t i = 0; i < n; i++)
		v[i] = value + (double) (i % 7);
	starpu_vector_data_register(h, STARPU_MAIN_RAM, (uintptr_t) v, (uint32_t) n, sizeof(*v));
	return v;
}

static void pass(starpu_data_handle_t (*h)[3], unsigned nblocks, const double *s)
{
	for (unsigned i = 0; i < nblocks; i++)
		if (starpu_task_insert(&cl, STARPU_R, h[i][0], STARPU_R, h[i][1], STARPU_W, h[i][2],
				       STARPU_CL_ARGS_NFREE, s, sizeof(*s), 0))
			abort();
	starpu_task_wait_for_all();
	bytes_in += (uint64_t) nblocks * 2 * BLOCK * sizeof(double);
	bytes_out += (uint64_t) nblocks * BLOCK * sizeof(double);
}

int main(void)
{
	starpu_ssize_t memory;
	unsigned nblocks, node;
	starpu_data_handle_t(*h)[3];
	double *(*v)[3], s = 3, start, us, ratio;
	uint64_t in, out;

	if (starpu_init(NULL) || starpu_cuda_worker_get_count() == 0)
		return 77;
	node = starpu_worker_get_memory_node(
		(unsigned) starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0));
	memory = starpu_memory_get_total(node);
	if (memory <= 0)
		return 77;
	nblocks = (unsigned) ((size_t) memory * TIMES / (3 * BLOCK * sizeof(double)));
	h = calloc(nblocks, sizeof(*h));
	v = calloc(nblocks, sizeof(*v));
	for (unsigned i = 0; i < nblocks; i++)
		for (unsigned k = 0; k < 3; k++)
			v[i][k] = vector(&h[i][k], BLOCK, k + i);
	start = starpu_timing_now();
	for (unsigned k = 0; k < PASSES; k++)
		pass(h, nblocks, &s);
	us = starpu_timing_now() - start;
	for (unsigned i = 0; i < nblocks; i++)
		for (unsigned k = 0; k < 3; k++)
			starpu_data_unregister(h[i][k]);
	orrery_transfer_bytes(node, &in, &out);
	for (unsigned i = 0; i < nblocks; i++)
		if (v[i][2][BLOCK - 1] != v[i][0][BLOCK - 1] + s * v[i][1][BLOCK - 1] &&
		    v[i][2] != v[i][0])
			return 1;
	ratio = (double) (in + out) / (double) (bytes_in + bytes_out);
	printf("stream: %u blocks of %zu KiB, %d passes, %zu MiB of device memory: %.0f MiB in, %.0f MiB out, %.3f times the minimum, %.0f MiB/s\n",
	       nblocks, BLOCK * sizeof(double) >> 10, PASSES, (size_t) memory >> 20,
	       (double) in / 1048576, (double) out / 1048576, ratio,
	       (double) (in + out) / 1048576 / (us * 1e-6));
	for (unsigned i = 0; i < nblocks; i++)
		for (unsigned k = 0; k < 3; k++)
			starpu_free_noflag(v[i][k], BLOCK * sizeof(double));
	free(h);
	free(v);
	starpu_shutdown();
	return ratio > 1.3;
}
