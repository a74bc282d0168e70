/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time, differences of times, and sleeping, as programs ask for them (starpu_util.h).
 *
 * Invariant: all of them are of the world's clock: virtual time in a simulated run. */
#include "starpu.h"
#include "orrery.h"

#include "base/process.h"

double orrery_now_us(void)
{
	return orr_sys_now_us();
}

double starpu_timing_now(void)
{
	return orr_sys_now_us();
}

void starpu_sleep(float nb_sec)
{
	orr_sys_sleep_us((double) nb_sec * 1e6);
}

void starpu_usleep(float nb_micro_sec)
{
	orr_sys_sleep_us((double) nb_micro_sec);
}

double starpu_timing_timespec_to_us(struct timespec *ts)
{
	return (double) ts->tv_sec * 1e6 + (double) ts->tv_nsec * 1e-3;
}

double starpu_timing_timespec_delay_us(struct timespec *start, struct timespec *end)
{
	return (double) (end->tv_sec - start->tv_sec) * 1e6 +
	       (double) (end->tv_nsec - start->tv_nsec) * 1e-3;
}
