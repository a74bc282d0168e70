/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of a run that is recorded: ranks (ORRERY_TRACE_RANKS), a window of time
 * (ORRERY_TRACE_WINDOW) and kinds of events (ORRERY_TRACE_KINDS).
 *
 * Invariant: events about the process itself are always recorded, so that a reader knows what the
 * others are about. */
#ifndef ORR_TRACE_CHOICE_H
#define ORR_TRACE_CHOICE_H

#include <stdio.h>

#include "base/process.h"
#include "trace/format.h"

/* Room for the lines of the choice in the head of a file, behind a description of
 * ORR_ABOUT_SIZE bytes. */
#define ORR_TRACE_CHOICE_SIZE 384

struct orr_trace_choice {
	const char *ranks; /* NULL: all */
	uint64_t kinds;    /* bits of enum orr_trace_kind */
	int64_t from_ns, to_ns;
	int partial; /* not everything is recorded */
};

/* Kinds that are recorded whatever is chosen. */
#define ORR_TRACE_ABOUT \
	((uint64_t) 1 << ORR_TRACE_STRING | (uint64_t) 1 << ORR_TRACE_PROCESS | \
	 (uint64_t) 1 << ORR_TRACE_CLOCK | (uint64_t) 1 << ORR_TRACE_WORKER | \
	 (uint64_t) 1 << ORR_TRACE_LEFT)

/* The choice of the configuration. 0, or -EINVAL after a message. */
int orr_trace_choice_read(struct orr_trace_choice *choice, const struct orr_config *cfg);
/* True if the choice has that rank. */
int orr_trace_choice_has(const struct orr_trace_choice *choice, int rank);
/* Appends lines "name value" to a text, in a run that began at that time; nothing if all is
 * recorded. */
void orr_trace_choice_describe(const struct orr_trace_choice *choice, const struct orr_config *cfg,
			       int64_t begin_ns, char *text, size_t size);
/* The begin of the run as the lines in the head of a file have it; 0: they do not say. */
int64_t orr_trace_choice_begin_ns(const struct orr_trace_head *head);

#endif
