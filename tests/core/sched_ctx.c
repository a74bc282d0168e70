/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scheduling contexts with each policy: tasks stay on the context's workers, waiting is by context,
 * workers move while tasks run, and go to the inheritor at the end.
 *
 * Invariant: a kernel checks that its worker belongs to the context that its argument names;
 * `allowed` says who does. */
#include "core_test.h"

#include <errno.h>
#include <string.h>

#define NCPU 4
#define N 100

static unsigned allowed[STARPU_NMAX_SCHED_CTXS]; /* masks of workers, by context */
static int ran[STARPU_NMAX_SCHED_CTXS];

static void kernel(void *buffers[], void *arg)
{
	unsigned ctx = (unsigned) (uintptr_t) arg, w = starpu_worker_get_id_check();

	(void) buffers;
	CHECK(LOAD(allowed[ctx]) >> w & 1);
	CHECK_IS(starpu_task_get_current()->sched_ctx, ctx);
	INCR(ran[ctx]);
}

static double length(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) task;
	(void) arch;
	(void) nimpl;
	return 10;
}

static struct starpu_perfmodel model = { .type = STARPU_PER_ARCH, .arch_cost_function = length };
static struct starpu_codelet cl = { .cpu_funcs = { kernel },
				    .model = &model,
				    .name = "in_context" };
static struct starpu_codelet data_cl = {
	.cpu_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "in_context_rw"
};

static void insert(unsigned ctx)
{
	CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, (void *) (uintptr_t) ctx, (size_t) 0,
				    STARPU_SCHED_CTX, ctx, 0),
		 0);
}

static unsigned create(int *ids, int n, const char *name, const char *policy)
{
	unsigned ctx = starpu_sched_ctx_create(ids, n, name, STARPU_SCHED_CTX_POLICY_NAME, policy,
					       0);

	CHECK(ctx > 0 && ctx < STARPU_NMAX_SCHED_CTXS);
	STORE(allowed[ctx], 0u);
	for (int i = 0; i < n; i++)
		STORE(allowed[ctx], allowed[ctx] | 1u << ids[i]);
	STORE(ran[ctx], 0);
	return ctx;
}

/* All ways to submit to a context; data are shared with the default one. */
static void separate(unsigned a, unsigned b)
{
	int x = 0;
	starpu_data_handle_t h = core_register(&x);
	struct starpu_task *task;

	ran[0] = ran[a] = ran[b] = 0;
	for (int i = 0; i < N; i++) {
		insert(a);
		insert(b);
		CHECK_IS(starpu_task_insert(&data_cl, STARPU_RW, h, STARPU_CL_ARGS_NFREE,
					    (void *) (uintptr_t) (i % 2 ? a : 0), (size_t) 0,
					    STARPU_SCHED_CTX, i % 2 ? a : 0, 0),
			 0);
		task = starpu_task_create();
		task->cl = &cl;
		task->cl_arg = (void *) (uintptr_t) b;
		CHECK_IS(starpu_task_submit_to_ctx(task, b), 0);
	}
	starpu_sched_ctx_set_context(&a);
	CHECK_IS(starpu_sched_ctx_get_context(), a);
	CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, (void *) (uintptr_t) a, (size_t) 0,
				    0),
		 0);
	starpu_task_wait_for_all(); /* of a */
	CHECK_IS(LOAD(ran[a]), N + N / 2 + 1);
	starpu_sched_ctx_set_context(NULL);
	CHECK_IS(starpu_sched_ctx_get_context(), STARPU_NMAX_SCHED_CTXS);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(0), 0);
	CHECK_IS(LOAD(ran[0]), N / 2);
	starpu_task_wait_for_all();
	CHECK_IS(ran[b], 2 * N);
	starpu_data_unregister(h);
}

/* What waits in one context does not keep the other's waiting. */
static void waiting(unsigned a, unsigned b)
{
	struct starpu_task *task = starpu_task_create();
	starpu_tag_t tag = 77;

	task->cl = &cl;
	task->cl_arg = (void *) (uintptr_t) b;
	task->use_tag = 1;
	task->tag_id = tag;
	task->sched_ctx = b;
	ran[a] = ran[b] = 0;
	starpu_tag_declare_deps(tag, 1, (starpu_tag_t) 78);
	CHECK_IS(starpu_task_submit(task), 0);
	insert(a);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(a), 0);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(0), 0);
	CHECK_IS(LOAD(ran[a]), 1);
	CHECK_IS(LOAD(ran[b]), 0);
	CHECK_IS(starpu_task_wait_for_n_submitted_in_ctx(b, 1), 0);
	CHECK_IS(starpu_task_nsubmitted(), 1);
	starpu_tag_notify_from_apps(78);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(b), 0);
	CHECK_IS(ran[b], 1);
	starpu_tag_remove(tag);
	starpu_tag_remove(78);
}

/* Tasks that tasks submit stay in the context. */
static void child_kernel(void *buffers[], void *arg)
{
	unsigned ctx = (unsigned) (uintptr_t) arg;

	kernel(buffers, arg);
	CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, (void *) (uintptr_t) ctx, (size_t) 0,
				    0),
		 0);
}

static void children(unsigned a)
{
	static struct starpu_codelet parent = { .cpu_funcs = { child_kernel }, .name = "parent" };

	ran[a] = 0;
	for (int i = 0; i < 10; i++)
		CHECK_IS(starpu_task_insert(&parent, STARPU_CL_ARGS_NFREE, (void *) (uintptr_t) a,
					    (size_t) 0, STARPU_SCHED_CTX, a, 0),
			 0);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(a), 0);
	CHECK_IS(ran[a], 20);
}

/* Workers move while tasks run; without any, tasks wait. */
static void moving(unsigned a)
{
	int zero = 0, three = 3, two[] = { 1, 3 }, i;

	ran[a] = 0;
	STORE(allowed[a], 0xfu);
	for (i = 0; i < N; i++)
		insert(a);
	starpu_sched_ctx_add_workers(&three, 1, a);
	starpu_sched_ctx_remove_workers(&zero, 1, a);
	CHECK(!starpu_sched_ctx_contains_worker(0, a) && starpu_sched_ctx_contains_worker(3, a));
	for (i = 0; i < N; i++)
		insert(a);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(a), 0);
	CHECK_IS(ran[a], 2 * N);
	STORE(allowed[a], 1u << 1 | 1u << 3);
	for (i = 0; i < N; i++)
		insert(a);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(a), 0);
	CHECK_IS(ran[a], 3 * N);
	for (i = 0; i < N; i++)
		insert(a);
	starpu_sched_ctx_remove_workers(two, 2, a);
	CHECK_IS(starpu_sched_ctx_get_nworkers(a), 0);
	for (i = 0; i < N; i++)
		insert(a);
	STORE(allowed[a], 1u << 0 | 1u << 1 | 1u << 3);
	starpu_sched_ctx_add_workers(&zero, 1, a);
	starpu_sched_ctx_add_workers(two, 1, a);
	CHECK_IS(starpu_task_wait_for_all_in_ctx(a), 0);
	CHECK_IS(ran[a], 5 * N);
	STORE(allowed[a], 1u << 0 | 1u << 1);
}

/* finished_submit, and deletion. */
static void inheritance(const char *policy)
{
	int ab[] = { 0, 1 }, c[] = { 2 };
	unsigned a = create(ab, 2, "first", policy), b = create(c, 1, "second", policy);

	starpu_sched_ctx_set_inheritor(a, b);
	CHECK_IS(starpu_sched_ctx_get_inheritor(a), b);
	CHECK_IS(starpu_sched_ctx_get_inheritor(b), 0);
	STORE(allowed[b], 7u);
	for (int i = 0; i < N; i++) {
		insert(a);
		insert(b);
	}
	starpu_sched_ctx_finished_submit(a);
	{
		struct starpu_task *late = starpu_task_create();

		late->cl = &cl;
		CHECK_IS(starpu_task_submit_to_ctx(late, a), -EINVAL);
		starpu_task_destroy(late);
	}
	starpu_task_wait_for_all();
	CHECK(ran[a] == N && ran[b] == N);
	CHECK_IS(starpu_sched_ctx_get_nworkers(a), 0);
	CHECK_IS(starpu_sched_ctx_get_nworkers(b), 3);
	starpu_sched_ctx_delete(a);
	for (int i = 0; i < N; i++)
		insert(b);
	/* Deleting waits. */
	starpu_sched_ctx_set_inheritor(b, 0);
	starpu_sched_ctx_delete(b);
	CHECK_IS(ran[b], 2 * N);
	CHECK_IS(starpu_sched_ctx_get_nworkers(0), starpu_worker_get_count());
	CHECK_IS(starpu_task_wait_for_all_in_ctx(b), -EINVAL);
}

/* A worker that is in two contexts serves both; the default context gives one away for a while. */
static void overlapping(const char *policy)
{
	int all[] = { 0, 1, 2, 3 }, some[] = { 1, 2 }, one = 2, i;
	unsigned a = create(all, 4, "all", policy), b = create(some, 2, "some", policy);

	ran[0] = 0;
	starpu_sched_ctx_remove_workers(&one, 1, 0);
	STORE(allowed[0], 0xbu);
	CHECK_IS(starpu_sched_ctx_get_nshared_workers(a, b), 2);
	CHECK_IS(starpu_sched_ctx_get_nshared_workers(0, b), 1);
	for (i = 0; i < N; i++) {
		insert(a);
		insert(b);
		insert(0);
	}
	starpu_task_wait_for_all();
	CHECK(ran[a] == N && ran[b] == N && ran[0] == N);
	starpu_sched_ctx_delete(b);
	starpu_sched_ctx_delete(a); /* the default one inherits */
	CHECK_IS(starpu_sched_ctx_get_nworkers(0), starpu_worker_get_count());
	STORE(allowed[0], 0xfu);
}

int main(void)
{
	static const char *const policies[] = { "eager", "prio", "lws",   "ws",     "random",
						"dm",    "dmda", "dmdas", "dmdasd", "heteroprio" };
	int ab[] = { 0, 1 }, cd[] = { 2, 3 };
	unsigned a, b;

	for (unsigned i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		core_start(NCPU, i % 2 ? "lws" : policies[i]);
		STORE(allowed[0], 0xfu);
		a = create(ab, 2, "left", policies[i]);
		b = create(cd, 2, "right", policies[(i + 1) % 3]);
		CHECK(!strcmp(starpu_sched_ctx_get_sched_policy(a)->policy_name, policies[i]));
		separate(a, b);
		waiting(a, b);
		children(a);
		moving(a);
		starpu_sched_ctx_delete(a);
		inheritance(policies[i]);
		overlapping(policies[i]);
		insert(b);
		starpu_shutdown(); /* b is still there */
		CHECK(ran[b] > 0);
	}
	return 0;
}
