/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI half of the seam: how the progression engine of this process talks to those of the
 * others. Implemented in src/sys/mpi_real.c (Open MPI) and sim/sys/sim_mpi.c (SMPI). See
 * base/seam.h for the rules.
 *
 * Invariant: the engine's traffic goes over a private communicator; all calls on it are made by
 * whoever holds the engine (one thread at a time), except orr_sys_mpi_ring. */
#ifndef ORR_BASE_SEAM_MPI_H
#define ORR_BASE_SEAM_MPI_H

#include <mpi.h>
#include "base/process.h"

/* Called by starpu_mpi_init* in the program's thread. initialize: call MPI_Init_thread
 * (MPI_THREAD_MULTIPLE asked for). Checks the thread level of an MPI that the program initialised:
 * SERIALIZED or better, else -EINVAL after a message (in a simulated run every level is fine).
 * comm: the program's world for the runtime (usually MPI_COMM_WORLD). Fills *rank and *size.
 * Returns 0 or -errno. */
int orr_sys_mpi_init(struct orr_process *proc, int *argc, char ***argv, int initialize,
		     MPI_Comm comm, int *rank, int *size);
/* After the engine has stopped. finalize: call MPI_Finalize (if we initialised it). */
void orr_sys_mpi_exit(struct orr_process *proc);
/* Whether MPI calls by several threads at the same time are allowed (MPI_THREAD_MULTIPLE): if not,
 * the engine and its helpers never call MPI concurrently with each other anyhow. */
int orr_sys_mpi_thread_multiple(struct orr_process *proc);

/* The engine's private communicator, same ranks as `comm` given to init; valid in the engine's
 * thread/actor (a real run: anywhere). In a simulated run it is MPI_COMM_WORLD of the engines'
 * instance. */
MPI_Comm orr_sys_mpi_comm(struct orr_process *proc);
/* Called first by the engine's thread when it starts and last before it ends (a simulated run:
 * MPI_Init / MPI_Finalize of the engine's instance, doorbell). */
void orr_sys_mpi_engine_enter(struct orr_process *proc);
void orr_sys_mpi_engine_leave(struct orr_process *proc);
/* Whether threads that wait may drive the engine themselves (a real run: 1; a simulated run: 0,
 * they wait for its actor). */
int orr_sys_mpi_may_drive(struct orr_process *proc);

/* Starts a non-blocking send of `count` items of `type` on the engine's communicator (a real run:
 * MPI_Isend, or MPI_Issend when synchronous; a simulated run: always MPI_Issend, see design.md).
 * Returns an MPI error code. */
int orr_sys_mpi_isend(struct orr_process *proc, const void *buf, int count, MPI_Datatype type,
		      int dest, int tag, int synchronous, MPI_Request *req);

/* [waits] Waits until one of reqs[0..n) (none MPI_REQUEST_NULL) completes, or the bell rings, or (a
 * real run) the polling interval that the world deems right has passed. block = 0: only looks.
 * Returns the index of a completed request (it is then MPI_REQUEST_NULL in reqs and *status is
 * filled), -1 for the bell, -2 when nothing happened. In a real run one call looks once, spins,
 * yields or sleeps according to how long nothing has happened; idle says that nothing is expected
 * soon (no request of the program pending). */
int orr_sys_mpi_wait(struct orr_process *proc, MPI_Request *reqs, int n, int block, int idle,
		     MPI_Status *status);
/* [waits] A payload of so many bytes came into main memory: spends the processor's time for it in a
 * simulated run. */
void orr_sys_mpi_received(struct orr_process *proc, size_t bytes);
/* Wakes the engine up; any thread, any time between engine_enter and engine_leave; cheap when it is
 * awake. */
void orr_sys_mpi_ring(struct orr_process *proc);

/* [waits] A barrier among the processes of `comm` made by the calling program thread (uses the
 * program's MPI in a simulated run). */
int orr_sys_mpi_barrier(struct orr_process *proc, MPI_Comm comm);

/* One line per peer: what this process sent. Given to the world at shutdown (a simulated run
 * gathers them for --stats and the summary; a real run writes ORRERY_MPI_STATS_FILE, gathered on
 * rank 0). */
struct orr_mpi_peer_stats {
	int peer;                 /* rank of the receiver */
	uint64_t messages, bytes; /* data sent: payload bytes, one message per datum */
	double first_us, last_us; /* when, by orr_sys_now_us() since the start of the program */
};
void orr_sys_mpi_report_stats(struct orr_process *proc, const struct orr_mpi_peer_stats *peers,
			      unsigned n, uint64_t tasks);

/* A process that dies must not leave the others waiting: ends the whole program with a non-zero
 * status after a message that the caller printed. Does not return. */
void orr_sys_mpi_abort(struct orr_process *proc) __attribute__((noreturn));

#endif
