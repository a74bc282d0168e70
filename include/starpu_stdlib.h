/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of the memory nodes: allocation, pinning, budgets (handbook 27.2).
 *
 * Invariant: memory is freed with the size and the flags that it was allocated with, on the same
 * node. Any thread may call, between starpu_init() and starpu_shutdown() unless
 * said otherwise.
 */
#ifndef STARPU_STDLIB_H
#define STARPU_STDLIB_H

#include <stddef.h>
#include <stdint.h>
#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- Flags --------------------------------------------------------------------------- */

/* Page-locked for fast transfers to devices; plain memory where no device needs it. */
#define STARPU_MALLOC_PINNED (1 << 1)
/* Count against the node's budget. When it would be exceeded, copies that nobody uses are evicted;
 * if that is not enough, the allocation fails with -ENOMEM. */
#define STARPU_MALLOC_COUNT (1 << 2)
/* With COUNT: evict nothing, exceed the budget instead. The runtime evicts when a task ends, until
 * the budget is kept again and as much is free as STARPU_MINIMUM_AVAILABLE_MEM and its kin want. */
#define STARPU_MALLOC_NORECLAIM (1 << 3)
/* With COUNT: wait until the budget allows it; with NORECLAIM, until others have evicted enough.
 * More than the budget in all is refused. */
#define STARPU_MEMORY_WAIT (1 << 4)
/* With COUNT: never fail and never wait, exceed the budget. The runtime evicts later, as above. */
#define STARPU_MEMORY_OVERFLOW (1 << 5)
/* In a simulated run without kernels: let the pages share little physical memory, contents do not
 * matter. */
#define STARPU_MALLOC_SIMULATION_FOLDED (1 << 6)
/* Same, and all ranks share one area. */
#define STARPU_MALLOC_SIMULATION_UNIQUE (1 << 7)

/* --- Allocation in main memory ------------------------------------------------------- */

/* Set the alignment in bytes of later allocations: a power of two and a multiple of sizeof(void *).
 * It never shrinks. */
void starpu_malloc_set_align(size_t align);

/* Allocate dim bytes into *A: starpu_malloc is pinned when a device benefits. 0, or -ENOMEM with
 * *A untouched; -EINVAL: A is NULL. */
int starpu_malloc(void **A, size_t dim);
int starpu_malloc_flags(void **A, size_t dim, int flags);
/* Free; A may be NULL. starpu_free_noflag undoes starpu_malloc. Returns 0. */
int starpu_free(void *A) STARPU_DEPRECATED;
int starpu_free_noflag(void *A, size_t dim);
int starpu_free_flags(void *A, size_t dim, int flags);

/* Replace how main memory for data is allocated and freed. Call before the first allocation. A
 * hook returns 0 or a negative errno; it is called from any thread. */
typedef int (*starpu_malloc_hook)(unsigned dst_node, void **A, size_t dim, int flags);
typedef int (*starpu_free_hook)(unsigned dst_node, void *A, size_t dim, int flags);
void starpu_malloc_set_hooks(starpu_malloc_hook malloc_hook, starpu_free_hook free_hook);

/* Page-lock memory of the program, and undo it, between starpu_init and starpu_shutdown, which
 * undoes the rest. 0, or -errno after a message when the device refuses (-EBUSY: it is pinned, or
 * shares a page with memory that is) or, of the second, when no pinned memory begins there;
 * transfers still work. Nothing happens, and 0 is returned, where no device needs it, and with
 * STARPU_DISABLE_PINNING. Memory of starpu_malloc is pinned if it is a page or more. Any thread. */
int starpu_memory_pin(void *addr, size_t size);
int starpu_memory_unpin(void *addr, size_t size);

/* --- Allocation on a memory node ----------------------------------------------------- */

/* Allocate size bytes on the node, evicting unused copies when needed: an address (for OpenCL a
 * handle) that only that node's units may use, 0 when there is not enough memory. The plain forms
 * count against the budget. */
uintptr_t starpu_malloc_on_node(unsigned dst_node, size_t size);
uintptr_t starpu_malloc_on_node_flags(unsigned dst_node, size_t size, int flags);
void starpu_free_on_node(unsigned dst_node, uintptr_t addr, size_t size);
void starpu_free_on_node_flags(unsigned dst_node, uintptr_t addr, size_t size, int flags);
/* The flags that starpu_malloc_on_node uses for that node. */
void starpu_malloc_on_node_set_default_flags(unsigned node, int flags);

/* --- Budgets ------------------------------------------------------------------------- */

/* Bytes that a node (or all nodes together) has in total, free and in use; -1 where a budget is not
 * known. Budgets come from the devices and from STARPU_LIMIT_*_MEM. */
starpu_ssize_t starpu_memory_get_total(unsigned node);
starpu_ssize_t starpu_memory_get_available(unsigned node);
size_t starpu_memory_get_used(unsigned node);
starpu_ssize_t starpu_memory_get_total_all_nodes(void);
starpu_ssize_t starpu_memory_get_available_all_nodes(void);
size_t starpu_memory_get_used_all_nodes(void);

/* Take size bytes from the node's budget without allocating (flags: MEMORY_WAIT, MEMORY_OVERFLOW,
 * NORECLAIM, which exceeds nothing here); 0 or -ENOMEM. Then give them back. wait_available returns
 * once that many bytes are free, evicting copies that nobody uses. A request for more than the node
 * has in all is refused with a message. */
int starpu_memory_allocate(unsigned node, size_t size, int flags);
void starpu_memory_deallocate(unsigned node, size_t size);
void starpu_memory_wait_available(unsigned node, size_t size);

/* --- Sleeping ------------------------------------------------------------------------ */

/* Sleep without using the processor, in virtual time in a simulated run: seconds, microseconds. Any
 * time. */
void starpu_sleep(float nb_sec);
void starpu_usleep(float nb_micro_sec);

/* Old names. */
#define starpu_data_malloc_pinned_if_possible starpu_malloc
#define starpu_data_free_pinned_if_possible starpu_free

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
