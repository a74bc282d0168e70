/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices none */
/* Calls that few programs make: about workers and contexts, tags and tasks, variables, waiting for
 * several queues. What is refused changes nothing, and says so by its result.
 *
 * Invariant: each answer is compared with what other calls say, or with an effect. */
#include "core_test.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#define NCPUS 4

static int n;
static struct starpu_codelet count_cl = { .cpu_funcs = { core_count_kernel } };

/* ---- workers ---- */

static void workers(void)
{
	int *ids;
	unsigned *ctxs, nodes[STARPU_MAXNODES];

	for (int w = 0; w < NCPUS; w++) {
		int k = starpu_bindid_get_workerids(starpu_worker_get_bindid(w), &ids), found = 0;

		CHECK_IS(starpu_worker_get_devnum(w), starpu_worker_get_devid(w));
		for (int i = 0; i < k; i++)
			found += ids[i] == w;
		CHECK_IS(found, starpu_worker_get_bindid(w) >= 0);
		CHECK_IS(starpu_worker_is_slave_somewhere(w), 0);
		CHECK_IS(starpu_worker_get_sched_ctx_list(w, &ctxs), 1);
		CHECK_IS(ctxs[0], 0);
		free(ctxs);
	}
	CHECK_IS(starpu_bindid_get_workerids(123456, &ids), 0);
	CHECK_IS(starpu_worker_get_type_from_string("CUDA"), STARPU_CUDA_WORKER);
	CHECK_IS(starpu_worker_get_type_from_string("abacus"), STARPU_UNKNOWN_WORKER);
	CHECK(!strcmp(starpu_worker_get_type_as_env_var(STARPU_CPU_WORKER), "STARPU_NCPU"));
	CHECK_IS(starpu_memory_node_get_ids_by_type(STARPU_CPU_RAM, nodes, STARPU_MAXNODES),
		 starpu_memory_nodes_get_numa_count());
	CHECK_IS(nodes[0], STARPU_MAIN_RAM);
	CHECK_IS(starpu_memory_node_get_ids_by_type(STARPU_CPU_RAM, nodes, 0), 0);
	starpu_sched_find_all_worker_combinations();
	CHECK(starpu_combined_worker_get_count() > 0);
	CHECK_IS(starpu_asynchronous_copy_disabled_for(STARPU_CUDA_RAM),
		 starpu_asynchronous_cuda_copy_disabled());
	CHECK_IS(starpu_get_pu_os_index(0), starpu_cpu_os_index(0));
#ifdef STARPU_HAVE_HWLOC
	if (starpu_get_hwloc_topology())
		CHECK(starpu_worker_get_hwloc_obj(0) != NULL);
#endif
}

/* ---- contexts ---- */

static void closed(unsigned ctx, void *arg)
{
	*(unsigned *) arg = ctx;
}

static void rank_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	n = starpu_sched_ctx_get_worker_rank(*(unsigned *) arg);
}
static struct starpu_codelet rank_cl = { .cpu_funcs = { rank_kernel } };

static void contexts(void)
{
	int *raw, *copy;
	unsigned told = 99, awake = 9;
	unsigned ctx = starpu_sched_ctx_create_inside_interval("eager", "inside", 1, 2, 0, 4, 0);

	CHECK(ctx != STARPU_NMAX_SCHED_CTXS);
	CHECK_IS(starpu_sched_ctx_get_nworkers(ctx), 2);
	CHECK_IS(starpu_sched_ctx_get_workers_list_raw(ctx, &raw), 2);
	CHECK_IS(starpu_sched_ctx_get_workers_list(ctx, &copy), 2);
	CHECK(raw[0] == copy[0] && raw[1] == copy[1]);
	CHECK_IS(starpu_sched_ctx_overlapping_ctxs_on_worker(raw[0]), 1);
	CHECK_IS(starpu_sched_ctx_get_priority(raw[0], ctx), 1);
	OK(starpu_task_insert(&rank_cl, STARPU_CL_ARGS_NFREE, &ctx, sizeof(ctx), STARPU_SCHED_CTX,
			      ctx, STARPU_EXECUTE_ON_WORKER, copy[1], 0));
	OK(starpu_task_wait_for_all());
	CHECK_IS(n, 1);
	CHECK_IS(starpu_sched_ctx_get_worker_rank(ctx), -1); /* no worker */
	free(copy);
	CHECK_IS(starpu_sched_ctx_has_starpu_scheduler(ctx, &awake), 1);
	CHECK_IS(awake, 0);
	CHECK_IS(starpu_sched_ctx_get_nsms(ctx), -1);
	CHECK_IS(starpu_sched_ctx_get_stream_worker(ctx), -1);
	CHECK_IS(starpu_worker_get_sched_ctx_id_stream(0), STARPU_NMAX_SCHED_CTXS);
	CHECK_IS(starpu_sched_ctx_min_priority_is_set(ctx), 0);
	/* The two that are left do not suffice without sharing. */
	CHECK_IS(starpu_sched_ctx_create_inside_interval("eager", "none", 3, 3, 0, 0, 0),
		 STARPU_NMAX_SCHED_CTXS);
	starpu_sched_ctx_register_close_callback(ctx, closed, &told);
	starpu_sched_ctx_delete(ctx);
	CHECK_IS(told, ctx);
	/* Refused. */
	CHECK_IS(starpu_sched_ctx_book_workers_for_task(0, raw, 1), -ENOSYS);
	CHECK(!starpu_sched_ctx_get_sched_policy_callback(0));
	CHECK_IS(starpu_sched_ctx_master_get_context(0), STARPU_NMAX_SCHED_CTXS);
}

/* ---- tasks and tags ---- */

static void add_one(void *arg)
{
	INCR(*(int *) arg);
}

static void many_kernel(void *buffers[], void *arg)
{
	(void) arg;
	for (int i = 0; i < 20; i++)
		*core_int(buffers[i]) += i;
}
static struct starpu_codelet many_cl = { .cpu_funcs = { many_kernel },
					 .nbuffers = STARPU_VARIABLE_NBUFFERS };

/* Twenty data, appended in all ways. */
static void appended(void)
{
	int x[20] = { 0 }, allocated = 0, current = 0;
	starpu_data_handle_t h[20];
	struct starpu_data_descr d[5];
	struct starpu_task *task = starpu_task_create();

	for (int i = 0; i < 20; i++)
		h[i] = core_register(&x[i]);
	for (int i = 0; i < 5; i++)
		d[i] = (struct starpu_data_descr){ h[15 + i], STARPU_RW };
	for (int i = 0; i < 3; i++)
		starpu_task_insert_data_process_arg(&many_cl, task, &allocated, &current, STARPU_RW,
						    h[i]);
	starpu_task_insert_data_process_array_arg(&many_cl, task, &allocated, &current, 12, h + 3);
	starpu_task_insert_data_process_mode_array_arg(&many_cl, task, &allocated, &current, 5, d);
	CHECK_IS(current, 20);
	CHECK_IS(task->nbuffers, 20);
	task->cl = &many_cl;
	OK(starpu_task_submit(task));
	for (int i = 0; i < 20; i++) {
		starpu_data_unregister(h[i]);
		CHECK_IS(x[i], i);
	}
}

static void tasks(void)
{
	struct starpu_task *first, *second, *found[2];

	n = 0;
	starpu_create_callback_task(add_one, &n);
	OK(starpu_task_wait_for_all());
	CHECK_IS(n, 1);

	/* Of two successors one is submitted. */
	first = starpu_task_create();
	second = starpu_task_create();
	struct starpu_task *third = starpu_task_create();
	first->cl = second->cl = third->cl = &count_cl;
	first->cl_arg = second->cl_arg = third->cl_arg = &n;
	starpu_task_declare_deps(second, 1, first);
	starpu_task_declare_deps(third, 1, first);
	OK(starpu_task_submit(third));
	CHECK_IS(starpu_task_get_task_succs(first, 2, found), 2);
	CHECK_IS(starpu_task_get_task_scheduled_succs(first, 2, found), 1);
	CHECK(found[0] == third);
	OK(starpu_task_submit(first));
	OK(starpu_task_submit(second));
	OK(starpu_task_wait_for_all());
	CHECK_IS(n, 4);

	/* Tags are as new afterwards: a dependency on 1 that was satisfied is no more. */
	starpu_tag_notify_from_apps(1);
	starpu_tag_declare_deps(2, 1, (starpu_tag_t) 1);
	starpu_tag_clear();
	starpu_tag_declare_deps(2, 1, (starpu_tag_t) 3);
	OK(starpu_task_insert(&count_cl, STARPU_CL_ARGS_NFREE, &n, sizeof(n), STARPU_TAG,
			      (starpu_tag_t) 2, 0));
	starpu_usleep(1000);
	CHECK_IS(LOAD(n), 4);
	starpu_tag_notify_from_apps(3);
	OK(starpu_task_wait_for_all());
	CHECK_IS(n, 5);
}

/* ---- acquisition, models, traces ---- */

static void release_it(void *arg)
{
	starpu_data_release(*(starpu_data_handle_t *) arg);
	INCR(n);
}

static void early(void *arg, int *node, enum starpu_data_access_mode mode)
{
	(void) arg;
	(void) node;
	(void) mode;
}

static void others(void)
{
	int x = 0;
	long before = 7, after = 7;
	starpu_data_handle_t h = core_register(&x);
	struct timespec date = { 1, 1 };

	n = 0;
	OK(starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
		h, STARPU_MAIN_RAM, STARPU_R, NULL, release_it, &h, 1, 0, &before, &after, 0));
	CHECK(before == -1 && after == -1);
	CHECK_IS(starpu_data_acquire_on_node_cb_sequential_consistency_sync_jobids(
			 h, STARPU_MAIN_RAM, STARPU_R, early, release_it, &h, 1, 0, NULL, NULL, 0),
		 -ENOTSUP);
	starpu_data_unregister(h);
	CHECK_IS(n, 1);
	CHECK_IS(starpu_perfmodel_list_combs(stdout, NULL), -ENOSYS);
	starpu_worker_get_current_task_exp_end(0, &date);
	CHECK(date.tv_sec == 0 && date.tv_nsec == 0);
}

/* ---- variables ---- */

static int size_of(const char *text)
{
	setenv("ORR_TEST_SIZE", text, 1);
	return starpu_getenv_size_default("ORR_TEST_SIZE", -5);
}

static void variables(void)
{
	static const char *choices[] = { "red", "green", NULL };

	unsetenv("ORR_TEST_CHOICE");
	CHECK_IS(starpu_getenv_string_var_default("ORR_TEST_CHOICE", choices, 7), 7);
	setenv("ORR_TEST_CHOICE", "Green", 1);
	CHECK_IS(starpu_get_env_string_var_default("ORR_TEST_CHOICE", choices, 7), 1);
	setenv("ORR_TEST_CHOICE", "blue", 1);
	CHECK_IS(starpu_getenv_string_var_default("ORR_TEST_CHOICE", choices, 7), 7);
	CHECK_IS(size_of("3"), 3 * 1024);
	CHECK_IS(size_of("3b"), 3);
	CHECK_IS(size_of("3M"), 3 * 1024 * 1024);
	CHECK_IS(size_of("0.5GB"), 512 * 1024 * 1024);
	CHECK_IS(size_of("3T"), -5);
	CHECK_IS(size_of("-1"), -5);
	CHECK_IS(size_of("3 apples"), -5);
	unsetenv("ORR_TEST_SIZE");
	CHECK_IS(starpu_get_env_size_default("ORR_TEST_SIZE", 12), 12);
}

/* ---- queues ---- */

static starpu_pthread_queue_t queues[2];
static int signalled;

static void *signaller(void *arg)
{
	(void) arg;
	starpu_usleep(1000);
	STORE(signalled, 1);
	starpu_pthread_queue_signal(&queues[1]);
	return NULL;
}

static void waiting(void)
{
	starpu_pthread_wait_t w;
	starpu_pthread_t thread;
	starpu_pthread_mutexattr_t attr;
	struct timespec past = { 0, 0 };
	int type = 5;

	OK(starpu_pthread_wait_init(&w));
	for (int i = 0; i < 2; i++) {
		OK(starpu_pthread_queue_init(&queues[i]));
		OK(starpu_pthread_queue_register(&w, &queues[i]));
	}
	CHECK_IS(starpu_pthread_wait_timedwait(&w, &past), ETIMEDOUT);
	OK(starpu_pthread_create(&thread, NULL, signaller, NULL));
	OK(starpu_pthread_wait_wait(&w));
	CHECK_IS(LOAD(signalled), 1);
	OK(starpu_pthread_join(thread, NULL));
	OK(starpu_pthread_wait_wait(&w)); /* the signal stays until it is reset */
	OK(starpu_pthread_wait_reset(&w));
	CHECK_IS(starpu_pthread_wait_timedwait(&w, &past), ETIMEDOUT);
	OK(starpu_pthread_queue_broadcast(&queues[0]));
	OK(starpu_pthread_wait_wait(&w));
	CHECK_IS(starpu_pthread_queue_destroy(&queues[0]), EBUSY);
	for (int i = 0; i < 2; i++) {
		OK(starpu_pthread_queue_unregister(&w, &queues[i]));
		OK(starpu_pthread_queue_destroy(&queues[i]));
	}
	OK(starpu_pthread_wait_destroy(&w));
	OK(starpu_pthread_mutexattr_init(&attr));
	OK(starpu_pthread_mutexattr_gettype(&attr, &type));
	CHECK_IS(type, 0);
	CHECK_IS(starpu_pthread_mutexattr_settype(&attr, 1), ENOTSUP);
}

int main(void)
{
	variables();
	core_start(NCPUS, NULL);
	workers();
	contexts();
	tasks();
	appended();
	others();
	waiting();
	starpu_shutdown();
	return 0;
}
