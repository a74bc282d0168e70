/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counting tasks.
 *
 * Invariant: tasks are counted as completed after their callbacks. Errors of tasks that come and go
 * while they are counted are errors upwards. */
#include "core/task/task_count.h"

#include "base/slab.h"
#include "core/task/task.h"
#include "orrery.h"

uint64_t orr_task_ncompleted(struct orr_process *proc)
{
	uint64_t n = ORR_ATOMIC_LOAD(&proc->core->ncompleted_other);

	for (unsigned i = 0; i < proc->core->nworkers; i++)
		n += ORR_ATOMIC_LOAD(&proc->core->workers[i].ncompleted);
	return n;
}

uint64_t orr_task_npending(struct orr_process *proc)
{
	/* Completions first: a task counted there was submitted before. */
	uint64_t completed = orr_task_ncompleted(proc);

	uint64_t submitted = ORR_ATOMIC_LOAD(&proc->core->nsubmitted);
	orr_assertf(completed <= submitted, "%llu tasks completed of %llu",
		    (unsigned long long) completed, (unsigned long long) submitted);
	return submitted - completed;
}

int starpu_task_nsubmitted(void)
{
	return (int) orr_task_npending(orr_self());
}

struct count {
	unsigned ready;
};

static void count_ready(void *obj, void *arg)
{
	struct orr_task *t = (struct orr_task *) ((char *) obj + sizeof(struct starpu_task));
	unsigned state = ORR_ATOMIC_LOAD_RELAXED(&t->state);

	if (state == ORR_TASK_READY || state == ORR_TASK_RUNNING)
		((struct count *) arg)->ready++;
}

int starpu_task_nready(void)
{
	struct count c = { 0 };

	orr_slab_foreach(&orr_self()->core->task_slab, count_ready, &c);
	return (int) c.ready;
}

void orrery_task_stats(struct orrery_task_stats *stats)
{
	struct orr_process *proc = orr_self();

	stats->submitted = (unsigned long) ORR_ATOMIC_LOAD(&proc->core->nsubmitted);
	stats->executed = (unsigned long) orr_task_ncompleted(proc);
}
