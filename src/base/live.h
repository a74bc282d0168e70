/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run that is under way answers questions of `orrery top`: a process listens on a socket of this
 * computer, which both worlds have from here.
 *
 * The socket has an abstract name, so it is gone with the process, however that ends:
 * "orrery-top/UID/PID/RANDOM". Who asks must be the user of the process, or root, as the system
 * says; the one who asks looks at that, too. A question is a line with a number: a rank, of which
 * all is told, or -1. The answer is an object of JSON, to the end of the connection.
 *
 * Invariant: nothing of a process is written or waited for on behalf of a stranger, and what one
 * who asks does, or leaves, delays the answers to others by LIMIT_MS at most. */
#ifndef ORR_BASE_LIVE_H
#define ORR_BASE_LIVE_H

#include <stddef.h>
#include <stdio.h>

#include "base/process.h"

#define ORR_LIVE_ALL (-1)    /* the question about all ranks */
#define ORR_LIVE_NOBODY (-2) /* nobody asks */

/* The beginning of a process's answers. */
struct orr_live_about {
	char *text; /* members of the object; owned */
};

/* Listens: a file descriptor, or -errno. blocks: orr_live_accept waits for somebody. */
int orr_live_listen(int blocks);
/* Somebody who may ask: the connection, and *question. -1: nobody, or one who may not; then *ended
 * tells whether the socket was shut down. */
int orr_live_accept(int listening, int *question, int *ended);
/* Sends the answer and ends the connection. */
void orr_live_answer(int connection, const char *text, size_t size);

/* [main] Describes the process: world, machine, command and so on. Returns 0 or -ENOMEM. */
int orr_live_describe(struct orr_live_about *a, struct orr_process *proc);
/* Writes the answer up to the ranks, with `more` members ("", or each after a comma). The ranks
 * come then, with commas between them; end() closes it. */
void orr_live_begin(FILE *f, const struct orr_live_about *a, double wall_s, const char *more);
void orr_live_end(FILE *f);
/* Writes a rank whose runtime is up, but for the brace that closes it. layer: the MPI layer may be
 * asked; all: in detail. */
void orr_live_rank(FILE *f, struct orr_process *proc, int layer, int all);

#endif
