/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A standstill: all ranks wait, and nothing can act any more. A world that finds that out hands
 * over what each rank waits for, and what was gathered is printed: first what is at the bottom of
 * it (a message that was never sent), then the waits, rank by rank while they are few, else in
 * groups of lines that differ in numbers only.
 *
 * [any] One thread fills in a standstill and prints it. Where memory ends, the list is shorter.
 *
 * Invariant: at most as many lines are printed as the caller allows, whatever the number of ranks;
 * no rank is said to have sent nothing unless all that it still has to send is known. */
#ifndef ORR_BASE_STANDSTILL_H
#define ORR_BASE_STANDSTILL_H

#include <stdio.h>

#include "base/upcalls.h"

#define ORR_STANDSTILL_SCREEN 24   /* lines that a person sees at once */
#define ORR_STANDSTILL_PER_RANK 20 /* lines of tasks, and half as many of requests, of a rank */

struct orr_standstill;

/* NULL if memory is exhausted. */
struct orr_standstill *orr_standstill_new(int nranks);
void orr_standstill_free(struct orr_standstill *s);

/* The program of that rank has ended, so that the rank waits for nothing. */
void orr_standstill_ended(struct orr_standstill *s, int rank);
/* Not all waits of that rank are handed over. */
void orr_standstill_partial(struct orr_standstill *s, int rank);
/* A wait of that rank; *w is copied. */
void orr_standstill_wait(struct orr_standstill *s, int rank, const struct orr_mpi_wait *w);
/* The waits of that rank, in words: the lines of the text, which is cut up. */
void orr_standstill_text(struct orr_standstill *s, int rank, char *text);

/* Writes what is at the bottom of it and the waits, at most `most` lines. */
void orr_standstill_print(struct orr_standstill *s, FILE *f, unsigned most);

#endif
