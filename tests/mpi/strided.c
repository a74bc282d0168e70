/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matrices and blocks with leading dimensions: into the same shape, into packed ones, small and
 * large; untouched bytes stay. */
#include "mpi_test.h"

static void matrix(unsigned nx, unsigned ny, unsigned ld_out, unsigned ld_in)
{
	unsigned n = ny * (ld_out > ld_in ? ld_out : ld_in);
	int *buf = malloc(n * sizeof(int));
	starpu_data_handle_t h;
	unsigned ld = rank ? ld_in : ld_out;

	for (unsigned i = 0; i < n; i++)
		buf[i] = rank ? -1 : (int) (i / ld * 10000 + i % ld);
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) buf, ld, nx, ny, sizeof(int));
	if (rank == 0)
		OK(starpu_mpi_send(h, 1, 4, MPI_COMM_WORLD));
	if (rank == 1)
		OK(starpu_mpi_recv(h, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	starpu_data_unregister(h);
	if (rank == 1)
		for (unsigned y = 0; y < ny; y++)
			for (unsigned x = 0; x < ld; x++)
				CHECK(buf[y * ld + x] == (x < nx ? (int) (y * 10000 + x) : -1),
				      "(%u,%u) is %d", x, y, buf[y * ld + x]);
	free(buf);
}

static void block(void)
{
	enum { NX = 3, NY = 4, NZ = 5, LDY = 6, LDZ = 30 };
	int buf[NZ * LDZ];
	starpu_data_handle_t h;

	for (int i = 0; i < NZ * LDZ; i++)
		buf[i] = rank ? -1 : i;
	starpu_block_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) buf, LDY, LDZ, NX, NY, NZ,
				   sizeof(int));
	for (int sync = 0; sync < 2; sync++) {
		if (rank == 0)
			OK(sync ? starpu_mpi_issend_detached(h, 1, 4, MPI_COMM_WORLD, NULL, NULL)
				: starpu_mpi_send(h, 1, 4, MPI_COMM_WORLD));
		if (rank == 1)
			OK(starpu_mpi_recv(h, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
	starpu_data_unregister(h);
	if (rank == 1)
		for (int i = 0; i < NZ * LDZ; i++)
			CHECK(buf[i] == (i % LDY < NX && i % LDZ / LDY < NY ? i : -1), "%d is %d",
			      i, buf[i]);
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	if (rank < 2) {
		matrix(5, 7, 9, 9);
		matrix(5, 7, 5, 8);
		matrix(200, 300, 210, 200);
		matrix(200, 300, 200, 256);
		block();
	}
	return end();
}
