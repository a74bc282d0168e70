/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_pthread_* and relatives of the simulated world (contract: starpu_thread.h): waiting takes
 * virtual time and no processor.
 *
 * All are built from event counts: an uncontended operation is a few plain loads and stores, with
 * no call of SimGrid. The objects live in the program's memory, an all-zero one is initialised.
 *
 * Invariant: the state of an object changes only while its caller runs, and every wait loops until
 * the state is right. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "starpu.h"
#include "actors/sim_actor.h"
#include "actors/sim_glue.h"
#include "actors/sim_rank.h"
#include "actors/sim_thread.h"
#include "actors/sim_private.h"
#include "base/assert.h"
#include "base/pthread_attr.h"

struct mutex {
	struct orr_sim_actor *owner;
	orr_waitq_t free;
};
struct cond {
	orr_waitq_t all;
	uint32_t waiting, signals;
};
struct rwlock {
	struct orr_sim_actor *writer;
	unsigned readers;
	orr_waitq_t free;
};
struct barrier {
	unsigned count, arrived, round;
	orr_waitq_t full;
};
struct sem {
	unsigned value;
	orr_waitq_t posted;
};

_Static_assert(sizeof(struct mutex) <= sizeof(starpu_pthread_mutex_t), "mutex");
_Static_assert(sizeof(struct cond) <= sizeof(starpu_pthread_cond_t), "cond");
_Static_assert(sizeof(struct rwlock) <= sizeof(starpu_pthread_rwlock_t), "rwlock");
_Static_assert(sizeof(struct barrier) <= sizeof(starpu_pthread_barrier_t), "barrier");
_Static_assert(sizeof(struct sem) <= sizeof(starpu_sem_t), "sem");

/* Waits on q once unless `ready`; the caller loops. */
#define WAIT_UNTIL(q, ready) \
	while (!(ready)) { \
		unsigned key_ = orr_waitq_prepare(q); \
		orr_waitq_wait((q), key_, -1); \
	}

/* ---- threads ---- */

int starpu_pthread_create_on(const char *name, starpu_pthread_t *thread,
			     const starpu_pthread_attr_t *attr, void *(*start_routine)(void *),
			     void *arg, starpu_sg_host_t host)
{
	(void) host;
	if (attr && orr_pthread_attr_gone(attr))
		return EINVAL;
	orr_sys_thread_t *t = orr_sys_thread_start(orr_self(), ORR_ROLE_USER, name, -1,
						   start_routine, arg);
	if (!t)
		return errno ? errno : EAGAIN;
	*thread = t;
	return 0;
}

int starpu_pthread_create(starpu_pthread_t *thread, const starpu_pthread_attr_t *attr,
			  void *(*start_routine)(void *), void *arg)
{
	return starpu_pthread_create_on("thread", thread, attr, start_routine, arg, NULL);
}

int starpu_pthread_join(starpu_pthread_t thread, void **retval)
{
	void *ret = orr_sys_thread_join(thread);
	if (retval)
		*retval = ret;
	return 0;
}

int starpu_pthread_detach(starpu_pthread_t thread)
{
	struct orr_sim_actor *a = thread;
	if (!a->active) {
		orr_sys_thread_join(thread);
		return 0;
	}
	a->detached = 1;
	return 0;
}

int starpu_pthread_exit(void *retval)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	orr_sim_private_end(a->rank, &a->own);
	/* The main program's end by this call leaves its process to the other threads, like POSIX.
	 */
	if (a == a->rank->main || a->role != ORR_ROLE_USER) {
		a->left = 1;
		orr_sim_park(a);
	}
	orr_sim_user_end(a, retval);
	orr_sim_glue_exit();
}

starpu_pthread_t starpu_pthread_self(void)
{
	return orr_sim_actor_self();
}

int starpu_pthread_equal(starpu_pthread_t t1, starpu_pthread_t t2)
{
	return t1 == t2;
}

void starpu_pthread_setname(const char *name)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (a)
		snprintf(a->name, sizeof(a->name), "%s", name);
}

/* ---- mutexes ---- */

int starpu_pthread_mutex_init(starpu_pthread_mutex_t *mutex, const starpu_pthread_mutexattr_t *attr)
{
	if (attr && orr_pthread_mutexattr_gone(attr))
		return EINVAL;
	memset(mutex, 0, sizeof(*mutex));
	return 0;
}

int starpu_pthread_mutex_destroy(starpu_pthread_mutex_t *mutex)
{
	return ((struct mutex *) mutex)->owner ? EBUSY : 0;
}

int starpu_pthread_mutex_lock(starpu_pthread_mutex_t *mutex)
{
	struct mutex *m = (struct mutex *) mutex;
	WAIT_UNTIL(&m->free, !m->owner);
	m->owner = orr_sim_actor_self();
	return 0;
}

int starpu_pthread_mutex_trylock(starpu_pthread_mutex_t *mutex)
{
	struct mutex *m = (struct mutex *) mutex;
	if (m->owner)
		return EBUSY;
	m->owner = orr_sim_actor_self();
	return 0;
}

int starpu_pthread_mutex_unlock(starpu_pthread_mutex_t *mutex)
{
	struct mutex *m = (struct mutex *) mutex;
	m->owner = NULL;
	orr_waitq_wake(&m->free);
	return 0;
}

/* ---- conditions: a waiter leaves when a signal sent after its arrival is left for it ---- */

int starpu_pthread_cond_init(starpu_pthread_cond_t *cond, starpu_pthread_condattr_t *cond_attr)
{
	(void) cond_attr;
	memset(cond, 0, sizeof(*cond));
	return 0;
}

int starpu_pthread_cond_destroy(starpu_pthread_cond_t *cond)
{
	return ((struct cond *) cond)->waiting ? EBUSY : 0;
}

int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond)
{
	struct cond *c = (struct cond *) cond;
	if (c->signals < c->waiting) {
		c->signals++;
		orr_waitq_wake(&c->all);
	}
	return 0;
}

int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond)
{
	struct cond *c = (struct cond *) cond;
	if (c->signals < c->waiting) {
		c->signals = c->waiting;
		orr_waitq_wake(&c->all);
	}
	return 0;
}

static int cond_wait(struct cond *c, starpu_pthread_mutex_t *mutex, double deadline_us)
{
	int expired = 0;
	c->waiting++;
	unsigned key = orr_waitq_prepare(&c->all);
	starpu_pthread_mutex_unlock(mutex);
	for (;;) {
		double left = deadline_us < 0 ? -1 : deadline_us - orr_sys_now_us();
		if (deadline_us >= 0 && left <= 0) {
			orr_waitq_cancel(&c->all);
			expired = 1;
		} else {
			expired = orr_waitq_wait(&c->all, key, left);
		}
		if (c->signals || expired)
			break;
		key = orr_waitq_prepare(&c->all);
	}
	orr_assert(c->waiting > 0 && c->signals <= c->waiting);
	c->waiting--;
	if (c->signals) {
		c->signals--;
		expired = 0;
	}
	starpu_pthread_mutex_lock(mutex);
	return expired ? ETIMEDOUT : 0;
}

int starpu_pthread_cond_wait(starpu_pthread_cond_t *cond, starpu_pthread_mutex_t *mutex)
{
	return cond_wait((struct cond *) cond, mutex, -1);
}

int starpu_pthread_cond_timedwait(starpu_pthread_cond_t *cond, starpu_pthread_mutex_t *mutex,
				  const struct timespec *abstime)
{
	double us = (double) abstime->tv_sec * 1e6 + (double) abstime->tv_nsec * 1e-3;
	return cond_wait((struct cond *) cond, mutex, us < 0 ? 0 : us);
}

/* ---- read-write locks ---- */

int starpu_pthread_rwlock_init(starpu_pthread_rwlock_t *rwlock,
			       const starpu_pthread_rwlockattr_t *attr)
{
	(void) attr;
	memset(rwlock, 0, sizeof(*rwlock));
	return 0;
}

int starpu_pthread_rwlock_destroy(starpu_pthread_rwlock_t *rwlock)
{
	struct rwlock *l = (struct rwlock *) rwlock;
	return l->writer || l->readers ? EBUSY : 0;
}

int starpu_pthread_rwlock_rdlock(starpu_pthread_rwlock_t *rwlock)
{
	struct rwlock *l = (struct rwlock *) rwlock;
	WAIT_UNTIL(&l->free, !l->writer);
	l->readers++;
	return 0;
}

int starpu_pthread_rwlock_tryrdlock(starpu_pthread_rwlock_t *rwlock)
{
	struct rwlock *l = (struct rwlock *) rwlock;
	if (l->writer)
		return EBUSY;
	l->readers++;
	return 0;
}

int starpu_pthread_rwlock_wrlock(starpu_pthread_rwlock_t *rwlock)
{
	struct rwlock *l = (struct rwlock *) rwlock;
	WAIT_UNTIL(&l->free, !l->writer && !l->readers);
	l->writer = orr_sim_actor_self();
	return 0;
}

int starpu_pthread_rwlock_trywrlock(starpu_pthread_rwlock_t *rwlock)
{
	struct rwlock *l = (struct rwlock *) rwlock;
	if (l->writer || l->readers)
		return EBUSY;
	l->writer = orr_sim_actor_self();
	return 0;
}

int starpu_pthread_rwlock_unlock(starpu_pthread_rwlock_t *rwlock)
{
	struct rwlock *l = (struct rwlock *) rwlock;
	if (l->writer)
		l->writer = NULL;
	else
		l->readers--;
	if (!l->readers)
		orr_waitq_wake(&l->free);
	return 0;
}

/* ---- barriers ---- */

int starpu_pthread_barrier_init(starpu_pthread_barrier_t *barrier,
				const starpu_pthread_barrierattr_t *attr, unsigned count)
{
	(void) attr;
	if (!count)
		return EINVAL;
	memset(barrier, 0, sizeof(*barrier));
	((struct barrier *) barrier)->count = count;
	return 0;
}

int starpu_pthread_barrier_destroy(starpu_pthread_barrier_t *barrier)
{
	return ((struct barrier *) barrier)->arrived ? EBUSY : 0;
}

int starpu_pthread_barrier_wait(starpu_pthread_barrier_t *barrier)
{
	struct barrier *b = (struct barrier *) barrier;
	unsigned round = b->round;
	if (++b->arrived == b->count) {
		b->arrived = 0;
		b->round++;
		orr_waitq_wake(&b->full);
		return STARPU_PTHREAD_BARRIER_SERIAL_THREAD;
	}
	WAIT_UNTIL(&b->full, b->round != round);
	return 0;
}

/* ---- spin locks: to spin would be to wait for ever, so they are mutexes ---- */

int starpu_pthread_spin_init(starpu_pthread_spinlock_t *lock, int pshared)
{
	(void) pshared;
	memset(lock, 0, sizeof(*lock));
	return 0;
}

int starpu_pthread_spin_destroy(starpu_pthread_spinlock_t *lock)
{
	return ((struct mutex *) lock)->owner ? EBUSY : 0;
}

int starpu_pthread_spin_lock(starpu_pthread_spinlock_t *lock)
{
	return starpu_pthread_mutex_lock((starpu_pthread_mutex_t *) lock);
}

int starpu_pthread_spin_trylock(starpu_pthread_spinlock_t *lock)
{
	return starpu_pthread_mutex_trylock((starpu_pthread_mutex_t *) lock);
}

int starpu_pthread_spin_unlock(starpu_pthread_spinlock_t *lock)
{
	return starpu_pthread_mutex_unlock((starpu_pthread_mutex_t *) lock);
}

/* ---- semaphores ---- */

int starpu_sem_init(starpu_sem_t *sem, int pshared, unsigned value)
{
	(void) pshared;
	memset(sem, 0, sizeof(*sem));
	((struct sem *) sem)->value = value;
	return 0;
}

int starpu_sem_destroy(starpu_sem_t *sem)
{
	(void) sem;
	return 0;
}

int starpu_sem_wait(starpu_sem_t *sem)
{
	struct sem *s = (struct sem *) sem;
	WAIT_UNTIL(&s->posted, s->value);
	s->value--;
	return 0;
}

int starpu_sem_trywait(starpu_sem_t *sem)
{
	struct sem *s = (struct sem *) sem;
	if (!s->value)
		return EAGAIN;
	s->value--;
	return 0;
}

int starpu_sem_post(starpu_sem_t *sem)
{
	struct sem *s = (struct sem *) sem;
	s->value++;
	orr_waitq_wake(&s->posted);
	return 0;
}

int starpu_sem_getvalue(starpu_sem_t *sem, int *value)
{
	*value = (int) ((struct sem *) sem)->value;
	return 0;
}
