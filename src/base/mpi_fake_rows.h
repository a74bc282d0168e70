/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The statistics of processes that play single ranks of many (STARPU_MPI_FAKE_RANK): of each such
 * rank its row of the matrix of messages, what it would send, and its column, what it would
 * receive.
 *
 * Invariant: a pair of ranks has one line in the file, by the word of its sender if that is played.
 */
#ifndef ORR_BASE_MPI_FAKE_ROWS_H
#define ORR_BASE_MPI_FAKE_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Messages from src to dst. dst -1: src is played, and is one of so many ranks as `messages` says.
 */
struct orr_fake_row {
	int src, dst;
	int heard; /* by the word of dst */
	uint64_t messages, bytes;
};

/* The rows of a process, or of several. */
struct orr_fake_rows {
	struct orr_fake_row *v;
	size_t n, cap;
};

/* [any] Begins with the rank of so many that the process plays. Ends the program with a message
 * when memory is exhausted, as the next one does. */
void orr_fake_rows_begin(struct orr_fake_rows *rows, int rank, int size);
/* [any] Appends what the rank would send to that peer (heard 0), or receive from it, if that is
 * something. */
void orr_fake_rows_add(struct orr_fake_rows *rows, int rank, int peer, int heard, uint64_t messages,
		       uint64_t bytes);
/* [any] The number of ranks in the matrix of these rows. */
int orr_fake_rows_size(const struct orr_fake_rows *rows);
/* [any] Writes a comment that names the ranks, the head of the table, and the lines of the rows of
 * all processes, which it sorts. */
void orr_fake_rows_write(FILE *f, const char *head, struct orr_fake_rows *rows);

#endif
