/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The progression engine's thread executes tasks (14.17): STARPU_MPI_DRIVER_CALL_FREQUENCY,
 * STARPU_MPI_DRIVER_TASK_FREQUENCY.
 *
 * Invariant: only the engine's own thread steps the worker, and never while other threads could not
 * drive the engine because of that. */
#ifndef ORR_MPI_ENGINE_WORK_H
#define ORR_MPI_ENGINE_WORK_H

#include "base/process.h"

struct orr_mpi;

/* Before the core starts: if the environment asks for that, makes *reserved a copy of the
 * configuration (NULL: the default one) that leaves a worker to the engine. The caller frees it,
 * and, after the core has stopped, its not_launched_drivers. Else *reserved stays as it is. -errno
 * after a message. */
int orr_mpi_work_reserve(const struct starpu_conf *conf, struct starpu_conf **reserved,
			 unsigned *cpu);
/* The engine's thread takes the worker, and gives it back. */
void orr_mpi_work_begin(struct orr_mpi *mpi);
void orr_mpi_work_end(struct orr_mpi *mpi);
/* [waits] One turn after a look for messages: executes tasks if it is their turn. Returns 0 if
 * there were none. */
int orr_mpi_work(struct orr_mpi *mpi, int busy);
/* [waits] Before the engine's thread sleeps. Returns 1 if there was something to do after all. */
int orr_mpi_work_sleeps(struct orr_mpi *mpi);
void orr_mpi_work_wakes(struct orr_mpi *mpi);

#endif
