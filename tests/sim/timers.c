/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timers of POSIX and of files, and waits with a limit, take the virtual time that pen and paper
 * gives. A real run, which takes 33 s, passes the same checks less closely.
 *
 * Invariant: nothing here depends on when the test runs. */
#include <starpu_mpi.h>
#include <orrery.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "lib/test.h"

static double start_s;

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static int is_near(double got_s, double s)
{
	return fabs(got_s - s) < (orrery_is_simulated() ? 1e-4 : .05);
}

/* So many seconds have passed since the last call. */
static void passed(const char *what, double s)
{
	double got = now_s() - start_s;
	CHECK(is_near(got, s), "%s: %.6f s, not %g", what, got, s);
	start_s = now_s();
}

static void is_left(const struct itimerspec *t, double s)
{
	double got = (double) t->it_value.tv_sec + (double) t->it_value.tv_nsec * 1e-9;
	CHECK(is_near(got, s), "%.6f s are left, not %g", got, s);
}

static struct itimerspec times(double first_s, double interval_s)
{
	return (struct itimerspec){
		.it_value = { (time_t) first_s, (long) ((first_s - (time_t) first_s) * 1e9 + .5) },
		.it_interval = { (time_t) interval_s,
				 (long) ((interval_s - (time_t) interval_s) * 1e9 + .5) },
	};
}

static int signals, value;
static double last_s;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void) sig;
	(void) context;
	CHECK_IS(info->si_code, SI_TIMER);
	value = info->si_value.sival_int;
	signals++;
	last_s = now_s();
}

/* 3 s, and then each 2 s: in 10 s at 3, 5, 7 and 9. */
static void timer_with_signal(void)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec t = times(3, 2), left;
	timer_t timer;
	event.sigev_value.sival_int = 42;
	CHECK_IS(sigaction(SIGUSR1, &action, NULL), 0);
	CHECK_IS(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	CHECK_IS(timer_settime(timer, 0, &t, NULL), 0);
	sleep(1);
	CHECK_IS(timer_gettime(timer, &left), 0);
	is_left(&left, 2);
	CHECK_IS(left.it_interval.tv_sec, 2);
	/* Each signal ends a sleep. */
	CHECK_IS(sleep(9), 6);
	CHECK_IS(signals, 1);
	for (int i = 2; i <= 4; i++) {
		CHECK_IS(usleep(2500000), -1);
		CHECK_IS(errno, EINTR);
		CHECK_IS(signals, i);
	}
	sleep(1);
	CHECK_IS(signals, 4);
	CHECK_IS(value, 42);
	CHECK(is_near(last_s - start_s, 9), "the last one at %g", last_s - start_s);
	/* A wait that a signal interrupts. */
	CHECK_IS(poll(NULL, 0, 5000), -1);
	CHECK_IS(errno, EINTR);
	passed("signals", 11);
	t = times(0, 0);
	CHECK_IS(timer_settime(timer, 0, &t, &left), 0);
	is_left(&left, 2);
	sleep(5);
	CHECK_IS(signals, 5);
	/* An absolute time. */
	t = times(now_s() + 1.5, 0);
	CHECK_IS(timer_settime(timer, TIMER_ABSTIME, &t, NULL), 0);
	pause();
	CHECK_IS(signals, 6);
	passed("disarmed, absolute", 6.5);
	t = times(1, 0);
	CHECK_IS(timer_settime(timer, 0, &t, NULL), 0);
	CHECK_IS(timer_delete(timer), 0);
	sleep(2);
	CHECK_IS(signals, 6);
	passed("deleted", 2);
}

static void on_thread(union sigval v)
{
	*(double *) v.sival_ptr += now_s();
}

/* 0.25 and 0.75 s: the sum of both times is 1 s. */
static void timer_with_thread(void)
{
	double sum = -2 * start_s;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD };
	struct itimerspec t = times(.25, .5), left;
	timer_t timer;
	event.sigev_value.sival_ptr = &sum;
	event.sigev_notify_function = on_thread;
	CHECK_IS(timer_create(CLOCK_REALTIME, &event, &timer), 0);
	CHECK_IS(timer_settime(timer, 0, &t, NULL), 0);
	sleep(1);
	CHECK_IS(timer_delete(timer), 0);
	CHECK(is_near(sum, 1), "%g", sum);
	event = (struct sigevent){ .sigev_notify = SIGEV_NONE };
	CHECK_IS(timer_create(CLOCK_REALTIME, &event, &timer), 0);
	CHECK_IS(timer_settime(timer, 0, &t, NULL), 0);
	usleep(100000);
	CHECK_IS(timer_gettime(timer, &left), 0);
	is_left(&left, .15);
	CHECK_IS(timer_delete(timer), 0);
	passed("threads", 1.1);
}

static uint64_t expiries(int fd)
{
	uint64_t n = 0;
	CHECK_IS(read(fd, &n, sizeof(n)), sizeof(n));
	return n;
}

static void timer_with_file(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK),
	    slow = timerfd_create(CLOCK_MONOTONIC, 0);
	struct pollfd p = { fd, POLLIN, 0 };
	struct itimerspec t = times(2, .5), left;
	struct timespec quarter = { 0, 250000000 };
	struct timeval half = { 0, 500000 };
	struct epoll_event event = { .events = EPOLLIN };
	uint64_t n;
	fd_set set;
	CHECK(fd >= 0 && slow >= 0);
	CHECK_IS(timerfd_settime(fd, 0, &t, NULL), 0);
	CHECK_IS(read(fd, &n, sizeof(n)), -1);
	CHECK_IS(errno, EAGAIN);
	CHECK_IS(poll(&p, 1, 500), 0);
	passed("poll of a file in vain", .5);
	CHECK_IS(ppoll(&p, 1, &quarter, NULL), 0);
	passed("ppoll in vain", .25);
	CHECK_IS(timerfd_gettime(fd, &left), 0);
	CHECK_IS(left.it_value.tv_sec, 1);
	CHECK_IS(poll(&p, 1, -1), 1);
	passed("poll of a file", 1.25);
	CHECK_IS((long) expiries(fd), 1);
	usleep(1600000);
	CHECK_IS((long) expiries(fd), 3);
	passed("usleep", 1.6);
	FD_ZERO(&set);
	FD_SET(fd, &set);
	CHECK_IS(select(fd + 1, &set, NULL, NULL, &half), 1);
	CHECK(FD_ISSET(fd, &set), "the file is not in the set");
	passed("select of a file", .4);
	CHECK_IS((long) expiries(fd), 1);
	/* It is disarmed: selects wait in vain. */
	t = times(0, 0);
	CHECK_IS(timerfd_settime(fd, 0, &t, NULL), 0);
	half.tv_usec = 500000;
	CHECK_IS(select(fd + 1, &set, NULL, NULL, &half), 0);
	CHECK(!FD_ISSET(fd, &set), "the file is in the set");
	FD_SET(fd, &set);
	CHECK_IS(pselect(fd + 1, &set, NULL, NULL, &quarter, NULL), 0);
	passed("select and pselect in vain", .75);
	/* A read that waits, of the third expiry at 1 + 2 x 0.25 s. */
	t = times(1, .25);
	CHECK_IS(timerfd_settime(slow, 0, &t, NULL), 0);
	CHECK_IS((long) (expiries(slow) + expiries(slow) + expiries(slow)), 3);
	passed("read", 1.5);
	int e = epoll_create1(0);
	event.data.fd = slow;
	CHECK_IS(epoll_ctl(e, EPOLL_CTL_ADD, slow, &event), 0);
	CHECK_IS(epoll_wait(e, &event, 1, 100), 0);
	CHECK_IS(epoll_wait(e, &event, 1, 1000), 1);
	CHECK_IS(event.data.fd, slow);
	passed("epoll_wait", .25);
	CHECK_IS(close(slow), 0);
	CHECK_IS(epoll_pwait(e, &event, 1, 300, NULL), 0);
	passed("epoll_pwait in vain", .3);
	close(e);
	close(fd);
}

static void *writer(void *arg)
{
	usleep(700000);
	CHECK_IS(write(*(int *) arg, "x", 1), 1);
	return NULL;
}

/* A pipe that another thread writes after 0.7 s. */
static void pipes(void)
{
	int ends[2];
	char c;
	pthread_t thread;
	CHECK_IS(pipe(ends), 0);
	struct pollfd p = { ends[0], POLLIN, 0 };
	CHECK_IS(pthread_create(&thread, NULL, writer, &ends[1]), 0);
	CHECK_IS(poll(&p, 1, 60000), 1);
	passed("poll of a pipe", .7);
	CHECK_IS(read(ends[0], &c, 1), 1);
	CHECK_IS(pthread_join(thread, NULL), 0);
	CHECK_IS(pthread_create(&thread, NULL, writer, &ends[1]), 0);
	CHECK_IS(read(ends[0], &c, 1), 1);
	passed("read of a pipe", .7);
	CHECK_IS(pthread_join(thread, NULL), 0);
	p = (struct pollfd){ ends[1], POLLOUT, 0 };
	CHECK_IS(poll(&p, 1, 60000), 1); /* it is ready */
	passed("poll of what is ready", 0);
}

int main(int argc, char **argv)
{
	(void) argv;
	struct timespec span = { 2, 500000000 };
	start_s = now_s();
	if (argc > 2) { /* a child does, in real time */
		FILE *f = popen("sleep 0.2; echo x", "r");
		CHECK(f, "no child");
		struct pollfd p = { fileno(f), POLLIN, 0 };
		CHECK_IS(poll(&p, 1, 60000), 1);
		CHECK_IS(fgetc(f), 'x');
		passed("a child", 0);
		return pclose(f);
	}
	if (argc > 1) { /* nobody makes it ready */
		int ends[2];
		CHECK_IS(pipe(ends), 0);
		struct pollfd p = { ends[0], POLLIN, 0 };
		return poll(&p, 1, -1);
	}
	CHECK_IS(thrd_sleep(&span, NULL), 0);
	passed("thrd_sleep", 2.5);
	CHECK_IS(poll(NULL, 0, 1500), 0);
	passed("poll", 1.5);
	timer_with_signal();
	timer_with_thread();
	timer_with_file();
	pipes();
	return 0;
}
