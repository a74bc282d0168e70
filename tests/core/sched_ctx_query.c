/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices none */
/* Scheduling contexts: what can be asked, an own instance of a program's policy in each, and wrong
 * arguments.
 *
 * Invariant: a mistake is answered, and changes nothing. */
#include "core_test.h"

#include <errno.h>
#include <string.h>

#define NCPU 4
#define N 50

/* --- a policy of the program: one list per context --- */

struct stack {
	struct starpu_task_list list;
	starpu_pthread_mutex_t mutex;
	int workers, pushed, popped, pre, post;
	unsigned ctx;
};

static int inits, live;

static void init(unsigned ctx)
{
	struct stack *s = calloc(1, sizeof(*s));

	s->ctx = ctx;
	STARPU_PTHREAD_MUTEX_INIT(&s->mutex, NULL);
	starpu_task_list_init(&s->list);
	starpu_sched_ctx_set_policy_data(ctx, s);
	starpu_sched_ctx_set_min_priority(ctx, -(int) ctx);
	starpu_sched_set_max_priority(3);
	inits++;
	live++;
}

static void deinit(unsigned ctx)
{
	struct stack *s = starpu_sched_ctx_get_policy_data(ctx);

	CHECK(s->ctx == ctx && starpu_task_list_empty(&s->list));
	CHECK(s->pushed == s->popped && s->popped == s->pre && s->pre == s->post);
	STARPU_PTHREAD_MUTEX_DESTROY(&s->mutex);
	free(s);
	live--;
}

static void add(unsigned ctx, int *ids, unsigned n)
{
	CHECK(ids[0] >= 0);
	((struct stack *) starpu_sched_ctx_get_policy_data(ctx))->workers += (int) n;
}

static void drop(unsigned ctx, int *ids, unsigned n)
{
	CHECK(ids[0] >= 0);
	((struct stack *) starpu_sched_ctx_get_policy_data(ctx))->workers -= (int) n;
}

static int push(struct starpu_task *task)
{
	struct stack *s = starpu_sched_ctx_get_policy_data(task->sched_ctx);

	STARPU_PTHREAD_MUTEX_LOCK(&s->mutex);
	s->pushed++;
	starpu_task_list_push_front(&s->list, task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&s->mutex);
	starpu_push_task_end(task);
	return 0;
}

static struct starpu_task *pop(unsigned ctx)
{
	struct stack *s = starpu_sched_ctx_get_policy_data(ctx);
	struct starpu_task *task;

	CHECK(s->ctx == ctx);
	CHECK(starpu_sched_ctx_contains_worker(starpu_worker_get_id(), ctx));
	STARPU_PTHREAD_MUTEX_LOCK(&s->mutex);
	task = starpu_task_list_pop_front(&s->list);
	s->popped += task != NULL;
	STARPU_PTHREAD_MUTEX_UNLOCK(&s->mutex);
	return task;
}

static void pre(struct starpu_task *task, unsigned ctx)
{
	CHECK_IS(task->sched_ctx, ctx);
	INCR(((struct stack *) starpu_sched_ctx_get_policy_data(ctx))->pre);
}

static void post(struct starpu_task *task, unsigned ctx)
{
	CHECK_IS(task->sched_ctx, ctx);
	INCR(((struct stack *) starpu_sched_ctx_get_policy_data(ctx))->post);
}

static struct starpu_sched_policy stack = {
	.init_sched = init,
	.deinit_sched = deinit,
	.add_workers = add,
	.remove_workers = drop,
	.push_task = push,
	.pop_task = pop,
	.pre_exec_hook = pre,
	.post_exec_hook = post,
	.policy_name = "stack",
	.worker_type = STARPU_WORKER_LIST,
};

static int ran, after_init = -1;
static struct starpu_codelet cl = { .cpu_funcs = { core_count_kernel } };

static void on_init(unsigned ctx)
{
	after_init = (int) ctx;
}

static void ranks(void *buffers[], void *arg)
{
	unsigned ctx = *(unsigned *) arg;
	int id = starpu_worker_get_id();

	(void) buffers;
	CHECK_IS((int) starpu_sched_ctx_worker_get_id(ctx), id == 1 ? 0 : id == 3 ? 1 : -1);
	/* The priorities are those of the task's context. */
	CHECK_IS(STARPU_MIN_PRIO, -(int) ctx);
	CHECK_IS(STARPU_MAX_PRIO, 3);
}

static void users_policy(void)
{
	static struct starpu_codelet rank_cl = { .cpu_funcs = { ranks } };
	int odd[] = { 1, 3 }, one = 1, i, x = 5, *ids;
	unsigned a, b, n;
	struct starpu_worker_collection *c;
	struct starpu_sched_ctx_iterator it;

	core_start(NCPU, "eager");
	a = starpu_sched_ctx_create(
		odd, 2, "a", STARPU_SCHED_CTX_POLICY_STRUCT, &stack, STARPU_SCHED_CTX_POLICY_INIT,
		on_init, STARPU_SCHED_CTX_USER_DATA, &x, STARPU_SCHED_CTX_AWAKE_WORKERS, 0);
	b = starpu_sched_ctx_create(NULL, -1, NULL, STARPU_SCHED_CTX_POLICY_STRUCT, &stack,
				    STARPU_SCHED_CTX_NESTED, a, STARPU_SCHED_CTX_POLICY_MIN_PRIO,
				    -9, STARPU_SCHED_CTX_POLICY_MAX_PRIO, 9,
				    STARPU_SCHED_CTX_CUDA_NSMS, 4, 0);
	CHECK(a != b && a < STARPU_NMAX_SCHED_CTXS && b < STARPU_NMAX_SCHED_CTXS);
	CHECK(inits == 2 && live == 2 && after_init == (int) a);
	CHECK(starpu_sched_ctx_get_user_data(a) == &x && starpu_sched_ctx_get_user_data(b) == NULL);
	starpu_sched_ctx_set_user_data(b, &i);
	CHECK(starpu_sched_ctx_get_user_data(b) == &i);
	CHECK(starpu_sched_ctx_get_hierarchy_level(a) == 0 &&
	      starpu_sched_ctx_get_hierarchy_level(b) == 1);
	CHECK_IS(starpu_sched_ctx_get_min_priority(a), -(int) a);
	CHECK_IS(starpu_sched_ctx_get_max_priority(a), 3);
	CHECK_IS(STARPU_MIN_PRIO, 0);
	CHECK(starpu_sched_get_sched_policy_in_ctx(a) == &stack &&
	      starpu_sched_get_sched_policy() != &stack);
	n = starpu_sched_ctx_get_workers_list(a, &ids);
	CHECK(n == 2 && ids[0] == 1 && ids[1] == 3);
	free(ids);
	CHECK_IS(starpu_sched_ctx_get_nworkers(b), starpu_worker_get_count());
	CHECK(starpu_sched_ctx_contains_type_of_worker(STARPU_CPU_WORKER, a) &&
	      !starpu_sched_ctx_contains_type_of_worker(STARPU_CUDA_WORKER, a));
	c = starpu_sched_ctx_get_worker_collection(a);
	CHECK(c == starpu_sched_ctx_get_worker_collection(a) && c->nworkers == 2);
	starpu_sched_ctx_remove_workers(&one, 1, a);
	for (n = 0, c->init_iterator(c, &it); c->has_next(c, &it); n++)
		CHECK_IS(c->get_next(c, &it), 3);
	CHECK_IS(n, 1);
	starpu_sched_ctx_add_workers(&one, 1, a);
	CHECK_IS(c->nworkers, 2);
	starpu_sched_ctx_display_workers(a, stderr);
	for (i = 0; i < N; i++) {
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
					    STARPU_SCHED_CTX, i % 2 ? a : b, 0),
			 0);
		CHECK_IS(starpu_task_insert(&rank_cl, STARPU_CL_ARGS_NFREE, &a, sizeof(a),
					    STARPU_SCHED_CTX, a, 0),
			 0);
	}
	starpu_task_wait_for_all();
	CHECK_IS(ran, N);
	CHECK(starpu_sched_ctx_get_nready_tasks(a) == 0 &&
	      starpu_sched_ctx_get_nready_flops(a) == 0);
	starpu_sched_ctx_get_sms_interval(0, &i, &x);
	CHECK(i == 0 && x == 4);
	starpu_sched_ctx_delete(a);
	CHECK_IS(live, 1);
	starpu_shutdown();
	CHECK_IS(live, 0);
}

static struct starpu_codelet heavy = { .cpu_funcs = { core_count_kernel } };

/* Questions while tasks begin and end, some of which are the program's memory. */
static void come_and_go(unsigned ctx)
{
	for (int i = 0; i < 200; i++) {
		struct starpu_task *task = malloc(sizeof(*task));

		starpu_task_init(task);
		task->cl = &heavy;
		task->cl_arg = &ran;
		task->cl_arg_size = sizeof(ran);
		task->sched_ctx = ctx;
		task->flops = 2;
		task->detach = 0;
		CHECK_IS(starpu_task_submit(task), 0);
		CHECK_IS(starpu_task_insert(&heavy, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
					    STARPU_FLOPS, 2.0, STARPU_SCHED_CTX, ctx, 0),
			 0);
		CHECK(starpu_task_nready() >= 0 &&
		      starpu_sched_ctx_get_nready_tasks(ctx) <= 2 * (i + 1) + 7);
		CHECK(starpu_sched_ctx_get_nready_flops(ctx) <= 2 * (2 * (i + 1) + 7));
		CHECK_IS(starpu_task_wait(task), 0);
		starpu_task_clean(task);
		free(task);
	}
}

/* Ready tasks of a context whose workers are paused. */
static void ready(void)
{
	unsigned a;
	int one = 1, i, n, *cpus;

	core_start(2, NULL);
	a = starpu_sched_ctx_create(&one, 1, "a", STARPU_SCHED_CTX_POLICY_NAME, "prio", 0);
	starpu_pause();
	for (i = 0; i < 7; i++)
		CHECK_IS(starpu_task_insert(&heavy, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
					    STARPU_FLOPS, 2.0, STARPU_SCHED_CTX, a, 0),
			 0);
	CHECK_IS(starpu_sched_ctx_get_nready_tasks(a), 7);
	CHECK(starpu_sched_ctx_get_nready_flops(a) == 14);
	CHECK_IS(starpu_sched_ctx_get_nready_tasks(0), 0);
	starpu_resume();
	come_and_go(a);
	starpu_task_wait_for_all();
	CHECK_IS(starpu_sched_ctx_get_nready_tasks(a), 0);
	starpu_sched_ctx_get_available_cpuids(a, &cpus, &n);
	CHECK(n == (starpu_worker_get_bindid(1) >= 0) &&
	      (!n || cpus[0] == starpu_worker_get_bindid(1)));
	free(cpus);
	starpu_shutdown();
}

static void mistakes(void)
{
	int bad = 99, one = 1, both[] = { 0, 1 };
	unsigned i, a, none = 5, ids[STARPU_NMAX_SCHED_CTXS];
	struct starpu_task *task;

	core_start(2, NULL);
	task = starpu_task_create();
	task->cl = &cl;
	task->cl_arg = &ran;
	task->sched_ctx = none;
	CHECK_IS(starpu_task_submit(task), -EINVAL);
	task->sched_ctx = 12345;
	CHECK_IS(starpu_task_submit(task), -EINVAL);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(none), -EINVAL);
	CHECK_IS(starpu_task_wait_for_n_submitted_in_ctx(999, 1), -EINVAL);
	CHECK_IS(starpu_sched_ctx_create(&bad, 1, "bad", 0), STARPU_NMAX_SCHED_CTXS);
	CHECK_IS(starpu_sched_ctx_create(&one, 1, "bad", STARPU_SCHED_CTX_POLICY_NAME, "nonsense",
					 0),
		 STARPU_NMAX_SCHED_CTXS);
	CHECK_IS(starpu_sched_ctx_create(&one, 1, "bad", STARPU_SCHED_CTX_NESTED, none, 0),
		 STARPU_NMAX_SCHED_CTXS);
	CHECK_IS(starpu_sched_ctx_create(&one, 1, "bad", 4711, 0), STARPU_NMAX_SCHED_CTXS);
	starpu_sched_ctx_delete(0);
	starpu_sched_ctx_delete(none);
	starpu_sched_ctx_add_workers(&one, 1, none);
	starpu_sched_ctx_remove_workers(both, 2, 0);
	CHECK_IS(starpu_sched_ctx_get_nworkers(0), starpu_worker_get_count());
	starpu_sched_ctx_set_context(&none);
	CHECK_IS(starpu_sched_ctx_get_context(), STARPU_NMAX_SCHED_CTXS);
	a = starpu_sched_ctx_create(&one, 1, "good", STARPU_SCHED_CTX_POLICY_NAME, "lws", 0);
	CHECK_IS(a, 1);
	starpu_sched_ctx_add_workers(&bad, 1, a);
	starpu_sched_ctx_set_inheritor(a, none);
	CHECK_IS(starpu_sched_ctx_get_inheritor(a), 0);
	/* A worker that is not in the context. */
	task->sched_ctx = a;
	task->execute_on_a_specific_worker = 1;
	task->workerid = 0;
	CHECK_IS(starpu_task_submit(task), -ENODEV);
	task->workerid = 1;
	CHECK_IS(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
	for (i = 2; i < STARPU_NMAX_SCHED_CTXS; i++) {
		ids[i] = starpu_sched_ctx_create(&one, 1, "many", STARPU_SCHED_CTX_POLICY_NAME,
						 "eager", 0);
		CHECK_IS(ids[i], i);
	}
	CHECK_IS(starpu_sched_ctx_create(&one, 1, "too many", 0), STARPU_NMAX_SCHED_CTXS);
	starpu_sched_ctx_delete(4);
	CHECK_IS(starpu_sched_ctx_create(&one, 1, "again", STARPU_SCHED_CTX_POLICY_NAME, "dmda", 0),
		 4);
	starpu_shutdown();
}

/* "" is the default policy; without one, the program keeps what it likes as data of the policy. */
static void default_and_none(void)
{
	int one = 0, mine;
	unsigned a = starpu_sched_ctx_create(&one, 1, "a", STARPU_SCHED_CTX_POLICY_NAME, "", 0);
	unsigned b = starpu_sched_ctx_create(&one, 1, "b", 0);

	CHECK(a < STARPU_NMAX_SCHED_CTXS && b < STARPU_NMAX_SCHED_CTXS);
	CHECK(!strcmp(starpu_sched_get_sched_policy_in_ctx(a)->policy_name, "lws"));
	CHECK(starpu_sched_get_sched_policy_in_ctx(b) == NULL);
	CHECK(starpu_sched_ctx_get_policy_data(b) == NULL);
	starpu_sched_ctx_set_policy_data(b, &mine);
	CHECK(starpu_sched_ctx_get_policy_data(b) == &mine);
	starpu_sched_ctx_delete(a);
	starpu_sched_ctx_delete(b);
}

int main(void)
{
	users_policy();
	ready();
	mistakes();
	core_start(1, NULL);
	default_and_none();
	starpu_shutdown();
	return 0;
}
