/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The room of a trace with a limit (ORRERY_TRACE_LIMIT): blocks within so many bytes of the file.
 *
 * When they are all in use, single events are thinned out: those in windows of time stay, which
 * have one length and one distance, and the blocks of all others are used again. All processes have
 * the same windows, so what happened in one can be followed from rank to rank. If that is not
 * enough, every other window goes, or, where few are left, the second half of each.
 *
 * Invariant: the windows of now are among those of before; blocks with sums, or about the process,
 * are never touched; the file is never longer than the limit. */
#ifndef ORR_TRACE_LIMIT_H
#define ORR_TRACE_LIMIT_H

#include <stddef.h>

#include "trace/format.h"

struct orr_trace_piece; /* of the file, that this process took */

struct orr_trace_room {
	struct orr_trace_head *head;
	int fd;
	uint64_t usable; /* for blocks and the head of the file */
	uint64_t mapped;
	char *arena; /* the file, as far as it may grow */
	struct orr_trace_piece *pieces;
	size_t npieces, pieces_cap;
	uint64_t *freed; /* places of blocks that can be used again, all 0 */
	size_t nfreed, freed_cap;
	uint64_t taken;   /* bytes of the pieces */
	uint32_t windows; /* by which the blocks were last thinned out */
};

/* Reads a size in bytes, with K, M, G or T. 0 or -EINVAL. */
int orr_trace_limit_parse(const char *text, uint64_t *bytes);
/* The least limit for a run of so many processes. */
uint64_t orr_trace_limit_least(uint64_t nprocesses);

/* True if events of that time of the run are kept. */
static inline int orr_trace_limit_keeps(uint32_t windows, int64_t run_ns)
{
	uint64_t period = (uint64_t) 1 << ORR_TRACE_PERIOD_LOG2(windows);

	return !ORR_TRACE_PERIOD_LOG2(windows) ||
	       ((uint64_t) run_ns & (period - 1)) >> ORR_TRACE_WINDOW_LOG2(windows) == 0;
}

/* The room of a file with that head, which is open for reading and writing. 0 or -errno. */
int orr_trace_room_init(struct orr_trace_room *room, int fd, struct orr_trace_head *head,
			uint64_t limit);
/* The blocks of processes that all have left are this process's now. 0 or -errno. */
int orr_trace_room_adopt(struct orr_trace_room *room);
void orr_trace_room_exit(struct orr_trace_room *room);
/* A block, all 0; `nusers` processes of those that write now share the room. NULL, with errno set:
 * there is none. Under the lock of the file. */
struct orr_trace_block *orr_trace_room_block(struct orr_trace_room *room, unsigned nusers);

#endif
