/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends of one value to several ranks (coop.c).
 *
 * Invariant: a send that is handed over here starts once, alone or with others. */
#ifndef ORR_MPI_COOP_H
#define ORR_MPI_COOP_H

#include "mpi/carry/request_record.h"

struct orr_mpi;

/* Starts a send, or sends of one value (linked by link.next) along a tree, or one by one where that
 * is as fast. By the engine's owner. */
void orr_mpi_coop_start(struct orr_mpi *mpi, struct orr_mpi_req *first);

#endif
