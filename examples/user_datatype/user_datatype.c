/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An interface of the program's own with an MPI datatype (chapter 14.7 of the handbook): the lower
 * triangle of a square matrix. The datatype names the columns' parts below the diagonal, and MPI
 * sends them from where they are: half of the bytes of the matrix, without a copy by the program.
 * With --pack no datatype is registered, and the interface's methods copy the triangle into a
 * buffer instead.
 *
 * The triangle goes around the ring; each rank multiplies it by 2.
 *
 * Invariant: what is above the diagonal stays as each rank made it: neither a message nor a task
 * touches it.
 *
 *      orrery cc --both *.c -o user_datatype
 *      orrery run -n 4 ./user_datatype -n 1000
 *      orrery sim -n 16 user_datatype.sim --pack
 */
#include <starpu_mpi.h>

#include "triangle.h"

#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Sends the lower triangle of a matrix around a ring.\n"
			    "  -n N             order of the matrix (default 50)\n"
			    "  --pack           send it packed, not by an MPI datatype\n"
			    "  -h, --help       this text\n";

#define ABOVE (-1.0)

static int n = 50, pack, rank, size;

/* The columns' parts from the diagonal on. The runtime gives the datatype the address that the
 * interface's to_pointer returns; displacements count from there. */
static int triangle_datatype(starpu_data_handle_t handle, unsigned node, MPI_Datatype *type)
{
	const struct triangle_interface *t = starpu_data_get_interface_on_node(handle, node);
	int *lengths = malloc(2 * (size_t) t->n * sizeof(*lengths)), *starts;

	if (!lengths)
		return -1; /* then the runtime packs */
	starts = lengths + t->n;
	for (int j = 0; j < t->n; j++) {
		lengths[j] = t->n - j;
		starts[j] = j * t->n + j;
	}
	MPI_Type_indexed(t->n, lengths, starts, MPI_DOUBLE, type);
	MPI_Type_commit(type);
	free(lengths);
	return 0;
}

static void triangle_datatype_free(MPI_Datatype *type)
{
	MPI_Type_free(type);
}

static void twice_cpu(void *buffers[], void *arg)
{
	const struct triangle_interface *t = buffers[0];

	(void) arg;
	for (int j = 0; j < t->n; j++)
		for (int i = j; i < t->n; i++)
			t->a[j * t->n + i] *= 2;
}

static struct starpu_codelet twice_cl = {
	.cpu_funcs = { twice_cpu },
	.cpu_funcs_name = { "twice_cpu" },
	.nbuffers = 1,
	.modes = { STARPU_RW },
	.name = "twice",
};

/* A matrix of which rank 0 has the triangle, and every rank what is above. */
static void fill(double *a)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			a[j * n + i] = i < j ? ABOVE : rank ? 0 : i + j;
}

/* Rank r got what r others had multiplied, and multiplied it, too. */
static int wrong_elements(const double *a)
{
	double factor = (double) (1ll << (rank + 1) % 50);
	int wrong = 0;

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			wrong += a[j * n + i] != (i < j ? ABOVE : (i + j) * factor);
	return wrong;
}

/* Bytes that this rank sent to the next one. */
static size_t bytes_sent(void)
{
	size_t *bytes = calloc((size_t) size, sizeof(*bytes)), sent;

	if (!bytes)
		return 0;
	starpu_mpi_comm_stats_retrieve(bytes);
	sent = bytes[(rank + 1) % size];
	free(bytes);
	return sent;
}

/* Returns the exit status. */
static int run(double *a)
{
	starpu_data_handle_t h;
	size_t want = (size_t) n * ((size_t) n + 1) / 2 * sizeof(double);
	int wrong, all;

	fill(a);
	triangle_data_register(&h, STARPU_MAIN_RAM, a, n);
	if (rank > 0)
		starpu_mpi_recv(h, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	wrong = starpu_task_insert(&twice_cl, STARPU_RW, h, 0) != 0;
	if (rank < size - 1)
		starpu_mpi_send(h, rank + 1, 0, MPI_COMM_WORLD);
	starpu_data_unregister(h);
	wrong += wrong_elements(a);
	if (rank < size - 1)
		wrong += bytes_sent() != want;
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("user_datatype nodes=%d n=%d message=%zu matrix=%zu\ncheck: %s\n", size, n,
		       want, (size_t) n * (size_t) n * sizeof(double), all ? "FAILED" : "OK");
	return all != 0;
}

int main(int argc, char **argv)
{
	struct options o;
	double *a;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "-n", NULL, 1, 20000, &n))
			;
		else if (options_flag(&o, "--pack", NULL))
			pack = 1;
		else
			options_unknown(&o);
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 77;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	ret = options_report(&o, rank, "user_datatype", usage);
	a = malloc((size_t) n * (size_t) n * sizeof(*a));
	if (ret < 0 && a) {
		starpu_mpi_comm_stats_enable();
		if (!pack)
			starpu_mpi_interface_datatype_node_register(
				triangle_id(), triangle_datatype, triangle_datatype_free);
		starpu_mpi_barrier(MPI_COMM_WORLD);
		ret = run(a);
	}
	free(a);
	starpu_mpi_shutdown();
	return ret;
}
