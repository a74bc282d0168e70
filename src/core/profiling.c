/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* On-line profiling of workers and buses: switching it, and reading the numbers.
 *
 * A bus joins main memory and one other memory node, in one direction: bus 2k leads from main memory to node k+1, bus 2k+1 back.
 * Invariant: a worker's record is read and written with its local_lock held; the counters of memory nodes are atomic. */
#include "core/worker.h"

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

/* Energy is not measured but told by the program (starpu_energy_use), and is not part of a period. */
static void restart(struct orr_worker *w)
{
	double energy = w->prof.energy_consumed;

	memset(&w->prof, 0, sizeof(w->prof));
	w->prof.start_time = timespec_of(orr_sys_now_us());
	w->prof.energy_consumed = energy;
}

int starpu_profiling_status_set(int status)
{
	struct orr_node *node = orr_self();
	int previous = ORR_ATOMIC_LOAD_RELAXED(&node->cfg.profiling);
	unsigned i;

	if (status)
		for (i = 0; i < node->nworkers; i++) {
			orr_lock(&node->workers[i].local_lock);
			restart(&node->workers[i]);
			orr_unlock(&node->workers[i].local_lock);
		}
	ORR_ATOMIC_STORE_RELAXED(&node->cfg.profiling, status != 0);
	return previous;
}

int starpu_profiling_status_get(void) { return ORR_ATOMIC_LOAD_RELAXED(&orr_self()->cfg.profiling); }
void starpu_profiling_init(void) { starpu_profiling_status_set(orr_config_long("STARPU_PROFILING", 0) > 0); }

/* What is written carries the rank already; processes without MPI have a file each, which the environment names. */
void starpu_profiling_set_id(int new_id) { (void) new_id; }

/* ---- workers ---- */

int starpu_profiling_worker_get_info(int workerid, struct starpu_profiling_worker_info *info)
{
	struct orr_node *node = orr_self();
	struct starpu_profiling_worker_info now;
	struct orr_worker *w;
	double idle;

	if (workerid < 0 || (unsigned) workerid >= node->nworkers)
		return -EINVAL;
	w = &node->workers[workerid];
	orr_lock(&w->local_lock);
	now = w->prof;
	restart(w);
	starpu_timespec_sub(&w->prof.start_time, &now.start_time, &now.total_time);
	orr_unlock(&w->local_lock);
	if (!info)
		return 0;
	/* What is not accounted for was spent without a task. */
	if (now.sleeping_time.tv_sec == 0 && now.sleeping_time.tv_nsec == 0) {
		idle = starpu_timing_timespec_to_us(&now.total_time) - starpu_timing_timespec_to_us(&now.executing_time) -
			starpu_timing_timespec_to_us(&now.callback_time) - starpu_timing_timespec_to_us(&now.waiting_time) -
			starpu_timing_timespec_to_us(&now.scheduling_time);
		now.sleeping_time = timespec_of(idle);
		now.all_sleeping_time = now.sleeping_time;
	}
	now.energy_consumed = 0;
	*info = now;
	return 0;
}

void starpu_profiling_worker_helper_display_summary(void)
{
	struct orr_node *node = orr_self();
	unsigned i;

	fprintf(stderr, "Worker statistics:\n");
	for (i = 0; i < node->nworkers; i++) {
		struct orr_worker *w = &node->workers[i];

		fprintf(stderr, "\t%-24s %10llu tasks\n", w->name, (unsigned long long) ORR_ATOMIC_LOAD_RELAXED(&w->ncompleted));
	}
}

void starpu_codelet_display_stats(struct starpu_codelet *cl)
{
	struct orr_node *node = orr_self();
	unsigned long total = 0, n;
	unsigned i;

	for (i = 0; i < node->nworkers; i++)
		total += ORR_ATOMIC_LOAD_RELAXED(&cl->per_worker_stats[i]);
	fprintf(stderr, "Statistics of codelet %s: %lu tasks\n", cl->name ? cl->name : cl->model && cl->model->symbol ? cl->model->symbol : "unnamed",
		total);
	for (i = 0; i < node->nworkers; i++) {
		n = ORR_ATOMIC_LOAD_RELAXED(&cl->per_worker_stats[i]);
		if (n)
			fprintf(stderr, "\t%-24s %10lu tasks (%.1f %%)\n", node->workers[i].name, n, 100.0 * (double) n / (double) total);
	}
}

/* ---- energy ---- */

void starpu_energy_use(float joules)
{
	struct orr_node *node = orr_self();
	struct orr_worker *w = orr_thread_self()->worker;

	if (!w)
		w = node->workers;
	if (!w)
		return;
	orr_lock(&w->local_lock);
	w->prof.energy_consumed += (double) joules;
	orr_unlock(&w->local_lock);
}

double starpu_energy_used(void)
{
	struct orr_node *node = orr_self();
	double sum = 0;
	unsigned i;

	for (i = 0; i < node->nworkers; i++) {
		orr_lock(&node->workers[i].local_lock);
		sum += node->workers[i].prof.energy_consumed;
		orr_unlock(&node->workers[i].local_lock);
	}
	return sum;
}

/* ---- buses ---- */

int starpu_bus_get_count(void)
{
	unsigned n = orr_self()->nmemnodes;

	return n > 1 ? 2 * (int) (n - 1) : 0;
}

static int bus_exists(int busid) { return busid >= 0 && busid < starpu_bus_get_count(); }

int starpu_bus_get_id(int src, int dst)
{
	int n = (int) orr_self()->nmemnodes;

	if (src < 0 || dst < 0 || src >= n || dst >= n || src == dst)
		return -1;
	if (src == STARPU_MAIN_RAM)
		return 2 * (dst - 1);
	return dst == STARPU_MAIN_RAM ? 2 * (src - 1) + 1 : -1;
}

int starpu_bus_get_src(int busid)
{
	if (!bus_exists(busid))
		return -1;
	return busid % 2 ? busid / 2 + 1 : STARPU_MAIN_RAM;
}

int starpu_bus_get_dst(int busid)
{
	if (!bus_exists(busid))
		return -1;
	return busid % 2 ? STARPU_MAIN_RAM : busid / 2 + 1;
}

int starpu_bus_get_profiling_info(int busid, struct starpu_profiling_bus_info *bus_info)
{
	struct orr_node *node = orr_self();
	struct orr_memnode *device;

	if (!bus_exists(busid))
		return -EINVAL;
	device = &node->memnodes[busid / 2 + 1];
	memset(bus_info, 0, sizeof(*bus_info));
	bus_info->total_time = timespec_of(orr_sys_now_us());
	/* Transfers are counted in bytes only. */
	bus_info->transferred_bytes = busid % 2 ? ORR_ATOMIC_XCHG(&device->bytes_out, 0) : ORR_ATOMIC_XCHG(&device->bytes_in, 0);
	return 0;
}

void starpu_profiling_bus_helper_display_summary(void)
{
	struct orr_node *node = orr_self();
	unsigned i;

	fprintf(stderr, "Data transfer statistics:\n");
	for (i = 0; i < node->nmemnodes; i++) {
		struct orr_memnode *m = &node->memnodes[i];
		char name[32];

		starpu_memory_node_get_name(i, name, sizeof(name));
		fprintf(stderr, "\t%-24s %12.3f MB in %12.3f MB out\n", name, (double) ORR_ATOMIC_LOAD_RELAXED(&m->bytes_in) / 1e6,
			(double) ORR_ATOMIC_LOAD_RELAXED(&m->bytes_out) / 1e6);
	}
}

void starpu_data_display_memory_stats(void)
{
	struct orr_node *node = orr_self();
	unsigned i;

	fprintf(stderr, "Memory statistics:\n");
	for (i = 0; i < node->nmemnodes; i++) {
		struct orr_memnode *m = &node->memnodes[i];
		unsigned long long evictions;
		size_t used, total;
		char name[32];

		starpu_memory_node_get_name(i, name, sizeof(name));
		orr_lock(&m->lock);
		used = m->used;
		total = m->total;
		evictions = m->evictions;
		orr_unlock(&m->lock);
		fprintf(stderr, "\t%-24s %12.3f MB in use", name, (double) used / 1e6);
		if (total)
			fprintf(stderr, " of %.3f MB", (double) total / 1e6);
		fprintf(stderr, ", %llu evictions\n", evictions);
	}
}

void starpu_display_stats(void)
{
	const struct orr_config *cfg = &orr_self()->cfg;

	if (cfg->bus_stats)
		starpu_profiling_bus_helper_display_summary();
	if (cfg->worker_stats)
		starpu_profiling_worker_helper_display_summary();
}

/* ---- tasks ---- */

static void stamp(struct timespec *ts)
{
	double us = orr_sys_now_us();

	ts->tv_sec = (time_t) (us * 1e-6);
	ts->tv_nsec = (long) ((us - (double) ts->tv_sec * 1e6) * 1e3);
}

void orr_profile_submit(struct orr_task *t)
{
	if (!t->pub->profiling_info)
		t->pub->profiling_info = calloc(1, sizeof(*t->pub->profiling_info));
	if (t->pub->profiling_info)
		stamp(&t->pub->profiling_info->submit_time);
}

void orr_profile_stamp(struct orr_task *t, size_t field_offset)
{
	stamp((struct timespec *) ((char *) t->pub->profiling_info + field_offset));
}
