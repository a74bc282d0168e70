/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranks: what is known of a simulated process, from its node to the end of its program.
 *
 * Invariant: there is one for each host of the run, from before the first actor on. Its host,
 * machine and cores stay the same; processes of the program may come and go (run/sim_dyn.c). */
#ifndef ORR_SIM_RANK_H
#define ORR_SIM_RANK_H

#include <setjmp.h>
#include <simgrid/host.h>
#include "base/about.h"
#include "base/machine_record.h"
#include "base/process.h"
#include "actors/sim_own_record.h"
#include "actors/sim_private_record.h"
#include "sim.h"

struct link_map;
struct orr_sim_actor;
struct orr_sim_bell;
struct orr_sim_bus;
struct orr_sim_cores;
struct orr_sim_mpi;
struct orr_sim_peer;

struct orr_sim_rank {
	/* Fields that each turn of an actor, and each message, looks at are together: ranks take
	 * their turns in any order, and none of them is in a cache then. */
	int rank;
	unsigned nrunning; /* kernels on its CPUs */
	struct orr_sim_cores *cores;
	struct orr_process *proc;
	struct orr_sim_actor *engine, *driver, *main;
	struct orr_sim_kernel *kernels; /* sim_kernel.c's own: actors that run none just now */
	struct orr_sim_mpi *mpi;        /* sim_mpi.c's own */
	struct orr_sim_threads threads; /* what its threads have for themselves */
	struct orr_sim_own own;         /* and its process */
	sg_host_t host;
	const char *machine_name;
	struct orr_machine *machine; /* NULL: the built-in description */
	unsigned ncpus;
	double slowness; /* of everything that it computes, beside what models tell */
	struct orr_sim_rank *next_on_computer;
	double stolen_us; /* what its next kernel lasts longer: others took a core from it */
	struct {          /* of the program on a core that workers want, too (sim_cores.c) */
		double used_us, left_us; /* since the last turn that counts; until that is one */
		double since_us;         /* of the last use */
		double taken_us;         /* turns that the next kernel lasts longer by */
		double alone_us;         /* since then workers leave it the core */
		double until_us;         /* until then a worker has lost its core to it */
		int begun, alone;
	} turn;
	unsigned receiving; /* messages that its engine receives with the processor, as no worker
			       has time to do so later */
	double looked_us;   /* when a worker looked after messages last */
	double copy_us, touch_us; /* the processor's time per received byte, and per byte of memory
				     that was never used before */
	double way_us; /* the network's time per byte of a long message, where copy_us is given */
	size_t live, peak, untouched; /* bytes of main memory that the runtime has, has had at most,
					 and has not written to yet */
	orr_waitq_t signals;          /* threads that wait for a signal */
	void *object;                 /* its copy of the program, as dlopen() names it */
	void (*exit_functions)(void); /* calls what the program gave to atexit(); or NULL */
	char **argv;
	int ended, status; /* the program's main is over, with this status */
	double end_us;
	int layer_up;   /* the MPI layer may be asked (orr_sys_live_layer) */
	int runtime_up; /* between orr_sys_process_init and orr_sys_process_exit */
	struct orr_sim_peer *peers;
	unsigned npeers;
	struct orr_sim_bell *bell;    /* of its engine: a part of that, or NULL */
	struct orr_sim_bus *bus;      /* sim_bus.c's own; NULL until a copy or a device needs it */
	double joules;                /* used by what the runtime knew of, as reported at its end */
	struct orr_run_work work;     /* of the present start of the runtime */
	struct orr_run_work *earlier; /* of those before; NULL: there were none */
	unsigned epoch;               /* that `work` is of */
	int fake;      /* 1 + the rank that the process plays (STARPU_MPI_FAKE_RANK), 0: none */
	int fake_size; /* of so many ranks */
	struct orr_sim_library *libraries; /* sim_library.c's own */
	const struct link_map **objects;   /* its copies of the program's libraries; NULL ends */
	struct orr_graph **graphs;         /* of all starts of the runtime, with --bound */
	unsigned ngraphs;
	/* elastic runs (sim_dyn.c) */
	int start;        /* of the registry, that the process is of, 0: of the first ones */
	int place;        /* of the process among those that were started with it */
	int uid;          /* its number in the registry, -1: it has none */
	int leaving;      /* that of a process that ends, until the registry knows; -1: none does */
	int vacant, away; /* no process is here; none may come */
	int unload;       /* `object`, as soon as the main actor has left its code */
	char instance[32]; /* of SMPI, that the process joined */
	void *world;       /* its MPI_COMM_WORLD, NULL: that of the first processes */
	void *dyn_client;  /* what the interface keeps */
	jmp_buf *end;      /* where its main actor ends: on the stack of that */
	char *frame;       /* of the function with that place */
};

#endif
