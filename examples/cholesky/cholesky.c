/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tiled Cholesky factorisation, A = L*L^T in double (or single) precision, over a block-cyclic
 * distribution. It shows what a program for large machines does: pruned insertion of tasks, data
 * without memory before it is needed, received tiles given back early, priorities along the
 * critical path, performance models, and its own verification.
 *
 * Invariant: what a rank does and stores follows what it takes part in; only one array of 8 bytes
 * per tile, and the loop that fills it, are as large as the whole matrix.
 *
 *      orrery cc --both *.c -lm -o cholesky            (-DHAVE_CBLAS -DHAVE_LAPACKE -llapacke
 *        -lopenblas for fast kernels)
 *      orrery run -n 4 ./cholesky -nt 16 -b 128 --check
 *      orrery sim -n 64 cholesky.sim -nt 16 -b 32 --check
 *      orrery sim -n 1024 --kernels skip cholesky.sim -nt 128 -b 512
 *
 * With the measurements of another runtime's Cholesky, whose models are called chol_model_potrf and
 * so on (single precision): orrery sim --machine NAME ... cholesky.sim --single --models
 * chol_model_ -nt 32 -b 960
 *
 * Rank 0 prints one line: nodes, tiles per dimension, rows of a tile, tasks (without those that
 * generate A), seconds, and Gflop/s. kernels.c holds the codelets, tiles.c the data, factor.c the
 * algorithm, checkpoint.c what a run goes on from that lost a rank (orrery run --restart), phases.c
 * what changes when it grows and shrinks (--sizes, --elastic), check.c the verification.
 */
#include <stdio.h>

#include "cholesky.h"

static const char usage[] =
	"[OPTIONS]\n"
	"Factors a symmetric positive definite matrix of nt*b rows.\n"
	"  -nt N            tiles per dimension (default 8)\n"
	"  -b N             rows of a tile (default 64)\n"
	"  -p N, -q N       rows and columns of the process grid, p*q = ranks\n"
	"                   (default: as square as possible, p <= q)\n"
	"  -np, --no-prune  go through the whole task graph on every rank\n"
	"  -s, --single     single precision\n"
	"  --devices        only devices factor (CUDA, OpenCL)\n"
	"  --clblast        those of OpenCL by CLBlast instead of plain kernels\n"
	"  --models PREFIX  the kernels' performance models are PREFIXpotrf, PREFIXtrsm, PREFIXsyrk, PREFIXgemm\n"
	"                   (default: orrery_dpotrf and so on, orrery_spotrf with --single)\n"
	"  --checkpoint N   a checkpoint every N steps (default: none), in the folder\n"
	"                   $ORRERY_CHECKPOINT_DIR; goes on from the last one that is there\n"
	"  --sizes N,N,...  ranks in use in phases of nt/n steps each, for instance 2,4,3: the\n"
	"                   program grows and shrinks, and tiles move (default: all ranks)\n"
	"  --elastic        processes join and leave as the resource manager says: start it with\n"
	"                   orrery run (or sim) --elastic\n"
	"  --check          verify the factor against the matrix; needs kernels that run\n"
	"  -h, --help       this text\n";

/* The largest nt and b still give a matrix whose order is an int. */
static void parse(struct options *o, int argc, char **argv, struct problem *pb)
{
	for (options_begin(o, argc, argv); options_more(o);)
		if (options_int(o, "-nt", "--nt", 1, 40000, &pb->nt))
			;
		else if (options_int(o, "-b", "--tile", 1, 40000, &pb->b))
			;
		else if (grid_option(o, &pb->grid))
			;
		else if (options_flag(o, "--no-prune", "-np"))
			pb->prune = 0;
		else if (options_flag(o, "--single", "-s"))
			pb->single = 1;
		else if (options_flag(o, "--devices", NULL))
			pb->devices = 1;
		else if (options_flag(o, "--clblast", NULL))
			pb->clblast = 1;
		else if (options_int(o, "--checkpoint", NULL, 1, 40000, &pb->period))
			;
		else if (options_text(o, "--models", &pb->models))
			;
		else if (options_sizes(o, &pb->phases))
			;
		else if (options_flag(o, "--elastic", NULL))
			pb->elastic = 1;
		else if (options_flag(o, "--check", NULL))
			pb->check = 1;
		else
			options_unknown(o);
	if (!o->error[0] && (pb->phases.n != 0) + (pb->period != 0) + pb->elastic > 1)
		snprintf(
			o->error, sizeof(o->error),
			"--sizes and --checkpoint exclude each other, and --elastic both: take one of them");
}

static void print_result(const struct problem *pb, double seconds)
{
	long long nt = pb->nt;
	double n = (double) pb->nt * pb->b;
	double flops = n * n * n / 3 + n * n / 2 + n / 6;

	print_factored(&pb->grid, "cholesky", pb->nt, pb->b, nt * (nt + 1) * (nt + 2) / 6, flops,
		       seconds);
}

/* The work between start and end of the runtime; returns the exit status. */
static int factor(struct problem *pb)
{
	double start;
	int failed, status = 0;

	status = kernels_setup(pb);
	if (status)
		return status;
	phases_start(pb);
	tiles_register(pb);
	if (!pb->joined && (!pb->period || !checkpoint_begin(pb)))
		tiles_generate(pb);
	start = pb->joined ? 0 : settle(pb->grid.comm);
	times_begin();
	factor_insert(pb);
	if (!pb->left) {
		print_result(pb, (settle(pb->grid.comm) - start) * 1e-6);
		times_print(&pb->grid, "cholesky");
	}
	failed = kernels_not_definite();
	if (failed)
		fprintf(stderr, "cholesky: rank %d: tile (%d,%d) is not positive definite\n",
			pb->grid.rank, failed - 1, failed - 1);
	if (pb->check && !pb->left)
		status = check_factor(pb);
	if (pb->period)
		checkpoint_end();
	tiles_unregister(pb);
	phases_end(pb);
	kernels_end();
	return status || failed;
}

int main(int argc, char **argv)
{
	struct problem pb = { .grid = { .comm = MPI_COMM_WORLD }, .nt = 8, .b = 64, .prune = 1 };
	struct options o;
	int ret;

	parse(&o, argc, argv, &pb);
	ret = pb.elastic ? phases_begin(&pb, &argc, &argv, &o, usage)
			 : grid_start(&pb.grid, &argc, &argv, &o, "cholesky", usage);
	if (ret >= 0)
		return ret;
	ret = factor(&pb);
	if (pb.elastic)
		orrery_elastic_end();
	else
		starpu_mpi_shutdown();
	return ret;
}
