/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether anything in this process of the system can act beside threads that are known.
 *
 * Invariant: what cannot be found out counts as something that can act. */
#include "sys/real.h"

#include <sys/stat.h>
#include <sys/time.h>

double orr_sys_stall_us(const struct orr_process *proc)
{
	return proc->cfg.stall_us > 0 ? (double) proc->cfg.stall_us : -1;
}

int orr_sys_only_threads(struct orr_process *proc, unsigned nthreads)
{
	struct itimerval timer;
	struct stat tasks;

	(void) proc;
	/* A folder has two links, and one for each folder in it: the threads. */
	return !getitimer(ITIMER_REAL, &timer) && !timer.it_value.tv_sec &&
	       !timer.it_value.tv_usec && !stat("/proc/self/task", &tasks) &&
	       tasks.st_nlink == (nlink_t) nthreads + 2;
}
