/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The core's part of a process: scheduling contexts, workers, the groups that step them, and
 * the counters of tasks.
 *
 * Invariant: a worker's state machine is touched only by the thread of its group. Fields that
 * several threads write are atomics, or are protected by the lock named beside them. */
#ifndef ORR_CORE_CORE_H
#define ORR_CORE_CORE_H

#include "base/process.h"
#include "base/slab.h"
#include "base/world.h"

struct orr_task;
struct orr_graph;
struct orr_hook;
struct orr_combined;
struct orr_member;
struct orr_energy;
struct orr_monitor;
struct orr_tag;
struct orr_driver_ops;
struct orr_map;
struct orr_policies;
struct starpu_sched_tree;

/* A scheduling context, see core/ctx/sched_ctx.h. */
struct orr_ctx {
	struct starpu_sched_policy *policy;
	void *policy_data;  /* the policy's own */
	uint8_t own_policy; /* the program chose one; otherwise the policy is a matter of ours */
	uint8_t of_teams;   /* atomic: its workers take tasks for their parallel workers
			     * (core/flow/team.h)
			     */
	void *program_data; /* in a context without policy: what the program keeps as its data */
	struct starpu_sched_tree *tree; /* of components (sched/component.h), NULL: none */
	unsigned id;
	unsigned state;   /* atomic: enum orr_ctx_state */
	int whole;        /* atomic: all workers are in it */
	int policy_wakes; /* the policy wakes workers itself */
	int min_prio, max_prio;
	int fixed_min, fixed_max; /* given when it was made */
	int cap_min, cap_max;     /* atomic: its tasks get priorities in this range */
	char *name;
	void *user_data;
	unsigned inheritor;                       /* atomic */
	void (*close_callback)(unsigned, void *); /* atomic: the program's, called at its end */
	void *close_arg;
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

/* A kernel that a worker started. */
struct orr_launch {
	struct orr_task *task;
	void *event;   /* the driver's */
	double due_us; /* see struct orr_driver_ops */
	double own_us; /* what it took by itself, 0: unknown */
};

/* The uses of a worker's time (core/task/times.h). */
enum orr_time {
	ORR_TIME_IDLE,       /* without a task, until another task or nothing made one ready */
	ORR_TIME_MESSAGE,    /* the same, until a message did */
	ORR_TIME_SUBMISSION, /* the same, until the program submitted one */
	ORR_TIME_FOREIGN,    /* of that, while it inserted tasks of other ranks */
	ORR_NCAUSES,
	ORR_TIME_DATA = ORR_NCAUSES, /* with a task, before its kernel */
	ORR_TIME_KERNEL,
	ORR_TIME_RUNTIME, /* tasks that are ready, their start and their end */
	ORR_NTIMES
};

/* The time of a process divided by what made its tasks ready, up to the last of them. The time of
 * foreign insertions is counted beside the others. */
struct orr_causes {
	orr_lock_t lock;
	double since_us;
	double us[ORR_NCAUSES];
};

struct orr_worker {
	unsigned id;
	enum starpu_worker_archtype arch;
	int devid;        /* index among the workers (CPU) or devices of its kind */
	unsigned memnode; /* where its kernels find their data */
	int bindid;       /* logical core, -1 = not bound */
	struct orr_group *group;
	const struct orr_driver_ops *driver;
	void *driver_arg;
	const struct orr_arch *perf_arch; /* what performance models know of it (perf/arch.h) */

	/* The state machine: idle -> fetching -> running -> completing -> idle. Only the group's
	 * thread touches it. */
	enum { ORR_WORKER_IDLE, ORR_WORKER_FETCHING, ORR_WORKER_RUNNING, ORR_WORKER_JOINED } state;
	struct orr_task *task; /* in flight, or NULL when idle */
	struct orr_task
		*next; /* RUNNING on a device: the task whose data are fetched meanwhile, or NULL */
	struct starpu_task
		*kept; /* found when a pause had begun: the first to be taken afterwards, or NULL */
	uint8_t pipeline; /* tasks at once; 0: it is no device's worker */
	uint8_t later;  /* RUNNING: the device runs the kernel, the driver tells when it is over */
	uint8_t nahead; /* tasks started behind the one that runs */
	struct orr_launch launch;  /* RUNNING: the kernel of task */
	struct orr_launch *ahead;  /* those of the tasks behind it, in order; owned, pipeline places
				    */
	struct orr_kernel kernel;  /* RUNNING: kernel.end_us is when it is over */
	uint64_t end_seq;          /* breaks ties among equal ends */
	double start_us, taken_us; /* its task was started, and, while events are recorded, taken */
	unsigned heap_index;

	orr_lock_t local_lock; /* tasks pinned to this worker, protected by it */
	struct starpu_task_list local;
	unsigned next_order; /* STARPU_WORKER_ORDER: tasks of an order that were started */
	unsigned nlocal;     /* atomic: tasks in local */

	uint64_t ncompleted; /* atomic: tasks completed by this worker, written only by it */
	uint64_t busy_ns;    /* atomic: time in kernels, where they are timed */
	double joules;       /* since the runtime started, under local_lock (core/run/energy.c) */
	starpu_pthread_mutex_t policy_mutex; /* for policies of programs (starpu_worker_lock) */
	starpu_pthread_cond_t policy_cond;
	struct starpu_profiling_worker_info prof;
	struct {
		double since_us; /* what came before is in spent_us */
		double spent_us[ORR_NTIMES];
		double causes_us[ORR_NCAUSES]; /* those of the process at that moment */
		uint8_t present;               /* what the time since since_us is, enum orr_time */
	} times;                               /* under local_lock */
	char name[48];
	unsigned own_ctx; /* while its thread steps another worker: what its kernels and callbacks
			     chose by starpu_sched_ctx_set_context(), as struct orr_thread's ctx */
	struct orr_member *joins;  /* atomic: parallel tasks that it is a member of, first come
				      first; changed under local_lock */
	struct orr_member *member; /* the one that it has come to, see core/flow/parallel.h */
	uint8_t starving;          /* counted in node->nstarving */
	uint8_t disabled;          /* atomic: takes no tasks (core/front/knob.c) */
	uint8_t asleep;            /* the program was told that it sleeps (core/worker/nap.h) */
	uint32_t ctxs;             /* atomic: bit i: it takes tasks from scheduling context i
				    * (core/ctx/sched_ctx.h)
				    */
	unsigned in_ctx; /* atomic: it is inside the policy of context in_ctx - 1, unless it is only
			    in the default one */
	unsigned ctx_turn; /* where it looks next */
} __attribute__((aligned(128)));

/* Workers stepped by one thread (a real run: one each; a simulated run: all of the process). */
struct orr_group {
	struct orr_process *proc;
	unsigned first, nworkers; /* workers[first .. first+nworkers) */
	orr_sys_thread_t *thread;
	orr_waitq_t bell;         /* rung when there may be something to do */
	unsigned sleeping;        /* atomic: the thread waits on the bell, without limit of time */
	uint8_t begun;            /* its workers were made ready */
	uint8_t in_recess;        /* its function returned while it sleeps (base/seam.h) */
	struct orr_worker **heap; /* running workers ordered by (kernel.end_us, end_seq) */
	unsigned nheap;
	unsigned nlater; /* workers whose kernel the device runs */
	void (*rung)(
		struct orr_process *); /* atomic: called when the bell rings, if another
					  component's thread steps the group (core/run/lend.h) */
	uint64_t seq;
} __attribute__((aligned(128)));

struct orr_core {
	/* From the beginning of the process to its end. */
	const struct orr_policies *policies; /* the floor of policies (core/ctx/policy.h) */
	struct orr_graph
		*graph; /* recorded tasks (core/task/graph.h), NULL when nothing is recorded */
	void (*poll_hook)(struct orr_process *,
			  int idle);   /* atomic: called by workers between tasks and
					  before they sleep (orr_poll_hook_set), or NULL */
	void (*watchdog_hook)(void *); /* atomic: called when the watchdog reports, or NULL */
	void *watchdog_arg;
	unsigned npolling; /* atomic: workers that may be calling it */
	unsigned phase;    /* atomic: how often the program has waited for all tasks */
	struct orr_slab task_slab;
	struct orr_map *tags; /* by number (core/flow/tag.c), NULL: none */
	orr_lock_t tag_lock;  /* protects tags */
	orr_lock_t
		edge_lock; /* protects the dependencies that tasks keep (core/task/task_edges.h) */
	orr_lock_t join_lock;   /* held while a parallel task is queued to its members */
	struct orr_hook *hooks; /* functions that idle workers call (core/worker/hooks.c), hooks_cap
				   places; under proc->lock */
	unsigned hooks_cap;
	unsigned nhooks; /* atomic: places in use */

	/* From starpu_init to starpu_shutdown: workers and all that follows begins as zeroes. */
	struct orr_worker *workers;
	unsigned nworkers;
	struct orr_group *groups;
	struct orr_ctx ctx0; /* the default scheduling context */
	struct orr_ctx
		*ctx[STARPU_NMAX_SCHED_CTXS]; /* by number: ctx[0] is ctx0, NULL: never made */
	unsigned nctxs;                       /* atomic: contexts there are */
	unsigned ctx_busy;    /* atomic: somebody makes, changes or deletes contexts */
	unsigned ctx_leaving; /* atomic: a context became empty whose workers must leave it */
	int *explicit_ids;    /* STARPU_WORKERS_CPUID: units to bind to, nexplicit of them, owned */
	unsigned nexplicit;
	int *driver_units; /* those of the threads that drive devices, ndriver_units of them, owned
			    */
	unsigned ndriver_units;
	int engine_core; /* a unit is kept for the progression thread of MPI */
	int *by_unit;    /* atomic: workers in the order of their units (core/ctx/worker_names.c),
			    owned,    NULL: not asked for */
	struct starpu_tree *unit_tree; /* atomic: core/worker/unit_tree.c, NULL: not asked for */
	unsigned paused;   /* atomic: calls of starpu_pause that no starpu_resume has answered */
	unsigned stopping; /* atomic: workers end once nothing is left */
	struct starpu_parallel_worker_config *teams; /* atomic: core/flow/team.c, NULL: none */
	struct orr_monitor *monitor; /* counts for performance counters (core/flow/monitor.c) */
	unsigned collecting;         /* atomic: calls that switched performance counters on */
	unsigned prio_caps;          /* atomic: a context limits priorities (core/front/knob.c) */
	struct orr_energy *energy;   /* measurements under way (core/run/energy.c) */
	struct orr_combined **combined; /* combined workers (core/ctx/combined.h), by number -
					   nworkers; the table is made with the first */
	unsigned ncombined;             /* atomic */
	unsigned combined_built;        /* atomic: those that the machine suggests are there */

	/* Written by threads that submit. */
	uint64_t nsubmitted __attribute__((aligned(64))); /* atomic: tasks submitted */
	uint64_t next_job; /* atomic: job ids; goes on over starpu_shutdown */

	/* Written by threads that complete a task outside of a worker. */
	uint64_t ncompleted_other __attribute__((aligned(64))); /* atomic */

	unsigned ndone_waiters __attribute__((
		aligned(64)));    /* atomic: threads in starpu_task_wait_for_all and relatives */
	struct orr_causes causes; /* while profiling is on (core/task/times.h) */
	unsigned rr;              /* round-robin cursor of pushes from outside of workers */
	uint64_t idle_mask[STARPU_NMAXWORKERS / 64]; /* atomic: groups that sleep, by index */
};

#endif
