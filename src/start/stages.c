/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stages of the start (see stages.h). */
#include "start/shared_conf.h"
#include "start/stages.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/config.h"
#include "base/seam_machine.h"
#include "base/slab.h"
#include "base/variables.h"
#include "core/ctx/combined.h"
#include "core/front/statistics.h"
#include "core/run/energy.h"
#include "core/task/graph.h"
#include "core/run/group.h"
#include "core/worker/hooks.h"
#include "core/flow/monitor.h"
#include "core/flow/profiling.h"
#include "core/flow/tag.h"
#include "core/task/task.h"
#include "core/task/task_trace.h"
#include "core/task/times.h"
#include "core/worker/unit_tree.h"
#include "core/worker/worker.h"
#include "data/data.h"
#include "data/disk.h"
#include "data/handle.h"
#include "data/memnode.h"
#include "data/memory.h"
#include "data/nodes.h"
#include "data/transfer.h"
#include "drivers/cpu.h"
#include "drivers/devices.h"
#include "drivers/limit.h"
#include "drivers/cuda.h"
#include "drivers/opencl.h"
#include "drivers/slave.h"
#include "perf/perf.h"
#include "sched/sched.h"
#include "trace/tool.h"
#include "trace/trace.h"

/* Stages that begin, or end, by themselves. */
static int start_nothing(struct orr_process *proc)
{
	(void) proc;
	return 0;
}

static void stop_nothing(struct orr_process *proc)
{
	(void) proc;
}

/* ---- configuration ---- */

static void prefer(const struct orr_process *proc, int *field, int given)
{
	if (given >= 0 && !(*field > 0 && proc->conf->precedence_over_environment_variables))
		*field = given > 0;
}

/* Switches of copies and maps that have a field each. */
static void switches_by_environment(struct orr_process *proc)
{
	const struct orr_config *cfg = proc->cfg;

	prefer(proc, &proc->conf->enable_map, cfg->enable_map);
	prefer(proc, &proc->conf->disable_asynchronous_copy, cfg->no_async_copy);
	prefer(proc, &proc->conf->disable_asynchronous_cuda_copy, cfg->no_async_cuda_copy);
	prefer(proc, &proc->conf->disable_asynchronous_opencl_copy, cfg->no_async_opencl_copy);
	prefer(proc, &proc->conf->disable_asynchronous_mpi_ms_copy, cfg->no_async_mpi_ms_copy);
}

static int start_config(struct orr_process *proc)
{
	struct orr_config *cfg = orr_config_own(proc);
	int profiling = cfg->profiling, ret = orr_config_read(cfg);

	if (ret)
		return ret;
	cfg->profiling |= profiling;
	if (!proc->mpi_size) {
		proc->mpi_rank = 0;
		proc->mpi_size = 1;
	}
	if (!proc->epoch) /* once */
		orr_variables_check();
	if (proc->conf->calibrate > 0 && !proc->cfg->calibrate && !orr_sys_is_simulated())
		cfg->calibrate = proc->conf->calibrate;
	switches_by_environment(proc);
	return 0;
}

static void stop_config(struct orr_process *proc)
{
	orr_config_free(orr_config_own(proc));
	orr_config_share(proc);
}

/* It is complete. */
static int share_config(struct orr_process *proc)
{
	orr_conf_share(proc);
	orr_config_share(proc);
	proc->naps = proc->conf->callback_worker_going_to_sleep;
	proc->wakes = proc->conf->callback_worker_waking_up;
	return 0;
}

/* ---- state of one run ---- */

static int start_state(struct orr_process *proc)
{
	struct orr_core *core = proc->core;
	struct orr_data *data = proc->data;
	uint64_t next_job = core->next_job;

	memset(&core->workers, 0, sizeof(*core) - offsetof(struct orr_core, workers));
	core->next_job = next_job;
	orr_times_init(proc);
	memset(&data->transfers, 0, sizeof(*data) - offsetof(struct orr_data, transfers));
	data->default_sequential_consistency = 1;
	orr_memnodes_clear(proc);
	data->nmemnodes = 0;
	data->limited = 0;
	data->swap_node = -1;
	proc->arch_mask = 0;
	proc->perf_timing = proc->cfg->calibrate || proc->cfg->profiling || proc->cfg->worker_stats;
	proc->idle_watts = proc->cfg->idle_power;
	proc->joules = 0;
	memset(proc->watts, 0, sizeof(proc->watts));
	proc->rng = proc->cfg->rand_seed * 2 + 1;
	proc->epoch++;
	orr_slab_init(&core->task_slab, orr_task_slab_size(), 0);
	orr_slab_init(&data->handle_slab, orr_handle_slab_size(proc), 1);
	orr_slab_init(&core->access_slab, orr_task_access_slab_size(), 2);
	orr_slab_init(&core->info_slab, sizeof(struct starpu_profiling_task_info), 3);
	orr_waitq_init(&proc->done);
	return 0;
}

static void stop_state(struct orr_process *proc)
{
	orr_slab_exit(&proc->core->task_slab);
	orr_slab_exit(&proc->core->access_slab);
	orr_slab_exit(&proc->core->info_slab);
	orr_slab_exit(&proc->data->handle_slab);
	orr_waitq_destroy(&proc->done);
}

static int start_world(struct orr_process *proc)
{
	int ret = orr_sys_process_init(proc);

	proc->start_us = orr_sys_now_us();
	ORR_ATOMIC_STORE_RELAXED(&proc->quiet_ns, 0);
	return ret;
}

static int start_perf(struct orr_process *proc)
{
	int ret = orr_perf_init(proc);

	if (ret)
		orr_perf_exit(proc);
	return ret;
}

/* ---- memories and workers ---- */

static void stop_disks(struct orr_process *proc)
{
	orr_disk_exit(proc);
	proc->data->nmemnodes = 0;
}

/* The bytes of main memory, or of its first NUMA node, that data may take; 0: any number. Where
 * NUMA nodes are not told apart there is one, for which both limits hold. */
static size_t main_limit(const struct orr_process *proc)
{
	size_t numa = orr_limit_of_device("CPU_NUMA", 0, proc->cfg->limit_numa_mem),
	       all = proc->cfg->limit_cpu_mem;

	if (proc->topo.nnuma > 1 || !all)
		return numa;
	return numa && numa < all ? numa : all;
}

static int create_memnodes(struct orr_process *proc, const struct orr_device *devices,
			   unsigned ndevices)
{
	int ret = orr_memory_add_node(proc, STARPU_CPU_RAM, 0, &orr_ram_ops, NULL,
				      main_limit(proc));

	for (unsigned i = 0; i < ndevices && ret >= 0; i++)
		ret = orr_memory_add_node(proc, devices[i].kind, devices[i].devid,
					  devices[i].memory_ops, devices[i].memory_arg,
					  devices[i].memory);
	return ret < 0 ? ret : 0;
}

static void stop_units(struct orr_process *proc)
{
	orr_opencl_settle(proc);
	orr_cuda_settle(proc);
	orr_workers_free(proc);
	orr_memory_exit(proc);
	orr_opencl_exit(proc);
	orr_cuda_exit(proc);
}

static int start_units(struct orr_process *proc)
{
	struct orr_device devices[STARPU_MAXNODES - 2];
	int n = orr_devices_list(proc, devices, STARPU_MAXNODES - 2), ret;

	if (n < 0)
		return n;
	if (proc->machine && orr_perf_set_machine(proc, proc->machine))
		return -ENOMEM;
	ret = create_memnodes(proc, devices, (unsigned) n);
	if (!ret)
		ret = orr_workers_create(proc, &orr_cpu_driver, devices, (unsigned) n);
	if (!ret && !proc->core->nworkers) {
		orr_error(
			"starpu_init: there would be no worker; let STARPU_NCPU or the field ncpus be at least 1, or allow a device that exists (STARPU_NCUDA, STARPU_NOPENCL)");
		ret = -ENODEV;
	}
	if (ret)
		stop_units(proc);
	else if (proc->cfg->profiling)
		starpu_profiling_status_set(1); /* times of workers begin now, not with the clock */
	return ret;
}

/* ---- tasks ---- */

static int start_graph(struct orr_process *proc)
{
	if (proc->keep_graph)
		return orr_graph_keep(proc);
	orr_graph_free(proc); /* of an earlier run, with other units */
	return 0;
}

static int start_policy(struct orr_process *proc)
{
	int ret = orr_sched_init(proc);

	if (ret)
		orr_sched_exit(proc);
	return ret;
}

static int start_threads(struct orr_process *proc)
{
	int ret = orr_group_start_all(proc);

	if (ret)
		orr_group_stop_all(proc);
	return ret;
}

/* ---- the profiling tool ---- */

static int tell_started(struct orr_process *proc)
{
	if (proc->trace)
		orr_task_trace_workers(proc);
	orr_tool_tell_process(proc, starpu_prof_tool_event_init_end);
	return 0;
}

/* ---- questions of people ---- */

static int start_questions(struct orr_process *proc)
{
	if (proc->cfg->top)
		orr_sys_live_start(proc);
	return 0;
}

/* ---- all of them ---- */

const struct orr_stage orr_stages[] = {
	{ "configuration", start_config, stop_config },
	{ "state", start_state, stop_state },
	{ "world", start_world, orr_sys_process_exit },
	{ "slaves", orr_slaves_start, orr_slaves_stop },
	{ "shared configuration", share_config, stop_nothing },
	{ "topology", orr_sys_topology_init, orr_sys_topology_exit },
	{ "performance models", start_perf, orr_perf_exit },
	{ "trace", orr_trace_init, orr_trace_exit },
	{ "files of statistics", orr_profiling_prepare_files, stop_nothing },
	{ "records of statistics", orr_statistics_prepare, stop_nothing },
	{ "profiling tool", orr_tool_init, orr_tool_exit },
	{ "tags", start_nothing, orr_tag_exit },
	{ "disks", start_nothing, stop_disks },
	{ "units", start_units, stop_units },
	{ "tree of units", start_nothing, orr_unit_tree_exit },
	{ "energy", start_nothing, orr_energy_exit },
	{ "combined workers", start_nothing, orr_combined_exit },
	{ "graph", start_graph, stop_nothing },
	{ "policy", start_policy, orr_sched_exit },
	{ "hooks", start_nothing, orr_hooks_exit },
	{ "performance counters", orr_monitor_init, orr_monitor_exit },
	{ "copies by devices", start_nothing, orr_transfer_exit },
	{ "threads", start_threads, orr_group_stop_all },
	{ "swap", orr_disk_swap_init, stop_nothing },
	{ "the tool's part", tell_started, stop_nothing },
	{ "questions", start_questions, orr_sys_live_stop },
};

const unsigned orr_nstages = sizeof(orr_stages) / sizeof(orr_stages[0]);

/* ---- walking ---- */

void orr_stages_leave(struct orr_process *proc, const struct orr_stage *stages, unsigned n)
{
	while (n-- > 0)
		stages[n].exit(proc);
}

int orr_stages_enter(struct orr_process *proc, const struct orr_stage *stages, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		int ret = stages[i].init(proc);

		if (!ret)
			continue;
		if (ret == -ENOMEM)
			orr_error("starpu_init: not enough memory (%s)", stages[i].name);
		orr_stages_leave(proc, stages, i);
		return ret;
	}
	return 0;
}
