/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Choosing the policy, and the functions that policies of programs use.
 *
 * Invariant: the table of policies is constant; policies of the program stand beside it. */
#include "sched/sched.h"
#include "sched/modular.h"
#include "base/log.h"
#include "base/notice.h"
#include "base/spelling.h"
#include "core/worker/core.h"
#include "core/ctx/policy.h"
#include "core/ctx/sched_ctx_life.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"

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
#define X(ID, ...) &orr_modular_##ID.policy,
	ORR_MODULAR_LIST(X)
#undef X
		NULL,
};

static struct starpu_sched_policy *sched_named(const char *name)
{
	for (unsigned i = 0; orr_sched_policies[i]; i++)
		if (!strcmp(orr_sched_policies[i]->policy_name, name))
			return orr_sched_policies[i];
	return NULL;
}

static void list_policies(FILE *f)
{
	for (unsigned i = 0; orr_sched_policies[i]; i++)
		fprintf(f, "  %-31s %s\n", orr_sched_policies[i]->policy_name,
			orr_sched_policies[i]->policy_description);
}

/* Says which policy may have been meant, and where all stand. */
static void refuse_name(const char *name)
{
	struct orr_spelling near = { .limit = 1 + (unsigned) strlen(name) / 4, .room = 1 };

	for (unsigned i = 0; orr_sched_policies[i]; i++) {
		const char *other = orr_sched_policies[i]->policy_name;

		orr_spelling_offer(&near, other, orr_spelling_distance(name, other));
	}
	orr_error(
		"there is no scheduling policy \"%s\"; %s%s%s`starpu_sched_display' and STARPU_SCHED=help list them",
		name, near.n ? "is " : "", near.n ? near.best[0].name : "",
		near.n ? " meant? " : "");
}

/* A shared object of the program's provides starpu_get_sched_lib_policy(name), or all its policies
 * as an array. It stays loaded. */
static struct starpu_sched_policy *load_policy(struct orr_process *proc, const char *lib,
					       const char *name)
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

static struct starpu_sched_policy *sched_find(struct orr_process *proc, const char *name)
{
	if (!*name) /* the default */
		name = proc->cfg->sched && *proc->cfg->sched ? proc->cfg->sched
							     : orr_sched_policies[0]->policy_name;
	struct starpu_sched_policy *policy = sched_named(name);

	if (!policy && proc->cfg->sched_lib)
		policy = load_policy(proc, proc->cfg->sched_lib, name);
	if (!policy)
		refuse_name(name);
	return policy;
}

static int sched_is_ours(const struct starpu_sched_policy *policy)
{
	return policy->policy_name && sched_named(policy->policy_name) == policy;
}

const struct orr_policies orr_sched_table = {
	.find = sched_find,
	.is_ours = sched_is_ours,
	.together = &orr_sched_together,
};

int orr_sched_init(struct orr_process *proc)
{
	const char *name = proc->cfg->sched;
	struct starpu_sched_policy *policy = NULL;
	int ret;

	if ((!name || proc->conf->precedence_over_environment_variables) &&
	    proc->conf->sched_policy_name)
		name = proc->conf->sched_policy_name;
	if (proc->conf->sched_policy &&
	    (!proc->cfg->sched || proc->conf->precedence_over_environment_variables)) {
		policy = proc->conf->sched_policy;
	} else if (!name) {
		policy = orr_sched_policies[0];
	} else {
		if (!strcmp(name, "help")) {
			struct orr_notice n;

			fprintf(orr_notice_open(&n), "scheduling policies (STARPU_SCHED):\n");
			list_policies(n.f);
			orr_notice_write(&n);
			name = "lws";
		}
		policy = sched_find(proc, name);
	}
	ret = policy ? orr_ctx_init(proc, policy) : -EINVAL;
	if (!ret && proc->conf->sched_policy_callback)
		proc->conf->sched_policy_callback(0);
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
	unsigned mask = 0;

	for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++)
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
