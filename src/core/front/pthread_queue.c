/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting for the first of several queues that is signalled (starpu_thread.h).
 *
 * A wait object has a mutex and a condition; a queue has the list of the objects that are
 * registered with it. A signal sets the flag of an object, and keeps for the next one.
 *
 * Invariant: queue->lock is taken before wait->lock. */
#include "starpu_thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/pthread_attr.h"

int starpu_pthread_wait_init(starpu_pthread_wait_t *w)
{
	*w = (starpu_pthread_wait_t){ 0 };
	int ret = starpu_pthread_mutex_init(&w->lock, NULL);

	return ret ? ret : starpu_pthread_cond_init(&w->cond, NULL);
}

int starpu_pthread_wait_destroy(starpu_pthread_wait_t *w)
{
	int ret = starpu_pthread_cond_destroy(&w->cond);

	return ret ? ret : starpu_pthread_mutex_destroy(&w->lock);
}

int starpu_pthread_wait_reset(starpu_pthread_wait_t *w)
{
	starpu_pthread_mutex_lock(&w->lock);
	w->signalled = 0;
	starpu_pthread_mutex_unlock(&w->lock);
	return 0;
}

int starpu_pthread_wait_wait(starpu_pthread_wait_t *w)
{
	int ret = 0;

	starpu_pthread_mutex_lock(&w->lock);
	while (!w->signalled && !ret)
		ret = starpu_pthread_cond_wait(&w->cond, &w->lock);
	starpu_pthread_mutex_unlock(&w->lock);
	return ret;
}

int starpu_pthread_wait_timedwait(starpu_pthread_wait_t *w, const struct timespec *abstime)
{
	int ret = 0;

	starpu_pthread_mutex_lock(&w->lock);
	while (!w->signalled && !ret)
		ret = starpu_pthread_cond_timedwait(&w->cond, &w->lock, abstime);
	if (w->signalled)
		ret = 0;
	starpu_pthread_mutex_unlock(&w->lock);
	return ret;
}

static void signal_one(starpu_pthread_wait_t *w)
{
	starpu_pthread_mutex_lock(&w->lock);
	w->signalled = 1;
	starpu_pthread_cond_broadcast(&w->cond);
	starpu_pthread_mutex_unlock(&w->lock);
}

int starpu_pthread_queue_init(starpu_pthread_queue_t *q)
{
	*q = (starpu_pthread_queue_t){ 0 };
	return starpu_pthread_mutex_init(&q->lock, NULL);
}

int starpu_pthread_queue_destroy(starpu_pthread_queue_t *q)
{
	if (q->nwaits)
		return EBUSY;
	free(q->waits);
	return starpu_pthread_mutex_destroy(&q->lock);
}

int starpu_pthread_queue_register(starpu_pthread_wait_t *w, starpu_pthread_queue_t *q)
{
	starpu_pthread_mutex_lock(&q->lock);
	starpu_pthread_wait_t **waits = realloc(q->waits,
						(q->nwaits + 1) * sizeof(starpu_pthread_wait_t *));
	if (waits) {
		q->waits = waits;
		waits[q->nwaits++] = w;
	}
	starpu_pthread_mutex_unlock(&q->lock);
	return waits ? 0 : ENOMEM;
}

int starpu_pthread_queue_unregister(starpu_pthread_wait_t *w, starpu_pthread_queue_t *q)
{
	unsigned i = 0;

	starpu_pthread_mutex_lock(&q->lock);
	while (i < q->nwaits && q->waits[i] != w)
		i++;
	int found = i < q->nwaits;
	if (found)
		q->nwaits--;
	for (; found && i < q->nwaits; i++)
		q->waits[i] = q->waits[i + 1];
	starpu_pthread_mutex_unlock(&q->lock);
	return found ? 0 : EINVAL;
}

/* The first n objects, in the order of their registration. */
static int signal_some(starpu_pthread_queue_t *q, unsigned n)
{
	starpu_pthread_mutex_lock(&q->lock);
	for (unsigned i = 0; i < n && i < q->nwaits; i++)
		signal_one(q->waits[i]);
	starpu_pthread_mutex_unlock(&q->lock);
	return 0;
}

int starpu_pthread_queue_signal(starpu_pthread_queue_t *q)
{
	return signal_some(q, 1);
}

int starpu_pthread_queue_broadcast(starpu_pthread_queue_t *q)
{
	return signal_some(q, q->nwaits);
}

/* ---- mutexes of policies are ordinary ones ---- */

int starpu_pthread_mutex_lock_sched(starpu_pthread_mutex_t *mutex)
{
	return starpu_pthread_mutex_lock(mutex);
}

int starpu_pthread_mutex_unlock_sched(starpu_pthread_mutex_t *mutex)
{
	return starpu_pthread_mutex_unlock(mutex);
}

int starpu_pthread_mutex_trylock_sched(starpu_pthread_mutex_t *mutex)
{
	return starpu_pthread_mutex_trylock(mutex);
}

/* ---- attributes ---- */

/* Types of mutexes, as POSIX numbers them. */
enum { NORMAL, RECURSIVE, ERRORCHECK };

int starpu_pthread_attr_init(starpu_pthread_attr_t *attr)
{
	memset(attr, 0, sizeof(*attr));
	return 0;
}

int starpu_pthread_attr_destroy(starpu_pthread_attr_t *attr)
{
	if (orr_pthread_attr_gone(attr))
		return EINVAL;
	attr->u.align = ORR_PTHREAD_GONE;
	return 0;
}

int starpu_pthread_mutexattr_init(starpu_pthread_mutexattr_t *attr)
{
	attr->u.align = NORMAL;
	return 0;
}

int starpu_pthread_mutexattr_destroy(starpu_pthread_mutexattr_t *attr)
{
	if (orr_pthread_mutexattr_gone(attr))
		return EINVAL;
	attr->u.align = ORR_PTHREAD_GONE;
	return 0;
}

int starpu_pthread_mutexattr_gettype(const starpu_pthread_mutexattr_t *attr, int *type)
{
	*type = (int) attr->u.align;
	return 0;
}

/* The mutexes know no owner. */
int starpu_pthread_mutexattr_settype(starpu_pthread_mutexattr_t *attr, int type)
{
	if (type != NORMAL)
		return type == RECURSIVE || type == ERRORCHECK ? ENOTSUP : EINVAL;
	attr->u.align = type;
	return 0;
}

int starpu_pthread_attr_setdetachstate(starpu_pthread_attr_t *attr, int detachstate)
{
	if (orr_pthread_attr_gone(attr) || (detachstate != 0 && detachstate != 1))
		return EINVAL;
	return detachstate ? ENOTSUP : 0;
}

int starpu_pthread_attr_setstacksize(starpu_pthread_attr_t *attr, size_t stacksize)
{
	(void) stacksize;
	return orr_pthread_attr_gone(attr) ? EINVAL : ENOTSUP;
}

void starpu_pthread_mutex_check_sched(starpu_pthread_mutex_t *mutex, char *file, int line)
{
	if (starpu_pthread_mutex_trylock(mutex))
		return;
	starpu_pthread_mutex_unlock(mutex);
	orr_error("%s:%d: the mutex of a policy is not held", file ? file : "?", line);
}
