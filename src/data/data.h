/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the data layer keeps of a process: memory nodes, transfers under way, and requests that wait
 * for memory.
 *
 * Invariant: nothing here is sized by the number of data, tasks or ranks. */
#ifndef ORR_DATA_DATA_H
#define ORR_DATA_DATA_H

#include "base/process.h"
#include "base/slab.h"
#include "data/memnode.h"

struct orr_transfer;
struct orr_fetch;
struct orr_worker;

struct orr_data {
	struct orr_memnode memnodes[STARPU_MAXNODES];
	unsigned nmemnodes; /* atomic: grows when disks are registered */
	int limited;        /* some memory node has a limit */
	int swap_node;      /* disk that main memory overflows to, -1: none */
	size_t malloc_align;
	starpu_malloc_hook malloc_hook;
	starpu_free_hook free_hook;
	int malloc_flags[STARPU_MAXNODES];
	uint32_t malloc_flags_set; /* bit i: malloc_flags[i] was set by the program */
	int default_sequential_consistency;
	struct orr_slab handle_slab; /* handles of the built-in small interfaces */

	struct orr_transfer *transfers; /* copies under way, first to end first; under proc->lock */
	struct orr_fetch *starved;  /* requests that wait for memory (fetch.c); under proc->lock */
	struct orr_worker *starver; /* atomic: the one worker that may collect data while memory is
				       exhausted */
	unsigned nstarving;         /* atomic: workers and requests that wait for memory */
	unsigned untidy;            /* atomic: memory may run low; an idle group looks into it */
	unsigned nbusy;     /* atomic: workers that hold data; counted if some memory is limited */
	unsigned ncopying;  /* atomic: copies in progress, finished or not scheduled yet */
	unsigned nprefetch; /* atomic: prefetches queued on all memory nodes */
	unsigned nbackground; /* atomic: reduction tasks, prefetches and submitted ends of handles
				 that are not over */
};

/* bus.c: counts bytes that went from memory node src to another one, dst. */
void orr_bus_count(struct orr_process *proc, unsigned src, unsigned dst, uint64_t bytes);
void orr_bus_print(FILE *f);

#endif
