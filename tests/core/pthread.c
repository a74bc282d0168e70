/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads and synchronisation of starpu_thread.h behave like their POSIX namesakes, zeroed objects
 * included.
 *
 * Invariant: no thread spins, so that the test also ends where threads are scheduled cooperatively.
 */
#include <starpu.h>

#include "lib/test.h"

#define N 4
#define ROUNDS 50

static starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;
static starpu_pthread_cond_t cond = STARPU_PTHREAD_COND_INITIALIZER;
static starpu_pthread_rwlock_t rwlock = STARPU_PTHREAD_RWLOCK_INITIALIZER;
static starpu_pthread_barrier_t barrier;
static starpu_pthread_spinlock_t spin;
static starpu_sem_t sem;
static starpu_pthread_key_t key;
static int counter, serials, spun, written, turn, destroyed;

static void destroy_value(void *value)
{
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	CHECK(value != NULL);
	destroyed++;
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
}

static void *all(void *arg)
{
	int ret;

	STARPU_PTHREAD_SETSPECIFIC(key, arg);
	for (int i = 0; i < ROUNDS; i++) {
		STARPU_PTHREAD_MUTEX_LOCK(&mutex);
		counter++;
		STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
		starpu_pthread_spin_lock(&spin);
		spun++;
		starpu_pthread_spin_unlock(&spin);
		STARPU_PTHREAD_RWLOCK_WRLOCK(&rwlock);
		written++;
		STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
	}
	ret = starpu_pthread_barrier_wait(&barrier);
	CHECK(ret == 0 || ret == STARPU_PTHREAD_BARRIER_SERIAL_THREAD);
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	serials += ret == STARPU_PTHREAD_BARRIER_SERIAL_THREAD;
	CHECK(counter == N * ROUNDS);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	STARPU_PTHREAD_RWLOCK_RDLOCK(&rwlock);
	CHECK(written == N * ROUNDS);
	STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
	CHECK(STARPU_PTHREAD_GETSPECIFIC(key) == arg);
	CHECK(starpu_sem_post(&sem) == 0);
	return arg;
}

static void *same(void *arg)
{
	return arg;
}

/* Two threads alternate by one condition. */
static void *alternate(void *arg)
{
	int me = *(int *) arg, i;

	for (i = 0; i < ROUNDS; i++) {
		STARPU_PTHREAD_MUTEX_LOCK(&mutex);
		while (turn % 2 != me)
			STARPU_PTHREAD_COND_WAIT(&cond, &mutex);
		turn++;
		STARPU_PTHREAD_COND_BROADCAST(&cond);
		STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	}
	starpu_pthread_exit(arg);
}

static void check_all(void)
{
	starpu_pthread_t threads[N];
	int args[N], i, value = -1;
	void *ret;

	STARPU_PTHREAD_BARRIER_INIT(&barrier, NULL, N);
	CHECK(starpu_pthread_spin_init(&spin, 0) == 0);
	CHECK(starpu_sem_init(&sem, 0, 0) == 0);
	STARPU_PTHREAD_KEY_CREATE(&key, destroy_value);
	for (i = 0; i < N; i++)
		STARPU_PTHREAD_CREATE_ON("test", &threads[i], NULL, all, &args[i], NULL);
	for (i = 0; i < N; i++)
		CHECK(starpu_sem_wait(&sem) == 0);
	CHECK(starpu_sem_trywait(&sem) == EAGAIN);
	for (i = 0; i < N; i++) {
		CHECK(!starpu_pthread_equal(threads[i], starpu_pthread_self()));
		STARPU_PTHREAD_JOIN(threads[i], &ret);
		CHECK(ret == &args[i]);
	}
	CHECK(counter == N * ROUNDS && spun == N * ROUNDS && serials == 1 && destroyed == N);
	CHECK(starpu_sem_post(&sem) == 0 && starpu_sem_getvalue(&sem, &value) == 0 && value == 1);
	CHECK(starpu_sem_destroy(&sem) == 0);
	CHECK(starpu_pthread_spin_destroy(&spin) == 0);
	STARPU_PTHREAD_KEY_DELETE(key);
	STARPU_PTHREAD_BARRIER_DESTROY(&barrier);
}

static void check_try(void)
{
	CHECK(STARPU_PTHREAD_MUTEX_TRYLOCK(&mutex) == 0);
	CHECK(STARPU_PTHREAD_MUTEX_TRYLOCK(&mutex) == EBUSY);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	CHECK(starpu_pthread_spin_trylock(&spin) == 0);
	CHECK(starpu_pthread_spin_trylock(&spin) == EBUSY);
	CHECK(starpu_pthread_spin_unlock(&spin) == 0);
	CHECK(STARPU_PTHREAD_RWLOCK_TRYRDLOCK(&rwlock) == 0);
	CHECK(STARPU_PTHREAD_RWLOCK_TRYWRLOCK(&rwlock) == EBUSY);
	STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
	CHECK(STARPU_PTHREAD_RWLOCK_TRYWRLOCK(&rwlock) == 0);
	CHECK(STARPU_PTHREAD_RWLOCK_TRYRDLOCK(&rwlock) == EBUSY);
	STARPU_PTHREAD_RWLOCK_UNLOCK(&rwlock);
}

/* What was destroyed makes nothing any more, and a lock that is held stays. */
static void check_destroyed(void)
{
	starpu_pthread_t thread;
	starpu_pthread_attr_t attr;
	starpu_pthread_mutexattr_t mattr;
	starpu_pthread_mutex_t m;
	void *ret;
	int type = 0;

	CHECK(starpu_pthread_attr_init(&attr) == 0);
	CHECK(starpu_pthread_create(&thread, &attr, same, &attr) == 0);
	STARPU_PTHREAD_JOIN(thread, &ret);
	CHECK(ret == &attr);
	CHECK(starpu_pthread_attr_destroy(&attr) == 0);
	CHECK(starpu_pthread_create(&thread, &attr, same, &attr) == EINVAL);
	CHECK(starpu_pthread_attr_setdetachstate(&attr, 0) == EINVAL);
	CHECK(starpu_pthread_attr_destroy(&attr) == EINVAL);
	CHECK(starpu_pthread_mutexattr_init(&mattr) == 0);
	CHECK(starpu_pthread_mutexattr_gettype(&mattr, &type) == 0 && type == 0);
	CHECK(starpu_pthread_mutex_init(&m, &mattr) == 0);
	CHECK(starpu_pthread_mutex_destroy(&m) == 0);
	CHECK(starpu_pthread_mutexattr_destroy(&mattr) == 0);
	CHECK(starpu_pthread_mutex_init(&m, &mattr) == EINVAL);
	CHECK(starpu_pthread_mutexattr_destroy(&mattr) == EINVAL);
	CHECK(starpu_pthread_spin_init(&spin, 0) == 0);
	CHECK(starpu_pthread_spin_lock(&spin) == 0);
	CHECK(starpu_pthread_spin_destroy(&spin) == EBUSY);
	CHECK(starpu_pthread_spin_unlock(&spin) == 0);
	CHECK(starpu_pthread_spin_destroy(&spin) == 0);
}

static void check_timeout(void)
{
	double start = starpu_timing_now(), waited;
	struct timespec limit;
	int ret;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_nsec += 20000000;
	if (limit.tv_nsec >= 1000000000) {
		limit.tv_nsec -= 1000000000;
		limit.tv_sec++;
	}
	STARPU_PTHREAD_MUTEX_LOCK(&mutex);
	do
		ret = STARPU_PTHREAD_COND_TIMEDWAIT(&cond, &mutex, &limit);
	while (ret == 0);
	STARPU_PTHREAD_MUTEX_UNLOCK(&mutex);
	waited = starpu_timing_now() - start;
	CHECK(ret == ETIMEDOUT && waited >= 15e3);
	start = starpu_timing_now();
	starpu_usleep(2000);
	starpu_sleep(0.001f);
	CHECK(starpu_timing_now() - start >= 2900);
}

int main(void)
{
	starpu_pthread_t threads[2];
	int args[2] = { 0, 1 }, i;
	void *ret;

	if (test_skips(starpu_init(NULL)))
		return 77;
	check_all();
	check_try();
	check_destroyed();
	for (i = 0; i < 2; i++)
		STARPU_PTHREAD_CREATE(&threads[i], NULL, alternate, &args[i]);
	for (i = 0; i < 2; i++) {
		STARPU_PTHREAD_JOIN(threads[i], &ret);
		CHECK(ret == &args[i]);
	}
	CHECK(turn == 2 * ROUNDS);
	check_timeout();
	starpu_shutdown();
	return 0;
}
