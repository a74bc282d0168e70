/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Idle uses no processor: a program that sleeps after starpu_init uses less than 1 % of one, in all
 * its threads together.
 *
 * Invariant: only the time of this process is looked at, so a busy machine does not matter. orr-test: env STARPU_NCPU=8 */
#include <starpu.h>

#include "lib/test.h"
#include <stdio.h>
#include <sys/resource.h>

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-3;
}

int main(void)
{
	double used;

	if (test_skips(starpu_init(NULL)))
		return 77;
	starpu_sleep(0.2f); /* let the workers settle */
	used = cpu_ms();
	starpu_sleep(3);
	used = cpu_ms() - used;
	starpu_shutdown();
	printf("%.2f ms of processor time in 3 s\n", used);
	return used < 30 ? 0 : 1;
}
