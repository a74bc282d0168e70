/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prefetches of the data of a ready task, for policies.
 *
 * Invariant: only tasks that are ready have prefetches; a task does not begin before they ended
 * (orr_prefetch_cancel). */
#include "data/prefetch.h"
#include "core/run/inputs.h"
#include "core/task/task.h"

/* To memnode, or if w is given to where w wants the data. */
static int prefetch_task(struct starpu_task *task, int memnode, struct orr_worker *w,
			 enum starpu_is_prefetch urgency, int prio)
{
	struct orr_task *t = orr_task_of(task);

	if (!t || t->state != ORR_TASK_READY || !task->cl)
		return 0;
	for (unsigned i = 0; i < t->owner.naccess; i++) {
		struct orr_access *a = &t->owner.access[i];
		int node = w ? orr_inputs_target_node(w, task, i) : memnode, ret;

		if (node < 0 || a->merged || !(a->mode & STARPU_R) ||
		    (a->mode & (STARPU_SCRATCH | STARPU_REDUX)) ||
		    starpu_data_is_on_node(a->handle, (unsigned) node))
			continue;
		ret = orr_prefetch_for(&t->owner, a->handle, (unsigned) node, urgency, prio);
		if (ret)
			return ret;
	}
	return 0;
}

static struct orr_worker *prefetch_worker(unsigned id)
{
	return &orr_self()->core->workers[id];
}

int starpu_prefetch_task_input_on_node(struct starpu_task *task, unsigned node)
{
	return prefetch_task(task, (int) node, NULL, STARPU_TASK_PREFETCH, task->priority);
}

int starpu_prefetch_task_input_on_node_prio(struct starpu_task *task, unsigned node, int prio)
{
	return prefetch_task(task, (int) node, NULL, STARPU_TASK_PREFETCH, prio);
}

int starpu_idle_prefetch_task_input_on_node(struct starpu_task *task, unsigned node)
{
	return prefetch_task(task, (int) node, NULL, STARPU_IDLEFETCH, task->priority);
}

int starpu_idle_prefetch_task_input_on_node_prio(struct starpu_task *task, unsigned node, int prio)
{
	return prefetch_task(task, (int) node, NULL, STARPU_IDLEFETCH, prio);
}

int starpu_prefetch_task_input_for(struct starpu_task *task, unsigned id)
{
	return prefetch_task(task, -1, prefetch_worker(id), STARPU_TASK_PREFETCH, task->priority);
}

int starpu_prefetch_task_input_for_prio(struct starpu_task *task, unsigned id, int prio)
{
	return prefetch_task(task, -1, prefetch_worker(id), STARPU_TASK_PREFETCH, prio);
}

int starpu_idle_prefetch_task_input_for(struct starpu_task *task, unsigned id)
{
	return prefetch_task(task, -1, prefetch_worker(id), STARPU_IDLEFETCH, task->priority);
}

int starpu_idle_prefetch_task_input_for_prio(struct starpu_task *task, unsigned id, int prio)
{
	return prefetch_task(task, -1, prefetch_worker(id), STARPU_IDLEFETCH, prio);
}
