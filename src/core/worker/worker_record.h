/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records of workers and of the groups that step them.
 *
 * Invariant: a worker's state machine is touched only by the thread of its group. Fields that
 * several threads write are atomics, or are protected by the lock named beside them. */
#ifndef ORR_CORE_WORKER_RECORD_H
#define ORR_CORE_WORKER_RECORD_H

#include <stddef.h>

#include "base/process.h"
#include "base/world.h"
#include "trace/join.h"

struct orr_task;
struct orr_member;
struct orr_driver_ops;

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
	ORR_TIME_DATA = ORR_NCAUSES, /* with a task, whose data had to come */
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

/* The fields that a step of an idle worker reads come first, in one line of the cache: where one
 * thread steps all workers of a simulated node, each other line is a miss for each of them. */
struct orr_worker {
	/* The state machine: idle -> fetching -> running -> idle, or idle -> joined -> idle. Only
	 * the group's thread touches it. */
	enum { ORR_WORKER_IDLE, ORR_WORKER_FETCHING, ORR_WORKER_RUNNING, ORR_WORKER_JOINED } state;
	unsigned own_ctx; /* while its thread steps another worker: what its kernels and callbacks
			     chose by starpu_sched_ctx_set_context(), as struct orr_thread's ctx */
	struct orr_task *task;    /* atomic: in flight, or NULL when idle */
	struct orr_member *joins; /* atomic: parallel tasks that it is a member of, first come
				     first; changed under local_lock */
	struct starpu_task
		*kept; /* found when a pause had begun: the first to be taken afterwards, or NULL */
	struct orr_member *member; /* the one that it has come to, see core/flow/parallel.h */
	unsigned memnode;          /* where its kernels find their data */
	unsigned nlocal;           /* atomic: tasks in local */
	uint32_t ctxs;             /* atomic: bit i: it takes tasks from scheduling context i
				    * (core/ctx/sched_ctx.h)
				    */
	uint8_t disabled;          /* atomic: takes no tasks (core/front/knob.c) */
	uint8_t asleep;            /* the program was told that it sleeps (core/worker/nap.h) */
	uint8_t pipeline;          /* tasks at once; 0: it is no device's worker */
	uint8_t later;  /* RUNNING: the device runs the kernel, the driver tells when it is over */
	uint8_t nahead; /* tasks started behind the one that runs */
	uint8_t waits;  /* when it took its task (1), its next one (2), their data were not there */
	uint8_t starving; /* counted in data->nstarving */
	unsigned id;

	enum starpu_worker_archtype arch;
	int devid;  /* index among the workers (CPU) or devices of its kind */
	int bindid; /* logical core, -1 = not bound */
	struct orr_group *group;
	const struct orr_driver_ops *driver;
	void *driver_arg;
	const struct orr_arch *perf_arch; /* what performance models know of it (perf/arch.h) */

	struct orr_task
		*next; /* RUNNING on a device: the task whose data are fetched meanwhile, or NULL */
	struct orr_launch launch;  /* RUNNING: the kernel of task */
	struct orr_launch *ahead;  /* those of the tasks behind it, in order; owned, pipeline places
				    */
	struct orr_kernel kernel;  /* RUNNING: kernel.end_us is when it is over */
	uint64_t end_seq;          /* breaks ties among equal ends */
	double start_us, taken_us; /* its task was started, and, while events are recorded, taken */
	struct orr_trace_began began; /* RUNNING: the start of task in the trace, if it is there */
	unsigned heap_index;

	orr_lock_t local_lock; /* tasks pinned to this worker, protected by it */
	struct starpu_task_list local;
	unsigned next_order; /* STARPU_WORKER_ORDER: tasks of an order that were started */
	unsigned in_ctx; /* atomic: it is inside the policy of context in_ctx - 1, unless it is only
			    in the default one */
	unsigned ctx_turn; /* where it looks next */

	uint64_t ncompleted; /* atomic: tasks completed by this worker, written only by it */
	uint64_t busy_ns;    /* atomic: time in kernels, where they are timed */
	double joules;       /* since the runtime started, under local_lock (core/run/energy.c) */
	struct orr_policy_lock *policy_lock; /* atomic: for policies of programs
						(starpu_worker_lock), made when one asks for it */
	struct {                             /* for starpu_profiling_worker_get_info() */
		struct timespec start_time;
		int executed_tasks;
		uint64_t used_cycles;
		double energy_consumed;
	} prof;
	struct {
		double since_us; /* what came before is in spent_us */
		double spent_us[ORR_NTIMES];
		double causes_us[ORR_NCAUSES]; /* those of the process at that moment */
		uint8_t present;               /* what the time since since_us is, enum orr_time */
	} times;                               /* under local_lock */
	char name[48];
} __attribute__((aligned(ORR_LINES)));

_Static_assert(offsetof(struct orr_worker, arch) == 64, "an idle worker has one line of the cache");

/* Workers stepped by one thread (a real run: one each; a simulated run: all of the process). */
struct orr_group {
	struct orr_process *proc;
	unsigned first, nworkers;   /* core->workers[first .. first+nworkers) */
	struct orr_worker *workers; /* the first of them */
	orr_sys_thread_t *thread;
	orr_waitq_t bell;    /* rung when there may be something to do */
	unsigned sleeping;   /* atomic: the thread waits on the bell, for other threads alone */
	uint8_t begun;       /* its workers were made ready */
	uint8_t in_recess;   /* its function returned while it sleeps (base/seam.h) */
	uint8_t counts;      /* core->nready counts what its workers may find */
	uint8_t looks_again; /* it is in the set of idle groups, and looks for work once more */
	struct orr_worker **heap; /* running workers ordered by (kernel.end_us, end_seq) */
	unsigned nheap;
	unsigned nlater; /* workers whose kernel the device runs */
	unsigned nbusy;  /* workers that a step has to look at, whatever is ready; at least */
	void (*rung)(
		struct orr_process *); /* atomic: called when the bell rings, if another
					  component's thread steps the group (core/run/lend.h) */
	uint64_t seq;
#ifdef ORR_DEBUG
	struct orr_thread *stepper; /* atomic: the thread that steps it just now */
#endif
} __attribute__((aligned(ORR_LINES)));

#endif
