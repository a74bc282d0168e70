/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies of data between memory nodes, and what transfers and memory management keep for a
 * replicate beyond the common fields.
 *
 * Invariant: a replicate that a copy reads or writes is referenced by the copy. */
#ifndef ORR_DATA_TRANSFER_H
#define ORR_DATA_TRANSFER_H

#include "data/handle.h"
#include "data/initial.h"
#include "data/memory.h"

/* Before dst gets a buffer to be copied to from src: gives it src's shape, which a task may have
 * changed (27.1). A buffer of the runtime's that became too small is freed. Under h->lock. */
void orr_transfer_shape(starpu_data_handle_t h, struct orr_replicate *src,
			struct orr_replicate *dst);
/* Starts copying the datum from src to dst, which has a buffer. Under h->lock, released for the
 * copy and taken again. Returns 0 when it is over, 1 when it ends later, or -errno after a message.
 * *waiters gets the requests to be retried by orr_fetch_resume, without lock. A copy that is made
 * to evict frees src's buffer at the end. */
int orr_transfer(struct orr_process *proc, starpu_data_handle_t h, struct orr_replicate *src,
		 struct orr_replicate *dst, enum orr_copy_why why, struct orr_fetch **waiters);
/* Gives the datum, which has no value, its initial value on dst, which has a buffer: runs f, a
 * function of the init codelet for that memory. Under h->lock, released for f and taken again. dst
 * is loading until the value can be used; *waiters as above. */
void orr_transfer_initial(struct orr_process *proc, starpu_data_handle_t h,
			  struct orr_replicate *dst, orr_initial_func f,
			  struct orr_fetch **waiters);
/* Under h->lock: no replicate is being written to by a transfer. */
int orr_transfer_loading(starpu_data_handle_t h);
/* The handle ends: waits for copies of it by other threads, ends those that only wait for their
 * time to pass. Without lock. */
void orr_transfer_forget(starpu_data_handle_t h);

/* Advances copies that take time, for a group of workers: ends those that devices have made, and
 * those whose time is over. Returns the instant at which to come again, or a negative value if none
 * is known. Without locks. */
double orr_transfer_advance(struct orr_process *proc);
static inline double orr_transfer_progress(struct orr_process *proc)
{
	if (__builtin_expect(!ORR_ATOMIC_LOAD_RELAXED(&proc->data->starved) &&
				     !ORR_ATOMIC_LOAD_RELAXED(&proc->data->flights) &&
				     !ORR_ATOMIC_LOAD_RELAXED(&proc->data->transfers),
			     1))
		return -1;
	return orr_transfer_advance(proc);
}
/* [waits] The workers have stopped: waits for the copies that devices still make. */
void orr_transfer_exit(struct orr_process *proc);

#endif
