/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Heat in a plate whose opposite sides touch (a torus): each iteration replaces every cell by a
 * mean of itself and its four neighbours. The plate is cut into blocks, one task per block and
 * iteration; neighbours exchange the edges of blocks only, and iterations overlap as far as the
 * data allow.
 *
 * Invariant: the result equals that of the sequential program exactly.
 *
 *      orrery cc --both *.c -lm -o stencil
 *      orrery run -n 4 ./stencil -nx 8 -ny 8 -b 64 --niter 20 --check
 *      orrery sim -n 64 stencil.sim -nx 16 -ny 16 -b 32 --niter 20 --check
 *
 * Rank 0 prints one line: nodes, blocks per dimension, rows of a block, iterations, tasks, seconds,
 * and updated cells per microsecond. With --checkpoint, a run that lost a rank goes on from its
 * last checkpoint (orrery run --restart). kernels.c holds the codelets, blocks.c data and tasks,
 * check.c the verification.
 */
#include <stdio.h>

#include "stencil.h"

static const char usage[] =
	"[OPTIONS]\n"
	"Spreads heat over nx*b by ny*b cells.\n"
	"  -nx N, -ny N     rows and columns of blocks (default 4)\n"
	"  -b N             rows and columns of a block (default 64)\n"
	"  --niter N        iterations (default 10)\n"
	"  -p N, -q N       rows and columns of the process grid, p*q = ranks\n"
	"                   (default: as square as possible, p <= q)\n"
	"  --checkpoint N   a checkpoint every N iterations (default: none), in the folder\n"
	"                   $ORRERY_CHECKPOINT_DIR; goes on from the last one that is there\n"
	"  --devices        only devices iterate (CUDA, OpenCL)\n"
	"  --check          verify the result against a sequential computation\n"
	"  -h, --help       this text\n";

/* The largest numbers still give a plate whose sides are ints. */
static void parse(struct options *o, int argc, char **argv, struct problem *pb)
{
	for (options_begin(o, argc, argv); options_more(o);)
		if (options_int(o, "-nx", "--nx", 1, 20000, &pb->nx))
			;
		else if (options_int(o, "-ny", "--ny", 1, 20000, &pb->ny))
			;
		else if (options_int(o, "-b", "--block", 1, 20000, &pb->b))
			;
		else if (options_int(o, "--niter", "-niter", 0, 100000000, &pb->niter))
			;
		else if (options_int(o, "--checkpoint", NULL, 1, 100000000, &pb->period))
			;
		else if (options_flag(o, "--devices", NULL))
			pb->devices = 1;
		else if (grid_option(o, &pb->grid))
			;
		else if (options_flag(o, "--check", NULL))
			pb->check = 1;
		else
			options_unknown(o);
}

/* Gives each rank a rectangle of blocks. */
static void distribute(struct problem *pb)
{
	const struct grid *g = &pb->grid;

	pb->top = part_start(g->p, pb->nx, g->P);
	pb->bottom = part_start(g->p + 1, pb->nx, g->P);
	pb->left = part_start(g->q, pb->ny, g->Q);
	pb->right = part_start(g->q + 1, pb->ny, g->Q);
}

static void print_result(const struct problem *pb, double seconds)
{
	long long tasks = (long long) pb->nx * pb->ny * pb->niter;
	double cells = (double) tasks * pb->b * pb->b;

	if (pb->grid.rank == 0)
		printf("stencil nodes=%d blocks=%dx%d block=%d niter=%d tasks=%lld time_s=%.6f cells_per_us=%.3f\n",
		       pb->grid.size, pb->nx, pb->ny, pb->b, pb->niter, tasks, seconds,
		       seconds > 0 ? cells / seconds * 1e-6 : 0);
}

/* The work between start and end of the runtime; returns the exit status. */
static int iterate(struct problem *pb)
{
	double start;
	int status;

	status = kernels_setup(pb);
	if (status)
		return status;
	distribute(pb);
	blocks_register(pb);
	if (!pb->period || !checkpoint_begin(pb))
		blocks_generate(pb);
	start = settle(pb->grid.comm);
	times_begin();
	blocks_iterate(pb);
	print_result(pb, (settle(pb->grid.comm) - start) * 1e-6);
	times_print(&pb->grid, "stencil");
	status = pb->check ? check_blocks(pb) : 0;
	if (pb->period)
		checkpoint_end();
	blocks_unregister(pb);
	kernels_end();
	return status;
}

int main(int argc, char **argv)
{
	struct problem pb = {
		.grid = { .comm = MPI_COMM_WORLD }, .nx = 4, .ny = 4, .b = 64, .niter = 10
	};
	struct options o;
	int ret;

	parse(&o, argc, argv, &pb);
	ret = grid_start(&pb.grid, &argc, &argv, &o, "stencil", usage);
	if (ret >= 0)
		return ret;
	ret = iterate(&pb);
	starpu_mpi_shutdown();
	return ret;
}
