/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of the stencil example and their codelets. Those of devices are in opencl.c and
 * kernels.cu.
 *
 * Invariant: every cell is computed by next_value() from the same operands as in the sequential
 * program.
 */
#include "stencil.h"

static struct starpu_perfmodel init_model = { .type = STARPU_HISTORY_BASED,
					      .symbol = "orrery_stencil_init" };
static struct starpu_perfmodel update_model = { .type = STARPU_HISTORY_BASED,
						.symbol = "orrery_stencil_update" };

#define PLANE(n, t) \
	((double *) STARPU_BLOCK_GET_PTR(buffers[n]) + \
	 (size_t) ((t) % 2) * STARPU_BLOCK_GET_LDZ(buffers[n]))
#define EDGE(n, last) \
	((double *) STARPU_VECTOR_GET_PTR(buffers[n]) + \
	 ((last) ? STARPU_VECTOR_GET_NX(buffers[n]) / 2 : 0))

int kernels_setup(const struct problem *pb)
{
	struct starpu_codelet *const updates[] = { &update_cl, NULL };

	device_call(opencl_setup);
	return pb->devices ? devices_only(updates, "stencil") : 0;
}

void kernels_end(void)
{
	device_call(opencl_end);
}

/* Somewhere between 0 and 1, without a pattern. */
double initial_value(int x, int y)
{
	return random_element(x, y) + 0.5;
}

/* Copies the first and the last row and column of a block to where its neighbours read them. */
static void store_edges(size_t b, const double *cells, double *rows, double *columns)
{
	for (size_t i = 0; i < b; i++) {
		rows[i] = cells[i];
		rows[b + i] = cells[(b - 1) * b + i];
		columns[i] = cells[i * b];
		columns[b + i] = cells[i * b + b - 1];
	}
}

static void init_cpu(void *buffers[], void *arg)
{
	int b = (int) STARPU_BLOCK_GET_NX(buffers[0]), i, j;

	starpu_codelet_unpack_args(arg, &i, &j);
	for (int x = 0; x < b; x++)
		for (int y = 0; y < b; y++) {
			PLANE(0, 0)
			[(size_t) x * (size_t) b + (size_t) y] = initial_value(i * b + x,
									       j * b + y);
			PLANE(0, 1)[(size_t) x * (size_t) b + (size_t) y] = 0;
		}
	store_edges((size_t) b, PLANE(0, 0), EDGE(1, 0), EDGE(2, 0));
}

/* A row of a block: `above` and `below` it, and the cell to the left of its first and to the right
 * of its last one. */
static void update_row(size_t b, double *restrict to, const double *cells, const double *above,
		       const double *below, double left, double right)
{
	if (b == 1) {
		to[0] = next_value(cells[0], above[0], below[0], left, right);
		return;
	}
	to[0] = next_value(cells[0], above[0], below[0], left, cells[1]);
	for (size_t y = 1; y < b - 1; y++)
		to[y] = next_value(cells[y], above[y], below[y], cells[y - 1], cells[y + 1]);
	to[b - 1] = next_value(cells[b - 1], above[b - 1], below[b - 1], cells[b - 2], right);
}

static void update_cpu(void *buffers[], void *arg)
{
	size_t b = STARPU_BLOCK_GET_NX(buffers[0]);
	const double *above = EDGE(1, 1), *below = EDGE(2, 0), *left = EDGE(3, 1),
		     *right = EDGE(4, 0), *from;
	double *to;
	int t;

	starpu_codelet_unpack_args(arg, &t);
	from = PLANE(0, t);
	to = PLANE(0, t + 1);
	for (size_t x = 0; x < b; x++)
		update_row(b, to + x * b, from + x * b, x ? from + (x - 1) * b : above,
			   x + 1 < b ? from + (x + 1) * b : below, left[x], right[x]);
	store_edges(b, to, EDGE(5, 0), EDGE(6, 0));
}

struct starpu_codelet init_cl = {
	.cpu_funcs = { init_cpu },
	.cpu_funcs_name = { "init_cpu" },
	.nbuffers = 3,
	.modes = { STARPU_W, STARPU_W, STARPU_W },
	.model = &init_model,
	.name = "init",
};

struct starpu_codelet update_cl = {
	.cpu_funcs = { update_cpu },
	.cpu_funcs_name = { "update_cpu" },
	.cuda_funcs = { update_cuda },
	.cuda_flags = { STARPU_CUDA_ASYNC },
	.opencl_funcs = { update_opencl },
	.opencl_flags = { STARPU_OPENCL_ASYNC },
	.nbuffers = 7,
	.modes = { STARPU_RW, STARPU_R, STARPU_R, STARPU_R, STARPU_R, STARPU_W, STARPU_W },
	.model = &update_model,
	.name = "update",
};
