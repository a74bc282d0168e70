/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Data handles: access modes, life cycle, access from the program, movement
 * between memory nodes, reductions and arbiters (handbook, chapter 27).
 *
 * A handle names one datum. A replicate is its buffer on one memory node.
 *
 * Invariant: all valid replicates of a datum have the same value, the latest one; the runtime,
 * never the program, decides which replicates are valid.
 *
 * Unless a comment says otherwise, functions may be called by any thread of the
 * program between starpu_init() and starpu_shutdown(); those that wait
 * ("blocking") must not be called from a task or a callback, where they return
 * -EDEADLK or, when they return nothing, stop the program with a message.
 * Functions returning int give 0 on success and a negative errno code on failure.
 */
#ifndef STARPU_DATA_H
#define STARPU_DATA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct starpu_codelet;
struct starpu_data_interface_ops;

/* Opaque; owned by the runtime from registration to unregistration. */
typedef struct _starpu_data_state *starpu_data_handle_t;

/*
 * How a task, or the program through starpu_data_acquire(), uses a datum. Modes
 * are bits: one of R, W, RW, SCRATCH, REDUX, MPI_REDUX, or-ed with qualifiers.
 */
enum starpu_data_access_mode {
	STARPU_NONE = 0,
	STARPU_R = (1 << 0), /* reads the current value */
	STARPU_W = (1 << 1), /* replaces the whole value: nothing is fetched */
	STARPU_RW = (STARPU_R | STARPU_W),
	STARPU_SCRATCH = (1 << 2),   /* temporary buffer, private to the worker, no value kept */
	STARPU_REDUX = (1 << 3),     /* contributes to a reduction; one copy per worker */
	STARPU_COMMUTE = (1 << 4),   /* qualifies W/RW: order among such accesses is free */
	STARPU_SSEND = (1 << 5),     /* MPI insertion: send in synchronous mode (14.6) */
	STARPU_LOCALITY = (1 << 6),  /* no effect: policies look at where data are, not at this */
	STARPU_MPI_REDUX = (1 << 7), /* inter-node reduction, one copy per rank (14.12) */
	STARPU_NOPLAN = (1 << 8),    /* no automatic switch to or from planned partitions */
	STARPU_UNMAP = (1 << 9),     /* internal to mapping: replace a map by a copy */
	STARPU_NOFOOTPRINT = (1 << 10), /* leave this datum out of the task's footprint */
	STARPU_ACCESS_MODE_MAX = (1 << 11)
};

/* Urgency of a transfer, most urgent first. */
enum starpu_is_prefetch {
	STARPU_FETCH = 0,     /* a task or the program waits for it */
	STARPU_TASK_PREFETCH, /* a task was mapped and will need it */
	STARPU_PREFETCH,      /* the program asked for it */
	STARPU_IDLEFETCH,     /* only when the link has nothing else to do */
	STARPU_NFETCH
};

/* --- Names, flags, user data --------------------------------------------------------- */

/* Name shown in messages and traces; copied. NULL removes it. */
void starpu_data_set_name(starpu_data_handle_t handle, const char *name);
/* Position of the datum in the program's own grid: `dimensions` ints follow. Used by traces only.
 */
void starpu_data_set_coordinates(starpu_data_handle_t handle, unsigned dimensions, ...);
/* Same with an array of `dimensions` ints, copied. */
void starpu_data_set_coordinates_array(starpu_data_handle_t handle, unsigned dimensions,
				       int dims[]);
/* Copies at most `dimensions` of them to dims. Returns how many there are, 0 when none were set. */
unsigned starpu_data_get_coordinates_array(starpu_data_handle_t handle, unsigned dimensions,
					   int dims[]);

/* Free pointer for the program; neither read nor freed by the runtime (27.6). */
void starpu_data_set_user_data(starpu_data_handle_t handle, void *user_data);
void *starpu_data_get_user_data(starpu_data_handle_t handle);
/* Same, for the scheduling policy. */
void starpu_data_set_sched_data(starpu_data_handle_t handle, void *sched_data);
void *starpu_data_get_sched_data(starpu_data_handle_t handle);

/* After each write, copy the value to every memory node whose bit is set (27.2). */
void starpu_data_set_wt_mask(starpu_data_handle_t handle, uint32_t wt_mask);

/* 1 (the default): tasks and acquisitions of this datum are ordered as they are submitted; 0: not.
 */
void starpu_data_set_sequential_consistency_flag(starpu_data_handle_t handle, unsigned flag);
unsigned starpu_data_get_sequential_consistency_flag(starpu_data_handle_t handle);
/* The flag of handles that are registered from now on. */
void starpu_data_set_default_sequential_consistency_flag(unsigned flag);
unsigned starpu_data_get_default_sequential_consistency_flag(void);

/* 1 (the default): the datum may be moved to a disk when main memory is short; 0: it may not. */
void starpu_data_set_ooc_flag(starpu_data_handle_t handle, unsigned flag);
unsigned starpu_data_get_ooc_flag(starpu_data_handle_t handle);

/* Evict other data first when memory is short. Blocking. */
void starpu_data_advise_as_important(starpu_data_handle_t handle, unsigned is_important);

/* --- End of life, invalidation (27.2) ------------------------------------------------ */

/*
 * Blocking: wait for the tasks and transfers of the handle, put the value back
 * into the home node's buffer if it has one, free the other replicates and the
 * handle. A handle that is partitioned must be unpartitioned first.
 */
void starpu_data_unregister(starpu_data_handle_t handle);
/* Same, but the value is dropped: the home buffer keeps whatever it holds. */
void starpu_data_unregister_no_coherency(starpu_data_handle_t handle);
/* Same as starpu_data_unregister(), but returns at once and happens after the tasks submitted so
 * far; the handle must not be used after the call. The value that the datum has then goes to the
 * home node's buffer, which is the program's again once starpu_shutdown() has returned. Without a
 * home node the value is dropped. */
void starpu_data_unregister_submit(starpu_data_handle_t handle);

/* Blocking: forget the value and free the replicates the runtime allocated. The handle stays usable
 * and must be written before it is read. */
void starpu_data_invalidate(starpu_data_handle_t handle);
/* Same, ordered after the tasks submitted so far; returns at once. */
void starpu_data_invalidate_submit(starpu_data_handle_t handle);

/* Blocking: forget the value but keep the allocations: the next access must write, or initialise
 * (REDUX). */
void starpu_data_deinitialize(starpu_data_handle_t handle);
/* Same, ordered after the tasks submitted so far; returns at once. */
void starpu_data_deinitialize_submit(starpu_data_handle_t handle);

/* --- Queries ------------------------------------------------------------------------- */

/* State on `memory_node`; each result may be NULL. Only a snapshot: it may be stale on return. */
void starpu_data_query_status2(starpu_data_handle_t handle, int memory_node, int *is_allocated,
			       int *is_valid, int *is_loading, int *is_requested);
void starpu_data_query_status(starpu_data_handle_t handle, int memory_node, int *is_allocated,
			      int *is_valid, int *is_requested);
/* Non-zero when a buffer exists on that node (with or without a valid value) / when it is mapped
 * there. */
unsigned starpu_data_test_if_allocated_on_node(starpu_data_handle_t handle, unsigned memory_node);
unsigned starpu_data_test_if_mapped_on_node(starpu_data_handle_t handle, unsigned memory_node);
/* Non-zero when the node holds a valid value or is about to receive one. */
unsigned starpu_data_is_on_node(starpu_data_handle_t handle, unsigned node);
/* Methods of the handle's interface; owned by whoever registered it. */
struct starpu_data_interface_ops *starpu_data_get_interface_ops(starpu_data_handle_t handle);

/* --- Acquire and release (27.3) ------------------------------------------------------ */

/* In place of a node: acquire without a transfer; the second one locks every replicate. */
#define STARPU_ACQUIRE_NO_NODE (-1)
#define STARPU_ACQUIRE_NO_NODE_LOCK_ALL (-2)

/*
 * Blocking: wait for the tasks that the access depends on, then bring the value
 * to main memory (or to `node`) and lock it there in `mode`. The local pointer is
 * valid until the matching release, which must name the same node.
 * -EDEADLK: called from a task or callback; use the _cb form.
 */
int starpu_data_acquire(starpu_data_handle_t handle, enum starpu_data_access_mode mode);
int starpu_data_acquire_on_node(starpu_data_handle_t handle, int node,
				enum starpu_data_access_mode mode);

/*
 * Not blocking: `callback(arg)` runs once the datum is acquired, in a thread of
 * the runtime, or in the caller before the call returns. The program releases
 * the datum there or later. With sequential_consistency 0 the acquisition does
 * not wait for tasks submitted earlier.
 */
int starpu_data_acquire_cb(starpu_data_handle_t handle, enum starpu_data_access_mode mode,
			   void (*callback)(void *), void *arg);
int starpu_data_acquire_on_node_cb(starpu_data_handle_t handle, int node,
				   enum starpu_data_access_mode mode, void (*callback)(void *),
				   void *arg);
int starpu_data_acquire_cb_sequential_consistency(starpu_data_handle_t handle,
						  enum starpu_data_access_mode mode,
						  void (*callback)(void *), void *arg,
						  int sequential_consistency);
int starpu_data_acquire_on_node_cb_sequential_consistency(starpu_data_handle_t handle, int node,
							  enum starpu_data_access_mode mode,
							  void (*callback)(void *), void *arg,
							  int sequential_consistency);

/* Acquire without waiting a datum whose tasks have completed. -EAGAIN: some have not, and nothing
 * was acquired. */
int starpu_data_acquire_try(starpu_data_handle_t handle, enum starpu_data_access_mode mode);
int starpu_data_acquire_on_node_try(starpu_data_handle_t handle, int node,
				    enum starpu_data_access_mode mode);

/* Give the datum back: dependent tasks may start. Never blocks; any thread. If the datum is
 * acquired on the node several times, this ends the acquisition whose callback runs in the calling
 * thread, else one that this thread made, else one that a callback left open, else any. */
void starpu_data_release(starpu_data_handle_t handle);
void starpu_data_release_on_node(starpu_data_handle_t handle, int node);
/* Keep the datum in a weaker mode, R after W or RW, so that readers may start; release it later.
 * STARPU_NONE releases it. */
void starpu_data_release_to(starpu_data_handle_t handle, enum starpu_data_access_mode down_to_mode);
void starpu_data_release_to_on_node(starpu_data_handle_t handle,
				    enum starpu_data_access_mode down_to_mode, int node);

#if !defined(__cplusplus)
/* Run the statement `code` once `handle` is acquired in `mode`, then release. Needs GNU C (a nested
 * function); `code` must not use variables of the enclosing function. */
#define STARPU_DATA_ACQUIRE_CB(handle, mode, code) \
	do { \
		void orr_acquire_cb_body(void *orr_acquire_cb_handle) \
		{ \
			code; \
			starpu_data_release((starpu_data_handle_t) orr_acquire_cb_handle); \
		} \
		starpu_data_acquire_cb(handle, mode, orr_acquire_cb_body, (void *) (handle)); \
	} while (0)
#endif

/* --- Prefetch, allocation, eviction (27.4) ------------------------------------------- */

/* Ask for a buffer, without value, on `node`: 0, or -ENOMEM when it is full of data that are in use
 * or valid nowhere else. */
int starpu_data_request_allocation(starpu_data_handle_t handle, unsigned node);
/*
 * Bring a copy to `node`: now, when convenient, or when the link is idle. With
 * async 0 the call waits for the end (not from tasks or callbacks). A higher
 * `prio` goes first among requests of the same urgency; 0 by default. If memory
 * is short, data that nobody uses are evicted first, unless the request is idle.
 * If there is no room even so, the call returns 0 without a copy;
 * starpu_data_is_on_node() tells.
 */
int starpu_data_fetch_on_node(starpu_data_handle_t handle, unsigned node, unsigned async);
int starpu_data_prefetch_on_node(starpu_data_handle_t handle, unsigned node, unsigned async);
int starpu_data_prefetch_on_node_prio(starpu_data_handle_t handle, unsigned node, unsigned async,
				      int prio);
int starpu_data_idle_prefetch_on_node(starpu_data_handle_t handle, unsigned node, unsigned async);
int starpu_data_idle_prefetch_on_node_prio(starpu_data_handle_t handle, unsigned node,
					   unsigned async, int prio);

/* The datum will not be used soon: the runtime writes it back to its home node, and evicts it
 * before others. Returns at once. */
void starpu_data_wont_use(starpu_data_handle_t handle);
/* Free the replicate on `node`; if it is the only valid one, write it back first. 0, or -EBUSY when
 * it is in use or there is no place for its value; -ENOSPC when the disk for it is full or broken;
 * -EAGAIN inside a task while it is being copied; -EINVAL when there is no such node. After an
 * error the value is still there. */
int starpu_data_evict_from_node(starpu_data_handle_t handle, unsigned node);
/* Non-zero when evicting from `node` to serve a request of that urgency makes sense. For policies.
 */
int starpu_data_can_evict(starpu_data_handle_t handle, unsigned node,
			  enum starpu_is_prefetch is_prefetch);
/* Write back and free on a node that runs low, as STARPU_MINIMUM_AVAILABLE_MEM and
 * STARPU_MINIMUM_CLEAN_BUFFERS say; idle workers do so by themselves. */
void starpu_memchunk_tidy(unsigned memory_node);

/* --- Copies between handles (27.6) --------------------------------------------------- */

/*
 * Copy src to dst, two handles of the same interface and shape, as a task in
 * submission order. asynchronous 0 waits for the end. callback_func, may be
 * NULL, runs at the end in a thread of the runtime.
 */
int starpu_data_cpy(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
		    int asynchronous, void (*callback_func)(void *), void *callback_arg);
int starpu_data_cpy_priority(starpu_data_handle_t dst_handle, starpu_data_handle_t src_handle,
			     int asynchronous, void (*callback_func)(void *), void *callback_arg,
			     int priority);
/* Store in *dst_handle a handle of a read-only copy of src's present value; calls for the same
 * value share one copy. Unregister the handle once per call. */
int starpu_data_dup_ro(starpu_data_handle_t *dst_handle, starpu_data_handle_t src_handle,
		       int asynchronous);

/* --- Reductions, arbiters ------------------------------------------------------------ */

/*
 * How copies made for STARPU_REDUX or STARPU_MPI_REDUX start and combine:
 * init_cl has one W buffer (the neutral element), redux_cl has RW|COMMUTE then
 * R (first += second). Both stay owned by the caller and must outlive the handle.
 * init_cl also makes the value of data that are read before they were written;
 * redux_cl may be NULL if that is all it is for.
 */
void starpu_data_set_reduction_methods(starpu_data_handle_t handle, struct starpu_codelet *redux_cl,
				       struct starpu_codelet *init_cl);
/* Same; the arguments reach the kernels as their cl_arg, not copied. */
void starpu_data_set_reduction_methods_with_args(starpu_data_handle_t handle,
						 struct starpu_codelet *redux_cl,
						 void *redux_cl_arg, struct starpu_codelet *init_cl,
						 void *init_cl_arg);

/* Grants commutative accesses to several data at once, so that tasks which
 * need overlapping sets neither deadlock nor serialise by order of arrival. */
typedef struct starpu_arbiter *starpu_arbiter_t;
/* NULL when memory is exhausted. */
starpu_arbiter_t starpu_arbiter_create(void);
/* Before any task uses the handle; a handle has at most one arbiter. */
void starpu_data_assign_arbiter(starpu_data_handle_t handle, starpu_arbiter_t arbiter);
/* Once every handle it was assigned to is unregistered. */
void starpu_arbiter_destroy(starpu_arbiter_t arbiter);

/* As starpu_data_acquire_on_node_cb_sequential_consistency(); no synchronisation tasks are made, so
 * *pre_sync_jobid and *post_sync_jobid (may be NULL) become -1. callback_acquired, which would be
 * called before the value is fetched, must be NULL, else -ENOTSUP after a message; quick and prio
 * have no effect. */
int starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
	starpu_data_handle_t handle, int node, enum starpu_data_access_mode mode,
	void (*callback_acquired)(void *arg, int *node, enum starpu_data_access_mode mode),
	void (*callback)(void *arg), void *arg, int sequential_consistency, int quick,
	long *pre_sync_jobid, long *post_sync_jobid, int prio);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#ifdef STARPU_USE_DEPRECATED_API
/* Programs written before edition 1.0 define this macro; they write a handle's type so. */
typedef starpu_data_handle_t starpu_data_handle;
#endif
#endif
