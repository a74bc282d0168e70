/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Devices: what executes kernels, and the memory beside it. Drivers fill in these tables; the core
 * makes workers of them and never asks where they came from.
 *
 * Invariant: entry i of a table of devices becomes memory node i + 1, and its workers are numbered
 * after those of the CPUs, in the order of the table. Every slot of a driver is filled. */
#ifndef ORR_CORE_DEVICE_H
#define ORR_CORE_DEVICE_H

#include "core/worker/core.h"
#include "data/memnode.h"

/* The fate of a kernel after start. */
enum orr_started {
	ORR_STARTED_RAN,   /* it has run to its end */
	ORR_STARTED_TIMED, /* it ends at w->kernel.end_us */
	ORR_STARTED_LATER  /* the device runs it: test tells when it is over */
};

/* The abilities of a kind of unit. The group's thread makes all calls, and none of them
 * waits, unless they say otherwise. */
struct orr_driver_ops {
	const char *name;
	enum starpu_worker_archtype arch;
	/* Prepares the device in the group's thread. 0 or -errno after a message. */
	int (*init)(struct orr_worker *w);
	void (*deinit)(struct orr_worker *w);
	/* Would the kernel of t be left to the device (ORR_STARTED_LATER), which executes kernels
	 * of a worker in the order of their starts? Then it may be started while others are under
	 * way.
	 */
	int (*queues)(struct orr_worker *w, struct orr_task *t);
	/* Starts the chosen implementation as launch l. */
	enum orr_started (*start)(struct orr_worker *w, struct orr_task *t, struct orr_launch *l);
	/* Is the kernel over that was left to the device? If not, l->due_us is when to ask again;
	 * INFINITY: the driver wakes the worker (orr_wake_worker, in any thread) when it is. */
	int (*test)(struct orr_worker *w, struct orr_launch *l);
	/* [waits] Calls f(buffers, arg), which gives kernels to the device as the function of a
	 * task does, and waits for them. Any thread, which is w for the program meanwhile. */
	void (*call)(struct orr_worker *w, void (*f)(void **, void *), void **buffers, void *arg);
	/* The kernel is over; called once. l->own_us, if the driver sets it, is what the kernel
	 * took by itself. */
	void (*finish)(struct orr_worker *w, struct orr_task *t, struct orr_launch *l);
};

/* For drivers whose kernels are over when start returns, or at a time that is known. */
int orr_driver_queues_none(struct orr_worker *w, struct orr_task *t);
int orr_driver_test_none(struct orr_worker *w, struct orr_launch *l);
void orr_driver_call_plain(struct orr_worker *w, void (*f)(void **, void *), void **buffers,
			   void *arg);

/* NUMA nodes but the first come first in a table of devices: memories without workers of their own,
 * which the CPU workers next to them use. */
struct orr_device {
	enum starpu_worker_archtype arch;
	enum starpu_node_kind kind;
	int devid;         /* among the devices of its kind */
	unsigned nworkers; /* stepped by one thread */
	unsigned pipeline; /* tasks that a worker has at once: 2 or more, and the next one's data
			      come while a kernel runs; then it is started behind that one, if the
			      driver can */
	size_t memory;     /* bytes, 0 = unlimited */
	const struct orr_memnode_ops *memory_ops;
	void *memory_arg; /* kept as the memory node's ops_arg */
	const struct orr_driver_ops *driver;
	void *driver_arg; /* kept as each worker's driver_arg */
	char name[32];    /* of its workers, "CUDA 0" */
	char bus_id[20];  /* on the PCI bus, "0000:3b:00.0"; "": not known */
};

#endif
