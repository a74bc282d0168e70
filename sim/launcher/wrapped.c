/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of the C library that mean something else in a simulated program: time is virtual, and
 * each rank has its own process number, use of the processor, and state of getopt().
 *
 * A program for the simulated world is linked with the options of wrapped.flags, by which its calls
 * of sleep() become calls of __wrap_sleep() here. The sources are compiled as for the real world:
 * a header of ours in front of them would change what the checks of a configure script find.
 * Libraries that are not linked that way, SimGrid and ours among them, keep the C library's
 * functions.
 *
 * Invariant: each function here has its line in wrapped.flags. */
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include <smpi/smpi_helpers_internal.h>
#include "calls.h"

#pragma GCC visibility push(default)

unsigned __wrap_sleep(unsigned s);
int __wrap_usleep(useconds_t us);
int __wrap_nanosleep(const struct timespec *span, struct timespec *left);
int __wrap_gettimeofday(struct timeval *tv, void *zone);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv(void);
int64_t __wrap__ZNSt6chrono3_V212system_clock3nowEv(void);
pid_t __wrap_getpid(void);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t,
			   struct timespec *left);
int __wrap_timespec_get(struct timespec *t, int base);
double __wrap_starpu_timing_now(void);
clock_t __wrap_clock(void);
clock_t __wrap_times(struct tms *t);
int __wrap_getrusage(__rusage_who_t who, struct rusage *u);
int __wrap_thrd_sleep(const struct timespec *span, struct timespec *left);
int __wrap_getopt(int argc, char *const *argv, const char *options);
int __wrap_getopt_long(int argc, char *const *argv, const char *options, const struct option *longs,
		       int *index);
int __wrap_getopt_long_only(int argc, char *const *argv, const char *options,
			    const struct option *longs, int *index);

#pragma GCC visibility pop

/* ---- sleeps: a handler ends them, whether it was set with SA_RESTART or not ---- */

static double us_of(const struct timespec *t)
{
	return (double) t->tv_sec * 1e6 + (double) t->tv_nsec * 1e-3;
}

/* Sleeps until that time of the clock, or so long. Returns the number of an error; *left, if it is
 * given, is the rest. */
static int sleep_for(clockid_t clock, int absolute, const struct timespec *t, struct timespec *left)
{
	struct timespec now = { 0, 0 };
	if (t->tv_sec < 0 || t->tv_nsec < 0 || t->tv_nsec >= 1000000000 ||
	    clock == CLOCK_THREAD_CPUTIME_ID)
		return EINVAL;
	if (absolute)
		orrery_sim_clock_gettime(clock, &now);
	double us = orrery_sim_sleep(us_of(t) - us_of(&now));
	if (!(us > 0))
		return 0;
	if (left) {
		left->tv_sec = (time_t) (us / 1e6);
		left->tv_nsec = (long) ((us - (double) left->tv_sec * 1e6) * 1e3);
	}
	return EINTR;
}

unsigned __wrap_sleep(unsigned s)
{
	struct timespec span = { s, 0 }, left = { 0, 0 };
	if (!__wrap_nanosleep(&span, &left))
		return 0;
	/* A thread of the system wakes a little after the signal: of whole seconds one is lost. */
	return left.tv_nsec || !left.tv_sec ? (unsigned) left.tv_sec : (unsigned) left.tv_sec - 1;
}

int __wrap_usleep(useconds_t us)
{
	struct timespec span = { us / 1000000, us % 1000000 * 1000 };
	return __wrap_nanosleep(&span, NULL);
}

int __wrap_nanosleep(const struct timespec *span, struct timespec *left)
{
	int error = sleep_for(CLOCK_REALTIME, 0, span, left);
	if (error)
		errno = error;
	return error ? -1 : 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t,
			   struct timespec *left)
{
	int absolute = flags & TIMER_ABSTIME;
	return sleep_for(clock, absolute, t, absolute ? NULL : left);
}

int __wrap_thrd_sleep(const struct timespec *span, struct timespec *left)
{
	int error = sleep_for(CLOCK_REALTIME, 0, span, left);
	return error == EINTR ? -1 : error ? -2 : 0;
}

int __wrap_gettimeofday(struct timeval *tv, void *zone)
{
	(void) zone;
	return orrery_sim_gettimeofday(tv);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	return orrery_sim_clock_gettime(clock, t);
}

/* The clocks of C++, whose time points are nanoseconds. */

static int64_t clock_ns(void)
{
	struct timespec t;
	orrery_sim_clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv(void)
{
	return clock_ns();
}

int64_t __wrap__ZNSt6chrono3_V212system_clock3nowEv(void)
{
	return clock_ns();
}

/* The number of the rank's main actor, in all of its threads. */
pid_t __wrap_getpid(void)
{
	return orrery_sim_getpid();
}

int __wrap_timespec_get(struct timespec *t, int base)
{
	return base == TIME_UTC && !orrery_sim_clock_gettime(CLOCK_REALTIME, t) ? base : 0;
}

/* The runtime's clock, for the same reason as the system's: programs wait for it in loops. */
double __wrap_starpu_timing_now(void)
{
	return orrery_sim_now_us();
}

/* ---- the processor's time: a rank has used all the time that has passed ---- */

clock_t __wrap_clock(void)
{
	return (clock_t) (clock_ns() / (1000000000 / CLOCKS_PER_SEC));
}

clock_t __wrap_times(struct tms *t)
{
	clock_t ticks = (clock_t) (clock_ns() / (1000000000 / sysconf(_SC_CLK_TCK)));
	if (t)
		*t = (struct tms){ .tms_utime = ticks };
	return ticks;
}

int __wrap_getrusage(__rusage_who_t who, struct rusage *u)
{
	int ret = getrusage(who, u);
	if (ret || who == RUSAGE_CHILDREN)
		return ret;
	int64_t us = clock_ns() / 1000;
	*u = (struct rusage){ .ru_utime = { us / 1000000, us % 1000000 },
			      .ru_maxrss = orrery_sim_memory_kib() };
	return 0;
}

int __wrap_getopt(int argc, char *const *argv, const char *options)
{
	return smpi_getopt(argc, argv, options);
}

int __wrap_getopt_long(int argc, char *const *argv, const char *options, const struct option *longs,
		       int *index)
{
	return smpi_getopt_long(argc, argv, options, longs, index);
}

int __wrap_getopt_long_only(int argc, char *const *argv, const char *options,
			    const struct option *longs, int *index)
{
	return smpi_getopt_long_only(argc, argv, options, longs, index);
}
