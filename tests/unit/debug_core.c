/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env STARPU_NCPU=2 STARPU_WORKERS_NOBIND=1
 * A debug build notices mistakes of ours in the core: a task that two parties have or whose state
 * takes a way that is not in the picture, a worker that another thread changes, heaps, lists,
 * queues and sets that do not say what is there, counters that fall below zero, things done without
 * the lock or the right to do them.
 *
 * Invariant: each mistake is made in a child of its own, and stands for one class of assertions in
 * src/core. */
#include <math.h>
#include <pthread.h>
#include "core/ctx/policy.h"
#include "core/ctx/sched_ctx.h"
#include "core/ctx/sched_ctx_life.h"
#include "core/flow/dispatch.h"
#include "core/flow/monitor.h"
#include "core/flow/parallel.h"
#include "core/flow/profiling.h"
#include "core/flow/task_data.h"
#include "core/flow/task_state.h"
#include "core/flow/task_submit.h"
#include "core/flow/team.h"
#include "core/run/execute.h"
#include "core/run/group.h"
#include "core/run/inputs.h"
#include "core/run/lend.h"
#include "core/run/worker_step.h"
#include "core/task/graph.h"
#include "core/task/task_count.h"
#include "core/task/task_edges.h"
#include "core/task/task_life.h"
#include "core/task/times.h"
#include "core/worker/group_heap.h"
#include "core/worker/nap.h"
#include "core/worker/wake.h"
#include "core/worker/worker.h"
#include "debug_child.h"
#include "start/the_process.h"

#ifndef ORR_DEBUG
int main(void)
{
	puts("SKIP: this is not a debug build");
	return 77;
}
#else

/* ---- what the mistakes are made with ---- */

static struct orr_group group[2];
static struct orr_worker worker[3];
static struct orr_combined pair = { .id = 3, .n = 2, .workers = (int[]){ 0, 1 } };

/* A process with two groups, of two workers and of one, that nobody steps. */
static struct orr_process *still_process(void)
{
	struct orr_process *proc = orr_process_new();

	proc->arch_mask = STARPU_CPU;
	proc->core->groups = group;
	proc->core->workers = worker;
	proc->core->nworkers = 3;
	proc->ngroups = 2;
	orr_lock_init(&proc->core->join_lock, ORR_RANK_JOIN);
	for (unsigned i = 0; i < 3; i++) {
		worker[i].id = worker[i].kernel.worker = i;
		worker[i].group = &group[i / 2];
		orr_lock_init(&worker[i].local_lock, ORR_RANK_WORKER);
	}
	for (unsigned i = 0; i < 2; i++) {
		group[i].proc = proc;
		group[i].first = 2 * i;
		group[i].nworkers = 2 - i;
		group[i].workers = &worker[2 * i];
		group[i].heap = calloc(2, sizeof(*group[i].heap));
		group[i].begun = 1;
		orr_waitq_init(&group[i].bell);
	}
	return proc;
}

/* The calling thread steps a worker of that process. */
static struct orr_worker *stepped(unsigned id)
{
	still_process();
	orr_thread_self()->worker = &worker[id];
	return &worker[id];
}

static void nap(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	usleep(300000);
}

static struct starpu_codelet napping = { .cpu_funcs = { nap }, .name = "nap" };

/* Volatile: starpu_task_create is declared `malloc`, and the compiler would not set fields of a
 * task that it sees going nowhere. */
static struct starpu_task *volatile victim;

static struct orr_task *new_task(void)
{
	if (starpu_init(NULL))
		_exit(UNNOTICED);
	victim = starpu_task_create();
	victim->cl = &napping;
	victim->name = "victim";
	return orr_task_of(victim);
}

static struct orr_task *task_of(enum orr_task_holder holder)
{
	struct orr_task *t = new_task();

	t->holder = holder;
	return t;
}

/* ---- the life of a task ---- */

static void released_too_often(void)
{
	struct orr_task *t = new_task();

	t->owner.ndeps = 0;
	orr_task_release(t);
}

static void released_when_ready(void)
{
	struct orr_task *t = new_task();

	ORR_ATOMIC_STORE(&t->state, ORR_TASK_READY);
	orr_task_release(t);
}

static void ready_before_submission(void)
{
	orr_task_ready(new_task());
}

static void state_off_the_picture(void)
{
	struct orr_task *t = new_task();

	orr_task_go(t, ORR_TASK_RUNNING);
}

static void renewed_while_it_runs(void)
{
	struct orr_task *t = new_task();

	ORR_ATOMIC_STORE(&t->state, ORR_TASK_RUNNING);
	orr_task_renew(t);
}

static void passed_past_the_policy(void)
{
	struct orr_task *t = task_of(ORR_TASK_OF_DATA);

	orr_task_pass(t, ORR_TASK_OF_DATA, ORR_TASK_OF_WORKER);
}

static void freed_in_the_queue(void)
{
	orr_task_destroy(task_of(ORR_TASK_OF_POLICY));
}

static void held_without_its_data(void)
{
	struct orr_task *t = task_of(ORR_TASK_OF_DATA);

	t->owner.naccess = 1;
	orr_task_held(t);
}

static void ended_by_another_worker(void)
{
	struct orr_task *t = task_of(ORR_TASK_OF_WORKER);

	t->worker = &orr_self()->core->workers[0];
	orr_task_complete(t, &orr_self()->core->workers[1]);
}

static void ended_twice(void)
{
	struct orr_task *t = task_of(ORR_TASK_OF_RUNTIME);

	t->nend_deps = 0;
	orr_task_complete(t, NULL);
}

static void pushed_before_it_is_ready(void)
{
	orr_dispatch_push(task_of(ORR_TASK_OF_DATA));
}

static struct starpu_task *pushed;

static int keep_task(struct starpu_task *task)
{
	ORR_ATOMIC_STORE(&pushed, task);
	return 0;
}

static struct starpu_task *give_it_to_all(unsigned ctx)
{
	(void) ctx;
	return ORR_ATOMIC_LOAD(&pushed);
}

static void given_to_two_workers(void)
{
	struct starpu_sched_policy policy = { .policy_name = "twice",
					      .push_task = keep_task,
					      .pop_task = give_it_to_all };
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.sched_policy = &policy;
	if (starpu_init(&conf))
		_exit(UNNOTICED);
	starpu_task_insert(&napping, STARPU_NAME, "victim", 0);
	sleep(5);
}

static void accesses_without_room(void)
{
	struct orr_task *t = new_task();

	t->owner.ops = &orr_task_owner_ops;
	t->owner.naccess = 1; /* and no room for it */
	orr_task_data_submit(t, 0);
}

/* ---- workers and groups ---- */

static void arrow_of_a_worker(void)
{
	struct orr_worker *w = stepped(0);

	w->state = ORR_WORKER_RUNNING;
	orr_worker_go(w, ORR_WORKER_JOINED);
}

static void worker_of_another_thread(void)
{
	struct orr_worker *w = stepped(0);

	orr_worker_go(w + 1, ORR_WORKER_FETCHING);
}

static void idle_with_a_task(void)
{
	struct orr_worker *w = stepped(0);
	struct orr_task t = { .worker = w };

	w->task = &t;
	orr_worker_step(w, orr_thread_self());
}

static void stepped_by_two_threads(void)
{
	struct orr_thread other;
	double next_us;

	still_process();
	group[0].stepper = &other;
	orr_group_step(&group[0], &next_us);
}

static void counts_a_busy_device(void)
{
	double next_us;

	new_task();
	starpu_pause();
	struct orr_group *g = &orr_self()->core->groups[0];
	usleep(200000); /* its own thread falls asleep */
	ORR_ATOMIC_STORE(&g->sleeping, 0);
	g->nlater = 1;
	orr_group_step(g, &next_us);
}

static struct orr_worker *running(unsigned id, double end_us)
{
	worker[id].state = ORR_WORKER_RUNNING;
	worker[id].kernel.end_us = end_us;
	orr_group_heap_push(&group[0], &worker[id]);
	return &worker[id];
}

static void in_the_heap_twice(void)
{
	still_process();
	running(0, 1);
	running(0, 2);
}

static void in_the_heap_of_others(void)
{
	still_process();
	running(2, 1);
}

static void heap_out_of_order(void)
{
	still_process();
	running(0, 1);
	running(1, 2)->kernel.end_us = 0.5;
	orr_group_heap_pop(&group[0]);
}

static void heap_without_a_worker(void)
{
	still_process();
	orr_group_heap_pop(&group[0]);
}

static void asleep_twice(void)
{
	still_process();
	orr_wake_enlist(&group[1]);
	orr_wake_enlist(&group[1]);
}

static void asleep_before_it_says_so(void)
{
	still_process();
	group[1].sleeping = 1;
	orr_wake_enlist(&group[1]);
}

static void awake_while_it_sleeps(void)
{
	still_process();
	orr_wake_enlist(&group[1]);
	group[1].sleeping = 1;
	orr_wake_delist(&group[1]);
}

static void wakes_with_a_lock(void)
{
	struct orr_process *proc = still_process();

	orr_lock(&worker[0].local_lock);
	orr_wake_one(proc);
}

static void wakes_nobody(void)
{
	orr_wake_group_fenced(still_process(), 2);
}

static void nap_ends_twice(void)
{
	orr_nap_end(stepped(0));
}

static void works_for_nobody(void)
{
	still_process();
	orr_lend_run(&group[1], 1);
}

/* ---- tasks of several workers ---- */

static struct orr_parallel *parallel(uint64_t order)
{
	static struct starpu_task pub = { .name = "victim" };
	static struct orr_task t = { .pub = &pub };
	struct orr_parallel *p = calloc(1, sizeof(*p) + 2 * sizeof(p->member[0]));

	p->task = &t;
	p->comb = &pair;
	p->order = order;
	p->refs = 2;
	for (unsigned i = 0; i < 2; i++) {
		p->member[i].p = p;
		p->member[i].rank = i;
	}
	return p;
}

static void joins_out_of_order(void)
{
	struct orr_worker *w = stepped(0);
	struct orr_parallel *first = parallel(2), *second = parallel(1);

	first->member[0].next = &second->member[0];
	w->joins = &first->member[0];
	orr_parallel_join(w);
}

static void joins_for_another(void)
{
	struct orr_worker *w = stepped(0);

	w->joins = &parallel(0)->member[1];
	orr_parallel_join(w);
}

static void joins_too_late(void)
{
	struct orr_worker *w = stepped(0);
	struct orr_parallel *p = parallel(0);

	p->narrived = 2;
	w->joins = &p->member[0];
	orr_parallel_join(w);
}

static void starts_before_all_are_there(void)
{
	struct orr_worker *w = stepped(0);
	struct orr_parallel *p = parallel(0);

	p->narrived = 1;
	w->member = &p->member[0];
	w->task = p->task;
	orr_parallel_start(w, orr_thread_self());
}

static void team_of_no_task(void)
{
	orr_team_over(orr_self(), new_task());
}

/* ---- lists and sets ---- */

static void listed_twice(void)
{
	struct orr_task *t = task_of(ORR_TASK_OF_POLICY);

	starpu_pause();
	orr_dispatch_local(orr_self(), t, 0);
	orr_dispatch_local(orr_self(), t, 0);
}

static void miscounted_list(void)
{
	struct orr_worker *w;

	new_task();
	starpu_pause();
	w = &orr_self()->core->workers[0];
	orr_thread_self()->worker = w;
	ORR_ATOMIC_STORE(&w->nlocal, 1);
	starpu_resume(); /* finds nothing in its list */
	usleep(1000000);
}

static void policy_ends_with_the_homeless(void)
{
	struct orr_task *t = new_task();
	struct orr_ctx ctx = { .id = 3 };

	starpu_task_list_push_back(&ctx.homeless, t->pub);
	orr_policy_stop(&ctx);
}

static void changes_contexts_unasked(void)
{
	static struct starpu_sched_policy policy = { .push_task = keep_task,
						     .pop_task = give_it_to_all };

	orr_ctx_init(still_process(), &policy);
}

static void completes_too_much(void)
{
	struct orr_process *proc;
	static struct orr_ctx ctx = { .id = 3 };

	new_task();
	proc = orr_self();
	proc->core->ctx[3] = &ctx;
	orr_ctx_task_done(proc, 3);
}

static void collection_loses_a_worker(void)
{
	struct starpu_worker_collection c = starpu_worker_list;

	c.init(&c);
	c.add(&c, 1);
	c.workerids[0] = 5;
	c.remove(&c, 1);
}

static void bundled_twice(void)
{
	struct orr_task *t = new_task();
	starpu_task_bundle_t bundle;

	starpu_task_bundle_create(&bundle);
	starpu_task_bundle_insert(bundle, t->pub);
	t->pub->bundle = NULL;
	starpu_task_bundle_insert(bundle, t->pub);
}

static void edges_miscounted(void)
{
	struct orr_task *t = new_task();
	struct {
		void *in, *out;
		unsigned nin, nout;
	} *edges = calloc(1, sizeof(*edges));

	edges->nin = 1;
	t->edges = (struct orr_edges *) edges;
	orr_task_edges_forget(t);
}

static void beyond_the_array(void)
{
	struct orr_task_array a = { 0 };

	orr_task_array_get(&a, 0);
}

static void waits_for_its_tag_at_its_end(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	orr_thread_self()->task->tag_missing = 1;
}

static void ends_before_its_tag(void)
{
	static struct starpu_codelet cl = { .cpu_funcs = { waits_for_its_tag_at_its_end } };

	if (starpu_init(NULL))
		_exit(UNNOTICED);
	starpu_task_insert(&cl, STARPU_TAG, (starpu_tag_t) 7, STARPU_NAME, "victim", 0);
	sleep(5);
}

/* ---- counters, times and what they belong to ---- */

static void completed_before_submitted(void)
{
	new_task();
	ORR_ATOMIC_ADD(&orr_self()->core->ncompleted_other, 5);
	orr_task_npending(orr_self());
}

static void monitored_twice(void)
{
	struct orr_task *t = new_task();

	t->monitored = ORR_MONITOR_READY;
	orr_monitor_submit_slow(orr_self(), t);
}

static void leaves_a_graph_of_others(void)
{
	new_task();
	orr_graph_start(orr_self(), 1);
	orr_graph_leave(orr_self());
}

static void time_runs_backwards(void)
{
	new_task();
	orr_times_foreign(orr_self(), -1);
}

static void field_of_no_record(void)
{
	struct orr_task *t = new_task();

	t->pub->profiling_info = calloc(1, sizeof(*t->pub->profiling_info));
	orr_profiling_stamp(t, sizeof(*t->pub->profiling_info), 0);
}

static void fetches_for_another(void)
{
	struct orr_task *t = task_of(ORR_TASK_OF_WORKER);
	struct orr_worker *w = &orr_self()->core->workers[0];

	t->worker = w + 1;
	orr_inputs_begin(w, t, orr_thread_self());
}

static void starts_for_another(void)
{
	struct orr_task *t = task_of(ORR_TASK_OF_WORKER);
	struct orr_worker *w = &orr_self()->core->workers[0];

	starpu_pause();
	t->worker = w + 1;
	w->task = t;
	orr_execute_start(w, orr_thread_self());
}

/* ---- none of them ---- */

/* A task takes the whole way, and so does one that is submitted again. */
static void allowed(void)
{
	struct orr_task *t = new_task();

	t->pub->destroy = t->pub->detach = 0;
	for (int round = 0; round < 2; round++) {
		if (starpu_task_submit(t->pub) || starpu_task_wait(t->pub))
			exit(1);
		orr_task_assert_of(t, ORR_TASK_OF_PROGRAM);
		orr_assert(ORR_ATOMIC_LOAD(&t->state) == ORR_TASK_DONE);
	}
	starpu_task_destroy(t->pub);
	starpu_shutdown();
}

int main(void)
{
	int ok = 1;

#define CAUGHT(mistake, expected) ok &= is_caught(#mistake, mistake, expected)
	CAUGHT(released_too_often, "task victim is released once more than it waits");
	CAUGHT(released_when_ready, "task victim is released and waits for nothing");
	CAUGHT(ready_before_submission, "task victim belongs to the program, not to the counter");
	CAUGHT(state_off_the_picture, "task victim is new, and would become running");
	CAUGHT(renewed_while_it_runs, "task victim is running, and would become new");
	CAUGHT(passed_past_the_policy, "one of its data gives task victim to its worker");
	CAUGHT(freed_in_the_queue, "task victim is freed while the policy");
	CAUGHT(held_without_its_data, "task victim goes on without the right to use its data");
	CAUGHT(ended_by_another_worker, "worker 1 ends a task of another thread");
	CAUGHT(ended_twice, "task victim has ended more often than its end waits for");
	CAUGHT(pushed_before_it_is_ready, "task victim goes to a worker and is not ready");
	CAUGHT(given_to_two_workers, "task victim belongs to its worker, not to the policy");
	CAUGHT(accesses_without_room, "t->owner.access");
	CAUGHT(arrow_of_a_worker, "worker 0 is running, and would become joined");
	CAUGHT(worker_of_another_thread, "the thread does not step worker 1");
	CAUGHT(idle_with_a_task, "worker 0 is in state 0 and has a task");
	CAUGHT(stepped_by_two_threads, "two threads step the group of worker 0");
	CAUGHT(counts_a_busy_device, "1 devices of a group are busy, of 0 workers");
	CAUGHT(in_the_heap_twice, "worker 0 starts two kernels");
	CAUGHT(in_the_heap_of_others, "worker 2 is in the heap of another group");
	CAUGHT(heap_out_of_order, "the kernel of worker 1 ends before that of worker 0");
	CAUGHT(heap_without_a_worker, "no kernel runs that could end");
	CAUGHT(asleep_twice, "group 1 goes to sleep twice");
	CAUGHT(asleep_before_it_says_so, "group 1 sleeps before others know");
	CAUGHT(awake_while_it_sleeps, "group 1 leaves those that sleep while it sleeps");
	CAUGHT(wakes_with_a_lock, "no lock is held: WORKER");
	CAUGHT(wakes_nobody, "group 2 of 2 is woken");
	CAUGHT(nap_ends_twice, "worker 0 wakes up, and did not sleep");
	CAUGHT(works_for_nobody, "worker 2 executes tasks and is not lent");
	CAUGHT(joins_out_of_order, "worker 0 sees parallel tasks in an order of its own");
	CAUGHT(joins_for_another, "worker 0 comes to the place of another one");
	CAUGHT(joins_too_late, "more workers come to parallel task victim than it has");
	CAUGHT(starts_before_all_are_there, "parallel task victim starts before all are there");
	CAUGHT(team_of_no_task, "task victim was executed by parallel worker");
	CAUGHT(listed_twice, "task victim comes to worker 0 twice");
	CAUGHT(miscounted_list, "worker 0 counts 1 tasks in its list");
	CAUGHT(policy_ends_with_the_homeless, "the policy of context 3 ends, and tasks wait there");
	CAUGHT(changes_contexts_unasked, "workers join context 0 and others may leave it");
	CAUGHT(completes_too_much, "context 3 completes more tasks than it got");
	CAUGHT(collection_loses_a_worker, "a collection lost its worker 1");
	CAUGHT(bundled_twice, "task victim is in its bundle twice");
	CAUGHT(edges_miscounted, "task victim is still in 1 edges");
	CAUGHT(beyond_the_array, "i < a->n");
	CAUGHT(ends_before_its_tag, "task victim ends too early");
	CAUGHT(completed_before_submitted, "5 tasks completed of 0");
	CAUGHT(monitored_twice, "task victim is counted in two places");
	CAUGHT(leaves_a_graph_of_others, "a policy leaves the graph and has not joined it");
	CAUGHT(time_runs_backwards, "an insertion takes -1 us");
	CAUGHT(field_of_no_record, "is no field of the record of a task");
	CAUGHT(fetches_for_another, "worker 0 fetches the data of another one");
	CAUGHT(starts_for_another, "worker 0 starts the task of another one");
	allowed();
	return !ok;
}
#endif
