/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Searches for memory by several threads at a time.
 *
 * A search locks data and takes references on them for a moment, and marks what it has tried.
 * Another search passes over these data although they can be evicted, and may fail for that reason
 * only.
 *
 * Invariant: a search that failed while others were in progress is told when one of them ends, or
 * searches again by itself. A search that failed alone needs no such word, so that two threads that
 * wait for memory do not wake each other for ever. */
#ifndef ORR_DATA_SEARCH_H
#define ORR_DATA_SEARCH_H

#include "base/process.h"

struct orr_search {
	uint32_t seq;   /* number of searches that had begun */
	uint8_t alone;  /* no other one was in progress then */
	uint8_t nested; /* part of another search of this thread, which answers for it */
};

/* Without locks. */
void orr_search_begin(struct orr_process *proc, struct orr_search *s);
/* Ends a search. Returns 1 if the caller shall search again instead: it failed, and what was in its
 * way is over. Without locks. */
int orr_search_end(struct orr_process *proc, struct orr_search *s, int failed);
/* Returns true if some search is in progress; then its end wakes the threads that wait for memory.
 * Any thread that does not search itself. */
int orr_search_in_progress(struct orr_process *proc);

#endif
