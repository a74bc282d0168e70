/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Handles: creation, replicates, pins and end (the structures: data/datum/datum.h).
 *
 * Invariant: a handle is freed only after its last access and its last pin are gone. */
#ifndef ORR_DATA_HANDLE_H
#define ORR_DATA_HANDLE_H

#include "data/datum/datum.h"

/* [waits] Releases h->lock. Nobody is woken while it is held: those that wait for memory wake now.
 */
void orr_handle_unlock_slow(starpu_data_handle_t h);
static inline void orr_handle_unlock(starpu_data_handle_t h)
{
	if (__builtin_expect(h->gave_back, 0))
		orr_handle_unlock_slow(h);
	else
		orr_unlock(&h->lock);
}

/* Returns 0 if there is such a memory node, or -EINVAL after a message. */
int orr_handle_check_node(starpu_data_handle_t h, int memnode, const char *what);
/* The replicate on a memory node: orr_handle_find returns NULL when the handle was never used
 * there, orr_handle_replicate creates it (NULL when memory is exhausted). Both under h->lock. */
struct orr_replicate *orr_handle_find(starpu_data_handle_t h, unsigned memnode);
struct orr_replicate *orr_handle_replicate(starpu_data_handle_t h, unsigned memnode);
/* The CUDA device whose memory has the value of a datum that the caller holds, -1: none; alone: if
 * main memory has it not, else if no other device has it. Any thread, without locks. */
int orr_handle_device_with_value(starpu_data_handle_t h, int alone);
/* A pin keeps h from ending (access.h says which users need one). Users that may touch h anyway
 * call orr_handle_pin. Those that found it in a list call orr_handle_try_pin, which returns 0 if h
 * is ending. */
static inline void orr_handle_pin(starpu_data_handle_t h)
{
	orr_assert(ORR_ATOMIC_LOAD_RELAXED(&h->npins) != ORR_PINS_LAST); /* it has not ended */
	ORR_ATOMIC_ADD_RELAXED(&h->npins, 1);
}
/* 0: the handle is ending. */
int orr_handle_try_pin(starpu_data_handle_t h);
/* Gives a pin back; the last one may end the handle (close.c). Without locks. */
void orr_handle_unpin(starpu_data_handle_t h);
/* Creates a handle as starpu_data_register does; used by filters with piece_of != NULL. */
int orr_handle_create(starpu_data_handle_t *out, int home_node, void *interface,
		      struct starpu_data_interface_ops *ops, struct orr_partition *piece_of);
/* Bytes of a handle of a small built-in interface in that process, whose configuration is complete.
 */
size_t orr_handle_slab_size(const struct orr_process *proc);
/* Frees the memory of a handle that has no buffers left. For close.c only: others end it. */
void orr_handle_free(starpu_data_handle_t h);
/* Marks the contents as changed on `memnode`: the other replicates become invalid. Under h->lock.
 */
void orr_handle_written(starpu_data_handle_t h, struct orr_replicate *r);
/* All replicates become invalid; buffers: those that are the runtime's are freed as well. Under
 * h->lock. */
void orr_handle_drop_contents(starpu_data_handle_t h, int buffers);

#endif
