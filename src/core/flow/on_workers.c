/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A function that the program has workers call, each once.
 *
 * Invariant: when the call returns, each worker has called the function. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/flow/task_submit.h"
#include "core/task/task.h"

struct call {
	void (*func)(void *);
	void *arg;
};

static void call_kernel(void **buffers, void *cl_arg)
{
	struct call *c = cl_arg;

	(void) buffers;
	c->func(c->arg);
}

/* Fills the task that makes one worker call the function. */
static void prepare(struct starpu_task *task, struct starpu_codelet *cl, struct call *call,
		    unsigned workerid, const char *name)
{
	starpu_task_init(task);
	task->cl = cl;
	task->cl_arg = call;
	task->cl_arg_size = sizeof(*call);
	task->name = name;
	task->execute_on_a_specific_worker = 1;
	task->workerid = workerid;
	task->sequential_consistency = 0;
	task->detach = 0;
	task->type = STARPU_TASK_TYPE_INTERNAL;
}

static int submit(struct starpu_task *task)
{
	struct orr_task *t = orr_task_private(task);

	if (!t)
		return -1;
	t->internal = 1;
	return orr_task_submit(task);
}

void starpu_execute_on_specific_workers(void (*func)(void *), void *arg, unsigned num_workers,
					unsigned *workers, const char *name)
{
	struct orr_process *proc = orr_self();
	struct call call = { func, arg };
	struct starpu_codelet cl;
	struct starpu_task *tasks;

	if (!num_workers)
		return;
	memset(&cl, 0, sizeof(cl));
	for (unsigned i = 0; i < STARPU_NARCH; i++)
		cl.where |= STARPU_WORKER_TO_MASK(i);
	cl.cpu_funcs[0] = call_kernel;
	cl.cuda_funcs[0] = call_kernel;
	cl.opencl_funcs[0] = call_kernel;
	cl.hip_funcs[0] = call_kernel;
	cl.name = name ? name : "execute_on_workers";
	cl.flags = STARPU_CODELET_SIMGRID_EXECUTE; /* its effect is wanted even where kernels are
						      skipped */
	tasks = calloc(num_workers, sizeof(*tasks));
	if (!tasks)
		orr_fatal("not enough memory to run %s on %u workers", cl.name, num_workers);
	for (unsigned i = 0; i < num_workers; i++) {
		if (workers[i] >= proc->core->nworkers)
			orr_fatal(
				"starpu_execute_on_specific_workers: there is no worker %u, they are 0 to %u",
				workers[i], proc->core->nworkers - 1);
		prepare(&tasks[i], &cl, &call, workers[i], cl.name);
		if (submit(&tasks[i]))
			orr_fatal("%s could not be run on worker %u", cl.name, workers[i]);
	}
	for (unsigned i = 0; i < num_workers; i++) {
		if (starpu_task_wait(&tasks[i]))
			orr_fatal(
				"waiting for %s on worker %u failed: is this called from a kernel or callback?",
				cl.name, workers[i]);
		starpu_task_clean(&tasks[i]);
	}
	free(tasks);
}

void starpu_execute_on_each_worker_ex(void (*func)(void *), void *arg, uint32_t where,
				      const char *name)
{
	struct orr_process *proc = orr_self();
	unsigned *workers = malloc(((size_t) proc->core->nworkers + 1) * sizeof(*workers)), i,
		 n = 0;

	if (!workers)
		orr_fatal("not enough memory to run %s on all workers", name ? name : "a function");
	for (i = 0; i < proc->core->nworkers; i++)
		if (where & STARPU_WORKER_TO_MASK(proc->core->workers[i].arch))
			workers[n++] = i;
	starpu_execute_on_specific_workers(func, arg, n, workers, name);
	free(workers);
}

void starpu_execute_on_each_worker(void (*func)(void *), void *arg, uint32_t where)
{
	starpu_execute_on_each_worker_ex(func, arg, where, NULL);
}
