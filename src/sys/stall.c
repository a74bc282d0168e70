/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The answer to: can anything in this process of the system act beside threads that are known?
 *
 * Invariant: what cannot be found out counts as something that can act. */
#include "sys/real.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

double orr_sys_stall_us(const struct orr_process *proc)
{
	return proc->cfg->stall_us > 0 ? (double) proc->cfg->stall_us : -1;
}

/* True if there is no timer of setitimer(), alarm() or timer_create(). A system that has the last
 * kind and does not list them is rare. */
static int no_timers(void)
{
	struct itimerval timer;
	char first;

	if (getitimer(ITIMER_REAL, &timer) || timer.it_value.tv_sec || timer.it_value.tv_usec)
		return 0;
	int list = open("/proc/self/timers", O_RDONLY | O_CLOEXEC);
	int none = list < 0 || read(list, &first, 1) == 0;
	if (list >= 0)
		close(list);
	return none;
}

int orr_sys_only_threads(struct orr_process *proc, unsigned nthreads)
{
	struct stat tasks;

	(void) proc;
	/* A folder has two links, and one for each folder in it: the threads. */
	return no_timers() && !stat("/proc/self/task", &tasks) &&
	       tasks.st_nlink == (nlink_t) nthreads + 2 + (nlink_t) orr_real_live();
}
