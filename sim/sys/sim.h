/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of the simulated world: settings, and what its parts share. The ranks lead to the
 * actors (actors/sim_rank.h, actors/sim_actor.h). Shared by sim/sys (in the library) and
 * sim/launcher (the program that fills it in).
 *
 * Invariant: only the launcher writes the settings, before any actor runs. What belongs neither to
 * orr_sim nor to a rank or an actor is of one subject and declared in its header, as the heap of
 * events is. */
#ifndef ORR_SIM_H
#define ORR_SIM_H

#include <stdint.h>
#include "base/source.h"
#include "base/world.h"
#include "sim_noise.h"

enum orr_sim_kernels { ORR_SIM_RUN, ORR_SIM_SKIP, ORR_SIM_INJECT };
/* The carrier of the runtime's own messages: SMPI, or a model of net/sim_network.h. */
enum orr_sim_network {
	ORR_SIM_SMPI,
	ORR_SIM_MAXMIN,
	ORR_SIM_SHARE,
	ORR_SIM_QUEUE,
	ORR_SIM_TCP,
	ORR_SIM_NNETWORKS
};
/* Their names, as the option --network has them. */
extern const char *const orr_sim_network_names[ORR_SIM_NNETWORKS];

/* A copy by a processor within main memory. */
#define ORR_SIM_COPY_MBS 8000.0

struct orr_sim_rank;
struct orr_trace_file;

/* Simulated time of kernels, by name. */
struct orr_sim_kernel_times {
	struct orr_sim_kernel_time {
		char *name;
		double us;
	} * of;
	unsigned n;
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
	const struct orr_sim_carrier *carrier; /* by the network, see net/sim_mpi.h */
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
	struct orr_sim_kernel_times uncalibrated; /* without a calibrated model */
	struct orr_sim_kernel_times slept; /* without any, which took the time that they slept */
	struct orr_sim_guess *guesses;
	char **unmet; /* names of kernels that had company, although nobody measured theirs */
	unsigned nguesses, nunmet;
	double wall_start, wall_shown;
	unsigned progress_calls;
	int progress_begun, progress_shown; /* a line of progress was written; it is there now */
	/* given by the launcher: ends the simulation after all is reported; does not return */
	void (*finish)(int status) __attribute__((noreturn));
	int interrupted; /* atomic: the signal that ends the run, 0: none */
	int attention;   /* atomic: that, or somebody asks about the run */
	/* given by the launcher: attends to it, at a moment when everything is whole */
	void (*attend)(void);
	/* likewise: the process is about to end, in whatever way */
	void (*last_words)(void);
};

extern struct orr_sim orr_sim;

#endif
