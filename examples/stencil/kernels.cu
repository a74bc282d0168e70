/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel of the stencil example for CUDA devices: one thread for each cell. kernels.c names it
 * where nvcc compiled this file.
 *
 * Invariant: a cell is computed from the same operands in the same order as by next_value(), and no
 * two operations are contracted into one (__dadd_rn, __dmul_rn), so that the result is that of the
 * sequential program.
 */
#include "../cuda_kernels.h"

/* Edges hold their first row or column, then their last one. */
struct block {
	const double *from, *top, *bottom, *left, *right;
	double *to, *rows, *columns;
};

static __global__ void update(struct block k, unsigned b)
{
	unsigned y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y;
	size_t at = (size_t) x * b + y;

	if (y >= b)
		return;
	double cell = k.from[at], above = x ? k.from[at - b] : k.top[b + y],
	       below = x + 1 < b ? k.from[at + b] : k.bottom[y],
	       left = y ? k.from[at - 1] : k.left[b + x],
	       right = y + 1 < b ? k.from[at + 1] : k.right[x];
	double around = __dadd_rn(__dadd_rn(above, below), __dadd_rn(left, right));
	double next = __dadd_rn(cell, __dmul_rn(0.2, __dadd_rn(around, -4 * cell)));

	k.to[at] = next;
	if (x == 0)
		k.rows[y] = next;
	if (x + 1 == b)
		k.rows[b + y] = next;
	if (y == 0)
		k.columns[x] = next;
	if (y + 1 == b)
		k.columns[b + x] = next;
}

extern "C" void update_cuda(void *buffers[], void *arg)
{
	unsigned b = STARPU_BLOCK_GET_NX(buffers[0]);
	size_t plane = STARPU_BLOCK_GET_LDZ(buffers[0]);
	double *cells = (double *) STARPU_BLOCK_GET_PTR(buffers[0]), *edge[7];
	int t;

	starpu_codelet_unpack_args(arg, &t);
	for (int i = 1; i < 7; i++)
		edge[i] = (double *) STARPU_VECTOR_GET_PTR(buffers[i]);
	struct block k = { cells + (size_t) (t % 2) * plane,       edge[1], edge[2], edge[3],
			   edge[4], cells + (size_t) ((t + 1) % 2) * plane, edge[5], edge[6] };
	update<<<CUDA_GRID_OF(b, b)>>>(k, b);
	cuda_launched();
}
