/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Modular schedulers that a program puts together: a component of its own (last in, first out) in a
 * simple scheduler, and a tree made by hand.
 *
 * Invariant: on one worker tasks are executed in the order that the tree says; on several, and on
 * devices, each is executed once, where it can be. */
#include "core_test.h"

#include <starpu_sched_component.h>

#define N 40

/* ---- a component of the program ---- */

struct lifo {
	starpu_pthread_mutex_t mutex;
	struct starpu_task_list list;
};

static int nlifos;

static struct starpu_task *lifo_take(struct lifo *d)
{
	struct starpu_task *task = NULL;

	STARPU_COMPONENT_MUTEX_LOCK(&d->mutex);
	if (!starpu_task_list_empty(&d->list))
		task = starpu_task_list_pop_front(&d->list);
	STARPU_COMPONENT_MUTEX_UNLOCK(&d->mutex);
	return task;
}

static void lifo_put(struct lifo *d, struct starpu_task *task)
{
	STARPU_COMPONENT_MUTEX_LOCK(&d->mutex);
	starpu_task_list_push_front(&d->list, task);
	STARPU_COMPONENT_MUTEX_UNLOCK(&d->mutex);
}

static int lifo_push(struct starpu_sched_component *c, struct starpu_task *task)
{
	lifo_put(c->data, task);
	c->can_pull(c);
	return 0;
}

static struct starpu_task *lifo_pull(struct starpu_sched_component *from,
				     struct starpu_sched_component *to)
{
	CHECK(!to || to->parents[0] == from);
	return lifo_take(from->data);
}

static int lifo_can_push(struct starpu_sched_component *from, struct starpu_sched_component *to)
{
	int pushed;
	struct starpu_task *refused = starpu_sched_component_pump_to(from, to, &pushed);

	if (refused)
		lifo_put(from->data, refused);
	return starpu_sched_component_can_push(from, to) || pushed;
}

static int lifo_can_pull(struct starpu_sched_component *c)
{
	return starpu_sched_component_can_pull(c);
}

static void lifo_deinit(struct starpu_sched_component *c)
{
	struct lifo *d = c->data;

	CHECK(starpu_task_list_empty(&d->list));
	STARPU_PTHREAD_MUTEX_DESTROY(&d->mutex);
	free(d);
	nlifos--;
}

static struct starpu_sched_component *lifo_create(struct starpu_sched_tree *tree, void *arg)
{
	struct starpu_sched_component *c = starpu_sched_component_create(tree, "lifo");
	struct lifo *d = malloc(sizeof(*d));

	CHECK(arg == &nlifos);
	STARPU_PTHREAD_MUTEX_INIT(&d->mutex, NULL);
	starpu_task_list_init(&d->list);
	c->data = d;
	c->push_task = lifo_push;
	c->pull_task = lifo_pull;
	c->can_push = lifo_can_push;
	c->can_pull = lifo_can_pull;
	c->deinit_data = lifo_deinit;
	nlifos++;
	return c;
}

static unsigned lifo_flags;

static void lifo_init(unsigned ctx)
{
	starpu_sched_component_initialize_simple_scheduler(lifo_create, &nlifos, lifo_flags, ctx);
	CHECK(starpu_sched_tree_get(ctx) == starpu_sched_ctx_get_policy_data(ctx));
	CHECK(!starpu_sched_tree_create(ctx)); /* there is one */
}

static void end(unsigned ctx)
{
	starpu_sched_tree_destroy(starpu_sched_tree_get(ctx));
	CHECK(!starpu_sched_tree_get(ctx));
}

#define POLICY(NAME) \
	{ \
		.init_sched = NAME##_init, .deinit_sched = end, \
		.add_workers = starpu_sched_tree_add_workers, \
		.remove_workers = starpu_sched_tree_remove_workers, \
		.push_task = starpu_sched_tree_push_task, .pop_task = starpu_sched_tree_pop_task, \
		.do_schedule = starpu_sched_tree_do_schedule, \
		.pre_exec_hook = starpu_sched_component_worker_pre_exec_hook, \
		.post_exec_hook = starpu_sched_component_worker_post_exec_hook, \
		.policy_name = #NAME, .policy_description = #NAME, \
		.worker_type = STARPU_WORKER_LIST, \
	}

static struct starpu_sched_policy lifo_policy = POLICY(lifo);

/* ---- a tree made by hand: a queue by priority, eager, workers ---- */

static void hand_init(unsigned ctx)
{
	struct starpu_sched_tree *t = starpu_sched_tree_create(ctx);
	struct starpu_sched_component *eager = starpu_sched_component_eager_create(t, NULL);

	t->root = starpu_sched_component_prio_create(t, NULL);
	starpu_sched_component_connect(t->root, eager);
	for (unsigned i = 0; i < starpu_worker_get_count(); i++) {
		struct starpu_sched_component *w = starpu_sched_component_worker_new(ctx, (int) i);

		CHECK(w == starpu_sched_component_worker_get(ctx, (int) i));
		CHECK_IS(starpu_sched_component_worker_get_workerid(w), i);
		CHECK(starpu_sched_component_is_worker(w) &&
		      starpu_sched_component_is_simple_worker(w) &&
		      !starpu_sched_component_is_combined_worker(w));
		starpu_sched_component_connect(eager, w);
	}
	CHECK(!starpu_sched_component_worker_new(ctx, -1));
	CHECK(!starpu_sched_component_worker_new(ctx, STARPU_NMAXWORKERS));
	starpu_sched_tree_update_workers(t);
	CHECK(starpu_sched_component_is_prio(t->root) && !starpu_sched_component_is_fifo(t->root));
	CHECK(starpu_sched_component_is_eager(eager) && !starpu_sched_component_is_worker(eager));
	CHECK_IS(starpu_bitmap_cardinal(&t->root->workers), starpu_worker_get_count());
	CHECK_IS(starpu_bitmap_cardinal(&t->root->workers_in_ctx), 0);
	starpu_sched_ctx_set_policy_data(ctx, t);
}

static struct starpu_sched_policy hand_policy = POLICY(hand);

/* ---- runs ---- */

static int order[N], nran, where[3];

static void note(void *buffers[], void *arg)
{
	(void) buffers;
	order[INCR(nran) - 1] = *(int *) arg;
}

static void count(void *buffers[], void *arg)
{
	(void) buffers;
	INCR(where[*(int *) arg]);
	CHECK(*(int *) arg == 2 || (starpu_worker_get_type(starpu_worker_get_id()) ==
				    STARPU_CPU_WORKER) == (*(int *) arg == 0));
}

static void start(struct starpu_sched_policy *policy, int ncpus, int ndevices)
{
	struct starpu_conf conf;

	test_devices((unsigned) ndevices);
	OK(starpu_conf_init(&conf));
	conf.ncpus = ncpus;
	conf.nopencl = 0;
	conf.ncuda = ndevices;
	conf.sched_policy = policy;
	OK(starpu_init(&conf));
	CHECK_IS(starpu_worker_get_count(), ncpus + ndevices);
}

/* What is pushed while the runtime is paused is executed afterwards in the order of the tree. */
static void one_worker(struct starpu_sched_policy *policy)
{
	static struct starpu_codelet cl = { .cpu_funcs = { note } };

	start(policy, 1, 0);
	nran = 0;
	starpu_pause();
	for (int i = 0; i < N; i++)
		OK(starpu_task_insert(&cl, STARPU_PRIORITY, i % 4, STARPU_CL_ARGS,
				      memcpy(malloc(sizeof(i)), &i, sizeof(i)), sizeof(i), 0));
	starpu_resume();
	starpu_task_wait_for_all();
	CHECK_IS(nran, N);
}

static void all_run(struct starpu_sched_policy *policy, int ncpus, int ndevices)
{
	static const int kind[] = { 0, 1, 2 };
	static struct starpu_codelet cl[] = { { .cpu_funcs = { count } },
					      { .cuda_funcs = { count } },
					      { .cpu_funcs = { count }, .cuda_funcs = { count } } };
	int has[] = { 1, ndevices > 0, 1 };

	start(policy, ncpus, ndevices);
	CHECK_IS(starpu_bitmap_cardinal(&starpu_sched_tree_get(0)->root->workers_in_ctx),
		 starpu_worker_get_count());
	memset(where, 0, sizeof(where));
	for (int i = 0; i < 3 * N; i++)
		if (has[i % 3])
			OK(starpu_task_insert(&cl[i % 3], STARPU_CL_ARGS_NFREE, &kind[i % 3],
					      sizeof(int), 0));
	starpu_do_schedule();
	starpu_task_wait_for_all();
	for (int i = 0; i < 3; i++)
		CHECK_IS(where[i], has[i] ? N : 0);
	starpu_shutdown();
	CHECK_IS(nlifos, 0);
}

/* Workers leave and join while there are tasks. */
static void context(struct starpu_sched_policy *policy)
{
	static const int kind = 2;
	static struct starpu_codelet cl = { .cpu_funcs = { count } };
	int two[] = { 0, 2 };
	unsigned ctx;

	start(NULL, 3, 0);
	ctx = starpu_sched_ctx_create(two, 2, "modular", STARPU_SCHED_CTX_POLICY_STRUCT, policy, 0);
	CHECK(ctx != STARPU_NMAX_SCHED_CTXS);
	where[2] = 0;
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < N; i++)
			OK(starpu_task_insert(&cl, STARPU_SCHED_CTX, ctx, STARPU_CL_ARGS_NFREE,
					      &kind, sizeof(kind), 0));
		if (round % 2)
			starpu_sched_ctx_add_workers(&two[1], 1, ctx);
		else
			starpu_sched_ctx_remove_workers(&two[1], 1, ctx);
	}
	starpu_task_wait_for_all();
	CHECK_IS(where[2], 4 * N);
	starpu_sched_ctx_delete(ctx);
	starpu_shutdown();
}

/* Policies of the runtime in which a decision pushes to another one, or to queues. */
static void named(const char *name)
{
	struct starpu_sched_policy **p = starpu_sched_get_predefined_policies();

	while (*p && strcmp((*p)->policy_name, name))
		p++;
	CHECK(*p, "policy %s", name);
	one_worker(*p);
	/* The worker had room for the first few, before the urgent ones came. */
	for (int i = 4; i < N; i++)
		CHECK(order[i] % 4 <= order[i - 1] % 4);
	starpu_shutdown();
	for (int i = 0; i < 3; i++) {
		all_run(*p, 3, 0);
		all_run(*p, 2, 2);
	}
	context(*p);
}

int main(void)
{
	static const unsigned flags[] = {
		STARPU_SCHED_SIMPLE_DECIDE_WORKERS,
		STARPU_SCHED_SIMPLE_DECIDE_WORKERS | STARPU_SCHED_SIMPLE_FIFOS_BELOW |
			STARPU_SCHED_SIMPLE_FIFOS_BELOW_PRIO | STARPU_SCHED_SIMPLE_IMPL,
	};

	for (unsigned f = 0; f < 2; f++) {
		lifo_flags = flags[f];
		one_worker(&lifo_policy);
		for (int i = 0; i < N && f == 0; i++)
			CHECK_IS(order[i], N - 1 - i);
		starpu_shutdown();
		all_run(&lifo_policy, 3, 0);
		context(&lifo_policy);
	}
	one_worker(&hand_policy);
	for (int i = 0; i < N; i++)
		CHECK_IS(order[i], 3 - i / (N / 4) + i % (N / 4) * 4);
	starpu_shutdown();
	all_run(&hand_policy, 3, 0);
	all_run(&hand_policy, 2, 2);
	context(&hand_policy);
	named("modular-heteroprio");
	named("modular-heteroprio-heft");
	named("modular-gemm");
	return 0;
}
