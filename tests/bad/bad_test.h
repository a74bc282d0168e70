/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the tests of mistakes share. A test in this folder passes when its program ends
 * with another status than 0 and says what its `expect` lines ask for.
 *
 * Invariant: refused() is the only way to a status of 1, so that a mistake that goes unnoticed ends
 * with 0 and fails. */
#ifndef BAD_TEST_H
#define BAD_TEST_H

#include <starpu.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The call answered as it should: the end, if it did. */
static inline void refused(int got, int want)
{
	if (got != want) {
		fprintf(stderr, "the answer is %d, not %d\n", got, want);
		exit(0);
	}
	starpu_shutdown();
	exit(1);
}

/* For the answer of starpu_init(): true if the test is to be skipped, because there is no such
 * device. After any other failure nobody can make the mistake: the test fails. */
static inline int bad_skips(int answer)
{
	if (answer && answer != -ENODEV) {
		fprintf(stderr, "the runtime does not start: %d\n", answer);
		exit(0);
	}
	return answer != 0;
}

static inline void start(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 2;
	if (bad_skips(starpu_init(&conf)))
		exit(77);
}

static inline void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}
#endif
