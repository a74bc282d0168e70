/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The per-process context: everything the runtime knows hangs off struct orr_node, one per process
 * (per simulated rank).
 *
 * Invariant: there is no other mutable state; orr_self() finds the context. Fields that several
 * threads write are atomics or are protected by the lock named beside them. */
#ifndef ORR_CORE_NODE_H
#define ORR_CORE_NODE_H

#include "starpu.h"
#include "core/sys.h"
#include "core/config.h"
#include "core/slab.h"

struct orr_task;
struct orr_mpi;
struct orr_perf;
struct orr_trace;
struct orr_graph;
struct orr_policy_state;
struct orr_tag;
struct orr_fetch;
struct orr_prefetch;
struct orr_repl_ext;
struct orr_access;
struct orr_hook;
struct orr_combined;
struct orr_member;

/* The inside of the machine as seen by this process. Filled by orr_sys_topology_init. */
struct orr_topology {
	unsigned
		ncores; /* cores (or PUs, see STARPU_NTHREADS_PER_CORE) that this process may use */
	int *core_ids;  /* their logical indices, ncores of them, owned */
	unsigned nmachine;  /* cores of the whole machine */
	unsigned nnuma;     /* NUMA nodes that are memory nodes of their own, at least 1 */
	int *numa_ids;      /* the system's numbers of them, owned; NULL: 0 */
	uint8_t *core_numa; /* which of them a core (by logical index) belongs to, owned; NULL: the
			       first */
	unsigned ncore_numa;
	void *hwloc; /* hwloc_topology_t or NULL */
};

#define ORR_MAXNUMA 16

/* The NUMA node of a core; the first for what is not bound. */
static inline unsigned orr_topology_numa(const struct orr_topology *t, int core)
{
	return core >= 0 && (unsigned) core < t->ncore_numa ? t->core_numa[core] : 0;
}

/* What was copied from one memory node to another (core/bus.c). */
struct orr_bus {
	uint64_t bytes, count;           /* atomic: ever */
	uint64_t seen_bytes, seen_count; /* when the program last asked, and when that was: under
					    the memory node's lock */
	double seen_us;
	int direct, ngpus; /* atomic: the program's own words, see starpu_bus_set_direct */
};

/* Where a unit keeps its data. Node 0 is main memory. */
struct orr_memnode {
	enum starpu_node_kind kind;
	int devid; /* index among the nodes of that kind */
	const struct orr_memnode_ops *ops;
	void *ops_arg;   /* the back end's own */
	orr_lock_t lock; /* protects what follows */
	size_t total;    /* capacity in bytes, 0 = unlimited */
	size_t used;     /* bytes allocated by data and by counted mallocs */
	struct orr_repl_ext *lru_head, *lru_tail; /* replicates whose buffer is ours, least recently
						     used first (data/memory.c) */
	unsigned lru_stamp;                       /* marks what one search for victims has tried */
	void *cache, *cache_tail; /* buffers kept for reuse, oldest first (data/memory.c) */
	size_t cache_bytes;
	size_t evicting;              /* bytes whose write-back is under way */
	size_t avail_low, avail_high; /* bytes free when eviction begins by itself, and ends; 0:
					 never (data/tidy.c) */
	size_t clean_low, clean_high; /* the same of bytes that are free or copies of what is
					 elsewhere too, and write-back */
	uint8_t cleaning;   /* atomic: write-back ahead has begun and not reached clean_high */
	unsigned ncleaning; /* atomic: write-backs ahead that take time and are not over */
	uint64_t evictions, cleaned; /* statistics */
	struct orr_bus *bus; /* node i has those between it and the nodes before it: i to it, then i
				from it */
	orr_waitq_t freed;   /* rung when memory is given back */
	struct orr_group *group;       /* serves the prefetches to this memory; NULL: any group */
	orr_lock_t prefetch_lock;      /* protects the list */
	struct orr_prefetch *prefetch; /* queued, most urgent first (data/prefetch.c) */
	unsigned nloading;             /* atomic: copies to it that take time and are not over */
};

/* A scheduling context, see core/ctx.h. */
struct orr_ctx {
	struct starpu_sched_policy *policy;
	void *policy_data; /* the policy's own */
	unsigned id;
	unsigned state;   /* atomic: enum orr_ctx_state */
	int whole;        /* atomic: all workers are in it */
	int policy_wakes; /* the policy wakes workers itself */
	int min_prio, max_prio;
	int fixed_min, fixed_max; /* given when it was made */
	char *name;
	void *user_data;
	unsigned inheritor;     /* atomic */
	unsigned nested, level; /* nested: the context around it, itself when there is none */
	int nsms;               /* multiprocessors of a GPU, -1: not told */
	unsigned epoch;         /* atomic: counts additions of workers */
	orr_lock_t lock;        /* protects the list, and the collection with its members */
	struct starpu_task_list homeless; /* ready tasks that none of its workers can execute */
	struct starpu_worker_collection *collection; /* its workers, made when asked for */
	uint64_t nsubmitted __attribute__((
		aligned(64))); /* atomic: not used by context 0, see orr_ctx_npending */
	uint64_t ncompleted;   /* atomic */
	unsigned npushing;     /* atomic: threads inside push_task and do_schedule; push_task is not
				  counted for context 0 */
	int live;              /* atomic: the policy may be called by whoever is counted there */
	unsigned phase; /* atomic: how often the program has waited for all tasks of this context */
} __attribute__((aligned(64)));

struct orr_worker {
	unsigned id;
	enum starpu_worker_archtype arch;
	int devid;        /* index among the workers (CPU) or devices of its kind */
	unsigned memnode; /* where its kernels find their data */
	int bindid;       /* logical core, -1 = not bound */
	struct orr_group *group;
	const struct orr_driver_ops *driver;
	void *driver_arg;
	struct orr_perf_unit *unit; /* what the performance models know of it, see perf/perf.h */

	/* The state machine: idle -> fetching -> running -> completing -> idle. Only the group's
	 * thread touches it. */
	enum { ORR_WORKER_IDLE, ORR_WORKER_FETCHING, ORR_WORKER_RUNNING, ORR_WORKER_JOINED } state;
	struct orr_task *task; /* in flight, or NULL when idle */
	struct orr_task
		*next; /* RUNNING on a device: the task whose data are fetched meanwhile, or NULL */
	struct starpu_task
		*kept; /* found when a pause had begun: the first to be taken afterwards, or NULL */
	uint8_t pipeline; /* takes a next task */
	double end_us;    /* RUNNING: when the kernel is over, by orr_sys_now_us() */
	uint64_t end_seq; /* breaks ties among equal end_us */
	double start_us;
	double own_us; /* what the last kernel took by itself, see orr_sys_kernel_start; 0: not
			  known */
	unsigned heap_index;

	orr_lock_t local_lock; /* tasks pinned to this worker, protected by it */
	struct starpu_task_list local;
	unsigned next_order; /* STARPU_WORKER_ORDER: tasks of an order that were started */
	unsigned nlocal;     /* atomic: tasks in local */

	uint64_t ncompleted; /* atomic: tasks completed by this worker, written only by it */
	double busy_us;
	double joules; /* since the runtime started, under local_lock (core/energy.c) */
	starpu_pthread_mutex_t policy_mutex; /* for policies of programs (starpu_worker_lock) */
	starpu_pthread_cond_t policy_cond;
	struct starpu_profiling_worker_info prof;
	char name[48];
	struct orr_member *joins;  /* atomic: parallel tasks that it is a member of, first come
				      first; changed under local_lock */
	struct orr_member *member; /* the one that it has come to, see core/parallel.h */
	uint8_t starving;          /* counted in node->nstarving */
	uint32_t ctxs;   /* atomic: bit i: it takes tasks from scheduling context i (core/ctx.h) */
	unsigned in_ctx; /* atomic: it is inside the policy of context in_ctx - 1, unless it is only
			    in the default one */
	unsigned ctx_turn; /* where it looks next */
} __attribute__((aligned(128)));

/* Workers stepped by one thread (a real run: one each; a simulated run: all of the process). */
struct orr_group {
	struct orr_node *node;
	unsigned first, nworkers; /* workers[first .. first+nworkers) */
	orr_sys_thread_t *thread;
	orr_waitq_t bell;         /* rung when there may be something to do */
	unsigned sleeping;        /* atomic: the thread waits on the bell */
	struct orr_worker **heap; /* running workers ordered by (end_us, end_seq) */
	unsigned nheap;
	uint64_t seq;
} __attribute__((aligned(128)));

enum orr_node_state { ORR_NODE_DOWN, ORR_NODE_STARTING, ORR_NODE_UP, ORR_NODE_STOPPING };

struct orr_node {
	/* read-mostly */
	enum orr_node_state state;
	unsigned init_count; /* starpu_init calls not yet shut down */
	double start_us;     /* when the runtime started */
	unsigned epoch;      /* counts initialisations: stale thread caches are recognised by it */
	struct orr_config cfg;
	struct starpu_conf conf; /* as given to starpu_init, completed */
	struct orr_topology topo;
	struct orr_worker *workers;
	unsigned nworkers;
	struct orr_group *groups;
	unsigned ngroups;
	struct orr_memnode memnodes[STARPU_MAXNODES];
	unsigned nmemnodes;  /* atomic: grows when disks are registered */
	int limited;         /* some memory node has a limit */
	int swap_node;       /* disk that main memory overflows to, -1: none */
	struct orr_ctx ctx0; /* the default scheduling context */
	struct orr_ctx
		*ctx[STARPU_NMAX_SCHED_CTXS]; /* by number: ctx[0] is ctx0, NULL: never made */
	unsigned nctxs;                       /* atomic: contexts there are */
	unsigned ctx_busy; /* atomic: somebody makes, changes or deletes contexts */
	unsigned nholding; /* atomic: contexts whose policy holds tasks until the program waits */
	unsigned ctx_leaving; /* atomic: a context became empty whose workers are to go */
	uint32_t arch_mask;   /* kinds of units that exist: STARPU_CPU | ... */
	int stand_in;    /* a codelet's function for the CPU stands for the missing one for CUDA on
			    devices that its model knows */
	int perf_timing; /* kernels are timed: calibration, profiling or statistics want it */
	int *explicit_ids; /* STARPU_WORKERS_CPUID: units to bind to, nexplicit of them */
	unsigned nexplicit;
	size_t malloc_align;
	starpu_malloc_hook malloc_hook;
	starpu_free_hook free_hook;
	int malloc_flags[STARPU_MAXNODES];
	uint32_t malloc_flags_set; /* bit i: malloc_flags[i] was set by the program */
	unsigned paused; /* atomic: calls of starpu_pause that no starpu_resume has answered */
	unsigned trace_manual; /* starpu_fxt_autostart_profiling(0): recording waits for the program
				*/
	unsigned stopping;     /* atomic: workers are to end once nothing is left */
	int default_sequential_consistency;
	double costs[ORR_NCOSTS]; /* virtual costs in microseconds, 0 in a real run */
	struct orr_perf *perf;
	struct orr_trace *trace;
	struct orr_graph *graph; /* recorded tasks (core/graph.h), NULL when nothing is recorded */
	int keep_graph;          /* the world wants the graph of everything (orr_graph_keep) */
	struct orr_mpi *mpi;     /* NULL until starpu_mpi_init */
	void (*look)(struct orr_node *, int idle); /* atomic: what workers call between tasks and
						      before they sleep (orr_look_set), or NULL */
	unsigned nlooking;                         /* atomic: workers that may be calling it */
	int mpi_rank, mpi_size; /* as the program sees it: 0 of 1 without MPI, the fake values when
				   faked */
	double idle_watts, watts[STARPU_NARCH]; /* of the whole machine doing nothing, and on top of
						   a busy unit; 0: not known */
	double joules;             /* set when the runtime stops: used since it started */
	struct orr_energy *energy; /* measurements under way (core/energy.c) */
	void *sys;                 /* the world's own part */

	/* slabs: see core/slab.h */
	struct orr_slab task_slab;
	struct orr_slab handle_slab; /* handles of the built-in small interfaces */

	/* written by submitters */
	uint64_t nsubmitted __attribute__((aligned(64))); /* atomic: tasks submitted */
	uint64_t next_job;                                /* atomic: job ids */

	/* written by whoever completes a task outside of a worker */
	uint64_t ncompleted_other __attribute__((aligned(64))); /* atomic */

	orr_waitq_t done __attribute__((
		aligned(64)));  /* rung when a task that somebody may wait for has completed */
	unsigned phase;         /* atomic: how often the program has waited for all tasks */
	unsigned ndone_waiters; /* atomic: threads in starpu_task_wait_for_all and relatives */

	orr_lock_t tag_lock __attribute__((aligned(64)));
	void *tags;                     /* tag table (core/tag.c) */
	orr_lock_t lock;                /* protects the rare lists below */
	struct orr_transfer *transfers; /* copies under way, first to end first */
	struct orr_fetch *starved;      /* requests that wait for memory (data/transfer.c) */
	struct orr_worker *starver; /* atomic: the one worker that may collect data while memory is
				       exhausted */
	unsigned nstarving;         /* atomic: workers and requests that wait for memory */
	unsigned untidy;            /* atomic: an idle group is to look whether memory runs low */
	unsigned nbusy; /* atomic: workers that hold data; only counted when some memory is limited
			 */
	unsigned ncopying;    /* atomic: copies in progress, finished or not scheduled yet */
	unsigned nprefetch;   /* atomic: prefetches queued on all memory nodes */
	unsigned nbackground; /* atomic: reduction tasks, prefetches and submitted ends of handles
				 that are not over */
	unsigned rr;          /* round-robin cursor of pushes from outside of workers */
	uint64_t rng;         /* state of the seeded generator */
	uint32_t next_interface_id;
	struct orr_combined **combined; /* combined workers (core/parallel.h), by number - nworkers;
					   the table is made with the first */
	unsigned ncombined;             /* atomic */
	unsigned combined_built;        /* atomic: those that the machine suggests are there */
	orr_lock_t join_lock;           /* parallel tasks are queued to their members under it */
	struct orr_hook *hooks; /* functions that idle workers call (core/hooks.c), hooks_cap
				   places; under lock */
	unsigned hooks_cap;
	unsigned nhooks;                             /* atomic: places in use */
	uint64_t idle_mask[STARPU_NMAXWORKERS / 64]; /* atomic: groups that sleep, by index */
};

/* Logging: one line to stderr, prefixed by rank. Whoever first identifies an error logs it. Quiet
 * levels honour STARPU_SILENT. */
void orr_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void orr_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void orr_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A user's mistake that no return value can carry (a kernel reads what was never written, ...):
 * message, then the program ends with a non-zero status. */
void orr_fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* bus.c: bytes went from memory node src to another one, dst. */
void orr_bus_count(struct orr_node *node, unsigned src, unsigned dst, uint64_t bytes);
void orr_bus_print(FILE *f);

/* Next number of the node's seeded generator (xorshift64*), for policies. */
uint64_t orr_random(struct orr_node *node);

#endif
