/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A handler of a signal ends what a thread waits for, as the C library and the system say: sleeps
 * and waits with a limit in any case, others unless the handler was set with SA_RESTART. A signal
 * of the process ends a wait of its main thread, pthread_kill() one of that thread.
 *
 * Signals come again and again, so that a slow computer loses none. A simulated run takes the time
 * that pen and paper gives.
 *
 * Invariant: each check holds in both worlds. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <starpu.h>
#include <orrery.h>
#include "lib/test.h"

enum { FIRST_MS = 50, SPAN_S = 20 };

static volatile sig_atomic_t handled;
static double start_s;

static void on_signal(int sig)
{
	(void) sig;
	handled++;
}

static double now_s(clockid_t clock)
{
	struct timespec t;
	OK(clock_gettime(clock, &t));
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static struct timespec after_s(clockid_t clock, double s)
{
	double t = now_s(clock) + s;
	return (struct timespec){ (time_t) t, (long) ((t - (double) (time_t) t) * 1e9) };
}

static void handle(int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };
	OK(sigaction(SIGALRM, &action, NULL));
	OK(sigaction(SIGUSR1, &action, NULL));
}

static struct timeval ms(int n)
{
	return (struct timeval){ n / 1000, n % 1000 * 1000 };
}

/* SIGALRM comes at first, and then as often. */
static void alarms(int first_ms)
{
	struct itimerval t = { ms(first_ms), ms(first_ms) };
	start_s = now_s(CLOCK_MONOTONIC);
	handled = 0;
	OK(setitimer(ITIMER_REAL, &t, NULL));
}

/* So much time has passed: real time may be longer, but is not that of the whole wait. */
static void passed(const char *what, double s)
{
	double got = now_s(CLOCK_MONOTONIC) - start_s;
	double most = orrery_is_simulated() ? s + 1e-4 : SPAN_S * .9;
	CHECK(got > s - 1e-3 && got < most, "%s: %.6f s, not %g", what, got, s);
}

/* What returned ret has waited until the first signal. */
static void ended(const char *what, int ret)
{
	int error = errno;
	struct itimerval none = { { 0, 0 }, { 0, 0 } };
	passed(what, FIRST_MS * 1e-3);
	OK(setitimer(ITIMER_REAL, &none, NULL));
	CHECK(ret == -1 && error == EINTR, "%s: %d, error %d", what, ret, error);
	CHECK(orrery_is_simulated() ? handled == 1 : handled >= 1, "%s: %d", what, (int) handled);
}

#define ENDS(call) \
	do { \
		alarms(FIRST_MS); \
		ended(#call, (call)); \
	} while (0)
/* The same for what returns the number of the error. */
#define ENDS_BY_NUMBER(call) \
	do { \
		alarms(FIRST_MS); \
		errno = (call); \
		ended(#call, errno ? -1 : 0); \
	} while (0)

static void is_rest(const struct timespec *left, double least_s)
{
	double s = (double) left->tv_sec + (double) left->tv_nsec * 1e-9;
	CHECK(s < SPAN_S - FIRST_MS * 1e-3 + 1e-3 && s > least_s, "%g s are left", s);
	CHECK(!orrery_is_simulated() || fabs(s - (SPAN_S - FIRST_MS * 1e-3)) < 1e-4, "%g s", s);
}

static void sleeps(void)
{
	const struct timespec span = { SPAN_S, 0 };
	struct timespec left = { 0, 0 }, until;
	ENDS(usleep(SPAN_S * 1000000));
	ENDS(nanosleep(&span, NULL));
	ENDS(nanosleep(&span, &left));
	is_rest(&left, 2);
	left.tv_sec = 0;
	ENDS_BY_NUMBER(clock_nanosleep(CLOCK_MONOTONIC, 0, &span, &left));
	is_rest(&left, 2);
	/* The rest until a time is known: it stays as it was. */
	until = after_s(CLOCK_REALTIME, SPAN_S);
	left.tv_sec = 77;
	ENDS_BY_NUMBER(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, &left));
	CHECK_IS(left.tv_sec, 77);
	alarms(FIRST_MS);
	CHECK_IS(thrd_sleep(&span, &left), -1);
	is_rest(&left, 2);
	errno = EINTR;
	ended("thrd_sleep", -1);
	alarms(FIRST_MS);
	unsigned s = sleep(SPAN_S);
	CHECK(orrery_is_simulated() ? s == SPAN_S - 1 : s > 2 && s < SPAN_S, "%u s are left", s);
	errno = EINTR;
	ended("sleep", -1);
}

static void wrong_sleeps(void)
{
	const struct timespec spans[] = { { -1, 0 }, { 0, -1 }, { 0, 1000000000 } };
	for (int i = 0; i < 3; i++) {
		CHECK_IS(nanosleep(&spans[i], NULL), -1);
		CHECK_IS(errno, EINVAL);
		CHECK_IS(clock_nanosleep(CLOCK_MONOTONIC, 0, &spans[i], NULL), EINVAL);
		CHECK(thrd_sleep(&spans[i], NULL) < -1);
	}
	CHECK_IS(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &spans[0], NULL), EINVAL);
	CHECK_IS(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &(struct timespec){ 1, 0 }, NULL),
		 EINVAL);
}

static void waits_with_limits(void)
{
	const struct timespec span = { SPAN_S, 0 };
	struct timespec until = after_s(CLOCK_REALTIME, SPAN_S);
	struct timeval limit = ms(SPAN_S * 1000);
	sem_t sem;
	sigset_t others, none;
	sigemptyset(&others);
	sigemptyset(&none);
	sigaddset(&others, SIGUSR2);
	ENDS(poll(NULL, 0, SPAN_S * 1000));
	ENDS(ppoll(NULL, 0, &span, NULL));
	ENDS(select(0, NULL, NULL, NULL, &limit));
	ENDS(pselect(0, NULL, NULL, NULL, &span, NULL));
	ENDS(pause());
	ENDS(sigsuspend(&none));
	ENDS(sigtimedwait(&others, NULL, &span));
	OK(sem_init(&sem, 0, 0));
	ENDS(sem_timedwait(&sem, &until));
	OK(sem_destroy(&sem));
}

/* A pending signal that a wait lets come ends it. */
static void pending(void)
{
	const struct timespec span = { SPAN_S, 0 };
	sigset_t blocked, none;
	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	for (int i = 0; i < 3; i++) {
		OK(sigprocmask(SIG_BLOCK, &blocked, NULL));
		handled = 0;
		OK(raise(SIGUSR1));
		CHECK_IS(handled, 0);
		start_s = now_s(CLOCK_MONOTONIC);
		CHECK_IS(i == 0   ? ppoll(NULL, 0, &span, &none)
			 : i == 1 ? pselect(0, NULL, NULL, NULL, &span, &none)
				  : sigsuspend(&none),
			 -1);
		CHECK_IS(errno, EINTR);
		passed("a pending signal", 0);
		CHECK_IS(handled, 1);
		OK(sigprocmask(SIG_UNBLOCK, &blocked, NULL));
	}
}

static int ends[2];
static sem_t posted;

static void *makes_ready(void *arg)
{
	usleep(3 * FIRST_MS * 1000);
	CHECK_IS(write(ends[1], "x", 1), 1);
	OK(sem_post(&posted));
	return arg;
}

/* Waits without limit: only a handler without SA_RESTART ends them. */
static void waits_for_others(int restart)
{
	const struct itimerspec once = { { 0, 0 }, { 0, 3 * FIRST_MS * 1000000 } };
	pthread_t thread;
	char c;
	uint64_t n;
	int pair[2];
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	CHECK(fd >= 0, "no file of a timer");
	OK(pipe(ends));
	OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	OK(sem_init(&posted, 0, 0));
	handle(restart);
	if (!restart) {
		OK(timerfd_settime(fd, 0, &(struct itimerspec){ { 0, 0 }, { SPAN_S, 0 } }, NULL));
		ENDS(sem_wait(&posted));
		ENDS((int) read(ends[0], &c, 1));
		ENDS((int) recv(pair[0], &c, 1, 0));
		ENDS((int) read(fd, &n, sizeof(n)));
	} else {
		alarms(FIRST_MS * 5 / 6);
		OK(pthread_create(&thread, NULL, makes_ready, NULL));
		CHECK_IS(read(ends[0], &c, 1), 1);
		OK(sem_wait(&posted));
		OK(timerfd_settime(fd, 0, &once, NULL));
		CHECK_IS(read(fd, &n, sizeof(n)), sizeof(n));
		passed("reads that go on", 6 * FIRST_MS * 1e-3);
		CHECK(handled >= 2, "%d", (int) handled);
		ualarm(0, 0);
		OK(pthread_join(thread, NULL));
	}
	OK(sem_destroy(&posted));
	for (int i = 0; i < 2; i++) {
		OK(close(ends[i]));
		OK(close(pair[i]));
	}
	OK(close(fd));
}

/* What a thread's sleep of 4 signals returned. */
static void *sleeps_on(void *arg)
{
	*(int *) arg = usleep(4 * FIRST_MS * 1000);
	return NULL;
}

static void threads_of_a_process(void)
{
	pthread_t thread;
	int ret = 1;
	/* The main thread gets the signals, though it waits for something that no signal ends. */
	alarms(FIRST_MS);
	OK(pthread_create(&thread, NULL, sleeps_on, &ret));
	OK(pthread_join(thread, NULL));
	CHECK_IS(ret, 0);
	CHECK(handled >= 3, "%d", (int) handled);
	passed("a thread's sleep", 4 * FIRST_MS * 1e-3);
	ualarm(0, 0);
	/* The thread gets this one, and only it. */
	handled = 0;
	start_s = now_s(CLOCK_MONOTONIC);
	OK(pthread_create(&thread, NULL, sleeps_on, &ret));
	CHECK_IS(usleep(FIRST_MS * 1000), 0);
	OK(pthread_kill(thread, SIGUSR1));
	CHECK_IS(usleep(FIRST_MS * 1000), 0);
	OK(pthread_join(thread, NULL));
	CHECK_IS(handled, 1);
	CHECK(ret == -1 || !orrery_is_simulated(), "%d", ret);
	passed("pthread_kill", 2 * FIRST_MS * 1e-3);
}

/* What is left of timers, and of those that another one replaces. */
static void rests(void)
{
	struct itimerval t = { ms(300), ms(9900) }, left;
	OK(setitimer(ITIMER_REAL, &t, NULL));
	usleep(100000);
	OK(getitimer(ITIMER_REAL, &left));
	CHECK(left.it_value.tv_sec == 9 && left.it_value.tv_usec <= 800000, "%ld.%06ld s",
	      (long) left.it_value.tv_sec, (long) left.it_value.tv_usec);
	CHECK_IS(left.it_interval.tv_usec, 300000);
	left.it_interval.tv_usec = 0;
	OK(setitimer(ITIMER_REAL, &(struct itimerval){ ms(0), ms(4300) }, &left));
	CHECK_IS(left.it_value.tv_sec, 9);
	CHECK_IS(left.it_interval.tv_usec, 300000);
	CHECK_IS(alarm(100), 4); /* the nearest number of seconds */
	CHECK_IS(alarm(0), 100);
	OK(getitimer(ITIMER_REAL, &left));
	CHECK(!left.it_value.tv_sec && !left.it_value.tv_usec, "a timer is left");
	CHECK_IS((int) ualarm(1000000, 0), -1);
	CHECK_IS(errno, EINVAL);
	CHECK_IS(setitimer(ITIMER_REAL, &(struct itimerval){ ms(0), { 0, 1000000 } }, NULL), -1);
	CHECK_IS(errno, EINVAL);
	CHECK_IS(ualarm(900000, 0), 0);
	useconds_t us = ualarm(0, 0);
	CHECK(us > 0 && us <= 900000, "%u us", us);
	/* Twice, at different times. */
	start_s = now_s(CLOCK_MONOTONIC);
	handled = 0;
	CHECK_IS(ualarm(60000, 40000), 0);
	for (int i = 1; handled < 2; i++) {
		CHECK_IS(pause(), -1);
		CHECK(handled >= i, "%d signals ended %d waits", (int) handled, i);
	}
	passed("ualarm", .1);
	ualarm(0, 0);
}

/* A timer that ends as a sleep does was set before it. */
static void at_the_same_time(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;
	handled = 0;
	alarm(1);
	CHECK_IS(sleep(1), 0);
	CHECK_IS(handled, 1);
	OK(timer_create(CLOCK_MONOTONIC, &event, &timer));
	OK(timer_settime(timer, 0, &(struct itimerspec){ { 0, 0 }, { 1, 0 } }, NULL));
	usleep(1000000);
	CHECK_IS(handled, 2);
	OK(timer_delete(timer));
}

static int flag;

static void *sets_flag(void *arg)
{
	usleep(500);
	__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
	return arg;
}

/* Sleeps of no time let others go on. */
static void no_time(void)
{
	pthread_t thread;
	OK(pthread_create(&thread, NULL, sets_flag, NULL));
	while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
		usleep(0);
	OK(pthread_join(thread, NULL));
}

int main(void)
{
	static const int flags[] = { 0, SA_RESTART };
	for (int i = 0; i < 2; i++) {
		handle(flags[i]);
		sleeps();
		waits_with_limits();
		pending();
		threads_of_a_process();
		waits_for_others(flags[i]);
	}
	wrong_sleeps();
	rests();
	at_the_same_time();
	no_time();
	return 0;
}
