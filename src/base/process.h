/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The process as the ground floor knows it: one struct orr_process per process, or per simulated
 * rank. Everything that the runtime knows hangs off it, one part per floor: each floor defines its
 * own part, and the ground only carries the pointer.
 *
 * Invariant: orr_self() finds the process, and there is no other mutable state, except: caches that
 * any process may share (names of machines, interface identifiers), what the program itself owns
 * (codelets, models), and the real world's statics, of which a process has one by nature. Each
 * exception says so where it is defined. Fields that several threads write are atomics, or are
 * protected by the lock named beside them. */
#ifndef ORR_BASE_PROCESS_H
#define ORR_BASE_PROCESS_H

#include "starpu.h"
#include "base/config_record.h"
#include "base/seam.h"

struct orr_data;
struct orr_core;
struct orr_perf;
struct orr_trace;
struct orr_tool;
struct orr_mpi;
struct orr_link;
struct orr_slaves;
struct orr_park_ops;
struct orr_core_upcalls;
struct orr_mpi_upcalls;
struct orr_machine;

/* The inside of the machine as this process sees it. Filled by orr_sys_topology_init. */
struct orr_topology {
	unsigned ncores;    /* cores that this process may use (or PUs: STARPU_NTHREADS_PER_CORE) */
	int *core_ids;      /* their logical indices, ncores of them, owned */
	unsigned nmachine;  /* cores of the whole machine */
	unsigned nnuma;     /* NUMA nodes that are memory nodes of their own, at least 1 */
	int *numa_ids;      /* the system's numbers of them, owned; NULL: 0 */
	uint8_t *core_numa; /* the NUMA node of each core (by logical index), owned; NULL: 0 */
	unsigned ncore_numa;
	unsigned nunits; /* units that are known by number, those included that this process may not
			    use; 0: not known */
	uint8_t *unit_use; /* atomic: what the program's threads do with each of them
			      (core/worker/binding.c), owned */
	void *hwloc;       /* the world's own: a hwloc_topology_t, or NULL */
};

#define ORR_MAXNUMA 16

/* The NUMA node of a core; the first one if the core is not bound. */
static inline unsigned orr_topology_numa(const struct orr_topology *t, int core)
{
	return core >= 0 && (unsigned) core < t->ncore_numa ? t->core_numa[core] : 0;
}

enum orr_process_state {
	ORR_PROCESS_DOWN,
	ORR_PROCESS_STARTING,
	ORR_PROCESS_UP,
	ORR_PROCESS_STOPPING
};

/* orr_process.observed */
#define ORR_OBSERVED_BY_TRACE 1
#define ORR_OBSERVED_BY_TOOL 2

/* orr_process.stand_in */
#define ORR_STAND_IN_DEVICES 1 /* on devices that its model knows, for a missing one of theirs */
#define ORR_STAND_IN_SLAVES 2  /* on slaves, if they find it by its name */

struct orr_process {
	/* The parts of the floors above. data and core exist as long as the process. */
	struct orr_data *data;
	struct orr_core *core;
	struct orr_perf *perf;     /* NULL while the runtime is down */
	struct orr_trace *trace;   /* NULL: nothing is recorded */
	struct orr_cuda *cuda;     /* the devices that CUDA drives, NULL: none */
	struct orr_opencl *opencl; /* the devices that OpenCL drives, NULL: none */
	struct orr_tool *tool;     /* NULL: there is no profiling tool */
	struct orr_mpi *mpi;       /* NULL until starpu_mpi_init */
	struct orr_link *link;     /* messages without it (base/link.h), or NULL */
	struct orr_slaves *slaves; /* NULL: neither master nor slave (drivers/slave.h) */
	const struct orr_core_upcalls *core_up; /* what worlds ask, see base/upcalls.h */
	const struct orr_mpi_upcalls *mpi_up;   /* the same, set while mpi or link is */
	const struct orr_park_ops *park;        /* how to wake workers (base/park.h) */
	void *sys;                              /* the world's own part */
	struct orr_machine *machine; /* the measurements that the world brings, or NULL; set by
					orr_sys_devices (base/machine_record.h) */

	/* Read-mostly. */
	enum orr_process_state state;
	int closing; /* a thread waits for the end of all work, to stop the runtime; under lock */
	unsigned observed;   /* ORR_OBSERVED_*: who wants to hear about the steps of tasks */
	unsigned init_count; /* starpu_init calls not yet shut down */
	double start_us;     /* when the runtime started */
	int64_t quiet_ns;    /* atomic: when its last work was over and it began to tell about
				itself; 0: not yet */
	unsigned epoch;      /* counts initialisations: stale thread caches are recognised by it */
	int mpi_rank, mpi_size; /* as the program sees them: 0 of 1 without MPI, or the fake ones */
	double costs[ORR_NCOSTS]; /* virtual costs in microseconds, 0 in a real run */
	/* As read from the environment (base/config.h); shared, so written to by orr_config_own()
	 * alone. Never NULL. */
	const struct orr_config *cfg;
	/* As given to starpu_init, completed; written only while it is the process's own
	 * (start/shared_conf.h). Never NULL. */
	struct starpu_conf *conf;
	void (*naps)(unsigned worker), (*wakes)(unsigned worker); /* atomic: called when one falls
								     asleep, and wakes up */
	struct orr_topology topo;
	unsigned ngroups;   /* groups of workers, each stepped by one thread; 0: none yet, and
			       nothing goes on in the background */
	uint32_t arch_mask; /* kinds of units that exist: STARPU_CPU | ... */
	int stand_in;     /* functions for the CPU serve other units, too: bits of ORR_STAND_IN_* */
	unsigned nparked; /* atomic: threads of the program in orr_park_wait */
	int catches;      /* atomic: signals are told, see orr_sys_catch_signals */
	int perf_timing;  /* kernels are timed: calibration, profiling or statistics want it */
	int keep_graph;   /* the world wants the graph of all tasks (orr_graph_keep) */
	unsigned trace_manual; /* starpu_fxt_autostart_profiling(0): the program starts recording */

	double idle_watts;          /* of the whole machine doing nothing; 0: not known */
	double watts[STARPU_NARCH]; /* what a busy unit adds to that; 0: not known */
	double joules; /* set when the runtime stops: the energy used since it started */

	orr_waitq_t
		done; /* rung when something that a thread of the program may wait for is over */
	unsigned nholding; /* atomic: contexts whose policy holds tasks until the program waits */
	uint64_t rng;      /* state of the seeded generator */
	orr_lock_t lock;   /* protects the rare lists of all floors that name it */
};

/* The next number of the process's seeded generator (xorshift64*). Not synchronised: a race makes
 * numbers repeat, and simulated runs have none. */
uint64_t orr_random(struct orr_process *proc);

#endif
