/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dependencies that the program declares: tasks that begin, or end, after others.
 *
 * Invariant: under its lock, a task that is not terminated takes new successors; a terminated one
 * releases none. */
#include "core/task/task.h"

#include <stdarg.h>

#include "base/log.h"
#include "core/task/graph.h"
#include "core/flow/task_state.h"
#include "core/task/task_array.h"
#include "core/task/task_trace.h"
#include "core/flow/task_data.h"

/* Calls that arrive after the end of `dep` add nothing: `over` becomes 1 then. */
static int add_successor(struct orr_task *dep, struct orr_task *t, int end, int *over)
{
	int ret = 0;

	*over = ORR_ATOMIC_LOAD(&dep->state) == ORR_TASK_DONE;
	if (*over)
		return 0;
	orr_assertf(end || ORR_ATOMIC_LOAD_RELAXED(&t->state) == ORR_TASK_NEW,
		    "task %s, which was submitted, gets a dependency", orr_task_name(t->pub));
	orr_lock(&dep->lock);
	*over = dep->terminated;
	if (!*over) {
		if (end) {
			ORR_ATOMIC_ADD(&t->nend_deps, 1);
			ret = orr_task_array_add(&dep->end_succ, t);
		} else {
			orr_assert(ORR_ATOMIC_LOAD(&t->owner.ndeps) > 0);
			ORR_ATOMIC_ADD(&t->owner.ndeps, 1);
			ret = orr_task_array_add(&dep->succ, t);
		}
	}
	orr_unlock(&dep->lock);
	return ret;
}

static void declare(struct starpu_task *task, unsigned n, struct starpu_task *deps[], int end)
{
	struct orr_process *proc = orr_self();
	struct orr_task *t = orr_task_private(task);
	int over;

	if (!end && t->state != ORR_TASK_NEW && t->state != ORR_TASK_DONE)
		orr_fatal(
			"starpu_task_declare_deps: task %s is submitted already; declare its dependencies before",
			orr_task_name(task));
	if (t->state == ORR_TASK_DONE)
		orr_task_renew(t);
	orr_task_give_number(proc, t); /* events may name it from here on */
	for (unsigned i = 0; i < n; i++) {
		struct orr_task *dep;

		if (!deps[i] || deps[i] == task)
			orr_fatal("task %s cannot depend on %s", orr_task_name(task),
				  deps[i] ? "itself" : "a NULL task");
		dep = orr_task_private(deps[i]);
		if (__builtin_expect(ORR_ATOMIC_LOAD(&proc->core->graph) != NULL, 0) && !end)
			orr_graph_depend(proc, dep, t);
		if (add_successor(dep, t, end, &over))
			orr_fatal("out of memory while declaring dependencies of task %s",
				  orr_task_name(task));
		if (__builtin_expect(proc->trace != NULL, 0) && over && !end)
			orr_task_trace_comes_after(proc, t, ORR_CAUSE_TASK | dep->job_id);
	}
}

void starpu_task_declare_deps_array(struct starpu_task *task, unsigned ndeps,
				    struct starpu_task *task_array[])
{
	declare(task, ndeps, task_array, 0);
}

void starpu_task_declare_end_deps_array(struct starpu_task *task, unsigned ndeps,
					struct starpu_task *task_array[])
{
	declare(task, ndeps, task_array, 1);
}

static void declare_listed(struct starpu_task *task, unsigned n, va_list *deps, int end)
{
	for (unsigned i = 0; i < n; i++) {
		struct starpu_task *dep = va_arg(*deps, struct starpu_task *);

		declare(task, 1, &dep, end);
	}
}

void starpu_task_declare_deps(struct starpu_task *task, unsigned ndeps, ...)
{
	va_list ap;

	va_start(ap, ndeps);
	declare_listed(task, ndeps, &ap, 0);
	va_end(ap);
}

void starpu_task_declare_end_deps(struct starpu_task *task, unsigned ndeps, ...)
{
	va_list ap;

	va_start(ap, ndeps);
	declare_listed(task, ndeps, &ap, 1);
	va_end(ap);
}

void starpu_task_end_dep_add(struct starpu_task *task, int nb_deps)
{
	ORR_ATOMIC_ADD(&orr_task_private(task)->nend_deps, nb_deps);
}

void starpu_task_end_dep_release(struct starpu_task *task)
{
	orr_task_end_release(orr_task_of(task));
}

struct successors {
	struct starpu_task **task;
	unsigned n, max;
};

static void add_found(struct successors *s, struct starpu_task *task)
{
	for (unsigned i = 0; i < s->n && i < s->max; i++)
		if (s->task[i] == task)
			return;
	if (s->n < s->max)
		s->task[s->n] = task;
	s->n++;
}

static void found_owner(struct orr_owner *o, void *arg)
{
	struct orr_task *t = orr_task_data_owner(o);

	if (t && !t->internal)
		add_found(arg, t->pub);
}

int starpu_task_get_task_succs(struct starpu_task *task, unsigned ndeps,
			       struct starpu_task *task_array[])
{
	struct orr_task *t = orr_task_private(task);
	struct successors s = { .task = task_array, .max = ndeps };

	orr_lock(&t->lock);
	for (unsigned i = 0; i < t->succ.n; i++)
		add_found(&s, orr_task_array_get(&t->succ, i)->pub);
	orr_unlock(&t->lock);
	uint8_t state = ORR_ATOMIC_LOAD(&t->state);
	if (state != ORR_TASK_NEW && state < ORR_TASK_ENDED)
		orr_access_successors(&t->owner, found_owner, &s);
	return (int) s.n;
}

int starpu_task_get_task_scheduled_succs(struct starpu_task *task, unsigned ndeps,
					 struct starpu_task *task_array[])
{
	int n = starpu_task_get_task_succs(task, 0, NULL), kept = 0;
	struct starpu_task **all = n > 0 ? malloc((size_t) n * sizeof(struct starpu_task *)) : NULL;
	int found = all ? starpu_task_get_task_succs(task, (unsigned) n, all) : 0;

	for (int i = 0; i < found && i < n; i++)
		if (ORR_ATOMIC_LOAD_RELAXED(&orr_task_of(all[i])->state) != ORR_TASK_NEW) {
			if ((unsigned) kept < ndeps)
				task_array[kept] = all[i];
			kept++;
		}
	free(all);
	return kept;
}
