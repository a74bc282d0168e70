/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of units (see units.h): by the field workers_bindid, which has one for each worker;
 * else STARPU_WORKERS_CPUID or STARPU_WORKERS_COREID, whose units threads take in turn, those that
 * drive devices first (handbook, environment variables); else among all that this process may use.
 * Nobody is bound with STARPU_WORKERS_NOBIND.
 *
 * Invariant: a thread is bound to no unit that the program or its user left out. */
#include "core/worker/units.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ids.h"
#include "base/seam_machine.h"
#include "core/worker/core.h"
#include "core/worker/device.h"
#include "core/worker/worker.h"

/* The units that the user lists; the field workers_bindid counts before them. */
static int read_explicit_ids(struct orr_process *proc)
{
	const struct orr_config *cfg = proc->cfg;
	unsigned n = proc->topo.nunits ? proc->topo.nunits : proc->topo.nmachine;
	int ret = 0;

	if (proc->conf->use_explicit_workers_bindid)
		return 0;
	if (cfg->workers_cpuid)
		ret = orr_ids_parse("STARPU_WORKERS_CPUID", cfg->workers_cpuid, n,
				    &proc->core->explicit_ids, &proc->core->nexplicit);
	if (!ret && !proc->core->nexplicit && cfg->workers_coreid)
		ret = orr_ids_parse("STARPU_WORKERS_COREID", cfg->workers_coreid, n,
				    &proc->core->explicit_ids, &proc->core->nexplicit);
	return ret;
}

int orr_units_begin(struct orr_process *proc, unsigned ndrivers)
{
	proc->core->driver_units = malloc((ndrivers + 1) * sizeof(int));
	return proc->core->driver_units ? read_explicit_ids(proc) : -ENOMEM;
}

void orr_units_end(struct orr_process *proc)
{
	free(proc->core->explicit_ids);
	free(proc->core->driver_units);
	proc->core->explicit_ids = proc->core->driver_units = NULL;
	proc->core->nexplicit = proc->core->ndriver_units = 0;
}

static int has(const int *units, unsigned n, int unit)
{
	for (unsigned i = 0; i < n; i++)
		if (units[i] == unit)
			return 1;
	return 0;
}

/* ---- threads that drive devices ---- */

/* The claim that other threads have to a unit; 0: none. */
static unsigned claim(const struct orr_process *proc, int unit)
{
	return 2U * has(proc->core->driver_units, proc->core->ndriver_units, unit) +
	       (unit == orr_worker_main_unit(proc) || unit == orr_worker_engine_unit(proc));
}

/* The best of n units. Workers of CPUs begin with the first ones, so of equals the last one is. */
static int best(const struct orr_process *proc, const int *units, unsigned n)
{
	int found = -1;

	for (unsigned i = n; i-- > 0;)
		if (found < 0 || claim(proc, units[i]) < claim(proc, found))
			found = units[i];
	return found;
}

/* The unit beside the device on the PCI bus that fewest others want; -1: nobody knows. */
static int unit_beside(struct orr_process *proc, const char *bus_id)
{
	unsigned max = proc->topo.ncores;
	int *units = *bus_id && max ? malloc(max * sizeof(*units)) : NULL;

	if (!units)
		return -1;
	int unit = best(proc, units, orr_sys_units_beside(proc, bus_id, units, max));

	free(units);
	return unit;
}

/* The unit that the program or its user wants for that worker, and for the thread which is the i-th
 * to choose. */
static int wanted_unit(const struct orr_process *proc, unsigned worker, unsigned i)
{
	if (proc->conf->use_explicit_workers_bindid)
		return (int) proc->conf->workers_bindid[worker % STARPU_NMAXWORKERS];
	return proc->core->explicit_ids[i % proc->core->nexplicit];
}

static int has_wishes(const struct orr_process *proc)
{
	return proc->conf->use_explicit_workers_bindid || proc->core->nexplicit;
}

int orr_unit_of_driver(struct orr_process *proc, const struct orr_device *d, unsigned worker)
{
	/* The thread of a slave only talks. */
	if (proc->cfg->nobind || d->arch == STARPU_MPI_MS_WORKER)
		return -1;
	int unit = has_wishes(proc) ? wanted_unit(proc, worker, proc->core->ndriver_units)
				    : unit_beside(proc, d->bus_id);
	orr_assertf(proc->core->driver_units,
		    "a thread chooses a unit before the settings are read");
	if (unit >= 0)
		proc->core->driver_units[proc->core->ndriver_units++] = unit;
	return unit;
}

/* ---- workers of CPUs ---- */

static int is_kept(const struct orr_process *proc, int unit)
{
	return unit == orr_worker_main_unit(proc) || unit == orr_worker_engine_unit(proc) ||
	       has(proc->core->driver_units, proc->core->ndriver_units, unit);
}

/* The i-th unit in turns, without those that are kept for the main thread, the progression thread
 * and drivers if there are others. */
static int unit_in_turns(const struct orr_process *proc, unsigned i)
{
	const struct orr_topology *t = &proc->topo;
	unsigned j, n = 0;

	for (j = 0; j < t->ncores; j++)
		n += !is_kept(proc, t->core_ids[j]);
	if (n == 0 || n == t->ncores)
		return t->ncores ? t->core_ids[i % t->ncores] : -1;
	i %= n;
	for (j = 0;; j++) {
		orr_assertf(j < t->ncores, "no unit is left of %u", t->ncores);
		if (!is_kept(proc, t->core_ids[j]) && !i--)
			return t->core_ids[j];
	}
}

int orr_unit_of_cpu(struct orr_process *proc, unsigned i)
{
	if (proc->cfg->nobind)
		return -1;
	return has_wishes(proc) ? wanted_unit(proc, i, proc->core->ndriver_units + i)
				: unit_in_turns(proc, i);
}
