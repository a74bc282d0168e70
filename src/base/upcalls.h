/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Upcalls: what a world asks of the floors above the seam.
 *
 * A world implements the seam and stands on the ground floor; it does not know the structures of
 * the floors that call it. Where it needs an answer from them, that floor fills in a table of
 * functions below. A real world asks for a few numbers; the simulated one models cores and
 * messages, and so asks for more.
 *
 * Tags: [any] any thread, [worker] the thread that steps the workers, [end] when the runtime stops
 * or later. No upcall waits, and
 * none is called with a lock held.
 *
 * Invariant: every slot is filled; a table is constant and reached through the process. */
#ifndef ORR_BASE_UPCALLS_H
#define ORR_BASE_UPCALLS_H

#include <stdint.h>
#include <stdio.h>

#include "base/graph_view.h"
#include "base/source.h"
#include "base/world.h"

struct orr_process;
struct orr_thread;

/* The core's, as long as the process exists. */
struct orr_core_upcalls {
	/* [any] How many tasks were submitted, and how many of them are complete. */
	void (*count_tasks)(struct orr_process *proc, uint64_t *nsubmitted, uint64_t *ncompleted);
	/* [any] Diagnosis: writes the tasks and tags that wait, at most max tasks, one a line. */
	void (*dump)(struct orr_process *proc, FILE *f, unsigned max);

	/* [any] Writes what the process has done and has, as members of an object of JSON, each
	 * after a comma (base/live.h). While the runtime is up. all: in detail. */
	void (*tell)(struct orr_process *proc, FILE *f, int all);

	/* [any] Diagnosis, also while the thread handles a signal: names the task whose kernel or
	 * callback the thread runs, its codelet and its worker, else the codelet of the task that
	 * it inserts; "" if there is neither. */
	void (*running)(const struct orr_thread *self, char *text, size_t size);
	/* [any] True if all workers sleep without limit of time, no device works for one, and
	 * nobody is about to wake one. */
	int (*asleep)(const struct orr_process *proc);

	/* [worker] The time in microseconds that models expect of a kernel, defaults included;
	 * *source says where it comes from, *deviation_us how much it varies (0: not measured). */
	double (*kernel_us)(struct orr_process *proc, const struct orr_kernel *k,
			    enum orr_perf_source *source, double *deviation_us);
	/* [any] The same of a kernel of codelet cl that is no task's and makes the value of h on a
	 * memory node. */
	double (*convert_us)(struct orr_process *proc, unsigned memnode, struct starpu_codelet *cl,
			     struct _starpu_data_state *h, enum orr_perf_source *source);
	/* [any] The time in microseconds that a copy takes by itself, as measured or assumed. */
	double (*copy_us)(struct orr_process *proc, const struct orr_copy *c);

	/* [worker] Running kernels on CPUs: each takes `by` times as long as it would have from
	 * now_us on. The caller wakes the workers afterwards if `by` is below 1. */
	void (*stretch)(struct orr_process *proc, double now_us, double by);
	/* [worker] The ends of some that run have changed. The caller wakes the workers afterwards
	 * if one is earlier now. */
	void (*order)(struct orr_process *proc);
	/* A running kernel that had no known end (k->end_us was INFINITY) ends at end_us. The
	 * calling thread is the kernel's own: what it chose (orr_thread's ctx) goes on with its
	 * worker. The caller wakes the workers afterwards. */
	void (*ends)(struct orr_process *proc, struct orr_kernel *k, double end_us);
	/* [any] When the first of those on CPUs ends; INFINITY if none is known to. */
	double (*first_end_us)(const struct orr_process *proc);

	/* [end] The graph of all tasks if it was kept for the world (proc->keep_graph), or NULL. It
	 * stays when the runtime stops, and belongs to the world. */
	struct orr_graph *(*graph)(const struct orr_process *proc);
	/* [end] Its nodes, edges and messages; the shortest time of a node over all units, 0 if
	 * unknown; the least time in which all tasks fit on the units. */
	void (*graph_view)(const struct orr_graph *g, struct orr_graph_view *view);
	double (*graph_node_us)(const struct orr_graph *g, uint32_t node);
	double (*graph_area_us)(struct orr_graph *g);
};

/* The things that a process waits for of another one, or has of it without having asked. */
struct orr_mpi_wait {
	enum {
		ORR_WAIT_RECEIVE, /* a receive that no message has come for */
		ORR_WAIT_SEND,    /* a send that is not complete */
		ORR_WAIT_UNASKED  /* a message that no receive has asked for */
	} kind;
	int peer; /* rank in the engine's world, -1: any */
	uint32_t context;
	int64_t tag;
	const char *name; /* of the datum, as long as the call lasts; "" if there is none */
};

/* The MPI layer's, while proc->mpi or proc->link is set. */
struct orr_mpi_upcalls {
	/* [any] Whether a message or a completion is expected. */
	int (*expects)(const struct orr_process *proc);
	/* [any] Whether workers poll between tasks. */
	int (*workers_look)(const struct orr_process *proc);
	/* [any] Diagnosis: writes at most max pending requests, one a line. Returns how many are
	 * pending. */
	int (*dump)(struct orr_process *proc, FILE *f, unsigned max);
	/* [any] Writes what was sent, and how many requests are in which list, as the core's tell
	 * does. While the layer may be asked, see orr_sys_live_layer. */
	void (*tell)(struct orr_process *proc, FILE *f, int all);
	/* [any] Diagnosis: tells note() of each of them. */
	void (*waits)(struct orr_process *proc,
		      void (*note)(const struct orr_mpi_wait *w, void *arg), void *arg);
	/* [any] A thread of the program has waited in vain for a while, outside the layer, while
	 * all workers slept; what: the call that waits. If all ranks say that for long enough, and
	 * no message is under way, the program ends with a list of what waits. */
	void (*parked)(struct orr_process *proc, const char *what);
	/* [any] The thread has granted a datum to all that waited for it (thread->bursts is 0
	 * again): the sends among them go to the engine together. */
	void (*burst_end)(struct orr_process *proc, struct orr_thread *self);
	/* [any] Whether the thread drives the engine, so that what it does now is due to messages.
	 */
	int (*drives)(const struct orr_process *proc, const struct orr_thread *self);
	/* [waits] The program begins an iteration, or (begins == 0) ends it. */
	void (*iteration)(struct orr_process *proc, int begins);
	/* [any] Main memory is exhausted: gives back what is only reserved there. Returns whether
	 * there was any. */
	int (*yield_memory)(struct orr_process *proc);
};

#endif
