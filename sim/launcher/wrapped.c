/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions of the C library that mean something else in a simulated program: time is virtual, and
 * each rank has its own process number and its own state of getopt().
 *
 * A program for the simulated world is linked with the options of wrapped.flags, by which its calls
 * of sleep() become calls of __wrap_sleep() here. The sources are compiled as for the real world:
 * a header of ours in front of them would change what the checks of a configure script find.
 * Libraries that are not linked that way, SimGrid and ours among them, keep the C library's
 * functions.
 *
 * Invariant: each function here has its line in wrapped.flags. */
#include <getopt.h>
#include <stdint.h>
#include <sys/time.h>
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
int __wrap_getopt(int argc, char *const *argv, const char *options);
int __wrap_getopt_long(int argc, char *const *argv, const char *options, const struct option *longs,
		       int *index);
int __wrap_getopt_long_only(int argc, char *const *argv, const char *options,
			    const struct option *longs, int *index);

#pragma GCC visibility pop

unsigned __wrap_sleep(unsigned s)
{
	return smpi_sleep(s);
}

int __wrap_usleep(useconds_t us)
{
	return smpi_usleep(us);
}

int __wrap_nanosleep(const struct timespec *span, struct timespec *left)
{
	return smpi_nanosleep(span, left);
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

pid_t __wrap_getpid(void)
{
	return smpi_getpid();
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
