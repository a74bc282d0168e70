/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a thread has for itself: its number and name, values of keys, variables of threads, where it
 * may run. It holds for threads of the program and for workers, whose kernels follow each other on
 * one thread in a simulated run.
 *
 * orr-test: timeout 60
 * orr-test: env STARPU_WORKERS_NOBIND=1 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include "core_test.h"

enum { NTHREADS = 5, WORKERS = 3, TASKS = 30 };

static _Thread_local long mine = 7;
static _Thread_local char zeros[1000];
static pthread_key_t key, other;
static int destroyed, initialised, inside;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_t main_thread;

static void destroy(void *value)
{
	CHECK(value != NULL);
	INCR(destroyed);
}

static void initialise(void)
{
	CHECK_IS(INCR(inside), 1);
	usleep(2000);
	initialised++;
	__atomic_sub_fetch(&inside, 1, __ATOMIC_ACQ_REL);
}

/* Whoever comes while another one initialises finds it done. */
static void once_only(void)
{
	OK(pthread_once(&once, initialise));
	CHECK_IS(initialised, 1);
}

static void set_variables(long i)
{
	CHECK_IS(mine, 7);
	CHECK(!zeros[0] && !zeros[999]);
	CHECK(!pthread_getspecific(key) && !pthread_getspecific(other));
	mine = i;
	zeros[999] = (char) i;
	OK(pthread_setspecific(key, (void *) (intptr_t) (i + 100)));
}

static void check_variables(long i)
{
	CHECK_IS(mine, i);
	CHECK_IS(zeros[999], i);
	CHECK_IS((intptr_t) pthread_getspecific(key), i + 100);
	CHECK(!pthread_getspecific(other));
}

static void name_it(long i)
{
	char name[16], read[16];

	snprintf(name, sizeof(name), "number %ld", i);
	OK(pthread_setname_np(pthread_self(), name));
	usleep(100);
	OK(pthread_getname_np(pthread_self(), read, sizeof(read)));
	CHECK(!strcmp(name, read), "%s", read);
}

static void *thread(void *arg)
{
	long i = (long) (intptr_t) arg;

	CHECK(!pthread_equal(pthread_self(), main_thread));
	set_variables(i);
	usleep((useconds_t) (10 * i));
	once_only();
	name_it(i);
	check_variables(i);
	return (void *) (uintptr_t) pthread_self();
}

static void test_threads(void)
{
	pthread_t threads[NTHREADS];
	void *ret;

	set_variables(50);
	for (intptr_t i = 0; i < NTHREADS; i++)
		OK(pthread_create(&threads[i], NULL, thread, (void *) i));
	for (int i = 0; i < NTHREADS; i++)
		for (int k = 0; k < i; k++)
			CHECK(!pthread_equal(threads[i], threads[k]));
	for (int i = 0; i < NTHREADS; i++) {
		OK(pthread_join(threads[i], &ret));
		CHECK(pthread_equal((pthread_t) (uintptr_t) ret, threads[i]));
	}
	CHECK_IS(destroyed, NTHREADS);
	check_variables(50);
	CHECK(pthread_equal(pthread_self(), main_thread));
}

/* Each worker counts the kernels that it has run in three ways. */
static int counted[WORKERS];

static void kernel(void *buffers[], void *arg)
{
	int w = starpu_worker_get_id();

	(void) buffers;
	(void) arg;
	CHECK_IS(mine, counted[w] ? counted[w] : 7);
	CHECK_IS((intptr_t) pthread_getspecific(other), counted[w]);
	CHECK(!pthread_getspecific(key));
	counted[w]++;
	mine = counted[w];
	OK(pthread_setspecific(other, (void *) (intptr_t) counted[w]));
	usleep(50);
	CHECK_IS(mine, counted[w]);
}

static struct starpu_codelet codelet = { .cpu_funcs = { kernel }, .name = "count" };

static void test_workers(void)
{
	core_start(WORKERS, "eager");
	for (int i = 0; i < TASKS; i++) {
		struct starpu_task *t = starpu_task_create();

		t->cl = &codelet;
		t->execute_on_a_specific_worker = 1;
		t->workerid = (unsigned) i % WORKERS;
		OK(starpu_task_submit(t));
	}
	OK(starpu_task_wait_for_all());
	destroyed = 0;
	starpu_shutdown();
	for (int i = 0; i < WORKERS; i++)
		CHECK_IS(counted[i], TASKS / WORKERS);
	CHECK_IS(destroyed, WORKERS);
	check_variables(50);
}

static void test_processors(void)
{
	cpu_set_t all, one;
	int n = 0;

	OK(sched_getaffinity(0, sizeof(all), &all));
	n = CPU_COUNT(&all);
	CHECK(n > 0 && n <= sysconf(_SC_NPROCESSORS_CONF), "%d", n);
	CPU_ZERO(&one);
	for (int i = CPU_SETSIZE - 1; i >= 0 && !CPU_COUNT(&one); i--)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	OK(pthread_setaffinity_np(pthread_self(), sizeof(one), &one));
	OK(pthread_getaffinity_np(pthread_self(), sizeof(all), &all));
	CHECK(CPU_EQUAL(&one, &all));
	CPU_ZERO(&all);
	CHECK_IS(pthread_setaffinity_np(pthread_self(), sizeof(all), &all), EINVAL);
}

int main(void)
{
	main_thread = pthread_self();
	OK(pthread_key_create(&key, destroy));
	OK(pthread_key_create(&other, destroy));
	test_threads();
	test_workers();
	test_processors();
	OK(pthread_key_delete(other));
	return 0;
}
