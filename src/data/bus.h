/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts of copies between memory nodes.
 *
 * Invariant: counting takes no lock: the counts of a bus are atomic. */
#ifndef ORR_DATA_BUS_H
#define ORR_DATA_BUS_H

#include <stdio.h>

#include "base/process.h"

/* Counts bytes that went from memory node src to another one, dst. Any thread, with or without
 * locks. */
void orr_bus_count(struct orr_process *proc, unsigned src, unsigned dst, uint64_t bytes);
/* [any] What went from src to dst so far. */
void orr_bus_counts(struct orr_process *proc, unsigned src, unsigned dst, uint64_t *bytes,
		    uint64_t *count);
/* Prints the counts of all buses that were used. */
void orr_bus_print(FILE *f);

#endif
