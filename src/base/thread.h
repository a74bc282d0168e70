/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A thread as the runtime sees it.
 *
 * Invariant: only the thread itself reads and writes its fields, but for `sys`, which is the
 * world's. */
#ifndef ORR_BASE_THREAD_H
#define ORR_BASE_THREAD_H

#include <stdint.h>

#include "base/lockrank.h"

struct orr_process;
struct orr_worker;
struct orr_task;
struct orr_owner;
struct orr_trace_stream;
struct starpu_codelet;

/* A thread (of a real run) or an actor (of a simulated run), as the runtime sees it. One exists per
 * thread that ever called us. */
struct orr_thread {
	struct orr_process *proc;  /* the process that it belongs to */
	struct orr_worker *worker; /* the worker that it steps just now, NULL outside of kernels and
				      driver code */
	unsigned memnode;          /* the memory of that worker; main memory without one */
	struct orr_task *task;     /* the task whose kernel or callback runs in it, or NULL */
	const struct starpu_codelet *inserts; /* the codelet of the task that it inserts, or NULL */
	const struct starpu_codelet *submits; /* the codelet of the task that it submitted last; it
						 may be gone */
	void *acquisition; /* by the program, whose callback runs in it (data/acquire.c), or NULL */
	unsigned ctx;      /* the scheduling context that the program chose for it + 1, 0: none */
	unsigned idle_ctx; /* while it steps a worker: the one of the thread without worker */
	struct orr_owner *later, *later_last; /* owners of data that this thread lets proceed when
						 the one that proceeds now has done so */
	int proceeding;                       /* an owner proceeds in it (data/access.h) */
	uint16_t bursts;  /* nested: it grants data to several users, sends among them */
	uint16_t foreign; /* the task that it inserted last was none of this rank's business */
	void *burst;      /* sends granted meanwhile, newest first, see orr_mpi_upcalls.burst_end */
	uint8_t under_datum;  /* a buffer is being allocated or freed under a datum's lock: nothing
				 may be evicted and nobody woken now */
	uint8_t gave_back;    /* memory was given back meanwhile (data/memory.c) */
	uint8_t searching;    /* nested: it searches for memory (data/search.h) */
	uint8_t starved;      /* it retries a request that is counted as waiting for memory */
	unsigned trace_epoch; /* of the run that `trace` belongs to */
	struct orr_trace_stream *trace; /* the events that it records (trace/trace.h), or NULL */
	uint64_t cause; /* what ended, and lets others go on in this thread just now (ORR_CAUSE_*
			   in trace/trace.h); 0: the program does */
	double debt_us; /* virtual time charged but not yet spent (always 0 in a real run) */
	void *sys;      /* the world's own part */
	struct orr_magazine { /* free objects kept by this thread, see base/slab.h */
		void *list;
		unsigned n, epoch;
	} mag[4];
#ifdef ORR_DEBUG
	struct orr_held held; /* see base/lock.c */
#endif
};

#endif
