/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Delays of fake devices, so that order and overlap can be tested without hardware: a queue
 * for copies to the device, one for copies from it, one for kernels. What is in a queue takes its
 * time one after the other, by the clock of the world.
 *
 * ORRERY_FAKE_COPY_MBS is the bandwidth of each direction, ORRERY_FAKE_KERNEL_US what a kernel
 * takes whose codelet says that it is asynchronous. A copy moves its bytes when its time is over,
 * and not before somebody has asked.
 *
 * Invariant: without these variables nothing takes time, and copies are over when somebody asks
 * for the first time. */
#ifndef ORR_DRIVERS_DELAY_H
#define ORR_DRIVERS_DELAY_H

#include "core/worker/core.h"
#include "data/memnode.h"

struct orr_delay {
	uint64_t in_ns, out_ns, kernel_ns; /* atomic: when each queue is empty */
	double copy_mbs;                   /* megabytes per second, 0: copies take no time */
	double kernel_us;                  /* 0: kernels take no time */
};

/* count runs of size bytes, ld_* bytes apart, between places in host memory. */
struct orr_delay_blocks {
	struct orr_delay_blocks *next;
	char *src, *dst;
	size_t size, count, ld_src, ld_dst;
	double end_us;
};

/* From malloc: the memory node's ops_arg, which orr_delay_exit frees. NULL: out of memory. */
struct orr_delay *orr_delay_new(const struct orr_process *proc);
void orr_delay_exit(struct orr_process *proc, unsigned memnode);

/* Copies, or enters the copy in the queue of its direction on the channel. The queue is that of
 * memory node memnode; out: the copy leaves it. Returns 0 or -EAGAIN. [waits] if chan is NULL and
 * copies take time. */
int orr_delay_copy(struct orr_process *proc, unsigned memnode, int out,
		   const struct orr_delay_blocks *b, struct orr_copy_channel *chan);
/* The slots test and wait of a memory whose copies are such. */
int orr_delay_test(struct orr_process *proc, struct orr_copy_channel *chan);
void orr_delay_wait(struct orr_process *proc, struct orr_copy_channel *chan);

/* The slots of a driver whose kernels take time on the memory of the worker. start is told what
 * orr_worker_run returned, and whether the codelet's function is asynchronous. */
int orr_delay_queues(struct orr_worker *w, int asynchronous);
enum orr_started orr_delay_start(struct orr_worker *w, int ran, int asynchronous,
				 struct orr_launch *l);
int orr_delay_kernel_test(struct orr_worker *w, struct orr_launch *l);

#endif
