/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the simulated world: one struct orr_sim for the simulation, one struct orr_sim_rank
 * per simulated process, one struct orr_sim_actor per actor. Shared by sim/sys (in the library) and
 * sim/launcher (the program that fills it in).
 *
 * Invariant: everything but orr_sim_self is reached from orr_sim; only the launcher writes the
 * settings, before any actor runs. */
#ifndef ORR_SIM_H
#define ORR_SIM_H

#include <setjmp.h>
#include <stdio.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include "base/about.h"
#include "base/machine.h"
#include "base/process.h"
#include "base/source.h"
#include "base/upcalls.h"
#include "base/world.h"
#include "sim_event.h"
#include "sim_glue.h"
#include "sim_noise.h"
#include "sim_own.h"
#include "sim_private.h"

enum orr_sim_kernels { ORR_SIM_RUN, ORR_SIM_SKIP, ORR_SIM_INJECT };
/* The carrier of the runtime's own messages: SMPI, or a model of sim_network.h. */
enum orr_sim_network { ORR_SIM_SMPI, ORR_SIM_MAXMIN, ORR_SIM_SHARE, ORR_SIM_QUEUE };

struct link_map;
struct orr_sim_company;
struct orr_sim_fiber;
struct orr_sim_rank;
struct orr_sim_stack;

/* A wait on an event count (sim_actor.c). */
struct orr_sim_wait {
	orr_waitq_t *q;
	unsigned key;
	int expired;
	double deadline_s;    /* < 0: none */
	double busy_until_us; /* what was charged before goes on as long */
};

/* The state of an actor that is in a recess (base/seam.h). */
enum orr_sim_recess {
	ORR_SIM_NO_RECESS,
	ORR_SIM_UNUSED, /* waits for a function */
	ORR_SIM_SLEEPS, /* until until_s */
	ORR_SIM_BLOCKED,
	ORR_SIM_WAITS /* as `wait` says */
};

struct orr_sim_actor {
	struct orr_sim_actor_head head; /* first */
	struct orr_sim_rank *rank;
	enum orr_role role;          /* USER for the program's main actor too */
	sg_actor_t actor;            /* SimGrid's, that it is or whose stack it has; or NULL */
	struct orr_sim_stack *stack; /* the one that it borrows now (sim_turns.h), or NULL */
	uint8_t borrows;             /* has no stack of its own */
	uint8_t slept;               /* the kernel that it runs has */
	uint8_t measured;            /* so has its use of the processor */
	struct orr_sim_fiber *fiber; /* of a kernel's actor (sim_kernel.c): runs on it, first as a
					part of the driver and, once it has waited, on a stack that
					it borrows; else NULL */
	enum orr_sim_recess recess;
	double until_s;
	struct orr_sim_wait wait;
	struct orr_sim_event limit;      /* of the time that it is blocked */
	struct orr_sim_actor *wait_next; /* in the ring of an orr_waitq_t, else NULL */
	struct orr_sim_actor *turn_next; /* in the list of sim_turns.c */
	void *bell_out;                  /* MPI_Request of the last ring, or NULL */
	uint8_t blocked;                 /* waits in orr_sim_block */
	uint8_t timed_out;
	uint8_t mpi;      /* MPI_Init was called by or for it */
	uint8_t itself;   /* nested: it calls SMPI as itself, and not for the program */
	uint8_t can_ring; /* SMPI finds its rank: main and driver, children of the engine's actor */
	uint8_t ring_request; /* is to ring the engine's bell when it next waits */
	uint8_t active;       /* a function was handed to it and has not ended */
	uint8_t detached;
	int in_kernel;    /* 1 + the worker that it steps, while it calls its kernel; else 0 */
	double others_us; /* time of the processor that others took while a measured kernel waited
			   */
	double asked_us;  /* the program has asked for the time until then ... */
	unsigned nasked;  /* ... that often without any passing */
	struct orr_sim_context context; /* of SimGrid, by which it is found */
	int saved_errno;                /* while others run */
	char name[24];
	void (*code)(struct orr_sim_actor *); /* what it runs */
	void *(*fn)(void *);                  /* what was handed to it */
	void *arg, *ret;
	orr_waitq_t handed;         /* pre-made actors wait here for a function */
	orr_waitq_t ended;          /* joiners wait here */
	struct orr_sim_private own; /* what its thread has for itself */
	unsigned npolls;            /* unsuccessful MPI_Test and relatives in a row */
};

/* One line of the statistics: what a rank sent to a peer. */
struct orr_sim_peer {
	int peer;
	uint64_t messages, bytes, logical_messages, logical_bytes;
	double first_us, last_us, active_us;
};

/* The cores of a computer, see sim_cores.c. */
struct orr_sim_cores {
	const char *name; /* value of the property `computer`, NULL: of one rank only */
	unsigned ncores;
	unsigned busy;    /* kernels that run on its CPUs, and messages that are being received */
	unsigned waiting; /* ranks that run none of them and wait for messages: they look again and
			     again */
	double done_us, since_us;        /* see sim_cores.c */
	double wake_us;                  /* what such a look takes from a core */
	struct orr_sim_rank *ranks;      /* by next_on_computer */
	struct orr_sim_company *company; /* that kernels keep each other (sim_company.h); NULL: its
					    effect was not measured */
};

struct orr_sim_mpi;
struct orr_sim_bus;

struct orr_sim_rank {
	int rank;
	sg_host_t host;
	const char *machine_name;
	struct orr_machine *machine; /* NULL: the built-in description */
	unsigned ncpus;
	double slowness; /* of everything that it computes, beside what models tell */
	struct orr_sim_cores *cores;
	struct orr_sim_rank *next_on_computer;
	double stolen_us;  /* what its next kernel lasts longer, for a core that others took from it
			    */
	unsigned nrunning; /* kernels on its CPUs */
	unsigned receiving; /* messages that its engine receives with the processor, as no worker
			       has time to do so later */
	double looked_us;   /* when a worker looked after messages last */
	double copy_us, touch_us; /* the processor's time per received byte, and per byte of memory
				     that was never used before */
	double way_us; /* the network's time per byte of a long message, where copy_us is given */
	size_t live, peak, untouched; /* bytes of main memory that the runtime has, has had at most,
					 and has not written to yet */
	struct orr_process *proc;
	struct orr_sim_actor *engine, *driver, *main;
	struct orr_sim_kernel *kernels; /* sim_kernel.c's own: actors that run none just now */
	struct orr_sim_own own;         /* what the process of a rank has for itself */
	struct orr_sim_threads threads; /* and its threads */
	orr_waitq_t signals;            /* threads that wait for a signal */
	void *object;                   /* its copy of the program, as dlopen() names it */
	void (*exit_functions)(void);   /* calls what the program gave to atexit(); or NULL */
	char **argv;
	int ended, status; /* the program's main is over, with this status */
	double end_us;
	int runtime_up; /* between orr_sys_process_init and orr_sys_process_exit */
	struct orr_sim_peer *peers;
	unsigned npeers;
	struct orr_sim_mpi *mpi; /* sim_mpi.c's own */
	struct orr_sim_bus *bus; /* sim_bus.c's own; NULL until a copy or a device needs it */
	double joules;           /* used by what the runtime knew of, as reported at its end */
	struct orr_run_work work,
		earlier; /* of the present start of the runtime; of those before */
	unsigned epoch;  /* that `work` is of */
	int fake;        /* 1 + the rank that the process plays (STARPU_MPI_FAKE_RANK), 0: none */
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
	char instance[32]; /* of SMPI, that the process joined */
	void *world;       /* its MPI_COMM_WORLD, NULL: that of the first processes */
	void *dyn_client;  /* what the interface keeps */
	jmp_buf end;       /* where its main actor ends */
};

/* Simulated time of kernels without a calibrated model, by name. */
struct orr_sim_uncalibrated {
	char *name;
	double us;
};

/* Kernels of that name ran in a larger company than was measured (sim_company.h). */
struct orr_sim_guess {
	const char *name;
	unsigned measured, used; /* companies; used: the largest */
};

struct orr_sim {
	/* settings */
	int nranks, argc;
	int pid;
	const char *program;               /* its absolute path */
	const char *command, *environment; /* as the user gave them, for descriptions of the run */
	const char *platform;              /* a file, or NULL: the default cluster */
	const char *collectives;           /* of the program's own MPI, as --collectives */
	enum orr_sim_kernels kernels;
	enum orr_sim_network network;
	/* elastic runs: the runtime goes on with another communicator; it begins in a process that
	 * joins */
	double switch_us, begin_us;
	int channels;                          /* of each link, for ORR_SIM_QUEUE */
	const struct orr_sim_carrier *carrier; /* by the network, see sim_mpi.h */
	void (*on_message)(void); /* the launcher's, at the start of messages that SimGrid does not
				     see; or NULL */
	double costs[ORR_NCOSTS];
	size_t fold_bytes;
	int cuda_from_model; /* functions for the CPU stand for missing ones on devices that their
				models know */
	int transfer_cost, alloc_cost;  /* what copies between memories and allocations on devices
					   take counts */
	size_t stack_small, stack_main; /* of engine and driver; of main and user threads */
	int share_stacks;               /* engines and drivers borrow theirs */
	const char *stats_file, *report_file;
	int bound; /* lower bounds are reported */
	struct orr_sim_noise noise;
	uint64_t yields;   /* seed of --yields, 0: off */
	int progress;      /* stderr is a terminal */
	int quiet;         /* no summary at the end */
	int failed_at_end; /* some output of a rank could not be written */
	/* state */
	struct orr_sim_rank *ranks;
	struct orr_trace_file *trace_files; /* that ranks record into */
	unsigned nlibraries;                /* copies of shared objects of users */
	/* Elastic runs only, else NULL: the number of the host of each process of a group (an
	 * MPI_Group) in ranks, which has room for all. 0, or -1. */
	int (*hosts_of)(void *group, int n, int *ranks);
	unsigned nstacks; /* that were made */
	int nended;
	int status; /* first non-zero status of a rank */
	int status_rank;
	uint64_t tasks_done;
	uint64_t nchanges; /* of the actor that runs; the watch's thread reads it */
	int watched;       /* that thread exists */
	uint64_t nyields;  /* calls of orr_sim_yield with --yields */
	double kernel_us[ORR_PERF_NSOURCES];
	struct orr_sim_uncalibrated *uncalibrated;
	unsigned nuncalibrated;
	struct orr_sim_guess *guesses;
	char **unmet; /* names of kernels that had company, although nobody measured theirs */
	unsigned nguesses, nunmet;
	double wall_start, wall_shown;
	unsigned progress_calls;
	int progress_begun, progress_shown; /* a line of progress was written; it is there now */
	/* given by the launcher: ends the simulation after all is reported; does not return */
	void (*finish)(int status) __attribute__((noreturn));
	int interrupted; /* atomic: the signal that ends the run, 0: none */
	/* given by the launcher: ends the run by it */
	void (*interrupt)(void);
	/* likewise: the process is about to end, in whatever way */
	void (*last_words)(void);
};

extern struct orr_sim orr_sim;

/* sim_actor.c */
/* The running actor, or NULL outside of actors. */
struct orr_sim_actor *orr_sim_actor_self(void);
/* Starts code(actor) in a new actor on the rank's host; the running actor becomes its parent.
 * instance: the SMPI instance that it joins, or NULL. */
struct orr_sim_actor *orr_sim_actor_start(struct orr_sim_rank *r, enum orr_role role,
					  const char *name, const char *instance, size_t stack,
					  void (*code)(struct orr_sim_actor *));
/* The same for an actor that borrows its stack, and has none until a function is handed to it.
 * turn(actor) is called when it has its turn, and returns when it is in a recess. */
struct orr_sim_actor *orr_sim_actor_borrower(struct orr_sim_rank *r, enum orr_role role,
					     const char *name,
					     void (*turn)(struct orr_sim_actor *));
/* An actor that runs kernels of the rank, in front of `size` bytes in all. turn(actor) is called
 * when it goes on after its first wait, and returns when its kernel has ended. */
struct orr_sim_actor *orr_sim_actor_kernels(struct orr_sim_rank *r, size_t size,
					    void (*turn)(struct orr_sim_actor *));
/* SimGrid is about to look who runs. A kernel that is a part of its driver is nobody: it parts from
 * it first, and has a turn of its own. */
void orr_sim_part(void);
/* The time that this process has used of the processor. */
double orr_sim_cpu_us(void);
/* The running actor ends: nothing asks who it is any more. */
void orr_sim_actor_leave(struct orr_sim_actor *a);
/* [waits] With --yields only: lets others run for a while, or not, as a random number says. It
 * stands wherever a call may give the processor away between a last look for work and the sleep
 * that follows, so that a wake-up that can be lost is lost soon. */
void orr_sim_yield_slow(void);
static inline void orr_sim_yield(void)
{
	if (__builtin_expect(orr_sim.yields != 0, 0))
		orr_sim_yield_slow();
}
/* Blocks the running actor until orr_sim_unblock or until virtual time deadline_s (< 0: none).
 * Returns 1 when the time ran out. */
int orr_sim_block(struct orr_sim_actor *a, double deadline_s);
void orr_sim_unblock(struct orr_sim_actor *a);
/* The same in a recess, if the actor can take one: returns 1, and its function has to return
 * ORR_RECESS. Else blocks and returns 0. */
int orr_sim_block_recess(struct orr_sim_actor *a);
/* Puts the running actor, which borrows, into a recess. */
void orr_sim_recess(struct orr_sim_actor *a, enum orr_sim_recess kind, double deadline_s);
/* The actor was woken in its recess. Returns whether its wait is over; else it is in one again. */
int orr_sim_wait_over(struct orr_sim_actor *a);
/* As orr_waitq_wake(), but only makes others ready to run. */
void orr_sim_wake(orr_waitq_t *q);
/* The end of the program's main: by return, exit() or in error. The last one ends the simulation.
 * Returns otherwise. */
void orr_sim_rank_end(struct orr_sim_rank *r, int status);
/* [waits] After an unsuccessful poll: lets a little virtual time go by. */
void orr_sim_polled(struct orr_sim_actor *a);
/* Sleeps for ever (what is left of a rank whose program called exit). */
void orr_sim_park(struct orr_sim_actor *a) __attribute__((noreturn));

/* sim_mpi.c */
/* MPI_Init of a program, called in its main actor. */
int orr_sim_mpi_init_program(int *argc, char ***argv);
/* Makes an engine or driver known to SMPI. [waits] for the others of its kind. */
void orr_sim_mpi_init_actor(struct orr_sim_actor *a);
void orr_sim_mpi_ring_from(struct orr_sim_actor *a);
/* MPI_Finalize of the instances that the runtime entered on behalf of actor a (called in a). */
void orr_sim_mpi_actor_end(struct orr_sim_actor *a);

/* sim_bus.c: the links between main memory and the devices of a process that starts, and their end.
 * 0 or -ENOMEM. */
int orr_sim_bus_init(struct orr_sim_rank *r);
void orr_sim_bus_exit(struct orr_sim_rank *r);
/* The end of a kernel of that length that is given to the device of a memory node now: workers
 * of a device share it. */
double orr_sim_bus_kernel_end(struct orr_sim_rank *r, unsigned memnode, double us);

/* sim_bound.c: lower bounds on the time of what all ranks submitted. */
struct orr_sim_bounds {
	double area_us, area_mean_us; /* of the rank with most work; mean over ranks */
	int area_rank;
	double path_us; /* of the longest path through tasks of all ranks */
};
/* The runtime of a rank stops: its graph is kept. */
void orr_sim_bound_collect(struct orr_sim_rank *r);
/* 0, or -ENOMEM. */
int orr_sim_bound_compute(struct orr_sim_bounds *b);

/* sim_cores.c */
/* A kernel of that duration starts on a CPU of the rank: when it ends. Its worker is in no heap
 * yet. */
double orr_sim_cores_enter(struct orr_sim_rank *r, double us);
/* It is over. May give the processor away. */
void orr_sim_cores_leave(struct orr_sim_rank *r);
/* True if kernels run on all cores. */
static inline int orr_sim_cores_full(const struct orr_sim_rank *r)
{
	return r->cores->busy >= r->cores->ncores;
}
/* [waits] The rank's engine has so much to do for a message, beside whatever else runs; it comes
 * back when that is done. */
void orr_sim_cores_receive(struct orr_sim_rank *r, double us);
/* Something other than a kernel takes a core for that long. */
void orr_sim_cores_steal(struct orr_sim_rank *r, double us);

/* sim_memory.c */
void orr_sim_memory_init(void);

/* sim_node.c: the costs of the runtime on a rank, without the slowness of its node. */
void orr_sim_costs(const struct orr_sim_rank *r, double costs[ORR_NCOSTS]);

/* sim_report.c */
int orr_sim_report_write(void);
size_t orr_sim_peak_rss(void);

/* sim_progress.c */
double orr_sim_wall_s(void);
void orr_sim_progress_clear_slow(void);
void orr_sim_progress_yield_slow(void);
/* Takes the line of progress away, before something else is written. */
static inline void orr_sim_progress_clear(void)
{
	if (__builtin_expect(orr_sim.progress_begun, 0))
		orr_sim_progress_clear_slow();
}
/* The same when a program has written something. */
static inline void orr_sim_progress_yield(void)
{
	if (__builtin_expect(orr_sim.progress_begun, 0))
		orr_sim_progress_yield_slow();
}

#endif
