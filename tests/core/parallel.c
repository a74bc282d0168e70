/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices none */
/* orr-test: env STARPU_WORKERS_NOBIND=1 */
/* Parallel tasks: combined workers, SPMD kernels that wait for each other, fork-join kernels,
 * policies that use them, contexts without a policy.
 *
 * Invariant: a datum that kernels add to without atomics shows whether accesses excluded each
 * other. */
#include "core_test.h"

#include <errno.h>
#include <string.h>

#define NCPU 4
#define N 40

static int calls, sum_ranks, wrong, alone, last_size, worker_calls[NCPU];
static starpu_pthread_barrier_t barrier;

/* Each rank adds its part, then all wait for each other, twice. */
static void spmd_kernel(void *buffers[], void *arg)
{
	int size = starpu_combined_worker_get_size(), rank = starpu_combined_worker_get_rank(),
	    id = starpu_worker_get_id();
	int *x = core_int(buffers[0]), wait = *(int *) arg, before;

	if (rank < 0 || rank >= size || id < 0 || id >= NCPU)
		INCR(wrong);
	if (size > 1 && starpu_combined_worker_get_id() < NCPU)
		INCR(wrong);
	if (starpu_task_get_current() == NULL)
		INCR(wrong);
	INCR(calls);
	INCR(worker_calls[id]);
	__atomic_add_fetch(&sum_ranks, rank, __ATOMIC_RELAXED);
	STORE(last_size, size);
	if (size == 1)
		INCR(alone);
	if (!wait)
		return;
	STARPU_PTHREAD_BARRIER_WAIT(&barrier);
	before = *x;
	STARPU_PTHREAD_BARRIER_WAIT(&barrier);
	if (rank == 0)
		*x = before + 1;
}

static void fork_kernel(void *buffers[], void *arg)
{
	int *x = core_int(buffers[0]);

	(void) arg;
	if (starpu_combined_worker_get_rank() != 0)
		INCR(wrong);
	INCR(calls);
	STORE(last_size, starpu_combined_worker_get_size());
	*x += 1;
}

static double length(struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return 100;
}

static struct starpu_perfmodel model = { .type = STARPU_COMMON, .cost_function = length };
static struct starpu_codelet spmd = { .cpu_funcs = { spmd_kernel },
				      .type = STARPU_SPMD,
				      .nbuffers = 1,
				      .modes = { STARPU_RW },
				      .name = "spmd" };
static struct starpu_codelet forkjoin = { .cpu_funcs = { fork_kernel },
					  .type = STARPU_FORKJOIN,
					  .nbuffers = 1,
					  .modes = { STARPU_RW },
					  .model = &model,
					  .name = "forkjoin" };
static struct starpu_codelet seq = {
	.cpu_funcs = { fork_kernel }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "seq"
};

static void reset(void)
{
	calls = sum_ranks = wrong = alone = last_size = 0;
	memset(worker_calls, 0, sizeof(worker_calls));
	memset(spmd.per_worker_stats, 0, sizeof(spmd.per_worker_stats));
}

static void insert_on(struct starpu_codelet *cl, starpu_data_handle_t h, int worker, int *wait)
{
	CHECK_IS(starpu_task_insert(cl, STARPU_RW, h, STARPU_CL_ARGS_NFREE, wait, sizeof(*wait),
				    STARPU_EXECUTE_ON_WORKER, worker, 0),
		 0);
}

/* --- combined workers as such --- */

static void table(void)
{
	int two[] = { 0, 1 }, three[] = { 1, 2, 3 }, twice[] = { 1, 1 }, bad[] = { 0, 9 }, a, b,
	    size, *ids;

	core_start(NCPU, "eager");
	CHECK_IS(starpu_combined_worker_get_count(), 0);
	a = starpu_combined_worker_assign_workerid(2, two);
	b = starpu_combined_worker_assign_workerid(3, three);
	CHECK(a == NCPU && b == NCPU + 1);
	CHECK_IS(starpu_combined_worker_assign_workerid(2, two), a);
	CHECK_IS(starpu_combined_worker_assign_workerid(1, two), 0);
	CHECK_IS(starpu_combined_worker_assign_workerid(2, twice), -EINVAL);
	CHECK_IS(starpu_combined_worker_assign_workerid(2, bad), -EINVAL);
	CHECK_IS(starpu_combined_worker_assign_workerid(0, two), -EINVAL);
	CHECK_IS(starpu_combined_worker_get_count(), 2);
	CHECK(starpu_worker_is_combined_worker(a) && !starpu_worker_is_combined_worker(0) &&
	      !starpu_worker_is_combined_worker(b + 1));
	CHECK_IS(starpu_combined_worker_get_description(b, &size, &ids), 0);
	CHECK(size == 3 && ids[0] == 1 && ids[2] == 3);
	CHECK_IS(starpu_combined_worker_get_description(0, &size, &ids), -EINVAL);
	CHECK(starpu_combined_worker_get_size() == 1 && starpu_combined_worker_get_rank() == 0);
	starpu_shutdown();
}

static unsigned count_with(const char *name, const char *value)
{
	unsigned n;

	if (name)
		setenv(name, value, 1);
	core_start(NCPU, "peager");
	n = starpu_combined_worker_get_count();
	starpu_shutdown();
	if (name)
		unsetenv(name);
	return n;
}

static void sizes(void)
{
	CHECK_IS(count_with(NULL, NULL), 3); /* two pairs and all */
	CHECK_IS(count_with("STARPU_MAX_WORKERSIZE", "2"), 2);
	CHECK_IS(count_with("STARPU_MIN_WORKERSIZE", "3"), 1);
	CHECK_IS(count_with("STARPU_SYNTHESIZE_ARITY_COMBINED_WORKER", "4"), 1);
	CHECK_IS(count_with("STARPU_SINGLE_COMBINED_WORKER", "1"), 1);
}

/* --- tasks that are given to one --- */

static void pinned(const char *policy)
{
	int three[] = { 0, 1, 2 }, pair[] = { 2, 3 }, a, b, i, x = 0, y = 0, wait = 1, no_wait = 0;
	starpu_data_handle_t h, g;

	core_start(NCPU, policy);
	a = starpu_combined_worker_assign_workerid(3, three);
	b = starpu_combined_worker_assign_workerid(2, pair);
	STARPU_PTHREAD_BARRIER_INIT(&barrier, NULL, 3);
	h = core_register(&x);
	g = core_register(&y);
	reset();
	for (i = 0; i < N; i++)
		insert_on(&spmd, h, a, &wait);
	starpu_task_wait_for_all();
	CHECK_IS(wrong, 0);
	CHECK_IS(calls, 3 * N);
	CHECK_IS(sum_ranks, 3 * N);
	for (i = 0; i < 3; i++) {
		CHECK_IS(worker_calls[i], N);
		CHECK_IS(spmd.per_worker_stats[i], N);
	}
	CHECK_IS(worker_calls[3], 0);
	/* Combined workers that overlap, fork-join, and tasks of one worker among them. */
	reset();
	for (i = 0; i < N; i++) {
		insert_on(&spmd, h, a, &no_wait);
		insert_on(&spmd, g, b, &no_wait);
		insert_on(&forkjoin, i % 2 ? h : g, i % 3 ? a : b, &no_wait);
		insert_on(&seq, i % 2 ? g : h, i % NCPU, &no_wait);
		CHECK_IS(starpu_task_insert(&seq, STARPU_RW, g, STARPU_CL_ARGS_NFREE, &no_wait,
					    sizeof(no_wait), 0),
			 0);
	}
	starpu_task_wait_for_all();
	CHECK_IS(wrong, 0);
	CHECK_IS(calls, 3 * N + 2 * N + 3 * N);
	starpu_data_unregister(h);
	starpu_data_unregister(g);
	CHECK_IS(x + y, N + 3 * N);
	STARPU_PTHREAD_BARRIER_DESTROY(&barrier);
	starpu_shutdown();
}

/* --- policies --- */

static int only_pairs(unsigned workerid, struct starpu_task *task, unsigned nimpl)
{
	int size = 1, *ids;

	(void) task;
	(void) nimpl;
	if (starpu_worker_is_combined_worker((int) workerid))
		CHECK_IS(starpu_combined_worker_get_description((int) workerid, &size, &ids), 0);
	return size <= 2;
}

static void by_policy(const char *policy, int parallel)
{
	static struct starpu_codelet limited, picky;
	int x = 0, no_wait = 0;
	starpu_data_handle_t h;

	core_start(NCPU, policy);
	h = core_register(&x);
	reset();
	for (int i = 0; i < N; i++)
		CHECK_IS(starpu_task_insert(&forkjoin, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &no_wait,
					    sizeof(no_wait), 0),
			 0);
	starpu_task_wait_for_all();
	CHECK_IS(calls, N);
	CHECK_IS(last_size, parallel ? NCPU : 1);
	limited = forkjoin;
	limited.max_parallelism = 3; /* a pair */
	CHECK_IS(starpu_task_insert(&limited, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &no_wait,
				    sizeof(no_wait), 0),
		 0);
	starpu_task_wait_for_all();
	CHECK_IS(last_size, parallel ? 2 : 1);
	picky = forkjoin;
	picky.can_execute = only_pairs;
	CHECK_IS(starpu_task_insert(&picky, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &no_wait,
				    sizeof(no_wait), 0),
		 0);
	starpu_task_wait_for_all();
	CHECK_IS(last_size, parallel ? 2 : 1);
	CHECK_IS(starpu_task_insert(&seq, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &no_wait,
				    sizeof(no_wait), 0),
		 0);
	starpu_task_wait_for_all();
	CHECK_IS(last_size, 1);
	reset();
	spmd.model = &model;
	for (int i = 0; i < N; i++) {
		CHECK_IS(starpu_task_insert(&spmd, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &no_wait,
					    sizeof(no_wait), 0),
			 0);
		CHECK_IS(starpu_task_insert(&seq, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &no_wait,
					    sizeof(no_wait), 0),
			 0);
	}
	starpu_task_wait_for_all();
	spmd.model = NULL;
	CHECK_IS(wrong, 0);
	CHECK_IS(calls, N + (parallel ? NCPU * N : N));
	CHECK_IS(alone, parallel ? 0 : N);
	starpu_data_unregister(h);
	CHECK_IS(x, 2 * N + 3);
	starpu_shutdown();
}

/* --- contexts --- */

static void *code(void *arg)
{
	INCR(*(int *) arg);
	STORE(last_size, starpu_combined_worker_get_size());
	return arg;
}

static unsigned none_ctx, other_ctx;

static void calling_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	CHECK(starpu_sched_ctx_exec_parallel_code(code, arg, none_ctx) == arg);
	CHECK(starpu_sched_ctx_exec_parallel_code(code, arg, other_ctx) == NULL);
}

static void contexts(void)
{
	static struct starpu_codelet caller = { .cpu_funcs = { calling_kernel }, .name = "caller" };
	int ids[] = { 1, 2, 3 }, pair[] = { 0, 1 }, x = 0, i, n = 0, no_wait = 0, three = 3;
	starpu_data_handle_t h;

	core_start(NCPU, "peager");
	none_ctx = starpu_sched_ctx_create(ids, 3, "none", 0);
	other_ctx = starpu_sched_ctx_create(pair, 2, "pair", STARPU_SCHED_CTX_POLICY_NAME, "peager",
					    0);
	CHECK(none_ctx < STARPU_NMAX_SCHED_CTXS && other_ctx < STARPU_NMAX_SCHED_CTXS);
	h = core_register(&x);
	reset();
	for (i = 0; i < N; i++)
		CHECK_IS(starpu_task_insert(&seq, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &no_wait,
					    sizeof(no_wait), STARPU_SCHED_CTX, none_ctx, 0),
			 0);
	starpu_task_wait_for_all_in_ctx(none_ctx);
	CHECK_IS(last_size, 3);
	for (i = 0; i < N; i++)
		CHECK_IS(starpu_task_insert(&spmd, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &no_wait,
					    sizeof(no_wait), STARPU_SCHED_CTX, other_ctx, 0),
			 0);
	starpu_task_wait_for_all();
	CHECK(worker_calls[0] == N && worker_calls[1] == N && !worker_calls[2] && !worker_calls[3]);
	CHECK(starpu_sched_ctx_exec_parallel_code(code, &n, none_ctx) == &n);
	CHECK(n == 1 && last_size == 3);
	CHECK_IS(starpu_task_insert(&caller, STARPU_CL_ARGS_NFREE, &n, sizeof(n), STARPU_SCHED_CTX,
				    none_ctx, 0),
		 0);
	starpu_task_wait_for_all();
	CHECK_IS(n, 2);
	starpu_sched_ctx_remove_workers(&three, 1, none_ctx);
	CHECK(starpu_sched_ctx_exec_parallel_code(code, &n, none_ctx) == &n);
	CHECK_IS(last_size, 2);
	CHECK_IS(starpu_task_insert(&seq, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &no_wait,
				    sizeof(no_wait), STARPU_SCHED_CTX, none_ctx, 0),
		 0);
	starpu_task_wait_for_all();
	CHECK_IS(last_size, 2);
	/* A combined worker that is not all in the context. */
	{
		struct starpu_task *task = starpu_task_create();

		task->cl = &forkjoin;
		task->handles[0] = h;
		task->sched_ctx = other_ctx;
		task->execute_on_a_specific_worker = 1;
		task->workerid = (unsigned) starpu_combined_worker_assign_workerid(3, ids);
		CHECK_IS(starpu_task_submit(task), -ENODEV);
		starpu_task_destroy(task);
	}
	starpu_data_unregister(h);
	CHECK_IS(x, N + 1);
	starpu_sched_ctx_delete(none_ctx);
	starpu_shutdown();
}

int main(void)
{
	setenv("STARPU_WORKERS_NOBIND", "1", 1);
	table();
	sizes();
	pinned("lws");
	pinned("dmda");
	pinned("peager");
	by_policy("peager", 1);
	by_policy("pheft", 1);
	by_policy("eager", 0);
	by_policy("dmdas", 0);
	by_policy("lws", 0);
	contexts();
	return 0;
}
