/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads and synchronisation of POSIX: in a simulated run they wait in virtual time, and loops
 * that wait for the clock come to their end.
 *
 * orr-test: timeout 60 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <starpu.h>
#include "lib/test.h"

enum { NTHREADS = 4, ROUNDS = 50 };

static pthread_t threads[NTHREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t items, room;
static int value, inside, serial, flag;

static void run(void *(*f)(void *) )
{
	for (intptr_t i = 0; i < NTHREADS; i++)
		OK(pthread_create(&threads[i], NULL, f, (void *) i));
}

static void join(void)
{
	void *ret;

	for (intptr_t i = 0; i < NTHREADS; i++) {
		OK(pthread_join(threads[i], &ret));
		CHECK_IS((intptr_t) ret, i);
	}
}

static double now_us(void)
{
	struct timespec t;

	OK(clock_gettime(CLOCK_REALTIME, &t));
	return (double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3;
}

static struct timespec in_us(double us)
{
	double t = now_us() + us;
	struct timespec span = { (time_t) (t / 1e6), 0 };

	span.tv_nsec = (long) ((t - (double) span.tv_sec * 1e6) * 1e3);
	return span;
}

/* Whoever is inside is alone, though it gives the processor away. */
static void alone(void)
{
	CHECK_IS(inside++, 0);
	usleep(20);
	value++;
	CHECK_IS(--inside, 0);
}

static void *with_mutex(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		OK(pthread_mutex_lock(&mutex));
		alone();
		OK(pthread_mutex_unlock(&mutex));
	}
	return arg;
}

static void *with_spin(void *arg)
{
	for (int i = 0; i < ROUNDS / 5; i++) {
		OK(pthread_spin_lock(&spin));
		alone();
		OK(pthread_spin_unlock(&spin));
	}
	return arg;
}

static void *with_rwlock(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		OK(pthread_rwlock_wrlock(&rwlock));
		alone();
		OK(pthread_rwlock_unlock(&rwlock));
		OK(pthread_rwlock_rdlock(&rwlock));
		CHECK_IS(inside, 0);
		usleep(10);
		CHECK_IS(inside, 0);
		OK(pthread_rwlock_unlock(&rwlock));
	}
	return arg;
}

static void *with_barrier(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		__atomic_add_fetch(&value, 1, __ATOMIC_ACQ_REL);
		int ret = pthread_barrier_wait(&barrier);
		CHECK(ret == 0 || ret == PTHREAD_BARRIER_SERIAL_THREAD);
		if (ret)
			__atomic_add_fetch(&serial, 1, __ATOMIC_ACQ_REL);
		CHECK(__atomic_load_n(&value, __ATOMIC_ACQUIRE) >= (i + 1) * NTHREADS);
		ret = pthread_barrier_wait(&barrier);
		CHECK(ret == 0 || ret == PTHREAD_BARRIER_SERIAL_THREAD);
	}
	return arg;
}

static void *produce(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		OK(sem_wait(&room));
		usleep(10);
		OK(sem_post(&items));
	}
	return arg;
}

static void *wait_for_flag(void *arg)
{
	OK(pthread_mutex_lock(&mutex));
	while (!flag)
		OK(pthread_cond_wait(&cond, &mutex));
	value++;
	OK(pthread_mutex_unlock(&mutex));
	return arg;
}

/* The last thread first. The others wait again and again, and take no signal of each other. */
static void *in_turn(void *arg)
{
	int mine = NTHREADS - 1 - (int) (intptr_t) arg;
	OK(pthread_mutex_lock(&mutex));
	while (value != mine)
		OK(pthread_cond_wait(&cond, &mutex));
	usleep(100); /* nobody gets the mutex */
	value++;
	OK(pthread_cond_broadcast(&cond));
	OK(pthread_mutex_unlock(&mutex));
	return arg;
}

static void recursive(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t twice, checked;

	OK(pthread_mutexattr_init(&attr));
	OK(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE));
	OK(pthread_mutex_init(&twice, &attr));
	OK(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK));
	OK(pthread_mutex_init(&checked, &attr));
	OK(pthread_mutex_lock(&twice));
	OK(pthread_mutex_lock(&twice));
	OK(pthread_mutex_unlock(&twice));
	OK(pthread_mutex_unlock(&twice));
	OK(pthread_mutex_lock(&checked));
	CHECK_IS(pthread_mutex_lock(&checked), EDEADLK);
	CHECK_IS(pthread_mutex_trylock(&checked), EBUSY);
	OK(pthread_mutex_unlock(&checked));
	OK(pthread_mutex_destroy(&twice));
	OK(pthread_mutex_destroy(&checked));
}

static pthread_mutex_t owned;

static void *with_owned(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		OK(pthread_mutex_lock(&owned));
		OK(pthread_mutex_lock(&owned));
		alone();
		OK(pthread_mutex_unlock(&owned));
		usleep(5);
		CHECK_IS(inside, 0);
		OK(pthread_mutex_unlock(&owned));
	}
	return arg;
}

static void owners(void)
{
	pthread_mutexattr_t attr;

	OK(pthread_mutexattr_init(&attr));
	OK(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE));
	OK(pthread_mutex_init(&owned, &attr));
	value = 0;
	run(with_owned);
	join();
	CHECK_IS(value, NTHREADS * ROUNDS);
	OK(pthread_mutex_destroy(&owned));
}

static void time_limits(void)
{
	struct timespec t;
	double before = now_us();

	t = in_us(2000);
	CHECK(sem_timedwait(&items, &t) == -1 && errno == ETIMEDOUT);
	CHECK(now_us() - before >= 2000);
	OK(pthread_mutex_lock(&mutex));
	t = in_us(2000);
	CHECK_IS(pthread_cond_timedwait(&cond, &mutex, &t), ETIMEDOUT);
	CHECK(now_us() - before >= 4000);
	CHECK_IS(pthread_mutex_trylock(&mutex), EBUSY);
	OK(pthread_mutex_unlock(&mutex));
	OK(pthread_rwlock_rdlock(&rwlock));
	t = in_us(2000);
	CHECK_IS(pthread_rwlock_timedwrlock(&rwlock, &t), ETIMEDOUT);
	OK(pthread_rwlock_unlock(&rwlock));
	CHECK(now_us() - before >= 6000);
}

/* Loops that only look at a clock, or yield. */
static void clocks(void)
{
	struct timeval t, first;
	struct timespec s, start;
	clock_t ticks;

	gettimeofday(&first, NULL);
	do
		gettimeofday(&t, NULL);
	while ((double) (t.tv_sec - first.tv_sec) * 1e6 + (double) (t.tv_usec - first.tv_usec) <
	       20000);
	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &s);
	while ((double) (s.tv_sec - start.tv_sec) * 1e9 + (double) (s.tv_nsec - start.tv_nsec) <
	       2e7);
	ticks = clock();
	while (clock() - ticks < CLOCKS_PER_SEC / 100)
		;
	for (double end = starpu_timing_now() + 2e4; starpu_timing_now() < end;)
		;
	for (time_t now = time(NULL); time(NULL) == now;)
		sched_yield();
}

static void spin_in_kernel(void *buffers[], void *arg)
{
	double before = now_us();

	(void) buffers;
	(void) arg;
	while (now_us() - before < 5000)
		;
}

static struct starpu_codelet spin_cl = { .cpu_funcs = { spin_in_kernel }, .name = "spin" };

int main(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 1;
	if (test_skips(starpu_init(&conf)))
		return 77;
	OK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
	OK(pthread_barrier_init(&barrier, NULL, NTHREADS));
	OK(sem_init(&items, 0, 0));
	OK(sem_init(&room, 0, 2));
	run(with_mutex);
	join();
	CHECK_IS(value, NTHREADS * ROUNDS);
	run(with_spin);
	join();
	CHECK_IS(value, NTHREADS * ROUNDS / 5 * 6);
	run(with_rwlock);
	join();
	CHECK_IS(value, NTHREADS * ROUNDS / 5 * 11);
	value = 0;
	run(with_barrier);
	join();
	CHECK_IS(serial, ROUNDS);
	OK(pthread_barrier_destroy(&barrier));
	run(produce);
	for (int i = 0; i < NTHREADS * ROUNDS; i++) {
		OK(sem_wait(&items));
		OK(sem_post(&room));
	}
	join();
	CHECK(sem_trywait(&items) == -1 && errno == EAGAIN);
	value = 0;
	run(wait_for_flag);
	usleep(1000);
	OK(pthread_mutex_lock(&mutex));
	flag = 1;
	OK(pthread_cond_broadcast(&cond));
	OK(pthread_mutex_unlock(&mutex));
	join();
	CHECK_IS(value, NTHREADS);
	value = 0;
	run(in_turn);
	join();
	CHECK_IS(value, NTHREADS);
	recursive();
	owners();
	time_limits();
	clocks();
	double before = starpu_timing_now();
	OK(starpu_task_insert(&spin_cl, 0));
	OK(starpu_task_wait_for_all());
	CHECK(starpu_timing_now() - before >= 5000);
	starpu_shutdown();
	return 0;
}
