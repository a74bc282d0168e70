/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Owners and tags of data, and the attributes of those that take part in automatic communications
 * (attach.c).
 *
 * Invariant: a datum is attached at its first automatic communication, and once. */
#ifndef ORR_MPI_ATTACH_H
#define ORR_MPI_ATTACH_H

#include "mpi/carry/attach_record.h"

struct orr_mpi;

/* The attributes, made when missing; checks that no other datum has the tag. NULL after a message.
 */
struct orr_mpi_ext *orr_mpi_attach(struct orr_mpi *mpi, starpu_data_handle_t h);
void orr_mpi_data_init(struct orr_mpi *mpi);
void orr_mpi_data_exit(struct orr_mpi *mpi);
/* Sorted sets of ranks. insert: 1 when it was in, 0 when it is new, -ENOMEM. */
int orr_mpi_ranks_has(const int32_t *v, unsigned n, int rank);
int orr_mpi_ranks_insert(int32_t **v, uint32_t *n, uint32_t *cap, int rank);
/* 0 if messages can have the tag; -EINVAL after a message. */
int orr_mpi_check_tag(starpu_data_handle_t h, const char *what);
/* 0, or -EBUSY after a message if a rank owns a datum whose place is -1; places NULL: if this rank
 * owns one. */
int orr_mpi_check_unowned(struct orr_mpi *mpi, const int *places);
/* Call while no message is in flight. Renumbers everything kept per rank, and drops what is kept
 * about ranks that leave (-1). All data with an owner are attached, or in the slab. */
void orr_mpi_data_renumber(struct orr_mpi *mpi, const int *places);

#endif
