/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two halves of a task: creation, fields, destruction.
 *
 * Invariant: the private half belongs to the task from its first use until the task is cleaned or
 * destroyed; a task from starpu_task_create has it beside the public half. */
#include "core/task/task.h"
#include "core/task/task_array.h"
#include "core/task/task_edges.h"
#include "core/task/task_life.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/slab.h"

/* The object that starpu_task_create allocates: both halves side by side. */
struct created {
	struct starpu_task pub;
	struct orr_task prv;
};

static const struct created initial = { .pub = STARPU_TASK_INITIALIZER,
					.prv = { .owner.ndeps = 1, .nend_deps = 1 } };

#if !defined(ORR_DEBUG) && STARPU_NMAXBUFS == 8
/* Many ranks have many tasks (doc/simulating.md). */
_Static_assert(sizeof(struct created) <= 960, "a task has grown");
#endif

size_t orr_task_slab_size(void)
{
	return sizeof(struct created);
}

/* Accesses for which a task has no room come from a slab as well: threads that submit and threads
 * that execute would wait for each other in malloc(), and half a microsecond of a task with seven
 * data was that. Only what no codelet can have without lists of its own is malloc's. */
#define MOST_IN_SLAB STARPU_NMAXBUFS

size_t orr_task_access_slab_size(void)
{
	return MOST_IN_SLAB * sizeof(struct orr_access);
}

struct orr_access *orr_task_alloc_accesses(struct orr_process *proc, unsigned n)
{
	orr_assert(n > ORR_TASK_INLINE);
	return n <= MOST_IN_SLAB ? orr_slab_alloc(&proc->core->access_slab)
				 : malloc(n * sizeof(struct orr_access));
}

void orr_task_free_accesses(struct orr_task *t)
{
	struct orr_access *access = t->owner.access;

	if (!access || access == t->inl_access)
		return;
	orr_assert(t->owner.naccess > ORR_TASK_INLINE);
	if (t->owner.naccess <= MOST_IN_SLAB)
		orr_slab_free(&orr_self()->core->access_slab, access);
	else
		free(access);
	t->owner.access = NULL;
}

/* A size that the compiler does not know: of the known ones here it makes string instructions,
 * which take longer than the C library's functions. */
static inline size_t opaque_size(size_t n)
{
	__asm__("" : "+r"(n));
	return n;
}

/* The values of the template that are not 0: zeros and these take half of the instructions of a
 * copy. */
static inline void begin_public(struct starpu_task *pub)
{
	pub->sequential_consistency = initial.pub.sequential_consistency;
	pub->detach = initial.pub.detach;
	pub->workerid = initial.pub.workerid;
	pub->where = initial.pub.where;
	pub->sched_ctx = initial.pub.sched_ctx;
	pub->magic = initial.pub.magic;
	pub->predicted = initial.pub.predicted;
	pub->predicted_transfer = initial.pub.predicted_transfer;
	pub->predicted_start = initial.pub.predicted_start;
}

/* The rest of a private half whose first part is a copy of the template. */
static inline void begin_private(struct orr_task *t, struct starpu_task *pub)
{
	ORR_ATOMIC_STORE(&t->state, ORR_TASK_NEW);
	ORR_ATOMIC_STORE_RELAXED(&t->ctx, 0);
	orr_lock_init(&t->lock, ORR_RANK_TASK);
	t->pub = pub;
}

static void init_private(struct orr_task *t, struct starpu_task *pub)
{
	memcpy(t, &initial.prv, opaque_size(offsetof(struct orr_task, state)));
	begin_private(t, pub);
	if (pub->starpu_private != t) /* others may read it while a task begins anew */
		pub->starpu_private = t;
}

void starpu_task_init(struct starpu_task *task)
{
	*task = initial.pub;
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
	orr_assertf(ORR_ATOMIC_LOAD_RELAXED(&c->prv.state) == ORR_TASK_NEW && !c->prv.pub,
		    "a new task lies where another one lives");
	memset(c, 0, opaque_size(offsetof(struct created, prv.state)));
	begin_public(&c->pub);
	c->prv.owner.ndeps = initial.prv.owner.ndeps;
	c->prv.nend_deps = initial.prv.nend_deps;
	orr_assert(!memcmp(c, &initial, offsetof(struct created, prv.state)));
	begin_private(&c->prv, &c->pub);
	c->pub.starpu_private = &c->prv;
	c->pub.destroy = 1;
	c->prv.embedded = 1;
	return &c->pub;
}

struct orr_task *orr_task_make_private(struct starpu_task *task)
{
	struct created *c = orr_slab_alloc(&orr_self()->core->task_slab);

	if (!c)
		return NULL;
	orr_assertf(ORR_ATOMIC_LOAD_RELAXED(&c->prv.state) == ORR_TASK_NEW && !c->prv.pub,
		    "a new task lies where another one lives");
	init_private(&c->prv, task);
	return &c->prv;
}

struct starpu_profiling_task_info *orr_task_alloc_info(struct orr_process *proc, struct orr_task *t)
{
	struct starpu_profiling_task_info *info;

	orr_assert(!t->slab_info);
	if (!t->embedded) /* the program's, which may keep the record longer than the runtime is up
			   */
		return calloc(1, sizeof(*info));
	info = orr_slab_alloc(&proc->core->info_slab);
	if (info) {
		memset(info, 0, sizeof(*info));
		t->slab_info = 1;
	}
	return info;
}

static void free_info(struct starpu_task *task)
{
	struct orr_task *t = task->starpu_private;

	if (t && t->slab_info) {
		orr_slab_free(&orr_self()->core->info_slab, task->profiling_info);
		t->slab_info = 0;
	} else {
		free(task->profiling_info);
	}
	task->profiling_info = NULL;
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
	free_info(task);
	task->dyn_handles = NULL;
	task->dyn_modes = NULL;
	task->dyn_interfaces = NULL;
	task->handles_sequential_consistency = NULL;
}

static inline void free_private(struct orr_task *t)
{
	struct starpu_task *pub = t->pub;

	orr_task_may_be_freed(t);
	orr_assertf(!t->tag_next && !t->parallel, "task %s is freed and %s has it",
		    orr_task_name(pub), t->parallel ? "a combined worker" : "its tag");
	orr_assertf(!t->owner.parked && !ORR_ATOMIC_LOAD(&t->owner.nprefetch),
		    "task %s is freed and its data know it", orr_task_name(pub));
	if (t->bundled)
		starpu_task_bundle_remove(pub->bundle, pub);
	orr_task_free_accesses(t);
	orr_task_array_free(&t->succ);
	orr_task_array_free(&t->end_succ);
	if (__builtin_expect(t->edges != NULL, 0))
		orr_task_edges_forget(t);
	pub->starpu_private = NULL;
	ORR_ATOMIC_STORE_RELAXED(&t->state, ORR_TASK_NEW);
	ORR_ATOMIC_STORE_RELAXED(&t->renewed, 0);
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

void orr_task_destroy(struct orr_task *t)
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
		orr_task_destroy(t);
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

	orr_task_give_number(orr_self(), t);
	return (unsigned long) t->job_id;
}

char *starpu_task_status_get_as_string(enum starpu_task_status status)
{
	switch (status) {
	case STARPU_TASK_INIT: return (char *) "init";
	case STARPU_TASK_BLOCKED: return (char *) "blocked";
	case STARPU_TASK_READY: return (char *) "ready";
	case STARPU_TASK_RUNNING: return (char *) "running";
	case STARPU_TASK_FINISHED: return (char *) "finished";
	}
	return (char *) "unknown";
}

void orr_task_renew(struct orr_task *t)
{
	int embedded = t->embedded, forced = t->forced_impl, nimpl = t->nimpl, bundled = t->bundled,
	    slab_info = t->slab_info;
	struct orr_edges *edges = t->edges;
	const struct orr_owner_ops *ops = t->owner.ops;

	orr_task_may_go(t, ORR_TASK_NEW);
	orr_assertf(!t->succ.n && !t->end_succ.n,
		    "task %s begins anew before others have learnt of its end",
		    orr_task_name(t->pub));
	orr_assert(!t->parallel && !t->tag_missing && !t->team);
	orr_task_free_accesses(t);
	orr_task_array_free(&t->succ);
	orr_task_array_free(&t->end_succ);
	ORR_ATOMIC_STORE_RELAXED(&t->renewed, 1); /* whoever sees NEW sees this */
	init_private(t, t->pub);
	t->embedded = embedded & 1;
	t->forced_impl = (uint8_t) forced;
	t->nimpl = (uint8_t) nimpl;
	t->bundled = bundled & 1;
	t->slab_info = slab_info & 1;
	t->edges = edges;
	t->owner.ops = ops; /* whoever it awaits may end from here on */
	if (edges) {
		orr_task_give_number(orr_self(), t); /* events may name it from here on */
		orr_task_edges_begin(t);
	}
}
