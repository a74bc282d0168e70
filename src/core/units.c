/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of units (see units.h): by the field workers_bindid, else among STARPU_WORKERS_CPUID
 * or STARPU_WORKERS_COREID, else among all that this process may use; nobody is bound with
 * STARPU_WORKERS_NOBIND.
 *
 * Invariant: a thread is bound to no unit that the program or its user left out. */
#include "core/units.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ids.h"
#include "core/core.h"
#include "core/worker.h"

/* Units to bind workers to, round-robin when there are fewer than workers. */
static int read_explicit_ids(struct orr_process *proc)
{
	const struct orr_config *cfg = &proc->cfg;
	int ret = 0;

	if (cfg->workers_cpuid)
		ret = orr_ids_parse("STARPU_WORKERS_CPUID", cfg->workers_cpuid, proc->topo.nmachine,
				    &proc->core->explicit_ids, &proc->core->nexplicit);
	if (!ret && !proc->core->nexplicit && cfg->workers_coreid)
		ret = orr_ids_parse("STARPU_WORKERS_COREID", cfg->workers_coreid,
				    proc->topo.nmachine, &proc->core->explicit_ids,
				    &proc->core->nexplicit);
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

	for (unsigned i = n; i-- > 0;) {
		if (proc->core->nexplicit &&
		    !has(proc->core->explicit_ids, proc->core->nexplicit, units[i]))
			continue;
		if (found < 0 || claim(proc, units[i]) < claim(proc, found))
			found = units[i];
	}
	return found;
}

int orr_unit_of_driver(struct orr_process *proc, const char *bus_id, unsigned worker)
{
	unsigned max = proc->topo.ncores;
	int *units = *bus_id && max && !proc->cfg.nobind ? malloc(max * sizeof(*units)) : NULL;

	if (!units)
		return -1;
	int unit = best(proc, units, orr_sys_units_beside(proc, bus_id, units, max));

	free(units);
	if (proc->conf.use_explicit_workers_bindid)
		unit = (int) proc->conf.workers_bindid[worker % STARPU_NMAXWORKERS];
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
	for (j = 0;; j++)
		if (!is_kept(proc, t->core_ids[j]) && !i--)
			return t->core_ids[j];
}

int orr_unit_of_cpu(struct orr_process *proc, unsigned i)
{
	if (proc->cfg.nobind)
		return -1;
	if (proc->conf.use_explicit_workers_bindid)
		return (int) proc->conf.workers_bindid[i % STARPU_NMAXWORKERS];
	if (proc->core->nexplicit)
		return proc->core->explicit_ids[i % proc->core->nexplicit];
	return unit_in_turns(proc, i);
}
