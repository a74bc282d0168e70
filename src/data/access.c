/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The access queues of handles (see access.h for the model).
 *
 * Locks: a submission locks all handles of a task in address order, so that two threads that submit see the same order on all of
 * them. Everything else locks one handle at a time. Tasks and acquisitions that become runnable are collected under the lock and
 * released after it. */
#include "data/handle.h"
#include "data/transfer.h"
#include "core/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum orr_class class_of(unsigned mode)
{
	if (mode & STARPU_REDUX)
		return ORR_CLASS_REDUX;
	if ((mode & STARPU_COMMUTE) && (mode & STARPU_W))
		return ORR_CLASS_COMMUTE;
	if (mode & STARPU_W)
		return ORR_CLASS_WRITE;
	return ORR_CLASS_READ;
}

/* Modes that say nothing about contents: no waiting for others, no ordering. */
static int is_free(unsigned mode) { return !(mode & (STARPU_R | STARPU_W | STARPU_REDUX)); }

static int needs_lock(const struct orr_access *a)
{
	return !is_free(a->mode) && (!a->ordered || class_of(a->mode) == ORR_CLASS_COMMUTE);
}

/* ---- phase one: turns ---- */

/* May an access of this class join what is granted now? Under h->lock. */
static int compatible(starpu_data_handle_t h, enum orr_class c)
{
	if (h->ngranted && (c != h->gclass || c == ORR_CLASS_WRITE))
		return 0;
	if (h->nulock && c != ORR_CLASS_COMMUTE)
		return c == ORR_CLASS_READ && !h->ulock_write;
	return 1;
}

static void grant(starpu_data_handle_t h, struct orr_access *a, enum orr_class c)
{
	h->ngranted++;
	h->gclass = (uint8_t) c;
	a->granted = 1;
}

/* Puts an access at its place in the order. Returns 1 when its turn is now. Under h->lock. */
static int enqueue(starpu_data_handle_t h, struct orr_access *a)
{
	enum orr_class c = class_of(a->mode);

	if (!h->head && compatible(h, c) && !orr_redux_blocks(h, c)) {
		grant(h, a, c);
		return 1;
	}
	a->next = NULL;
	if (h->tail)
		h->tail->next = a;
	else
		h->head = a;
	h->tail = a;
	h->nwaiting++;
	return 0;
}

/* Takes the accesses whose turn has come off the queue, linked by next, in order. Under h->lock. */
static struct orr_access *take_granted(starpu_data_handle_t h)
{
	struct orr_access *first = NULL, **end = &first;

	while (h->head) {
		struct orr_access *a = h->head;
		enum orr_class c = class_of(a->mode);

		if (!compatible(h, c) || orr_redux_blocks(h, c))
			break;
		h->head = a->next;
		if (!h->head)
			h->tail = NULL;
		h->nwaiting--;
		grant(h, a, c);
		a->next = NULL;
		*end = a;
		end = &a->next;
	}
	return first;
}

static struct orr_access *take_retries(starpu_data_handle_t h)
{
	struct orr_access *list;

	if (!h->ext || !h->ext->retry)
		return NULL;
	list = h->ext->retry;
	h->ext->retry = NULL;
	return list;
}

static void acquire_granted(struct orr_acquire *a);
static void acquire_retry(struct orr_acquire *a);

/* Lets go on what was collected under a lock. */
static void release_collected(struct orr_access *granted, struct orr_access *retry)
{
	struct orr_access *next;

	for (; granted; granted = next) {
		next = granted->next;
		if (granted->is_acquire)
			acquire_granted(granted->owner.acquire);
		else
			orr_task_release(granted->owner.task);
	}
	for (; retry; retry = next) {
		next = retry->next;
		if (retry->is_acquire)
			acquire_retry(retry->owner.acquire);
		else
			orr_task_ready(retry->owner.task);
	}
}

void orr_access_regrant(starpu_data_handle_t h)
{
	struct orr_access *granted;

	orr_lock(&h->lock);
	granted = take_granted(h);
	orr_unlock(&h->lock);
	release_collected(granted, NULL);
}

/* Ends one access; the handle may be gone afterwards. */
static void release_one(struct orr_access *a)
{
	starpu_data_handle_t h = a->handle;
	struct orr_access *granted, *retry;
	struct orr_redux *redux;

	if (!a->granted && !a->locked)
		return;
	orr_lock(&h->lock);
	if (a->locked) {
		a->locked = 0;
		if (--h->nulock == 0)
			h->ulock_write = 0;
	}
	if (a->granted) {
		a->granted = 0;
		if (--h->ngranted == 0)
			h->gclass = ORR_CLASS_NONE;
	}
	if (!h->head && !h->ext) {
		orr_unlock(&h->lock);
		return;
	}
	redux = orr_redux_start(h);
	granted = take_granted(h);
	retry = take_retries(h);
	orr_unlock(&h->lock);
	release_collected(granted, retry);
	if (redux)
		orr_redux_run(redux);
}

/* An access was queued: contributions that nobody combined yet must be, for its sake. Without h->lock. */
static void kick_redux(starpu_data_handle_t h)
{
	struct orr_redux *redux;

	orr_lock(&h->lock);
	redux = orr_redux_start(h);
	orr_unlock(&h->lock);
	if (redux)
		orr_redux_run(redux);
}

/* ---- phase two: all or nothing ---- */

static int lock_conflicts(starpu_data_handle_t h, const struct orr_access *a)
{
	int writes = (a->mode & (STARPU_W | STARPU_REDUX)) != 0;

	if (h->nulock && (writes || h->ulock_write))
		return 1;
	if (a->granted || !h->ngranted || h->gclass == ORR_CLASS_COMMUTE)
		return 0;
	return writes || h->gclass == ORR_CLASS_WRITE || h->gclass == ORR_CLASS_REDUX;
}

static void take_lock(starpu_data_handle_t h, struct orr_access *a)
{
	h->nulock++;
	if (a->mode & (STARPU_W | STARPU_REDUX))
		h->ulock_write = 1;
	a->locked = 1;
}

/* Parks the access until something of h is released. Under h->lock. */
static void park(starpu_data_handle_t h, struct orr_access *a)
{
	struct orr_data_ext *ext = orr_handle_ext(h);

	if (!ext)
		orr_fatal("out of memory while queueing an access to %s", orr_handle_name(h));
	a->next = ext->retry;
	ext->retry = a;
}

/* By handle; accesses of a task to one handle in the order of the task. */
static int by_handle(const void *pa, const void *pb)
{
	const struct orr_access *a = *(struct orr_access *const *) pa, *b = *(struct orr_access *const *) pb;

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

/* Accesses of a task ordered by handle; those that `want` rejects and merged ones are left out. */
static unsigned sorted(struct orr_task *t, struct orr_access **v, int (*want)(const struct orr_access *))
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

int orr_access_lock(struct orr_task *t)
{
	struct orr_access *inl[STARPU_NMAXBUFS], **v = inl;
	unsigned i, n;
	int ok = 1;

	if (t->naccess > STARPU_NMAXBUFS) {
		v = malloc(t->naccess * sizeof(*v));
		if (!v)
			orr_fatal("out of memory while starting task %s", orr_task_name(t->pub));
	}
	n = sorted(t, v, needs_lock);
	for (i = 0; i < n; i++)
		orr_lock(&v[i]->handle->lock);
	for (i = 0; i < n && ok; i++)
		if (lock_conflicts(v[i]->handle, v[i])) {
			park(v[i]->handle, v[i]);
			ok = 0;
		}
	for (i = 0; i < n && ok; i++)
		take_lock(v[i]->handle, v[i]);
	for (i = n; i-- > 0;)
		orr_unlock(&v[i]->handle->lock);
	if (v != inl)
		free(v);
	return ok;
}

/* ---- tasks ---- */

static int is_ordered(const struct orr_access *a) { return a->ordered; }

/* Is access i under sequential consistency? */
static int sequential(const struct starpu_task *pub, starpu_data_handle_t h, unsigned i)
{
	if (!pub->sequential_consistency)
		return 0;
	if (pub->handles_sequential_consistency && !pub->handles_sequential_consistency[i])
		return 0;
	return h->sequential;
}

static int has_order(const struct orr_access *a) { return !is_free(a->mode); }

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
			if (t->access[j].handle == t->access[i].handle && !t->access[j].merged && !is_free(t->access[i].mode) &&
			    !is_free(t->access[j].mode)) {
				t->access[j].mode |= t->access[i].mode;
				t->access[i].merged = 1;
				break;
			}
}

int orr_access_submit(struct orr_task *t, int nodeps)
{
	struct starpu_task *pub = t->pub;
	unsigned i, n = orr_task_nbuffers(pub), nsorted;
	struct orr_access *inl[STARPU_NMAXBUFS], **v = inl;
	int redux = 0;

	t->access = t->inl_access;
	if (n > STARPU_NMAXBUFS) {
		t->access = malloc(n * sizeof(*t->access));
		v = malloc(n * sizeof(*v));
		if (!t->access || !v) {
			free(v);
			return -ENOMEM;
		}
	}
	t->naccess = n;
	for (i = 0; i < n; i++) {
		struct orr_access *a = &t->access[i];
		starpu_data_handle_t h = orr_task_handle(pub, i);

		memset(a, 0, sizeof(*a));
		a->handle = h;
		a->owner.task = t;
		a->mode = (uint16_t) orr_task_mode(pub, i);
		if (a->mode & STARPU_MPI_REDUX)
			a->mode |= STARPU_RW | STARPU_COMMUTE;
		a->node = -1;
		if (!is_free(a->mode))
			a->ordered = !nodeps && sequential(pub, h, i);
		if (needs_lock(a))
			t->unordered = 1;
		if (!a->ordered)
			ORR_ATOMIC_ADD_RELAXED(&h->nunordered, 1);
	}
	if (n > 1)
		merge_duplicates(t, v);
	nsorted = sorted(t, v, is_ordered);
	for (i = 0; i < nsorted; i++)
		orr_lock(&v[i]->handle->lock);
	for (i = 0; i < nsorted; i++)
		if (!enqueue(v[i]->handle, v[i]))
			ORR_ATOMIC_ADD_RELAXED(&t->ndeps, 1);
	for (i = nsorted; i-- > 0;) {
		redux |= v[i]->handle->ext && v[i]->handle->ext->redux;
		orr_unlock(&v[i]->handle->lock);
	}
	if (__builtin_expect(redux, 0))
		for (i = 0; i < nsorted; i++)
			kick_redux(v[i]->handle);
	if (v != inl)
		free(v);
	return 0;
}

/* The handle must outlive the release: whoever unregisters it waits for nunordered to fall to zero. */
static void release_unordered(struct orr_access *a)
{
	struct orr_node *node = orr_self();
	starpu_data_handle_t h = a->handle;

	if (!a->merged)
		release_one(a);
	if (ORR_ATOMIC_ADD(&h->nunordered, -1) == ORR_UNORDERED_LAST)
		orr_handle_destroy(h);
	orr_waitq_wake(&node->done);
}

void orr_access_release(struct orr_task *t)
{
	unsigned i;

	for (i = 0; i < t->naccess; i++) {
		struct orr_access *a = &t->access[i];

		if (a->pinned) {
			orr_fetch_unref(a->handle, (unsigned) a->node, a->mode);
			a->pinned = 0;
		}
		if (!a->ordered)
			release_unordered(a);
		else if (!a->merged)
			release_one(a);
	}
}

/* ---- acquisitions ---- */

static void acquire_done(void *arg)
{
	struct orr_acquire *a = arg;

	a->granted(a);
}

static void acquire_failed(void *arg)
{
	struct orr_acquire *a = arg;

	a->access.pinned = 0;
	a->status = -ENOMEM;
	a->granted(a);
}

static int acquire_fetch(struct orr_acquire *a)
{
	struct orr_access *x = &a->access;
	struct orr_fetch rq;

	if (orr_fetch_quick(x->handle, (unsigned) x->node, x->mode))
		return 0;
	rq = (struct orr_fetch) { .handle = x->handle, .memnode = (uint8_t) x->node, .mode = x->mode, .prio = a->prio, .effort = ORR_EFFORT_WRITEBACK,
				  .done = acquire_done, .failed = a->may_fail ? acquire_failed : NULL, .arg = a };
	return orr_fetch_request(&rq);
}

/* Its turn has come: now the data are wanted on a node. */
static void acquire_granted(struct orr_acquire *a)
{
	if (a->access.mode & STARPU_COMMUTE) {
		acquire_retry(a);
		return;
	}
	if (a->access.node >= 0) {
		int ret;

		a->access.pinned = 1;
		ret = acquire_fetch(a);
		if (ret == 1)
			return;
		if (ret < 0 && a->may_fail) {
			a->access.pinned = 0;
			a->status = ret;
		} else if (ret < 0)
			orr_fatal("the datum %s cannot be brought to memory node %d", orr_handle_name(a->access.handle), a->access.node);
	}
	a->granted(a);
}

/* Phase two of an acquisition. */
static void acquire_retry(struct orr_acquire *a)
{
	starpu_data_handle_t h = a->access.handle;
	int ok;

	orr_lock(&h->lock);
	ok = !lock_conflicts(h, &a->access);
	if (ok)
		take_lock(h, &a->access);
	else
		park(h, &a->access);
	orr_unlock(&h->lock);
	if (!ok)
		return;
	a->access.mode &= (uint16_t) ~STARPU_COMMUTE;
	acquire_granted(a);
}

static void acquire_prepare(struct orr_acquire *a, starpu_data_handle_t h, int node, unsigned mode, int ordered, int prio,
			    void (*granted)(struct orr_acquire *))
{
	memset(&a->access, 0, sizeof(a->access));
	a->access.handle = h;
	a->access.owner.acquire = a;
	a->access.is_acquire = 1;
	a->access.mode = (uint16_t) mode;
	a->access.node = (int8_t) node;
	a->access.ordered = ordered & 1;
	a->prio = prio;
	a->status = 0;
	a->granted = granted;
}

int orr_acquire_start(struct orr_acquire *a, starpu_data_handle_t h, int node, enum starpu_data_access_mode mode, int ordered, int prio,
		      void (*granted)(struct orr_acquire *))
{
	int now, redux;

	if (ORR_ATOMIC_LOAD_RELAXED(&h->busy_partition) && orr_handle_check_partition(h, mode, NULL))
		return -EINVAL;
	acquire_prepare(a, h, node, mode, ordered && h->sequential, prio, granted);
	if (is_free(mode)) {
		acquire_granted(a);
		return 0;
	}
	if (!a->access.ordered) {
		acquire_retry(a);
		return 0;
	}
	orr_lock(&h->lock);
	now = enqueue(h, &a->access);
	redux = h->ext && h->ext->redux;
	orr_unlock(&h->lock);
	if (now)
		acquire_granted(a);
	else if (redux)
		kick_redux(h);
	return 0;
}

int orr_acquire_try(struct orr_acquire *a, starpu_data_handle_t h, int node, enum starpu_data_access_mode mode)
{
	enum orr_class c = class_of(mode);
	int ok, ret;

	if (ORR_ATOMIC_LOAD_RELAXED(&h->busy_partition) && orr_handle_check_partition(h, mode, NULL))
		return -EINVAL;
	acquire_prepare(a, h, node, mode, ORR_ATOMIC_LOAD_RELAXED(&h->sequential), 0, NULL);
	orr_lock(&h->lock);
	ok = h->ngranted == 0 || (c == ORR_CLASS_READ && h->gclass == ORR_CLASS_READ);
	ok = ok && !h->head && !lock_conflicts(h, &a->access) && !orr_redux_blocks(h, c);
	if (ok && a->access.ordered)
		grant(h, &a->access, c == ORR_CLASS_COMMUTE ? ORR_CLASS_WRITE : c);
	else if (ok)
		take_lock(h, &a->access);
	orr_unlock(&h->lock);
	if (!ok)
		return -EAGAIN;
	if (node < 0)
		return 0;
	a->access.pinned = 1;
	ret = orr_fetch_wait(h, (unsigned) node, mode, 0);
	if (ret < 0)
		orr_acquire_release(a);
	return ret;
}

void orr_acquire_release(struct orr_acquire *a)
{
	if (a->access.pinned) {
		a->access.pinned = 0;
		orr_fetch_unref(a->access.handle, (unsigned) a->access.node, a->access.mode);
	}
	release_one(&a->access);
}

void orr_acquire_downgrade(struct orr_acquire *a, enum starpu_data_access_mode down_to)
{
	starpu_data_handle_t h = a->access.handle;
	struct orr_access *granted = NULL, *retry = NULL;

	if (!(down_to & STARPU_RW)) {
		orr_acquire_release(a);
		return;
	}
	if (!(a->access.mode & STARPU_W) || (down_to & STARPU_W))
		return;
	orr_lock(&h->lock);
	a->access.mode = (uint16_t) (STARPU_R | (a->access.mode & ~STARPU_RW));
	if (a->access.granted)
		h->gclass = ORR_CLASS_READ;
	if (a->access.locked)
		h->ulock_write = 0;
	granted = take_granted(h);
	retry = take_retries(h);
	orr_unlock(&h->lock);
	release_collected(granted, retry);
}
