/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads of MPI: those that are there after its start and were not there before. UCX, which
 * may come with MPI, starts one when it is loaded, for a file system with its counters; it often
 * ends at once.
 *
 * Invariant: they are known only if nothing but MPI could start a thread meanwhile: the process had
 * no thread but the program's and those of workers without tasks. */
#include "sys/mpi_threads.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include "base/upcalls.h"

#define MOST 256

/* Sets of the system's numbers of threads; n < 0: not known. A process has one MPI. */
static struct threads {
	int n;
	pid_t v[MOST];
} before = { .n = -1 }, ours = { .n = -1 };

/* True if that thread is UCX's, which begins before main(), or has ended. */
static int is_of_ucx(const char *id)
{
	void *library = dlopen("libucs_fuse.so.0", RTLD_LAZY | RTLD_NOLOAD);
	char path[64], name[16] = "";

	if (!library)
		return 0;
	dlclose(library);
	snprintf(path, sizeof(path), "/proc/self/task/%.20s/comm", id);
	FILE *f = fopen(path, "r");
	int there = f && fgets(name, sizeof(name), f);
	if (f)
		fclose(f);
	return !there || !strcmp(name, "fuse\n");
}

/* with_ucx: also those that UCX started when it was loaded. */
static void read_threads(struct threads *t, int with_ucx)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *e;

	t->n = dir ? 0 : -1;
	while (t->n >= 0 && (e = readdir(dir)) != NULL) {
		if (*e->d_name == '.' || (!with_ucx && is_of_ucx(e->d_name)))
			continue;
		if (t->n < MOST)
			t->v[t->n++] = (pid_t) strtol(e->d_name, NULL, 10);
		else
			t->n = -1;
	}
	if (dir)
		closedir(dir);
}

static int has(const struct threads *t, pid_t id)
{
	for (int i = 0; i < t->n; i++)
		if (t->v[i] == id)
			return 1;
	return 0;
}

void orr_real_mpi_threads_begin(const struct orr_process *proc)
{
	uint64_t nsubmitted = 0, ncompleted;

	if (proc->ngroups)
		proc->core_up->count_tasks((struct orr_process *) proc, &nsubmitted, &ncompleted);
	read_threads(&before, 0);
	if (before.n != (int) proc->ngroups + 1 + orr_real_live() || nsubmitted)
		before.n = -1;
}

void orr_real_mpi_threads_end(void)
{
	struct threads now;

	read_threads(&now, 1);
	ours.n = before.n < 0 || now.n < 0 ? -1 : 0;
	for (int i = 0; ours.n >= 0 && i < now.n; i++)
		if (!has(&before, now.v[i]))
			ours.v[ours.n++] = now.v[i];
	before.n = -1;
}

int orr_sys_mpi_threads(struct orr_process *proc)
{
	int n = 0;

	(void) proc;
	if (ours.n < 0)
		return -1;
	for (int i = 0; i < ours.n; i++) {
		char path[64];
		snprintf(path, sizeof(path), "/proc/self/task/%ld", (long) ours.v[i]);
		n += !access(path, F_OK);
	}
	return n;
}
