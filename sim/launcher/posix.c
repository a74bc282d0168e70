/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Synchronisation of POSIX in programs for the simulated world: waiting takes virtual time.
 * wrapped.flags leads the program's calls here.
 *
 * Mutexes, read-write locks, spin locks and semaphores stay the C library's objects: they are
 * tried, and who fails waits on an event count that belongs to the object's address. So the objects
 * may be initialised in any way, and threads outside of the simulation (of OpenMP, for instance)
 * may use them, too: these call the C library directly. Conditions and barriers, which cannot be
 * tried, are counted here.
 *
 * Invariant: a place exists while somebody waits there, and for a barrier as long as that. */
#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "starpu.h"
#include "calls.h"
#include "launcher.h"
#include "base/assert.h"
#include "base/map.h"

/* The queue of actors that wait for an object of the program. */
struct place {
	uint64_t address; /* the key */
	orr_waitq_t queue;
	unsigned users;                 /* actors that hold this pointer */
	unsigned waiting, signals;      /* of a condition */
	unsigned count, arrived, round; /* of a barrier; count 0: it is none */
	struct orr_sim_actor *owner;    /* of a mutex that knows its owner, NULL: free */
	unsigned depth;                 /* how often the owner has locked it */
};

static struct orr_map places = { .key_offset = offsetof(struct place, address) };

static struct place *find(const volatile void *object)
{
	return orr_map_find(&places, (uint64_t) (uintptr_t) object);
}

static struct place *enter(const volatile void *object)
{
	struct place *p = find(object);
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			launcher_fail("out of memory for threads that wait");
		p->address = (uint64_t) (uintptr_t) object;
		orr_waitq_init(&p->queue);
		if (orr_map_insert(&places, p))
			launcher_fail("out of memory for threads that wait");
	}
	p->users++;
	return p;
}

static void leave(struct place *p)
{
	orr_assert(p->users > 0);
	if (--p->users || p->count)
		return;
	orr_map_remove(&places, p);
	free(p);
}

static void wake(const volatile void *object)
{
	struct place *p = find(object);
	if (p)
		orr_waitq_wake(&p->queue);
}

/* True if threads exist that are no actors: they wake nobody. SimGrid runs all actors in one, and
 * the watch (watch.c) is another. */
static int other_threads(void)
{
	char text[512], *at;

	if (!launcher_read_text("/proc/self/stat", text, sizeof(text)))
		return 0;
	at = strrchr(text, ')');
	/* The 20th field; the 3rd one follows the name. */
	for (int field = 2; at && field < 20; field++)
		at = strchr(at + 1, ' ');
	return at && atoi(at) > 1 + orr_sim.watched;
}

static int outside(void)
{
	return !orr_sim_actor_self();
}

static double us_of(const struct timespec *t)
{
	return (double) t->tv_sec * 1e6 + (double) t->tv_nsec * 1e-3;
}

/* The time until then; negative: no limit. */
static double left_us(const struct timespec *t)
{
	double left = t ? us_of(t) - orr_sys_now_us() : -1;
	return t && left < 0 ? 0 : left;
}

/* Waits at the object until try(what) succeeds or fails with something other than `busy`. t: until
 * then, or NULL. Returns what try returned, or ETIMEDOUT. */
static int try_at(const volatile void *object, int (*try)(void *), void *what, int busy,
		  const struct timespec *t)
{
	int ret = try(what);
	if (ret != busy)
		return ret;
	struct place *p = enter(object);
	struct orr_sim_actor *self = orr_sim_actor_self();
	self->interruptible = &p->queue;
	for (;;) {
		unsigned key = orr_waitq_prepare(&p->queue);
		ret = try(what);
		double left = left_us(t);
		if (other_threads() && !(left >= 0 && left < 10)) {
			left = 10;
			sched_yield();
		}
		if (ret != busy || (t && left <= 0)) {
			orr_waitq_cancel(&p->queue);
			break;
		}
		orr_waitq_wait(&p->queue, key, left);
	}
	self->interruptible = NULL;
	leave(p);
	return ret == busy ? ETIMEDOUT : ret;
}

static int try_until(int (*try)(void *), void *object, int busy, const struct timespec *t)
{
	return try_at(object, try, object, busy, t);
}

/* Mutexes that know their owner know the thread of the system, which all actors share. */
static int knows_owner(const pthread_mutex_t *m)
{
	int kind = m->__data.__kind & 3;
	return kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK;
}

static int try_mutex(void *object)
{
	pthread_mutex_t *m = object;
	struct orr_sim_actor *self = orr_sim_actor_self();
	struct place *p = knows_owner(m) ? find(m) : NULL;
	if (p && p->owner && p->owner != self)
		return EBUSY;
	int ret = pthread_mutex_trylock(m);
	if (ret == EBUSY && p && p->owner == self)
		return EDEADLK;
	if (!ret && knows_owner(m)) {
		p = enter(m);
		p->owner = self;
		p->depth++;
	}
	return ret;
}

/* 0, or EPERM when another actor has it. */
static int disown(pthread_mutex_t *m)
{
	struct place *p = knows_owner(m) ? find(m) : NULL;
	if (!p)
		return 0;
	if (p->owner != orr_sim_actor_self())
		return EPERM;
	if (!--p->depth)
		p->owner = NULL;
	leave(p);
	return 0;
}

static int try_read(void *l)
{
	return pthread_rwlock_tryrdlock(l);
}
static int try_write(void *l)
{
	return pthread_rwlock_trywrlock(l);
}
static int try_spin(void *l)
{
	return pthread_spin_trylock(l);
}
static int try_sem(void *s)
{
	return sem_trywait(s) ? errno : 0;
}

#pragma GCC visibility push(default)

/* ---- mutexes ---- */

int __wrap_pthread_mutex_lock(pthread_mutex_t *m);
int __wrap_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *t);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
	return outside() ? pthread_mutex_lock(m) : try_until(try_mutex, m, EBUSY, NULL);
}

int __wrap_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *t)
{
	return outside() ? pthread_mutex_timedlock(m, t) : try_until(try_mutex, m, EBUSY, t);
}

int __wrap_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *t)
{
	return outside() ? pthread_mutex_clocklock(m, clock, t) : try_until(try_mutex, m, EBUSY, t);
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *m)
{
	if (outside())
		return pthread_mutex_trylock(m);
	int ret = try_mutex(m);
	return ret == EDEADLK ? EBUSY : ret;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (outside())
		return pthread_mutex_unlock(m);
	int ret = disown(m);
	if (!ret)
		ret = pthread_mutex_unlock(m);
	if (!ret)
		wake(m);
	return ret;
}

/* ---- conditions ---- */

int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				  const struct timespec *t);
int __wrap_pthread_cond_signal(pthread_cond_t *c);
int __wrap_pthread_cond_broadcast(pthread_cond_t *c);

/* A waiter leaves when a signal that was sent after its arrival is left for it. So it waits first:
 * what is left when it comes is for others, who have not had their turn. */
static int wait_for_signal(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
	struct place *p = enter(c);
	int expired = 0;
	p->waiting++;
	unsigned key = orr_waitq_prepare(&p->queue);
	__wrap_pthread_mutex_unlock(m);
	for (;;) {
		double left = left_us(t);
		expired = t && left <= 0;
		if (expired)
			orr_waitq_cancel(&p->queue);
		else
			orr_waitq_wait(&p->queue, key, left);
		if (expired || p->signals)
			break;
		key = orr_waitq_prepare(&p->queue);
	}
	p->waiting--;
	if (p->signals) {
		p->signals--;
		expired = 0;
	}
	leave(p);
	int ret = __wrap_pthread_mutex_lock(m);
	return ret ? ret : expired ? ETIMEDOUT : 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return outside() ? pthread_cond_wait(c, m) : wait_for_signal(c, m, NULL);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
	return outside() ? pthread_cond_timedwait(c, m, t) : wait_for_signal(c, m, t);
}

int __wrap_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
				  const struct timespec *t)
{
	return outside() ? pthread_cond_clockwait(c, m, clock, t) : wait_for_signal(c, m, t);
}

static void send_signals(pthread_cond_t *c, int all)
{
	struct place *p = find(c);
	if (!p || p->signals >= p->waiting)
		return;
	p->signals = all ? p->waiting : p->signals + 1;
	orr_waitq_wake(&p->queue);
}

int __wrap_pthread_cond_signal(pthread_cond_t *c)
{
	if (outside())
		return pthread_cond_signal(c);
	send_signals(c, 0);
	return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
	if (outside())
		return pthread_cond_broadcast(c);
	send_signals(c, 1);
	return 0;
}

/* ---- read-write locks ---- */

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *l);
int __wrap_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *t);
int __wrap_pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *t);
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *l);
int __wrap_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *t);
int __wrap_pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *t);
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *l);

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	return outside() ? pthread_rwlock_rdlock(l) : try_until(try_read, l, EBUSY, NULL);
}

int __wrap_pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *t)
{
	return outside() ? pthread_rwlock_timedrdlock(l, t) : try_until(try_read, l, EBUSY, t);
}

int __wrap_pthread_rwlock_clockrdlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *t)
{
	return outside() ? pthread_rwlock_clockrdlock(l, clock, t)
			 : try_until(try_read, l, EBUSY, t);
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	return outside() ? pthread_rwlock_wrlock(l) : try_until(try_write, l, EBUSY, NULL);
}

int __wrap_pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *t)
{
	return outside() ? pthread_rwlock_timedwrlock(l, t) : try_until(try_write, l, EBUSY, t);
}

int __wrap_pthread_rwlock_clockwrlock(pthread_rwlock_t *l, clockid_t clock,
				      const struct timespec *t)
{
	return outside() ? pthread_rwlock_clockwrlock(l, clock, t)
			 : try_until(try_write, l, EBUSY, t);
}

int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	int ret = pthread_rwlock_unlock(l);
	if (!ret && !outside())
		wake(l);
	return ret;
}

/* ---- spin locks ---- */

int __wrap_pthread_spin_lock(pthread_spinlock_t *l);
int __wrap_pthread_spin_unlock(pthread_spinlock_t *l);

int __wrap_pthread_spin_lock(pthread_spinlock_t *l)
{
	return outside() ? pthread_spin_lock(l) : try_until(try_spin, (void *) l, EBUSY, NULL);
}

int __wrap_pthread_spin_unlock(pthread_spinlock_t *l)
{
	int ret = pthread_spin_unlock(l);
	if (!ret && !outside())
		wake(l);
	return ret;
}

/* ---- barriers ---- */

int __wrap_pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr,
				unsigned count);
int __wrap_pthread_barrier_wait(pthread_barrier_t *b);
int __wrap_pthread_barrier_destroy(pthread_barrier_t *b);

int __wrap_pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr,
				unsigned count)
{
	int ret = pthread_barrier_init(b, attr, count);
	if (!ret && !outside()) {
		struct place *p = enter(b);
		p->count = count;
		p->arrived = 0;
		leave(p);
	}
	return ret;
}

int __wrap_pthread_barrier_wait(pthread_barrier_t *b)
{
	if (outside() || !find(b))
		return pthread_barrier_wait(b);
	struct place *p = enter(b);
	unsigned round = p->round;
	int last = ++p->arrived == p->count;
	if (last) {
		p->arrived = 0;
		p->round++;
		orr_waitq_wake(&p->queue);
	}
	while (p->round == round) {
		unsigned key = orr_waitq_prepare(&p->queue);
		orr_waitq_wait(&p->queue, key, -1);
	}
	leave(p);
	return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

int __wrap_pthread_barrier_destroy(pthread_barrier_t *b)
{
	struct place *p = outside() ? NULL : find(b);
	if (p) {
		p->users++;
		p->count = 0;
		leave(p);
	}
	return pthread_barrier_destroy(b);
}

/* ---- semaphores ---- */

int __wrap_sem_wait(sem_t *s);
int __wrap_sem_timedwait(sem_t *s, const struct timespec *t);
int __wrap_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *t);
int __wrap_sem_post(sem_t *s);

/* A semaphore, and how many handlers had run before the wait; a wait with a limit never goes on
 * after one. */
struct waited_sem {
	sem_t *sem;
	unsigned (*handled)(void);
	unsigned first;
};

static int try_waited(void *what)
{
	const struct waited_sem *w = what;
	return w->handled() != w->first ? EINTR : try_sem(w->sem);
}

static int wait_for_sem(sem_t *s, const struct timespec *t)
{
	struct waited_sem w = { s, t ? orrery_sim_handled : orrery_sim_handled_to_end, 0 };
	w.first = w.handled();
	int ret = try_at(s, try_waited, &w, EAGAIN, t);
	if (ret)
		errno = ret;
	return ret ? -1 : 0;
}

int __wrap_sem_wait(sem_t *s)
{
	return outside() ? sem_wait(s) : wait_for_sem(s, NULL);
}

int __wrap_sem_timedwait(sem_t *s, const struct timespec *t)
{
	return outside() ? sem_timedwait(s, t) : wait_for_sem(s, t);
}

int __wrap_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *t)
{
	return outside() ? sem_clockwait(s, clock, t) : wait_for_sem(s, t);
}

int __wrap_sem_post(sem_t *s)
{
	int ret = sem_post(s);
	if (!ret && !outside())
		wake(s);
	return ret;
}

/* ---- once ---- */

int __wrap_pthread_once(pthread_once_t *once, void (*f)(void));

/* A thread that comes while another one is inside waits until that one has left. */
int __wrap_pthread_once(pthread_once_t *once, void (*f)(void))
{
	if (outside())
		return pthread_once(once, f);
	struct place *p = enter(once);
	while (p->owner && p->owner != orr_sim_actor_self()) {
		unsigned key = orr_waitq_prepare(&p->queue);
		orr_waitq_wait(&p->queue, key, -1);
	}
	p->owner = orr_sim_actor_self();
	int ret = pthread_once(once, f);
	p->owner = NULL;
	orr_waitq_wake(&p->queue);
	leave(p);
	return ret;
}

/* ---- words that threads wait for: futures, atomic variables and semaphores of C++ ---- */

bool orrery_sim_word_wait(const unsigned *word, unsigned value, const struct timespec *until);
void orrery_sim_word_wake(const unsigned *word);
long __wrap_syscall(long number, ...);

bool orrery_sim_word_wait(const unsigned *word, unsigned value, const struct timespec *until)
{
	struct place *p = enter(word);
	int expired = 0;
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value && !expired) {
		unsigned key = orr_waitq_prepare(&p->queue);
		double left = left_us(until);
		if (other_threads() && !(left >= 0 && left < 10))
			left = 10;
		expired = until && left <= 0;
		if (expired)
			orr_waitq_cancel(&p->queue);
		else
			orr_waitq_wait(&p->queue, key, left);
	}
	leave(p);
	return !expired;
}

void orrery_sim_word_wake(const unsigned *word)
{
	wake(word);
}

/* FUTEX_WAIT for a span, FUTEX_WAIT_BITSET until a time. */
static long futex_wait(const unsigned *word, int operation, unsigned value,
		       const struct timespec *t)
{
	struct timespec until;
	if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
		errno = EAGAIN;
		return -1;
	}
	if (t && operation == FUTEX_WAIT) {
		double us = orr_sys_now_us() + us_of(t);
		until = (struct timespec){ (time_t) (us / 1e6), (long) (fmod(us, 1e6) * 1e3) };
		t = &until;
	}
	if (orrery_sim_word_wait(word, value, t))
		return 0;
	errno = ETIMEDOUT;
	return -1;
}

/* Headers of C++ wait for words by this call. All others go to the system. */
long __wrap_syscall(long number, ...)
{
	va_list list;
	long a[6];
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	int operation = (int) a[1] & FUTEX_CMD_MASK;
	if (number != SYS_futex || outside())
		return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET)
		return futex_wait((const unsigned *) a[0], operation, (unsigned) a[2],
				  (const struct timespec *) a[3]);
	if (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET)
		wake((const void *) a[0]);
	return syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#pragma GCC visibility pop
