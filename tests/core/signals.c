/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals of the own process: handled, blocked, pending, waited for. In a simulated run each rank
 * has its own, alarms come in virtual time, and no other program takes the place of a rank.
 *
 * orr-test: timeout 60
 * orr-test: ranks 2 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <starpu.h>
#include "lib/test.h"

static volatile sig_atomic_t handled, last;

static void handler(int sig)
{
	handled++;
	last = sig;
}

static sigset_t set_of(int sig)
{
	sigset_t set;

	OK(sigemptyset(&set));
	OK(sigaddset(&set, sig));
	return set;
}

static void test_blocked(void)
{
	sigset_t usr1 = set_of(SIGUSR1), before, pending;

	handled = 0;
	OK(sigprocmask(SIG_BLOCK, &usr1, &before));
	CHECK(!sigismember(&before, SIGUSR1));
	OK(raise(SIGUSR1));
	OK(raise(SIGUSR1));
	CHECK_IS(handled, 0);
	OK(sigpending(&pending));
	CHECK(sigismember(&pending, SIGUSR1) && !sigismember(&pending, SIGUSR2));
	OK(raise(SIGUSR2));
	CHECK_IS(handled, 1);
	CHECK_IS(last, SIGUSR2);
	OK(sigprocmask(SIG_UNBLOCK, &usr1, NULL));
	CHECK_IS(handled, 2);
	CHECK_IS(last, SIGUSR1);
	OK(sigpending(&pending));
	CHECK(!sigismember(&pending, SIGUSR1));
	OK(sigprocmask(SIG_SETMASK, NULL, &before));
	CHECK(!sigismember(&before, SIGUSR1));
}

static void test_pause(void)
{
	double before_us = starpu_timing_now();
	struct itimerval in = { .it_value = { 0, 30000 } };

	handled = 0;
	OK(setitimer(ITIMER_REAL, &in, NULL));
	CHECK_IS(pause(), -1);
	CHECK_IS(errno, EINTR);
	CHECK_IS(handled, 1);
	CHECK_IS(last, SIGALRM);
	CHECK(starpu_timing_now() - before_us >= 29000, "%g", starpu_timing_now() - before_us);
}

static void test_suspend(void)
{
	sigset_t alarms = set_of(SIGALRM), before, none;
	struct itimerval in = { .it_value = { 0, 20000 } };

	handled = 0;
	sigemptyset(&none);
	OK(sigprocmask(SIG_BLOCK, &alarms, &before));
	OK(setitimer(ITIMER_REAL, &in, NULL));
	usleep(40000);
	CHECK_IS(handled, 0);
	CHECK_IS(sigsuspend(&none), -1);
	CHECK_IS(errno, EINTR);
	CHECK_IS(handled, 1);
	OK(raise(SIGALRM));
	CHECK_IS(handled, 1);
	OK(sigprocmask(SIG_SETMASK, &before, NULL));
	CHECK_IS(handled, 2);
}

static void test_wait(void)
{
	sigset_t alarms = set_of(SIGALRM);
	struct itimerval in = { .it_value = { 0, 20000 } };
	struct timespec span = { 0, 5000000 };
	siginfo_t info;
	int sig = 0;

	handled = 0;
	OK(sigprocmask(SIG_BLOCK, &alarms, NULL));
	CHECK_IS(sigtimedwait(&alarms, &info, &span), -1);
	CHECK_IS(errno, EAGAIN);
	OK(setitimer(ITIMER_REAL, &in, NULL));
	OK(sigwait(&alarms, &sig));
	CHECK_IS(sig, SIGALRM);
	OK(setitimer(ITIMER_REAL, &in, NULL));
	CHECK_IS(sigwaitinfo(&alarms, &info), SIGALRM);
	CHECK_IS(info.si_signo, SIGALRM);
	OK(sigprocmask(SIG_UNBLOCK, &alarms, NULL));
	CHECK_IS(handled, 0);
}

int main(void)
{
	struct sigaction action = { .sa_handler = handler };

	OK(sigaction(SIGALRM, &action, NULL));
	OK(sigaction(SIGUSR1, &action, NULL));
	OK(sigaction(SIGUSR2, &action, NULL));
	test_blocked();
	test_pause();
	test_suspend();
	test_wait();
	return 0;
}
