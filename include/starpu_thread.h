/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads and synchronisation for programs and policies, with the meaning of their POSIX namesakes.
 *
 * Invariant: the types have the same size and layout in a real and in a simulated run (where a
 * "thread" is an actor and waiting takes virtual time), and an all-zero object is an initialised
 * one. All functions return 0 or a positive errno like POSIX; attributes may be NULL and are
 * otherwise ignored.
 */
#ifndef STARPU_THREAD_H
#define STARPU_THREAD_H

#include <errno.h>
#include <stdint.h>
#include <time.h>
#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- Types --------------------------------------------------------------------------- */

/* A thread; owned by the library until it is joined or detached. */
typedef void *starpu_pthread_t;
/* A key of thread-specific values. */
typedef uintptr_t starpu_pthread_key_t;
/* The simulated host that a thread runs on; NULL is the caller's own. */
typedef void *starpu_sg_host_t;

typedef struct {
	union {
		void *ptr;
		long align;
		char space[64];
	} u;
} starpu_pthread_mutex_t;
typedef struct {
	union {
		void *ptr;
		long align;
		char space[64];
	} u;
} starpu_pthread_cond_t;
typedef struct {
	union {
		void *ptr;
		long align;
		char space[64];
	} u;
} starpu_pthread_rwlock_t;
typedef struct {
	union {
		void *ptr;
		long align;
		char space[64];
	} u;
} starpu_pthread_barrier_t;
typedef struct {
	union {
		void *ptr;
		long align;
		char space[64];
	} u;
} starpu_pthread_spinlock_t;
typedef struct {
	union {
		void *ptr;
		long align;
		char space[64];
	} u;
} starpu_sem_t;

typedef struct {
	union {
		void *ptr;
		long align;
		char space[64];
	} u;
} starpu_pthread_attr_t;
typedef struct {
	union {
		void *ptr;
		long align;
		char space[64];
	} u;
} starpu_pthread_mutexattr_t;
typedef struct {
	union {
		void *ptr;
		long align;
		char space[64];
	} u;
} starpu_pthread_condattr_t;
typedef struct {
	union {
		void *ptr;
		long align;
		char space[64];
	} u;
} starpu_pthread_rwlockattr_t;
typedef struct {
	union {
		void *ptr;
		long align;
		char space[64];
	} u;
} starpu_pthread_barrierattr_t;

/* An object that waits for any of several queues, and a queue; private. */
typedef struct {
	starpu_pthread_mutex_t lock;
	starpu_pthread_cond_t cond;
	int signalled;
} starpu_pthread_wait_t;
typedef struct {
	starpu_pthread_mutex_t lock;
	starpu_pthread_wait_t **waits;
	unsigned nwaits;
} starpu_pthread_queue_t;

#define STARPU_PTHREAD_MUTEX_INITIALIZER \
	{ \
		{ \
			0 \
		} \
	}
#define STARPU_PTHREAD_COND_INITIALIZER \
	{ \
		{ \
			0 \
		} \
	}
#define STARPU_PTHREAD_RWLOCK_INITIALIZER \
	{ \
		{ \
			0 \
		} \
	}

/* Returned by starpu_pthread_barrier_wait() to one of the threads. */
#define STARPU_PTHREAD_BARRIER_SERIAL_THREAD (-1)

/* --- Threads ------------------------------------------------------------------------- */

/* Start start_routine(arg) in a new thread of this process; it may use the whole runtime. */
int starpu_pthread_create(starpu_pthread_t *thread, const starpu_pthread_attr_t *attr,
			  void *(*start_routine)(void *), void *arg);
/* Same, with a name for traces and messages, and a host. */
int starpu_pthread_create_on(const char *name, starpu_pthread_t *thread,
			     const starpu_pthread_attr_t *attr, void *(*start_routine)(void *),
			     void *arg, starpu_sg_host_t host);
int starpu_pthread_join(starpu_pthread_t thread, void **retval);
int starpu_pthread_detach(starpu_pthread_t thread);
int starpu_pthread_exit(void *retval) STARPU_ATTRIBUTE_NORETURN;
starpu_pthread_t starpu_pthread_self(void);
/* Non-zero when both are the same thread. */
int starpu_pthread_equal(starpu_pthread_t t1, starpu_pthread_t t2);
/* Name the calling thread. */
void starpu_pthread_setname(const char *name);
int starpu_pthread_attr_init(starpu_pthread_attr_t *attr);
int starpu_pthread_attr_destroy(starpu_pthread_attr_t *attr);

/* --- Synchronisation ----------------------------------------------------------------- */

/* A mutex may be held across starpu calls of the program's own, never across a wait for a task that
 * needs it. */
int starpu_pthread_mutex_init(starpu_pthread_mutex_t *mutex,
			      const starpu_pthread_mutexattr_t *attr);
int starpu_pthread_mutex_destroy(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_lock(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_trylock(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_unlock(starpu_pthread_mutex_t *mutex);

/* abstime is measured by the clock CLOCK_REALTIME as the program sees it (virtual in a simulated
 * run). */
int starpu_pthread_cond_init(starpu_pthread_cond_t *cond, starpu_pthread_condattr_t *cond_attr);
int starpu_pthread_cond_destroy(starpu_pthread_cond_t *cond);
int starpu_pthread_cond_signal(starpu_pthread_cond_t *cond);
int starpu_pthread_cond_broadcast(starpu_pthread_cond_t *cond);
int starpu_pthread_cond_wait(starpu_pthread_cond_t *cond, starpu_pthread_mutex_t *mutex);
int starpu_pthread_cond_timedwait(starpu_pthread_cond_t *cond, starpu_pthread_mutex_t *mutex,
				  const struct timespec *abstime);

int starpu_pthread_rwlock_init(starpu_pthread_rwlock_t *rwlock,
			       const starpu_pthread_rwlockattr_t *attr);
int starpu_pthread_rwlock_destroy(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_rdlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_tryrdlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_wrlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_trywrlock(starpu_pthread_rwlock_t *rwlock);
int starpu_pthread_rwlock_unlock(starpu_pthread_rwlock_t *rwlock);

int starpu_pthread_barrier_init(starpu_pthread_barrier_t *barrier,
				const starpu_pthread_barrierattr_t *attr, unsigned count);
int starpu_pthread_barrier_destroy(starpu_pthread_barrier_t *barrier);
int starpu_pthread_barrier_wait(starpu_pthread_barrier_t *barrier);

/* destroy: EBUSY while a thread holds the lock. */
int starpu_pthread_spin_init(starpu_pthread_spinlock_t *lock, int pshared);
int starpu_pthread_spin_destroy(starpu_pthread_spinlock_t *lock);
int starpu_pthread_spin_lock(starpu_pthread_spinlock_t *lock);
int starpu_pthread_spin_trylock(starpu_pthread_spinlock_t *lock);
int starpu_pthread_spin_unlock(starpu_pthread_spinlock_t *lock);

/* Waiting for the first of several queues that is signalled. An object is registered with queues;
 * reset forgets earlier signals; wait and timedwait return once one of the queues was signalled
 * since, at once if that was before. signal: one object of the queue, the one registered first;
 * broadcast: all. */
int starpu_pthread_wait_init(starpu_pthread_wait_t *w);
int starpu_pthread_wait_destroy(starpu_pthread_wait_t *w);
int starpu_pthread_wait_reset(starpu_pthread_wait_t *w);
int starpu_pthread_wait_wait(starpu_pthread_wait_t *w);
int starpu_pthread_wait_timedwait(starpu_pthread_wait_t *w, const struct timespec *abstime);
int starpu_pthread_queue_init(starpu_pthread_queue_t *q);
int starpu_pthread_queue_destroy(starpu_pthread_queue_t *q);
int starpu_pthread_queue_register(starpu_pthread_wait_t *w, starpu_pthread_queue_t *q);
int starpu_pthread_queue_unregister(starpu_pthread_wait_t *w, starpu_pthread_queue_t *q);
int starpu_pthread_queue_signal(starpu_pthread_queue_t *q);
int starpu_pthread_queue_broadcast(starpu_pthread_queue_t *q);

/* Mutexes that policies take are ordinary ones. check: prints a message if nobody holds it. */
int starpu_pthread_mutex_lock_sched(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_unlock_sched(starpu_pthread_mutex_t *mutex);
int starpu_pthread_mutex_trylock_sched(starpu_pthread_mutex_t *mutex);
void starpu_pthread_mutex_check_sched(starpu_pthread_mutex_t *mutex, char *file, int line);

/* The type 0 (normal) is the only one: others give ENOTSUP. So do detached threads (1) and sizes of
 * stacks as attributes; call starpu_pthread_detach(). Attributes that were destroyed give EINVAL,
 * here and where a thread or a mutex is made. */
int starpu_pthread_mutexattr_init(starpu_pthread_mutexattr_t *attr);
int starpu_pthread_mutexattr_destroy(starpu_pthread_mutexattr_t *attr);
int starpu_pthread_mutexattr_gettype(const starpu_pthread_mutexattr_t *attr, int *type);
int starpu_pthread_mutexattr_settype(starpu_pthread_mutexattr_t *attr, int type);
int starpu_pthread_attr_setdetachstate(starpu_pthread_attr_t *attr, int detachstate);
int starpu_pthread_attr_setstacksize(starpu_pthread_attr_t *attr, size_t stacksize);

/* Like POSIX semaphores, but errors are returned and not put into errno. */
int starpu_sem_init(starpu_sem_t *sem, int pshared, unsigned value);
int starpu_sem_destroy(starpu_sem_t *sem);
int starpu_sem_wait(starpu_sem_t *sem);
int starpu_sem_trywait(starpu_sem_t *sem);
int starpu_sem_post(starpu_sem_t *sem);
int starpu_sem_getvalue(starpu_sem_t *sem, int *value);

/* destr(value) runs at the end of each thread whose value is not NULL. */
int starpu_pthread_key_create(starpu_pthread_key_t *key, void (*destr)(void *));
int starpu_pthread_key_delete(starpu_pthread_key_t key);
int starpu_pthread_setspecific(starpu_pthread_key_t key, const void *value);
void *starpu_pthread_getspecific(starpu_pthread_key_t key);

/* --- The same, checked: an error is printed with its place, then abort() ------------- */

#define ORR_PTHREAD_CHECK(call) \
	do { \
		int orr_ret_ = (call); \
		if (STARPU_UNLIKELY(orr_ret_ != 0)) \
			orr_util_fail_err(__FILE__, __LINE__, __starpu_func__, orr_ret_, "%s", \
					  #call); \
	} while (0)

/* For the "try" forms: yields 0 or EBUSY. */
static inline int orr_pthread_check_try(int ret, const char *file, int line, const char *func,
					const char *call)
{
	if (STARPU_UNLIKELY(ret != 0 && ret != EBUSY))
		orr_util_fail_err(file, line, func, ret, "%s", call);
	return ret;
}
#define ORR_PTHREAD_CHECK_TRY(call) \
	orr_pthread_check_try((call), __FILE__, __LINE__, __starpu_func__, #call)

#define STARPU_PTHREAD_CREATE(thread, attr, routine, arg) \
	ORR_PTHREAD_CHECK(starpu_pthread_create((thread), (attr), (routine), (arg)))
#define STARPU_PTHREAD_CREATE_ON(name, thread, attr, routine, arg, where) \
	ORR_PTHREAD_CHECK( \
		starpu_pthread_create_on((name), (thread), (attr), (routine), (arg), (where)))
#define STARPU_PTHREAD_JOIN(thread, retval) \
	ORR_PTHREAD_CHECK(starpu_pthread_join((thread), (retval)))

#define STARPU_PTHREAD_MUTEX_INIT(mutex, attr) \
	ORR_PTHREAD_CHECK(starpu_pthread_mutex_init((mutex), (attr)))
/* The INIT0 forms may be used on memory that is known to be zero. */
#define STARPU_PTHREAD_MUTEX_INIT0(mutex, attr) STARPU_PTHREAD_MUTEX_INIT(mutex, attr)
#define STARPU_PTHREAD_MUTEX_DESTROY(mutex) ORR_PTHREAD_CHECK(starpu_pthread_mutex_destroy(mutex))
#define STARPU_PTHREAD_MUTEX_LOCK(mutex) ORR_PTHREAD_CHECK(starpu_pthread_mutex_lock(mutex))
#define STARPU_PTHREAD_MUTEX_TRYLOCK(mutex) \
	ORR_PTHREAD_CHECK_TRY(starpu_pthread_mutex_trylock(mutex))
#define STARPU_PTHREAD_MUTEX_UNLOCK(mutex) ORR_PTHREAD_CHECK(starpu_pthread_mutex_unlock(mutex))
/* The mutexes that starpu_worker_get_sched_condition() gives are ordinary ones. */
#define STARPU_PTHREAD_MUTEX_LOCK_SCHED(mutex) STARPU_PTHREAD_MUTEX_LOCK(mutex)
#define STARPU_PTHREAD_MUTEX_TRYLOCK_SCHED(mutex) STARPU_PTHREAD_MUTEX_TRYLOCK(mutex)
#define STARPU_PTHREAD_MUTEX_UNLOCK_SCHED(mutex) STARPU_PTHREAD_MUTEX_UNLOCK(mutex)

#define STARPU_PTHREAD_COND_INIT(cond, attr) \
	ORR_PTHREAD_CHECK(starpu_pthread_cond_init((cond), (attr)))
#define STARPU_PTHREAD_COND_INIT0(cond, attr) STARPU_PTHREAD_COND_INIT(cond, attr)
#define STARPU_PTHREAD_COND_DESTROY(cond) ORR_PTHREAD_CHECK(starpu_pthread_cond_destroy(cond))
#define STARPU_PTHREAD_COND_SIGNAL(cond) ORR_PTHREAD_CHECK(starpu_pthread_cond_signal(cond))
#define STARPU_PTHREAD_COND_BROADCAST(cond) ORR_PTHREAD_CHECK(starpu_pthread_cond_broadcast(cond))
#define STARPU_PTHREAD_COND_WAIT(cond, mutex) \
	ORR_PTHREAD_CHECK(starpu_pthread_cond_wait((cond), (mutex)))
/* Yields 0 or ETIMEDOUT; other errors are the caller's to check. */
#define STARPU_PTHREAD_COND_TIMEDWAIT(cond, mutex, abstime) \
	starpu_pthread_cond_timedwait((cond), (mutex), (abstime))

#define STARPU_PTHREAD_RWLOCK_INIT(rwlock, attr) \
	ORR_PTHREAD_CHECK(starpu_pthread_rwlock_init((rwlock), (attr)))
#define STARPU_PTHREAD_RWLOCK_INIT0(rwlock, attr) STARPU_PTHREAD_RWLOCK_INIT(rwlock, attr)
#define STARPU_PTHREAD_RWLOCK_RDLOCK(rwlock) ORR_PTHREAD_CHECK(starpu_pthread_rwlock_rdlock(rwlock))
#define STARPU_PTHREAD_RWLOCK_TRYRDLOCK(rwlock) \
	ORR_PTHREAD_CHECK_TRY(starpu_pthread_rwlock_tryrdlock(rwlock))
#define STARPU_PTHREAD_RWLOCK_WRLOCK(rwlock) ORR_PTHREAD_CHECK(starpu_pthread_rwlock_wrlock(rwlock))
#define STARPU_PTHREAD_RWLOCK_TRYWRLOCK(rwlock) \
	ORR_PTHREAD_CHECK_TRY(starpu_pthread_rwlock_trywrlock(rwlock))
#define STARPU_PTHREAD_RWLOCK_UNLOCK(rwlock) ORR_PTHREAD_CHECK(starpu_pthread_rwlock_unlock(rwlock))
#define STARPU_PTHREAD_RWLOCK_DESTROY(rwlock) \
	ORR_PTHREAD_CHECK(starpu_pthread_rwlock_destroy(rwlock))

#define STARPU_PTHREAD_BARRIER_INIT(barrier, attr, count) \
	ORR_PTHREAD_CHECK(starpu_pthread_barrier_init((barrier), (attr), (count)))
#define STARPU_PTHREAD_BARRIER_DESTROY(barrier) \
	ORR_PTHREAD_CHECK(starpu_pthread_barrier_destroy(barrier))
#define STARPU_PTHREAD_BARRIER_WAIT(barrier) \
	do { \
		int orr_bar_ = starpu_pthread_barrier_wait(barrier); \
		if (STARPU_UNLIKELY(orr_bar_ != 0 && \
				    orr_bar_ != STARPU_PTHREAD_BARRIER_SERIAL_THREAD)) \
			orr_util_fail_err(__FILE__, __LINE__, __starpu_func__, orr_bar_, "%s", \
					  "starpu_pthread_barrier_wait"); \
	} while (0)

#define STARPU_PTHREAD_KEY_CREATE(key, destr) \
	ORR_PTHREAD_CHECK(starpu_pthread_key_create((key), (destr)))
#define STARPU_PTHREAD_KEY_DELETE(key) ORR_PTHREAD_CHECK(starpu_pthread_key_delete(key))
#define STARPU_PTHREAD_SETSPECIFIC(key, ptr) \
	ORR_PTHREAD_CHECK(starpu_pthread_setspecific((key), (ptr)))
#define STARPU_PTHREAD_GETSPECIFIC(key) starpu_pthread_getspecific(key)

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
