/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The slow paths of locks and event counts: a short spin where it can help, then a futex.
 *
 * Invariant: a lock's state is 2 whenever somebody may sleep on it, so an unlock that finds 1 need
 * not enter the kernel; an event count's seq changes before its sleepers are woken, so a key taken
 * by orr_waitq_prepare never misses a wake. */
#include "sys/real.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long futex(uint32_t *word, int op, uint32_t value, const struct timespec *timeout,
		  uint32_t mask)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, timeout, NULL, mask);
}

void orr_sys_lock_slow(orr_sys_lock_t *l)
{
	for (unsigned n = ORR_ATOMIC_LOAD_RELAXED(&orr_real_spins); n > 0; n--) {
		uint32_t state = ORR_ATOMIC_LOAD_RELAXED(&l->state);

		if (state == 0 && orr_sys_trylock(l))
			return;
		if (state == 2)
			break; /* others sleep already: queue behind them */
		orr_sys_relax();
	}
	while (__atomic_exchange_n(&l->state, 2, __ATOMIC_ACQUIRE) != 0)
		futex(&l->state, FUTEX_WAIT, 2, NULL, 0);
}

void orr_sys_unlock_slow(orr_sys_lock_t *l)
{
	futex(&l->state, FUTEX_WAKE, 1, NULL, 0);
}

/* The absolute monotonic time that lies so many microseconds ahead. */
static struct timespec deadline(double us)
{
	struct timespec ts;
	double s = floor(us / 1e6);

	if (s > 1e9)
		s = 1e9;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += (time_t) s;
	ts.tv_nsec += (long) ((us - s * 1e6) * 1e3);
	while (ts.tv_nsec >= 1000000000L) {
		ts.tv_nsec -= 1000000000L;
		ts.tv_sec++;
	}
	return ts;
}

int orr_waitq_wait(orr_waitq_t *q, unsigned key, double timeout_us)
{
	struct timespec limit, *until = NULL;
	int expired = 0;

	orr_assert_no_lock();
	if (timeout_us >= 0) {
		/* A limit beyond 30 years is none; it would not fit the addition below. */
		if (timeout_us < 1e15) {
			limit = deadline(timeout_us);
			until = &limit;
		}
	}
	while (__atomic_load_n(&q->seq, __ATOMIC_ACQUIRE) == key) {
		if (futex(&q->seq, FUTEX_WAIT_BITSET, key, until, FUTEX_BITSET_MATCH_ANY) == 0)
			break;
		if (errno == ETIMEDOUT) {
			expired = __atomic_load_n(&q->seq, __ATOMIC_ACQUIRE) == key;
			break;
		}
		if (errno != EINTR && errno != EAGAIN)
			break; /* a spurious wake is allowed, an endless loop is not */
	}
	orr_waitq_cancel(q);
	return expired;
}

void orr_waitq_wake_slow(orr_waitq_t *q)
{
	__atomic_add_fetch(&q->seq, 1, __ATOMIC_SEQ_CST);
	futex(&q->seq, FUTEX_WAKE, INT32_MAX, NULL, 0);
}
