/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tiled LU factorisation, A = L*U in double precision, over a block-cyclic distribution. The matrix
 * is diagonally dominant by columns, so that partial pivoting would exchange no rows; the kernel of
 * the pivot tile looks for pivots all the same, and says so if it finds one.
 *
 * Invariant: as in the Cholesky example, which explains itself at more length: a rank inserts the
 * tasks that it executes or sends a tile for, and no others.
 *
 *      orrery cc --both *.c -lm -o lu          (-DHAVE_CBLAS -DHAVE_LAPACKE -llapacke
 *                                              -lopenblas for fast kernels)
 *      orrery run -n 4 ./lu -nt 16 -b 128 --check
 *      orrery sim -n 64 lu.sim -nt 16 -b 32 --check
 *
 * Three versions share kernels, data and check: messages that the runtime finds (factor.c),
 * messages that the program asks for (--explicit, explicit.c), and matrices larger than main memory
 * (--disk, disk.c).
 *
 * Rank 0 prints one line: nodes, tiles per dimension, rows of a tile, tasks (without those that
 * generate A), seconds, and Gflop/s. kernels.c holds the codelets, tiles.c the data, factor.c the
 * algorithm, check.c the verification.
 */
#include <stdio.h>

#include "lu.h"

static const char usage[] =
	"[OPTIONS]\n"
	"Factors a diagonally dominant matrix of nt*b rows into L*U.\n"
	"  -nt N            tiles per dimension (default 8)\n"
	"  -b N             rows of a tile (default 64)\n"
	"  -p N, -q N       rows and columns of the process grid, p*q = ranks\n"
	"                   (default: as square as possible, p <= q)\n"
	"  --explicit       send and receive tiles instead of leaving that to the runtime\n"
	"  --disk FOLDER    work in little memory (STARPU_LIMIT_CPU_MEM, 2 MiB unless set);\n"
	"                   tiles that do not fit go to the folder\n"
	"  --devices        only devices factor (CUDA, OpenCL)\n"
	"  --clblast        those of OpenCL by CLBlast instead of plain kernels\n"
	"  --check          verify the factors against the matrix; needs kernels that run\n"
	"  -h, --help       this text\n";

/* The largest nt and b still give a matrix whose order is an int. */
static void parse(struct options *o, int argc, char **argv, struct problem *pb)
{
	for (options_begin(o, argc, argv); options_more(o);)
		if (options_int(o, "-nt", "--nt", 1, 20000, &pb->nt))
			;
		else if (options_int(o, "-b", "--tile", 1, 40000, &pb->b))
			;
		else if (grid_option(o, &pb->grid))
			;
		else if (options_flag(o, "--check", NULL))
			pb->check = 1;
		else if (options_flag(o, "--devices", NULL))
			pb->devices = 1;
		else if (options_flag(o, "--clblast", NULL))
			pb->clblast = 1;
		else if (options_flag(o, "--explicit", NULL))
			pb->explicit = 1;
		else if (options_text(o, "--disk", &pb->disk))
			;
		else
			options_unknown(o);
}

static void print_result(const struct problem *pb, double seconds)
{
	long long nt = pb->nt;
	double n = (double) pb->nt * pb->b;
	double flops = 2 * n * n * n / 3 - n * n / 2 - n / 6;

	print_factored(&pb->grid, "lu", pb->nt, pb->b, nt * (nt + 1) * (2 * nt + 1) / 6, flops,
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
	tiles_register(pb);
	start = settle(pb->grid.comm);
	if (pb->explicit)
		factor_explicitly(pb);
	else
		factor_insert(pb);
	print_result(pb, (settle(pb->grid.comm) - start) * 1e-6);

	failed = kernels_singular();
	if (failed)
		fprintf(stderr,
			"lu: rank %d: tile (%d,%d) is singular or wants an exchange of rows\n",
			pb->grid.rank, failed - 1, failed - 1);
	if (pb->check)
		status = check_factor(pb);
	if (pb->disk)
		disk_print(pb);
	tiles_unregister(pb);
	kernels_end();
	return status || failed;
}

int main(int argc, char **argv)
{
	struct problem pb = { .grid = { .comm = MPI_COMM_WORLD }, .nt = 8, .b = 64 };
	struct options o;
	int ret;

	parse(&o, argc, argv, &pb);
	if (pb.disk)
		disk_limit_memory();
	ret = grid_start(&pb.grid, &argc, &argv, &o, "lu", usage);
	if (ret >= 0)
		return ret;
	if (pb.disk && disk_open(&pb))
		MPI_Abort(pb.grid.comm, 1);
	ret = factor(&pb);
	starpu_mpi_shutdown();
	if (pb.disk)
		disk_close(&pb);
	return ret;
}
