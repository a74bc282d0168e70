/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI half of the seam: what the MPI layer asks of the world. How the progression engine of
 * this process talks to those of the others is in base/transport.h. Implemented in
 * src/sys/mpi_real.c (MPI; UCX and shared memory beside it) and sim/sys/net/sim_mpi.c (SMPI).
 *
 * The tags are those of base/seam.h, and one more:
 *   [owner]  only the party that owns the engine calls it (mpi/carry/layer.h), one at a time.
 * In a simulated run, each call of MPI may give the processor away; what makes one is tagged
 * [waits].
 *
 * Invariant: the engine's traffic goes over a private communicator, and only its owner calls MPI
 * for it. */
#ifndef ORR_BASE_SEAM_MPI_H
#define ORR_BASE_SEAM_MPI_H

#include <mpi.h>
#include "base/mpi_network.h"
#include "base/process.h"
#include "base/transport.h"

/* ---- start and end; by the program's thread ---- */

/* [main] [waits] Called by starpu_mpi_init*. initialize: call MPI_Init_thread (MPI_THREAD_MULTIPLE
 * asked for). Checks the thread level of an MPI that the program initialised: SERIALIZED or better,
 * else -EINVAL after a message (in a simulated run every level is fine). comm: the program's world
 * for the runtime (usually MPI_COMM_WORLD). Fills *rank and *size. Returns 0 or -errno. */
int orr_sys_mpi_init(struct orr_process *proc, int *argc, char ***argv, int initialize,
		     MPI_Comm comm, int *rank, int *size);
/* [main] [waits] After the engine has stopped. Calls MPI_Finalize if orr_sys_mpi_init called
 * MPI_Init_thread. */
void orr_sys_mpi_exit(struct orr_process *proc);
/* [main] [waits] The same without MPI_Finalize: orr_sys_mpi_init follows with another communicator,
 * or orr_sys_mpi_exit. All ranks of the old communicator call it. */
void orr_sys_mpi_leave(struct orr_process *proc);

/* ---- what this world can do; constant while MPI is up ---- */

/* [any] [locked] Whether processes may join this run and leave it (`orrery run --elastic`, `orrery
 * sim --elastic`). */
int orr_sys_mpi_elastic(void);
/* [any] [locked] Whether several threads may call MPI at the same time (MPI_THREAD_MULTIPLE). If
 * not, only the engine's owner calls it. */
int orr_sys_mpi_thread_multiple(struct orr_process *proc);
/* [any] [locked] Whether any thread may own the engine and drive it by polling. Threads that wait
 * do so then (a real run). Else the engine's own thread owns it for ever and blocks in its
 * transport (a simulated run). */
int orr_sys_mpi_may_drive(struct orr_process *proc);
/* [owner] The engine's own thread executes tasks, and looks for messages between them: from now on
 * the test of a transport tells what has come, also where only its wait does otherwise. */
void orr_sys_mpi_engine_computes(struct orr_process *proc);
/* [owner] Where threads may not drive the engine: rings its bell in so many microseconds, or
 * earlier. Elsewhere it does nothing, because threads look again by themselves. */
void orr_sys_mpi_wake_later(struct orr_process *proc, double us);
/* [owner] Fills *net: in a simulated run from the platform and its costs, in a real one with
 * figures of a fast network of today. Times and bandwidth are above 0. */
void orr_sys_mpi_network(struct orr_process *proc, struct orr_mpi_network *net);
/* [any] [locked] What carries the messages of the engine. */
const struct orr_transport *orr_sys_mpi_transport(struct orr_process *proc);

/* [any] [locked] Whether messages may be sent from and received into the memory of CUDA devices. */
int orr_sys_mpi_reaches_devices(struct orr_process *proc);
/* [any] [locked] What carries such messages: the transport, or one that it stands on, whose events
 * it reports. All ranks have it. */
const struct orr_transport *orr_sys_mpi_device_transport(struct orr_process *proc);

/* [any] [locked] How many threads of this process MPI has started, and what it stands on; negative:
 * that is not known, because the program started MPI. */
int orr_sys_mpi_threads(struct orr_process *proc);

/* ---- the engine ---- */

/* [any] [locked] A communicator for MPI_Pack() and MPI_Unpack(). Valid between engine_enter and
 * engine_leave for the engine's owner (a real run: between init and exit, for any thread). */
MPI_Comm orr_sys_mpi_comm(struct orr_process *proc);
/* [waits] The engine's thread calls enter first of all and leave last of all. */
void orr_sys_mpi_engine_enter(struct orr_process *proc);
void orr_sys_mpi_engine_leave(struct orr_process *proc);

/* [any] [locked] The number of that rank's process in a simulation, which reports about all ranks:
 * its rank in MPI_COMM_WORLD. In a real run the rank itself; negative ranks stay what they are. */
int orr_sys_mpi_process_of(struct orr_process *proc, int rank);
/* [any] [locked] Diagnosis: the process of that rank if this one may look into it, as in a
 * simulated run, unless it has ended; else NULL. */
struct orr_process *orr_sys_mpi_process_at(struct orr_process *proc, int rank);

/* [owner] [waits] A payload of that many bytes arrived in main memory: in a simulated run, spends
 * the processor's time that receiving takes. */
void orr_sys_mpi_received(struct orr_process *proc, size_t bytes);
/* [owner] [waits] A payload of that many bytes was copied for this process itself: in a simulated
 * run, spends the time that the platform has for a message from a node to itself. */
void orr_sys_mpi_sent_to_itself(struct orr_process *proc, size_t bytes);

/* [main] [waits] How far the clock of this process (orr_sys_origin_us + orr_sys_now_us) is behind
 * that of rank 0, negative: ahead of it; and by how much that may be wrong, either way. Collective,
 * while no engine runs. In a simulated run there is one clock: 0 and 0, without messages. */
double orr_sys_mpi_clock_behind_us(struct orr_process *proc, double *error_us);

/* ---- collectives of the program's communicators ---- */

/* [any] [waits] Starts a barrier of `comm`; in a simulated run, returns when it is over. 0, or -EIO
 * after a message. Where threads may drive, the caller owns the engine. */
int orr_sys_mpi_barrier_start(struct orr_process *proc, MPI_Comm comm, MPI_Request *req);
/* [any] [waits] The same for a sum over all ranks of n numbers each; mine and sums stay until it is
 * over. */
int orr_sys_mpi_sum_start(struct orr_process *proc, MPI_Comm comm, const uint64_t *mine,
			  uint64_t *sums, int n, MPI_Request *req);
/* [any] Whether the barrier or sum is over. Without MPI_THREAD_MULTIPLE the caller owns the engine.
 */
int orr_sys_mpi_collective_test(struct orr_process *proc, MPI_Request *req);

/* ---- statistics, and the end in error ---- */

/* The head of the table of statistics. */
#define ORR_MPI_STATS_HEAD \
	"src,dst,bytes,messages,first_s,last_s,active_s,logical_bytes,logical_messages\n"

/* One line per peer: what this process sent to it, and received from it. */
struct orr_mpi_peer_stats {
	int peer;                 /* the other rank */
	uint64_t messages, bytes; /* sent on this way, for whomever: payload bytes, one message per
				     datum and hop of a tree */
	uint64_t logical_messages, logical_bytes; /* sent for this peer, on whatever way */
	double first_us, last_us; /* of what was sent: when, by orr_sys_now_us() since the start of
				     the program */
	uint64_t received_messages, received_bytes; /* that the peer sent for this process, on
						       whatever way, and that arrived */
	double active_us; /* at least one message was under way to the peer, as its sender
			     sees it */
};

/* [any] Whether something was sent to the peer. */
static inline int orr_mpi_stats_sent(const struct orr_mpi_peer_stats *s)
{
	return s->messages || s->logical_messages;
}

/* [any] Adds the counts of the same peer. */
static inline void orr_mpi_stats_add(struct orr_mpi_peer_stats *to,
				     const struct orr_mpi_peer_stats *more)
{
	int old = orr_mpi_stats_sent(to);

	to->received_messages += more->received_messages;
	to->received_bytes += more->received_bytes;
	if (!orr_mpi_stats_sent(more))
		return;
	if (!old || more->first_us < to->first_us)
		to->first_us = more->first_us;
	if (!old || more->last_us > to->last_us)
		to->last_us = more->last_us;
	to->messages += more->messages;
	to->bytes += more->bytes;
	to->logical_messages += more->logical_messages;
	to->logical_bytes += more->logical_bytes;
	to->active_us += more->active_us;
}
/* [main] [waits] Collective: the processes say which rank of others each plays
 * (STARPU_MPI_FAKE_RANK), -1: none. Returns the number of the process before this one that plays
 * the same, if there is exactly one, else -1; *place is this process's. */
int orr_sys_mpi_same_fake(struct orr_process *proc, int fake, int *place);
/* [main] [waits] Collective, before the run: can what the user wants of these counts be written?
 * Otherwise -errno, after a message of one rank. */
int orr_sys_mpi_prepare_stats(struct orr_process *proc);
/* [main] [waits] Takes the counts since the start, or since the last call, of a process that is
 * about to go on with the communicator next, or to leave (MPI_COMM_NULL). Ranks are those of the
 * communicator that is left; all of its processes call this while no engine runs. */
void orr_sys_mpi_keep_stats(struct orr_process *proc, MPI_Comm next,
			    const struct orr_mpi_peer_stats *peers, unsigned n);
/* [main] [waits] Takes the last counts of this process after the engine has stopped. A simulated
 * run gathers them for --stats and the summary; a real run gathers them on rank 0, which writes
 * ORRERY_MPI_STATS_FILE. left: this process has left the others. One that plays a rank of many
 * (STARPU_MPI_FAKE_RANK) gives the row and the column of that rank, and sent nothing. */
void orr_sys_mpi_report_stats(struct orr_process *proc, const struct orr_mpi_peer_stats *peers,
			      unsigned n, int left);

/* [any] [locked] What orr_sys_abort does, for the MPI layer: ends the processes of all ranks with a
 * status that is not 0, after a message that the caller printed. Does not return. */
void orr_sys_mpi_abort(struct orr_process *proc) __attribute__((noreturn));

#endif
