/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The accesses of tasks: submission, holding all data of a task at once, and the end (see access.h
 * for the model).
 *
 * Locks: a submission, and a task that wants to hold its data, lock all its handles in address
 * order, so that two threads see the same order on all of them. Invariant: a task holds all its
 * data (t->held) or none. */
#include "data/access_queue.h"
#include "core/worker.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the accesses of a task in the order of locks ---- */

/* By handle; accesses of a task to one handle in the order of the task. */
static int by_handle(const void *pa, const void *pb)
{
	const struct orr_access *a = *(struct orr_access *const *) pa,
				*b = *(struct orr_access *const *) pb;

	if (a->handle != b->handle)
		return (uintptr_t) a->handle < (uintptr_t) b->handle ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Many accesses: the pieces of a data come from a slab, so that they often are in order already. */
static void sort_many(struct orr_access **v, unsigned n)
{
	unsigned i;

	for (i = 1; i < n; i++)
		if (by_handle(&v[i - 1], &v[i]) > 0) {
			qsort(v, n, sizeof(*v), by_handle);
			return;
		}
}

/* Those that `want` accepts, ordered by handle; merged ones are left out. */
static unsigned sorted(struct orr_task *t, struct orr_access **v,
		       int (*want)(const struct orr_access *))
{
	unsigned i, j, n = 0;

	for (i = 0; i < t->naccess; i++)
		if (!t->access[i].merged && want(&t->access[i]))
			v[n++] = &t->access[i];
	if (n > 16) {
		sort_many(v, n);
		return n;
	}
	for (i = 1; i < n; i++) {
		struct orr_access *a = v[i];

		for (j = i; j > 0 && v[j - 1]->handle > a->handle; j--)
			v[j] = v[j - 1];
		v[j] = a;
	}
	return n;
}

/* Room for pointers to all accesses of t: inl where that is enough. */
static struct orr_access **room(struct orr_task *t, struct orr_access **inl)
{
	struct orr_access **v = inl;

	if (t->naccess > STARPU_NMAXBUFS) {
		v = malloc(t->naccess * sizeof(*v));
		if (!v)
			orr_fatal("out of memory for the %u accesses of task %s", t->naccess,
				  orr_task_name(t->pub));
	}
	return v;
}

static void lock_all(struct orr_access **v, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		orr_lock(&v[i]->handle->lock);
}

static void unlock_all(struct orr_access **v, unsigned n)
{
	while (n-- > 0)
		orr_unlock(&v[n]->handle->lock);
}

/* ---- holding ---- */

/* The first of v that conflicts, or n. Under their locks. */
static unsigned first_conflict(struct orr_access **v, unsigned n)
{
	unsigned i;

	for (i = 0; i < n && !(orr_access_holds(v[i]) && orr_access_conflicts(v[i]->handle, v[i]));
	     i++)
		;
	return i;
}

static void hold_them(struct orr_task *t, struct orr_access **v, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (orr_access_holds(v[i]))
			orr_access_hold(v[i]->handle, v[i]);
	t->held = 1;
}

int orr_access_hold_all(struct orr_task *t, struct orr_access **woken)
{
	struct orr_access *inl[STARPU_NMAXBUFS], **v = room(t, inl), **end = woken;
	unsigned n = sorted(t, v, orr_access_holds), at, i;

	lock_all(v, n);
	at = first_conflict(v, n);
	t->parked = at < n;
	if (at == n)
		hold_them(t, v, n);
	else
		orr_access_park(v[at]->handle, v[at]);
	/* It may have been its turn to try on the others, where somebody else waits. */
	for (i = 0; i < n && at < n; i++)
		if (i != at && v[i]->handle->ext) {
			*end = orr_access_take_parked(v[i]->handle);
			for (; *end; end = &(*end)->next)
				;
		}
	unlock_all(v, n);
	if (v != inl)
		free(v);
	return at == n;
}

int orr_access_lock(struct orr_task *t)
{
	struct orr_access *woken = NULL;
	int held = orr_access_hold_all(t, &woken);

	orr_access_resume(woken);
	return held;
}

/* ---- submission ---- */

static int is_ordered(const struct orr_access *a)
{
	return a->ordered;
}
static int has_order(const struct orr_access *a)
{
	return !orr_access_is_free(a->mode);
}

/* Is access i under sequential consistency? */
static int sequential(const struct starpu_task *pub, starpu_data_handle_t h, unsigned i)
{
	if (!pub->sequential_consistency)
		return 0;
	if (pub->handles_sequential_consistency && !pub->handles_sequential_consistency[i])
		return 0;
	return h->sequential;
}

/* merge_duplicates for tasks with many data; v has room for all accesses. */
static void merge_many(struct orr_task *t, struct orr_access **v)
{
	unsigned i, kept = 0, n = sorted(t, v, has_order);

	for (i = 1; i < n; i++) {
		if (v[i]->handle != v[kept]->handle) {
			kept = i;
			continue;
		}
		v[kept]->mode |= v[i]->mode;
		v[i]->merged = 1;
	}
}

/* The same handle twice in a task is one access with both modes. */
static void merge_duplicates(struct orr_task *t, struct orr_access **v)
{
	unsigned i, j;

	if (t->naccess > 16) {
		merge_many(t, v);
		return;
	}
	for (i = 1; i < t->naccess; i++)
		for (j = 0; j < i; j++)
			if (t->access[j].handle == t->access[i].handle && !t->access[j].merged &&
			    has_order(&t->access[i]) && has_order(&t->access[j])) {
				t->access[j].mode |= t->access[i].mode;
				t->access[i].merged = 1;
				break;
			}
}

/* Fills t->access[]. Returns how many stand in queues. */
static unsigned prepare(struct orr_task *t, int nodeps)
{
	unsigned i, nordered = 0;

	for (i = 0; i < t->naccess; i++) {
		struct orr_access *a = &t->access[i];
		starpu_data_handle_t h = orr_task_handle(t->pub, i);

		memset(a, 0, sizeof(*a));
		a->handle = h;
		a->owner.task = t;
		a->mode = (uint16_t) orr_task_mode(t->pub, i);
		if (a->mode & STARPU_MPI_REDUX)
			a->mode |= STARPU_RW | STARPU_COMMUTE;
		a->node = -1;
		a->ordered = has_order(a) && !nodeps && sequential(t->pub, h, i);
		if (a->ordered)
			nordered++;
		else
			orr_handle_pin(h);
	}
	return nordered;
}

int orr_access_reserve(struct orr_task *t)
{
	unsigned n = orr_task_nbuffers(t->pub);
	void **interfaces;

	t->naccess = n;
	t->access = t->inl_access;
	if (__builtin_expect(n <= STARPU_NMAXBUFS, 1))
		return 0;
	t->access = malloc(n * sizeof(*t->access));
	interfaces = t->access ? realloc(t->pub->dyn_interfaces, n * sizeof(*interfaces)) : NULL;
	if (!interfaces) {
		free(t->access);
		t->access = NULL;
		t->naccess = 0;
		orr_error("task %s: out of memory for its %u data", orr_task_name(t->pub), n);
		return -ENOMEM;
	}
	memset(interfaces, 0, n * sizeof(*interfaces));
	t->pub->dyn_interfaces = interfaces;
	return 0;
}

void orr_access_submit(struct orr_task *t, int nodeps)
{
	struct orr_access *inl[STARPU_NMAXBUFS], **v = room(t, inl);
	unsigned i, n, nordered = prepare(t, nodeps);
	int redux = 0;

	if (t->naccess > 1)
		merge_duplicates(t, v);
	n = sorted(t, v, is_ordered);
	lock_all(v, n);
	for (i = 0; i < n; i++)
		if (!orr_access_enqueue(v[i]->handle, v[i]))
			ORR_ATOMIC_ADD_RELAXED(&t->ndeps, 1);
	/* Everything there: it begins to hold while nobody can come between. */
	if (nordered == t->naccess && ORR_ATOMIC_LOAD_RELAXED(&t->ndeps) == 1 &&
	    first_conflict(v, n) == n)
		hold_them(t, v, n);
	for (i = 0; i < n; i++)
		redux |= v[i]->handle->ext && v[i]->handle->ext->redux;
	unlock_all(v, n);
	if (__builtin_expect(redux, 0))
		for (i = 0; i < n; i++)
			orr_access_kick_redux(v[i]->handle);
	if (v != inl)
		free(v);
}

/* ---- the end ---- */

void orr_access_release(struct orr_task *t)
{
	unsigned i;

	for (i = 0; i < t->naccess; i++) {
		struct orr_access *a = &t->access[i];
		starpu_data_handle_t h = a->handle;
		int ordered = a->ordered;

		if (a->pinned) {
			a->pinned = 0;
			orr_fetch_unref(h, (unsigned) a->node, a->mode);
		}
		if (!a->merged)
			orr_access_end(a);
		if (!ordered)
			orr_handle_unpin(h);
	}
}
