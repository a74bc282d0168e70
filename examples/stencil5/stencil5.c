/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Five-point stencil with starpu_mpi_task_insert() and pruning (chapters 14.8 and 14.9 of the
 * handbook). A grid of integers is cut into one block per rank; each iteration replaces each inner
 * cell, in place, by the mean of itself and its four neighbours. Every cell is one piece of data
 * and every update one task; the runtime finds the messages.
 *
 * Invariant: tasks are submitted in the order of the sequential program, so the result equals its
 * result exactly.
 *
 * With pruning (default) a rank submits only the tasks that write or read its own cells; with
 * --no-prune every rank goes through the whole grid and the runtime drops what does not concern it.
 * Both send the same messages.
 *
 * With --redistribute the cells move to other ranks after half of the iterations, from blocks to
 * stripes of rows, and back at the end (chapter 14.15): tasks follow their cells.
 *
 *      orrery cc --both stencil5.c -o stencil5
 *      orrery run -n 4 ./stencil5 -x 40 -y 40 --niter 10 --check
 *      orrery sim -n 64 stencil5.sim -x 64 -y 64 --check
 */
#include <starpu_mpi.h>

#include "../options.h"

static const char usage[] =
	"[OPTIONS]\n"
	"Averages each cell of a grid with its four neighbours, one task per cell.\n"
	"  -x N             height of the grid (default 20)\n"
	"  -y N             width of the grid (default 20)\n"
	"  --niter N        iterations (default 10)\n"
	"  --redistribute   move the cells to other ranks after half of the iterations\n"
	"  --no-prune       submit the whole task graph on every rank\n"
	"  --check          verify the result against a sequential computation\n"
	"  -h, --help       this text\n";

static int grid_x = 20, grid_y = 20, niter = 10, prune = 1, redistribute, check;
static int rank, size;

/*
 * A distribution deals the grid out in blocks, one to a rank: this rank's are the rows [top,bottom)
 * and the columns [left,right).
 */
struct distribution {
	int blocks_x, blocks_y;
	int top, bottom, left, right;
};

static struct distribution home, stripes; /* where cells are at both ends, and in between */
static struct distribution *now = &home;  /* what tasks are submitted for */
static unsigned *cells;                   /* of this rank, at home */

/*
 * The rows [box.top,box.bottom) and the columns [box.left,box.right) have room for a handle: this
 * rank's block, and around it a border of one foreign cell, whose handles are the only foreign ones
 * that exist here. So a rank's memory does not depend on the size of the grid. If cells move, the
 * box holds both blocks.
 */
static struct distribution box;
static starpu_data_handle_t *handles;

static void stencil5_cpu(void *buffers[], void *arg)
{
	unsigned *xy = (unsigned *) STARPU_VARIABLE_GET_PTR(buffers[0]);
	unsigned sum = *xy;

	(void) arg;
	for (int i = 1; i < 5; i++)
		sum += *(unsigned *) STARPU_VARIABLE_GET_PTR(buffers[i]);
	*xy = sum / 5;
}

static struct starpu_codelet stencil5_cl = {
	.cpu_funcs = { stencil5_cpu },
	.cpu_funcs_name = { "stencil5_cpu" },
	.nbuffers = 5,
	.modes = { STARPU_RW, STARPU_R, STARPU_R, STARPU_R, STARPU_R },
	.name = "stencil5",
};

static unsigned initial(int x, int y)
{
	return (unsigned) ((x * 7919 + y * 104729) % 100000);
}

/* First index of block `b` when `n` cells are cut into `blocks` blocks. */
static int block_start(int b, int n, int blocks)
{
	return (int) ((long long) b * n / blocks);
}

/* The block that cell `i` belongs to: the inverse of block_start(). */
static int block_of(int i, int n, int blocks)
{
	return (int) ((((long long) i + 1) * blocks - 1) / n);
}

static int owner(const struct distribution *d, int x, int y)
{
	return block_of(x, grid_x, d->blocks_x) * d->blocks_y + block_of(y, grid_y, d->blocks_y);
}

static int is_mine(const struct distribution *d, int x, int y)
{
	return x >= d->top && x < d->bottom && y >= d->left && y < d->right;
}

/* Mine, or next to a cell of mine. */
static int is_known(const struct distribution *d, int x, int y)
{
	return is_mine(d, x, y) || is_mine(d, x - 1, y) || is_mine(d, x + 1, y) ||
	       is_mine(d, x, y - 1) || is_mine(d, x, y + 1);
}

/* Position among the handles of the box. */
static size_t place(int x, int y)
{
	return (size_t) (x - box.top) * (size_t) (box.right - box.left) + (size_t) (y - box.left);
}

/* The place where an own cell is stored. */
static unsigned *own_cell(int x, int y)
{
	return &cells[(size_t) (x - home.top) * (size_t) (home.right - home.left) +
		      (size_t) (y - home.left)];
}

/* The handle of a cell, NULL when this rank has nothing to do with it. */
static starpu_data_handle_t handle_of(int x, int y)
{
	return is_known(now, x, y) ? handles[place(x, y)] : NULL;
}

/* Cuts the grid into blocks_x times as many blocks as there are ranks for. */
static void distribute(struct distribution *d, int blocks_x)
{
	int i, j;

	d->blocks_x = blocks_x;
	d->blocks_y = size / blocks_x;
	i = rank / d->blocks_y;
	j = rank % d->blocks_y;
	d->top = block_start(i, grid_x, d->blocks_x);
	d->bottom = block_start(i + 1, grid_x, d->blocks_x);
	d->left = block_start(j, grid_y, d->blocks_y);
	d->right = block_start(j + 1, grid_y, d->blocks_y);
}

/* The largest divisor of `size` that makes an arrangement of blocks as square as it can be. */
static int square_blocks(void)
{
	int blocks;

	for (blocks = 1; (blocks + 1) * (blocks + 1) <= size; blocks++)
		;
	while (size % blocks)
		blocks--;
	return blocks;
}

static int max(int a, int b)
{
	return a > b ? a : b;
}

static int min(int a, int b)
{
	return a < b ? a : b;
}

static void make_box(void)
{
	const struct distribution *other = redistribute ? &stripes : &home;

	box.top = max(min(home.top, other->top) - 1, 0);
	box.bottom = min(max(home.bottom, other->bottom) + 1, grid_x);
	box.left = max(min(home.left, other->left) - 1, 0);
	box.right = min(max(home.right, other->right) + 1, grid_y);
}

/* Calls `f` for every cell that this rank knows now, in ascending order. */
static void for_known(void (*f)(int x, int y))
{
	for (int x = max(now->top - 1, 0); x < min(now->bottom + 1, grid_x); x++)
		for (int y = max(now->left - 1, 0); y < min(now->right + 1, grid_y); y++)
			if (is_known(now, x, y))
				f(x, y);
}

/* Calls `f` for every cell that has a handle here. */
static void for_registered(void (*f)(int x, int y))
{
	for (int x = box.top; x < box.bottom; x++)
		for (int y = box.left; y < box.right; y++)
			if (handles[place(x, y)])
				f(x, y);
}

static void register_cell(int x, int y)
{
	starpu_data_handle_t *handle = &handles[place(x, y)];

	if (*handle)
		return;
	if (is_mine(&home, x, y)) {
		*own_cell(x, y) = initial(x, y);
		starpu_variable_data_register(handle, STARPU_MAIN_RAM, (uintptr_t) own_cell(x, y),
					      sizeof(unsigned));
	} else /* allocated by the runtime, if it is received at all */
		starpu_variable_data_register(handle, -1, 0, sizeof(unsigned));
	starpu_mpi_data_register(*handle, (starpu_mpi_tag_t) x * grid_y + y, owner(&home, x, y));
}

static void migrate_cell(int x, int y)
{
	starpu_mpi_data_migrate(MPI_COMM_WORLD, handles[place(x, y)], owner(now, x, y));
}

/* Moves the cells to their places in another distribution. All ranks do so between the same tasks;
 * that is a matter of order, and nothing waits for it. */
static void move_to(struct distribution *next)
{
	now = next;
	for_known(register_cell);
	for_registered(migrate_cell);
	starpu_mpi_cache_flush_all_data(
		MPI_COMM_WORLD); /* of cells that others will write unseen */
}

static void unregister_cell(int x, int y)
{
	starpu_data_unregister(handles[place(x, y)]);
}

static void update_cell(int x, int y)
{
	int ret;

	if (x == 0 || x == grid_x - 1 || y == 0 || y == grid_y - 1)
		return;
	ret = starpu_mpi_task_insert(MPI_COMM_WORLD, &stencil5_cl, STARPU_RW, handle_of(x, y),
				     STARPU_R, handle_of(x - 1, y), STARPU_R, handle_of(x + 1, y),
				     STARPU_R, handle_of(x, y - 1), STARPU_R, handle_of(x, y + 1),
				     0);
	if (ret < 0) {
		fprintf(stderr,
			"stencil5: rank %d cannot insert the task of cell (%d,%d): %s; is there a CPU worker?\n",
			rank, x, y, strerror(-ret));
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static void iterate(int times)
{
	for (int loop = 0; loop < times; loop++)
		if (prune)
			for_known(update_cell);
		else
			for (int x = 0; x < grid_x; x++)
				for (int y = 0; y < grid_y; y++)
					update_cell(x, y);
}

/* Computes the whole grid sequentially and returns how many of this rank's cells differ from it;
 * -1: no memory. */
static long long count_wrong(void)
{
	unsigned *all = malloc((size_t) grid_x * (size_t) grid_y * sizeof(*all));
	const int w = grid_y;
	long long wrong = 0;

	if (!all)
		return -1;
	for (int x = 0; x < grid_x; x++)
		for (int y = 0; y < grid_y; y++)
			all[(size_t) x * w + y] = initial(x, y);
	for (int loop = 0; loop < niter; loop++)
		for (int x = 1; x < grid_x - 1; x++)
			for (int y = 1; y < grid_y - 1; y++) {
				unsigned *c = &all[(size_t) x * w + y];

				*c = (*c + c[-w] + c[w] + c[-1] + c[1]) / 5;
			}
	for (int x = home.top; x < home.bottom; x++)
		for (int y = home.left; y < home.right; y++)
			wrong += *own_cell(x, y) != all[(size_t) x * w + y];
	free(all);
	return wrong;
}

/* Every rank verifies its own cells; all return the same status. */
static int verify(void)
{
	long long mine = count_wrong(), all[2], part[2] = { mine > 0 ? mine : 0, mine < 0 };

	MPI_Allreduce(part, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0 && all[1])
		fprintf(stderr,
			"check: %lld ranks have no memory for the sequential computation; use a smaller grid\n",
			all[1]);
	else if (rank == 0 && all[0])
		fprintf(stderr,
			"check: %lld of %lld cells differ from the sequential computation\n",
			all[0], (long long) grid_x * grid_y);
	else if (rank == 0)
		printf("check: OK\n");
	return all[0] || all[1];
}

static void parse(struct options *o, int argc, char **argv)
{
	for (options_begin(o, argc, argv); options_more(o);)
		if (options_int(o, "-x", NULL, 3, 1000000, &grid_x))
			;
		else if (options_int(o, "-y", NULL, 3, 1000000, &grid_y))
			;
		else if (options_int(o, "--niter", "-niter", 0, 1000000000, &niter))
			;
		else if (options_flag(o, "--no-prune", NULL))
			prune = 0;
		else if (options_flag(o, "--redistribute", NULL))
			redistribute = 1;
		else if (options_flag(o, "--check", NULL))
			check = 1;
		else
			options_unknown(o);
}

/* The computation proper; returns its duration in µs, the barriers at both ends included. */
static double run(void)
{
	double start;

	for_known(register_cell);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	start = starpu_timing_now();
	if (redistribute) {
		iterate(niter / 2);
		move_to(&stripes);
		iterate(niter - niter / 2);
		move_to(&home);
	} else
		iterate(niter);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_mpi_barrier(MPI_COMM_WORLD);
	return starpu_timing_now() - start;
}

int main(int argc, char **argv)
{
	struct options o;
	double duration;
	int ret;

	parse(&o, argc, argv);
	ret = starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL);
	if (ret) {
		fprintf(stderr, "stencil5: the runtime did not start (%s)\n", strerror(-ret));
		return 1;
	}
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	ret = options_report(&o, rank, "stencil5", usage);
	if (ret >= 0) {
		starpu_mpi_shutdown();
		return ret;
	}

	distribute(&home, square_blocks());
	distribute(&stripes, size);
	make_box();
	cells = calloc((size_t) (home.bottom - home.top) * (size_t) (home.right - home.left) + 1,
		       sizeof(*cells));
	handles = calloc((size_t) (box.bottom - box.top) * (size_t) (box.right - box.left) + 1,
			 sizeof(*handles));
	if (!cells || !handles) {
		fprintf(stderr,
			"stencil5: no memory for the cells of rank %d; use a smaller grid or more ranks\n",
			rank);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	duration = run();
	if (rank == 0)
		printf("stencil5 nodes=%d x=%d y=%d niter=%d tasks=%lld time_s=%.6f\n", size,
		       grid_x, grid_y, niter, (long long) (grid_x - 2) * (grid_y - 2) * niter,
		       duration / 1e6);
	for_registered(unregister_cell); /* brings the results back into `cells` */
	ret = check ? verify() : 0;
	free(handles);
	free(cells);
	starpu_mpi_shutdown();
	return ret;
}
