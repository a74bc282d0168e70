/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program of one's own, `app`, of the manual (orr-test: driven by manual.sh): a token goes round
 * all ranks once, and each adds to it. Options: `-size N`, the number of its elements; `-forget`,
 * rank 0 does not send it, so that all wait for ever; `-crash`, rank 1's task stores to nowhere.
 *
 * Invariant: unless kernels are skipped, the token has passed each rank once at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu_mpi.h>

static volatile int *nowhere;
static int crash;

__attribute__((noinline)) void store_at(volatile int *p)
{
	*p = 1;
}

void cpu_add(void *buffers[], void *arg)
{
	int *token = (int *) STARPU_VECTOR_GET_PTR(buffers[0]), rank;

	starpu_codelet_unpack_args(arg, &rank);
	if (crash && rank == 1)
		store_at(nowhere);
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		token[i]++;
}

static struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED, .symbol = "app_add" };
static struct starpu_codelet add = { .cpu_funcs = { cpu_add },
				     .cpu_funcs_name = { "cpu_add" },
				     .nbuffers = 1,
				     .modes = { STARPU_RW },
				     .model = &model,
				     .name = "add" };

int main(int argc, char **argv)
{
	int rank, size, n = 1, forget = 0;
	starpu_data_handle_t h;

	for (int i = 1; i < argc; i++) {
		forget |= !strcmp(argv[i], "-forget");
		crash |= !strcmp(argv[i], "-crash");
		if (!strcmp(argv[i], "-size") && i + 1 < argc)
			n = atoi(argv[i + 1]);
	}
	if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL))
		return 1;
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	int *token = calloc((size_t) n, sizeof(*token));
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) token, (uint32_t) n,
				    sizeof(*token));
	starpu_data_set_name(h, "value");
	if (rank == 0 && !forget)
		starpu_mpi_isend_detached(h, 1 % size, 1, MPI_COMM_WORLD, NULL, NULL);
	starpu_mpi_irecv_detached(h, (rank + size - 1) % size, rank ? rank : size, MPI_COMM_WORLD,
				  NULL, NULL);
	starpu_task_insert(&add, STARPU_RW, h, STARPU_VALUE, &rank, sizeof(rank), STARPU_NAME,
			   crash ? "column 3" : "add", 0);
	if (rank > 0)
		starpu_mpi_isend_detached(h, (rank + 1) % size, rank + 1, MPI_COMM_WORLD, NULL,
					  NULL);
	starpu_mpi_wait_for_all(MPI_COMM_WORLD);
	starpu_data_unregister(h);
	starpu_mpi_shutdown();
	if (rank == 0)
		printf("%d of %d ranks have added to the token\n", token[0], size);
	free(token);
	return 0;
}
