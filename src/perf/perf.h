/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The performance models of a process: where they are stored, the machine's measurements,
 * and a state for each model of the program.
 *
 * The files are those of StarPU's calibration (text, version 45):
 * bus/HOST.{config,bandwidth,latency,affinity} and codelets/45/SYMBOL.HOST.
 *
 * Invariant: perf->lock protects everything here that is not constant after creation. */
#ifndef ORR_PERF_PERF_H
#define ORR_PERF_PERF_H

#include "perf/arch_table.h"
#include "perf/machine.h"

struct orr_perf {
	orr_lock_t lock;
	const struct orr_process *proc;
	struct orr_config *own; /* read before starpu_init; else NULL */
	int has_own;            /* the environment could be read */
	char **dirs; /* searched for models, NULL-terminated; models are written to the last */
	unsigned ndirs;
	const char *host;                       /* name of the machine in the names of files */
	char *host_own;                         /* the system's, where that is it; or NULL */
	struct _starpu_perfmodel_state *states; /* all states of the process (model_state.h) */
	unsigned nstates;                       /* that were ever made */
	struct orr_machine *machine;
	int machine_looked, machine_mine;
	struct orr_arch_table archs;
	double flops[STARPU_NARCH]; /* cache of orr_estimate_flops, 0: not computed */
	unsigned flops_states;      /* nstates when it was filled */
};

/* The configuration for its models. */
static inline const struct orr_config *orr_perf_cfg(const struct orr_perf *p)
{
	return p->own ? p->own : p->proc->cfg;
}

/* Prepares the models of a process, without reading any. 0 or -ENOMEM. */
int orr_perf_init(struct orr_process *proc);
/* Writes what was learnt and resets the program's models. */
void orr_perf_exit(struct orr_process *proc);
/* The models of the process, made by the first call even before starpu_init. NULL if memory is
 * exhausted. */
struct orr_perf *orr_perf_get(struct orr_process *proc);

/* Sets the machine that the process runs on: its models and buses come from m->dir first, and its
 * name replaces orr_sys_machine_name(). A simulated run calls this before the first estimate. m
 * must outlive orr_perf_exit and may be shared by many processes. Without this call, the first
 * question about transfers looks for measurements of the real machine. 0 or -ENOMEM. */
int orr_perf_set_machine(struct orr_process *proc, struct orr_machine *m);
/* The measurements of the machine, read by the first call; NULL if there are none. */
const struct orr_machine *orr_perf_machine(struct orr_process *proc);
/* The name of the machine may change when the process learns its rank: call this, with the lock
 * held, before a model is loaded. */
void orr_perf_set_host(struct orr_perf *p, struct orr_process *proc);

#endif
