/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Disk memory nodes: out-of-core storage as one more memory node, used when
 * main memory overflows or by naming it as a home node.
 *
 * Invariant: a disk node is reached only through main memory, and a back end
 * never interprets the bytes that it stores.
 */
#ifndef STARPU_DISK_H
#define STARPU_DISK_H

#include <sys/types.h>
#include <stddef.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * A back end. `base` is what plug() returned, `obj` what alloc() or open()
 * returned; sizes and offsets in bytes. Functions returning int give 0 on
 * success and a negative errno code on failure unless stated; -ENOSPC says
 * that the store is full. They are called by any thread, several at a time
 * for different objects. Transfers use read and write; those of data whose
 * interface has no copy method use full_read and full_write on what pack_data
 * gives. The slots from async_write to free_request may be NULL.
 */
struct starpu_disk_ops {
	/* Open the store named by `parameter`, of at most `size` bytes. NULL on failure. */
	void *(*plug)(void *parameter, starpu_ssize_t size);
	void (*unplug)(void *base);
	/* Measure bandwidth and latency of the store for node `node`; 1 when measured, 0 when not.
	 */
	int (*bandwidth)(unsigned node, void *base);
	/* New object / its destruction, contents included. NULL on failure, with errno set to
	 * ENOSPC when the store is full. */
	void *(*alloc)(void *base, size_t size);
	void (*free)(void *base, void *obj, size_t size);
	/* Existing object, named by `pos`; closing keeps the contents. */
	void *(*open)(void *base, void *pos, size_t size);
	void (*close)(void *base, void *obj, size_t size);
	int (*read)(void *base, void *obj, void *buf, off_t offset, size_t size);
	int (*write)(void *base, void *obj, const void *buf, off_t offset, size_t size);
	/* Whole object; full_read allocates *ptr with starpu_malloc_on_node_flags(dst_node, *size,
	 * 0). */
	int (*full_read)(void *base, void *obj, void **ptr, size_t *size, unsigned dst_node);
	int (*full_write)(void *base, void *obj, void *ptr, size_t size);
	/* Same, started only: they return a request, or NULL when the caller must use the
	 * synchronous form. */
	void *(*async_write)(void *base, void *obj, void *buf, off_t offset, size_t size);
	void *(*async_read)(void *base, void *obj, void *buf, off_t offset, size_t size);
	void *(*async_full_read)(void *base, void *obj, void **ptr, size_t *size,
				 unsigned dst_node);
	void *(*async_full_write)(void *base, void *obj, void *ptr, size_t size);
	/* Copy between two stores of this back end. */
	void *(*copy)(void *base_src, void *obj_src, off_t offset_src, void *base_dst,
		      void *obj_dst, off_t offset_dst, size_t size);
	void (*wait_request)(void *request);
	/* Non-zero when the request is complete. */
	int (*test_request)(void *request);
	void (*free_request)(void *request);
};

/*
 * Buffered files, plain files, files without the page cache (O_DIRECT; if the
 * file system does not support it, a warning is printed, and transferred bytes
 * are dropped from the page cache). `parameter` is a folder, created if need be.
 */
extern struct starpu_disk_ops starpu_disk_stdio_ops;
extern struct starpu_disk_ops starpu_disk_unistd_ops;
extern struct starpu_disk_ops starpu_disk_unistd_o_direct_ops;

/* The memory node of the disk that main memory overflows to (STARPU_DISK_SWAP), -1: there is none.
 * Read-only. */
#define starpu_disk_swap_node (orrery_disk_swap_node())
int orrery_disk_swap_node(void);

/* Smallest size that starpu_disk_register() accepts, in bytes. */
#define STARPU_DISK_SIZE_MIN (16 * 1024 * 1024)

/*
 * Add a disk as a memory node. `size` in bytes, at least STARPU_DISK_SIZE_MIN,
 * or negative for no limit. `func` must outlive the runtime; the disk is closed
 * by starpu_shutdown(). Data that main memory has no room for go to the disk
 * of STARPU_DISK_SWAP, else to the first registered one with room, unless they
 * have a disk as home node. A simulated run that skips kernels calls no back end.
 * Returns the node's number, or -ENOENT when the store cannot be opened,
 * -EINVAL when the back end is missing or the size is too small, -ENOSPC when
 * STARPU_MAXNODES nodes exist, -EBUSY when the size is limited and tasks are
 * under way, -ENODEV before starpu_init(), -ENOMEM. Not in tasks and callbacks.
 */
int starpu_disk_register(struct starpu_disk_ops *func, void *parameter, starpu_ssize_t size);
/* Open an object that exists in the store (`pos`: a file name for the file back ends). The result
 * is the address for registering it as data on that node. A file of fewer than `size` bytes is
 * extended. NULL after a message on failure. Any thread. */
void *starpu_disk_open(unsigned node, void *pos, size_t size);
/* Close it after the data are unregistered; the contents stay. Closing twice only prints a message.
 */
void starpu_disk_close(unsigned node, void *obj, size_t size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
