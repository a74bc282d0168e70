/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Choosing the policy, and the functions that policies of programs use.
 *
 * Invariant: the policy of a context does not change between orr_sched_start and orr_sched_stop. */
#include "sched/sched.h"
#include "base/assert.h"
#include "core/parallel.h"
#include "data/handle.h"
#include "base/log.h"
#include "core/core.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct starpu_sched_policy *orr_sched_policies[] = {
	&orr_sched_lws,
	&orr_sched_ws,
	&orr_sched_eager,
	&orr_sched_peager,
	&orr_sched_prio,
	&orr_sched_random,
	&orr_sched_dm,
	&orr_sched_dmda,
	&orr_sched_dmdap,
	&orr_sched_dmdar,
	&orr_sched_dmdas,
	&orr_sched_dmdasd,
	&orr_sched_heft,
	&orr_sched_pheft,
	&orr_sched_heteroprio,
	&orr_sched_graph_test,
	NULL,
};

static struct starpu_sched_policy *find(const char *name)
{
	unsigned i;

	for (i = 0; orr_sched_policies[i]; i++)
		if (!strcmp(orr_sched_policies[i]->policy_name, name))
			return orr_sched_policies[i];
	return NULL;
}

static void list(FILE *f)
{
	unsigned i;

	for (i = 0; orr_sched_policies[i]; i++)
		fprintf(f, "  %-10s %s\n", orr_sched_policies[i]->policy_name,
			orr_sched_policies[i]->policy_description);
}

/* A shared object of the program's provides starpu_get_sched_lib_policy(name), or all its policies
 * as an array. It stays loaded. */
static struct starpu_sched_policy *load(struct orr_process *proc, const char *lib, const char *name)
{
	struct starpu_sched_policy *(*get)(const char *), **(*all)(void), **p, *policy = NULL;
	const char *why = NULL;
	void *dl = orr_sys_library_open(proc, lib, &why);

	if (!dl) {
		orr_error("STARPU_SCHED_LIB: %s", why);
		return NULL;
	}
	get = (struct starpu_sched_policy * (*) (const char *) )
		dlsym(dl, "starpu_get_sched_lib_policy");
	all = (struct starpu_sched_policy * *(*) (void) )
		dlsym(dl, "starpu_get_sched_lib_policies");
	if (get)
		policy = get(name);
	for (p = all ? all() : NULL; p && *p && !policy; p++)
		if ((*p)->policy_name && !strcmp((*p)->policy_name, name))
			policy = *p;
	if (!get && !all)
		orr_error(
			"STARPU_SCHED_LIB: %s defines neither starpu_get_sched_lib_policy nor starpu_get_sched_lib_policies",
			lib);
	else if (!policy)
		orr_error("STARPU_SCHED_LIB: %s has no policy \"%s\"", lib, name);
	return policy;
}

struct starpu_sched_policy *orr_sched_find(struct orr_process *proc, const char *name)
{
	struct starpu_sched_policy *policy = find(name);

	if (!policy && proc->cfg.sched_lib)
		policy = load(proc, proc->cfg.sched_lib, name);
	if (!policy) {
		orr_error("there is no scheduling policy \"%s\"; set STARPU_SCHED to one of:",
			  name);
		list(stderr);
	}
	return policy;
}

/* Does a policy of ours keep ready tasks back until it is told to schedule? */
static int holds(const struct orr_ctx *ctx)
{
	return ctx->policy_wakes && ctx->policy->do_schedule != NULL;
}

int orr_sched_start(struct orr_process *proc, struct orr_ctx *ctx,
		    struct starpu_sched_policy *policy)
{
	struct orr_thread *self = orr_thread_self();
	unsigned saved = self->ctx;

	orr_assertf(!ctx->live && !ctx->policy, "context %u has a policy already", ctx->id);
	if (!policy->push_task || !policy->pop_task) {
		orr_error("scheduling policy %s lacks push_task or pop_task",
			  policy->policy_name ? policy->policy_name : "of the program");
		return -EINVAL;
	}
	ctx->policy = policy;
	ctx->policy_wakes = policy->policy_name && find(policy->policy_name) == policy;
	if (!ctx->fixed_min)
		ctx->min_prio = proc->cfg.has_min_prio ? proc->cfg.min_prio : 0;
	if (!ctx->fixed_max)
		ctx->max_prio = proc->cfg.has_max_prio ? proc->cfg.max_prio : 0;
	ctx->fixed_min |= proc->cfg.has_min_prio;
	ctx->fixed_max |= proc->cfg.has_max_prio;
	/* What it says about priorities is about this context. */
	self->ctx = ctx->id + 1;
	if (policy->init_sched)
		policy->init_sched(ctx->id);
	self->ctx = saved;
	if (holds(ctx))
		ORR_ATOMIC_ADD(&proc->nholding, 1);
	ORR_ATOMIC_STORE(&ctx->live, 1);
	return 0;
}

void orr_sched_stop(struct orr_ctx *ctx)
{
	ORR_ATOMIC_STORE(&ctx->live, 0);
	orr_assertf(!ORR_ATOMIC_LOAD(&ctx->npushing), "a policy ends while threads are inside it");
	if (ctx->policy && holds(ctx))
		ORR_ATOMIC_ADD(&orr_self()->nholding, (unsigned) -1);
	if (ctx->policy && ctx->policy->deinit_sched)
		ctx->policy->deinit_sched(ctx->id);
	ctx->policy = NULL;
}

int orr_sched_init(struct orr_process *proc)
{
	const char *name = proc->cfg.sched;
	struct starpu_sched_policy *policy = NULL;
	int ret;

	if ((!name || proc->conf.precedence_over_environment_variables) &&
	    proc->conf.sched_policy_name)
		name = proc->conf.sched_policy_name;
	if (proc->conf.sched_policy &&
	    (!proc->cfg.sched || proc->conf.precedence_over_environment_variables)) {
		policy = proc->conf.sched_policy;
	} else if (!name) {
		policy = orr_sched_policies[0];
	} else {
		if (!strcmp(name, "help")) {
			fprintf(stderr, "scheduling policies (STARPU_SCHED):\n");
			list(stderr);
			name = "lws";
		}
		policy = orr_sched_find(proc, name);
	}
	ret = policy ? orr_ctx_init(proc, policy) : -EINVAL;
	if (!ret && proc->conf.sched_policy_callback)
		proc->conf.sched_policy_callback(0);
	return ret;
}

void orr_sched_exit(struct orr_process *proc)
{
	orr_ctx_exit(proc);
	starpu_bound_stop();
}

struct starpu_sched_policy **starpu_sched_get_predefined_policies(void)
{
	return orr_sched_policies;
}
struct starpu_sched_policy *starpu_sched_get_sched_policy(void)
{
	return orr_self()->core->ctx0.policy;
}

/* ---- who can execute what ---- */

int starpu_worker_can_execute_task(unsigned workerid, struct starpu_task *task, unsigned nimpl)
{
	return orr_task_can_run(&orr_self()->core->workers[workerid], task, nimpl);
}

int starpu_worker_can_execute_task_impl(unsigned workerid, struct starpu_task *task,
					unsigned *impl_mask)
{
	unsigned i, mask = 0;

	for (i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
		if (orr_task_can_run(&orr_self()->core->workers[workerid], task, i))
			mask |= 1U << i;
	if (impl_mask)
		*impl_mask = mask;
	return mask != 0;
}

int starpu_worker_can_execute_task_first_impl(unsigned workerid, struct starpu_task *task,
					      unsigned *nimpl)
{
	int impl = orr_task_first_impl(&orr_self()->core->workers[workerid], task);

	if (impl < 0)
		return 0;
	if (nimpl)
		*nimpl = (unsigned) impl;
	return 1;
}

/* ---- queueing and waking, for policies of programs ---- */

int starpu_push_local_task(int workerid, struct starpu_task *task, int back)
{
	struct orr_process *proc = orr_self();
	struct orr_worker *w = &proc->core->workers[workerid];
	struct orr_combined *c = orr_combined_get(proc, (unsigned) workerid);

	if (c) {
		orr_parallel_launch(proc, orr_task_of(task), c);
		return 0;
	}
	orr_lock(&w->local_lock);
	if (back)
		starpu_task_list_push_back(&w->local, task);
	else
		starpu_task_list_push_front(&w->local, task);
	ORR_ATOMIC_STORE(&w->nlocal, w->nlocal + 1);
	orr_unlock(&w->local_lock);
	orr_wake_worker(w);
	return 0;
}

/* The task may be executing, or gone, by now: it is not looked at. */
int starpu_push_task_end(struct starpu_task *task)
{
	(void) task;
	return 0;
}

static int wake(int workerid)
{
	orr_wake_worker(&orr_self()->core->workers[workerid]);
	return 1;
}

int starpu_wake_worker_locked(int workerid)
{
	return wake(workerid);
}
int starpu_wake_worker_no_relax(int workerid)
{
	return wake(workerid);
}
int starpu_wake_worker_relax_light(int workerid)
{
	return wake(workerid);
}

/* A worker needs no lock to be looked at: its state is its group's. These keep the pairing that
 * programs write; what they protect is the policy's own data about that worker. */
void starpu_worker_lock(int workerid)
{
	starpu_pthread_mutex_lock(&orr_self()->core->workers[workerid].policy_mutex);
}
int starpu_worker_trylock(int workerid)
{
	return starpu_pthread_mutex_trylock(&orr_self()->core->workers[workerid].policy_mutex);
}
void starpu_worker_unlock(int workerid)
{
	starpu_pthread_mutex_unlock(&orr_self()->core->workers[workerid].policy_mutex);
}
void starpu_worker_lock_self(void)
{
	starpu_worker_lock((int) orr_thread_self()->worker->id);
}
void starpu_worker_unlock_self(void)
{
	starpu_worker_unlock((int) orr_thread_self()->worker->id);
}

void starpu_worker_get_sched_condition(int workerid, starpu_pthread_mutex_t **sched_mutex,
				       starpu_pthread_cond_t **sched_cond)
{
	*sched_mutex = &orr_self()->core->workers[workerid].policy_mutex;
	*sched_cond = &orr_self()->core->workers[workerid].policy_cond;
}

void starpu_wake_all_blocked_workers(void)
{
	orr_wake_all(orr_self());
}

/* Contexts of any state, as long as their policy is there: what was submitted before the program
 * said that it submits no more waits too. */
void orr_sched_give_out(struct orr_process *proc, int ours_only)
{
	unsigned i;

	for (i = 0; i < STARPU_NMAX_SCHED_CTXS; i++) {
		struct orr_ctx *ctx = proc->core->ctx[i];

		if (!ctx)
			continue;
		/* Whoever deletes the context says so first and looks at npushing afterwards. */
		ORR_ATOMIC_ADD(&ctx->npushing, 1);
		if (ORR_ATOMIC_LOAD(&ctx->live) && ctx->policy->do_schedule &&
		    (ctx->policy_wakes || !ours_only))
			ctx->policy->do_schedule(i);
		ORR_ATOMIC_ADD(&ctx->npushing, -1);
	}
}

void starpu_do_schedule(void)
{
	orr_sched_give_out(orr_self(), 0);
}

void starpu_worker_relax_on(void) {}
void starpu_worker_relax_off(void) {}
int starpu_worker_get_relax_state(void)
{
	return 1;
}
int starpu_get_prefetch_flag(void)
{
	return orr_self()->cfg.prefetch;
}
