/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The answers of a process about itself (see tell.h).
 *
 * Invariant: as stated there. Completions are read before submissions, so no more tasks are
 * complete than were submitted. */
#include "core/front/tell.h"

#include <inttypes.h>

#include "base/about.h"
#include "core/task/task_count.h"
#include "core/worker/core.h"
#include "data/data.h"
#include "data/memory.h"

static int is_busy(const struct orr_worker *w)
{
	return ORR_ATOMIC_LOAD_RELAXED(&w->task) != NULL;
}

static void tell_workers(FILE *f, struct orr_process *proc)
{
	fputs(", \"each_worker\": [", f);
	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		const struct orr_worker *w = &proc->core->workers[i];

		fprintf(f, "%s{\"worker\": %u, \"name\": ", i ? ", " : "", i);
		orr_about_string(f, w->name);
		fprintf(f, ", \"busy\": %s, \"tasks\": %" PRIu64 "}", is_busy(w) ? "true" : "false",
			(uint64_t) ORR_ATOMIC_LOAD_RELAXED(&w->ncompleted));
	}
	fputs("]", f);
}

static void tell_memory(FILE *f, struct orr_process *proc, unsigned node)
{
	struct orr_memory_use use;
	char name[32];

	orr_memory_use(proc, node, &use);
	orr_memnode_name(proc, node, name, sizeof(name));
	fprintf(f, "%s{\"node\": %u, \"name\": ", node ? ", " : "", node);
	orr_about_string(f, name);
	fprintf(f, ", \"used_bytes\": %zu, \"total_bytes\": ", use.used);
	if (use.total)
		fprintf(f, "%zu", use.total);
	else
		fputs("null", f);
	fprintf(f, ", \"evictions\": %" PRIu64 "}", use.evictions);
}

void orr_core_tell(struct orr_process *proc, FILE *f, int all)
{
	unsigned busy = 0, nnodes = ORR_ATOMIC_LOAD(&proc->data->nmemnodes);
	uint64_t completed = orr_task_ncompleted(proc),
		 submitted = ORR_ATOMIC_LOAD(&proc->core->nsubmitted);
	size_t used = 0;

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		busy += is_busy(&proc->core->workers[i]);
	for (unsigned i = 0; i < nnodes; i++) {
		struct orr_memory_use use;

		orr_memory_use(proc, i, &use);
		used += use.used;
	}
	fprintf(f,
		", \"seconds\": %.6f, \"submitted\": %" PRIu64 ", \"tasks\": %" PRIu64
		", \"workers\": %u, \"busy\": %u, \"memory_bytes\": %zu",
		(orr_sys_now_us() - proc->start_us) * 1e-6, submitted, completed,
		proc->core->nworkers, busy, used);
	if (!all)
		return;
	tell_workers(f, proc);
	fputs(", \"memory\": [", f);
	for (unsigned i = 0; i < nnodes; i++)
		tell_memory(f, proc, i);
	fputs("]", f);
}
