/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernels of the conjugate gradients.
 *
 * Invariant: outside the grid every vector is zero, which is the boundary condition.
 */
#include "cg.h"

#define VECTOR(i) ((double *) STARPU_MATRIX_GET_PTR(buffers[i]))
#define SCALAR(i) (*(double *) STARPU_VARIABLE_GET_PTR(buffers[i]))
#define WIDTH(i) ((int) STARPU_MATRIX_GET_NX(buffers[i]))
#define ROWS(i) ((int) STARPU_MATRIX_GET_NY(buffers[i]))
#define COUNT(i) (WIDTH(i) * ROWS(i))

/* The row y of a strip, y = -1 and y = rows being the neighbours'; NULL outside the grid. */
static const double *row(const double *strip, int rows, int width, int y, const double *above_last,
			 const double *below_first)
{
	if (y < 0)
		return above_last;
	return y < rows ? strip + y * width : below_first;
}

static void apply_cpu(void *buffers[], void *arg)
{
	int width = WIDTH(0), rows = ROWS(0), has_above, has_below;
	const double *above, *below;

	starpu_codelet_unpack_args(arg, &has_above, &has_below);
	above = has_above ? VECTOR(2) + (ROWS(2) - 1) * width : NULL;
	below = has_below ? VECTOR(3) : NULL;
	for (int y = 0; y < rows; y++) {
		const double *up = row(VECTOR(1), rows, width, y - 1, above, below);
		const double *here = VECTOR(1) + y * width;
		const double *down = row(VECTOR(1), rows, width, y + 1, above, below);

		for (int x = 0; x < width; x++)
			VECTOR(0)
		[y * width + x] = 4 * here[x] - (up ? up[x] : 0) - (down ? down[x] : 0) -
				  (x > 0 ? here[x - 1] : 0) - (x < width - 1 ? here[x + 1] : 0);
	}
}

/* b = A times ones: 4 minus the number of neighbours. x starts from 0, so that r = p = b. */
static void start_cpu(void *buffers[], void *arg)
{
	int width = WIDTH(0), rows = ROWS(0), first, last;

	starpu_codelet_unpack_args(arg, &first, &last);
	for (int y = 0; y < rows; y++)
		for (int x = 0; x < width; x++) {
			int at = y * width + x;

			VECTOR(0)[at] = 0;
			VECTOR(1)
			[at] = (first && y == 0) + (last && y == rows - 1) + (x == 0) +
			       (x == width - 1);
			VECTOR(2)[at] = VECTOR(1)[at];
		}
}

static void dot_cpu(void *buffers[], void *arg)
{
	double sum = 0;

	(void) arg;
	for (int i = 0; i < COUNT(1); i++)
		sum += VECTOR(1)[i] * VECTOR(2)[i];
	SCALAR(0) += sum;
}

/* The ratio of two squares; an exact solution leaves 0 / 0, and then there is nothing to do. */
static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

static void update_cpu(void *buffers[], void *arg)
{
	double alpha = ratio(SCALAR(4), SCALAR(5));

	(void) arg;
	for (int i = 0; i < COUNT(0); i++) {
		VECTOR(0)[i] += alpha * VECTOR(2)[i];
		VECTOR(1)[i] -= alpha * VECTOR(3)[i];
	}
}

static void direction_cpu(void *buffers[], void *arg)
{
	double beta = ratio(SCALAR(2), SCALAR(3));

	(void) arg;
	for (int i = 0; i < COUNT(0); i++)
		VECTOR(0)[i] = VECTOR(1)[i] + beta * VECTOR(0)[i];
}

static void scalar_zero_cpu(void *buffers[], void *arg)
{
	(void) arg;
	SCALAR(0) = 0;
}

static void scalar_add_cpu(void *buffers[], void *arg)
{
	(void) arg;
	SCALAR(0) += SCALAR(1);
}

#define CODELET(kernel, n, ...) \
	struct starpu_codelet kernel##_cl = { \
		.cpu_funcs = { kernel##_cpu }, \
		.cpu_funcs_name = { #kernel "_cpu" }, \
		.nbuffers = n, \
		.modes = { __VA_ARGS__ }, \
		.name = #kernel, \
	}

CODELET(start, 3, STARPU_W, STARPU_W, STARPU_W);
CODELET(apply, 4, STARPU_W, STARPU_R, STARPU_R, STARPU_R);
CODELET(dot, 3, STARPU_RW | STARPU_COMMUTE, STARPU_R, STARPU_R);
CODELET(update, 6, STARPU_RW, STARPU_RW, STARPU_R, STARPU_R, STARPU_R, STARPU_R);
CODELET(direction, 4, STARPU_RW, STARPU_R, STARPU_R, STARPU_R);
CODELET(scalar_zero, 1, STARPU_W);
CODELET(scalar_add, 2, STARPU_RW | STARPU_COMMUTE, STARPU_R);
