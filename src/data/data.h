/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data layer's state of a process: memory nodes, transfers under way, and requests that wait
 * for memory.
 *
 * Invariant: nothing here is sized by the number of data, tasks or ranks (the fields show that; no
 * assertion can). */
#ifndef ORR_DATA_DATA_H
#define ORR_DATA_DATA_H

#include "base/process.h"
#include "base/slab.h"
#include "data/memnode.h"

struct orr_pinned;
struct orr_transfer;
struct orr_flight;
struct orr_fetch;
struct orr_worker;

struct orr_owner;
struct orr_acquire;
struct orr_task;

/* A task that the data layer needs: a copy, a switch between views, a step of a reduction. */
struct orr_inner_task {
	const char *name;
	struct starpu_codelet *cl;
	/* If not NULL the task executes nowhere: body is called without locks, in any thread, when
	 * the owner holds its data, and must see to it that up->complete is called. */
	void (*body)(struct orr_owner *owner, void *arg);
	void *arg;       /* for the codelet's functions, or the body */
	size_t arg_size; /* not 0: arg is from malloc, and freed with the task */
	unsigned n;      /* of data */
	const starpu_data_handle_t *handles;
	const enum starpu_data_access_mode *modes; /* NULL: those of the codelet */
	void (*callback)(void *arg);
	void *callback_arg;
	int priority;
	double flops;
	uint8_t unordered : 1;   /* outside of sequential consistency */
	uint8_t synchronous : 1; /* returns when it is over */
	uint8_t uncounted : 1;   /* starpu_task_wait_for_all does not wait for it */
	uint8_t switches : 1;    /* between views: accesses to partitioned data are not checked */
	uint8_t copies : 1;      /* its kernel copies data: workers book it as such */
};

/* The functions that the data layer needs from the floor that knows tasks. That floor fills in the
 * table when the process is made. Slots are called without locks, by any thread, unless they say
 * otherwise. */
struct orr_data_upcalls {
	/* Submits a task. 0, or -errno after a message; d->arg is then still the caller's. */
	int (*submit)(const struct orr_inner_task *d);
	/* The body of a task that executes nowhere is over: ends its accesses and the task. */
	void (*complete)(struct orr_owner *owner);
	/* A name for messages. May be called with locks held. */
	const char *(*task_name)(const struct orr_task *t);
	/* The number of tasks of the program that are submitted and not complete. */
	uint64_t (*npending)(struct orr_process *proc);
	/* Is the calling thread a worker's that waits for memory? */
	int (*starving)(void);
	/* [waits] Calls f(buffers, arg) as on a worker of that memory node, and waits for what it
	 * gave to its device. */
	void (*call)(struct orr_process *proc, unsigned memnode, void (*f)(void **, void *),
		     void **buffers, void *arg);
	/* The handle ends. */
	void (*forget)(struct orr_process *proc, starpu_data_handle_t h);
};

struct orr_data {
	const struct orr_data_upcalls *up;
	/* Ends a handle when its last pin goes (close.c); set when the process is made. */
	void (*last_unpin)(starpu_data_handle_t h);
	/* The MPI layer's end of a handle that has an owner or an mpi_ext; set when that layer
	 * begins, else NULL. */
	void (*mpi_detach)(starpu_data_handle_t h);
	/* The MPI layer's choice of the memory node of an acquisition that `chooses` (access.h):
	 * called when it holds the datum, without locks by any thread; does not block. */
	int (*choose_node)(struct orr_acquire *a);
	struct orr_memnode *memnodes[STARPU_MAXNODES];
	uint32_t nused;            /* atomic, while a trace is recorded: see used_as of data */
	unsigned nmemnodes;        /* atomic: grows when disks are registered */
	int limited;               /* some memory node has a limit */
	int swap_node;             /* disk that main memory overflows to, -1: none */
	struct orr_pinned *pinned; /* NULL: no device needs pinned memory (pinned.c) */
	size_t malloc_align;
	starpu_malloc_hook malloc_hook;
	starpu_free_hook free_hook;
	int default_sequential_consistency;
	struct orr_slab handle_slab; /* handles of the built-in small interfaces */

	struct orr_transfer *transfers; /* copies under way, first to end first; under proc->lock */
	struct orr_flight *flights; /* copies that devices make by themselves; under proc->lock */
	double flight_due_us;       /* when to ask them; under proc->lock */
	unsigned rung;              /* atomic: a back end says that one of them is over */
	struct orr_fetch *starved;  /* requests that wait for memory (fetch.c); under proc->lock */
	int loan_told; /* atomic: a message has said that a task waits for what the program was lent
			*/
	struct orr_worker *starver; /* atomic: the one worker that may collect data while memory is
				       exhausted */
	unsigned nstarving;         /* atomic: workers, requests and threads that wait for memory */
	unsigned kicks;             /* atomic: how often those that wait were told to try again */
	unsigned again;      /* atomic: a worker that waits gave back what requests may want */
	uint32_t searches;   /* atomic: searches for memory in progress (search.c) */
	uint32_t nsearches;  /* atomic: those that ever began */
	unsigned untidy;     /* atomic: memory may run low, so an idle group checks it */
	unsigned overflowed; /* atomic: more than a limit was handed out: any group checks it */
	unsigned nbusy;      /* atomic: workers that hold data; counted if some memory is limited */
	unsigned ncopying;   /* atomic: copies that have not given back yet what they hold */
	unsigned nprefetch;  /* atomic: prefetches queued on all memory nodes */
	unsigned nbackground; /* atomic: reduction tasks, prefetches and submitted ends of handles
				 that are not over */
};

/* The name of the task or callback that runs in the calling thread, NULL if none does. */
static inline const char *orr_data_inside(struct orr_thread *self)
{
	return self->task ? self->proc->data->up->task_name(self->task) : NULL;
}

#endif
