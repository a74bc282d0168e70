/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Duties of a part of the MPI layer when the layer begins, ends, or goes on with another
 * communicator, and the walks over a table of parts (parts.h has the layer's).
 *
 * A part needs those before it in the table: begin and enter go forwards, everything that undoes
 * goes backwards. A function that is NULL does nothing.
 *
 * Invariant: a part whose begin failed has undone what it did, and is not ended; each other one
 * that began ends once, after those behind it. */
#ifndef ORR_MPI_PART_WALK_H
#define ORR_MPI_PART_WALK_H

struct orr_mpi;
struct orr_mpi_change; /* parts.h */

/* All by the program's thread. */
struct orr_mpi_part {
	const char *name;
	/* Rank, size and settings are known; the engine does not run. 0, or -errno after a
	 * message. */
	int (*begin)(struct orr_mpi *mpi, const struct orr_mpi_change *to);
	/* The engine does not run any more, and the layer is not found. */
	void (*end)(struct orr_mpi *mpi);
	/* [waits] The program inserts nothing more, for now. 0, or -errno after a message. */
	int (*finish)(struct orr_mpi *mpi);
	/* 0, or -errno after a message if the communicator cannot change now. */
	int (*may_switch)(struct orr_mpi *mpi, const struct orr_mpi_change *to);
	/* [waits] The engine is about to stop: ends what the ranks agree on just now. */
	void (*pause)(struct orr_mpi *mpi);
	/* [waits] The engine has stopped; rank and size are still the old ones. */
	void (*leave)(struct orr_mpi *mpi, const struct orr_mpi_change *to);
	/* The same; ranks get the numbers to->places, -1: none. Not called where they keep theirs.
	 */
	void (*renumber)(struct orr_mpi *mpi, const struct orr_mpi_change *to);
	/* Rank and size are the new ones; the engine does not run yet. */
	void (*enter)(struct orr_mpi *mpi, const struct orr_mpi_change *to);
	/* The engine has stopped for good; the layer is still found. */
	void (*stop)(struct orr_mpi *mpi);
};

/* Forwards. If one fails, ends those before it and returns its -errno. */
int orr_mpi_parts_begin(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n,
			const struct orr_mpi_change *to);
/* Backwards. */
void orr_mpi_parts_end(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n);
/* Forwards, up to the first that fails. */
int orr_mpi_parts_finish(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n);
/* Backwards, up to the first that refuses. */
int orr_mpi_parts_may_switch(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n,
			     const struct orr_mpi_change *to);
/* Backwards. */
void orr_mpi_parts_pause(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n);
void orr_mpi_parts_leave(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n,
			 const struct orr_mpi_change *to);
void orr_mpi_parts_stop(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n);
/* Forwards. */
void orr_mpi_parts_renumber(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n,
			    const struct orr_mpi_change *to);
void orr_mpi_parts_enter(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n,
			 const struct orr_mpi_change *to);

#endif
