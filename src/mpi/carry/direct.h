/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages from and to the memory of devices (direct.c).
 *
 * Invariant: mpi->set.direct does not change while the engine runs; every rank can receive what
 * another one sends from a device. */
#ifndef ORR_MPI_DIRECT_H
#define ORR_MPI_DIRECT_H

#include "mpi/carry/layer.h"

/* Reads STARPU_MPI_GPUDIRECT; a warning says if it cannot be done. */
void orr_mpi_direct_init(struct orr_mpi *mpi);
/* The transport of the payload of an envelope with these flags. */
const struct orr_transport *orr_mpi_carrier(const struct orr_mpi *mpi, uint32_t flags);
/* True if that payload can be received into a device. */
int orr_mpi_direct_receives(const struct orr_mpi *mpi, uint32_t flags);
/* [waits] Copies a payload from a buffer in main memory to the datum on a device. By the engine's
 * owner. */
void orr_mpi_direct_put(struct orr_mpi *mpi, starpu_data_handle_t h, unsigned node,
			const void *buf);

#endif
