/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Diagnosis: the tasks that are submitted and not complete, and what each waits for; a stop for the
 * debugger.
 *
 * Invariant: it reads only; what it prints about tasks that go on meanwhile may be out of date. */
#include "core/task/task_dump.h"

#include <signal.h>

#include "base/config.h"
#include "base/slab.h"
#include "core/task/task.h"
#include "data/handle.h"

struct dump {
	FILE *f;
	unsigned max, n;
	int blocked; /* the tasks of this look: those that wait for others, or all else */
};

/* Names what a blocked task waits for. */
static void dump_blocked(FILE *f, struct orr_task *t)
{
	for (unsigned i = 0; i < t->owner.naccess; i++) {
		struct orr_access *a = &t->owner.access[i];

		if (a->ordered && !a->granted && !a->merged)
			fprintf(f, "; waits for %s access to %s",
				a->mode & STARPU_W ? "write" : "read", orr_handle_name(a->handle));
	}
	if (t->owner.parked)
		fputs("; waits until others, who need not be before it, release one of its data",
		      f);
	if (t->tag)
		fprintf(f, "; has tag %llu", (unsigned long long) t->pub->tag_id);
}

static void dump_task(void *obj, void *arg)
{
	struct orr_task *t = (struct orr_task *) ((char *) obj + sizeof(struct starpu_task));
	struct dump *d = arg;
	static const char *const states[] = { "new",     "blocked", "ready",
					      "running", "ended",   "submitted again" };

	if (!t->pub || t->state == ORR_TASK_NEW || t->state == ORR_TASK_DONE ||
	    t->state > ORR_TASK_DONE || (t->state == ORR_TASK_BLOCKED) != d->blocked)
		return;
	if (d->n++ >= d->max)
		return;
	fprintf(d->f, "  task %s (job %llu): %s", orr_task_name(t->pub),
		(unsigned long long) t->job_id, states[t->state]);
	for (unsigned i = 0; i < t->succ.n && t->state < ORR_TASK_ENDED && i < 8; i++) {
		struct orr_task *s = orr_task_array_get(&t->succ, i);

		fprintf(d->f, "%s %s (job %llu)", i ? "," : "; before task", orr_task_name(s->pub),
			(unsigned long long) s->job_id);
	}
	if (t->state == ORR_TASK_BLOCKED) {
		fprintf(d->f, ", %d dependencies missing", t->owner.ndeps);
		dump_blocked(d->f, t);
	}
	const struct orr_access *a = ORR_ATOMIC_LOAD(&t->starved);
	if (t->state == ORR_TASK_READY && a)
		fprintf(d->f, "; waits for %zu bytes on memory node %d for %s",
			starpu_data_get_alloc_size(a->handle), a->node, orr_handle_name(a->handle));
	fputc('\n', d->f);
}

void orr_task_dump(struct orr_process *proc, FILE *f, unsigned max)
{
	struct dump d = { .f = f, .max = max };

	if (proc->state == ORR_PROCESS_DOWN)
		return;
	/* Tasks that others wait for come first, in case that the list is cut off. */
	orr_slab_foreach(&proc->core->task_slab, dump_task, &d);
	d.blocked = 1;
	orr_slab_foreach(&proc->core->task_slab, dump_task, &d);
	if (d.n > max)
		fprintf(f, "  ... and %u more tasks\n", d.n - max);
}

void starpu_sched_task_break(struct starpu_task *task)
{
	long job = orr_config_long("STARPU_TASK_BREAK_ON_SCHED", -1);

	if (job >= 0 && (unsigned long) job == starpu_task_get_job_id(task))
		raise(SIGTRAP);
}
