/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The locks of the runtime, in the order in which a thread may take them.
 *
 * One line per kind of lock, lowest rank first:
 *
 *      X(RANK, flags, "the lock", "what it protects", "locks that may be held when it is taken",
 *        "what must not happen while it is held")
 *
 * The third text is the practice, not the limit: the order allows a lock to be taken while any lock
 * of a lower rank is held. A lock that is taken inside of callbacks of the program (a codelet's
 * can_execute, an interface's allocation, a model's cost function) may be taken by whatever public
 * function such a callback calls; the ranks leave room for that.
 *
 * Invariant: a thread that waits for a lock holds locks of lower ranks only. Locks with the flag
 * BY_ADDRESS may be held together, taken in the order of their addresses. orr_trylock is exempt,
 * because a thread that does not wait cannot deadlock. No lock is held across a function marked
 * [waits] in base/seam.h. Debug builds check all of this (base/lock.h). */
#ifndef ORR_BASE_LOCKRANK_H
#define ORR_BASE_LOCKRANK_H

#define ORR_LOCK_BY_ADDRESS 1

/* clang-format off */
#define ORR_LOCK_RANKS(X) \
	X(JOIN, 0, "orr_core.join_lock", \
	  "the order in which parallel tasks are queued to their members", \
	  "none", \
	  "calls of the program; waking") \
	X(QUEUE, 0, "orr_shq.lock, orr_compq.lock", \
	  "the consumers' half of a shared queue of ready tasks; the queue of a component", \
	  "none", \
	  "waking; it is held while can_execute of the program runs") \
	X(DM_WORKER, 0, "orr_dm_worker.lock", \
	  "the queue of a worker in the policies of the dm family", \
	  "none", \
	  "waking; it is held while can_execute of the program runs") \
	X(HETEROPRIO, 0, "heteroprio.lock", \
	  "the buckets of the policy heteroprio", \
	  "none", \
	  "waking; cost functions of the program; it is held while can_execute runs") \
	X(GRAPH_TEST, 0, "graph_test.lock", \
	  "the heap of the policy graph_test", \
	  "none", \
	  "waking; it is held while can_execute of the program runs") \
	X(BUNDLE, 0, "_starpu_task_bundle.lock", \
	  "the tasks of a bundle", \
	  "QUEUE, DM_WORKER, HETEROPRIO, GRAPH_TEST (can_execute of the program may ask)", \
	  "waking; it is held while cost functions of the program run") \
	X(CTX, 0, "orr_ctx.lock", \
	  "the homeless tasks of a scheduling context, its collection with its members", \
	  "none", \
	  "calls of the policy; waking") \
	X(TAG, 0, "orr_core.tag_lock", \
	  "all tags and the links between them", \
	  "none", \
	  "the release of tasks, which is collected and done afterwards") \
	X(EDGE, 0, "orr_core.edge_lock", \
	  "dependencies that are kept for tasks that may be submitted again", \
	  "none", \
	  "the release of tasks, which is collected and done afterwards") \
	X(TASK, 0, "orr_task.lock", \
	  "the successors of a task and its end", \
	  "none", \
	  "the release of tasks") \
	X(WORKER, 0, "orr_worker.local_lock", \
	  "tasks and parallel tasks that are meant for this worker, its statistics", \
	  "JOIN", \
	  "calls of the program; waking") \
	X(CAUSES, 0, "orr_core.causes.lock", \
	  "what workers without a task have waited for, while profiling is on", \
	  "WORKER", \
	  "anything but adding") \
	X(GRAPH, 0, "orr_graph.lock", \
	  "the recorded graph of tasks", \
	  "none", \
	  "estimates, which may call cost functions of the program") \
	X(MPI_COMM, 0, "orr_mpi_comms.lock", \
	  "the table of communicators", \
	  "none", \
	  "communication; it is held while MPI is asked for groups and attributes") \
	X(MPI_DATA, 0, "orr_mpi_data.lock", \
	  "the lists of data that take part in automatic communications", \
	  "none", \
	  "posting of requests") \
	X(MPI, 0, "orr_mpi.lock", \
	  "posted receives, early messages, the free list of requests, statistics", \
	  "none", \
	  "calls of MPI; callbacks of the program") \
	X(HANDLE, ORR_LOCK_BY_ADDRESS, "_starpu_data_state.lock", \
	  "the access queue of a datum, its replicates and their references", \
	  "BUNDLE, QUEUE, DM_WORKER, GRAPH_TEST, HETEROPRIO; other handles of a task", \
	  "copies; eviction; the release of tasks") \
	X(PROCESS, 0, "orr_process.lock", \
	  "the rare lists of all floors: transfers that take time, requests that wait for memory, hooks, duplicates, combined workers, memory nodes", \
	  "BUNDLE, HANDLE", \
	  "calls of the program; waking") \
	X(PERF, 0, "orr_perf.lock", \
	  "the states of performance models of a process", \
	  "BUNDLE, QUEUE, DM_WORKER, HETEROPRIO, GRAPH_TEST", \
	  "cost functions of the program") \
	X(MODELS, 0, "loaded.lock of perf/model_store.c", \
	  "the list of loaded model files and their references; held while a file is read", \
	  "PERF", \
	  "cost functions of the program") \
	X(MODEL, 0, "orr_model.lock", \
	  "the measurements of one model file", \
	  "BUNDLE, PERF", \
	  "cost functions of the program") \
	X(MEMNODE, 0, "orr_memnode.lock", \
	  "the accounting of a memory, its LRU list, its cache of buffers", \
	  "HANDLE", \
	  "allocation; eviction; waking; locking of a handle, which is only tried") \
	X(PINNED, 0, "orr_pinned.lock", \
	  "the pool of pinned main memory, the program's memory that is pinned", \
	  "HANDLE", \
	  "pinning, which is a call of the back end") \
	X(PREFETCH, 0, "orr_memnode.prefetch_lock", \
	  "the queue of prefetches to a memory", \
	  "none", \
	  "the execution of a prefetch") \
	X(DISK, 0, "disk.lock", \
	  "the objects that starpu_disk_open gave out", \
	  "none", \
	  "operations of the back end") \
	X(OPENCL, 0, "orr_opencl.lock", \
	  "the kernels of OpenCL programs that were loaded", \
	  "none", \
	  "compilation; waking") \
	X(SLAVE, 0, "orr_slave.lock", \
	  "the free parts of the memory of a slave", \
	  "HANDLE", \
	  "anything but a look at the list") \
	X(SLAB, 0, "orr_slab.lock", \
	  "the chunks of a slab and its depot of free objects", \
	  "none", \
	  "anything that allocates from the same slab") \
	X(TRACE, 0, "orr_trace.lock", \
	  "the strings of a process that records, and its list of streams", \
	  "none", \
	  "anything but recording") \
	X(TRACE_FILE, 0, "orr_trace_file.lock", \
	  "the parts of the file that is being recorded which are in memory", \
	  "TRACE", \
	  "anything but the next block of the file") \
	X(SYS_NAMES, 0, "orr_real.lock", \
	  "the names of this machine that were ever given out", \
	  "PROCESS, PERF", \
	  "anything but a look at the list") \
	X(SYS_MEMORY, 0, "orr_real_memory.lock", \
	  "blocks that the runtime freed and keeps", \
	  "HANDLE", \
	  "anything but a look at the lists")
/* clang-format on */

enum orr_rank {
	ORR_RANK_NONE, /* not initialised */
#define X(rank, flags, lock, protects, after, never) ORR_RANK_##rank,
	ORR_LOCK_RANKS(X)
#undef X
		ORR_NRANKS
};

#ifdef ORR_DEBUG
/* The locks that a thread holds, in the order in which it took them. */
struct orr_held {
	unsigned n, cap;
	unsigned found; /* where the last one that was asked for stands */
	struct orr_held_lock {
		const void *lock;
		const char *file; /* where it was taken */
		unsigned line;
		uint8_t rank;
		uint8_t in_order; /* above all that were held when it was taken */
	} * v, inl[8];            /* v: inl, or allocated while there are more; NULL: inl */
};
#endif

#endif
