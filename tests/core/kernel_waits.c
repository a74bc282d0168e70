/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A kernel that waits occupies its worker and nothing else, whatever it waits for: time, other
 * kernels, the program. In the simulated world it lasts as long as it waits or as its model says,
 * whichever is longer, and other kernels begin and end as if it computed.
 *
 * orr-test: env STARPU_NCPU=4 STARPU_WORKERS_NOBIND=1 STARPU_HISTORY_MAX_ERROR=1000
 * orr-test: sim-args --cpus 4 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
#include <orrery.h>
#include "core_test.h"

enum { WORKERS = 4, TASKS = 8 };

static int simulated;
static double nap_us = 5000;

static struct timespec span(double us)
{
	return (struct timespec){ .tv_sec = (time_t) (us / 1e6),
				  .tv_nsec = (long) fmod(us * 1e3, 1e9) };
}

static struct timespec then(double us)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return span((double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3 + us);
}

/* ---- ways to wait for time ---- */

static void by_usleep(void)
{
	OK(usleep((useconds_t) nap_us));
}

static void by_nanosleep(void)
{
	struct timespec t = span(nap_us);
	OK(nanosleep(&t, NULL));
}

static void by_clock_nanosleep(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t = span((double) t.tv_sec * 1e6 + (double) t.tv_nsec * 1e-3 + nap_us);
	OK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL));
}

static void by_starpu_sleep(void)
{
	starpu_sleep((float) (nap_us * 1e-6));
}

static void by_starpu_usleep(void)
{
	starpu_usleep((float) nap_us);
}

static void by_poll(void)
{
	OK(poll(NULL, 0, (int) (nap_us / 1e3)));
}

static void by_select(void)
{
	struct timeval t = { 0, (suseconds_t) nap_us };
	OK(select(0, NULL, NULL, NULL, &t));
}

static void by_condition(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	struct timespec t = then(nap_us);

	OK(pthread_mutex_lock(&m));
	CHECK_IS(pthread_cond_timedwait(&c, &m, &t), ETIMEDOUT);
	OK(pthread_mutex_unlock(&m));
}

static void by_semaphore(void)
{
	sem_t s;
	struct timespec t = then(nap_us);

	OK(sem_init(&s, 0, 0));
	CHECK(sem_timedwait(&s, &t) && errno == ETIMEDOUT);
	sem_destroy(&s);
}

static void by_starpu_condition(void)
{
	starpu_pthread_mutex_t m;
	starpu_pthread_cond_t c;
	struct timespec t = then(nap_us);

	STARPU_PTHREAD_MUTEX_INIT(&m, NULL);
	STARPU_PTHREAD_COND_INIT(&c, NULL);
	STARPU_PTHREAD_MUTEX_LOCK(&m);
	CHECK_IS(starpu_pthread_cond_timedwait(&c, &m, &t), ETIMEDOUT);
	STARPU_PTHREAD_MUTEX_UNLOCK(&m);
}

static void by_yields(void)
{
	double end_us = starpu_timing_now() + nap_us;

	while (starpu_timing_now() < end_us)
		sched_yield();
}

static const struct way {
	const char *name;
	void (*wait)(void);
	double more_us; /* at most */
} ways[] = {
	{ "usleep", by_usleep, 0 },
	{ "nanosleep", by_nanosleep, 0 },
	{ "clock_nanosleep", by_clock_nanosleep, 0 },
	{ "starpu_sleep", by_starpu_sleep, 0 },
	{ "starpu_usleep", by_starpu_usleep, 0 },
	{ "poll", by_poll, 0 },
	{ "select", by_select, 0 },
	{ "pthread_cond_timedwait", by_condition, 0 },
	{ "sem_timedwait", by_semaphore, 0 },
	{ "starpu_pthread_cond_timedwait", by_starpu_condition, 0 },
	{ "sched_yield", by_yields, 10 },
};

/* What a worker's thread has for itself is there after the wait. */
static void wait_kernel(void *buffers[], void *arg)
{
	static _Thread_local int mine;
	const struct way *way = arg;
	struct starpu_task *task = starpu_task_get_current();
	int worker = starpu_worker_get_id();

	(void) buffers;
	mine = 100 + worker;
	CHECK(task && worker >= 0 && worker < WORKERS);
	way->wait();
	errno = 200 + worker;
	way->wait();
	CHECK(errno == 200 + worker || strstr(way->name, "timedwait"), "%s: errno is %d", way->name,
	      errno);
	CHECK_IS(mine, 100 + worker);
	CHECK_IS(starpu_worker_get_id(), worker);
	CHECK(starpu_task_get_current() == task);
}

static struct starpu_codelet wait_cl = { .cpu_funcs = { wait_kernel }, .name = "wait" };

static void insert(struct starpu_codelet *cl, const void *arg, int worker)
{
	struct starpu_task *t = starpu_task_create();

	t->cl = cl;
	t->cl_arg = (void *) (uintptr_t) arg;
	if (worker >= 0) {
		t->execute_on_a_specific_worker = 1;
		t->workerid = (unsigned) worker;
	}
	OK(starpu_task_submit(t));
}

static void test_ways(void)
{
	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		double begin_us = starpu_timing_now(), us;

		for (int k = 0; k < TASKS; k++)
			insert(&wait_cl, &ways[i], k % WORKERS);
		OK(starpu_task_wait_for_all());
		us = starpu_timing_now() - begin_us;
		double least = 2 * nap_us * TASKS / WORKERS;
		CHECK(us > least * 0.999 && (!simulated || us < least + 4 * ways[i].more_us + 100),
		      "%s: %.1f us, not %.1f", ways[i].name, us, least);
	}
}

/* ---- waits for others ---- */

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int at, met, woken;

/* All workers have to be here. */
static void meet_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	pthread_barrier_wait(&barrier);
	INCR(met);
}

/* One after the other, the last worker first. */
static void turn_kernel(void *buffers[], void *arg)
{
	int mine = WORKERS - 1 - starpu_worker_get_id();

	(void) buffers;
	(void) arg;
	OK(pthread_mutex_lock(&lock));
	while (at != mine)
		OK(pthread_cond_wait(&turned, &lock));
	usleep(100); /* the lock is held meanwhile */
	at++;
	OK(pthread_cond_broadcast(&turned));
	OK(pthread_mutex_unlock(&lock));
}

static void woken_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	OK(sem_wait(&sem));
	INCR(woken);
}

static struct starpu_codelet meet_cl = { .cpu_funcs = { meet_kernel }, .name = "meet" },
			     turn_cl = { .cpu_funcs = { turn_kernel }, .name = "turn" },
			     woken_cl = { .cpu_funcs = { woken_kernel }, .name = "woken" };

static void test_others(void)
{
	for (int i = 0; i < 10 * WORKERS; i++)
		insert(&meet_cl, NULL, i % WORKERS);
	OK(starpu_task_wait_for_all());
	CHECK_IS(met, 10 * WORKERS);
	for (int i = 0; i < WORKERS; i++)
		insert(&turn_cl, NULL, i);
	OK(starpu_task_wait_for_all());
	CHECK_IS(at, WORKERS);
	for (int i = 0; i < WORKERS; i++)
		insert(&woken_cl, NULL, i);
	usleep(1000);
	CHECK_IS(LOAD(woken), 0);
	for (int i = 0; i < WORKERS; i++)
		OK(sem_post(&sem));
	OK(starpu_task_wait_for_all());
	CHECK_IS(woken, WORKERS);
}

/* ---- a kernel that submits after it has waited ---- */

static int ran;

static void count_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	INCR(ran);
}

static struct starpu_codelet count_cl = { .cpu_funcs = { count_kernel }, .name = "count" };

static void parent_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	for (int i = 0; i < 10; i++) {
		usleep(50);
		insert(&count_cl, NULL, -1);
	}
}

static struct starpu_codelet parent_cl = { .cpu_funcs = { parent_kernel }, .name = "parent" };

static void test_submission(void)
{
	for (int i = 0; i < TASKS; i++)
		insert(&parent_cl, NULL, -1);
	OK(starpu_task_wait_for_all());
	CHECK_IS(ran, 10 * TASKS);
}

/* ---- times of the simulated world ---- */

struct kernel {
	double model_us, sleep_us;
	double end_us; /* it ended then */
};

static double cost(struct starpu_task *t, struct starpu_perfmodel_arch *a, unsigned n)
{
	(void) a;
	(void) n;
	return ((struct kernel *) t->cl_arg)->model_us;
}

static struct starpu_perfmodel model = { .type = STARPU_PER_ARCH, .arch_cost_function = cost };

static void timed_kernel(void *buffers[], void *arg)
{
	const struct kernel *k = arg;

	(void) buffers;
	if (k->sleep_us > 0)
		starpu_usleep((float) k->sleep_us);
}

static void note_end(void *arg)
{
	((struct kernel *) arg)->end_us = starpu_timing_now();
}

static struct starpu_codelet timed_cl = { .cpu_funcs = { timed_kernel },
					  .model = &model,
					  .name = "timed" },
			     unmodelled_cl = { .cpu_funcs = { timed_kernel }, .name = "asleep" };

static void start(struct starpu_codelet *cl, struct kernel *k, int worker)
{
	struct starpu_task *t = starpu_task_create();

	t->cl = cl;
	t->cl_arg = k;
	t->callback_func = note_end;
	t->callback_arg = k;
	t->execute_on_a_specific_worker = 1;
	t->workerid = (unsigned) worker;
	OK(starpu_task_submit(t));
}

static void test_times(void)
{
	struct kernel k[] = { { 3000, 1000, 0 }, { 1000, 3000, 0 }, { 2000, 0, 0 }, { 500, 0, 0 },
			      { 500, 0, 0 },     { 0, 700, 0 },     { 0, 4, 0 } };
	double begin_us = starpu_timing_now();

	for (int i = 0; i < WORKERS; i++)
		start(&timed_cl, &k[i], i);
	start(&timed_cl, &k[4], 3); /* behind k[3] */
	start(&unmodelled_cl, &k[5], 3);
	start(&unmodelled_cl, &k[6], 3);
	OK(starpu_task_wait_for_all());
	for (unsigned i = 0; i < sizeof(k) / sizeof(*k); i++)
		k[i].end_us -= begin_us;
	CHECK_NEAR(k[0].end_us, 3000, 0.01);
	CHECK_NEAR(k[1].end_us, 3000, 0.01);
	CHECK_NEAR(k[2].end_us, 2000, 0.01);
	CHECK_NEAR(k[3].end_us, 500, 0.02);
	CHECK_NEAR(k[4].end_us, 1000, 0.02);
	CHECK_NEAR(k[5].end_us, 1700, 0.02);
	/* It says how long it takes: that goes before the default of 10 us. */
	CHECK(k[6].end_us - k[5].end_us > 4 && k[6].end_us - k[5].end_us < 9, "%g us",
	      k[6].end_us - k[5].end_us);
}

int main(void)
{
	simulated = orrery_is_simulated();
	OK(pthread_barrier_init(&barrier, NULL, WORKERS));
	OK(sem_init(&sem, 0, 0));
	core_start(WORKERS, NULL);
	test_ways();
	test_others();
	test_submission();
	if (simulated)
		test_times();
	starpu_shutdown();
	return 0;
}
