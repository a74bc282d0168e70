/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for tasks, counting them, throttling submission.
 *
 * Invariant: tasks are counted as completed after their callbacks; a thread that waits sleeps on
 * node->done and is woken at the latest when a worker runs out of work. */
#include "core/worker.h"
#include "core/ctx.h"
#include "data/handle.h"
#include "orrery.h"

#include <errno.h>
#include <string.h>

uint64_t orr_task_ncompleted(struct orr_node *node)
{
	uint64_t n = ORR_ATOMIC_LOAD(&node->ncompleted_other);
	unsigned i;

	for (i = 0; i < node->nworkers; i++)
		n += ORR_ATOMIC_LOAD(&node->workers[i].ncompleted);
	return n;
}

uint64_t orr_task_npending(struct orr_node *node)
{
	/* Completions first: a task counted there was submitted before. */
	uint64_t completed = orr_task_ncompleted(node);

	return ORR_ATOMIC_LOAD(&node->nsubmitted) - completed;
}

/* 0, or -EDEADLK after a message when the caller is a task or a callback. */
static int may_wait(const char *what)
{
	struct orr_task *t = orr_thread_self()->task;

	if (!t)
		return 0;
	orr_error("%s called inside task or callback %s, which would wait for itself", what,
		  orr_task_name(t->pub));
	return -EDEADLK;
}

/* Any context. */
#define ALL_CTXS STARPU_NMAX_SCHED_CTXS

static uint64_t npending(struct orr_node *node, unsigned ctx)
{
	return ctx == ALL_CTXS ? orr_task_npending(node) : orr_ctx_npending(node, ctx);
}

/* Waits until at most n tasks of a context are pending; prompt: told of each completion rather than
 * when workers run dry. */
static int wait_pending(const char *what, unsigned ctx, uint64_t n, int prompt)
{
	struct orr_node *node = orr_self();
	int ret = may_wait(what);

	if (ret)
		return ret;
	if (node->state == ORR_NODE_DOWN)
		return -ENODEV;
	orr_sys_settle(orr_thread_self());
	orr_about_to_wait(node);
	if (prompt)
		ORR_ATOMIC_ADD(&node->ndone_waiters, 1);
	while (npending(node, ctx) > n) {
		unsigned key = orr_waitq_prepare(&node->done);

		if (npending(node, ctx) <= n) {
			orr_waitq_cancel(&node->done);
		} else {
			if (node->cfg.watchdog_us > 0) {
				uint64_t before = orr_task_ncompleted(node);

				if (orr_waitq_wait(&node->done, key,
						   (double) node->cfg.watchdog_us) &&
				    before == orr_task_ncompleted(node))
					orr_watchdog(node);
			} else {
				orr_waitq_wait(&node->done, key, -1);
			}
			orr_sys_progress(node);
		}
	}
	if (prompt)
		ORR_ATOMIC_ADD(&node->ndone_waiters, -1);
	if (!n)
		ORR_ATOMIC_ADD_RELAXED(ctx == ALL_CTXS ? &node->phase : &node->ctx[ctx]->phase, 1);
	return 0;
}

void orr_watchdog(struct orr_node *node)
{
	if (orr_sys_now_us() - node->start_us < (double) node->cfg.watchdog_delay_us)
		return;
	orr_warn("no task completed for %.1f s (STARPU_WATCHDOG_TIMEOUT); what waits:",
		 (double) node->cfg.watchdog_us * 1e-6);
	orr_task_dump(node, stderr, 50);
	orr_tag_dump(node, stderr);
	if (node->cfg.watchdog_crash)
		orr_sys_abort();
}

/* What the thread's choice of a context limits the waiting to. */
static unsigned chosen_ctx(void)
{
	unsigned ctx = orr_thread_self()->ctx;

	return ctx ? ctx - 1 : ALL_CTXS;
}

int starpu_task_wait_for_all(void)
{
	return wait_pending("starpu_task_wait_for_all", chosen_ctx(), 0, chosen_ctx() != ALL_CTXS);
}

int starpu_task_wait_for_n_submitted(unsigned n)
{
	return wait_pending("starpu_task_wait_for_n_submitted", chosen_ctx(), n, 1);
}

static int wait_in_ctx(const char *what, unsigned id, unsigned n)
{
	return orr_ctx_get(id, what) ? wait_pending(what, id, n, 1) : -EINVAL;
}

int starpu_task_wait_for_all_in_ctx(unsigned sched_ctx_id)
{
	return wait_in_ctx("starpu_task_wait_for_all_in_ctx", sched_ctx_id, 0);
}

int starpu_task_wait_for_n_submitted_in_ctx(unsigned sched_ctx_id, unsigned n)
{
	return wait_in_ctx("starpu_task_wait_for_n_submitted_in_ctx", sched_ctx_id, n);
}

int starpu_task_nsubmitted(void)
{
	return (int) orr_task_npending(orr_self());
}

struct count {
	unsigned ready;
};

static void count_ready(void *obj, void *arg)
{
	struct orr_task *t = (struct orr_task *) ((char *) obj + sizeof(struct starpu_task));
	unsigned state = ORR_ATOMIC_LOAD_RELAXED(&t->state);

	if (state == ORR_TASK_READY || state == ORR_TASK_RUNNING)
		((struct count *) arg)->ready++;
}

int starpu_task_nready(void)
{
	struct count c = { 0 };

	orr_slab_foreach(&orr_self()->task_slab, count_ready, &c);
	return (int) c.ready;
}

int starpu_task_wait_for_no_ready(void)
{
	struct orr_node *node = orr_self();
	int ret = may_wait("starpu_task_wait_for_no_ready");

	if (ret)
		return ret;
	orr_about_to_wait(node);
	while (starpu_task_nready() > 0) {
		unsigned key = orr_waitq_prepare(&node->done);

		if (starpu_task_nready() == 0)
			orr_waitq_cancel(&node->done);
		else
			orr_waitq_wait(&node->done, key, 10000);
	}
	return 0;
}

int starpu_task_finished(struct starpu_task *task)
{
	struct orr_task *t = task->starpu_private;

	return t && ORR_ATOMIC_LOAD(&t->state) == ORR_TASK_DONE;
}

int starpu_task_wait(struct starpu_task *task)
{
	struct orr_node *node = orr_self();
	struct orr_task *t = task->starpu_private;
	int ret = may_wait("starpu_task_wait");

	if (ret)
		return ret;
	if (task->detach) {
		orr_error(
			"starpu_task_wait: task %s is detached, set task->detach to 0 before submitting it",
			orr_task_name(task));
		return -EINVAL;
	}
	if (!t || ORR_ATOMIC_LOAD_RELAXED(&t->state) == ORR_TASK_NEW) {
		orr_error("starpu_task_wait: task %s was not submitted", orr_task_name(task));
		return -EINVAL;
	}
	orr_sys_settle(orr_thread_self());
	orr_about_to_wait(node);
	while (ORR_ATOMIC_LOAD(&t->state) != ORR_TASK_DONE) {
		unsigned key = orr_waitq_prepare(&node->done);

		if (ORR_ATOMIC_LOAD(&t->state) == ORR_TASK_DONE)
			orr_waitq_cancel(&node->done);
		else
			orr_waitq_wait(&node->done, key, -1);
	}
	if (task->destroy)
		starpu_task_destroy(task);
	return 0;
}

int starpu_task_wait_array(struct starpu_task **tasks, unsigned nb_tasks)
{
	unsigned i;

	for (i = 0; i < nb_tasks; i++) {
		int ret = starpu_task_wait(tasks[i]);

		if (ret)
			return ret;
	}
	return 0;
}

/* ---- throttling ---- */

void starpu_set_limit_max_submitted_tasks(int limit_max)
{
	ORR_ATOMIC_STORE_RELAXED(&orr_self()->cfg.max_submitted, limit_max);
}
void starpu_set_limit_min_submitted_tasks(int limit_min)
{
	ORR_ATOMIC_STORE_RELAXED(&orr_self()->cfg.min_submitted, limit_min);
}

void orr_throttle(struct orr_node *node)
{
	long max = ORR_ATOMIC_LOAD_RELAXED(&node->cfg.max_submitted),
	     min = ORR_ATOMIC_LOAD_RELAXED(&node->cfg.min_submitted);

	if (max <= 0 || orr_thread_self()->task || (long) orr_task_npending(node) <= max)
		return;
	wait_pending("task submission", ALL_CTXS, (uint64_t) (min > 0 && min < max ? min : max), 1);
}

void orrery_task_stats(struct orrery_task_stats *stats)
{
	struct orr_node *node = orr_self();

	stats->submitted = (unsigned long) ORR_ATOMIC_LOAD(&node->nsubmitted);
	stats->executed = (unsigned long) orr_task_ncompleted(node);
}

/* ---- diagnosis ---- */

struct dump {
	FILE *f;
	unsigned max, n;
};

/* What a blocked task waits for. */
static void dump_blocked(FILE *f, struct orr_task *t)
{
	unsigned i;

	for (i = 0; i < t->naccess; i++) {
		struct orr_access *a = &t->access[i];

		if (a->ordered && !a->granted && !a->merged)
			fprintf(f, "; waits for %s access to %s",
				a->mode & STARPU_W ? "write" : "read", orr_handle_name(a->handle));
	}
	if (t->parked)
		fputs("; waits until others, who need not be before it, release one of its data",
		      f);
	if (t->tag)
		fprintf(f, "; has tag %llu", (unsigned long long) t->pub->tag_id);
}

static void dump_task(void *obj, void *arg)
{
	struct orr_task *t = (struct orr_task *) ((char *) obj + sizeof(struct starpu_task));
	struct dump *d = arg;
	static const char *const states[] = { "new", "blocked", "ready", "running", "done" };

	if (!t->pub || t->state == ORR_TASK_NEW || t->state == ORR_TASK_DONE ||
	    t->state > ORR_TASK_DONE)
		return;
	if (d->n++ >= d->max)
		return;
	fprintf(d->f, "  task %s (job %llu): %s", orr_task_name(t->pub),
		(unsigned long long) t->job_id, states[t->state]);
	if (t->state == ORR_TASK_BLOCKED) {
		fprintf(d->f, ", %d dependencies missing", t->ndeps);
		dump_blocked(d->f, t);
	}
	fputc('\n', d->f);
}

void orr_task_dump(struct orr_node *node, FILE *f, unsigned max)
{
	struct dump d = { f, max, 0 };

	if (node->state == ORR_NODE_DOWN)
		return;
	orr_slab_foreach(&node->task_slab, dump_task, &d);
	if (d.n > max)
		fprintf(f, "  ... and %u more tasks\n", d.n - max);
}
