/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The accesses of an owner taken together: submission, holding all its data at once, and the end
 * (see access.h for the model).
 *
 * Locks: a submission, and a task that wants to hold its data, lock all its handles in address
 * order, so that two threads see the same order on all of them. Whatever happens under these locks
 * happens in the order of the task's accesses: addresses differ from run to run. Invariant: a task
 * holds all its data (o->held) or none. */
#include "data/access_queue.h"
#include "base/log.h"
#include "data/fetch.h"
#include "data/write_through.h"
#include "data/access.h"

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

/* Sorts many accesses. The pieces of a datum come from a slab, so they often are in order already.
 */
static void sort_many(struct orr_access **v, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		if (by_handle(&v[i - 1], &v[i]) > 0) {
			qsort(v, n, sizeof(*v), by_handle);
			return;
		}
}

/* Stores the accesses that `want` accepts in v, ordered by handle, without merged ones. Returns
 * their number. */
static unsigned sorted(struct orr_owner *o, struct orr_access **v,
		       int (*want)(const struct orr_access *))
{
	unsigned j, n = 0;

	for (unsigned i = 0; i < o->naccess; i++)
		if (!o->access[i].merged && want(&o->access[i]))
			v[n++] = &o->access[i];
	if (n > 16) {
		sort_many(v, n);
		return n;
	}
	for (unsigned i = 1; i < n; i++) {
		struct orr_access *a = v[i];

		for (j = i; j > 0 && v[j - 1]->handle > a->handle; j--)
			v[j] = v[j - 1];
		v[j] = a;
	}
	return n;
}

/* An array for pointers to all accesses of o: inl if that is large enough. */
static struct orr_access **room(struct orr_owner *o, struct orr_access **inl)
{
	struct orr_access **v = inl;

	if (o->naccess > STARPU_NMAXBUFS) {
		v = malloc(o->naccess * sizeof(*v));
		if (!v)
			orr_fatal("out of memory for the %u accesses of %s", o->naccess,
				  orr_owner_name(o));
	}
	return v;
}

static void lock_all(struct orr_access **v, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		orr_assert(i == 0 || v[i - 1]->handle < v[i]->handle);
		orr_lock(&v[i]->handle->lock);
	}
}

static void unlock_all(struct orr_access **v, unsigned n)
{
	while (n-- > 0)
		orr_unlock(&v[n]->handle->lock);
}

/* ---- holding ---- */

static int may_hold(const struct orr_access *a)
{
	return !a->merged && orr_access_holds(a);
}

/* The first access that conflicts, or NULL. Under the locks of all that the owner holds. */
static struct orr_access *first_conflict(struct orr_owner *o)
{
	for (unsigned i = 0; i < o->naccess; i++) {
		struct orr_access *a = &o->access[i];

		if (may_hold(a) && orr_access_conflicts(a->handle, a))
			return a;
	}
	return NULL;
}

static void hold_them(struct orr_owner *o)
{
	orr_assert(!o->held);
	for (unsigned i = 0; i < o->naccess; i++)
		if (may_hold(&o->access[i]))
			orr_access_hold(o->access[i].handle, &o->access[i]);
	o->held = 1;
}

int orr_access_hold_all(struct orr_owner *o, struct orr_access **woken)
{
	struct orr_access *inl[STARPU_NMAXBUFS], **v = room(o, inl), **end = woken;
	unsigned n = sorted(o, v, orr_access_holds);

	orr_assert_no_lock();
	orr_assert(!o->held);
	lock_all(v, n);
	struct orr_access *conflict = first_conflict(o);
	o->parked = conflict != NULL;
	if (!conflict)
		hold_them(o);
	else
		orr_access_park(conflict->handle, conflict);
	/* It may have been taken off the parked accesses of its other data: others that are parked
	 * there try in its place. */
	for (unsigned i = 0; i < o->naccess && conflict; i++) {
		struct orr_access *a = &o->access[i];

		if (a != conflict && may_hold(a) && a->handle->ext) {
			*end = orr_access_take_parked(a->handle);
			for (; *end; end = &(*end)->next)
				;
		}
	}
	unlock_all(v, n);
	if (v != inl)
		free(v);
	return !conflict;
}

int orr_access_lock(struct orr_owner *o)
{
	struct orr_access *woken = NULL;
	int held = orr_access_hold_all(o, &woken);

	orr_access_resume(woken);
	return held;
}

/* ---- proceeding ---- */

void orr_owners_proceed(struct orr_thread *self)
{
	for (struct orr_owner *o; (o = self->later);) {
		self->later = o->next;
		o->ops->proceed(o);
	}
}

void orr_owner_proceed(struct orr_owner *o)
{
	struct orr_thread *self = orr_thread_self();

	orr_assert_no_lock();
	if (self->proceeding) {
		o->next = NULL;
		*(self->later ? &self->later_last->next : &self->later) = o;
		self->later_last = o;
		return;
	}
	self->proceeding = 1;
	o->ops->proceed(o);
	orr_owners_proceed(self);
	self->proceeding = 0;
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

/* The same for tasks with many data; v has room for all accesses. */
static void merge_many(struct orr_owner *o, struct orr_access **v)
{
	unsigned kept = 0, n = sorted(o, v, has_order);

	for (unsigned i = 1; i < n; i++) {
		if (v[i]->handle != v[kept]->handle) {
			kept = i;
			continue;
		}
		v[kept]->mode |= v[i]->mode;
		v[i]->merged = 1;
	}
}

/* Makes one access with both modes of two accesses of a task to the same handle. */
static void merge_duplicates(struct orr_owner *o, struct orr_access **v)
{
	if (o->naccess > 16) {
		merge_many(o, v);
		return;
	}
	for (unsigned i = 1; i < o->naccess; i++)
		for (unsigned j = 0; j < i; j++)
			if (o->access[j].handle == o->access[i].handle && !o->access[j].merged &&
			    has_order(&o->access[i]) && has_order(&o->access[j])) {
				o->access[j].mode |= o->access[i].mode;
				o->access[i].merged = 1;
				break;
			}
}

void orr_access_submit(struct orr_owner *o)
{
	struct orr_access *inl[STARPU_NMAXBUFS], **v = room(o, inl);
	unsigned nordered = 0;
	int redux = 0;

	orr_assert_no_lock();
	orr_assert(ORR_ATOMIC_LOAD_RELAXED(&o->ndeps) >= 1 && !o->held);
	for (unsigned i = 0; i < o->naccess; i++)
		if (o->access[i].ordered)
			nordered++;
		else
			orr_handle_pin(o->access[i].handle);
	if (o->naccess > 1)
		merge_duplicates(o, v);
	unsigned n = sorted(o, v, is_ordered);
	lock_all(v, n);
	for (unsigned i = 0; i < n; i++)
		if (!orr_access_enqueue(v[i]->handle, v[i]))
			ORR_ATOMIC_ADD_RELAXED(&o->ndeps, 1);
	/* All turns have come: it begins to hold while nobody can come between. */
	if (nordered == o->naccess && ORR_ATOMIC_LOAD_RELAXED(&o->ndeps) == 1 && !first_conflict(o))
		hold_them(o);
	for (unsigned i = 0; i < n; i++)
		redux |= v[i]->handle->ext && v[i]->handle->ext->redux;
	unlock_all(v, n);
	if (__builtin_expect(redux, 0))
		for (unsigned i = 0; i < n; i++)
			orr_access_kick_redux(v[i]->handle);
	if (v != inl)
		free(v);
}

/* ---- the end ---- */

void orr_access_release(struct orr_owner *o)
{
	/* The next accesses are seldom in the cache. */
	for (unsigned i = 0; i < o->naccess; i++)
		__builtin_prefetch(ORR_ATOMIC_LOAD_RELAXED(&o->access[i].handle->head));
	for (unsigned i = 0; i < o->naccess; i++) {
		struct orr_access *a = &o->access[i];
		starpu_data_handle_t h = a->handle;
		int ordered = a->ordered;

		orr_assert(a->handle && a->owner == o && !(a->merged && (a->granted || a->locked)));
		if (a->pinned) {
			a->pinned = 0;
			orr_wrote(h, (unsigned) a->node, a->mode);
			orr_fetch_unref(h, (unsigned) a->node);
		}
		if (!a->merged)
			orr_access_end(a);
		if (!ordered)
			orr_handle_unpin(h);
	}
}

/* ---- who comes next ---- */

/* The access behind a and those that share its turn, or NULL. */
static struct orr_access *behind(starpu_data_handle_t h, const struct orr_access *a)
{
	enum orr_class c = orr_access_class(a->mode);
	struct orr_access *q = h->head;

	orr_assert_locked(&h->lock);
	if (a->granted)
		return q;
	while (q && q != a)
		q = q->next;
	if (q)
		q = q->next;
	while (q && c != ORR_CLASS_WRITE && orr_access_class(q->mode) == c)
		q = q->next;
	return q;
}

void orr_access_successors(const struct orr_owner *o, void (*f)(struct orr_owner *, void *),
			   void *arg)
{
	for (unsigned i = 0; i < o->naccess; i++) {
		const struct orr_access *a = &o->access[i];
		starpu_data_handle_t h = a->handle;

		if (!h || a->merged || !a->ordered)
			continue;
		orr_lock(&h->lock);
		struct orr_access *q = behind(h, a);
		enum orr_class c = q ? orr_access_class(q->mode) : ORR_CLASS_NONE;
		int alone = c == ORR_CLASS_WRITE;
		for (; q && orr_access_class(q->mode) == c; q = alone ? NULL : q->next)
			f(q->owner, arg);
		orr_handle_unlock(h);
	}
}
