/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A node: what the runtime finds on the machine of its rank.
 *
 * Invariant: nothing here depends on the machine that the simulation runs on. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "actors/sim_actor.h"
#include "actors/sim_rank.h"
#include "actors/sim_own.h"
#include "machine/sim_cores.h"
#include "machine/sim_node.h"
#include "sim_progress.h"
#include "base/seam_machine.h"

static struct orr_sim_rank *rank_of(struct orr_process *proc)
{
	return proc->sys ? proc->sys : orr_sim_actor_self()->rank;
}

void orr_sim_costs(const struct orr_sim_rank *r, double costs[ORR_NCOSTS])
{
	memcpy(costs, orr_sim.costs, sizeof(orr_sim.costs));
	for (int i = 0; r->machine && i < ORR_NCOSTS; i++)
		if (!isnan(r->machine->costs_us[i]))
			costs[i] = r->machine->costs_us[i];
}

double orr_sim_buffer_us(const struct orr_sim_rank *r, double bytes)
{
	double us = r->machine ? r->machine->costs_us[ORR_COST_BUFFER] : NAN;
	return (isnan(us) ? orr_sim.costs[ORR_COST_BUFFER] : us) * r->slowness * bytes / (1 << 20);
}

const char *orr_sys_machine_name(struct orr_process *proc)
{
	return rank_of(proc)->machine_name;
}

unsigned orr_sys_ngroups(unsigned nworkers)
{
	return nworkers ? 1 : 0;
}

void orr_sys_workers_share(struct orr_process *proc, unsigned nworkers)
{
	double chance = nworkers ? 1 - 1.0 / nworkers : 0;
	proc->costs[ORR_COST_COMPLETE] += chance * proc->costs[ORR_COST_SHARED];
	proc->costs[ORR_COST_PROFILE] += chance * proc->costs[ORR_COST_SHARED_PROFILE];
}

double orr_sys_spin_us(struct orr_process *proc)
{
	(void) proc;
	return 0;
}

unsigned orr_sys_cores(struct orr_process *proc)
{
	const struct orr_sim_cores *c = rank_of(proc)->cores;
	unsigned nranks = 0;
	for (const struct orr_sim_rank *r = c->ranks; r; r = r->next_on_computer)
		nranks++;
	return (c->ncores + nranks - 1) / nranks;
}

void orr_sys_abort(void)
{
	orr_sim_progress_clear();
	orr_sim_own_lines();
	fflush(NULL);
	orr_sim_leave(orr_sim.status ? orr_sim.status : 1);
}

/* The launcher sees when no rank can act. */
double orr_sys_stall_us(const struct orr_process *proc)
{
	(void) proc;
	return -1;
}

int orr_sys_only_threads(struct orr_process *proc, unsigned nthreads)
{
	(void) proc;
	(void) nthreads;
	return 0;
}

/* The launcher has them for all ranks. */
void orr_sys_catch_signals(struct orr_process *proc, int on)
{
	ORR_ATOMIC_STORE(&proc->catches, on);
}

void orr_sys_fail_at_end(struct orr_process *proc)
{
	(void) proc;
	orr_sim.failed_at_end = 1;
}

/* ---- energy ---- */

/* One counter: what the models and the machine's description say. */
int orr_sys_energy_read(struct orr_process *proc, int arch, int worker, double joules,
			struct orr_energy_counter v[ORR_ENERGY_COUNTERS])
{
	(void) proc;
	(void) arch;
	(void) worker;
	v[0] = (struct orr_energy_counter){ .uj = (uint64_t) (joules * 1e6) };
	return 1;
}
