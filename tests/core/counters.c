/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Performance counters: which there are; their values for known sets of tasks; listeners of the
 * process, of workers and of codelets; nothing while collection is off.
 *
 * Invariant: the last sample that a listener saw holds the counts of what was executed. */
#include "core_test.h"

#include <string.h>

#define NCPUS 2
#define NTASKS 10
#define KERNEL_US 300

#define GLOBAL starpu_perf_counter_scope_global
#define WORKER starpu_perf_counter_scope_per_worker
#define CODELET starpu_perf_counter_scope_per_codelet

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_usleep(KERNEL_US);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel } },
			     other_cl = { .cpu_funcs = { kernel } };

static int id(enum starpu_perf_counter_scope scope, const char *name)
{
	int i = starpu_perf_counter_name_to_id(scope, name);

	CHECK(i >= 0, "there is no counter %s", name);
	return i;
}

static int64_t get(struct starpu_perf_counter_sample *s, enum starpu_perf_counter_scope scope,
		   const char *name)
{
	return starpu_perf_counter_sample_get_int64_value(s, id(scope, name));
}

/* ---- names ---- */

static void names(void)
{
	static const enum starpu_perf_counter_scope scopes[] = { GLOBAL, WORKER, CODELET };

	for (int k = 0; k < 3; k++) {
		int n = starpu_perf_counter_nb(scopes[k]);
		const char *scope = starpu_perf_counter_scope_id_to_name(scopes[k]);

		CHECK(n > 0);
		CHECK_IS(starpu_perf_counter_scope_name_to_id(scope), scopes[k]);
		for (int i = 0; i < n; i++) {
			int c = starpu_perf_counter_nth_to_id(scopes[k], i);
			const char *name = starpu_perf_counter_id_to_name(c);

			CHECK_IS(starpu_perf_counter_name_to_id(scopes[k], name), c);
			CHECK(starpu_perf_counter_get_help_string(c) != NULL);
			CHECK(starpu_perf_counter_type_id_to_name(
				      (enum starpu_perf_counter_type)
					      starpu_perf_counter_get_type_id(c)) != NULL);
		}
		CHECK_IS(starpu_perf_counter_nth_to_id(scopes[k], n), -1);
	}
	CHECK_IS(starpu_perf_counter_type_name_to_id("double"), starpu_perf_counter_type_double);
	CHECK_IS(starpu_perf_counter_scope_name_to_id("none"), starpu_perf_counter_scope_undefined);
	CHECK_IS(starpu_perf_counter_name_to_id(GLOBAL, "starpu.task.w_total_executed"), -1);
	CHECK(!starpu_perf_counter_id_to_name(7));
	starpu_perf_counter_list_all_avail();
}

/* ---- listeners ---- */

static int64_t submitted, peak_submitted, peak_ready, executed, executed_by[NCPUS], of_cl[3];
static double us_by[NCPUS];
static int64_t cl_ns;
static int ncalls, a_cookie;

/* Several threads call it, and samples of different moments may come in any order. */
static void larger(int64_t *seen, int64_t now)
{
	int64_t was = LOAD(*seen);

	while (now > was &&
	       !__atomic_compare_exchange_n(seen, &was, now, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
}

static void on_global(struct starpu_perf_counter_listener *l, struct starpu_perf_counter_sample *s,
		      void *context)
{
	CHECK(l && context == &a_cookie);
	INCR(ncalls);
	larger(&submitted, get(s, GLOBAL, "starpu.task.g_total_submitted"));
	larger(&peak_submitted, get(s, GLOBAL, "starpu.task.g_peak_submitted"));
	larger(&peak_ready, get(s, GLOBAL, "starpu.task.g_peak_ready"));
	larger(&executed, get(s, GLOBAL, "starpu.task.g_total_executed"));
}

static void on_worker(struct starpu_perf_counter_listener *l, struct starpu_perf_counter_sample *s,
		      void *context)
{
	int w = starpu_worker_get_id();

	(void) l;
	(void) context;
	CHECK(w >= 0 && w < NCPUS);
	executed_by[w] = get(s, WORKER, "starpu.task.w_total_executed");
	us_by[w] = starpu_perf_counter_sample_get_double_value(
		s, id(WORKER, "starpu.task.w_cumul_execution_time"));
}

static void on_codelet(struct starpu_perf_counter_listener *l, struct starpu_perf_counter_sample *s,
		       void *context)
{
	(void) l;
	CHECK(context == &cl); /* not the listener's argument */
	larger(&of_cl[0], get(s, CODELET, "starpu.task.c_total_submitted"));
	larger(&of_cl[1], get(s, CODELET, "starpu.task.c_peak_ready"));
	larger(&of_cl[2], get(s, CODELET, "starpu.task.c_total_executed"));
	double us = starpu_perf_counter_sample_get_double_value(
		s, id(CODELET, "starpu.task.c_cumul_execution_time"));
	larger(&cl_ns, (int64_t) (us * 1e3));
}

static struct starpu_perf_counter_listener *listener(
	enum starpu_perf_counter_scope scope,
	void (*f)(struct starpu_perf_counter_listener *, struct starpu_perf_counter_sample *,
		  void *))
{
	struct starpu_perf_counter_set *set = starpu_perf_counter_set_alloc(scope);
	struct starpu_perf_counter_listener *l;

	for (int i = 0; i < starpu_perf_counter_nb(scope); i++)
		starpu_perf_counter_set_enable_id(set, starpu_perf_counter_nth_to_id(scope, i));
	l = starpu_perf_counter_listener_init(set, f, &a_cookie);
	starpu_perf_counter_set_free(set);
	CHECK(l != NULL);
	return l;
}

static void insert(struct starpu_codelet *what, int n)
{
	while (n-- > 0)
		OK(starpu_task_insert(what, 0));
}

static void counts(int from_start)
{
	struct starpu_perf_counter_listener *g = listener(GLOBAL, on_global),
					    *w = listener(WORKER, on_worker),
					    *c = listener(CODELET, on_codelet);

	submitted = peak_submitted = peak_ready = executed = ncalls = 0;
	memset(of_cl, 0, sizeof(of_cl));
	memset(executed_by, 0, sizeof(executed_by));
	cl_ns = 0;
	starpu_perf_counter_set_global_listener(g);
	starpu_perf_counter_set_all_per_worker_listeners(w);
	starpu_perf_counter_set_per_codelet_listener(&cl, c);
	if (!from_start) {
		insert(&cl, 3);
		OK(starpu_task_wait_for_all());
		CHECK_IS(ncalls, 0);
		starpu_perf_counter_collection_start();
	}
	starpu_pause();
	starpu_usleep(1000);
	insert(&cl, NTASKS);
	insert(&other_cl, 2);
	starpu_resume();
	OK(starpu_task_wait_for_all());
	CHECK_IS(submitted, NTASKS + 2);
	CHECK_IS(executed, NTASKS + 2);
	CHECK(peak_submitted >= 1);
	CHECK_IS(peak_ready, NTASKS + 2);
	CHECK_IS(executed_by[0] + executed_by[1], NTASKS + 2);
	for (int i = 0; i < NCPUS; i++)
		CHECK(us_by[i] >= (double) executed_by[i] * KERNEL_US * 0.99,
		      "worker %d: %g us for %d tasks", i, us_by[i], (int) executed_by[i]);
	CHECK_IS(of_cl[0], NTASKS);
	CHECK_IS(of_cl[1], NTASKS);
	CHECK_IS(of_cl[2], NTASKS);
	CHECK((double) cl_ns * 1e-3 >= NTASKS * KERNEL_US * 0.99, "%lld ns", (long long) cl_ns);

	/* Off, and without listeners. */
	int before = LOAD(ncalls);
	if (!from_start) {
		starpu_perf_counter_collection_stop();
		insert(&cl, 3);
		OK(starpu_task_wait_for_all());
	}
	starpu_perf_counter_unset_global_listener();
	starpu_perf_counter_unset_all_per_worker_listeners();
	starpu_perf_counter_unset_per_codelet_listener(&cl);
	insert(&cl, 3);
	OK(starpu_task_wait_for_all());
	CHECK_IS(ncalls, before);
	starpu_perf_counter_listener_exit(g);
	starpu_perf_counter_listener_exit(w);
	starpu_perf_counter_listener_exit(c);
}

/* Begins and ends while tasks are under way; another listener in an occupied place. */
static void toggling(void)
{
	struct starpu_perf_counter_listener *g = listener(GLOBAL, on_global),
					    *second = listener(GLOBAL, on_global);

	starpu_perf_counter_set_global_listener(g);
	starpu_perf_counter_set_global_listener(second); /* refused */
	starpu_perf_counter_listener_exit(second);
	for (int i = 0; i < 20; i++) {
		insert(&cl, 3);
		starpu_perf_counter_collection_start();
		insert(&other_cl, 3);
		starpu_perf_counter_collection_stop();
	}
	OK(starpu_task_wait_for_all());
	starpu_perf_counter_unset_global_listener();
	starpu_perf_counter_listener_exit(g);
}

int main(void)
{
	struct starpu_conf conf;

	names();
	OK(starpu_conf_init(&conf));
	conf.ncpus = NCPUS;
	conf.ncuda = conf.nopencl = 0;
	conf.start_perf_counter_collection = 1;
	OK(starpu_init(&conf));
	counts(1);
	starpu_shutdown();
	core_start(NCPUS, NULL);
	counts(0);
	toggling();
	starpu_shutdown();
	return 0;
}
