/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-bench: alone */
/* Processor time that a program uses while it sleeps for five seconds after starpu_init, start
 * included.
 *
 * Invariant: only this process is looked at (getrusage), so other load on the machine does not
 * matter. The aim is 50 ms. */
#include <starpu.h>

#include <stdio.h>
#include <sys/resource.h>

#define AIM_MS 50

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-3;
}

int main(void)
{
	double before = cpu_ms(), started, end;

	if (starpu_init(NULL))
		return 77;
	started = cpu_ms();
	starpu_sleep(5);
	end = cpu_ms();
	printf("idle: %.2f ms of processor time in 5 s of sleep, %.2f ms with starpu_init (%u workers, aim: %d ms)\n",
	       end - started, end - before, starpu_worker_get_count(), AIM_MS);
	starpu_shutdown();
	return end - before < AIM_MS ? 0 : 1;
}
