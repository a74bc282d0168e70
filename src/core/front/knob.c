/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of performance knobs (see knob.h).
 *
 * Invariant: a knob has no state of its own; it reads and writes the setting that the runtime looks
 * at. */
#include "core/front/knob.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/named_table.h"
#include "core/worker/core.h"
#include "core/ctx/sched_ctx.h"
#include "core/worker/wake.h"
#include "base/config.h"

/* The worker or context that a knob belongs to; both NULL for those of the process. */
struct target {
	struct orr_process *proc;
	struct orr_worker *worker;
	struct orr_ctx *ctx;
};

/* ---- what the knobs do ---- */

static int get_calibrate(const struct target *t)
{
	return t->proc->cfg->calibrate;
}

static int set_calibrate(const struct target *t, int value)
{
	if (value && orr_sys_is_simulated()) {
		orr_error("a simulation measures no kernels: calibrate in a real run");
		return -EINVAL;
	}
	if (value)
		t->proc->perf_timing = 1;
	orr_config_own(t->proc)->calibrate = value;
	return 0;
}

static int get_prefetch(const struct target *t)
{
	return t->proc->cfg->prefetch;
}

static int set_prefetch(const struct target *t, int value)
{
	orr_config_own(t->proc)->prefetch = value;
	return 0;
}

static int get_profiling(const struct target *t)
{
	(void) t;
	return starpu_profiling_status_get();
}

static int set_profiling(const struct target *t, int value)
{
	(void) t;
	starpu_profiling_status_set(value);
	return 0;
}

static int get_codelet_stats(const struct target *t)
{
	return t->proc->cfg->codelet_profiling;
}

static int set_codelet_stats(const struct target *t, int value)
{
	orr_config_own(t->proc)->codelet_profiling = value;
	return 0;
}

static int get_max_submitted(const struct target *t)
{
	long n = ORR_ATOMIC_LOAD(&t->proc->cfg->max_submitted);

	return n > INT_MAX ? INT_MAX : (int) n;
}

static int set_max_submitted(const struct target *t, int value)
{
	(void) t;
	starpu_set_limit_max_submitted_tasks(value);
	return 0;
}

static int get_min_submitted(const struct target *t)
{
	long n = ORR_ATOMIC_LOAD(&t->proc->cfg->min_submitted);

	return n > INT_MAX ? INT_MAX : (int) n;
}

static int set_min_submitted(const struct target *t, int value)
{
	(void) t;
	starpu_set_limit_min_submitted_tasks(value);
	return 0;
}

static int get_catch(const struct target *t)
{
	return ORR_ATOMIC_LOAD(&t->proc->catches);
}

static int set_catch(const struct target *t, int value)
{
	orr_sys_catch_signals(t->proc, value);
	return 0;
}

static int get_unit(const struct target *t)
{
	return t->worker->bindid;
}

static int set_unit(const struct target *t, int value)
{
	if (value == t->worker->bindid)
		return 0;
	orr_error("%s is bound to unit %d and stays there: choose with STARPU_WORKERS_CPUID",
		  t->worker->name, t->worker->bindid);
	return -EINVAL;
}

static int get_enabled(const struct target *t)
{
	return !ORR_ATOMIC_LOAD(&t->worker->disabled);
}

static int set_enabled(const struct target *t, int value)
{
	ORR_ATOMIC_STORE(&t->worker->disabled, (uint8_t) !value);
	/* Others may take what it was woken for. */
	orr_wake_all(t->proc);
	return 0;
}

void orr_knob_enable_all(struct orr_process *proc)
{
	int off = 0;

	for (unsigned i = 0; i < proc->core->nworkers; i++) {
		off |= ORR_ATOMIC_LOAD(&proc->core->workers[i].disabled);
		ORR_ATOMIC_STORE(&proc->core->workers[i].disabled, 0);
	}
	if (off)
		orr_wake_all(proc);
}

static int get_max_cap(const struct target *t)
{
	return ORR_ATOMIC_LOAD(&t->ctx->cap_max);
}

static int get_min_cap(const struct target *t)
{
	return ORR_ATOMIC_LOAD(&t->ctx->cap_min);
}

static int set_cap(const struct target *t, int *cap, int value)
{
	ORR_ATOMIC_STORE(cap, value);
	ORR_ATOMIC_STORE(&t->proc->core->prio_caps, 1);
	return 0;
}

static int set_max_cap(const struct target *t, int value)
{
	return set_cap(t, &t->ctx->cap_max, value);
}

static int set_min_cap(const struct target *t, int value)
{
	return set_cap(t, &t->ctx->cap_min, value);
}

/* ---- the table ---- */

/* clang-format off */
#define KNOB(NAME, HELP) { NAME, HELP, starpu_perf_knob_type_int32 }
/* clang-format on */

static const struct knob {
	struct orr_named_row named; /* first */
	int min, max;               /* values that are allowed */
	int (*get)(const struct target *t);
	int (*set)(const struct target *t, int value);
} global[] = {
	{ KNOB("starpu.global.g_calibrate_knob",
	       "1: measure kernels for performance models, 2: forget earlier measurements first"),
	  0, 2,
	  get_calibrate, set_calibrate },
	{ KNOB("starpu.global.g_prefetch_knob",
	       "1: bring data as soon as a task has its worker"),
	  0, 1,
	  get_prefetch, set_prefetch },
	{ KNOB("starpu.global.g_profiling_knob",
	       "1: profile tasks and workers"),
	  0, 1,
	  get_profiling, set_profiling },
	{ KNOB("starpu.global.g_codelet_profiling_knob",
	       "1: count tasks by codelet and worker"),
	  0, 1,
	  get_codelet_stats, set_codelet_stats },
	{ KNOB("starpu.global.g_enable_catch_signal_knob",
	       "1: name kernels that crash"),
	  0, 1,
	  get_catch, set_catch },
	{ KNOB("starpu.global.g_max_submitted_tasks_knob",
	       "submission waits while more tasks than that are submitted; 0 or -1: no limit"),
	  -1, INT_MAX,
	  get_max_submitted, set_max_submitted },
	{ KNOB("starpu.global.g_min_submitted_tasks_knob",
	       "submission goes on at this number"),
	  -1, INT_MAX,
	  get_min_submitted, set_min_submitted },
}, worker[] = {
	{ KNOB("starpu.worker.w_bind_to_pu_knob",
	       "the unit that the worker is bound to, -1: none; it cannot be changed"),
	  -1, INT_MAX,
	  get_unit, set_unit },
	{ KNOB("starpu.worker.w_enable_worker_knob",
	       "0: the worker begins no further task; those that only it may execute wait"),
	  0, 1,
	  get_enabled, set_enabled },
}, scheduler[] = {
	{ KNOB("starpu.task.s_max_priority_cap_knob",
	       "tasks with larger priorities get this one when they become ready"),
	  INT_MIN, INT_MAX,
	  get_max_cap, set_max_cap },
	{ KNOB("starpu.task.s_min_priority_cap_knob",
	       "tasks with smaller priorities get this one when they become ready"),
	  INT_MIN, INT_MAX,
	  get_min_cap, set_min_cap },
};

static const struct orr_named_table tables[] = {
	ORR_NAMED_TABLE(starpu_perf_knob_scope_global, "global", global),
	ORR_NAMED_TABLE(starpu_perf_knob_scope_per_worker, "per_worker", worker),
	ORR_NAMED_TABLE(starpu_perf_knob_scope_per_scheduler, "per_scheduler", scheduler),
};

static const struct orr_named_tables knobs = { tables, ORR_NAMED_COUNT(tables) };

/* ---- names and numbers ---- */

int starpu_perf_knob_scope_name_to_id(const char *name)
{
	return orr_named_scope_id(&knobs, name, starpu_perf_knob_scope_undefined);
}

const char *starpu_perf_knob_scope_id_to_name(enum starpu_perf_knob_scope scope)
{
	return orr_named_scope_name(&knobs, (int) scope);
}

int starpu_perf_knob_type_name_to_id(const char *name)
{
	return orr_named_type_id(name);
}

const char *starpu_perf_knob_type_id_to_name(enum starpu_perf_knob_type type)
{
	return orr_named_type_name((int) type);
}

int starpu_perf_knob_nb(enum starpu_perf_knob_scope scope)
{
	return orr_named_count(&knobs, (int) scope);
}

int starpu_perf_knob_nth_to_id(enum starpu_perf_knob_scope scope, int nth)
{
	return orr_named_nth(&knobs, (int) scope, nth);
}

int starpu_perf_knob_name_to_id(enum starpu_perf_knob_scope scope, const char *name)
{
	return orr_named_id(&knobs, (int) scope, name);
}

const char *starpu_perf_knob_id_to_name(int id)
{
	const struct orr_named_row *r = orr_named_row(&knobs, id);

	return r ? r->name : NULL;
}

int starpu_perf_knob_get_type_id(int id)
{
	const struct orr_named_row *r = orr_named_row(&knobs, id);

	return r ? r->type : (int) starpu_perf_knob_type_undefined;
}

const char *starpu_perf_knob_get_help_string(int id)
{
	const struct orr_named_row *r = orr_named_row(&knobs, id);

	return r ? r->help : NULL;
}

void starpu_perf_knob_list_avail(enum starpu_perf_knob_scope scope)
{
	orr_named_list(&knobs, (int) scope);
}

void starpu_perf_knob_list_all_avail(void)
{
	orr_named_list_all(&knobs);
}

/* ---- reading and setting ---- */

/* The knob of that number, scope and type; NULL after a message. */
static const struct knob *find(int id, enum starpu_perf_knob_scope scope,
			       enum starpu_perf_knob_type type)
{
	const struct knob *r = (const struct knob *) orr_named_row(&knobs, id);

	if (!r || orr_named_scope_of(id) != (int) scope) {
		orr_error("%d is no performance knob of scope %s: ask starpu_perf_knob_name_to_id",
			  id, starpu_perf_knob_scope_id_to_name(scope));
		return NULL;
	}
	if (type != starpu_perf_knob_type_int32) {
		orr_error("performance knob %s is of type int32, not %s", r->named.name,
			  orr_named_type_name((int) type));
		return NULL;
	}
	return r;
}

/* 0, or -EINVAL after a message. */
static int find_worker(struct target *t, unsigned workerid)
{
	if (workerid < t->proc->core->nworkers) {
		t->worker = &t->proc->core->workers[workerid];
		return 0;
	}
	orr_error("performance knob of worker %u: there are %u workers", workerid,
		  t->proc->core->nworkers);
	return -EINVAL;
}

static int has_policy(const struct orr_ctx *ctx, const char *policy)
{
	return ctx && ctx->policy && policy && ctx->policy->policy_name &&
	       !strcmp(ctx->policy->policy_name, policy);
}

static int get_value(const struct knob *r, const struct target *t)
{
	return r ? r->get(t) : 0;
}

static void set_value(const struct knob *r, const struct target *t, double value)
{
	if (!r)
		return;
	if (value < r->min || value > r->max) {
		orr_error("performance knob %s: %g is not between %d and %d", r->named.name, value,
			  r->min, r->max);
		return;
	}
	r->set(t, (int) value);
}

/* The process while its runtime is up; 0 after a message. */
static int begin(struct target *t)
{
	*t = (struct target){ .proc = orr_self() };
	if (ORR_ATOMIC_LOAD(&t->proc->state) == ORR_PROCESS_UP)
		return 1;
	orr_error("performance knobs are read and set between starpu_init and starpu_shutdown");
	return 0;
}

static int get_global(int id, enum starpu_perf_knob_type type)
{
	struct target t;

	return begin(&t) ? get_value(find(id, starpu_perf_knob_scope_global, type), &t) : 0;
}

static void set_global(int id, enum starpu_perf_knob_type type, double value)
{
	struct target t;

	if (begin(&t))
		set_value(find(id, starpu_perf_knob_scope_global, type), &t, value);
}

static int get_worker(int id, enum starpu_perf_knob_type type, unsigned workerid)
{
	struct target t;

	if (!begin(&t) || find_worker(&t, workerid))
		return 0;
	return get_value(find(id, starpu_perf_knob_scope_per_worker, type), &t);
}

static void set_worker(int id, enum starpu_perf_knob_type type, unsigned workerid, double value)
{
	struct target t;

	if (begin(&t) && !find_worker(&t, workerid))
		set_value(find(id, starpu_perf_knob_scope_per_worker, type), &t, value);
}

/* Calls set for each context with that policy, or returns the value of the first. */
static int each_scheduler(int id, enum starpu_perf_knob_type type, const char *policy,
			  const double *value)
{
	struct target t;
	const struct knob *r = begin(&t) ? find(id, starpu_perf_knob_scope_per_scheduler, type)
					 : NULL;
	int found = 0;

	for (unsigned i = 0; r && i < STARPU_NMAX_SCHED_CTXS; i++) {
		t.ctx = t.proc->core->ctx[i];
		if (!has_policy(t.ctx, policy))
			continue;
		if (!value)
			return get_value(r, &t);
		set_value(r, &t, *value);
		found = 1;
	}
	if (r && !found)
		orr_error("performance knob %s: no scheduling context has the policy %s",
			  r->named.name, policy ? policy : "NULL");
	return 0;
}

static int get_scheduler(int id, enum starpu_perf_knob_type type, const char *policy)
{
	return each_scheduler(id, type, policy, NULL);
}

static void set_scheduler(int id, enum starpu_perf_knob_type type, const char *policy, double value)
{
	each_scheduler(id, type, policy, &value);
}

#define ACCESSORS(NAME, TYPE) \
	TYPE starpu_perf_knob_get_global_##NAME##_value(const int knob_id) \
	{ \
		return (TYPE) get_global(knob_id, starpu_perf_knob_type_##NAME); \
	} \
	void starpu_perf_knob_set_global_##NAME##_value(const int knob_id, TYPE new_value) \
	{ \
		set_global(knob_id, starpu_perf_knob_type_##NAME, (double) new_value); \
	} \
	TYPE starpu_perf_knob_get_per_worker_##NAME##_value(const int knob_id, unsigned workerid) \
	{ \
		return (TYPE) get_worker(knob_id, starpu_perf_knob_type_##NAME, workerid); \
	} \
	void starpu_perf_knob_set_per_worker_##NAME##_value(const int knob_id, unsigned workerid, \
							    TYPE new_value) \
	{ \
		set_worker(knob_id, starpu_perf_knob_type_##NAME, workerid, (double) new_value); \
	} \
	TYPE starpu_perf_knob_get_per_scheduler_##NAME##_value(const int knob_id, \
							       const char *sched_policy_name) \
	{ \
		return (TYPE) get_scheduler(knob_id, starpu_perf_knob_type_##NAME, \
					    sched_policy_name); \
	} \
	void starpu_perf_knob_set_per_scheduler_##NAME##_value( \
		const int knob_id, const char *sched_policy_name, TYPE new_value) \
	{ \
		set_scheduler(knob_id, starpu_perf_knob_type_##NAME, sched_policy_name, \
			      (double) new_value); \
	}

ACCESSORS(int32, int32_t)
ACCESSORS(int64, int64_t)
ACCESSORS(float, float)
ACCESSORS(double, double)
