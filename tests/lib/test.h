/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The checks of all tests.
 *
 * Invariant: a check that fails prints one line on standard error (file, line, function, the
 * condition, and the values that the test gives) and ends the program with status 1. */
#ifndef TESTS_LIB_TEST_H
#define TESTS_LIB_TEST_H

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The rank that messages begin with; -1: none. */
__attribute__((unused)) static int test_rank = -1;

__attribute__((noreturn, unused, format(printf, 5, 6))) static void test_fail(
	const char *file, int line, const char *function, const char *condition, const char *values,
	...)
{
	va_list args;

	fflush(stdout);
	if (test_rank >= 0)
		fprintf(stderr, "[%d] ", test_rank);
	fprintf(stderr, "%s:%d: %s: not true: %s;", file, line, function, condition);
	va_start(args, values);
	vfprintf(stderr, values, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(1);
}

/* Checks that `condition` is true. What follows it are a format and values to print when it is
 * false; both may be left out. */
#define CHECK(condition, ...) \
	do { \
		if (!(condition)) \
			test_fail(__FILE__, __LINE__, __func__, #condition, " " __VA_ARGS__); \
	} while (0)

/* For the answer of starpu_init() and its like: true if the test is to be skipped, because there is
 * no such device. Any other failure is one of the test. */
__attribute__((unused)) static int test_skips(int answer)
{
	CHECK(answer == 0 || answer == -ENODEV, "the runtime does not start: %d", answer);
	return answer == -ENODEV;
}

/* Checks that an integer is the one wanted. */
#define CHECK_IS(number, wanted) \
	do { \
		long check_is_ = (long) (number), check_wanted_ = (long) (wanted); \
		if (check_is_ != check_wanted_) \
			test_fail(__FILE__, __LINE__, __func__, #number " == " #wanted, \
				  " it is %ld, not %ld", check_is_, check_wanted_); \
	} while (0)

/* Checks that a number is the one wanted but for the share `relative` of it. */
#define CHECK_NEAR(number, wanted, relative) \
	do { \
		double check_is_ = (number), check_wanted_ = (wanted); \
		if (!(fabs(check_is_ - check_wanted_) <= (relative) *fabs(check_wanted_))) \
			test_fail(__FILE__, __LINE__, __func__, #number " is near " #wanted, \
				  " it is %.9g, not %.9g", check_is_, check_wanted_); \
	} while (0)

/* Checks that a call returns 0. */
#define OK(call) CHECK_IS(call, 0)

#endif
