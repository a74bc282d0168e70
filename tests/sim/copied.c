/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A datum that travels, for copied.sh: prints how long the sender and each receiver take, in
 * microseconds. Arguments:
 *
 *     vector|rows|columns|bytes|packed  send|ssend|late|tree|pack  BYTES
 *
 * vector: in a row; rows: a matrix with as much between its rows as they have; columns: the same
 * with an MPI datatype of the program; bytes: a vector with an MPI datatype; packed: a sparse
 * matrix, which is sent through pack_data. send: rank 0 to rank 1, which has posted its receive;
 * ssend: the same, synchronous; late: the receive comes after the message; tree: to tasks of all
 * ranks; pack: by rank 0 into a buffer ("send"), and by rank 1 out of one.
 *
 * Invariant: all ranks begin at the same time, when nothing else is under way. */
#include <unistd.h>
#include "../mpi/mpi_test.h"

enum { BEGIN_US = 20000, LATE_US = 5000, ROW = 1024 };

static int length;

static void sleep_until(double us)
{
	if (us > starpu_timing_now())
		usleep((useconds_t) (us - starpu_timing_now() + .5));
}

static int rows_type(starpu_data_handle_t h, MPI_Datatype *type)
{
	(void) h;
	MPI_Type_vector(length / ROW, ROW, 2 * ROW, MPI_BYTE, type);
	return MPI_Type_commit(type);
}

static int bytes_type(starpu_data_handle_t h, MPI_Datatype *type)
{
	(void) h;
	MPI_Type_contiguous(length, MPI_BYTE, type);
	return MPI_Type_commit(type);
}

static void free_type(MPI_Datatype *type)
{
	MPI_Type_free(type);
}

/* A sparse matrix of as many bytes, when it is packed: one value for each row, and at least one. */
static void new_sparse(starpu_data_handle_t *h)
{
	uint32_t n = (uint32_t) (length - 4) / 9;
	char *values = calloc(n, 1);
	uint32_t *columns = calloc(n, 4), *begin_of = calloc(n + 1, 4);
	CHECK(values && columns && begin_of && 9 * n + 4 == (uint32_t) length,
	      "9 n + 4 bytes can be packed, not %d", length);
	for (uint32_t i = 0; i <= n; i++)
		begin_of[i] = i;
	starpu_csr_data_register(h, STARPU_MAIN_RAM, n, n, (uintptr_t) values, columns, begin_of, 0,
				 1);
}

static void new_datum(starpu_data_handle_t *h, const char *shape)
{
	uintptr_t bytes = (uintptr_t) calloc(2, (size_t) length);
	CHECK(bytes, "no memory");
	if (!strcmp(shape, "packed"))
		new_sparse(h);
	else if (shape[0] == 'r' || shape[0] == 'c')
		starpu_matrix_data_register(h, STARPU_MAIN_RAM, bytes, 2 * ROW, ROW,
					    (uint32_t) length / ROW, 1);
	else
		starpu_vector_data_register(h, STARPU_MAIN_RAM, bytes, (uint32_t) length, 1);
	if (shape[0] == 'c')
		OK(starpu_mpi_datatype_register(*h, rows_type, free_type));
	if (shape[0] == 'b')
		OK(starpu_mpi_datatype_register(*h, bytes_type, free_type));
	starpu_mpi_data_register(*h, 1, 0);
}

static void one(starpu_data_handle_t h, const char *how)
{
	starpu_mpi_req request;
	if (rank == 0 && how[0] == 's' && how[1] == 's')
		OK(starpu_mpi_issend(h, &request, 1, 7, MPI_COMM_WORLD));
	else if (rank == 0)
		OK(starpu_mpi_isend(h, &request, 1, 7, MPI_COMM_WORLD));
	else
		OK(starpu_mpi_irecv(h, &request, 0, 7, MPI_COMM_WORLD));
	OK(starpu_mpi_wait(&request, MPI_STATUS_IGNORE));
}

/* Nothing is computed: the task ends when its data are there. */
static void tree(starpu_data_handle_t h)
{
	static struct starpu_codelet reads = {
		.where = STARPU_NOWHERE, .nbuffers = 1, .modes = { STARPU_R }, .name = "reads"
	};
	if (rank == 0)
		OK(starpu_data_acquire(h, STARPU_W)); /* all readers are known then */
	for (int i = 1; i < size; i++)
		OK(starpu_mpi_task_insert(MPI_COMM_WORLD, &reads, STARPU_R, h,
					  STARPU_EXECUTE_ON_NODE, i, 0));
	if (rank == 0)
		starpu_data_release(h);
	OK(starpu_task_wait_for_all());
}

static void pack(starpu_data_handle_t h)
{
	void *bytes;
	starpu_ssize_t n;
	OK(starpu_data_acquire(h, STARPU_RW));
	if (rank == 0) {
		OK(starpu_data_pack(h, &bytes, &n));
		CHECK_IS(n, length);
		starpu_free_on_node_flags(STARPU_MAIN_RAM, (uintptr_t) bytes, (size_t) n, 0);
	} else {
		bytes = (void *) starpu_malloc_on_node_flags(STARPU_MAIN_RAM, (size_t) length, 0);
		OK(starpu_data_unpack(h, bytes, (size_t) length));
	}
	starpu_data_release(h);
}

int main(int argc, char **argv)
{
	starpu_data_handle_t h;
	if (!begin(&argc, &argv, 2))
		return 77;
	CHECK(argc == 4, "three arguments");
	length = atoi(argv[3]);
	new_datum(&h, argv[1]);
	double start_us = BEGIN_US + (rank && argv[2][0] == 'l' ? LATE_US : 0);
	sleep_until(start_us - (rank ? 200 : 0) * (argv[2][0] == 's'));
	if (argv[2][0] == 't')
		tree(h);
	else if (argv[2][0] == 'p')
		pack(h);
	else if (rank < 2)
		one(h, argv[2]);
	double us = starpu_timing_now() - start_us;
	if (rank == 0 || rank == 1 || argv[2][0] == 't')
		printf("%s %.3f us\n", rank ? "receive" : "send", us);
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	starpu_data_unregister(h);
	return end();
}
