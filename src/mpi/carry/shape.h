/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The shape of the tree along which a value travels to n ranks (shape.c).
 *
 * Invariant: both ends of a message split a list in the same way, by n and arity alone. */
#ifndef ORR_MPI_SHAPE_H
#define ORR_MPI_SHAPE_H

#include <stddef.h>
#include <stdint.h>
#include "base/mpi_network.h"

struct orr_mpi;

/* The network as this world knows it. By the engine's owner (mpi_network.c). */
const struct orr_mpi_network *orr_mpi_network(struct orr_mpi *mpi);
/* Of n ranks below one in the tree, how many does its next child take, itself included? */
uint32_t orr_mpi_split(uint32_t n, uint32_t arity, uint32_t children_left);
/* Children of a rank with n ranks below it. */
uint32_t orr_mpi_nchildren(uint32_t n, uint32_t arity);

/* Pieces that leave a rank at a time. */
uint32_t orr_mpi_pieces_out(uint32_t arity);

/* The way of a value, made by the rank that sends it to n others. */
struct orr_mpi_plan {
	int tree; /* 0: to each by itself */
	uint32_t arity;
	size_t piece;
};
/* The messages that leave this rank just now. */
enum orr_mpi_leaving { ORR_MPI_LEAVES_OTHERS, ORR_MPI_LEAVES_MATES, ORR_MPI_LEAVES_NOTHING };
struct orr_mpi_plan orr_mpi_plan(const struct orr_mpi_network *net, size_t bytes, uint32_t n,
				 size_t eager_limit, enum orr_mpi_leaving leaving);
/* The time of so many bytes at full bandwidth. */
double orr_mpi_bytes_us(const struct orr_mpi_network *net, size_t bytes);
/* For so long a send may wait for others of the same value; 0: not at all. */
double orr_mpi_moment_us(const struct orr_mpi_network *net, size_t bytes);
/* So many bytes under way keep the network busy until the sender knows that some have arrived. */
size_t orr_mpi_window(const struct orr_mpi_network *net);

#endif
