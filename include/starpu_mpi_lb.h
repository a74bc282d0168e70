/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Load balancing between ranks. Orrery has no policy for it: data stay where they are unless the
 * program calls starpu_mpi_data_migrate().
 *
 * Invariant: no call here changes any state; the functions of the program are never called.
 */
#ifndef STARPU_MPI_LB_H
#define STARPU_MPI_LB_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The program's answers to a policy. Each function allocates its array with malloc(), and the
 * runtime frees it. */
struct starpu_mpi_lb_conf {
	/* The ranks that this one may exchange work with. */
	void (*get_neighbors)(int **neighbor_ids, int *nneighbors);
	/* The handles of one unit of work that may go to rank dst_node; none: *nhandles is 0. */
	void (*get_data_unit_to_migrate)(starpu_data_handle_t **handle_unit, int *nhandles,
					 int dst_node);
};

/* Would start a policy. NULL and "" mean none; any other name prints a warning, because there is no
 * policy of that name. The variable STARPU_MPI_LB is not read. Any thread. */
void starpu_mpi_lb_init(const char *lb_policy_name, struct starpu_mpi_lb_conf *itf);
/* Would stop it; has no effect. */
void starpu_mpi_lb_shutdown(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
