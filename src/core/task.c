/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The life of a task: creation, submission, readiness, completion, destruction.
 *
 * Invariant: once a task's state is DONE the runtime never touches it again, since whoever waits
 * for it may free it. */
#include "core/task_data.h"
#include "core/worker.h"
#include "core/parallel.h"
#include "core/graph.h"
#include "data/handle.h"
#include "data/redux.h"
#include "core/task_trace.h"
#include "base/log.h"
#include "data/data.h"
#include "core/core.h"
#include "base/slab.h"
#include "data/fetch.h"
#include "data/filters_views.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What starpu_task_create allocates: both halves side by side. */
struct created {
	struct starpu_task pub;
	struct orr_task prv;
};

static const struct starpu_task initial_task = STARPU_TASK_INITIALIZER;

struct starpu_codelet starpu_codelet_nop = {
	.where = STARPU_NOWHERE,
	.name = "nop",
	.nbuffers = 0,
};

size_t orr_task_slab_size(void)
{
	return sizeof(struct created);
}

/* ---- creation ---- */

static void init_private(struct orr_task *t, struct starpu_task *pub)
{
	memset(&t->nimpl, 0,
	       offsetof(struct orr_task, inl_access) - offsetof(struct orr_task, nimpl));
	ORR_ATOMIC_STORE_RELAXED(&t->state, ORR_TASK_NEW);
	ORR_ATOMIC_STORE_RELAXED(&t->ctx, 0);
	orr_lock_init(&t->lock, ORR_RANK_TASK);
	t->pub = pub;
	t->owner.ndeps = 1;
	t->nend_deps = 1;
	pub->starpu_private = t;
}

void starpu_task_init(struct starpu_task *task)
{
	*task = initial_task;
}

struct starpu_task *starpu_task_create(void)
{
	struct orr_process *proc = orr_self();
	struct created *c;

	if (proc->state == ORR_PROCESS_DOWN) {
		orr_error("starpu_task_create: call starpu_init first");
		return NULL;
	}
	c = orr_slab_alloc(&proc->core->task_slab);
	if (!c)
		return NULL;
	c->pub = initial_task;
	c->pub.destroy = 1;
	init_private(&c->prv, &c->pub);
	c->prv.embedded = 1;
	return &c->pub;
}

struct orr_task *orr_task_private(struct starpu_task *task)
{
	struct orr_task *t = task->starpu_private;

	if (!t) {
		struct created *c = orr_slab_alloc(&orr_self()->core->task_slab);

		if (!c)
			return NULL;
		t = &c->prv;
		init_private(t, task);
	}
	return t;
}

/* Frees what the task owns beside itself. */
static void clean_public(struct starpu_task *task)
{
	if (task->cl_arg_free)
		free(task->cl_arg);
	if (task->cl_ret_free)
		free(task->cl_ret);
	if (task->callback_arg_free)
		free(task->callback_arg);
	if (task->epilogue_callback_arg_free)
		free(task->epilogue_callback_arg);
	if (task->prologue_callback_arg_free)
		free(task->prologue_callback_arg);
	if (task->prologue_callback_pop_arg_free)
		free(task->prologue_callback_pop_arg);
	task->cl_arg_free = task->cl_ret_free = task->callback_arg_free =
		task->epilogue_callback_arg_free = 0;
	task->prologue_callback_arg_free = task->prologue_callback_pop_arg_free = 0;
	free(task->dyn_handles);
	free(task->dyn_modes);
	free(task->dyn_interfaces);
	free(task->profiling_info);
	task->dyn_handles = NULL;
	task->dyn_modes = NULL;
	task->dyn_interfaces = NULL;
	task->profiling_info = NULL;
	task->handles_sequential_consistency = NULL;
}

static void array_free(struct orr_task_array *a)
{
	if (a->cap > 2)
		free(a->v);
	a->n = a->cap = 0;
}

int orr_task_array_add(struct orr_task_array *a, struct orr_task *t)
{
	if (a->n < 2) {
		a->inl[a->n++] = t;
		return 0;
	}
	if (a->n == 2 || a->n == a->cap) {
		uint32_t cap = a->n == 2 ? 8 : 2 * a->cap;
		struct orr_task **v = a->n == 2 ? malloc(cap * sizeof(*v))
						: realloc(a->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		if (a->n == 2)
			memcpy(v, a->inl, 2 * sizeof(*v));
		a->v = v;
		a->cap = cap;
	}
	a->v[a->n++] = t;
	return 0;
}

struct orr_task *orr_task_array_get(const struct orr_task_array *a, unsigned i)
{
	return a->cap ? a->v[i] : a->inl[i];
}

static void free_private(struct orr_task *t)
{
	struct starpu_task *pub = t->pub;

	if (t->bundled)
		starpu_task_bundle_remove(pub->bundle, pub);
	if (t->owner.access && t->owner.access != t->inl_access)
		free(t->owner.access);
	array_free(&t->succ);
	array_free(&t->end_succ);
	pub->starpu_private = NULL;
	ORR_ATOMIC_STORE_RELAXED(&t->state, ORR_TASK_NEW);
	t->pub = NULL;
	orr_slab_free(&orr_self()->core->task_slab, (char *) t - offsetof(struct created, prv));
}

void starpu_task_clean(struct starpu_task *task)
{
	struct orr_task *t = task->starpu_private;

	clean_public(task);
	if (t && !t->embedded)
		free_private(t);
}

/* Anything for clean_public to do? */
static inline int owns_something(const struct starpu_task *task)
{
	return task->cl_arg_free | task->cl_ret_free | task->callback_arg_free |
	       task->epilogue_callback_arg_free | task->prologue_callback_arg_free |
	       task->prologue_callback_pop_arg_free | (task->dyn_handles != NULL) |
	       (task->profiling_info != NULL) | (task->dyn_modes != NULL) |
	       (task->dyn_interfaces != NULL);
}

static void destroy(struct orr_task *t)
{
	struct starpu_task *pub = t->pub;
	int embedded = t->embedded;

	if (owns_something(pub))
		clean_public(pub);
	free_private(t);
	if (!embedded)
		free(pub);
}

void starpu_task_destroy(struct starpu_task *task)
{
	struct orr_task *t;

	if (!task)
		return;
	t = task->starpu_private;
	if (t && t->state != ORR_TASK_NEW && ORR_ATOMIC_LOAD(&t->state) != ORR_TASK_DONE) {
		orr_error(
			"starpu_task_destroy: task %s was submitted and has not completed; wait for it first",
			orr_task_name(task));
		return;
	}
	if (t) {
		destroy(t);
	} else {
		clean_public(task);
		free(task);
	}
}

void starpu_task_set_destroy(struct starpu_task *task)
{
	task->destroy = 1;
}

struct starpu_task *starpu_task_dup(struct starpu_task *task)
{
	struct starpu_task *copy = starpu_task_create();
	void *prv;

	if (!copy)
		return NULL;
	prv = copy->starpu_private;
	*copy = *task;
	copy->starpu_private = prv;
	copy->cl_arg_free = copy->cl_ret_free = copy->callback_arg_free =
		copy->epilogue_callback_arg_free = 0;
	copy->prologue_callback_arg_free = copy->prologue_callback_pop_arg_free = 0;
	copy->dyn_handles = NULL;
	copy->dyn_modes = NULL;
	copy->dyn_interfaces = NULL;
	copy->profiling_info = NULL;
	copy->bundle = NULL;
	copy->handles_sequential_consistency = NULL;
	if (task->dyn_handles) {
		size_t n = STARPU_TASK_GET_NBUFFERS(task);

		copy->dyn_handles = malloc(n * sizeof(*copy->dyn_handles));
		if (copy->dyn_handles)
			memcpy(copy->dyn_handles, task->dyn_handles,
			       n * sizeof(*copy->dyn_handles));
		if (task->dyn_modes && (copy->dyn_modes = malloc(n * sizeof(*copy->dyn_modes))))
			memcpy(copy->dyn_modes, task->dyn_modes, n * sizeof(*copy->dyn_modes));
	}
	return copy;
}

struct starpu_task *starpu_task_create_sync(starpu_data_handle_t handle,
					    enum starpu_data_access_mode mode)
{
	static struct starpu_codelet sync_cl = { .where = STARPU_NOWHERE,
						 .name = "sync",
						 .nbuffers = STARPU_VARIABLE_NBUFFERS };
	struct starpu_task *task = starpu_task_create();

	if (!task)
		return NULL;
	task->cl = &sync_cl;
	task->nbuffers = 1;
	task->handles[0] = handle;
	task->modes[0] = mode;
	return task;
}

/* ---- looking at a task ---- */

unsigned orr_task_nbuffers(const struct starpu_task *t)
{
	if (!t->cl)
		return 0;
	return (unsigned) (t->cl->nbuffers == STARPU_VARIABLE_NBUFFERS ? t->nbuffers
								       : t->cl->nbuffers);
}

enum starpu_data_access_mode orr_task_mode(const struct starpu_task *t, unsigned i)
{
	return STARPU_TASK_GET_MODE(t, i);
}

const char *orr_task_name(const struct starpu_task *t)
{
	if (t->name)
		return t->name;
	if (t->cl && t->cl->name)
		return t->cl->name;
	if (t->cl && t->cl->model && t->cl->model->symbol)
		return t->cl->model->symbol;
	return "unnamed";
}

const char *starpu_task_get_name(struct starpu_task *task)
{
	return orr_task_name(task);
}

const char *starpu_task_get_model_name(struct starpu_task *task)
{
	return task->cl && task->cl->model ? task->cl->model->symbol : NULL;
}

struct starpu_task *starpu_task_get_current(void)
{
	struct orr_task *t = orr_thread_self()->task;

	return t ? t->pub : NULL;
}

int starpu_task_get_current_data_node(unsigned i)
{
	struct orr_task *t = orr_thread_self()->task;

	return t && i < t->owner.naccess ? t->owner.access[i].node : -1;
}

void starpu_task_set_implementation(struct starpu_task *task, unsigned impl)
{
	struct orr_task *t = orr_task_private(task);

	t->nimpl = (uint8_t) impl;
	t->forced_impl = 1;
}

unsigned starpu_task_get_implementation(struct starpu_task *task)
{
	return orr_task_of(task)->nimpl;
}

unsigned long starpu_task_get_job_id(struct starpu_task *task)
{
	struct orr_task *t = orr_task_private(task);

	if (!t->job_id)
		t->job_id = ORR_ATOMIC_ADD_RELAXED(&orr_self()->core->next_job, 1);
	return (unsigned long) t->job_id;
}

const char *starpu_task_status_get_as_string(enum starpu_task_status status)
{
	switch (status) {
	case STARPU_TASK_INIT: return "init";
	case STARPU_TASK_BLOCKED: return "blocked";
	case STARPU_TASK_READY: return "ready";
	case STARPU_TASK_RUNNING: return "running";
	case STARPU_TASK_FINISHED: return "finished";
	}
	return "unknown";
}

/* ---- submission ---- */

void starpu_codelet_init(struct starpu_codelet *cl)
{
	memset(cl, 0, sizeof(*cl));
}

/* The kinds of units that have an implementation. */
uint32_t orr_codelet_where(const struct starpu_codelet *cl)
{
	uintptr_t cpu, cuda = (uintptr_t) cl->cuda_func, opencl = (uintptr_t) cl->opencl_func;
	uint32_t where = 0;
	unsigned i;

	if (cl->where)
		return cl->where;
	cpu = cl->cpu_func == STARPU_MULTIPLE_CPU_IMPLEMENTATIONS ? 0 : (uintptr_t) cl->cpu_func;
	/* Each task asks: no branches. */
	for (i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
		cpu |= (uintptr_t) cl->cpu_funcs[i];
		cuda |= (uintptr_t) cl->cuda_funcs[i];
		opencl |= (uintptr_t) cl->opencl_funcs[i];
	}
	if (cpu)
		where |= STARPU_CPU;
	if (cuda)
		where |= STARPU_CUDA;
	if (opencl)
		where |= STARPU_OPENCL;
	if (__builtin_expect(orr_self()->stand_in, 0)) {
		if (!(where & STARPU_CUDA) && orr_codelet_stands_in(cl, STARPU_CUDA_WORKER, NULL))
			where |= STARPU_CUDA;
		if (!(where & STARPU_OPENCL) &&
		    orr_codelet_stands_in(cl, STARPU_OPENCL_WORKER, NULL))
			where |= STARPU_OPENCL;
	}
	return where;
}

/* First look at a codelet: mistakes that every task of it would share. */
static int check_codelet(struct starpu_codelet *cl)
{
	if (cl->nbuffers < 0 && cl->nbuffers != STARPU_VARIABLE_NBUFFERS) {
		orr_error("codelet %s: nbuffers is %d", cl->name ? cl->name : "unnamed",
			  cl->nbuffers);
		return -EINVAL;
	}
	if (cl->nbuffers > STARPU_NMAXBUFS && !cl->dyn_modes) {
		orr_error("codelet %s: %d data exceed STARPU_NMAXBUFS (%d), set dyn_modes",
			  cl->name ? cl->name : "unnamed", cl->nbuffers, STARPU_NMAXBUFS);
		return -EINVAL;
	}
	__atomic_store_n(&cl->checked, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Is there a worker at all that may execute the task? */
static int somebody_can_run(struct orr_process *proc, struct starpu_task *task, uint32_t where,
			    struct orr_ctx *ctx)
{
	unsigned i, empty = 1;

	if (task->execute_on_a_specific_worker) {
		struct orr_combined *c = orr_combined_get(proc, task->workerid);

		if (c && !orr_combined_in_ctx(proc, c, ctx)) {
			orr_error(
				"task %s is to execute on combined worker %u, of which not all workers are in scheduling context %u",
				orr_task_name(task), task->workerid, ctx->id);
			return 0;
		}
		if (c)
			return orr_combined_first_impl(c, task) >= 0;
		if (task->workerid >= proc->core->nworkers) {
			orr_error("task %s is to execute on worker %u, but there are %u workers",
				  orr_task_name(task), task->workerid, proc->core->nworkers);
			return 0;
		}
		if (!orr_ctx_has(ctx, &proc->core->workers[task->workerid])) {
			orr_error(
				"task %s is to execute on worker %u, which is not in scheduling context %u",
				orr_task_name(task), task->workerid, ctx->id);
			return 0;
		}
		return orr_task_first_impl(&proc->core->workers[task->workerid], task) >= 0;
	}
	if (!(where & proc->arch_mask))
		return 0;
	if (!task->cl->can_execute && !task->workerids && __builtin_expect(orr_ctx_whole(ctx), 1))
		return 1;
	for (i = 0; i < proc->core->nworkers; i++) {
		if (!orr_ctx_has(ctx, &proc->core->workers[i]))
			continue;
		empty = 0;
		if (orr_task_first_impl(&proc->core->workers[i], task) >= 0)
			return 1;
	}
	/* A context without workers gets some later, and the task waits for them. */
	return empty && ctx->id;
}

/* An access must say what it does to the data. */
#define ACCESSES (STARPU_RW | STARPU_SCRATCH | STARPU_REDUX | STARPU_MPI_REDUX)

/* What can be wrong with datum i of a task, beside views of partitions. */
static int check_datum(struct starpu_task *task, starpu_data_handle_t h,
		       enum starpu_data_access_mode mode, unsigned i)
{
	char what[128];

	if (!h) {
		orr_error("task %s: datum %u is a NULL handle", orr_task_name(task), i);
		return -EINVAL;
	}
	snprintf(what, sizeof(what), "task %.64s, datum %u", orr_task_name(task), i);
	if (orr_handle_check(h, what))
		return -EINVAL;
	if (!(mode & ACCESSES)) {
		orr_error(
			"%s (%s): its access mode is %d; give STARPU_R, STARPU_W, STARPU_RW, STARPU_SCRATCH or STARPU_REDUX in the codelet's modes",
			what, orr_handle_name(h), (int) mode);
		return -EINVAL;
	}
	return (mode & STARPU_REDUX) ? orr_redux_check(h, what) : 0;
}

/* The kinds of units that may execute the task. */
static uint32_t task_where(const struct starpu_task *task)
{
	if (!task->cl)
		return STARPU_NOWHERE;
	return task->where != -1 ? (uint32_t) task->where : orr_codelet_where(task->cl);
}

/* Everything that can be wrong with the task itself, which units of these kinds may execute. */
static int check_task(struct orr_process *proc, struct starpu_task *task, struct orr_task *t,
		      uint32_t where, int internal, struct orr_ctx *ctx)
{
	unsigned i, n, planned = 0;

	if (t->state != ORR_TASK_NEW && ORR_ATOMIC_LOAD(&t->state) != ORR_TASK_DONE) {
		orr_error("task %s was submitted already and has not completed",
			  orr_task_name(task));
		return -EINVAL;
	}
	if (task->cl) {
		if (!__atomic_load_n(&task->cl->checked, __ATOMIC_RELAXED) &&
		    check_codelet(task->cl))
			return -EINVAL;
		n = orr_task_nbuffers(task);
		if (n > STARPU_NMAXBUFS && !task->dyn_handles) {
			orr_error("task %s: %u data exceed STARPU_NMAXBUFS (%d), set dyn_handles",
				  orr_task_name(task), n, STARPU_NMAXBUFS);
			return -EINVAL;
		}
		for (i = 0; i < n; i++) {
			starpu_data_handle_t h = orr_task_handle(task, i);
			enum starpu_data_access_mode mode = orr_task_mode(task, i);

			if (__builtin_expect(
				    !h || ORR_ATOMIC_LOAD_RELAXED(&h->alive) != ORR_HANDLE_ALIVE ||
					    !(mode & ACCESSES) || (mode & STARPU_REDUX),
				    0) &&
			    !internal && check_datum(task, h, mode, i))
				return -EINVAL;
			if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&h->busy_partition), 0) &&
			    !internal && !t->switches) {
				planned = 1;
				if (orr_handle_check_partition(h, mode, orr_task_name(task)))
					return -EINVAL;
			}
		}
		for (i = 0; __builtin_expect(planned, 0) && n > 1 && i < n; i++)
			if (orr_partition_check_view(orr_task_handle(task, i),
						     orr_task_mode(task, i), orr_task_name(task),
						     i))
				return -EINVAL;
		if (!(where & STARPU_NOWHERE) && !somebody_can_run(proc, task, where, ctx)) {
			orr_error(
				"task %s: none of the %u workers can execute it; look at the implementations of its codelet, at where, can_execute and "
				"workerid, at its scheduling context, and at STARPU_NCPU",
				orr_task_name(task), proc->core->nworkers);
			return -ENODEV;
		}
	}
	return 0;
}

/* A task that completed may be submitted again: its private half starts anew. */
static void renew(struct orr_task *t)
{
	int embedded = t->embedded, forced = t->forced_impl, nimpl = t->nimpl, bundled = t->bundled;

	if (t->owner.access && t->owner.access != t->inl_access)
		free(t->owner.access);
	array_free(&t->succ);
	array_free(&t->end_succ);
	init_private(t, t->pub);
	t->embedded = embedded & 1;
	t->forced_impl = (uint8_t) forced;
	t->nimpl = (uint8_t) nimpl;
	t->bundled = bundled & 1;
}

static int submit(struct starpu_task *task, int internal, int nodeps)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_process *proc = self->proc;
	struct orr_task *t;
	struct orr_ctx *ctx = &proc->core->ctx0;
	int ret, synchronous = task->synchronous;
	uint32_t where;

	if (__builtin_expect(proc->state != ORR_PROCESS_UP && proc->state != ORR_PROCESS_STARTING,
			     0)) {
		orr_error("task %s submitted without starpu_init", orr_task_name(task));
		return -ENODEV;
	}
	orr_sys_charge(self, ORR_COST_SUBMIT);
	orr_sys_charge_times(self, ORR_COST_ACCESS,
			     task->cl ? (unsigned) STARPU_TASK_GET_NBUFFERS(task) : 0);
	orr_sys_settle(self);
	if (synchronous && self->task) {
		orr_error(
			"task %s: synchronous submission from inside a task or callback would deadlock",
			orr_task_name(task));
		return -EDEADLK;
	}
	t = orr_task_private(task);
	if (!t)
		return -ENOMEM;
	if (!internal) {
		unsigned id = task->sched_ctx == STARPU_NMAX_SCHED_CTXS ? orr_ctx_current(self)
									: task->sched_ctx;

		if (__builtin_expect(id != 0, 0)) {
			if (orr_ctx_check(proc, id, task))
				return -EINVAL;
			ctx = proc->core->ctx[id];
		}
	}
	where = task_where(task);
	ret = check_task(proc, task, t, where, internal, ctx);
	if (ret)
		return ret;
	if (__builtin_expect(t->state == ORR_TASK_DONE, 0))
		renew(t);
	t->where = where;
	ret = orr_task_data_reserve(t);
	if (ret)
		return ret;
	/* From here on nothing fails: others see the task. */
	if (__builtin_expect(task->cl && task->cl->model != NULL, 0) && !task->cl->model->is_init)
		starpu_perfmodel_init(task->cl->model);
	if (!task->callback_func && task->cl && task->cl->callback_func)
		task->callback_func = task->cl->callback_func;
	if (synchronous)
		task->detach = 0;
	t->internal = internal & 1;
	ORR_ATOMIC_STORE_RELAXED(&t->ctx, (uint8_t) ctx->id);
	__atomic_store(&t->flops, &task->flops, __ATOMIC_RELAXED);
	task->sched_ctx = ctx->id;
	t->user_wait = !task->detach;
	t->auto_destroy = task->detach && task->destroy;
	if (!t->job_id)
		t->job_id = ORR_ATOMIC_ADD_RELAXED(&proc->core->next_job, 1);
	if (!internal)
		ORR_ATOMIC_ADD_RELAXED(&proc->core->nsubmitted, 1);
	if (__builtin_expect(t->ctx != 0, 0))
		ORR_ATOMIC_ADD(&ctx->nsubmitted, 1);
	if (__builtin_expect(proc->cfg.profiling, 0))
		orr_profile_submit(t);
	orr_task_trace(proc, ORR_TRACE_SUBMIT, t, -1);
	ORR_ATOMIC_STORE_RELAXED(&t->state, ORR_TASK_BLOCKED);
	task->status = STARPU_TASK_BLOCKED;
	if (ctx->policy && ctx->policy->submit_hook && !internal)
		ctx->policy->submit_hook(task);
	if (__builtin_expect(ORR_ATOMIC_LOAD(&proc->core->graph) != NULL, 0))
		orr_graph_submit(proc, t, nodeps);
	if (task->use_tag)
		orr_tag_task_submitted(t);
	if (t->owner.naccess)
		orr_task_data_submit(t, nodeps);
	orr_task_release(t); /* the submission itself; t may be gone from here on */
	if (synchronous)
		return starpu_task_wait(task);
	if (__builtin_expect(ORR_ATOMIC_LOAD_RELAXED(&proc->cfg.max_submitted) > 0, 0))
		orr_throttle(proc);
	return 0;
}

int starpu_task_submit(struct starpu_task *task)
{
	return submit(task, 0, 0);
}
int orr_task_submit(struct starpu_task *task)
{
	return submit(task, 1, 0);
}
int starpu_task_submit_nodeps(struct starpu_task *task)
{
	return submit(task, 0, 1);
}

int starpu_task_submit_line(struct starpu_task *task, const char *file, int line)
{
	task->file = file;
	task->line = line;
	return submit(task, 0, 0);
}

int starpu_task_submit_to_ctx(struct starpu_task *task, unsigned sched_ctx_id)
{
	task->sched_ctx = sched_ctx_id;
	return submit(task, 0, 0);
}

/* ---- dependencies satisfied ---- */

void orr_task_release(struct orr_task *t)
{
	/* With one dependency left it is ours: nobody else can change the counter. */
	if (ORR_ATOMIC_LOAD(&t->owner.ndeps) == 1 || ORR_ATOMIC_ADD(&t->owner.ndeps, -1) == 0)
		orr_task_ready(t);
}

static void nowhere_done(void *arg)
{
	struct orr_task *t = arg;

	if (ORR_ATOMIC_ADD(&t->nfetching, -1) == 0)
		orr_task_complete(t, NULL);
}

/* A task that executes nowhere may still want its data somewhere (handbook 27.5). */
static void execute_nowhere(struct orr_task *t)
{
	unsigned i;
	int ret;

	t->nfetching = 1;
	for (i = 0; i < t->owner.naccess; i++) {
		struct orr_access *a = &t->owner.access[i];
		int where = t->pub->cl->specific_nodes ? STARPU_CODELET_GET_NODE(t->pub->cl, i)
						       : STARPU_SPECIFIC_NODE_NONE;

		if (a->merged)
			continue;
		if (where == STARPU_SPECIFIC_NODE_NONE && (a->mode & STARPU_W) &&
		    a->handle->home_node >= 0 && !(a->mode & STARPU_R))
			where = a->handle->home_node;
		if (where == STARPU_SPECIFIC_NODE_NONE)
			continue;
		if (where >= (int) orr_self()->data->nmemnodes)
			orr_fatal(
				"codelet of task %s wants datum %u on memory node %d, which does not exist",
				orr_task_name(t->pub), i, where);
		a->node = (int8_t) (where < 0 ? STARPU_MAIN_RAM : where);
		ORR_ATOMIC_ADD(&t->nfetching, 1);
		ret = orr_fetch(a->handle, (unsigned) a->node, a->mode, t->pub->priority,
				nowhere_done, t);
		if (ret < 0)
			orr_fatal("task %s cannot have its datum %u, %s", orr_task_name(t->pub), i,
				  orr_handle_name(a->handle));
		if (ret == 0)
			ORR_ATOMIC_ADD(&t->nfetching, -1);
		a->pinned = 1;
	}
	nowhere_done(t);
}

void orr_task_ready(struct orr_task *t)
{
	if (t->owner.held || !t->owner.naccess || orr_access_lock(&t->owner))
		orr_task_held(t);
}

void orr_task_held(struct orr_task *t)
{
	struct starpu_task *pub = t->pub;

	if (__builtin_expect(pub->prologue_callback_func != NULL, 0))
		pub->prologue_callback_func(pub->prologue_callback_arg);
	ORR_ATOMIC_STORE_RELAXED(&t->state, ORR_TASK_READY);
	pub->status = STARPU_TASK_READY;
	if (__builtin_expect(t->where & STARPU_NOWHERE, 0))
		orr_owner_proceed(&t->owner);
	else
		orr_task_push(t);
}

/* ---- completion ---- */

static void release_array(struct orr_task_array *a, void (*f)(struct orr_task *))
{
	unsigned i;

	for (i = 0; i < a->n; i++)
		f(orr_task_array_get(a, i));
	array_free(a);
}

static void end_dep_release(struct orr_task *t);

/* Runs fn(arg) so that starpu_task_get_current answers and blocking calls are recognised. */
static void run_callback(struct orr_task *t, void (*fn)(void *), void *arg)
{
	struct orr_thread *self = orr_thread_self();
	struct orr_task *saved = self->task;

	self->task = t;
	fn(arg);
	self->task = saved;
}

/* Execution and all end dependencies are over. */
static void terminate(struct orr_task *t, struct orr_worker *w)
{
	struct orr_process *proc = orr_self();
	struct starpu_task *pub = t->pub;
	struct orr_task_array succ, end_succ;
	int internal = t->internal, user_wait = t->user_wait, auto_destroy = t->auto_destroy,
	    regenerate;
	unsigned ctx = t->ctx;

	if (t->owner.naccess)
		orr_access_release(&t->owner);
	if (__builtin_expect(t->bundled, 0))
		starpu_task_bundle_remove(pub->bundle, pub);
	orr_lock(&t->lock);
	t->terminated = 1;
	succ = t->succ;
	end_succ = t->end_succ;
	memset(&t->succ, 0, sizeof(t->succ));
	memset(&t->end_succ, 0, sizeof(t->end_succ));
	orr_unlock(&t->lock);
	release_array(&succ, orr_task_release);
	release_array(&end_succ, end_dep_release);
	if (__builtin_expect(t->tag != NULL, 0))
		orr_tag_task_done(t);
	if (pub->callback_func)
		run_callback(t, pub->callback_func, pub->callback_arg);
	orr_task_trace(proc, ORR_TRACE_DONE, t, w ? (int) w->id : -1);
	regenerate = pub->regenerate;
	pub->status = STARPU_TASK_FINISHED;
	if (auto_destroy && !regenerate) {
		destroy(t);
	} else {
		ORR_ATOMIC_STORE(&t->state, ORR_TASK_DONE);
		if (regenerate) {
			/* The same task again; it stays counted as pending until the new round
			 * ends. */
			int ret = starpu_task_submit(pub);

			if (ret) {
				orr_error("task %s could not be submitted again: %s",
					  orr_task_name(pub), strerror(-ret));
				if (auto_destroy)
					destroy(t);
				else
					ORR_ATOMIC_STORE(&t->state, ORR_TASK_DONE);
			}
		}
	}
	if (__builtin_expect(ctx != 0, 0))
		orr_ctx_task_done(proc, ctx);
	if (!internal) {
		if (w)
			ORR_ATOMIC_STORE(&w->ncompleted, w->ncompleted + 1);
		else
			ORR_ATOMIC_ADD(&proc->core->ncompleted_other, 1);
	}
	if (user_wait || !w || ORR_ATOMIC_LOAD_RELAXED(&proc->core->ndone_waiters))
		orr_waitq_wake(&proc->done);
}

static void end_dep_release(struct orr_task *t)
{
	if (ORR_ATOMIC_ADD(&t->nend_deps, -1) != 0)
		return;
	t->ended = 1;
	orr_owner_proceed(&t->owner);
}

void orr_task_proceed(struct orr_task *t)
{
	if (t->ended)
		terminate(t, NULL);
	else if (t->body)
		t->body(&t->owner, t->pub->cl_arg);
	else if (t->owner.naccess)
		execute_nowhere(t);
	else
		orr_task_complete(t, NULL);
}

void orr_task_complete(struct orr_task *t, struct orr_worker *w)
{
	if (__builtin_expect(t->pub->epilogue_callback_func != NULL, 0))
		run_callback(t, t->pub->epilogue_callback_func, t->pub->epilogue_callback_arg);
	if (ORR_ATOMIC_LOAD(&t->nend_deps) == 1 || ORR_ATOMIC_ADD(&t->nend_deps, -1) == 0)
		terminate(t, w);
}

/* ---- explicit dependencies ---- */

/* Calls that arrive after the end of `dep` add nothing. */
static int add_successor(struct orr_task *dep, struct orr_task *t, int end)
{
	int ret = 0;

	if (ORR_ATOMIC_LOAD(&dep->state) == ORR_TASK_DONE)
		return 0;
	orr_lock(&dep->lock);
	if (!dep->terminated) {
		if (end) {
			ORR_ATOMIC_ADD(&t->nend_deps, 1);
			ret = orr_task_array_add(&dep->end_succ, t);
		} else {
			ORR_ATOMIC_ADD(&t->owner.ndeps, 1);
			ret = orr_task_array_add(&dep->succ, t);
		}
	}
	orr_unlock(&dep->lock);
	return ret;
}

static void declare(struct starpu_task *task, unsigned n, struct starpu_task *deps[], int end)
{
	struct orr_task *t = orr_task_private(task);
	unsigned i;

	if (!end && t->state != ORR_TASK_NEW && t->state != ORR_TASK_DONE)
		orr_fatal(
			"starpu_task_declare_deps: task %s is submitted already; declare its dependencies before",
			orr_task_name(task));
	if (t->state == ORR_TASK_DONE)
		renew(t);
	for (i = 0; i < n; i++) {
		struct orr_task *dep;

		if (!deps[i] || deps[i] == task)
			orr_fatal("task %s cannot depend on %s", orr_task_name(task),
				  deps[i] ? "itself" : "a NULL task");
		dep = orr_task_private(deps[i]);
		if (__builtin_expect(ORR_ATOMIC_LOAD(&orr_self()->core->graph) != NULL, 0) && !end)
			orr_graph_depend(orr_self(), dep, t);
		if (add_successor(dep, t, end))
			orr_fatal("out of memory while declaring dependencies of task %s",
				  orr_task_name(task));
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

void starpu_task_declare_deps(struct starpu_task *task, unsigned ndeps, ...)
{
	va_list ap;
	unsigned i;

	va_start(ap, ndeps);
	for (i = 0; i < ndeps; i++) {
		struct starpu_task *dep = va_arg(ap, struct starpu_task *);

		declare(task, 1, &dep, 0);
	}
	va_end(ap);
}

void starpu_task_declare_end_deps(struct starpu_task *task, unsigned ndeps, ...)
{
	va_list ap;
	unsigned i;

	va_start(ap, ndeps);
	for (i = 0; i < ndeps; i++) {
		struct starpu_task *dep = va_arg(ap, struct starpu_task *);

		declare(task, 1, &dep, 1);
	}
	va_end(ap);
}

void starpu_task_end_dep_add(struct starpu_task *task, int nb_deps)
{
	ORR_ATOMIC_ADD(&orr_task_private(task)->nend_deps, nb_deps);
}

void starpu_task_end_dep_release(struct starpu_task *task)
{
	end_dep_release(orr_task_of(task));
}

int starpu_task_get_task_succs(struct starpu_task *task, unsigned ndeps,
			       struct starpu_task *task_array[])
{
	struct orr_task *t = orr_task_private(task);
	unsigned i, n;

	orr_lock(&t->lock);
	n = t->succ.n;
	for (i = 0; i < n && i < ndeps; i++)
		task_array[i] = orr_task_array_get(&t->succ, i)->pub;
	orr_unlock(&t->lock);
	return (int) n;
}
