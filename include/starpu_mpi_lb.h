/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Load balancing between ranks: the runtime decides when to move work to a
 * neighbour, the program says who the neighbours are and what can move.
 *
 * Invariant: data moves only by starpu_mpi_data_migrate(), so that all ranks
 * agree on owners at each point of the submission order.
 */
#ifndef STARPU_MPI_LB_H
#define STARPU_MPI_LB_H

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The program's side; arrays are allocated with malloc() by these functions and freed by the
 * runtime. */
struct starpu_mpi_lb_conf {
	/* Ranks that this one may exchange work with. */
	void (*get_neighbors)(int **neighbor_ids, int *nneighbors);
	/* Handles that form one unit of work to be given to dst_node; none: *nhandles 0. */
	void (*get_data_unit_to_migrate)(starpu_data_handle_t **handle_unit, int *nhandles,
					 int dst_node);
};

/* On every rank, after starpu_mpi_init_conf(). Policy by name; NULL: STARPU_MPI_LB, or none. The
 * structure is copied. */
void starpu_mpi_lb_init(const char *lb_policy_name, struct starpu_mpi_lb_conf *itf);
/* On every rank, before starpu_mpi_shutdown(). */
void starpu_mpi_lb_shutdown(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
