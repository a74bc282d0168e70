/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bundles: tasks that should execute where the same memory is, because they share data.
 *
 * A policy of the dm family decides for the first task of a bundle that becomes ready as if it were
 * all of them, and puts the others on the memory node that it chose. Invariant: a task is in at
 * most one bundle (task->bundle, and t->bundled says so where it is cheap to look); a bundle that
 * is closed and empty is freed by whoever made it so. */
#include "core/task/bundle.h"
#include "core/task/task.h"
#include "data/handle.h"
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct _starpu_task_bundle {
	orr_lock_t lock; /* protects everything */
	struct starpu_task **task;
	unsigned n, cap;
	int closed;
	int memnode; /* where its tasks go, -1: nobody decided yet */
};

void starpu_task_bundle_create(starpu_task_bundle_t *bundle)
{
	struct _starpu_task_bundle *b = calloc(1, sizeof(*b));

	if (!b)
		orr_fatal("out of memory for a bundle of tasks");
	orr_lock_init(&b->lock, ORR_RANK_BUNDLE);
	b->memnode = -1;
	*bundle = b;
}

static void destroy(struct _starpu_task_bundle *b)
{
	orr_assertf(b->closed && !b->n, "a bundle of %u tasks is freed", b->n);
	free(b->task);
	free(b);
}

/* Under the lock. */
static int add(struct _starpu_task_bundle *b, struct starpu_task *task)
{
	orr_assert_locked(&b->lock);
	for (unsigned i = 0; i < b->n; i++)
		orr_assertf(b->task[i] != task, "task %s is in its bundle twice",
			    orr_task_name(task));
	if (b->n == b->cap) {
		unsigned cap = b->cap ? 2 * b->cap : 8;
		struct starpu_task **v = realloc(b->task, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		b->task = v;
		b->cap = cap;
	}
	b->task[b->n++] = task;
	return 0;
}

int starpu_task_bundle_insert(starpu_task_bundle_t bundle, struct starpu_task *task)
{
	struct orr_task *t = orr_task_private(task);
	int ret;

	if (!t)
		return -ENOMEM;
	if (task->bundle) {
		orr_error("starpu_task_bundle_insert: task %s is in a bundle already",
			  orr_task_name(task));
		return -EINVAL;
	}
	if (ORR_ATOMIC_LOAD(&t->state) != ORR_TASK_NEW &&
	    ORR_ATOMIC_LOAD(&t->state) != ORR_TASK_DONE) {
		orr_error(
			"starpu_task_bundle_insert: task %s was submitted already; insert it before",
			orr_task_name(task));
		return -EINVAL;
	}
	orr_lock(&bundle->lock);
	ret = bundle->closed ? -EINVAL : add(bundle, task);
	orr_unlock(&bundle->lock);
	if (ret == -EINVAL)
		orr_error("starpu_task_bundle_insert: task %s comes after the bundle was closed",
			  orr_task_name(task));
	if (ret)
		return ret;
	task->bundle = bundle;
	t->bundled = 1;
	return 0;
}

int starpu_task_bundle_remove(starpu_task_bundle_t bundle, struct starpu_task *task)
{
	int found = 0, gone;

	orr_lock(&bundle->lock);
	for (unsigned i = 0; i < bundle->n && !found; i++) {
		if (bundle->task[i] != task)
			continue;
		bundle->task[i] = bundle->task[--bundle->n];
		found = 1;
	}
	orr_assertf(!found || task->bundle == bundle, "task %s is in two bundles",
		    orr_task_name(task));
	gone = found && bundle->closed && !bundle->n;
	orr_unlock(&bundle->lock);
	if (!found)
		return -ENOENT;
	task->bundle = NULL;
	if (orr_task_of(task))
		orr_task_of(task)->bundled = 0;
	if (gone)
		destroy(bundle);
	return 0;
}

void starpu_task_bundle_close(starpu_task_bundle_t bundle)
{
	int gone;

	orr_lock(&bundle->lock);
	bundle->closed = 1;
	gone = !bundle->n;
	orr_unlock(&bundle->lock);
	if (gone)
		destroy(bundle);
}

/* ---- expectations ---- */

static double sum(starpu_task_bundle_t bundle, struct starpu_perfmodel_arch *arch, unsigned nimpl,
		  double (*f)(struct starpu_task *, struct starpu_perfmodel_arch *, unsigned))
{
	double total = 0;

	orr_lock(&bundle->lock);
	for (unsigned i = 0; i < bundle->n; i++)
		total += f(bundle->task[i], arch, nimpl);
	orr_unlock(&bundle->lock);
	return total;
}

double starpu_task_bundle_expected_length(starpu_task_bundle_t bundle,
					  struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	return sum(bundle, arch, nimpl, starpu_task_expected_length);
}

double starpu_task_bundle_expected_energy(starpu_task_bundle_t bundle,
					  struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	return sum(bundle, arch, nimpl, starpu_task_expected_energy);
}

/* Was the datum counted for an earlier buffer? Its value has to come once, whoever reads it first.
 */
static int seen(struct _starpu_task_bundle *b, unsigned task, unsigned buffer,
		starpu_data_handle_t h)
{
	for (unsigned i = 0; i <= task; i++) {
		unsigned n = i < task ? orr_task_nbuffers(b->task[i]) : buffer;

		for (unsigned k = 0; k < n; k++)
			if (orr_task_handle(b->task[i], k) == h &&
			    (orr_task_mode(b->task[i], k) & STARPU_R))
				return 1;
	}
	return 0;
}

double starpu_task_bundle_expected_data_transfer_time(starpu_task_bundle_t bundle,
						      unsigned memory_node)
{
	double total = 0;

	orr_lock(&bundle->lock);
	for (unsigned i = 0; i < bundle->n; i++) {
		struct starpu_task *task = bundle->task[i];

		for (unsigned k = 0; k < orr_task_nbuffers(task); k++) {
			starpu_data_handle_t h = orr_task_handle(task, k);

			if (h && !seen(bundle, i, k, h))
				total += starpu_data_expected_transfer_time(h, memory_node,
									    orr_task_mode(task, k));
		}
	}
	orr_unlock(&bundle->lock);
	return total;
}

/* ---- for policies ---- */

int orr_bundle_memnode(const struct starpu_task *task)
{
	return task->bundle ? ORR_ATOMIC_LOAD_RELAXED(&task->bundle->memnode) : -1;
}

void orr_bundle_settle(struct starpu_task *task, unsigned memnode)
{
	if (task->bundle && ORR_ATOMIC_LOAD_RELAXED(&task->bundle->memnode) < 0)
		ORR_ATOMIC_STORE_RELAXED(&task->bundle->memnode, (int) memnode);
}
