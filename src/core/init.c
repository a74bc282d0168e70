/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Start and stop of the runtime in a process.
 *
 * Invariant: starpu_init either leaves everything running or nothing at all; calls nest, the last
 * starpu_shutdown stops. */
#include "core/graph.h"
#include "base/ids.h"
#include "core/worker.h"
#include "core/parallel.h"
#include "data/handle.h"
#include "data/disk.h"
#include "data/memory.h"
#include "data/prefetch.h"
#include "drivers/device.h"
#include "data/memnode.h"
#include "perf/perf.h"
#include "sched/sched.h"
#include "trace/trace.h"
#include "base/log.h"
#include "data/data.h"
#include "core/core.h"
#include "base/slab.h"
#include "data/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int starpu_conf_init(struct starpu_conf *conf)
{
	if (!conf)
		return -EINVAL;
	memset(conf, 0, sizeof(*conf));
	conf->magic = ORRERY_CONF_MAGIC;
	conf->ncpus = conf->ncuda = conf->nopencl = conf->nmpi_ms = conf->ntcpip_ms = -1;
	conf->reserve_ncpus = -1;
	conf->calibrate = conf->bus_calibrate = -1;
	conf->catch_signals = 1;
	conf->global_sched_ctx_min_priority = conf->global_sched_ctx_max_priority = -1;
	conf->driver_spinning_backoff_min = 1;
	conf->driver_spinning_backoff_max = 32;
	return 0;
}

int starpu_conf_noworker(struct starpu_conf *conf)
{
	int ret = starpu_conf_init(conf);

	if (ret)
		return ret;
	conf->ncpus = conf->ncuda = conf->nopencl = conf->nmpi_ms = conf->ntcpip_ms = 0;
	return 0;
}

/* ---- workers ---- */

/* The unit that is kept for the thread that starts the runtime; -1: none. */
static int main_unit(const struct orr_process *proc)
{
	if (proc->cfg.main_thread_cpuid >= 0)
		return proc->cfg.main_thread_cpuid;
	return proc->cfg.main_thread_bind && proc->topo.ncores
		       ? proc->topo.core_ids[proc->topo.ncores - 1]
		       : -1;
}

/* How many CPU workers: as asked for, else one for each core that this process may use. */
static int count_cpus(struct orr_process *proc, unsigned ndevices)
{
	int asked = proc->cfg.ncpu, reserve = proc->cfg.reserve_ncpu,
	    most = STARPU_NMAXWORKERS - (int) ndevices;

	if (proc->conf.ncpus != -1 &&
	    (asked == -1 || proc->conf.precedence_over_environment_variables))
		asked = proc->conf.ncpus;
	if (proc->conf.reserve_ncpus > 0 &&
	    (!reserve || proc->conf.precedence_over_environment_variables))
		reserve = proc->conf.reserve_ncpus;
	if (asked > most) {
		orr_error(
			"%d CPU workers asked for (STARPU_NCPU or conf.ncpus), at most %d are possible",
			asked, most);
		return -EINVAL;
	}
	if (asked >= 0)
		return asked;
	/* With one core left the worker shares it with the progression thread and the program. */
	asked = (int) proc->topo.ncores - reserve - (int) ndevices - (main_unit(proc) >= 0);
	/* A machine with devices is one that is left to the runtime: the progression thread has a
	 * core too. */
	if (ndevices && (proc->conf.will_use_mpi || proc->mpi_size > 1))
		asked--;
	if (asked < 1)
		asked = 1;
	if (asked > STARPU_NMAXWORKERS / 2)
		asked = STARPU_NMAXWORKERS / 2;
	return asked;
}

/* The i-th unit in turns, without the one that is kept for the main thread if there are others. */
static int unit_in_turns(const struct orr_process *proc, unsigned i)
{
	const struct orr_topology *t = &proc->topo;
	int keep = main_unit(proc);
	unsigned j, n = 0;

	for (j = 0; j < t->ncores; j++)
		n += t->core_ids[j] != keep;
	if (n == 0 || n == t->ncores)
		return t->ncores ? t->core_ids[i % t->ncores] : -1;
	i %= n;
	for (j = 0; t->core_ids[j] == keep || i > 0; j++)
		i -= t->core_ids[j] != keep;
	return t->core_ids[j];
}

static int bindid(struct orr_process *proc, unsigned i)
{
	if (proc->cfg.nobind)
		return -1;
	if (proc->conf.use_explicit_workers_bindid)
		return (int) proc->conf.workers_bindid[i % STARPU_NMAXWORKERS];
	if (proc->core->nexplicit)
		return proc->core->explicit_ids[i % proc->core->nexplicit];
	return unit_in_turns(proc, i);
}

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

/* What is common to workers of all kinds. */
static void setup_worker(struct orr_process *proc, struct orr_worker *w, unsigned id,
			 enum starpu_worker_archtype arch, int devid)
{
	w->id = id;
	w->arch = arch;
	w->devid = devid;
	w->perf_arch = orr_arch_table_set_worker(proc, id, arch, devid);
	orr_lock_init(&w->local_lock, ORR_RANK_WORKER);
	starpu_task_list_init(&w->local);
}

static void create_cpu_worker(struct orr_process *proc, unsigned i)
{
	struct orr_worker *w = &proc->core->workers[i];

	setup_worker(proc, w, i, STARPU_CPU_WORKER, (int) i);
	w->bindid = bindid(proc, i);
	w->memnode = orr_topology_numa(&proc->topo, w->bindid);
	w->driver = &orr_cpu_driver;
	snprintf(w->name, sizeof(w->name), "CPU %u", i);
	proc->arch_mask |= STARPU_CPU;
}

/* Workers first, first + 1, ... of the device whose memory node is memnode. */
static void create_device_workers(struct orr_process *proc, const struct orr_device *d,
				  unsigned memnode, unsigned first)
{
	for (unsigned i = 0; i < d->nworkers; i++) {
		struct orr_worker *w = &proc->core->workers[first + i];

		setup_worker(proc, w, first + i, d->arch, d->devid);
		w->memnode = memnode;
		w->bindid = -1;
		w->driver = d->driver;
		w->driver_arg = d->driver_arg;
		w->pipeline = d->pipeline >= 2;
		snprintf(w->name, sizeof(w->name), d->nworkers > 1 ? "%s.%u" : "%s", d->name, i);
		proc->arch_mask |= STARPU_WORKER_TO_MASK(d->arch);
	}
}

/* Cuts the workers into groups: all of them, or a group for each CPU worker and one for each device
 * that has workers. */
static void cut_groups(struct orr_process *proc, unsigned ncpus, const struct orr_device *devices,
		       unsigned ndevices)
{
	unsigned i, k = 0, first = 0;

	if (proc->ngroups == 1)
		proc->core->groups[0].nworkers = proc->core->nworkers;
	for (i = 0; i < ncpus && proc->ngroups > 1; i++) {
		proc->core->groups[k].first = first++;
		proc->core->groups[k++].nworkers = 1;
	}
	for (i = 0; i < ndevices && proc->ngroups; i++) {
		if (!devices[i].nworkers)
			continue;
		proc->data->memnodes[i + 1].group = (int) k;
		if (proc->ngroups == 1)
			continue;
		proc->core->groups[k].first = first;
		proc->core->groups[k++].nworkers = devices[i].nworkers;
		first += devices[i].nworkers;
	}
}

/* Devices that execute, and take a core to be driven by; the others are memories. */
static unsigned count_drivers(const struct orr_device *devices, unsigned ndevices)
{
	unsigned i, n = 0;

	for (i = 0; i < ndevices; i++)
		n += devices[i].nworkers != 0;
	return n;
}

static int create_workers(struct orr_process *proc, const struct orr_device *devices,
			  unsigned ndevices)
{
	unsigned ndrivers = count_drivers(devices, ndevices);
	int ncpus = count_cpus(proc, ndrivers), ret = 0;
	unsigned i, nunits, next;

	if (ncpus < 0)
		return ncpus;
	ret = read_explicit_ids(proc);
	if (ret)
		return ret;
	proc->core->nworkers = (unsigned) ncpus;
	nunits = (unsigned) ncpus + ndrivers;
	for (i = 0; i < ndevices; i++)
		proc->core->nworkers += devices[i].nworkers;
	proc->ngroups = nunits ? orr_sys_ngroups(nunits) : 0;
	proc->core->workers = aligned_alloc(128, (proc->core->nworkers + 1) *
							 sizeof(*proc->core->workers));
	proc->core->groups = aligned_alloc(128, (proc->ngroups + 1) * sizeof(*proc->core->groups));
	if (!proc->core->workers || !proc->core->groups ||
	    orr_arch_table_set_workers(proc, proc->core->nworkers))
		return -ENOMEM;
	memset(proc->core->workers, 0, (proc->core->nworkers + 1) * sizeof(*proc->core->workers));
	memset(proc->core->groups, 0, (proc->ngroups + 1) * sizeof(*proc->core->groups));
	for (i = 0; i < (unsigned) ncpus; i++)
		create_cpu_worker(proc, i);
	for (i = 0, next = (unsigned) ncpus; i < ndevices; next += devices[i++].nworkers)
		create_device_workers(proc, &devices[i], i + 1, next);
	cut_groups(proc, (unsigned) ncpus, devices, ndevices);
	return 0;
}

static int start_groups(struct orr_process *proc)
{
	unsigned i, k;

	for (i = 0; i < proc->ngroups; i++) {
		struct orr_group *g = &proc->core->groups[i];

		g->proc = proc;
		g->heap = calloc(g->nworkers ? g->nworkers : 1, sizeof(*g->heap));
		if (!g->heap)
			return -ENOMEM;
		orr_waitq_init(&g->bell);
		for (k = 0; k < g->nworkers; k++)
			proc->core->workers[g->first + k].group = g;
	}
	for (i = 0; i < proc->ngroups; i++) {
		struct orr_group *g = &proc->core->groups[i];
		struct orr_worker *w = &proc->core->workers[g->first];

		if (orr_driven_by_program(proc, w))
			continue;
		g->thread = orr_sys_thread_start(proc, ORR_ROLE_WORKERS, w->name, w->bindid,
						 orr_group_main, g);
		if (!g->thread) {
			orr_error("the thread of worker %s cannot be started: %s", w->name,
				  strerror(errno));
			return -errno;
		}
	}
	return 0;
}

int orr_driven_by_program(struct orr_process *proc, struct orr_worker *w)
{
	unsigned i;

	for (i = 0; i < proc->conf.n_not_launched_drivers; i++) {
		struct starpu_driver *d = &proc->conf.not_launched_drivers[i];

		if (d->type == w->arch && (int) d->id.cpu_id == w->devid)
			return 1;
	}
	return 0;
}

static void stop_groups(struct orr_process *proc)
{
	unsigned i;

	ORR_ATOMIC_STORE(&proc->core->stopping, 1);
	for (i = 0; i < proc->ngroups; i++)
		if (proc->core->groups[i].proc)
			orr_waitq_wake(&proc->core->groups[i].bell);
	for (i = 0; i < proc->ngroups; i++)
		if (proc->core->groups[i].thread)
			orr_sys_thread_join(proc->core->groups[i].thread);
}

static void free_workers(struct orr_process *proc)
{
	unsigned i;

	for (i = 0; i < proc->ngroups && proc->core->groups; i++) {
		orr_waitq_destroy(&proc->core->groups[i].bell);
		free(proc->core->groups[i].heap);
	}
	free(proc->core->groups);
	free(proc->core->workers);
	free(proc->core->explicit_ids);
	proc->core->groups = NULL;
	proc->core->workers = NULL;
	proc->core->explicit_ids = NULL;
	proc->core->nexplicit = 0;
	proc->ngroups = proc->core->nworkers = 0;
}

/* ---- start ---- */

static int create_memnodes(struct orr_process *proc, const struct orr_device *devices,
			   unsigned ndevices)
{
	unsigned i;
	int ret;

	memset(proc->data->memnodes, 0, sizeof(proc->data->memnodes));
	proc->data->nmemnodes = 0;
	proc->data->limited = 0;
	proc->data->swap_node = -1;
	ret = orr_memory_add_node(
		proc, STARPU_CPU_RAM, 0, &orr_ram_ops, NULL,
		proc->topo.nnuma > 1 ? orr_device_limit("CPU_NUMA", 0, proc->cfg.limit_numa_mem)
				     : proc->cfg.limit_cpu_mem);
	for (i = 0; i < ndevices && ret >= 0; i++)
		ret = orr_memory_add_node(proc, devices[i].kind, devices[i].devid,
					  devices[i].memory_ops, devices[i].memory_arg,
					  devices[i].memory);
	return ret < 0 ? ret : 0;
}

static int create_units(struct orr_process *proc)
{
	struct orr_device devices[STARPU_MAXNODES - 2];
	int n = orr_devices_list(proc, devices, STARPU_MAXNODES - 2), ret;

	if (n < 0)
		return n;
	ret = create_memnodes(proc, devices, (unsigned) n);
	return ret ? ret : create_workers(proc, devices, (unsigned) n);
}

static void reset(struct orr_process *proc)
{
	proc->core->nsubmitted = proc->core->ncompleted_other = 0;
	proc->core->stopping = 0;
	proc->core->paused = 0;
	proc->arch_mask = 0;
	proc->core->ndone_waiters = 0;
	proc->data->nstarving = proc->data->nbusy = proc->data->ncopying = proc->data->nprefetch =
		proc->data->nbackground = 0;
	proc->data->untidy = 0;
	proc->data->starved = NULL;
	proc->data->starver = NULL;
	proc->core->rr = 0;
	memset(proc->core->idle_mask, 0, sizeof(proc->core->idle_mask));
	proc->data->default_sequential_consistency = 1;
	proc->rng = proc->cfg.rand_seed * 2 + 1;
	proc->epoch++;
	orr_slab_init(&proc->core->task_slab, orr_task_slab_size(), 0);
	orr_slab_init(&proc->data->handle_slab, orr_handle_slab_size(), 1);
	orr_waitq_init(&proc->done);
}

static void tear_down(struct orr_process *proc)
{
	stop_groups(proc);
	orr_hooks_exit(proc);
	orr_sched_exit(proc);
	orr_combined_exit(proc);
	orr_trace_exit(proc);
	orr_perf_exit(proc);
	orr_energy_exit(proc);
	free_workers(proc);
	orr_tags_exit(proc);
	orr_memory_exit(proc);
	orr_disk_exit(proc);
	orr_slab_exit(&proc->core->task_slab);
	orr_slab_exit(&proc->data->handle_slab);
	orr_waitq_destroy(&proc->done);
	orr_sys_topology_exit(proc);
	orr_sys_process_exit(proc);
	orr_config_free(&proc->cfg);
	proc->data->nmemnodes = 0;
	proc->state = ORR_PROCESS_DOWN;
}

static int check_conf(const struct starpu_conf *conf)
{
	if (conf->magic == ORRERY_CONF_MAGIC)
		return 0;
	orr_error("starpu_init: the configuration was not set up with starpu_conf_init");
	return -EINVAL;
}

static void prefer(const struct orr_process *proc, int *field, int given)
{
	if (given >= 0 && !(*field > 0 && proc->conf.precedence_over_environment_variables))
		*field = given > 0;
}

/* Switches of copies that have a field each. */
static void copies_by_environment(struct orr_process *proc)
{
	const struct orr_config *cfg = &proc->cfg;

	prefer(proc, &proc->conf.disable_asynchronous_copy, cfg->no_async_copy);
	prefer(proc, &proc->conf.disable_asynchronous_cuda_copy, cfg->no_async_cuda_copy);
	prefer(proc, &proc->conf.disable_asynchronous_opencl_copy, cfg->no_async_opencl_copy);
	prefer(proc, &proc->conf.disable_asynchronous_mpi_ms_copy, cfg->no_async_mpi_ms_copy);
}

int starpu_init(struct starpu_conf *conf)
{
	struct orr_process *proc = orr_self();
	int ret, profiling;

	if (proc->state == ORR_PROCESS_UP) {
		proc->init_count++;
		return 0;
	}
	if (conf && check_conf(conf))
		return -EINVAL;
	profiling = proc->cfg.profiling;
	ret = orr_config_read(&proc->cfg);
	if (ret)
		return ret;
	proc->cfg.profiling |= profiling;
	if (conf)
		proc->conf = *conf;
	else
		starpu_conf_init(&proc->conf);
	if (!proc->mpi_size) {
		proc->mpi_rank = 0;
		proc->mpi_size = 1;
	}
	if (proc->conf.calibrate > 0 && !proc->cfg.calibrate && !orr_sys_is_simulated())
		proc->cfg.calibrate = proc->conf.calibrate;
	copies_by_environment(proc);
	proc->perf_timing = proc->cfg.calibrate || proc->cfg.profiling || proc->cfg.worker_stats;
	proc->idle_watts = proc->cfg.idle_power;
	proc->joules = 0;
	memset(proc->watts, 0, sizeof(proc->watts));
	proc->state = ORR_PROCESS_STARTING;
	reset(proc);
	ret = orr_sys_process_init(proc);
	proc->start_us = orr_sys_now_us();
	if (!ret)
		ret = orr_sys_topology_init(proc);
	if (!ret)
		ret = orr_perf_init(proc);
	if (!ret)
		ret = orr_trace_init(proc);
	if (!ret)
		ret = create_units(proc);
	if (!ret && proc->keep_graph)
		ret = orr_graph_keep(proc);
	else if (!ret)
		orr_graph_free(proc); /* of an earlier run, with other units */
	if (!ret)
		ret = orr_sched_init(proc);
	if (!ret)
		ret = start_groups(proc);
	if (!ret)
		ret = orr_disk_swap_init(proc);
	if (ret) {
		tear_down(proc);
		return ret;
	}
	proc->init_count = 1;
	proc->state = ORR_PROCESS_UP;
	if (main_unit(proc) >= 0)
		starpu_bind_thread_on(main_unit(proc), STARPU_THREAD_ACTIVE, "main");
	if (proc->cfg.bus_calibrate || proc->conf.bus_calibrate > 0)
		orr_info(
			"programs measure no buses: run `orrery calibrate' for that, and unset STARPU_BUS_CALIBRATE");
	if (proc->cfg.display_bindings)
		starpu_display_bindings();
	if (!proc->core->nworkers && !conf)
		return -ENODEV;
	return 0;
}

int starpu_initialize(struct starpu_conf *user_conf, int *argc, char ***argv)
{
	(void) argc;
	(void) argv;
	return starpu_init(user_conf);
}

/* ---- stop ---- */

/* What nobody waits for: reductions and ends of data whose unregistration was submitted,
 * prefetches, which are not begun any more. */
static int is_quiet(struct orr_process *proc)
{
	orr_prefetch_cancel_all(proc);
	return ORR_ATOMIC_LOAD(&proc->data->nbackground) == 0;
}

/* Somebody may hold data that are to end: whoever waits for that for ever is told. Microseconds. */
#define TELL_AFTER_US 5e6

static void wait_quiet(struct orr_process *proc)
{
	double limit = TELL_AFTER_US;

	while (!is_quiet(proc)) {
		unsigned key = orr_waitq_prepare(&proc->done);

		if (is_quiet(proc)) {
			orr_waitq_cancel(&proc->done);
		} else if (orr_waitq_wait(&proc->done, key, limit)) {
			orr_warn(
				"starpu_shutdown waits for data given to starpu_data_unregister_submit, or on their way: release what is acquired");
			limit = -1;
		}
	}
}

void starpu_shutdown(void)
{
	struct orr_process *proc = orr_self();

	if (proc->state != ORR_PROCESS_UP) {
		orr_error("starpu_shutdown without starpu_init");
		return;
	}
	if (--proc->init_count)
		return;
	while (starpu_is_paused())
		starpu_resume();
	starpu_sched_ctx_set_context(NULL);
	starpu_task_wait_for_all();
	wait_quiet(proc);
	if (proc->cfg.worker_stats || proc->cfg.bus_stats)
		starpu_display_stats();
	proc->state = ORR_PROCESS_STOPPING;
	tear_down(proc);
}

int starpu_is_initialized(void)
{
	return orr_self()->state == ORR_PROCESS_UP;
}

/* Initialisation is over when starpu_init returns, in the one thread that may call it. */
void starpu_wait_initialized(void)
{
	while (ORR_ATOMIC_LOAD(&orr_self()->state) != ORR_PROCESS_UP)
		orr_sys_sleep_us(100);
}

void starpu_pause(void)
{
	ORR_ATOMIC_ADD(&orr_self()->core->paused, 1);
}

void starpu_resume(void)
{
	struct orr_process *proc = orr_self();

	if (ORR_ATOMIC_LOAD(&proc->core->paused) && ORR_ATOMIC_ADD(&proc->core->paused, -1) == 0)
		orr_wake_all(proc);
}

int starpu_is_paused(void)
{
	return ORR_ATOMIC_LOAD(&orr_self()->core->paused) != 0;
}
