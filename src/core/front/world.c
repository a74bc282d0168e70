/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A world's questions to the core and to the floors below it (base/upcalls.h).
 *
 * Invariant: no function here waits or wakes. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "base/upcalls.h"
#include "core/front/bound.h"
#include "core/task/expect.h"
#include "core/task/graph.h"
#include "core/worker/group_heap.h"
#include "core/flow/parallel.h"
#include "core/flow/tag.h"
#include "core/task/task.h"
#include "core/task/task_count.h"
#include "core/task/task_dump.h"
#include "core/front/core_upcalls.h"
#include "core/front/tell.h"
#include "data/bus_time.h"
#include "perf/machine.h"

static void world_count_tasks(struct orr_process *proc, uint64_t *nsubmitted, uint64_t *ncompleted)
{
	*nsubmitted = ORR_ATOMIC_LOAD_RELAXED(&proc->core->nsubmitted);
	*ncompleted = orr_task_ncompleted(proc);
}

static void world_dump(struct orr_process *proc, FILE *f, unsigned max)
{
	orr_task_dump(proc, f, max);
	orr_tag_dump(proc, f);
}

static void world_running(const struct orr_thread *self, char *text, size_t size)
{
	const struct orr_task *t = self->task;
	const struct starpu_task *pub = t ? t->pub : NULL;
	const char *codelet = pub && pub->cl ? pub->cl->name : NULL;

	*text = '\0';
	if (!pub && self->inserts)
		snprintf(
			text, size,
			"the insertion of a task of codelet %s (after a STARPU_VALUE comes the address of a value, then its size)",
			self->inserts->name ? self->inserts->name : "without name");
	if (!pub)
		return;
	snprintf(text, size, "task %s (job %llu) of codelet %s on worker %s", orr_task_name(pub),
		 (unsigned long long) t->job_id, codelet ? codelet : "without name",
		 self->worker ? self->worker->name : "none");
}

/* A thread that wakes a group takes it out of the mask before (core/worker/wake.h). */
static int world_asleep(const struct orr_process *proc)
{
	/* Copies that devices make by themselves go on. */
	if (ORR_ATOMIC_LOAD(&proc->data->flights))
		return 0;
	for (unsigned i = 0; i < proc->ngroups; i++)
		if (!ORR_ATOMIC_LOAD(&proc->core->groups[i].sleeping) ||
		    !(ORR_ATOMIC_LOAD(&proc->core->idle_mask[i / 64]) >> i % 64 & 1))
			return 0;
	return 1;
}

/* ---- expected times ---- */

static double world_kernel_us(struct orr_process *proc, const struct orr_kernel *k,
			      enum orr_perf_source *source, double *deviation_us)
{
	const struct orr_worker *w = &proc->core->workers[k->worker];

	orr_assertf(k->worker < proc->core->nworkers && k == &w->kernel,
		    "the kernel is not worker %u's", k->worker);
	return orr_expect_spread_us(proc, orr_worker_arch(w), k->task, k->nimpl, source,
				    deviation_us);
}

/* The arch of the workers that compute on a memory node; a CPU's if there is no worker. */
static struct orr_arch world_arch(const struct orr_process *proc, unsigned memnode)
{
	for (unsigned i = 0; i < proc->core->nworkers; i++)
		if (proc->core->workers[i].memnode == memnode)
			return *proc->core->workers[i].perf_arch;
	return (struct orr_arch){ .type = STARPU_CPU_WORKER, .ncores = 1 };
}

static double world_convert_us(struct orr_process *proc, unsigned memnode,
			       struct starpu_codelet *cl, struct _starpu_data_state *h,
			       enum orr_perf_source *source)
{
	struct orr_arch arch = world_arch(proc, memnode);
	struct starpu_task t;

	starpu_task_init(&t);
	t.cl = cl;
	t.handles[0] = h;
	return orr_expect_us(proc, &arch, &t, 0, 1, source);
}

static double world_copy_us(struct orr_process *proc, const struct orr_copy *c)
{
	double us = orr_bus_time_us(proc, c->src, c->dst, c->size);

	return isnan(us) || isinf(us) ? ORR_MACHINE_BUS_US + (double) c->size / ORR_MACHINE_BUS_MBS
				      : us;
}

/* ---- running kernels ---- */

/* Kernels on devices are not slowed down; those on CPUs may change places with them, and the heap
 * is sorted again. */
static void world_stretch(struct orr_process *proc, double now_us, double by)
{
	orr_assertf(by > 0 && isfinite(by), "kernels take %g times as long", by);
	for (unsigned i = 0; proc->core->groups && i < proc->ngroups; i++) {
		struct orr_group *g = &proc->core->groups[i];

		for (unsigned j = 0; j < g->nheap; j++) {
			struct orr_kernel *k = &g->heap[j]->kernel;

			if (k->arch == STARPU_CPU_WORKER && k->end_us > now_us)
				k->end_us = now_us + (k->end_us - now_us) * by;
		}
		orr_group_heap_sort(g);
	}
}

static void world_order(struct orr_process *proc)
{
	for (unsigned i = 0; proc->core->groups && i < proc->ngroups; i++)
		orr_group_heap_sort(&proc->core->groups[i]);
}

static void world_ends(struct orr_process *proc, struct orr_kernel *k, double end_us)
{
	orr_assertf(!isnan(end_us) && k->worker < proc->core->nworkers &&
			    k == &proc->core->workers[k->worker].kernel,
		    "a kernel of worker %u ends at %g us", k->worker, end_us);
	k->end_us = end_us;
	/* The context that the kernel chose is its worker's, whose thread went on without it. */
	proc->core->workers[k->worker].own_ctx = orr_thread_self()->ctx;
	orr_group_heap_sort(proc->core->workers[k->worker].group);
}

static double world_first_end_us(const struct orr_process *proc)
{
	double first = INFINITY;

	for (unsigned i = 0; proc->core->groups && i < proc->ngroups; i++) {
		const struct orr_group *g = &proc->core->groups[i];

		for (unsigned j = 0; j < g->nheap; j++) {
			const struct orr_kernel *k = &g->heap[j]->kernel;

			if (k->arch == STARPU_CPU_WORKER && k->end_us < first)
				first = k->end_us;
		}
	}
	return first;
}

/* ---- the recorded graph ---- */

static struct orr_graph *world_graph(const struct orr_process *proc)
{
	struct orr_graph *g = proc->core->graph;

	return g && g->kept ? g : NULL;
}

static void world_graph_view(const struct orr_graph *g, struct orr_graph_view *view)
{
	*view = (struct orr_graph_view){ .nnodes = g->nnodes,
					 .nmessages = g->nmessages,
					 .nedges = g->nedges,
					 .edge = g->edge,
					 .message = g->message };
}

static double world_graph_node_us(const struct orr_graph *g, uint32_t node)
{
	return orr_graph_shortest(g, g->node[node].type);
}

const struct orr_core_upcalls orr_core_upcalls = {
	.count_tasks = world_count_tasks,
	.dump = world_dump,
	.tell = orr_core_tell,
	.asleep = world_asleep,
	.running = world_running,
	.kernel_us = world_kernel_us,
	.convert_us = world_convert_us,
	.copy_us = world_copy_us,
	.stretch = world_stretch,
	.order = world_order,
	.ends = world_ends,
	.first_end_us = world_first_end_us,
	.graph = world_graph,
	.graph_view = world_graph_view,
	.graph_node_us = world_graph_node_us,
	.graph_area_us = orr_bound_area_us,
};
