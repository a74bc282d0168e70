/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The toolbox for policies: fifos and priority deques against plain arrays, on tasks that a policy
 * of the program holds; and a policy that is made of both.
 *
 * Invariant: each task that was put into a queue comes out once, where the order says. */
#include "core_test.h"

#include <schedulers/starpu_scheduler_toolbox.h>

#define N 12

static int nran;

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	INCR(nran);
}

static double ten(struct starpu_task *t, unsigned i)
{
	(void) t;
	(void) i;
	return 10;
}
static struct starpu_perfmodel model = { .type = STARPU_COMMON, .cost_function = ten };
static struct starpu_codelet anywhere = { .cpu_funcs = { nothing }, .model = &model };

static int only_second(unsigned workerid, struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return workerid == 1;
}
static struct starpu_codelet second = { .cpu_funcs = { nothing }, .can_execute = only_second };

/* ---- a policy: tasks wait in a deque until they are let go, then in a fifo per worker ---- */

static struct starpu_st_prio_deque deque;
static starpu_st_fifo_taskq_t fifo[2];
static starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;
static struct starpu_task *held[2 * N];
static int nheld, holding;

static void init(unsigned ctx)
{
	(void) ctx;
	starpu_st_prio_deque_init(&deque);
	for (int i = 0; i < 2; i++)
		CHECK((fifo[i] = starpu_st_fifo_taskq_create()) != NULL);
	starpu_sched_set_min_priority(0);
	starpu_sched_set_max_priority(3);
}

static void deinit(unsigned ctx)
{
	(void) ctx;
	CHECK(starpu_st_prio_deque_is_empty(&deque));
	starpu_st_prio_deque_destroy(&deque);
	for (int i = 0; i < 2; i++) {
		CHECK(starpu_st_fifo_taskq_empty(fifo[i]));
		starpu_st_fifo_taskq_destroy(fifo[i]);
	}
}

static int push(struct starpu_task *task)
{
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	if (holding)
		held[nheld++] = task;
	else
		starpu_st_prio_deque_push_back_task(&deque, task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	return 0;
}

static struct starpu_task *pop(unsigned ctx)
{
	unsigned me = starpu_worker_get_id_check();
	struct starpu_task *task;

	(void) ctx;
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	task = starpu_st_fifo_taskq_pop_first_ready_task(fifo[me], me, -1);
	if (!task) {
		task = starpu_st_prio_deque_pop_task_for_worker(&deque, (int) me, NULL);
		if (task)
			starpu_st_fifo_taskq_push_task(fifo[me], task);
		task = starpu_st_fifo_taskq_pop_task(fifo[me], (int) me);
	}
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	return task;
}

static struct starpu_sched_policy policy = {
	.init_sched = init,
	.deinit_sched = deinit,
	.push_task = push,
	.pop_task = pop,
	.policy_name = "toolbox",
};

/* ---- the queues one by one; the held tasks have priorities 0 1 2 3 0 1 2 3 ..., the odd ones are
 * for the second worker only ---- */

static void fifos(void)
{
	starpu_st_fifo_taskq_t f = starpu_st_fifo_taskq_create();
	int n;

	CHECK(starpu_st_fifo_taskq_empty(f) && !starpu_st_fifo_taskq_pop_local_task(f));
	for (int i = 0; i < N; i++)
		starpu_st_fifo_taskq_push_sorted_task(f, held[i]);
	CHECK_IS(starpu_st_fifo_ntasks_get(f), N);
	CHECK_IS(starpu_st_fifo_ntasks_per_priority_get(f)[0], N);
	CHECK_IS(starpu_st_fifo_ntasks_per_priority_get(
			 f)[starpu_st_normalize_prio(3, STARPU_ST_NPRIORITIES, 0)],
		 N / 4);
	/* Before one of priority 1: those of 3 and 2, and those of 1 that came earlier. */
	CHECK_NEAR(starpu_st_fifo_taskq_get_exp_len_prev_task_list(f, held[1], 0, 0, &n), 30, 1e-9);
	CHECK_IS(n, 9);
	CHECK(starpu_st_fifo_taskq_pop_this_task(f, 1, held[5]));
	CHECK(!starpu_st_fifo_taskq_pop_this_task(f, 1, held[5]));
	CHECK(!starpu_st_fifo_taskq_pop_this_task(f, 0, held[1]));
	CHECK(starpu_st_fifo_taskq_pop_task(f, 0) == held[2]); /* 3, 7, 11 are not for it */
	CHECK(starpu_st_fifo_taskq_pop_first_ready_task(f, 1, 4) == held[3]);
	CHECK(starpu_st_fifo_taskq_pop_local_task(f) == held[7]);
	CHECK(starpu_st_fifo_taskq_pop_local_task(f) == held[11]);
	CHECK(starpu_st_fifo_taskq_pop_local_task(f) == held[6]);
	CHECK_IS(starpu_st_fifo_ntasks_get(f), N - 6);
	while (starpu_st_fifo_taskq_pop_local_task(f))
		;
	starpu_st_fifo_taskq_push_task(f, held[0]);
	starpu_st_fifo_taskq_push_back_task(f, held[3]);
	CHECK(starpu_st_fifo_taskq_pop_local_task(f) == held[0]);
	CHECK(starpu_st_fifo_taskq_pop_local_task(f) == held[3]);
	starpu_st_fifo_taskq_destroy(f);
}

static void notes(void)
{
	starpu_st_fifo_taskq_t f = starpu_st_fifo_taskq_create();
	double now = starpu_timing_now();

	CHECK(starpu_st_fifo_exp_start_get(f) <= now && starpu_st_fifo_exp_end_get(f) <= now);
	starpu_st_fifo_exp_start_set(f, 1);
	starpu_st_fifo_exp_end_set(f, 2);
	starpu_st_fifo_exp_len_set(f, 3);
	starpu_st_fifo_exp_len_inc(f, 0.5);
	starpu_st_fifo_pipeline_len_set(f, 4);
	starpu_st_fifo_pipeline_len_inc(f, -1);
	starpu_st_fifo_ntasks_inc(f, 3);
	starpu_st_fifo_ntasks_inc(f, -1);
	starpu_st_fifo_nprocessed_inc(f, 2);
	CHECK(starpu_st_fifo_exp_start_get(f) == 1 && starpu_st_fifo_exp_end_get(f) == 2 &&
	      starpu_st_fifo_exp_len_get(f) == 3.5 && starpu_st_fifo_pipeline_len_get(f) == 3);
	CHECK(starpu_st_fifo_ntasks_get(f) == 2 && starpu_st_fifo_nprocessed_get(f) == 2);
	starpu_st_fifo_taskq_init(f);
	CHECK(starpu_st_fifo_exp_len_get(f) == 0 && starpu_st_fifo_ntasks_get(f) == 0 &&
	      starpu_st_fifo_exp_start_get(f) >= now);
	starpu_st_fifo_taskq_destroy(f);
}

static void deques(void)
{
	struct starpu_st_prio_deque d;
	struct starpu_task *skipped = NULL;

	starpu_st_prio_deque_init(&d);
	CHECK(starpu_st_prio_deque_is_empty(&d) && !starpu_st_prio_deque_pop_task(&d) &&
	      !starpu_st_prio_deque_highest_task(&d) && !starpu_st_prio_deque_pop_back_task(&d));
	for (int i = 0; i < 8; i++)
		OK(starpu_st_prio_deque_push_back_task(&d, held[i]));
	OK(starpu_st_prio_deque_push_front_task(&d, held[11]));
	/* 11 3 7 | 2 6 | 1 5 | 0 4 */
	CHECK(starpu_st_prio_deque_highest_task(&d) == held[11]);
	CHECK(starpu_st_prio_deque_pop_task(&d) == held[11]);
	CHECK(starpu_st_prio_deque_pop_back_task(&d) == held[4]);
	CHECK(starpu_st_prio_deque_pop_task_for_worker(&d, 0, &skipped) == held[2]);
	CHECK(skipped == held[3]);
	skipped = NULL;
	CHECK(starpu_st_prio_deque_deque_task_for_worker(&d, 1, &skipped) == held[0] && !skipped);
	CHECK(starpu_st_prio_deque_deque_task_for_worker(&d, 0, &skipped) == held[6]);
	CHECK(skipped == held[5]);
	/* 3 7 | 1 5: none for the first worker */
	CHECK(!starpu_st_prio_deque_deque_first_ready_task(&d, 0));
	CHECK(starpu_st_prio_deque_deque_first_ready_task(&d, 1) == held[3]);
	CHECK(!starpu_st_prio_deque_pop_this_task(&d, 0, held[5]));
	CHECK(starpu_st_prio_deque_pop_this_task(&d, 1, held[5]));
	CHECK(!starpu_st_prio_deque_pop_this_task(&d, 1, held[5]));
	starpu_st_prio_deque_erase(&d, held[7]);
	CHECK(starpu_st_prio_deque_pop_task(&d) == held[1]);
	CHECK(starpu_st_prio_deque_is_empty(&d));
	starpu_st_prio_deque_destroy(&d);
}

static void priorities(void)
{
	CHECK_IS(starpu_st_normalize_prio(0, 2, 0), 0);
	CHECK_IS(starpu_st_normalize_prio(1, 2, 0), 0);
	CHECK_IS(starpu_st_normalize_prio(2, 2, 0), 1);
	CHECK_IS(starpu_st_normalize_prio(3, 2, 0), 1);
	CHECK_IS(starpu_st_normalize_prio(-5, 4, 0), 0);
	CHECK_IS(starpu_st_normalize_prio(99, 4, 0), 3);
	CHECK_IS(starpu_st_normalize_prio(3, 1, 0), 0);
}

static void let_go(void)
{
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	holding = 0;
	for (int i = 0; i < nheld; i++)
		starpu_st_prio_deque_push_back_task(&deque, held[i]);
	nheld = 0;
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	starpu_wake_all_blocked_workers();
	starpu_task_wait_for_all();
}

/* On a device: a datum that is only in main memory, one that comes by a prefetch, one to write. */
static void missing(void)
{
	static struct starpu_codelet cl = { .cuda_funcs = { nothing },
					    .nbuffers = 3,
					    .modes = { STARPU_R, STARPU_R, STARPU_W } };
	static char x[3][1000];
	starpu_data_handle_t h[3];
	size_t bytes, not_coming, not_allocated;
	unsigned gpu = (unsigned) starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);

	for (int i = 0; i < 3; i++)
		starpu_vector_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) x[i], 100 * (i + 1),
					    1);
	holding = 1;
	OK(starpu_task_insert(&cl, STARPU_R, h[0], STARPU_R, h[1], STARPU_W, h[2], 0));
	CHECK_IS(starpu_st_non_ready_buffers_count(held[0], gpu), 2);
	CHECK_IS(starpu_st_non_ready_buffers_count(held[0], 0), 0);
	starpu_st_non_ready_buffers_size(held[0], gpu, &bytes, &not_coming, &not_allocated);
	CHECK(bytes == 300 && not_coming == 300 && not_allocated == 600);
	OK(starpu_data_prefetch_on_node(h[1], starpu_worker_get_memory_node(gpu), 0));
	starpu_st_non_ready_buffers_size(held[0], gpu, &bytes, NULL, &not_allocated);
	CHECK(bytes == 100 && not_allocated == 400);
	let_go();
	for (int i = 0; i < 3; i++)
		starpu_data_unregister(h[i]);
}

static void start(int ncpus, int ndevices)
{
	struct starpu_conf conf;

	test_devices((unsigned) ndevices);
	OK(starpu_conf_init(&conf));
	conf.ncpus = ncpus;
	conf.ncuda = ndevices;
	conf.nopencl = 0;
	conf.sched_policy = &policy;
	OK(starpu_init(&conf));
}

int main(void)
{
	start(2, 0);
	holding = 1;
	for (int i = 0; i < N; i++)
		OK(starpu_task_insert(i % 2 ? &second : &anywhere, STARPU_PRIORITY, i % 4, 0));
	CHECK_IS(nheld, N);
	fifos();
	notes();
	deques();
	priorities();
	let_go();
	CHECK_IS(nran, N);
	for (int i = 0; i < 10 * N; i++)
		OK(starpu_task_insert(i % 2 ? &second : &anywhere, STARPU_PRIORITY, i % 4, 0));
	starpu_task_wait_for_all();
	CHECK_IS(nran, 11 * N);
	starpu_shutdown();
	start(1, 1);
	missing();
	starpu_shutdown();
	return 0;
}
