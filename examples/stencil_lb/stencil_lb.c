/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Heat in a rod with load balancing between ranks (starpu_mpi_lb.h). The rod is cut into blocks,
 * one task per block and iteration; neighbours exchange the ends of blocks. One rank is slow: a
 * core that other programs use as well, or an older computer. With load balancing, blocks at the
 * border of its part go to its neighbours until all need the same time. Or the program grows and
 * shrinks (orrery_resize.h): at the beginning of each of some phases, another number of ranks is in
 * use; or a resource manager gives it processes and takes them back.
 *
 * Invariant: the result equals that of the sequential program exactly, wherever blocks are.
 *
 *      orrery cc --both stencil_lb.c -o stencil_lb
 *      orrery run -n 2 ./stencil_lb --slow 0 --check
 *      orrery sim -n 4 --cpus 2 stencil_lb.sim --slow 1 --check
 *      orrery sim -n 64 stencil_lb.sim --blocks 512 --sizes 16,64,8 --check
 *      orrery cc --elastic stencil_lb.c -o stencil_lb
 *      orrery run --elastic -n 2 --max 4 --manager script:FILE ./stencil_lb --elastic --check
 *
 * Rank 0 prints one line: nodes, blocks, iterations, blocks that have another owner at the end than
 * at the start, and seconds. A slow rank does the work of each task several times; the cost model
 * says so, too, for the simulated run.
 */
#include <starpu_mpi.h>
#include <starpu_mpi_lb.h>

#include "../resize.h"

static const char usage[] =
	"[OPTIONS]\n"
	"Spreads heat along a rod of blocks*b cells; blocks move from slow ranks to others.\n"
	"  --blocks N       blocks of the rod (default 64)\n"
	"  -b N             cells of a block (default 1000)\n"
	"  --cell-ns N      nanoseconds that a cell takes in a simulated run (default 1)\n"
	"  --niter N        iterations (default 40)\n"
	"  --slow RANK      the rank that is slow (default: none)\n"
	"  --factor N       how slow it is (default 4)\n"
	"  --no-balance     blocks stay where they are (STARPU_MPI_LB=heat overrides it)\n"
	"  --sizes N,N,...  ranks in use in phases of niter/n iterations each, instead of load\n"
	"                   balancing: the program grows and shrinks (default: all ranks)\n"
	"  --elastic        processes join and leave as the resource manager says: start it with\n"
	"                   orrery run (or sim) --elastic\n"
	"  --check          verify the result against a sequential computation\n"
	"  -h, --help       this text\n";

static int nblocks = 64, b = 1000, niter = 40, cell_ns = 1, slow = -1, factor = 4, balance = 1,
	   check;
static MPI_Comm comm = MPI_COMM_WORLD;
static int rank, size;
static struct phases phases;
static int elastic, joined, left; /* --elastic; this rank came later; it has left */
static struct progress now;       /* now.step is inserted next */
static struct watch watch;
static orrery_distribution_t rule; /* who owns what when it grows and shrinks, else NULL */

/* A block: its cells for two times in turn, and its first and last cell for each of them, which its
 * neighbours read. All ranks know all blocks. */
static struct block {
	starpu_data_handle_t cells, ends[2];
	double *home; /* where the cells are on the rank that owned it first; NULL: only the runtime
		       * knows
		       */
} * blocks;

static double initial(int x)
{
	return (double) ((long long) x * 7919 % 1000);
}

static double next_value(double cell, double left, double right)
{
	return cell + 0.25 * ((left + right) - 2 * cell);
}

/* The rank that owns a block at the start; with --elastic, what this rank registers it with. */
static int first_owner(int i)
{
	return rule ? orrery_distribution_owner(
			      rule, i, elastic ? orrery_resize_size(comm) : phases.sizes[0])
		    : (int) ((((long long) i + 1) * size - 1) / nblocks);
}

static int owner(int i)
{
	return starpu_mpi_data_get_rank(blocks[i].cells);
}

/* ---- the task ---- */

static void step(int n, const double *from, double *to, double left, double right)
{
	for (int x = 0; x < n; x++)
		to[x] = next_value(from[x], x ? from[x - 1] : left,
				   x + 1 < n ? from[x + 1] : right);
}

/* RW: cells; R: ends of the block to the left and of the one to the right; W: its own ends of the
 * next time; value: the time. */
static void update_cpu(void *buffers[], void *arg)
{
	double *cells = (double *) STARPU_VECTOR_GET_PTR(buffers[0]);
	const double *left = (const double *) STARPU_VECTOR_GET_PTR(buffers[1]),
		     *right = (const double *) STARPU_VECTOR_GET_PTR(buffers[2]);
	double *ends = (double *) STARPU_VECTOR_GET_PTR(buffers[3]);
	int n = (int) STARPU_VECTOR_GET_NX(buffers[0]) / 2, t;

	starpu_codelet_unpack_args(arg, &t);
	const double *from = cells + (t % 2 ? n : 0);
	double *to = cells + (t % 2 ? 0 : n);
	for (int times = rank == slow ? factor : 1; times; times--)
		step(n, from, to, left[1], right[0]);
	ends[0] = to[0];
	ends[1] = to[n - 1];
}

/* Microseconds. */
static double update_us(struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return 1e-3 * cell_ns * b * (rank == slow ? factor : 1);
}

static struct starpu_perfmodel update_model = { .type = STARPU_COMMON, .cost_function = update_us };
static struct starpu_codelet update_cl = {
	.cpu_funcs = { update_cpu },
	.cpu_funcs_name = { "update_cpu" },
	.nbuffers = 4,
	.modes = { STARPU_RW, STARPU_R, STARPU_R, STARPU_W },
	.model = &update_model,
	.name = "update",
};

static void fill(int i, double *cells, double *ends)
{
	for (int x = 0; x < b; x++)
		cells[x] = initial(i * b + x);
	ends[0] = cells[0];
	ends[1] = cells[b - 1];
}

/* W: cells, their ends; value: the number of the block. */
static void init_cpu(void *buffers[], void *arg)
{
	int i;

	starpu_codelet_unpack_args(arg, &i);
	fill(i, (double *) STARPU_VECTOR_GET_PTR(buffers[0]),
	     (double *) STARPU_VECTOR_GET_PTR(buffers[1]));
}

static struct starpu_codelet init_cl = {
	.cpu_funcs = { init_cpu },
	.cpu_funcs_name = { "init_cpu" },
	.nbuffers = 2,
	.modes = { STARPU_W, STARPU_W },
	.model = &update_model,
	.name = "init",
};

/* ---- what load balancing asks ---- */

static void *must_have(size_t size)
{
	void *p = calloc(1, size);

	if (!p) {
		fprintf(stderr, "stencil_lb: no memory; use fewer or smaller blocks\n");
		MPI_Abort(comm, 1);
	}
	return p;
}

static void get_neighbours(int **ids, int *n)
{
	*ids = must_have(2 * sizeof(**ids));
	*n = 0;
	if (rank > 0)
		(*ids)[(*n)++] = rank - 1;
	if (rank + 1 < size)
		(*ids)[(*n)++] = rank + 1;
}

/* The block at the border to the neighbour; the last one stays. */
static void get_unit(starpu_data_handle_t **unit, int *n, int to)
{
	int border = -1, mine = 0;

	for (int i = 0; i < nblocks; i++)
		if (owner(i) == rank) {
			mine++;
			if (to > rank || border < 0)
				border = i;
		}
	*n = 0;
	if (mine < 2)
		return;
	*unit = must_have(3 * sizeof(**unit));
	(*unit)[(*n)++] = blocks[border].cells;
	(*unit)[(*n)++] = blocks[border].ends[0];
	(*unit)[(*n)++] = blocks[border].ends[1];
}

/* ---- the program ---- */

/* A vector of block i, the `which`-th of three. */
static void register_vector(starpu_data_handle_t *handle, double *home, int n, int i, int which)
{
	starpu_vector_data_register(handle, home ? STARPU_MAIN_RAM : -1, (uintptr_t) home,
				    (uint32_t) n, sizeof(double));
	starpu_mpi_data_register(*handle, 3 * i + which, first_owner(i));
	if (rule)
		phase_check(comm, orrery_resize_follow(comm, *handle, rule, i), "stencil_lb");
}

static void register_block(int i)
{
	struct block *k = &blocks[i];
	double *ends = NULL;

	if (!elastic && first_owner(i) == rank) {
		k->home = must_have((2 * (size_t) b + 4) * sizeof(double));
		ends = k->home + 2 * b;
		fill(i, k->home, ends);
	}
	register_vector(&k->cells, k->home, 2 * b, i, 0);
	register_vector(&k->ends[0], ends, 2, i, 1);
	register_vector(&k->ends[1], ends ? ends + 2 : NULL, 2, i, 2);
	if (elastic && !joined)
		starpu_mpi_task_insert(comm, &init_cl, STARPU_VALUE, &i, sizeof(i), STARPU_W,
				       k->cells, STARPU_W, k->ends[0], 0);
}

static int next_block(int i)
{
	return (i + 1) % nblocks;
}

static int previous_block(int i)
{
	return (i + nblocks - 1) % nblocks;
}

/* This rank updates the block, or has one beside it, or had: then it holds copies of its ends. */
static int concerns(int i)
{
	int left = previous_block(i), right = next_block(i);

	return owner(i) == rank || owner(left) == rank || owner(right) == rank ||
	       starpu_mpi_cached_receive(blocks[i].cells) ||
	       starpu_mpi_cached_receive(blocks[i].ends[0]) ||
	       starpu_mpi_cached_receive(blocks[i].ends[1]);
}

static void insert_update(int i, int t)
{
	int now = t % 2, ret;

	if (!concerns(i))
		return;
	ret = starpu_mpi_task_insert(comm, &update_cl, STARPU_VALUE, &t, sizeof(t), STARPU_RW,
				     blocks[i].cells, STARPU_R, blocks[previous_block(i)].ends[now],
				     STARPU_R, blocks[next_block(i)].ends[now], STARPU_W,
				     blocks[i].ends[!now], STARPU_PRIORITY, niter - t, 0);
	if (ret < 0) {
		fprintf(stderr, "stencil_lb: rank %d cannot insert update(%d) of time %d: %s\n",
			rank, i, t, strerror(-ret));
		MPI_Abort(comm, 1);
	}
}

/* Between two iterations the number of ranks changes. With --sizes, rank 0 speaks for a resource
 * manager. With --elastic, insertion must not be far ahead of the tasks, or it were over before
 * anybody asks for a change. */
static void change_phase(int t)
{
	int wanted = phase_begins(&phases, t, niter);

	if (!rule)
		return;
	if (elastic)
		starpu_task_wait_for_n_submitted(2 * starpu_worker_get_count());
	if (wanted && rank == 0)
		phase_check(comm, orrery_resize_ask(comm, wanted), "stencil_lb");
	int ret = orrery_resize_point(comm);
	phase_check(comm, ret, "stencil_lb");
	left = !ret;
	if (elastic)
		watch_point(&watch, comm, &rank, ret, t, "stencil_lb");
}

/* With --sizes or --elastic, before data are registered. */
static void start_phases(void)
{
	if (!phases.n && !elastic)
		return;
	rule = orrery_distribution_block(nblocks, elastic ? now.base : phases.sizes[0]);
	phase_check(comm, rule ? 0 : -ENOMEM, "stencil_lb");
	if (!elastic)
		phase_check(comm, orrery_resize(comm, phases.sizes[0]), "stencil_lb");
}

/* Returns the seconds of all iterations. */
static double iterate(void)
{
	if (!joined)
		starpu_mpi_barrier(comm);
	double start = starpu_timing_now();

	for (; now.step < niter; now.step++) {
		int t = now.step;

		starpu_iteration_push((unsigned long) t);
		change_phase(t);
		if (left)
			return 0;
		for (int i = 0; i < nblocks; i++)
			insert_update(i, t);
		starpu_iteration_pop();
	}
	starpu_mpi_wait_for_all(comm);
	starpu_mpi_barrier(comm);
	return (starpu_timing_now() - start) * 1e-6;
}

/* Brings all blocks home, unless their homes may have left; returns how many had moved. */
static int bring_home(void)
{
	int moved = 0;

	for (int i = 0; i < nblocks && !elastic; i++) {
		struct block *k = &blocks[i];

		moved += owner(i) != first_owner(i);
		starpu_mpi_data_migrate(comm, k->cells, first_owner(i));
		starpu_mpi_data_migrate(comm, k->ends[0], first_owner(i));
		starpu_mpi_data_migrate(comm, k->ends[1], first_owner(i));
	}
	return moved;
}

static void unregister_blocks(void)
{
	for (int i = 0; i < nblocks; i++) {
		starpu_data_unregister(blocks[i].cells);
		starpu_data_unregister(blocks[i].ends[0]);
		starpu_data_unregister(blocks[i].ends[1]);
	}
}

/* ---- verification ---- */

/* Of a block that is here, the cells that differ from those of the rod. */
static long long wrong_cells(int i, const double *rod)
{
	long long wrong = 0;

	starpu_data_acquire(blocks[i].cells, STARPU_R);
	const double *cells = (const double *) starpu_data_get_local_ptr(blocks[i].cells);
	for (int x = 0; x < b; x++)
		wrong += !(cells[(niter % 2) * b + x] == rod[i * b + x]);
	starpu_data_release(blocks[i].cells);
	return wrong;
}

static long long count_wrong(void)
{
	int n = nblocks * b;
	double *rod[2] = { must_have((size_t) n * sizeof(double)),
			   must_have((size_t) n * sizeof(double)) };
	long long wrong = 0;

	for (int x = 0; x < n; x++)
		rod[0][x] = initial(x);
	for (int t = 0; t < niter; t++)
		step(n, rod[t % 2], rod[!(t % 2)], rod[t % 2][n - 1], rod[t % 2][0]);
	for (int i = 0; i < nblocks; i++)
		if (owner(i) == rank)
			wrong += wrong_cells(i, rod[niter % 2]);
	free(rod[0]);
	free(rod[1]);
	return wrong;
}

static int verify(void)
{
	long long mine = count_wrong(), all;

	MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, comm);
	if (rank == 0 && all)
		fprintf(stderr, "check: FAILED, %lld of %lld cells differ\n", all,
			(long long) nblocks * b);
	else if (rank == 0)
		printf("check: OK\n");
	return all != 0;
}

static void parse(struct options *o, int argc, char **argv)
{
	for (options_begin(o, argc, argv); options_more(o);)
		if (options_int(o, "--blocks", NULL, 3, 1000000, &nblocks))
			;
		else if (options_int(o, "-b", NULL, 2, 1000000, &b))
			;
		else if (options_int(o, "--cell-ns", NULL, 1, 1000000, &cell_ns))
			;
		else if (options_int(o, "--niter", "-niter", 0, 1000000000, &niter))
			;
		else if (options_int(o, "--slow", NULL, 0, 1000000, &slow))
			;
		else if (options_int(o, "--factor", NULL, 1, 1000, &factor))
			;
		else if (options_flag(o, "--no-balance", NULL))
			balance = 0;
		else if (options_sizes(o, &phases))
			balance = 0;
		else if (options_flag(o, "--elastic", NULL))
			elastic = 1;
		else if (options_flag(o, "--check", NULL))
			check = 1;
		else
			options_unknown(o);
}

static void end(void)
{
	if (elastic)
		orrery_elastic_end();
	else
		starpu_mpi_shutdown();
}

/* Starts the runtime; -1, or the status with which the program ends. */
static int start(int *argc, char ***argv, struct options *o)
{
	int ret = elastic ? options_report(o, 0, "stencil_lb", usage) : -1;

	if (ret >= 0)
		return ret;
	if (elastic)
		joined = elastic_begin(argc, argv, &comm, &now, "stencil_lb", &ret);
	else
		ret = starpu_mpi_init_conf(argc, argv, 1, comm, NULL);
	if (joined < 0)
		return ret;
	if (ret) {
		fprintf(stderr, "stencil_lb: the runtime did not start (%s)\n", strerror(-ret));
		return 1;
	}
	starpu_mpi_comm_rank(comm, &rank);
	starpu_mpi_comm_size(comm, &size);
	ret = options_report(o, rank, "stencil_lb", usage);
	if (ret >= 0)
		end();
	return ret;
}

/* All ranks that are there in the end. Returns the exit status. */
static int conclude(double seconds)
{
	int moved = bring_home(), ret = check ? verify() : 0;

	starpu_mpi_comm_size(comm, &size);
	if (rank == 0)
		printf("stencil_lb nodes=%d blocks=%d block=%d niter=%d moved=%d time_s=%.6f\n",
		       size, nblocks, b, niter, moved, seconds);
	if (rule)
		phases_print(comm, rank, "stencil_lb");
	return ret;
}

static int run(void)
{
	struct starpu_mpi_lb_conf conf = { .get_neighbors = get_neighbours,
					   .get_data_unit_to_migrate = get_unit };
	int ret = 0;

	if (!elastic)
		starpu_mpi_lb_init(balance ? "heat" : NULL, &conf);
	start_phases();
	blocks = must_have((size_t) nblocks * sizeof(*blocks));
	for (int i = 0; i < nblocks; i++)
		register_block(i);
	double seconds = iterate();
	if (!left)
		ret = conclude(seconds);
	unregister_blocks();
	orrery_distribution_free(rule);
	if (!elastic)
		starpu_mpi_lb_shutdown();
	return ret;
}

int main(int argc, char **argv)
{
	struct options o;

	parse(&o, argc, argv);
	int ret = start(&argc, &argv, &o);
	if (ret >= 0)
		return ret;
	ret = run();
	for (int i = 0; i < nblocks; i++)
		free(blocks[i].home);
	free(blocks);
	end();
	return ret;
}
