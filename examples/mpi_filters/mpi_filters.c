/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filters and messages: a vector of rank 0 is cut into pieces, which are scattered to all ranks,
 * worked on there, and gathered again. Pieces are data like any others: they have tags and owners.
 *
 * Invariant: all ranks cut the vector alike; only rank 0 has memory for all of it, the others have
 * what they own, and the runtime allocates that.
 *
 *      orrery cc --both mpi_filters.c -o mpi_filters
 *      orrery run -n 4 ./mpi_filters -n 1000000 -p 32
 *      orrery sim -n 16 mpi_filters.sim
 */
#include <starpu_mpi.h>

#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Scatters the pieces of a vector, changes them, and gathers them.\n"
			    "  -n N             elements of the vector (default 1000)\n"
			    "  -p N             pieces (default: two for each rank)\n"
			    "  -h, --help       this text\n";

static int n = 1000, pieces, rank, size;

/* Adds to each element what it shall have more than the one before it: the piece's number. */
static void change_cpu(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]), piece;

	starpu_codelet_unpack_args(arg, &piece);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		v[i] = 10 * v[i] + piece;
}

static struct starpu_codelet change_cl = {
	.cpu_funcs = { change_cpu },
	.cpu_funcs_name = { "change_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "change",
};

/* The data of this rank's view of the vector: on rank 0 the pieces of the vector itself, elsewhere
 * vectors as long as the pieces. Where this rank has no part, there is NULL. */
static void make_pieces(starpu_data_handle_t vector, starpu_data_handle_t *piece)
{
	struct starpu_data_filter f = {
		.filter_func = starpu_vector_filter_block,
		.nchildren = (unsigned) pieces,
	};

	if (rank == 0)
		starpu_data_partition(vector, &f);
	for (int i = 0; i < pieces; i++) {
		int owner = i % size;
		unsigned nx;
		size_t offset;

		if (rank == 0)
			piece[i] = starpu_data_get_sub_data(vector, 1, i);
		else if (rank == owner) {
			starpu_filter_nparts_compute_chunk_size_and_offset(
				(unsigned) n, (unsigned) pieces, sizeof(int), (unsigned) i, 1, &nx,
				&offset);
			starpu_vector_data_register(&piece[i], -1, 0, nx, sizeof(int));
		}
		if (piece[i])
			starpu_mpi_data_register(piece[i], i, owner);
	}
}

/* Returns how many insertions were refused. */
static int work(starpu_data_handle_t *piece)
{
	int refused = 0;

	starpu_mpi_scatter_detached(piece, pieces, 0, MPI_COMM_WORLD, NULL, NULL, NULL, NULL);
	for (int i = 0; i < pieces; i++)
		if (piece[i])
			refused += starpu_mpi_task_insert(MPI_COMM_WORLD, &change_cl, STARPU_RW,
							  piece[i], STARPU_VALUE, &i, sizeof(i),
							  0) != 0;
	starpu_mpi_gather_detached(piece, pieces, 0, MPI_COMM_WORLD, NULL, NULL, NULL, NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	return refused;
}

/* The number of elements that are not what a sequential program makes of them. */
static int wrong_elements(const int *v)
{
	int wrong = 0, at = 0;

	for (int i = 0; i < pieces; i++) {
		unsigned nx;
		size_t offset;

		starpu_filter_nparts_compute_chunk_size_and_offset((unsigned) n, (unsigned) pieces,
								   sizeof(int), (unsigned) i, 1,
								   &nx, &offset);
		for (unsigned k = 0; k < nx; k++, at++)
			wrong += v[at] != 10 * at + i;
	}
	return wrong + (at != n);
}

/* Returns the exit status; v is NULL on ranks other than 0. */
static int run(int *v)
{
	starpu_data_handle_t vector = NULL,
			     *piece = calloc((size_t) pieces, sizeof(starpu_data_handle_t));
	int wrong;

	if (rank == 0) {
		for (int i = 0; i < n; i++)
			v[i] = i;
		starpu_vector_data_register(&vector, STARPU_MAIN_RAM, (uintptr_t) v, (uint32_t) n,
					    sizeof(*v));
	}
	make_pieces(vector, piece);
	wrong = work(piece);
	for (int i = 0; i < pieces && rank; i++)
		if (piece[i])
			starpu_data_unregister(piece[i]);
	if (rank == 0) {
		starpu_data_unpartition(vector, STARPU_MAIN_RAM);
		starpu_data_unregister(vector);
		wrong += wrong_elements(v);
		printf("mpi_filters nodes=%d n=%d pieces=%d wrong=%d\ncheck: %s\n", size, n, pieces,
		       wrong, wrong ? "FAILED" : "OK");
	}
	MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
	free(piece);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	struct options o;
	int *v = NULL, ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "-n", NULL, 1, 1 << 28, &n))
			;
		else if (options_int(&o, "-p", NULL, 1, 100000, &pieces))
			;
		else
			options_unknown(&o);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	ret = options_report(&o, rank, "mpi_filters", usage);
	if (!pieces)
		pieces = 2 * size;
	if (rank == 0)
		v = malloc((size_t) n * sizeof(*v));
	if (ret < 0)
		ret = run(v);
	free(v);
	starpu_mpi_shutdown();
	return ret;
}
