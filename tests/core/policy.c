/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policies: the built-in ones, one that the program defines, and what a policy may ask of the
 * runtime.
 *
 * Invariant: a policy gets every task once by push and gives it out once by pop; hooks come around
 * each execution. */
#include "core_test.h"

#include <string.h>

#define N 200

static int ran;
static struct starpu_codelet cl = { .cpu_funcs = { core_count_kernel } };

static void insert_all(void)
{
	int x = 0;
	starpu_data_handle_t h = core_register(&x);
	static struct starpu_codelet data_cl = { .cpu_funcs = { core_count_kernel },
						 .nbuffers = 1,
						 .modes = { STARPU_RW } };

	ran = 0;
	for (int i = 0; i < N; i++) {
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
					    STARPU_PRIORITY, i % 3, 0),
			 0);
		CHECK_IS(starpu_task_insert(&data_cl, STARPU_RW, h, STARPU_CL_ARGS_NFREE, &ran,
					    sizeof(ran), 0),
			 0);
	}
	starpu_task_wait_for_all();
	CHECK_IS(ran, 2 * N);
	starpu_data_unregister(h);
}

static void builtin(void)
{
	struct starpu_sched_policy **p = starpu_sched_get_predefined_policies();
	int i;

	for (i = 0; p[i]; i++) {
		CHECK(p[i]->policy_name && p[i]->policy_description);
		core_start(1 + i % 3, p[i]->policy_name);
		CHECK(starpu_sched_get_sched_policy() == p[i]);
		CHECK(starpu_sched_get_sched_policy_in_ctx(0) == p[i]);
		insert_all();
		starpu_shutdown();
	}
	CHECK(i >= 4);
	setenv("STARPU_SCHED", "prio", 1); /* the variable wins over the field */
	core_start(2, "eager");
	CHECK(!strcmp(starpu_sched_get_sched_policy()->policy_name, "prio"));
	insert_all();
	starpu_shutdown();
	unsetenv("STARPU_SCHED");
}

/* --- a policy of the program: one list, last in first out --- */

struct stack {
	struct starpu_task_list list;
	starpu_pthread_mutex_t mutex;
	unsigned workers;
};

static int npush, npop, npre, npost, nsubmit, ninit, callback_ctx = -1, nschedule;

static void stack_init(unsigned ctx)
{
	struct stack *s = calloc(1, sizeof(*s));

	STARPU_PTHREAD_MUTEX_INIT(&s->mutex, NULL);
	starpu_task_list_init(&s->list);
	starpu_sched_ctx_set_policy_data(ctx, s);
	starpu_sched_set_min_priority(-10);
	starpu_sched_set_max_priority(10);
	ninit++;
}

static void stack_deinit(unsigned ctx)
{
	struct stack *s = starpu_sched_ctx_get_policy_data(ctx);

	CHECK(starpu_task_list_empty(&s->list));
	STARPU_PTHREAD_MUTEX_DESTROY(&s->mutex);
	free(s);
	ninit--;
}

static void stack_add(unsigned ctx, int *ids, unsigned n)
{
	struct stack *s = starpu_sched_ctx_get_policy_data(ctx);

	CHECK(ids[0] >= 0);
	s->workers += n;
}

static int stack_push(struct starpu_task *task)
{
	struct stack *s = starpu_sched_ctx_get_policy_data(0);

	INCR(npush);
	STARPU_PTHREAD_MUTEX_LOCK(&s->mutex);
	starpu_task_list_push_front(&s->list, task);
	STARPU_PTHREAD_MUTEX_UNLOCK(&s->mutex);
	starpu_push_task_end(task);
	for (unsigned i = 0; i < s->workers; i++)
		starpu_wake_worker_relax_light((int) i);
	return 0;
}

static struct starpu_task *stack_pop(unsigned ctx)
{
	struct stack *s = starpu_sched_ctx_get_policy_data(ctx);
	struct starpu_task *task;
	unsigned me = starpu_worker_get_id_check(), nimpl = 9;

	starpu_worker_relax_on();
	STARPU_PTHREAD_MUTEX_LOCK(&s->mutex);
	starpu_worker_relax_off();
	for (task = starpu_task_list_begin(&s->list); task != starpu_task_list_end(&s->list);
	     task = starpu_task_list_next(task))
		if (starpu_worker_can_execute_task_first_impl(me, task, &nimpl)) {
			starpu_task_list_erase(&s->list, task);
			starpu_task_set_implementation(task, nimpl);
			INCR(npop);
			break;
		}
	STARPU_PTHREAD_MUTEX_UNLOCK(&s->mutex);
	return task;
}

static void stack_submit(struct starpu_task *task)
{
	CHECK(task != NULL);
	INCR(nsubmit);
}
static void stack_pre(struct starpu_task *task, unsigned ctx)
{
	CHECK(task && ctx == 0);
	INCR(npre);
}
static void stack_post(struct starpu_task *task, unsigned ctx)
{
	CHECK(task && ctx == 0);
	INCR(npost);
}
static void stack_schedule(unsigned ctx)
{
	CHECK_IS(ctx, 0);
	nschedule++;
}
static void started(unsigned ctx)
{
	callback_ctx = (int) ctx;
}

static struct starpu_sched_policy stack_policy = {
	.init_sched = stack_init,
	.deinit_sched = stack_deinit,
	.add_workers = stack_add,
	.push_task = stack_push,
	.pop_task = stack_pop,
	.submit_hook = stack_submit,
	.pre_exec_hook = stack_pre,
	.post_exec_hook = stack_post,
	.do_schedule = stack_schedule,
	.policy_name = "stack",
	.policy_description = "last in, first out",
	.worker_type = STARPU_WORKER_LIST,
};

static int one_worker_only(unsigned workerid, struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return workerid == 1;
}

static void on_one(void *buffers[], void *arg)
{
	(void) buffers;
	CHECK_IS(starpu_worker_get_id(), 1);
	INCR(*(int *) arg);
}

static void users(void)
{
	static struct starpu_codelet picky = { .cpu_funcs = { on_one },
					       .can_execute = one_worker_only };
	struct starpu_conf conf;
	int n = 0;

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.ncpus = 3;
	conf.sched_policy = &stack_policy;
	conf.sched_policy_callback = started;
	CHECK_IS(starpu_init(&conf), 0);
	CHECK(ninit == 1 && callback_ctx == 0);
	CHECK(starpu_sched_get_sched_policy() == &stack_policy);
	CHECK(STARPU_MIN_PRIO == -10 && STARPU_MAX_PRIO == 10);
	insert_all();
	CHECK(npush == 2 * N && npop == 2 * N && npre == 2 * N && npost == 2 * N &&
	      nsubmit == 2 * N);
	for (int i = 0; i < 50; i++)
		CHECK_IS(starpu_task_insert(&picky, STARPU_CL_ARGS_NFREE, &n, sizeof(n), 0), 0);
	starpu_task_wait_for_all();
	CHECK_IS(n, 50);
	starpu_do_schedule();
	CHECK_IS(nschedule, 1);
	starpu_shutdown();
	CHECK_IS(ninit, 0);
}

/* Tasks that a policy hands straight to workers. */
static int direct_push(struct starpu_task *task)
{
	static int next;
	int w = INCR(next) % 3;

	INCR(npush);
	return starpu_push_local_task(w, task, 1);
}

static struct starpu_task *direct_pop(unsigned ctx)
{
	(void) ctx;
	return NULL;
}

static void direct(void)
{
	static struct starpu_sched_policy policy = { .push_task = direct_push,
						     .pop_task = direct_pop,
						     .policy_name = "direct" };
	struct starpu_conf conf;

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.ncpus = 3;
	conf.sched_policy = &policy;
	CHECK_IS(starpu_init(&conf), 0);
	npush = 0;
	insert_all();
	CHECK_IS(npush, 2 * N);
	starpu_shutdown();
}

int main(void)
{
	builtin();
	users();
	direct();
	return 0;
}
