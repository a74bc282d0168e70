/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data with tags, names and coordinates, and some without: what tests/tools/trace_data.sh records.
 *
 * Invariant: rank r owns the data with the tags 10 i + r, of 8 (i + 1) bytes, whose coordinates are
 * i and r, and registers one without a tag, of 4 bytes, which is called "alone". Every rank knows
 * the data of all. With an argument, the first rank ends in the middle. */
#include <stdlib.h>
#include <starpu_mpi.h>
#include "lib/test.h"

#define N 3

int main(int argc, char **argv)
{
	double values[64][N][N] = { { { 0 } } };
	starpu_data_handle_t h[64][N], alone, piece[2];
	struct starpu_data_filter halves = { .filter_func = starpu_vector_filter_block,
					     .nchildren = 2 };
	int value[4] = { 0 }, rank, size;

	OK(starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL));
	starpu_mpi_comm_rank(MPI_COMM_WORLD, &rank);
	starpu_mpi_comm_size(MPI_COMM_WORLD, &size);
	CHECK(size <= 10);
	for (int r = 0; r < size; r++)
		for (int i = 0; i < N; i++) {
			int mine = r == rank;
			starpu_vector_data_register(&h[r][i], mine ? STARPU_MAIN_RAM : -1,
						    mine ? (uintptr_t) values[r][i] : 0,
						    (uint32_t) i + 1, sizeof(double));
			starpu_mpi_data_register(h[r][i], 10 * i + r, r);
			starpu_data_set_coordinates(h[r][i], 2, i, r);
			if (i == 1)
				starpu_data_set_name(h[r][i], "the second");
		}
	starpu_vector_data_register(&alone, STARPU_MAIN_RAM, (uintptr_t) value, 4, 1);
	starpu_data_set_name(alone, "alone");
	starpu_data_partition_plan(alone, &halves, piece);
	starpu_data_partition_clean(alone, 2, piece);
	if (argc > 1 && !rank)
		abort();
	for (int r = 0; r < size; r++)
		for (int i = 0; i < N; i++)
			starpu_data_unregister(h[r][i]);
	/* The tag is another datum's now. */
	starpu_vector_data_register(&h[0][0], -1, 0, 5, sizeof(double));
	starpu_mpi_data_register(h[0][0], 0, 0);
	starpu_data_unregister(h[0][0]);
	starpu_data_unregister(alone);
	starpu_mpi_shutdown();
	return 0;
}
