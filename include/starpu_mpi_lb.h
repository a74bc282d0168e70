/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Load balancing between ranks: data, and the tasks that write them, move from ranks that need long
 * for an iteration to neighbours that need less.
 *
 * The program says which data belong together and may move, and calls starpu_iteration_push() and
 * starpu_iteration_pop() around the insertion of each iteration, on all ranks. At the beginning of
 * an outermost iteration the ranks agree on what moves. starpu_mpi_data_get_rank() then gives the
 * new owners, so a program that prunes its loops asks it each time.
 *
 * Invariant: all ranks that know a datum change its owner at the same place among their insertions.
 */
#ifndef STARPU_MPI_LB_H
#define STARPU_MPI_LB_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The program's answers to a policy, which asks them in starpu_iteration_push(), in the thread that
 * calls it. Each function allocates its array with malloc(), and the runtime frees it. */
struct starpu_mpi_lb_conf {
	/* The ranks that this one may give work to. */
	void (*get_neighbors)(int **neighbor_ids, int *nneighbors);
	/* The handles of one unit of work that may go to rank dst_node, all owned by this rank;
	 * none: *nhandles is 0. Called again until the policy has enough; data that it has taken
	 * have their new owner then. The policy may leave the last unit where it is. */
	void (*get_data_unit_to_migrate)(starpu_data_handle_t **handle_unit, int *nhandles,
					 int dst_node);
};

/* Starts a policy, on all ranks, after starpu_mpi_init() and before starpu_mpi_data_register() is
 * called for data that may move. `heat` is the only policy: load flows from busier ranks to less
 * busy neighbours like heat. The variable STARPU_MPI_LB overrides the name. Without a name from
 * either, or with the empty one, nothing is started. *itf is copied. Waits for the tasks that this
 * rank has submitted. A mistake ends with a message, and data stay where they are. */
void starpu_mpi_lb_init(const char *lb_policy_name, struct starpu_mpi_lb_conf *itf);
/* Stops it, on all ranks, before starpu_mpi_shutdown(), which does it otherwise. Data stay where
 * they are then. */
void starpu_mpi_lb_shutdown(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
