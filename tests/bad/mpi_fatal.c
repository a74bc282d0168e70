/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A mistake that ends one rank while the others wait for it: the message names the culprit, and all
 * ranks end. The rank sees to that itself: the variable keeps mpirun from ending the others because
 * one has ended.
 * orr-test: world real
 * orr-test: expect codelet of task far wants datum 0 on memory node 6, which does not exist
 * orr-test: env OMPI_MCA_orte_abort_on_non_zero_status=0 */
#include "../mpi/mpi_test.h"

static struct starpu_codelet far = { .cpu_funcs = { cpu_increment },
				     .nbuffers = 1,
				     .modes = { STARPU_RW },
				     .specific_nodes = 1,
				     .nodes = { 6 },
				     .name = "far" };

int main(int argc, char **argv)
{
	starpu_data_handle_t h;

	if (!begin(&argc, &argv, 2))
		return 77;
	new_int(&h);
	if (rank == 1) {
		set_int(h, 0);
		OK(starpu_task_insert(&far, STARPU_RW, h, 0));
		starpu_task_wait_for_all();
	} else {
		OK(starpu_mpi_recv(h, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
	return end();
}
