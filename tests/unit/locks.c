/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locks exclude, event counts lose no wake, timeouts end: under as much contention as four threads
 * make.
 *
 * Invariant: what a lock protects is a plain variable, so that ThreadSanitizer judges as well. */
#include <errno.h>
#include <pthread.h>
#include "core/worker/core.h"
#include "lib/test.h"

#define N 4
#define ROUNDS 20000

static orr_lock_t lock = ORR_LOCK_INIT(PROCESS);
static long counter;
static orr_waitq_t queue;
static long produced, consumed; /* atomic */

static void *increment(void *arg)
{
	(void) arg;
	for (int i = 0; i < ROUNDS; i++) {
		orr_lock(&lock);
		counter++;
		orr_unlock(&lock);
	}
	return NULL;
}

static void *try_held(void *arg)
{
	CHECK(!orr_trylock(&lock));
	return arg;
}

/* Takes the item if there is one. */
static int take(void)
{
	long c = ORR_ATOMIC_LOAD(&consumed);

	while (c < ORR_ATOMIC_LOAD(&produced))
		if (ORR_ATOMIC_CAS(&consumed, &c, c + 1))
			return 1;
	return 0;
}

static void *consume(void *arg)
{
	(void) arg;
	for (int i = 0; i < ROUNDS / 4; i++)
		while (!take()) {
			unsigned key = orr_waitq_prepare(&queue);

			if (ORR_ATOMIC_LOAD(&consumed) < ORR_ATOMIC_LOAD(&produced))
				orr_waitq_cancel(&queue);
			else
				orr_waitq_wait(&queue, key, -1);
		}
	return NULL;
}

static void in_threads(void *(*fn)(void *), void (*meanwhile)(void))
{
	pthread_t threads[N];

	for (int i = 0; i < N; i++)
		CHECK(pthread_create(&threads[i], NULL, fn, NULL) == 0);
	if (meanwhile)
		meanwhile();
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
}

static void produce(void)
{
	for (int i = 0; i < N * (ROUNDS / 4); i++) {
		ORR_ATOMIC_ADD(&produced, 1);
		orr_waitq_wake(&queue);
	}
}

int main(void)
{
	double start;
	unsigned key;

	in_threads(increment, NULL);
	CHECK(counter == (long) N * ROUNDS && orr_trylock(&lock));
	in_threads(try_held, NULL);
	orr_unlock(&lock);

	orr_waitq_init(&queue);
	in_threads(consume, produce);
	CHECK(consumed == produced && queue.waiters == 0);

	start = orr_sys_now_us();
	key = orr_waitq_prepare(&queue);
	CHECK(orr_waitq_wait(&queue, key, 5000) == 1 && queue.waiters == 0);
	CHECK(orr_sys_now_us() - start >= 4900);
	key = orr_waitq_prepare(&queue);
	orr_waitq_wake(&queue);
	CHECK(orr_waitq_wait(&queue, key, 1e12) == 0 && queue.waiters == 0);
	key = orr_waitq_prepare(&queue);
	CHECK(orr_waitq_wait(&queue, key, 0) == 1);

	start = orr_sys_now_us();
	orr_sys_sleep_us(3000);
	CHECK(orr_sys_now_us() - start >= 2900);
	return 0;
}
