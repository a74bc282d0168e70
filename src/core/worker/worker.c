/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of workers and of the groups that step them: how many, and where they are bound.
 *
 * Invariant: workers of CPUs are numbered first, then those of devices, in the order of the table
 * of devices. */
#include <config.h>
#include "core/worker/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/config.h"
#include "core/worker/device.h"
#include "core/worker/units.h"
#include "data/data.h"
#include "perf/arch_table.h"

int orr_worker_main_unit(const struct orr_process *proc)
{
	if (proc->cfg->main_thread_cpuid >= 0)
		return proc->cfg->main_thread_cpuid;
	return proc->cfg->main_thread_bind && proc->topo.ncores
		       ? proc->topo.core_ids[proc->topo.ncores - 1]
		       : -1;
}

int orr_worker_engine_unit(const struct orr_process *proc)
{
	const struct orr_topology *t = &proc->topo;

	if (!proc->core->engine_core || t->ncores < 2)
		return -1;
	if (proc->cfg->mpi_thread_cpuid >= 0)
		return proc->cfg->mpi_thread_cpuid;
	unsigned last = t->ncores - 1;
	return t->core_ids[t->core_ids[last] == orr_worker_main_unit(proc) ? last - 1 : last];
}

/* The number of CPU workers: as asked for, else one for each core that this process may use. */
static int count_cpus(struct orr_process *proc, unsigned ndevices)
{
	int asked = proc->cfg->ncpu, reserve = proc->cfg->reserve_ncpu,
	    most = STARPU_NMAXWORKERS - (int) ndevices;

	if (proc->conf->ncpus != -1 &&
	    (asked == -1 || proc->conf->precedence_over_environment_variables))
		asked = proc->conf->ncpus;
	if (proc->conf->reserve_ncpus > 0 &&
	    (!reserve || proc->conf->precedence_over_environment_variables))
		reserve = proc->conf->reserve_ncpus;
	if (asked > most) {
		orr_error(
			"%d CPU workers asked for (STARPU_NCPU or conf.ncpus), at most %d are possible",
			asked, most);
		return -EINVAL;
	}
	if (asked >= 0)
		return asked;
	/* With one core left the worker shares it with the progression thread and the program. */
	asked = (int) proc->topo.ncores - reserve - (int) ndevices -
		(orr_worker_main_unit(proc) >= 0) - (orr_worker_engine_unit(proc) >= 0);
	/* A machine with devices is one that is left to the runtime: the progression thread has a
	 * core too. */
	if (ndevices && (proc->conf->will_use_mpi || proc->mpi_size > 1) && !proc->slaves)
		asked--;
	if (asked < 1)
		asked = 1;
	if (asked > STARPU_NMAXWORKERS / 2)
		asked = STARPU_NMAXWORKERS / 2;
	return asked;
}

int orr_driver_queues_none(struct orr_worker *w, struct orr_task *t)
{
	(void) w;
	(void) t;
	return 0;
}

int orr_driver_test_none(struct orr_worker *w, struct orr_launch *l)
{
	(void) w;
	(void) l;
	return 1;
}

void orr_driver_call_plain(struct orr_worker *w, void (*f)(void **, void *), void **buffers,
			   void *arg)
{
	(void) w;
	f(buffers, arg);
}

/* The part that is common to workers of all kinds. */
static void setup_worker(struct orr_process *proc, struct orr_worker *w, unsigned id,
			 enum starpu_worker_archtype arch, int devid)
{
	orr_assertf(id < proc->core->nworkers && !w->perf_arch && !w->driver,
		    "worker %u of %u is made twice", id, proc->core->nworkers);
	w->id = w->kernel.worker = id;
	w->arch = w->kernel.arch = arch;
	w->devid = devid;
	w->perf_arch = orr_arch_table_set_worker(proc, id, arch, devid);
	orr_lock_init(&w->local_lock, ORR_RANK_WORKER);
	starpu_task_list_init(&w->local);
}

static void create_cpu_worker(struct orr_process *proc, const struct orr_driver_ops *driver,
			      unsigned i)
{
	struct orr_worker *w = &proc->core->workers[i];

	setup_worker(proc, w, i, STARPU_CPU_WORKER, (int) i);
	w->bindid = orr_unit_of_cpu(proc, i);
	w->memnode = w->kernel.memnode = orr_topology_numa(&proc->topo, w->bindid);
	w->driver = driver;
	snprintf(w->name, sizeof(w->name), "CPU %u", i);
	proc->arch_mask |= STARPU_CPU;
}

/* Workers first, first + 1, ... of the device whose memory node is memnode. */
static int create_device_workers(struct orr_process *proc, const struct orr_device *d,
				 unsigned memnode, unsigned first)
{
	for (unsigned i = 0; i < d->nworkers; i++) {
		struct orr_worker *w = &proc->core->workers[first + i];

		setup_worker(proc, w, first + i, d->arch, d->devid);
		w->memnode = w->kernel.memnode = memnode;
		w->driver = d->driver;
		w->driver_arg = d->driver_arg;
		w->pipeline = (uint8_t) (d->pipeline < 1 ? 1 : d->pipeline > 64 ? 64 : d->pipeline);
		snprintf(w->name, sizeof(w->name), d->nworkers > 1 ? "%s.%u" : "%s", d->name, i);
		proc->arch_mask |= STARPU_WORKER_TO_MASK(d->arch);
		w->ahead = calloc(w->pipeline, sizeof(*w->ahead));
		if (!w->ahead)
			return -ENOMEM;
	}
	return 0;
}

/* The number of groups that begin with device i of the table: one for all its workers; one for each
 * (STARPU_CUDA_THREAD_PER_WORKER=1); or none, because its workers join the group of the CUDA device
 * before it (STARPU_CUDA_THREAD_PER_DEV=0). */
static unsigned begun_groups(const struct orr_device *devices, unsigned i)
{
	const struct orr_device *d = &devices[i];

	if (!d->nworkers || d->arch != STARPU_CUDA_WORKER)
		return d->nworkers != 0;
	if (orr_config_long("STARPU_CUDA_THREAD_PER_WORKER", 0) > 0)
		return d->nworkers;
	return i == 0 || devices[i - 1].arch != STARPU_CUDA_WORKER || !devices[i - 1].nworkers ||
	       orr_config_long("STARPU_CUDA_THREAD_PER_DEV", 1) != 0;
}

/* Cuts the workers into groups: all of them, or a group for each CPU worker and as many as
 * begun_groups says for the devices. */
static void cut_groups(struct orr_process *proc, unsigned ncpus, const struct orr_device *devices,
		       unsigned ndevices)
{
	unsigned k = 0, first = 0;

	if (proc->ngroups == 1)
		proc->core->groups[0].nworkers = proc->core->nworkers;
	for (unsigned i = 0; i < ncpus && proc->ngroups > 1; i++) {
		proc->core->groups[k].first = first++;
		proc->core->groups[k++].nworkers = 1;
	}
	for (unsigned i = 0; i < ndevices && proc->ngroups; i++) {
		unsigned n = begun_groups(devices, i), joined = devices[i].nworkers && !n;

		if (!devices[i].nworkers)
			continue;
		proc->data->memnodes[i + 1]->group = proc->ngroups == 1 ? 0 : (int) (k - joined);
		if (proc->ngroups == 1)
			continue;
		if (joined)
			proc->core->groups[k - 1].nworkers += devices[i].nworkers;
		orr_assertf(k + n <= proc->ngroups && (!joined || k > 0),
			    "group %u of %u begins with device %u", k, proc->ngroups, i);
		for (unsigned g = 0; g < n; g++) {
			proc->core->groups[k].first = first + g * devices[i].nworkers / n;
			proc->core->groups[k++].nworkers = devices[i].nworkers / n;
		}
		first += devices[i].nworkers;
	}
}

/* Chooses the units of the threads that drive devices, whose workers begin with `first`. */
static void bind_drivers(struct orr_process *proc, unsigned first, const struct orr_device *devices,
			 unsigned ndevices)
{
	int unit = -1;

	for (unsigned i = 0; i < ndevices; i++) {
		unsigned n = begun_groups(devices, i), each = n ? devices[i].nworkers / n : 0;

		for (unsigned k = 0; k < devices[i].nworkers; k++, first++) {
			if (n && k % each == 0)
				unit = orr_unit_of_driver(proc, &devices[i], first);
			orr_assert(first < proc->core->nworkers);
			proc->core->workers[first].bindid = unit;
		}
	}
}

/* Each worker is in one group, and the groups follow each other. */
static void check_groups(const struct orr_process *proc)
{
	unsigned next = 0;

	for (unsigned i = 0; i < proc->ngroups; i++) {
		orr_assertf(proc->core->groups[i].first == next, "group %u begins with worker %u",
			    i, proc->core->groups[i].first);
		next += proc->core->groups[i].nworkers;
	}
	orr_assertf(!proc->ngroups || next == proc->core->nworkers, "%u of %u workers have a group",
		    next, proc->core->nworkers);
}

static int prepare_groups(struct orr_process *proc)
{
	check_groups(proc);
	for (unsigned i = 0; i < proc->ngroups; i++) {
		struct orr_group *g = &proc->core->groups[i];

		g->proc = proc;
		g->workers = &proc->core->workers[g->first];
		g->heap = calloc(g->nworkers ? g->nworkers : 1, sizeof(*g->heap));
		if (!g->heap)
			return -ENOMEM;
		orr_waitq_init(&g->bell);
		for (unsigned k = 0; k < g->nworkers; k++)
			g->workers[k].group = g;
	}
	return 0;
}

/* Devices that execute, and take a core to be driven by; the others are memories. */
static unsigned count_drivers(const struct orr_device *devices, unsigned ndevices)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ndevices; i++)
		n += begun_groups(devices, i);
	return n;
}

/* The cores that drivers take from the CPU workers. All slaves together take one, for the thread
 * that talks to them, unless the program wants one for each. */
static unsigned count_driver_cores(const struct orr_device *devices, unsigned ndevices)
{
	unsigned n = count_drivers(devices, ndevices), nslaves = 0;

	for (unsigned i = 0; i < ndevices; i++)
		nslaves += devices[i].arch == STARPU_MPI_MS_WORKER;
	if (nslaves > 1 &&
	    orr_config_long("STARPU_MPI_MS_MULTIPLE_THREAD", ORR_MPI_MS_MULTIPLE_THREAD) <= 0)
		n -= nslaves - 1;
	return n;
}

/* n objects of that size, aligned like workers and groups, or NULL. */
static void *zeroes(size_t n, size_t size)
{
	void *p = aligned_alloc(ORR_LINES, n * size);

	return p ? memset(p, 0, n * size) : NULL;
}

int orr_workers_create(struct orr_process *proc, const struct orr_driver_ops *cpu_driver,
		       const struct orr_device *devices, unsigned ndevices)
{
	proc->core->engine_core = (proc->conf->will_use_mpi || proc->mpi_size > 1) &&
				  orr_config_long("ORRERY_MPI_RESERVE_CORE", 0) > 0;

	unsigned ndrivers = count_drivers(devices, ndevices);
	int ncpus = count_cpus(proc, count_driver_cores(devices, ndevices)), ret = 0;
	unsigned i, nunits, next;

	if (ncpus < 0)
		return ncpus;
	ret = orr_units_begin(proc, ndrivers);
	if (ret)
		return ret;
	proc->core->nworkers = (unsigned) ncpus;
	nunits = (unsigned) ncpus + ndrivers;
	for (i = 0; i < ndevices; i++)
		proc->core->nworkers += devices[i].nworkers;
	orr_sys_workers_share(proc, proc->core->nworkers);
	/* Workers that the program drives have a group of their own. */
	proc->ngroups = !nunits                              ? 0
			: proc->conf->n_not_launched_drivers ? nunits
							     : orr_sys_ngroups(nunits);
	proc->core->workers = zeroes(proc->core->nworkers ? proc->core->nworkers : 1,
				     sizeof(*proc->core->workers));
	proc->core->groups = zeroes(proc->ngroups ? proc->ngroups : 1, sizeof(*proc->core->groups));
	if (!proc->core->workers || !proc->core->groups ||
	    orr_arch_table_set_workers(proc, proc->core->nworkers))
		return -ENOMEM;
	bind_drivers(proc, (unsigned) ncpus, devices, ndevices);
	for (i = 0; i < (unsigned) ncpus; i++)
		create_cpu_worker(proc, cpu_driver, i);
	for (i = 0, next = (unsigned) ncpus; i < ndevices; next += devices[i++].nworkers)
		if (create_device_workers(proc, &devices[i], i + 1, next))
			return -ENOMEM;
	cut_groups(proc, (unsigned) ncpus, devices, ndevices);
	proc->core->counts_ready = proc->ngroups == 1 && proc->core->nworkers > 1;
	proc->core->groups[0].counts = proc->core->counts_ready;
	return prepare_groups(proc);
}

int orr_worker_driven_by_program(struct orr_process *proc, struct orr_worker *w)
{
	for (unsigned i = 0; i < proc->conf->n_not_launched_drivers; i++) {
		struct starpu_driver *d = &proc->conf->not_launched_drivers[i];

		if (d->type == w->arch && (int) d->id.cpu_id == w->devid)
			return 1;
	}
	return 0;
}

void orr_workers_free(struct orr_process *proc)
{
	for (unsigned i = 0; i < proc->ngroups && proc->core->groups; i++) {
		orr_waitq_destroy(&proc->core->groups[i].bell);
		free(proc->core->groups[i].heap);
	}
	for (unsigned i = 0; i < proc->core->nworkers && proc->core->workers; i++) {
		free(proc->core->workers[i].ahead);
		free(proc->core->workers[i].policy_lock);
	}
	free(proc->core->groups);
	free(proc->core->workers);
	orr_units_end(proc);
	free(proc->core->by_unit);
	proc->core->by_unit = NULL;
	proc->core->groups = NULL;
	proc->core->workers = NULL;
	proc->ngroups = proc->core->nworkers = 0;
}
