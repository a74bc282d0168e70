/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranks of a host that start and say the same speak once. They meet in the folder that Open MPI has
 * for the run on this host and removes at its end: a file for each text, which the first one makes,
 * and to which each other one adds a byte. A second file says that the text is printed.
 *
 * Invariant: a text is printed by somebody. Who waits in vain for the first one prints it, too. */
#include "base/fnv.h"
#include "base/process.h"
#include "sys/launched.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_US 1000
#define GATHER_STEPS 100 /* the first one waits so long for others that will say the same ... */
#define RELY_STEPS 1000  /* ... and others for it */

static uint64_t hash_of(const char *text)
{
	return orr_fnv(ORR_FNV_START, text, strlen(text));
}

/* Ranks of this host; 1: there is no place to meet. */
static long nranks(void)
{
	return getenv("PMIX_SERVER_TMPDIR") && getenv("PMIX_NAMESPACE")
		       ? (long) orr_real_launched(ORR_LAUNCHED_NPROCS)
		       : 1;
}

/* The file that counts, or the one that says it is over, of a text. 0 or -ENAMETOOLONG. */
static int name_file(char path[PATH_MAX], const char *text, const char *ending)
{
	int n = snprintf(path, PATH_MAX, "%s/orrery-%s-%016llx%s", getenv("PMIX_SERVER_TMPDIR"),
			 getenv("PMIX_NAMESPACE"), (unsigned long long) hash_of(text), ending);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* The first one: waits for the others. Their number. */
static int gather(int fd, long n, int wait)
{
	struct stat st = { .st_size = 0 };

	for (int i = 0; wait && i < GATHER_STEPS && !fstat(fd, &st) && st.st_size < n - 1; i++)
		usleep(STEP_US);
	close(fd);
	return st.st_size < INT_MAX ? (int) st.st_size : INT_MAX;
}

/* Another one: adds itself and relies on the first one. */
static int join(const char *path, const char *text)
{
	char over[PATH_MAX];
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0 || name_file(over, text, "-over"))
		return 0;
	ssize_t put = write(fd, "x", 1);
	close(fd);
	for (int i = 0; put == 1 && i < RELY_STEPS; i++) {
		if (!access(over, F_OK))
			return -1;
		usleep(STEP_US);
	}
	return 0;
}

int orr_sys_speak(struct orr_process *proc, const char *text, int wait)
{
	char path[PATH_MAX];
	long n = proc->state == ORR_PROCESS_UP ? 1 : nranks();

	if (n <= 1 || name_file(path, text, ""))
		return 0;
	int fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		return gather(fd, n, wait);
	return errno == EEXIST ? join(path, text) : 0;
}

void orr_sys_spoken(struct orr_process *proc, const char *text)
{
	char path[PATH_MAX];

	if (proc->state == ORR_PROCESS_UP || nranks() <= 1 || name_file(path, text, "-over"))
		return;
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
}
