/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The network as plans of messages know it. The seam says it (base/seam_mpi.h).
 *
 * Invariant: nothing here needs MPI, so that plans can be tried without it. */
#ifndef ORR_BASE_MPI_NETWORK_H
#define ORR_BASE_MPI_NETWORK_H

/* Payloads of fewer bytes leave when they are sent, as Open MPI's do over TCP. */
#define ORR_MPI_AT_ONCE 65536

/* The network between two processes of the run, on the average (LogGP). */
struct orr_mpi_network {
	double latency_us;        /* until a message of no bytes is there */
	double bytes_per_us;      /* of a long message */
	double overhead_us;       /* of the processor at either end, for each message */
	double copy_bytes_per_us; /* into MPI's buffer, by a processor that sends a payload at once;
				   * 0: the network is slower in any case */
	double most_pieces;       /* of a large value; 0: by its size, which the seam leaves */
};

#endif
