/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes of a run: the runtime begins and ends in one, and so does the program of a rank.
 *
 * Invariant: the simulation ends with the program of its last rank, or with the first that fails.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include "actors/sim_actor.h"
#include "actors/sim_private.h"
#include "machine/sim_bus.h"
#include "machine/sim_node.h"
#include "net/sim_mpi.h"
#include "run/sim_bound.h"
#include "run/sim_process.h"
#include "sim_progress.h"
#include "base/assert.h"

int orr_sys_process_init(struct orr_process *proc)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a || !a->rank) {
		fputs("orrery: a program built for the simulated world was started by itself; start it with `orrery sim`\n",
		      stderr);
		return -ENODEV;
	}
	proc->sys = a->rank;
	proc->mpi_rank = a->rank->rank;
	proc->mpi_size = orr_sim.nranks;
	orr_sim_costs(a->rank, proc->costs);
	if (a->rank->machine) {
		memcpy(proc->watts, a->rank->machine->watts, sizeof(proc->watts));
		if (a->rank->machine->idle_watts > 0)
			proc->idle_watts = a->rank->machine->idle_watts;
		for (int i = 0; i < STARPU_NARCH; i++)
			proc->perf_timing |= proc->watts[i] > 0;
	}
	proc->keep_graph = orr_sim.bound;
	for (int i = 0; i < ORR_NCOSTS; i++)
		if (i != ORR_COST_TURN) /* the operating system's, whatever the processor */
			proc->costs[i] *= a->rank->slowness;
	a->rank->runtime_up = 1;
	return 0;
}

void orr_sys_process_exit(struct orr_process *proc)
{
	struct orr_sim_rank *r = proc->sys ? proc->sys : orr_sim_actor_self()->rank;
	orr_sim_bound_collect(r);
	r->joules += proc->joules;
	r->runtime_up = 0;
	orr_sim_bus_exit(r);
	orr_sim_private_workers_end(r);
}

/* ---- traces ---- */

struct orr_trace_file **orr_sys_trace_files(void)
{
	return &orr_sim.trace_files;
}

void orr_sys_run_name(struct orr_process *proc, char *name, size_t size)
{
	(void) proc;
	snprintf(name, size, "%s", "");
}

unsigned orr_sys_run_size(struct orr_process *proc)
{
	(void) proc;
	return (unsigned) orr_sim.nranks;
}

/* ---- questions: the launcher answers for all ranks (sim/launcher/launcher_live.c) ---- */

void orr_sys_live_start(struct orr_process *proc)
{
	(void) proc;
}

void orr_sys_live_stop(struct orr_process *proc)
{
	(void) proc;
}

void orr_sys_live_layer(struct orr_process *proc, int on)
{
	((struct orr_sim_rank *) proc->sys)->layer_up = on;
}

/* ---- the end of a rank ---- */

/* Sends SIGALRM to the process after 5 s of wall time. */
static void end_all_soon(void)
{
	struct itimerval soon = { .it_value = { .tv_sec = 5 } };
	syscall(SYS_setitimer, ITIMER_REAL, &soon, NULL);
}

void orr_sim_rank_end(struct orr_sim_rank *r, int status)
{
	if (r->ended)
		return;
	/* A real run ends here, too (src/sys/mpi_real.c); the statistics lack the rank. */
	if (!status && r->mpi && r->mpi->active) {
		status = 1;
		if (!orr_sim.status) {
			orr_sim_progress_clear();
			fflush(stdout); /* a full buffer was written up to the middle of a line */
			fprintf(stderr,
				"[orrery] rank %d exits without %s: the others would wait for it for ever, so the program is ended; "
				"call it on every rank\n",
				r->rank,
				r->proc && r->proc->slaves ? "starpu_shutdown()"
							   : "starpu_mpi_shutdown()");
		}
	}
	r->ended = 1;
	r->status = status;
	r->end_us = orr_sys_now_us();
	orr_sim.nended++;
	orr_assert(orr_sim.nended <= orr_sim.nranks);
	if (status && !orr_sim.status) {
		orr_sim.status = status;
		orr_sim.status_rank = r->rank;
		orr_sim_progress_clear();
		fflush(stdout);
		if (orr_sim.nranks > 1)
			fprintf(stderr,
				"orrery sim: the program of rank %d ended with status %d after %.6f s of virtual time\n",
				r->rank, status, r->end_us * 1e-6);
		/* As with mpirun, the others do not outlive it for long, even when they poll. */
		if (orr_sim.nended < orr_sim.nranks)
			end_all_soon();
	}
	if (orr_sim.nended == orr_sim.nranks)
		orr_sim.finish(orr_sim.status);
}
