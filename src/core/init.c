/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Start and stop of the runtime in a process.
 *
 * Invariant: starpu_init either leaves everything running or nothing at all; calls nest, the last
 * starpu_shutdown stops. */
#include "core/graph.h"
#include "core/ids.h"
#include "core/worker.h"
#include "core/parallel.h"
#include "data/handle.h"
#include "data/disk.h"
#include "data/memory.h"
#include "data/prefetch.h"
#include "drivers/device.h"
#include "drivers/memnode.h"
#include "perf/perf.h"
#include "sched/sched.h"
#include "trace/trace.h"

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
static int main_unit(const struct orr_node *node)
{
	if (node->cfg.main_thread_cpuid >= 0)
		return node->cfg.main_thread_cpuid;
	return node->cfg.main_thread_bind && node->topo.ncores
		       ? node->topo.core_ids[node->topo.ncores - 1]
		       : -1;
}

/* How many CPU workers: as asked for, else one for each core that this process may use. */
static int count_cpus(struct orr_node *node, unsigned ndevices)
{
	int asked = node->cfg.ncpu, reserve = node->cfg.reserve_ncpu,
	    most = STARPU_NMAXWORKERS - (int) ndevices;

	if (node->conf.ncpus != -1 &&
	    (asked == -1 || node->conf.precedence_over_environment_variables))
		asked = node->conf.ncpus;
	if (node->conf.reserve_ncpus > 0 &&
	    (!reserve || node->conf.precedence_over_environment_variables))
		reserve = node->conf.reserve_ncpus;
	if (asked > most) {
		orr_error(
			"%d CPU workers asked for (STARPU_NCPU or conf.ncpus), at most %d are possible",
			asked, most);
		return -EINVAL;
	}
	if (asked >= 0)
		return asked;
	/* With one core left the worker shares it with the progression thread and the program. */
	asked = (int) node->topo.ncores - reserve - (int) ndevices - (main_unit(node) >= 0);
	/* A machine with devices is one that is left to the runtime: the progression thread has a
	 * core too. */
	if (ndevices && (node->conf.will_use_mpi || node->mpi_size > 1))
		asked--;
	if (asked < 1)
		asked = 1;
	if (asked > STARPU_NMAXWORKERS / 2)
		asked = STARPU_NMAXWORKERS / 2;
	return asked;
}

/* The i-th unit in turns, without the one that is kept for the main thread if there are others. */
static int unit_in_turns(const struct orr_node *node, unsigned i)
{
	const struct orr_topology *t = &node->topo;
	int keep = main_unit(node);
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

static int bindid(struct orr_node *node, unsigned i)
{
	if (node->cfg.nobind)
		return -1;
	if (node->conf.use_explicit_workers_bindid)
		return (int) node->conf.workers_bindid[i % STARPU_NMAXWORKERS];
	if (node->nexplicit)
		return node->explicit_ids[i % node->nexplicit];
	return unit_in_turns(node, i);
}

/* Units to bind workers to, round-robin when there are fewer than workers. */
static int read_explicit_ids(struct orr_node *node)
{
	const struct orr_config *cfg = &node->cfg;
	int ret = 0;

	if (cfg->workers_cpuid)
		ret = orr_ids_parse("STARPU_WORKERS_CPUID", cfg->workers_cpuid, node->topo.nmachine,
				    &node->explicit_ids, &node->nexplicit);
	if (!ret && !node->nexplicit && cfg->workers_coreid)
		ret = orr_ids_parse("STARPU_WORKERS_COREID", cfg->workers_coreid,
				    node->topo.nmachine, &node->explicit_ids, &node->nexplicit);
	return ret;
}

/* What is common to workers of all kinds. */
static int setup_worker(struct orr_worker *w, unsigned id, enum starpu_worker_archtype arch,
			int devid, int homogeneous)
{
	w->id = id;
	w->arch = arch;
	w->devid = devid;
	starpu_task_list_init(&w->local);
	w->unit = calloc(1, sizeof(*w->unit));
	if (!w->unit)
		return -ENOMEM;
	w->unit->type = arch;
	w->unit->devid = homogeneous ? 0 : devid;
	w->unit->ncores = 1;
	return 0;
}

static int create_cpu_worker(struct orr_node *node, unsigned i)
{
	struct orr_worker *w = &node->workers[i];
	int ret = setup_worker(w, i, STARPU_CPU_WORKER, (int) i, node->cfg.homogeneous_cpu);

	w->bindid = bindid(node, i);
	w->memnode = orr_topology_numa(&node->topo, w->bindid);
	w->driver = &orr_cpu_driver;
	snprintf(w->name, sizeof(w->name), "CPU %u", i);
	node->arch_mask |= STARPU_CPU;
	return ret;
}

/* Workers first, first + 1, ... of the device whose memory node is memnode. */
static int create_device_workers(struct orr_node *node, const struct orr_device *d,
				 unsigned memnode, unsigned first)
{
	unsigned i;

	for (i = 0; i < d->nworkers; i++) {
		struct orr_worker *w = &node->workers[first + i];

		if (setup_worker(w, first + i, d->arch, d->devid,
				 (d->arch == STARPU_CUDA_WORKER && node->cfg.homogeneous_cuda) ||
					 (d->arch == STARPU_OPENCL_WORKER &&
					  node->cfg.homogeneous_opencl)))
			return -ENOMEM;
		w->memnode = memnode;
		w->bindid = -1;
		w->driver = d->driver;
		w->driver_arg = d->driver_arg;
		w->pipeline = d->pipeline >= 2;
		snprintf(w->name, sizeof(w->name), d->nworkers > 1 ? "%s.%u" : "%s", d->name, i);
		node->arch_mask |= STARPU_WORKER_TO_MASK(d->arch);
	}
	return 0;
}

/* Cuts the workers into groups: all of them, or a group for each CPU worker and one for each device
 * that has workers. */
static void cut_groups(struct orr_node *node, unsigned ncpus, const struct orr_device *devices,
		       unsigned ndevices)
{
	unsigned i, k = 0, first = 0;

	if (node->ngroups == 1)
		node->groups[0].nworkers = node->nworkers;
	for (i = 0; i < ncpus && node->ngroups > 1; i++) {
		node->groups[k].first = first++;
		node->groups[k++].nworkers = 1;
	}
	for (i = 0; i < ndevices && node->ngroups; i++) {
		if (!devices[i].nworkers)
			continue;
		node->memnodes[i + 1].group = &node->groups[k];
		if (node->ngroups == 1)
			continue;
		node->groups[k].first = first;
		node->groups[k++].nworkers = devices[i].nworkers;
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

static int create_workers(struct orr_node *node, const struct orr_device *devices,
			  unsigned ndevices)
{
	unsigned ndrivers = count_drivers(devices, ndevices);
	int ncpus = count_cpus(node, ndrivers), ret = 0;
	unsigned i, nunits, next;

	if (ncpus < 0)
		return ncpus;
	ret = read_explicit_ids(node);
	if (ret)
		return ret;
	node->nworkers = (unsigned) ncpus;
	nunits = (unsigned) ncpus + ndrivers;
	for (i = 0; i < ndevices; i++)
		node->nworkers += devices[i].nworkers;
	node->ngroups = nunits ? orr_sys_ngroups(nunits) : 0;
	node->workers = aligned_alloc(128, (node->nworkers + 1) * sizeof(*node->workers));
	node->groups = aligned_alloc(128, (node->ngroups + 1) * sizeof(*node->groups));
	if (!node->workers || !node->groups)
		return -ENOMEM;
	memset(node->workers, 0, (node->nworkers + 1) * sizeof(*node->workers));
	memset(node->groups, 0, (node->ngroups + 1) * sizeof(*node->groups));
	for (i = 0; i < (unsigned) ncpus && !ret; i++)
		ret = create_cpu_worker(node, i);
	for (i = 0, next = (unsigned) ncpus; i < ndevices && !ret; next += devices[i++].nworkers)
		ret = create_device_workers(node, &devices[i], i + 1, next);
	cut_groups(node, (unsigned) ncpus, devices, ndevices);
	return ret;
}

static int start_groups(struct orr_node *node)
{
	unsigned i, k;

	for (i = 0; i < node->ngroups; i++) {
		struct orr_group *g = &node->groups[i];

		g->node = node;
		g->heap = calloc(g->nworkers ? g->nworkers : 1, sizeof(*g->heap));
		if (!g->heap)
			return -ENOMEM;
		orr_waitq_init(&g->bell);
		for (k = 0; k < g->nworkers; k++)
			node->workers[g->first + k].group = g;
	}
	for (i = 0; i < node->ngroups; i++) {
		struct orr_group *g = &node->groups[i];
		struct orr_worker *w = &node->workers[g->first];

		if (orr_driven_by_program(node, w))
			continue;
		g->thread = orr_sys_thread_start(node, ORR_ROLE_WORKERS, w->name, w->bindid,
						 orr_group_main, g);
		if (!g->thread) {
			orr_error("the thread of worker %s cannot be started: %s", w->name,
				  strerror(errno));
			return -errno;
		}
	}
	return 0;
}

int orr_driven_by_program(struct orr_node *node, struct orr_worker *w)
{
	unsigned i;

	for (i = 0; i < node->conf.n_not_launched_drivers; i++) {
		struct starpu_driver *d = &node->conf.not_launched_drivers[i];

		if (d->type == w->arch && (int) d->id.cpu_id == w->devid)
			return 1;
	}
	return 0;
}

static void stop_groups(struct orr_node *node)
{
	unsigned i;

	ORR_ATOMIC_STORE(&node->stopping, 1);
	for (i = 0; i < node->ngroups; i++)
		if (node->groups[i].node)
			orr_waitq_wake(&node->groups[i].bell);
	for (i = 0; i < node->ngroups; i++)
		if (node->groups[i].thread)
			orr_sys_thread_join(node->groups[i].thread);
}

static void free_workers(struct orr_node *node)
{
	unsigned i;

	for (i = 0; i < node->ngroups && node->groups; i++) {
		orr_waitq_destroy(&node->groups[i].bell);
		free(node->groups[i].heap);
	}
	for (i = 0; i < node->nworkers && node->workers; i++)
		free(node->workers[i].unit);
	free(node->groups);
	free(node->workers);
	free(node->explicit_ids);
	node->groups = NULL;
	node->workers = NULL;
	node->explicit_ids = NULL;
	node->nexplicit = 0;
	node->ngroups = node->nworkers = 0;
}

/* ---- start ---- */

static int create_memnodes(struct orr_node *node, const struct orr_device *devices,
			   unsigned ndevices)
{
	unsigned i;
	int ret;

	memset(node->memnodes, 0, sizeof(node->memnodes));
	node->nmemnodes = 0;
	node->limited = 0;
	node->swap_node = -1;
	ret = orr_memory_add_node(
		node, STARPU_CPU_RAM, 0, &orr_ram_ops, NULL,
		node->topo.nnuma > 1 ? orr_device_limit("CPU_NUMA", 0, node->cfg.limit_numa_mem)
				     : node->cfg.limit_cpu_mem);
	for (i = 0; i < ndevices && ret >= 0; i++)
		ret = orr_memory_add_node(node, devices[i].kind, devices[i].devid,
					  devices[i].memory_ops, devices[i].memory_arg,
					  devices[i].memory);
	return ret < 0 ? ret : 0;
}

static int create_units(struct orr_node *node)
{
	struct orr_device devices[STARPU_MAXNODES - 2];
	int n = orr_devices_list(node, devices, STARPU_MAXNODES - 2), ret;

	if (n < 0)
		return n;
	ret = create_memnodes(node, devices, (unsigned) n);
	return ret ? ret : create_workers(node, devices, (unsigned) n);
}

static void reset(struct orr_node *node)
{
	node->nsubmitted = node->ncompleted_other = 0;
	node->stopping = 0;
	node->paused = 0;
	node->arch_mask = 0;
	node->ndone_waiters = 0;
	node->nstarving = node->nbusy = node->ncopying = node->nprefetch = node->nbackground = 0;
	node->untidy = 0;
	node->starved = NULL;
	node->starver = NULL;
	node->rr = 0;
	memset(node->idle_mask, 0, sizeof(node->idle_mask));
	node->default_sequential_consistency = 1;
	node->rng = node->cfg.rand_seed * 2 + 1;
	node->epoch++;
	orr_slab_init(&node->task_slab, orr_task_slab_size(), 0);
	orr_slab_init(&node->handle_slab, orr_handle_slab_size(), 1);
	orr_waitq_init(&node->done);
}

static void tear_down(struct orr_node *node)
{
	stop_groups(node);
	orr_hooks_exit(node);
	orr_sched_exit(node);
	orr_combined_exit(node);
	orr_trace_exit(node);
	orr_perf_exit(node);
	orr_energy_exit(node);
	free_workers(node);
	orr_tags_exit(node);
	orr_memory_exit(node);
	orr_disk_exit(node);
	orr_slab_exit(&node->task_slab);
	orr_slab_exit(&node->handle_slab);
	orr_waitq_destroy(&node->done);
	orr_sys_topology_exit(node);
	orr_sys_node_exit(node);
	orr_config_free(&node->cfg);
	node->nmemnodes = 0;
	node->state = ORR_NODE_DOWN;
}

static int check_conf(const struct starpu_conf *conf)
{
	if (conf->magic == ORRERY_CONF_MAGIC)
		return 0;
	orr_error("starpu_init: the configuration was not set up with starpu_conf_init");
	return -EINVAL;
}

static void prefer(const struct orr_node *node, int *field, int given)
{
	if (given >= 0 && !(*field > 0 && node->conf.precedence_over_environment_variables))
		*field = given > 0;
}

/* Switches of copies that have a field each. */
static void copies_by_environment(struct orr_node *node)
{
	const struct orr_config *cfg = &node->cfg;

	prefer(node, &node->conf.disable_asynchronous_copy, cfg->no_async_copy);
	prefer(node, &node->conf.disable_asynchronous_cuda_copy, cfg->no_async_cuda_copy);
	prefer(node, &node->conf.disable_asynchronous_opencl_copy, cfg->no_async_opencl_copy);
	prefer(node, &node->conf.disable_asynchronous_mpi_ms_copy, cfg->no_async_mpi_ms_copy);
}

int starpu_init(struct starpu_conf *conf)
{
	struct orr_node *node = orr_self();
	int ret, profiling;

	if (node->state == ORR_NODE_UP) {
		node->init_count++;
		return 0;
	}
	if (conf && check_conf(conf))
		return -EINVAL;
	profiling = node->cfg.profiling;
	ret = orr_config_read(&node->cfg);
	if (ret)
		return ret;
	node->cfg.profiling |= profiling;
	if (conf)
		node->conf = *conf;
	else
		starpu_conf_init(&node->conf);
	if (!node->mpi_size) {
		node->mpi_rank = 0;
		node->mpi_size = 1;
	}
	if (node->conf.calibrate > 0 && !node->cfg.calibrate && !orr_sys_is_simulated())
		node->cfg.calibrate = node->conf.calibrate;
	copies_by_environment(node);
	node->perf_timing = node->cfg.calibrate || node->cfg.profiling || node->cfg.worker_stats;
	node->idle_watts = node->cfg.idle_power;
	node->joules = 0;
	memset(node->watts, 0, sizeof(node->watts));
	node->state = ORR_NODE_STARTING;
	reset(node);
	ret = orr_sys_node_init(node);
	node->start_us = orr_sys_now_us();
	if (!ret)
		ret = orr_sys_topology_init(node);
	if (!ret)
		ret = orr_perf_init(node);
	if (!ret)
		ret = orr_trace_init(node);
	if (!ret)
		ret = create_units(node);
	if (!ret && node->keep_graph)
		ret = orr_graph_keep(node);
	else if (!ret)
		orr_graph_free(node); /* of an earlier run, with other units */
	if (!ret)
		ret = orr_sched_init(node);
	if (!ret)
		ret = start_groups(node);
	if (!ret)
		ret = orr_disk_swap_init(node);
	if (ret) {
		tear_down(node);
		return ret;
	}
	node->init_count = 1;
	node->state = ORR_NODE_UP;
	if (main_unit(node) >= 0)
		starpu_bind_thread_on(main_unit(node), STARPU_THREAD_ACTIVE, "main");
	if (node->cfg.bus_calibrate || node->conf.bus_calibrate > 0)
		orr_info(
			"programs measure no buses: run `orrery calibrate' for that, and unset STARPU_BUS_CALIBRATE");
	if (node->cfg.display_bindings)
		starpu_display_bindings();
	if (!node->nworkers && !conf)
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
static int is_quiet(struct orr_node *node)
{
	orr_prefetch_cancel_all(node);
	return ORR_ATOMIC_LOAD(&node->nbackground) == 0;
}

/* Somebody may hold data that are to end: whoever waits for that for ever is told. Microseconds. */
#define TELL_AFTER_US 5e6

static void wait_quiet(struct orr_node *node)
{
	double limit = TELL_AFTER_US;

	while (!is_quiet(node)) {
		unsigned key = orr_waitq_prepare(&node->done);

		if (is_quiet(node)) {
			orr_waitq_cancel(&node->done);
		} else if (orr_waitq_wait(&node->done, key, limit)) {
			orr_warn(
				"starpu_shutdown waits for data given to starpu_data_unregister_submit, or on their way: release what is acquired");
			limit = -1;
		}
	}
}

void starpu_shutdown(void)
{
	struct orr_node *node = orr_self();

	if (node->state != ORR_NODE_UP) {
		orr_error("starpu_shutdown without starpu_init");
		return;
	}
	if (--node->init_count)
		return;
	while (starpu_is_paused())
		starpu_resume();
	starpu_sched_ctx_set_context(NULL);
	starpu_task_wait_for_all();
	wait_quiet(node);
	if (node->cfg.worker_stats || node->cfg.bus_stats)
		starpu_display_stats();
	node->state = ORR_NODE_STOPPING;
	tear_down(node);
}

int starpu_is_initialized(void)
{
	return orr_self()->state == ORR_NODE_UP;
}

/* Initialisation is over when starpu_init returns, in the one thread that may call it. */
void starpu_wait_initialized(void)
{
	while (ORR_ATOMIC_LOAD(&orr_self()->state) != ORR_NODE_UP)
		orr_sys_sleep_us(100);
}

void starpu_pause(void)
{
	ORR_ATOMIC_ADD(&orr_self()->paused, 1);
}

void starpu_resume(void)
{
	struct orr_node *node = orr_self();

	if (ORR_ATOMIC_LOAD(&node->paused) && ORR_ATOMIC_ADD(&node->paused, -1) == 0)
		orr_wake_all(node);
}

int starpu_is_paused(void)
{
	return ORR_ATOMIC_LOAD(&orr_self()->paused) != 0;
}
