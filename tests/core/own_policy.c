/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices none */
/* A policy written against the public interface only (own_policy.h), in the default context and in
 * one of its own: collections, bitmaps, waking.
 *
 * Invariant: while the policy holds tasks back the workers sleep, and nothing but its own waking
 * starts them. */
#include "core_test.h"
#include "own_policy.h"

#define N 200
#define NCPUS 4

static int ran[STARPU_NMAXWORKERS], total;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	CHECK_IS(starpu_worker_sched_op_pending(), 0);
	INCR(ran[starpu_worker_get_id_check()]);
	INCR(total);
}
static struct starpu_codelet cl = { .cpu_funcs = { kernel } };

static void submit(unsigned ctx, int n)
{
	for (int i = 0; i < n; i++)
		OK(starpu_task_insert(&cl, STARPU_SCHED_CTX, ctx, 0));
}

/* All pushed tasks ran, by workers of the context. */
static void check_done(unsigned ctx, int n)
{
	struct own *o = own_of(ctx);

	CHECK_IS(total, n);
	CHECK_IS(o->npushed, o->npopped);
	STARPU_PTHREAD_MUTEX_LOCK(&o->mutex);
	CHECK_IS(o->nops, o->npops);
	STARPU_PTHREAD_MUTEX_UNLOCK(&o->mutex);
	for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
		CHECK(starpu_sched_ctx_contains_worker((int) w, ctx) || !ran[w]);
		CHECK_IS(starpu_bitmap_get(o->workers, (int) w),
			 starpu_sched_ctx_contains_worker((int) w, ctx));
		ran[w] = 0;
	}
	total = 0;
}

static void check_collection(unsigned ctx, unsigned n)
{
	struct starpu_worker_collection *c = starpu_sched_ctx_get_worker_collection(ctx);
	struct starpu_sched_ctx_iterator it;
	struct starpu_bitmap seen;

	CHECK_IS(c->type, STARPU_WORKER_TREE);
	CHECK_IS(c->nworkers, n);
	starpu_bitmap_init(&seen);
	c->init_iterator(c, &it);
	while (c->has_next(c, &it))
		starpu_bitmap_set(&seen, c->get_next(c, &it));
	CHECK_IS(starpu_bitmap_cardinal(&seen), n);
	for (int w = starpu_bitmap_first(&seen); w >= 0; w = starpu_bitmap_next(&seen, w))
		CHECK(starpu_sched_ctx_contains_worker(w, ctx));
}

static int increment(int workerid)
{
	starpu_sched_ctx_list_task_counters_increment(0, workerid);
	return 0;
}

static int share(int workerid)
{
	starpu_sched_ctx_worker_shares_tasks_lists(workerid, 0);
	return 0;
}

static int broadcast(int workerid)
{
	(void) workerid;
	starpu_wake_all_blocked_workers();
	return 0;
}

static void wakes(int (*wake)(int workerid))
{
	own_hold(0, 1, NULL);
	submit(0, 20);
	starpu_usleep(20000); /* everybody sleeps by now; if not, the test is weaker, not wrong */
	CHECK_IS(total, 0);
	own_hold(0, 0, wake);
	starpu_task_wait_for_all();
	check_done(0, 20);
}

/* An alarm for a worker that is awake is not needed, and one sleeper is woken once. */
static void sleepers(void)
{
	CHECK_IS(starpu_wake_worker_relax(NCPUS + 3), 0);
	CHECK_IS(starpu_wake_worker_relax(-1), 0);
	CHECK_IS(starpu_worker_is_blocked_in_parallel(0), 0);
	CHECK_IS(starpu_worker_sched_op_pending(), 0);
	CHECK_IS(starpu_push_task_end(NULL), -EINVAL);
}

/* Of a context whose policy does not look at it. */
static void collections(void)
{
	int two[] = { 1, 3 };
	unsigned ctx = starpu_sched_ctx_create(two, 2, "eager", STARPU_SCHED_CTX_POLICY_NAME,
					       "eager", 0);
	struct starpu_worker_collection *c = starpu_sched_ctx_create_worker_collection(
		ctx, STARPU_WORKER_TREE);

	CHECK(c && c->type == STARPU_WORKER_TREE && c->nworkers == 2);
	CHECK(!starpu_sched_ctx_create_worker_collection(ctx, STARPU_WORKER_LIST));
	CHECK(starpu_sched_ctx_create_worker_collection(ctx, STARPU_WORKER_TREE) == c);
	CHECK(starpu_sched_ctx_get_worker_collection(ctx) == c);
	starpu_sched_ctx_delete_worker_collection(ctx);
	c = starpu_sched_ctx_get_worker_collection(ctx); /* made anew, as the policy says */
	CHECK(c && c->type == STARPU_WORKER_LIST && c->nworkers == 2);
	CHECK(!starpu_sched_ctx_create_worker_collection(7, STARPU_WORKER_LIST));
	starpu_sched_ctx_delete(ctx);
}

static void context(void)
{
	int two[] = { 1, 3 }, other = 0;
	unsigned ctx = starpu_sched_ctx_create(two, 2, "own", STARPU_SCHED_CTX_POLICY_STRUCT,
					       &own_policy, 0);

	CHECK(ctx != STARPU_NMAX_SCHED_CTXS);
	check_collection(ctx, 2);
	submit(ctx, N);
	starpu_task_wait_for_all();
	check_done(ctx, N);
	starpu_sched_ctx_add_workers(&other, 1, ctx);
	check_collection(ctx, 3);
	submit(ctx, N);
	starpu_sched_ctx_remove_workers(two, 2, ctx);
	starpu_task_wait_for_all();
	total = 0;
	for (unsigned w = 0; w < starpu_worker_get_count(); w++)
		ran[w] = 0;
	check_collection(ctx, 1);
	submit(ctx, N);
	starpu_task_wait_for_all();
	check_done(ctx, N);
	starpu_sched_ctx_delete(ctx);
}

int main(void)
{
	struct starpu_conf conf;

	OK(starpu_conf_init(&conf));
	conf.ncpus = NCPUS;
	conf.ncuda = conf.nopencl = 0;
	conf.sched_policy = &own_policy;
	OK(starpu_init(&conf));
	check_collection(0, NCPUS);
	submit(0, N);
	starpu_task_wait_for_all();
	check_done(0, N);
	wakes(starpu_wake_worker_relax);
	wakes(starpu_wake_worker_relax_light);
	wakes(starpu_wake_worker_no_relax);
	wakes(starpu_wake_worker_locked);
	wakes(increment);
	wakes(share);
	wakes(broadcast);
	sleepers();
	context();
	collections();
	starpu_shutdown();

	/* The variable wins over the type that the policy asks for. */
	setenv("STARPU_WORKER_TREE", "1", 1);
	core_start(NCPUS, "eager");
	check_collection(0, NCPUS);
	starpu_shutdown();
	unsetenv("STARPU_WORKER_TREE");
	core_start(NCPUS, "eager");
	CHECK_IS(starpu_sched_ctx_get_worker_collection(0)->type, STARPU_WORKER_LIST);
	starpu_shutdown();
	return 0;
}
