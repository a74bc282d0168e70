/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads and synchronisation that programs use (starpu_thread.h), in a real run: POSIX
 * threads.
 *
 * Invariant: an opaque object holds its POSIX object at its start; all-zero objects are initialised
 * ones, which glibc's mutexes, conditions, read-write locks and semaphores are, and our own lock
 * (for spin locks) is. Errors are returned, errno is not used. */
#include "base/pthread_attr.h"
#include "base/seam.h"
#include "starpu_thread.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#define MUTEX(p) ((pthread_mutex_t *) (void *) (p))
#define COND(p) ((pthread_cond_t *) (void *) (p))
#define RWLOCK(p) ((pthread_rwlock_t *) (void *) (p))
#define BARRIER(p) ((pthread_barrier_t *) (void *) (p))
#define SPIN(p) ((orr_sys_lock_t *) (void *) (p))
#define SEM(p) ((sem_t *) (void *) (p))
#define FITS(theirs, ours) \
	_Static_assert(sizeof(theirs) <= sizeof(ours) && _Alignof(theirs) <= _Alignof(ours), \
		       #theirs " does not fit " #ours)

FITS(pthread_mutex_t, starpu_pthread_mutex_t);
FITS(pthread_cond_t, starpu_pthread_cond_t);
FITS(pthread_rwlock_t, starpu_pthread_rwlock_t);
FITS(pthread_barrier_t, starpu_pthread_barrier_t);
FITS(orr_sys_lock_t, starpu_pthread_spinlock_t);
FITS(sem_t, starpu_sem_t);
FITS(pthread_t, starpu_pthread_t);
FITS(pthread_key_t, starpu_pthread_key_t);
_Static_assert(PTHREAD_BARRIER_SERIAL_THREAD == STARPU_PTHREAD_BARRIER_SERIAL_THREAD,
	       "the value is promised by starpu_thread.h");

/* ---- threads ---- */

int starpu_pthread_create_on(const char *name, starpu_pthread_t *thread,
			     const starpu_pthread_attr_t *attr, void *(*start_routine)(void *),
			     void *arg, starpu_sg_host_t host)
{
	pthread_t id;
	int ret;

	(void) host;
	if (attr && orr_pthread_attr_gone(attr))
		return EINVAL;
	ret = pthread_create(&id, NULL, start_routine, arg);
	if (ret)
		return ret;
	*thread = (starpu_pthread_t) (uintptr_t) id;
	if (name) {
		char text[16]; /* what the kernel accepts */

		snprintf(text, sizeof(text), "%s", name);
		pthread_setname_np(id, text);
	}
	return 0;
}

int starpu_pthread_create(starpu_pthread_t *thread, const starpu_pthread_attr_t *attr,
			  void *(*start_routine)(void *), void *arg)
{
	return starpu_pthread_create_on(NULL, thread, attr, start_routine, arg, NULL);
}

int starpu_pthread_join(starpu_pthread_t thread, void **retval)
{
	return pthread_join((pthread_t) (uintptr_t) thread, retval);
}
int starpu_pthread_detach(starpu_pthread_t thread)
{
	return pthread_detach((pthread_t) (uintptr_t) thread);
}
int starpu_pthread_exit(void *retval)
{
	pthread_exit(retval);
}
starpu_pthread_t starpu_pthread_self(void)
{
	return (starpu_pthread_t) (uintptr_t) pthread_self();
}

int starpu_pthread_equal(starpu_pthread_t t1, starpu_pthread_t t2)
{
	return pthread_equal((pthread_t) (uintptr_t) t1, (pthread_t) (uintptr_t) t2);
}

void starpu_pthread_setname(const char *name)
{
	char text[16];

	snprintf(text, sizeof(text), "%s", name);
	pthread_setname_np(pthread_self(), text);
}

/* ---- mutexes ---- */

int starpu_pthread_mutex_init(starpu_pthread_mutex_t *mutex, const starpu_pthread_mutexattr_t *attr)
{
	if (attr && orr_pthread_mutexattr_gone(attr))
		return EINVAL;
	return pthread_mutex_init(MUTEX(mutex), NULL);
}

int starpu_pthread_mutex_destroy(starpu_pthread_mutex_t *mutex)
{
	return pthread_mutex_destroy(MUTEX(mutex));
}
int starpu_pthread_mutex_lock(starpu_pthread_mutex_t *mutex)
{
	return pthread_mutex_lock(MUTEX(mutex));
}
int starpu_pthread_mutex_trylock(starpu_pthread_mutex_t *mutex)
{
	return pthread_mutex_trylock(MUTEX(mutex));
}
int starpu_pthread_mutex_unlock(starpu_pthread_mutex_t *mutex)
{
	return pthread_mutex_unlock(MUTEX(mutex));
}

/* ---- conditions ---- */

int starpu_pthread_cond_init(starpu_pthread_cond_t *cond, starpu_pthread_condattr_t *cond_attr)
{
	(void) cond_attr;
	return pthread_cond_init(COND(cond), NULL);
}

int starpu_pthread_cond_destroy(starpu_pthread_cond_t *cond)
{
	return pthread_cond_destroy(COND(cond));
}
int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond)
{
	return pthread_cond_signal(COND(cond));
}
int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond)
{
	return pthread_cond_broadcast(COND(cond));
}

int starpu_pthread_cond_wait(starpu_pthread_cond_t *cond, starpu_pthread_mutex_t *mutex)
{
	return pthread_cond_wait(COND(cond), MUTEX(mutex));
}

int starpu_pthread_cond_timedwait(starpu_pthread_cond_t *cond, starpu_pthread_mutex_t *mutex,
				  const struct timespec *abstime)
{
	return pthread_cond_timedwait(COND(cond), MUTEX(mutex), abstime);
}

/* ---- read-write locks ---- */

int starpu_pthread_rwlock_init(starpu_pthread_rwlock_t *rwlock,
			       const starpu_pthread_rwlockattr_t *attr)
{
	(void) attr;
	return pthread_rwlock_init(RWLOCK(rwlock), NULL);
}

int starpu_pthread_rwlock_destroy(starpu_pthread_rwlock_t *rwlock)
{
	return pthread_rwlock_destroy(RWLOCK(rwlock));
}
int starpu_pthread_rwlock_rdlock(starpu_pthread_rwlock_t *rwlock)
{
	return pthread_rwlock_rdlock(RWLOCK(rwlock));
}
int starpu_pthread_rwlock_tryrdlock(starpu_pthread_rwlock_t *rwlock)
{
	return pthread_rwlock_tryrdlock(RWLOCK(rwlock));
}
int starpu_pthread_rwlock_wrlock(starpu_pthread_rwlock_t *rwlock)
{
	return pthread_rwlock_wrlock(RWLOCK(rwlock));
}
int starpu_pthread_rwlock_trywrlock(starpu_pthread_rwlock_t *rwlock)
{
	return pthread_rwlock_trywrlock(RWLOCK(rwlock));
}
int starpu_pthread_rwlock_unlock(starpu_pthread_rwlock_t *rwlock)
{
	return pthread_rwlock_unlock(RWLOCK(rwlock));
}

/* ---- barriers ---- */

int starpu_pthread_barrier_init(starpu_pthread_barrier_t *barrier,
				const starpu_pthread_barrierattr_t *attr, unsigned count)
{
	(void) attr;
	return pthread_barrier_init(BARRIER(barrier), NULL, count);
}

int starpu_pthread_barrier_destroy(starpu_pthread_barrier_t *barrier)
{
	return pthread_barrier_destroy(BARRIER(barrier));
}
int starpu_pthread_barrier_wait(starpu_pthread_barrier_t *barrier)
{
	return pthread_barrier_wait(BARRIER(barrier));
}

/* ---- spin locks: ours, which sleep when the holder does not run ---- */

int starpu_pthread_spin_init(starpu_pthread_spinlock_t *lock, int pshared)
{
	if (pshared)
		return ENOTSUP;
	orr_sys_lock_init(SPIN(lock));
	return 0;
}

int starpu_pthread_spin_destroy(starpu_pthread_spinlock_t *lock)
{
	if (!orr_sys_trylock(SPIN(lock)))
		return EBUSY;
	orr_sys_unlock(SPIN(lock));
	return 0;
}

int starpu_pthread_spin_lock(starpu_pthread_spinlock_t *lock)
{
	orr_sys_lock(SPIN(lock));
	return 0;
}

int starpu_pthread_spin_trylock(starpu_pthread_spinlock_t *lock)
{
	return orr_sys_trylock(SPIN(lock)) ? 0 : EBUSY;
}

int starpu_pthread_spin_unlock(starpu_pthread_spinlock_t *lock)
{
	orr_sys_unlock(SPIN(lock));
	return 0;
}

/* ---- semaphores ---- */

int starpu_sem_init(starpu_sem_t *sem, int pshared, unsigned value)
{
	return sem_init(SEM(sem), pshared, value) ? errno : 0;
}
int starpu_sem_destroy(starpu_sem_t *sem)
{
	return sem_destroy(SEM(sem)) ? errno : 0;
}

int starpu_sem_wait(starpu_sem_t *sem)
{
	while (sem_wait(SEM(sem)))
		if (errno != EINTR)
			return errno;
	return 0;
}

int starpu_sem_trywait(starpu_sem_t *sem)
{
	while (sem_trywait(SEM(sem)))
		if (errno != EINTR)
			return errno;
	return 0;
}

int starpu_sem_post(starpu_sem_t *sem)
{
	return sem_post(SEM(sem)) ? errno : 0;
}
int starpu_sem_getvalue(starpu_sem_t *sem, int *value)
{
	return sem_getvalue(SEM(sem), value) ? errno : 0;
}

/* ---- values of a thread ---- */

int starpu_pthread_key_create(starpu_pthread_key_t *key, void (*destr)(void *))
{
	pthread_key_t k;
	int ret = pthread_key_create(&k, destr);

	if (ret == 0)
		*key = k;
	return ret;
}

int starpu_pthread_key_delete(starpu_pthread_key_t key)
{
	return pthread_key_delete((pthread_key_t) key);
}
int starpu_pthread_setspecific(starpu_pthread_key_t key, const void *value)
{
	return pthread_setspecific((pthread_key_t) key, value);
}
void *starpu_pthread_getspecific(starpu_pthread_key_t key)
{
	return pthread_getspecific((pthread_key_t) key);
}
