/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics as records (see statistics.h).
 *
 * Invariant: as stated there. */
#include "core/front/statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/about.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/records.h"
#include "core/run/energy.h"
#include "core/task/task_count.h"
#include "core/worker/core.h"
#include "data/bus.h"
#include "data/data.h"
#include "data/memory.h"

#define VARIABLE "ORRERY_STATISTICS"

int orr_statistics_prepare(struct orr_process *proc)
{
	const char *path = proc->cfg->statistics;

	return path ? orr_records_begin(proc, VARIABLE, path) : 0;
}

void orr_statistics_add(struct orr_process *proc, const char *text, size_t size)
{
	orr_records_add(VARIABLE, proc->cfg->statistics, text, size);
}

static void begin_record(FILE *f, const struct orr_process *proc, const char *what)
{
	fprintf(f, "{\"what\": \"%s\", \"rank\": %d, \"start\": %u", what, proc->mpi_rank,
		proc->epoch);
}

static void put_text(FILE *f, const char *name, const char *text)
{
	fprintf(f, ", \"%s\": ", name);
	orr_about_string(f, text);
}

/* 0: nothing is known of it. */
static void put_energy(FILE *f, double joules)
{
	if (joules > 0)
		fprintf(f, ", \"energy_j\": %.6f", joules);
	else
		fputs(", \"energy_j\": null", f);
}

static void put_process(FILE *f, struct orr_process *proc)
{
	begin_record(f, proc, "process");
	fprintf(f,
		", \"ranks\": %d, \"seconds\": %.9f, \"submitted\": %" PRIu64
		", \"tasks\": %" PRIu64 ", \"workers\": %u",
		proc->mpi_size, (orr_sys_now_us() - proc->start_us) * 1e-6,
		(uint64_t) ORR_ATOMIC_LOAD(&proc->core->nsubmitted), orr_task_ncompleted(proc),
		proc->core->nworkers);
	put_energy(f, starpu_energy_used());
	fputs("}\n", f);
}

static void put_time(FILE *f, const char *name, int known, double us)
{
	if (known)
		fprintf(f, ", \"%s\": %.9f", name, us * 1e-6);
	else
		fprintf(f, ", \"%s\": null", name);
}

static void put_worker(FILE *f, struct orr_process *proc, const struct orr_worker *w,
		       const struct orrery_worker_times *t)
{
	int timed = ORR_ATOMIC_LOAD_RELAXED(&proc->cfg->profiling) != 0;

	begin_record(f, proc, "worker");
	fprintf(f, ", \"worker\": %u", w->id);
	put_text(f, "name", w->name);
	put_text(f, "kind", starpu_worker_get_type_as_string(w->arch));
	fprintf(f, ", \"memory\": %u, \"tasks\": %" PRIu64, w->memnode,
		(uint64_t) ORR_ATOMIC_LOAD_RELAXED(&w->ncompleted));
	put_energy(f, orr_energy_of(proc, (int) w->arch, (int) w->id));
	put_time(f, "kernels_s", timed, t->kernels_us);
	put_time(f, "messages_s", timed, t->messages_us);
	put_time(f, "submission_s", timed, t->submission_us);
	put_time(f, "foreign_s", timed, t->foreign_us);
	put_time(f, "idle_s", timed, t->idle_us);
	put_time(f, "data_s", timed, t->data_us);
	put_time(f, "runtime_s", timed, t->runtime_us);
	fputs("}\n", f);
}

static void put_memory(FILE *f, struct orr_process *proc, unsigned node)
{
	struct orr_memory_use use;
	char name[32];

	orr_memory_use(proc, node, &use);
	starpu_memory_node_get_name(node, name, sizeof(name));
	begin_record(f, proc, "memory");
	fprintf(f, ", \"node\": %u", node);
	put_text(f, "name", name);
	fprintf(f, ", \"used_bytes\": %zu, \"total_bytes\": ", use.used);
	if (use.total)
		fprintf(f, "%zu", use.total);
	else
		fputs("null", f);
	fprintf(f, ", \"evictions\": %" PRIu64 ", \"written_back\": %" PRIu64 "}\n", use.evictions,
		use.cleaned);
}

static void put_bus(FILE *f, struct orr_process *proc, int id)
{
	unsigned src = (unsigned) starpu_bus_get_src(id), dst = (unsigned) starpu_bus_get_dst(id);
	uint64_t bytes, count;
	char name[32];

	orr_bus_counts(proc, src, dst, &bytes, &count);
	if (!count)
		return;
	begin_record(f, proc, "bus");
	fprintf(f, ", \"bus\": %d, \"from\": %u, \"to\": %u", id, src, dst);
	starpu_memory_node_get_name(src, name, sizeof(name));
	put_text(f, "from_name", name);
	starpu_memory_node_get_name(dst, name, sizeof(name));
	put_text(f, "to_name", name);
	fprintf(f, ", \"bytes\": %" PRIu64 ", \"copies\": %" PRIu64 "}\n", bytes, count);
}

void orr_statistics_write(struct orr_process *proc)
{
	ORR_PLAIN_NUMBERS;
	char *text = NULL;
	size_t size;

	if (!proc->cfg->statistics)
		return;
	unsigned n = proc->core->nworkers;
	struct orrery_worker_times *times = calloc(n + 1, sizeof(*times));
	FILE *f = times ? open_memstream(&text, &size) : NULL;
	if (!f) {
		orr_error("out of memory for the statistics");
		free(times);
		return;
	}
	/* The process's seconds are read last, so that no worker's times are longer. */
	for (unsigned i = 0; i < n; i++)
		orrery_worker_times((int) i, &times[i]);
	put_process(f, proc);
	for (unsigned i = 0; i < n; i++)
		put_worker(f, proc, &proc->core->workers[i], &times[i]);
	for (unsigned i = 0; i < proc->data->nmemnodes; i++)
		put_memory(f, proc, i);
	for (int i = 0; i < starpu_bus_get_count(); i++)
		put_bus(f, proc, i);
	if (fclose(f))
		orr_error("out of memory for the statistics");
	else
		orr_statistics_add(proc, text, size);
	free(text);
	free(times);
}
