/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Energy: what tasks are said to use, and measurements of counters.
 *
 * A task uses what its codelet's energy model expects on the worker; without one, the watts of a
 * busy unit of that kind (each of several cores) while its kernel ran, where the world knows them
 * (node->watts). The idle machine draws its watts all the time, until no work is left: all that
 * tells the energy of a run tells the same.
 *
 * Invariant: a worker's joules only grow; one measurement at a time for each type of units. */
#include "core/run/energy.h"
#include "core/flow/parallel.h"
#include "core/task/expect.h"
#include "base/log.h"
#include "base/seam_machine.h"
#include "core/worker/worker_life.h"
#include "core/task/task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct orr_energy {
	int n[STARPU_NARCH]; /* counters of a measurement under way, 0: none */
	int worker[STARPU_NARCH];
	struct orr_energy_counter start[STARPU_NARCH][ORR_ENERGY_COUNTERS];
};

static void add(struct orr_worker *w, double joules)
{
	orr_assertf(!isnan(joules), "worker %u uses %g J", w->id, joules);
	orr_lock(&w->local_lock);
	w->prof.energy_consumed += joules;
	w->joules += joules;
	orr_unlock(&w->local_lock);
}

void orr_energy_task(struct orr_worker *w, struct orr_task *t, double us)
{
	double joules = orr_expect_joules(w->group->proc, orr_worker_arch(w), t->pub, t->nimpl, us);

	orr_worker_assert_mine(w);
	orr_assert(t == w->task);
	if (!(joules > 0))
		return;
	add(w, joules);
	if (t->pub->profiling_info)
		t->pub->profiling_info->energy_consumed += joules;
}

void starpu_energy_use(float joules)
{
	struct orr_process *proc = orr_self();
	struct orr_worker *w = orr_thread_self()->worker;

	if (!w)
		w = proc->core->workers;
	if (w && proc->core->nworkers)
		add(w, (double) joules);
}

static double idle(const struct orr_process *proc)
{
	int64_t quiet_ns = ORR_ATOMIC_LOAD_RELAXED(&proc->quiet_ns);
	double end_us = quiet_ns ? (double) quiet_ns * 1e-3 : orr_sys_now_us();

	return proc->idle_watts * (end_us - proc->start_us) * 1e-6;
}

double orr_energy_of(struct orr_process *proc, int arch, int worker)
{
	double sum = arch == STARPU_CPU_WORKER && worker < 0 ? idle(proc) : 0;

	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		struct orr_worker *w = &proc->core->workers[i];

		if ((int) w->arch != arch || (worker >= 0 && (unsigned) worker != i))
			continue;
		orr_lock(&w->local_lock);
		sum += w->joules;
		orr_unlock(&w->local_lock);
	}
	return sum;
}

double starpu_energy_used(void)
{
	struct orr_process *proc = orr_self();
	double sum = 0;

	for (int arch = 0; arch < STARPU_NARCH; arch++)
		sum += orr_energy_of(proc, arch, -1);
	return sum;
}

/* ---- measurements ---- */

static int energy_check(const char *who, struct orr_process *proc, int worker, int arch)
{
	if (arch < 0 || arch >= STARPU_NARCH || worker >= (int) proc->core->nworkers ||
	    (worker >= 0 && (int) proc->core->workers[worker].arch != arch)) {
		orr_error(
			"%s: worker %d of type %d does not exist; -1 stands for all workers of a type",
			who, worker, arch);
		return -EINVAL;
	}
	if (starpu_worker_get_count_by_type((enum starpu_worker_archtype) arch) > 0)
		return 0;
	orr_error("%s: there is no worker of type %s to measure", who,
		  starpu_worker_get_type_as_string((enum starpu_worker_archtype) arch));
	return -ENODEV;
}

int starpu_energy_start(int workerid, enum starpu_worker_archtype archi)
{
	struct orr_process *proc = orr_self();
	int n = energy_check("starpu_energy_start", proc, workerid, (int) archi);

	if (n)
		return n;
	if (!proc->core->energy)
		proc->core->energy = calloc(1, sizeof(*proc->core->energy));
	if (!proc->core->energy)
		return -ENOMEM;
	if (proc->core->energy->n[archi]) {
		orr_error(
			"starpu_energy_start: a measurement of this type of workers is under way; call starpu_energy_stop first");
		return -EBUSY;
	}
	n = orr_sys_energy_read(proc, (int) archi, workerid,
				orr_energy_of(proc, (int) archi, workerid),
				proc->core->energy->start[archi]);
	if (n < 0)
		return n;
	orr_assertf(n <= ORR_ENERGY_COUNTERS, "%d counters of energy were read", n);
	proc->core->energy->n[archi] = n;
	proc->core->energy->worker[archi] = workerid;
	return 0;
}

/* The difference of two readings of a counter. */
static double went_on(struct orr_energy_counter from, struct orr_energy_counter to)
{
	uint64_t uj = to.uj >= from.uj ? to.uj - from.uj
				       : to.uj + (to.range > from.uj ? to.range - from.uj : 0);

	return (double) uj * 1e-6;
}

int starpu_energy_stop(struct starpu_perfmodel *model, struct starpu_task *task, unsigned nimpl,
		       unsigned ntasks, int workerid, enum starpu_worker_archtype archi)
{
	struct orr_energy_counter now[ORR_ENERGY_COUNTERS];
	struct orr_process *proc = orr_self();
	int n = energy_check("starpu_energy_stop", proc, workerid, (int) archi), i;
	double joules = 0;

	if (n)
		return n;
	if (!proc->core->energy || !proc->core->energy->n[archi] ||
	    proc->core->energy->worker[archi] != workerid) {
		orr_error(
			"starpu_energy_stop: call starpu_energy_start with the same worker and type first");
		return -EINVAL;
	}
	n = orr_sys_energy_read(proc, (int) archi, workerid,
				orr_energy_of(proc, (int) archi, workerid), now);
	for (i = 0; i < n && i < proc->core->energy->n[archi]; i++)
		joules += went_on(proc->core->energy->start[archi][i], now[i]);
	proc->core->energy->n[archi] = 0;
	if (n < 0)
		return n;
	if (!model || !task || !ntasks)
		return 0;
	i = workerid >= 0 ? workerid : starpu_worker_get_by_type(archi, 0);
	starpu_perfmodel_update_history(model, task, starpu_worker_get_perf_archtype(i, 0),
					(unsigned) i, nimpl, joules / ntasks);
	return 0;
}

void orr_energy_exit(struct orr_process *proc)
{
	proc->joules = proc->core->nworkers ? starpu_energy_used() : 0;
	free(proc->core->energy);
	proc->core->energy = NULL;
}
