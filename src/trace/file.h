/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file that all processes of a run record into, as blocks of format.h.
 *
 * The block that a thread fills is mapped into memory, shared: what it writes is in the file at
 * once, even if the process is killed in the next instant. Room is allocated before it is mapped,
 * so a full disk is noticed there, and where a full block is copied to the end.
 *
 * Invariant: a block is written by one thread; a file whose processes have all left is complete
 * and has an index. Processes on one computer find each other through the file's head; those of
 * other computers must share its page cache, which network file systems do not promise. */
#ifndef ORR_TRACE_FILE_H
#define ORR_TRACE_FILE_H

#include "base/process.h"
#include "trace/format.h"

struct orr_trace_chunk;

struct orr_trace_file;

/* The wishes of a process for a file. */
struct orr_trace_wish {
	const char *path, *text; /* that goes into the head of a file that is begun */
	uint64_t limit;          /* of the file, in bytes; 0: none */
	int partial;             /* not everything is recorded: the text says what is */
};

/* The process joins the run's file of that path, or begins it. An older trace is replaced, any
 * other file is refused. 0, or -errno after a message; *number is the process's in the file. */
int orr_trace_file_join(struct orr_process *proc, const struct orr_trace_wish *wish,
			struct orr_trace_file **out, uint32_t *number);
/* Its head: sizes and flags do not change while the process is in it. */
const struct orr_trace_head *orr_trace_file_head(const struct orr_trace_file *f);
/* The process writes no more. The last one writes the index: then the result is 1, else 0. */
int orr_trace_file_leave(struct orr_trace_file *f);

/* New blocks, all 0 and side by side: *n of them, or fewer, which *n says then; and the chunk that
 * must be given back with them (NULL: none). NULL: there is no room, which the first caller has
 * said. Any thread. */
struct orr_trace_block *orr_trace_file_blocks(struct orr_trace_file *f, uint32_t *n,
					      struct orr_trace_chunk **chunk);
/* Copies of n full blocks, which get their checksums, at the end of a file without a limit. 0, or
 * an error of the system that the first caller has said: there is no room. Any thread. */
int orr_trace_file_append(struct orr_trace_file *f, struct orr_trace_block *blocks, uint32_t n);
/* The caller touches its blocks of the chunk no more. */
void orr_trace_file_put(struct orr_trace_file *f, struct orr_trace_chunk *chunk);

#endif
