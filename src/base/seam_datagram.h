/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Datagrams between the ranks of a run, beside MPI: a part of the seam (base/seam.h). They go on
 * while MPI waits for a link that is cut, and for a rank that no longer answers. Implemented in
 * src/sys/mpi_datagram.c (UDP) and sim/sys/net/sim_datagram.c, where no link and no rank fails in
 * this way, so that there are none.
 *
 * The tags are those of base/seam.h.
 *
 * Invariant: what is received was sent by that rank of this run, once, and to this rank; it may be
 * lost on the way. Neither end ever waits for the other. */
#ifndef ORR_BASE_SEAM_DATAGRAM_H
#define ORR_BASE_SEAM_DATAGRAM_H

#include <stddef.h>

struct orr_process;

#define ORR_DATAGRAM_MAX 1024 /* bytes of one */

/* [main] [waits] Collective over the engine's world: opens this rank's end. *limit_us is what this
 * rank wants: 0: none, negative: what it wants makes no sense. It becomes what all go on with: that
 * of rank 0, unless one wants none. Returns 1; 0: there are none, here or for this run; or -EINVAL
 * on all ranks if one is negative. */
int orr_sys_datagrams_open(struct orr_process *proc, double *limit_us);
/* [main] No thread uses them any more. */
void orr_sys_datagrams_close(struct orr_process *proc);

/* While they are open: */

/* [any] Sends that many bytes to another rank. What cannot be sent is lost. */
void orr_sys_datagram_send(struct orr_process *proc, int rank, const void *bytes, size_t n);
/* [any] [waits] One thread receives. Waits for so long at most; returns the bytes of a datagram and
 * its sender, or 0: there is none, or somebody has called wake. */
size_t orr_sys_datagram_receive(struct orr_process *proc, double timeout_us,
				char bytes[ORR_DATAGRAM_MAX], int *from);
/* [any] Ends the present wait of the receiver, or the next one. */
void orr_sys_datagrams_wake(struct orr_process *proc);

/* [any] The host of a rank: its lowest rank, and its name. */
int orr_sys_datagram_host(struct orr_process *proc, int rank);
const char *orr_sys_datagram_host_name(struct orr_process *proc, int rank);
/* [any] A debugger holds the process of that rank, as far as this process can see: itself and those
 * of its host. */
int orr_sys_datagram_held(struct orr_process *proc, int rank);

/* [any] This process ends in so many microseconds with a status that is not 0, whatever its threads
 * wait for. cut_off: nobody outside of this host can be told, so that what mpirun has started on it
 * ends, too. */
void orr_sys_end_surely(struct orr_process *proc, double us, int cut_off);

#endif
