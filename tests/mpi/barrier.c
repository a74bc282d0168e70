/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A barrier waits for the ranks only: a detached request that a rank completes after it does not
 * block it. The largest tag is known before the layer starts. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
	starpu_data_handle_t h;
	int64_t *tag_ub = NULL;
	int flag = 0;

	OK(starpu_mpi_comm_get_attr(MPI_COMM_WORLD, STARPU_MPI_TAG_UB, &tag_ub, &flag));
	CHECK(flag && tag_ub && *tag_ub >= INT32_MAX, "flag %d", flag);
	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	if (rank == 0)
		set_int(h, 17);
	if (rank == 1)
		OK(starpu_mpi_irecv_detached(h, 0, 5, MPI_COMM_WORLD, NULL, NULL));
	OK(starpu_mpi_barrier(MPI_COMM_WORLD));
	if (rank == 0)
		OK(starpu_mpi_isend_detached(h, 1, 5, MPI_COMM_WORLD, NULL, NULL));
	if (rank == 1)
		CHECK(int_of(h) == 17, "received %d", int_of(h));
	starpu_data_unregister(h);
	return end();
}
