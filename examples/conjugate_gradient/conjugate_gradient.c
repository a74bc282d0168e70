/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The method of conjugate gradients for A x = b, where A is the five-point Laplacian of a square
 * grid. Vectors are cut into strips of the grid's rows, which ranks own in turn blocks. A strip of
 * A p needs the strips above and below; the runtime finds these messages. Scalar products are
 * reductions between ranks (STARPU_MPI_REDUX), and their results go to all ranks because tasks
 * there read them.
 *
 * The scalars stay in data of the runtime: the program submits iterations without waiting for any,
 * and looks at the residual only now and then.
 *
 * Invariant: every rank inserts all tasks in the order of the sequential program; the right-hand
 * side is A times the vector of ones, so that the solution is known.
 *
 *      orrery cc --both *.c -lm -o conjugate_gradient
 *      orrery run -n 4 ./conjugate_gradient -n 100
 *      orrery sim -n 16 conjugate_gradient.sim
 */
#include <math.h>

#include "cg.h"

#include "../options.h"

static const char usage[] =
	"[OPTIONS]\n"
	"Solves a Poisson equation on a square grid by conjugate gradients.\n"
	"  -n N             rows and columns of the grid (default 48)\n"
	"  --strips N       strips of rows (default: two for each rank)\n"
	"  --iterations N   at most (default 10 n)\n"
	"  --look N         iterations between two looks at the residual (default 20)\n"
	"  -h, --help       this text\n";

/* The residual may be this part of the first one at the end. */
#define TOLERANCE 1e-10

enum vector { X, R, P, Q, VECTORS };
enum scalar { PQ, OLD, NEW, SCALARS }; /* p.q, and r.r of two iterations */

static int n = 48, strips, iterations, look = 20, rank, size, refused;
static starpu_data_handle_t *vector[VECTORS]; /* of each, the strips */
static starpu_data_handle_t scalar[SCALARS];

static int first_row(int strip)
{
	return (int) ((long long) strip * n / strips);
}

static int owner(int strip)
{
	return (int) ((long long) strip * size / strips);
}

/* ---- data ---- */

static int register_data(void)
{
	for (int v = 0; v < VECTORS; v++) {
		vector[v] = calloc((size_t) strips, sizeof(*vector[v]));
		if (!vector[v])
			return 1;
		for (int s = 0; s < strips; s++) {
			int rows = first_row(s + 1) - first_row(s);

			starpu_matrix_data_register(&vector[v][s], -1, 0, (uint32_t) n,
						    (uint32_t) n, (uint32_t) rows, sizeof(double));
			starpu_mpi_data_register(vector[v][s], v * strips + s, owner(s));
		}
	}
	for (int i = 0; i < SCALARS; i++) {
		starpu_variable_data_register(&scalar[i], -1, 0, sizeof(double));
		starpu_mpi_data_register(scalar[i], VECTORS * strips + i, 0);
		starpu_data_set_reduction_methods(scalar[i], &scalar_add_cl, &scalar_zero_cl);
	}
	return 0;
}

static void unregister_data(void)
{
	for (int i = 0; i < SCALARS; i++)
		starpu_data_unregister(scalar[i]);
	for (int v = 0; v < VECTORS; v++) {
		for (int s = 0; s < strips; s++)
			starpu_data_unregister(vector[v][s]);
		free(vector[v]);
	}
}

/* ---- the steps of an iteration, for all strips ---- */

static void insert_start(void)
{
	for (int s = 0; s < strips; s++) {
		int top = s == 0, bottom = s == strips - 1;

		refused += starpu_mpi_task_insert(MPI_COMM_WORLD, &start_cl, STARPU_VALUE, &top,
						  sizeof(top), STARPU_VALUE, &bottom,
						  sizeof(bottom), STARPU_W, vector[X][s], STARPU_W,
						  vector[R][s], STARPU_W, vector[P][s], 0) != 0;
	}
}

/* q = A p; at the edge of the grid a strip stands for its neighbour, which is not read. */
static void insert_apply(void)
{
	for (int s = 0; s < strips; s++) {
		int above = s > 0, below = s < strips - 1;

		refused += starpu_mpi_task_insert(MPI_COMM_WORLD, &apply_cl, STARPU_VALUE, &above,
						  sizeof(above), STARPU_VALUE, &below,
						  sizeof(below), STARPU_W, vector[Q][s], STARPU_R,
						  vector[P][s], STARPU_R, vector[P][s - above],
						  STARPU_R, vector[P][s + below], 0) != 0;
	}
}

/* sum = a . b; each rank adds up its strips, then the runtime the ranks. */
static void insert_dot(starpu_data_handle_t sum, enum vector a, enum vector b)
{
	refused += starpu_mpi_task_insert(MPI_COMM_WORLD, &scalar_zero_cl, STARPU_W, sum, 0) != 0;
	for (int s = 0; s < strips; s++)
		refused += starpu_mpi_task_insert(MPI_COMM_WORLD, &dot_cl, STARPU_MPI_REDUX, sum,
						  STARPU_R, vector[a][s], STARPU_R, vector[b][s],
						  STARPU_EXECUTE_ON_DATA, vector[a][s], 0) != 0;
}

/* x += alpha p and r -= alpha q, with alpha = old / pq. */
static void insert_update(starpu_data_handle_t old)
{
	for (int s = 0; s < strips; s++)
		refused += starpu_mpi_task_insert(MPI_COMM_WORLD, &update_cl, STARPU_RW,
						  vector[X][s], STARPU_RW, vector[R][s], STARPU_R,
						  vector[P][s], STARPU_R, vector[Q][s], STARPU_R,
						  old, STARPU_R, scalar[PQ], 0) != 0;
}

/* p = r + beta p, with beta = new / old. */
static void insert_direction(starpu_data_handle_t new, starpu_data_handle_t old)
{
	for (int s = 0; s < strips; s++)
		refused += starpu_mpi_task_insert(MPI_COMM_WORLD, &direction_cl, STARPU_RW,
						  vector[P][s], STARPU_R, vector[R][s], STARPU_R,
						  new, STARPU_R, old, 0) != 0;
}

/* ---- the method ---- */

/* The value of a scalar, on all ranks. */
static double value_of(starpu_data_handle_t h)
{
	double value;

	starpu_mpi_get_data_on_all_nodes_detached(MPI_COMM_WORLD, h);
	starpu_data_acquire(h, STARPU_R);
	value = *(const double *) starpu_variable_get_local_ptr(h);
	starpu_data_release(h);
	return value;
}

/* Returns the number of iterations. */
static int solve(void)
{
	starpu_data_handle_t old = scalar[OLD], new = scalar[NEW];
	double first;
	int done = 0;

	insert_start();
	insert_dot(old, R, R);
	first = value_of(old);
	while (done < iterations) {
		starpu_data_handle_t last = old;

		insert_apply();
		insert_dot(scalar[PQ], P, Q);
		insert_update(old);
		insert_dot(new, R, R);
		insert_direction(new, old);
		old = new;
		new = last;
		if (++done % look == 0 && value_of(old) <= TOLERANCE * TOLERANCE * first)
			break;
	}
	return done;
}

/* The largest distance of an element of this rank from 1. */
static double farthest(void)
{
	double far = 0;

	for (int s = 0; s < strips; s++) {
		const double *x;
		int count = n * (first_row(s + 1) - first_row(s));

		if (owner(s) != rank)
			continue;
		starpu_data_acquire(vector[X][s], STARPU_R);
		x = (const double *) starpu_matrix_get_local_ptr(vector[X][s]);
		for (int i = 0; i < count; i++)
			far = fabs(x[i] - 1) <= far ? far : fabs(x[i] - 1); /* keeps a NaN */
		starpu_data_release(vector[X][s]);
	}
	return far;
}

/* Returns the exit status. */
static int run(void)
{
	double mine, far = 0, start = starpu_timing_now();
	int done, wrong;

	if (register_data())
		return 1;
	done = solve();
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start = (starpu_timing_now() - start) * 1e-6;
	mine = refused ? INFINITY : farthest();
	MPI_Allreduce(&mine, &far, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	wrong = !(far < 1e-6);
	if (rank == 0)
		printf("conjugate_gradient nodes=%d n=%d strips=%d iterations=%d time_s=%.6f\n"
		       "check: %s (an element is off by %.2g)\n",
		       size, n, strips, done, start, wrong ? "FAILED" : "OK", far);
	unregister_data();
	return wrong;
}

int main(int argc, char **argv)
{
	struct options o;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "-n", NULL, 1, 10000, &n))
			;
		else if (options_int(&o, "--strips", NULL, 1, 10000, &strips))
			;
		else if (options_int(&o, "--iterations", NULL, 1, 1 << 30, &iterations))
			;
		else if (options_int(&o, "--look", NULL, 1, 1 << 30, &look))
			;
		else
			options_unknown(&o);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	strips = strips ? strips : 2 * size;
	strips = strips < n ? strips : n;
	iterations = iterations ? iterations : 10 * n;
	ret = options_report(&o, rank, "conjugate_gradient", usage);
	if (ret < 0)
		ret = run();
	starpu_mpi_shutdown();
	return ret;
}
