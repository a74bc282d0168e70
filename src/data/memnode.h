/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operations of a kind of memory (main memory, a device's, a disk). One table per back end;
 * every slot is filled.
 *
 * Invariant: addresses are opaque to everybody but their back end; offsets are passed beside them,
 * so that back ends without pointer arithmetic (OpenCL buffers, files) fit. */
#ifndef ORR_DATA_MEMNODE_H
#define ORR_DATA_MEMNODE_H

#include "base/process.h"

struct orr_repl_ext;
struct orr_prefetch;

/* The state that the copies of one transfer share: async_data of the interfaces' copy methods
 * points to it. */
struct orr_copy_channel {
	uint64_t bytes;    /* moved so far, by all copies of the transfer */
	unsigned src, dst; /* memory nodes */
	int pending;       /* copies started and not over (back ends with asynchronous copies) */
	void *event;       /* the back end's; also what a copy method of the program gave */
	void *own;         /* the back end's */
	double due_us;     /* when to test again; INFINITY: the back end rings (data/flight.h) */
};

struct orr_memnode_ops {
	const char *name;
	int addressable; /* main memory can be read and written through its pointers by kernels of
			    the CPU */
	int cpu_format;  /* functions for the CPU compute on it, whatever its kind: multiformat data
			    lie there in the format of CPUs */
	/* Allocates; 0 when there is no room. Called without locks. flags: STARPU_MALLOC_*. */
	uintptr_t (*alloc)(struct orr_process *proc, unsigned memnode, size_t size, int flags);
	void (*release)(struct orr_process *proc, unsigned memnode, uintptr_t addr, size_t size,
			int flags);
	/* Copies between this memory and main memory or a memory of the same kind. chan NULL =
	 * synchronous. Returns 0 when done, -EAGAIN when under way on chan, or another negative
	 * errno. Copies in both directions, and those of several transfers, may be under way at
	 * once. */
	int (*copy)(struct orr_process *proc, uintptr_t src, size_t src_offset, unsigned src_node,
		    uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t size,
		    struct orr_copy_channel *chan);
	/* numblocks blocks of blocksize bytes, ld_* bytes apart. */
	int (*copy2d)(struct orr_process *proc, uintptr_t src, size_t src_offset, unsigned src_node,
		      uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t blocksize,
		      size_t numblocks, size_t ld_src, size_t ld_dst,
		      struct orr_copy_channel *chan);
	/* The queue for copies on chan, for methods of programs that take one (cudaStream_t): such
	 * a method leaves it in chan->event if its copies are under way. NULL: there is none. */
	void *(*stream)(struct orr_process *proc, struct orr_copy_channel *chan);
	/* Returns 1 once the copies that were started on chan are over, else 0 with chan->due_us
	 * set. Called until it returns 1, by one thread at a time, perhaps under proc->lock. A copy
	 * that failed ends the program with a message. */
	int (*test)(struct orr_process *proc, struct orr_copy_channel *chan);
	/* [waits] Waits until they are over, or for a while. Without locks. */
	void (*wait)(struct orr_process *proc, struct orr_copy_channel *chan);
	/* The address by which units of this memory reach size bytes of main memory; 0: they
	 * cannot. Writes through it are seen in main memory at once, and the other way round. */
	uintptr_t (*map)(struct orr_process *proc, uintptr_t addr, size_t offset, unsigned memnode,
			 size_t size);
	/* Has devices of this kind copy from and to size bytes of main memory by themselves
	 * (page-locked memory), and ends that. Returns 0; -ENOSYS: this kind of memory needs
	 * nothing such; or another -errno. size 0 only asks which. [any thread, with locks] */
	int (*pin)(struct orr_process *proc, unsigned memnode, void *addr, size_t size);
	void (*unpin)(struct orr_process *proc, unsigned memnode, void *addr, size_t size);
	/* The memory ends: all its buffers were given back, no copy is under way. */
	void (*exit)(struct orr_process *proc, unsigned memnode);
};

/* [any] As starpu_memory_node_get_name(), of that process. */
int orr_memnode_name(struct orr_process *proc, unsigned memnode, char *name, size_t size);

/* For memories whose copies are over when they return, or have no queue that programs know. */
void *orr_memnode_stream_none(struct orr_process *proc, struct orr_copy_channel *chan);
void orr_memnode_wait_none(struct orr_process *proc, struct orr_copy_channel *chan);
/* For memories that main memory is not pinned for. */
int orr_memnode_pin_none(struct orr_process *proc, unsigned memnode, void *addr, size_t size);
void orr_memnode_unpin_none(struct orr_process *proc, unsigned memnode, void *addr, size_t size);
/* For memories whose back end keeps nothing. */
void orr_memnode_exit_none(struct orr_process *proc, unsigned memnode);
/* For memories that main memory cannot be mapped to (data/mapping.c). */
uintptr_t orr_memnode_map_none(struct orr_process *proc, uintptr_t addr, size_t offset,
			       unsigned memnode, size_t size);

/* Counts of the copies from one memory node to another (bus.c). */
struct orr_bus {
	uint64_t bytes, count;           /* atomic: ever */
	uint64_t seen_bytes, seen_count; /* when the program last asked, and when that was: under
					    the memory node's lock */
	double seen_us;
	int direct, ngpus; /* atomic: the program's own words, see starpu_bus_set_direct */
};

/* A memory in which a unit keeps its data. Node 0 is main memory. A process makes those that it
 * uses, and keeps them until it ends; the other places of its table hold orr_memnode_none, whose
 * kind is STARPU_UNUSED, and which nobody writes to. */
struct orr_memnode {
	enum starpu_node_kind kind;
	int devid;                /* index among the nodes of that kind */
	unsigned number;          /* in the table of the process */
	int malloc_flags;         /* of starpu_malloc_on_node, */
	uint8_t has_malloc_flags; /* if the program has set them */
	const struct orr_memnode_ops *ops;
	void *ops_arg;   /* the back end's own */
	orr_lock_t lock; /* protects the fields that follow */
	size_t total;    /* capacity in bytes, 0 = unlimited */
	size_t used;     /* bytes allocated by data and by counted mallocs */
	size_t lent; /* atomic: of these, those that the program, or messages without receive, may
			give back at any time */
	struct orr_repl_ext *lru_head, *lru_tail; /* replicates whose buffer is ours, least recently
						     used first (data/memory.c) */
	unsigned lru_stamp;                       /* marks what one search for victims has tried */
	void *cache, *cache_tail; /* buffers kept for reuse, oldest first (data/memory.c) */
	size_t cache_bytes;
	size_t evicting;    /* bytes whose write-back is under way */
	unsigned nchanging; /* atomic: buffers and trials that take or give back memory just now */
	size_t avail_low, avail_high; /* bytes free when eviction begins by itself, and ends; 0:
					 never (data/tidy.c) */
	size_t clean_low, clean_high; /* the same for write-back: bytes that are free, or copies of
					 data that are elsewhere, too */
	uint8_t cleaning;   /* atomic: write-back ahead has begun and not reached clean_high */
	unsigned ncleaning; /* atomic: write-backs ahead that take time and are not over */
	uint64_t evictions, cleaned;              /* statistics */
	size_t told_used, told_cached, told_most; /* in the last event of a trace, and in any
						     (data/memory_trace.c) */
	int64_t told_ns;                          /* when that was */
	struct orr_bus *bus; /* node i has those between it and the nodes before it: i to it, then i
				from it */
	orr_waitq_t freed;   /* rung when memory is given back */
	int group; /* number of the group that serves the prefetches to this memory; -1: any */
	orr_lock_t prefetch_lock;      /* protects the list */
	struct orr_prefetch *prefetch; /* queued, most urgent first (data/prefetch.c) */
	unsigned nloading;             /* atomic: copies to it that take time and are not over */
};

extern struct orr_memnode orr_memnode_none;

extern const struct orr_memnode_ops
	orr_ram_ops; /* drivers/ram.c: main memory, and devices made of host memory */

#endif
