/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages before and after a task that executes on rank xrank (mpi_insert.c), for tasks that
 * are not inserted in one step, and for data that move without a task.
 *
 * Invariant: every rank that has a part calls the same functions at the same point of the insertion
 * order. */
#ifndef ORR_MPI_MPI_INSERT_H
#define ORR_MPI_MPI_INSERT_H

#include "mpi/carry/layer.h"

int orr_mpi_exchange_before(struct orr_mpi *mpi, struct orr_mpi_comm *c, int xrank,
			    const struct starpu_data_descr *d, unsigned n, int prio);
int orr_mpi_exchange_after(struct orr_mpi *mpi, struct orr_mpi_comm *c, int xrank,
			   const struct starpu_data_descr *d, unsigned n, int prio);
/* Brings the current value to a rank unless it is there; counted by the cache on both sides. */
int orr_mpi_bring(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h, int node,
		  int prio, int how, void (*callback)(void *), void *arg);
/* migrate.c: gives the datum, which has an owner, another one, both of them ranks of c. All ranks
 * that know it call it at the same place. 0 or -errno after a message. */
int orr_mpi_migrate(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		    int new_rank, int prio);

/* starpu_mpi_task_insert, _task_build and _task_post_build from an array of arguments, as
 * core/flow/insert.h describes it. */
int orr_mpi_insert_list(MPI_Comm comm, struct starpu_codelet *cl, void **list);
struct starpu_task *orr_mpi_build_list(MPI_Comm comm, struct starpu_codelet *cl, void **list);
int orr_mpi_post_build_list(MPI_Comm comm, struct starpu_codelet *cl, void **list);

#endif
