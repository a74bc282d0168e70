/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* On-line profiling of workers and tasks: switching it, and reading the numbers (buses: bus.c).
 *
 * Invariant: a worker's record is read and written with its local_lock held; the counters of memory
 * nodes are atomic. */
#include "core/flow/profiling.h"
#include "data/bus.h"
#include "base/notice.h"
#include "base/numbers.h"
#include "base/config.h"
#include "base/output.h"
#include "data/data.h"
#include "data/memory.h"
#include "core/worker/core.h"
#include "core/task/task.h"
#include "core/task/times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct timespec timespec_of(double us)
{
	struct timespec ts;

	if (us < 0)
		us = 0;
	ts.tv_sec = (time_t) (us / 1e6);
	ts.tv_nsec = (long) ((us - (double) ts.tv_sec * 1e6) * 1e3);
	return ts;
}

/* ---- the switch ---- */

static void restart(struct orr_worker *w)
{
	orr_assert_locked(&w->local_lock);
	memset(&w->prof, 0, sizeof(w->prof));
	w->prof.start_time = timespec_of(orr_sys_now_us());
	orr_times_restart(w);
}

int starpu_profiling_status_set(int status)
{
	struct orr_process *proc = orr_self();
	int previous = ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling);

	if (status && !previous && proc->core->nworkers) /* else the start does */
		orr_times_begin(proc);
	if (status)
		for (unsigned i = 0; i < proc->core->nworkers; i++) {
			orr_lock(&proc->core->workers[i].local_lock);
			restart(&proc->core->workers[i]);
			orr_unlock(&proc->core->workers[i].local_lock);
		}
	if (status)
		proc->perf_timing = 1; /* it stays: when tasks become ready is known from then on */
	ORR_ATOMIC_STORE_RELAXED(&orr_config_own(proc)->profiling, status != 0);
	return previous;
}

int starpu_profiling_status_get(void)
{
	return ORR_ATOMIC_LOAD_RELAXED(&orr_self()->cfg->profiling);
}
void starpu_profiling_init(void)
{
	starpu_profiling_status_set(orr_config_long("STARPU_PROFILING", 0) > 0);
}

/* The name carries the rank already; processes without MPI have a file each, which the
 * environment names. */
void starpu_profiling_set_id(int new_id)
{
	(void) new_id;
}

/* ---- workers ---- */

/* The worker's record as the program sees it. */
static void take_counts(const struct orr_worker *w, struct starpu_profiling_worker_info *info)
{
	*info = (struct starpu_profiling_worker_info){
		.start_time = w->prof.start_time,
		.executed_tasks = w->prof.executed_tasks,
		.used_cycles = w->prof.used_cycles,
		.energy_consumed = w->prof.energy_consumed,
	};
}

static void take_times(const struct orr_worker *w, struct starpu_profiling_worker_info *info)
{
	const double *us = w->times.spent_us;

	info->executing_time = info->all_executing_time = timespec_of(us[ORR_TIME_KERNEL]);
	info->waiting_time = info->all_waiting_time = timespec_of(us[ORR_TIME_DATA]);
	info->scheduling_time = info->all_scheduling_time = timespec_of(us[ORR_TIME_RUNTIME]);
	info->sleeping_time = info->all_sleeping_time = timespec_of(
		us[ORR_TIME_IDLE] + us[ORR_TIME_MESSAGE] + us[ORR_TIME_SUBMISSION] +
		us[ORR_TIME_FOREIGN]);
}

int starpu_profiling_worker_get_info(int workerid, struct starpu_profiling_worker_info *info)
{
	struct orr_process *proc = orr_self();
	struct starpu_profiling_worker_info now;
	struct orr_worker *w;

	if (workerid < 0 || (unsigned) workerid >= proc->core->nworkers)
		return -EINVAL;
	w = &proc->core->workers[workerid];
	orr_lock(&w->local_lock);
	if (ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling))
		orr_times_close(w);
	take_counts(w, &now);
	take_times(w, &now);
	restart(w);
	starpu_timespec_sub(&w->prof.start_time, &now.start_time, &now.total_time);
	orr_unlock(&w->local_lock);
	if (!info)
		return 0;
	*info = now;
	return 0;
}

static void print_workers(FILE *f)
{
	ORR_PLAIN_NUMBERS;
	struct orr_process *proc = orr_self();
	double all = starpu_energy_used();

	fprintf(f, "Worker statistics:\n");
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		struct orr_worker *w = &proc->core->workers[i];

		orr_lock(&w->local_lock);
		double joules = w->joules;
		orr_unlock(&w->local_lock);
		fprintf(f, "\t%-24s %10llu tasks", w->name,
			(unsigned long long) ORR_ATOMIC_LOAD_RELAXED(&w->ncompleted));
		if (joules > 0)
			fprintf(f, ", %.6f J", joules);
		fputc('\n', f);
	}
	if (all > 0)
		fprintf(f, "\tenergy, with the idle machine %.6f J\n", all);
}

static void print_now(void (*print)(FILE *))
{
	struct orr_notice n;

	print(orr_notice_open(&n));
	orr_notice_write(&n);
}

void starpu_profiling_worker_helper_display_summary(void)
{
	print_now(print_workers);
}

void starpu_codelet_display_stats(struct starpu_codelet *cl)
{
	ORR_PLAIN_NUMBERS;
	struct orr_process *proc = orr_self();
	unsigned long total = 0, n;
	struct orr_notice notice;
	FILE *f = orr_notice_open(&notice);

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		total += ORR_ATOMIC_LOAD_RELAXED(&cl->per_worker_stats[i]);
	fprintf(f, "Statistics of codelet %s: %lu tasks\n",
		cl->name                         ? cl->name
		: cl->model && cl->model->symbol ? cl->model->symbol
						 : "unnamed",
		total);
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		n = ORR_ATOMIC_LOAD_RELAXED(&cl->per_worker_stats[i]);
		if (n)
			fprintf(f, "\t%-24s %10lu tasks (%.1f %%)\n", proc->core->workers[i].name,
				n, 100.0 * (double) n / (double) total);
	}
	orr_notice_write(&notice);
}

/* ---- memory ---- */

static void print_memory(FILE *f)
{
	ORR_PLAIN_NUMBERS;
	struct orr_process *proc = orr_self();

	fprintf(f, "Memory statistics:\n");
	for (unsigned i = 0; i < proc->data->nmemnodes; i++) {
		struct orr_memory_use use;
		char name[32];

		starpu_memory_node_get_name(i, name, sizeof(name));
		orr_memory_use(proc, i, &use);
		fprintf(f, "\t%-24s %12.3f MB in use", name, (double) use.used / 1e6);
		if (use.total)
			fprintf(f, " of %.3f MB", (double) use.total / 1e6);
		fprintf(f, ", %llu evictions\n", (unsigned long long) use.evictions);
	}
}

void starpu_data_display_memory_stats(void)
{
	print_now(print_memory);
}

#define BUS_FILE "STARPU_BUS_STATS_FILE"
#define WORKER_FILE "STARPU_WORKER_STATS_FILE"

/* The file of this rank. */
static void stats_file_name(char *name, size_t size, const char *path)
{
	const struct orr_process *proc = orr_self();

	if (proc->mpi_size > 1)
		snprintf(name, size, "%s.%d", path, proc->mpi_rank);
	else
		snprintf(name, size, "%s", path);
}

static int prepare_stats_file(const char *variable, int wanted, const char *path)
{
	char name[4096];

	if (!wanted || !path)
		return 0;
	stats_file_name(name, sizeof(name), path);
	return orr_output_prepare(variable, name);
}

int orr_profiling_prepare_files(struct orr_process *proc)
{
	const struct orr_config *cfg = proc->cfg;
	int ret = prepare_stats_file(BUS_FILE, cfg->bus_stats, cfg->bus_stats_file);

	return ret ? ret
		   : prepare_stats_file(WORKER_FILE, cfg->worker_stats, cfg->worker_stats_file);
}

/* Prints to the file that the environment names (with several ranks a file each), or to stderr. */
static void print_to(const char *variable, const char *path, void (*print)(FILE *))
{
	char name[4096];

	if (!path) {
		print_now(print);
		return;
	}
	stats_file_name(name, sizeof(name), path);
	FILE *f = orr_output_open(variable, name);
	if (!f)
		return;
	print(f);
	orr_output_close(f, variable, name);
}

void starpu_display_stats(void)
{
	const struct orr_config *cfg = orr_self()->cfg;

	if (cfg->bus_stats)
		print_to(BUS_FILE, cfg->bus_stats_file, orr_bus_print);
	if (cfg->worker_stats)
		print_to(WORKER_FILE, cfg->worker_stats_file, print_workers);
	if (cfg->memory_stats)
		starpu_data_display_memory_stats();
}

/* ---- tasks ---- */

void orr_profiling_submit(struct orr_task *t)
{
	if (!t->pub->profiling_info)
		t->pub->profiling_info = orr_task_alloc_info(orr_self(), t);
	if (t->pub->profiling_info)
		t->pub->profiling_info->submit_time = timespec_of(orr_sys_now_us());
}

void orr_profiling_stamp(struct orr_task *t, size_t field_offset, double us)
{
	orr_assertf(field_offset + sizeof(struct timespec) <= sizeof(*t->pub->profiling_info),
		    "%zu is no field of the record of a task", field_offset);
	*(struct timespec *) ((char *) t->pub->profiling_info + field_offset) = timespec_of(us);
}
