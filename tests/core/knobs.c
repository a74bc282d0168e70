/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Performance knobs: which there are, and that each does what it says.
 *
 * Invariant: a knob has the value that was set last, and a value that is refused changes nothing.
 */
#include "core_test.h"

#include <limits.h>
#include <string.h>

#define GLOBAL starpu_perf_knob_scope_global
#define WORKER starpu_perf_knob_scope_per_worker
#define SCHEDULER starpu_perf_knob_scope_per_scheduler

static int id(enum starpu_perf_knob_scope scope, const char *name)
{
	int i = starpu_perf_knob_name_to_id(scope, name);

	CHECK(i >= 0, "there is no knob %s", name);
	return i;
}

static void names(void)
{
	static const enum starpu_perf_knob_scope scopes[] = { GLOBAL, WORKER, SCHEDULER };

	for (int k = 0; k < 3; k++) {
		int n = starpu_perf_knob_nb(scopes[k]);
		const char *scope = starpu_perf_knob_scope_id_to_name(scopes[k]);

		CHECK(n > 0);
		CHECK_IS(starpu_perf_knob_scope_name_to_id(scope), scopes[k]);
		for (int i = 0; i < n; i++) {
			int c = starpu_perf_knob_nth_to_id(scopes[k], i);

			CHECK_IS(starpu_perf_knob_name_to_id(scopes[k],
							     starpu_perf_knob_id_to_name(c)),
				 c);
			CHECK_IS(starpu_perf_knob_get_type_id(c), starpu_perf_knob_type_int32);
			CHECK(starpu_perf_knob_get_help_string(c) != NULL);
		}
		CHECK_IS(starpu_perf_knob_nth_to_id(scopes[k], n), -1);
	}
	CHECK_IS(starpu_perf_knob_type_name_to_id("int32"), starpu_perf_knob_type_int32);
	CHECK(!strcmp(starpu_perf_knob_type_id_to_name(starpu_perf_knob_type_float), "float"));
	CHECK(!starpu_perf_knob_id_to_name(3));
	starpu_perf_knob_list_all_avail();
}

static void global(void)
{
	int prefetch = id(GLOBAL, "starpu.global.g_prefetch_knob"),
	    profiling = id(GLOBAL, "starpu.global.g_profiling_knob"),
	    max = id(GLOBAL, "starpu.global.g_max_submitted_tasks_knob");

	int crashes = id(GLOBAL, "starpu.global.g_enable_catch_signal_knob");
	CHECK_IS(starpu_perf_knob_get_global_int32_value(crashes), 1);
	starpu_perf_knob_set_global_int32_value(crashes, 0);
	CHECK_IS(starpu_perf_knob_get_global_int32_value(crashes), 0);
	starpu_perf_knob_set_global_int32_value(crashes, 1);
	CHECK_IS(starpu_perf_knob_get_global_int32_value(crashes), 1);
	CHECK_IS(starpu_perf_knob_get_global_int32_value(prefetch), 1);
	starpu_perf_knob_set_global_int32_value(prefetch, 0);
	CHECK_IS(starpu_perf_knob_get_global_int32_value(prefetch), 0);
	CHECK_IS(starpu_get_prefetch_flag(), 0);
	starpu_perf_knob_set_global_int32_value(prefetch, 2); /* refused */
	CHECK_IS(starpu_perf_knob_get_global_int32_value(prefetch), 0);
	starpu_perf_knob_set_global_double_value(prefetch, 1); /* of another type */
	CHECK_IS(starpu_perf_knob_get_global_int32_value(prefetch), 0);
	CHECK_IS(starpu_perf_knob_get_global_int64_value(prefetch), 0);
	starpu_perf_knob_set_global_int32_value(profiling, 1);
	CHECK_IS(starpu_profiling_status_get(), 1);
	starpu_profiling_status_set(0);
	CHECK_IS(starpu_perf_knob_get_global_int32_value(profiling), 0);
	starpu_perf_knob_set_global_int32_value(max, 7);
	CHECK_IS(starpu_perf_knob_get_global_int32_value(max), 7);
	starpu_perf_knob_set_global_int32_value(max, -1);
}

/* ---- workers ---- */

static int by[2];

static void note(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	INCR(by[starpu_worker_get_id()]);
	starpu_usleep(50);
}

static struct starpu_codelet note_cl = { .cpu_funcs = { note } };

static void workers(void)
{
	int enable = id(WORKER, "starpu.worker.w_enable_worker_knob"),
	    bind = id(WORKER, "starpu.worker.w_bind_to_pu_knob");

	CHECK_IS(starpu_perf_knob_get_per_worker_int32_value(bind, 1), starpu_worker_get_bindid(1));
	CHECK_IS(starpu_perf_knob_get_per_worker_int32_value(enable, 1), 1);
	starpu_perf_knob_set_per_worker_int32_value(enable, 1, 0);
	CHECK_IS(starpu_perf_knob_get_per_worker_int32_value(enable, 1), 0);
	starpu_usleep(1000); /* it may have been about to look for a task */
	by[0] = by[1] = 0;
	for (int i = 0; i < 20; i++)
		OK(starpu_task_insert(&note_cl, 0));
	OK(starpu_task_wait_for_all());
	CHECK_IS(by[0], 20);
	/* What only it may execute waits until it is switched on. */
	OK(starpu_task_insert(&note_cl, STARPU_EXECUTE_ON_WORKER, 1, 0));
	starpu_usleep(2000);
	CHECK_IS(LOAD(by[1]), 0);
	starpu_perf_knob_set_per_worker_int32_value(enable, 1, 1);
	OK(starpu_task_wait_for_all());
	CHECK_IS(by[1], 1);
	CHECK_IS(starpu_perf_knob_get_per_worker_int32_value(enable, 99), 0); /* refused */
	/* The end switches it on. */
	starpu_perf_knob_set_per_worker_int32_value(enable, 1, 0);
	OK(starpu_task_insert(&note_cl, STARPU_EXECUTE_ON_WORKER, 1, 0));
	starpu_shutdown();
	CHECK_IS(by[1], 2);
}

/* ---- priorities ---- */

static int order[3], norder;

static void rank(void *buffers[], void *arg)
{
	int k;

	(void) buffers;
	starpu_codelet_unpack_args(arg, &k);
	order[norder++] = k;
}

static struct starpu_codelet rank_cl = { .cpu_funcs = { rank } };

/* Three tasks in a queue by priority: with the cap, the last two are equal and keep their order. */
static void check_order(int first, int second, int third)
{
	norder = 0;
	starpu_pause();
	starpu_usleep(1000);
	for (int k = 0; k < 3; k++)
		OK(starpu_task_insert(&rank_cl, STARPU_VALUE, &k, sizeof(k), STARPU_PRIORITY, k,
				      0));
	starpu_resume();
	OK(starpu_task_wait_for_all());
	CHECK(order[0] == first && order[1] == second && order[2] == third, "%d %d %d", order[0],
	      order[1], order[2]);
}

static void priorities(void)
{
	int max = id(SCHEDULER, "starpu.task.s_max_priority_cap_knob"),
	    min = id(SCHEDULER, "starpu.task.s_min_priority_cap_knob");

	core_start(1, "prio");
	CHECK_IS(starpu_perf_knob_get_per_scheduler_int32_value(max, "prio"), INT_MAX);
	check_order(2, 1, 0);
	starpu_perf_knob_set_per_scheduler_int32_value(max, "prio", 1);
	CHECK_IS(starpu_perf_knob_get_per_scheduler_int32_value(max, "prio"), 1);
	check_order(1, 2, 0);
	starpu_perf_knob_set_per_scheduler_int32_value(min, "prio", 1);
	check_order(0, 1, 2);
	starpu_perf_knob_set_per_scheduler_int32_value(max, "lws", 5); /* no such context */
	CHECK_IS(starpu_perf_knob_get_per_scheduler_int32_value(max, "prio"), 1);
	starpu_shutdown();
}

int main(void)
{
	names();
	core_start(2, NULL);
	global();
	workers();
	priorities();
	return 0;
}
