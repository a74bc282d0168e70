/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task that cannot be submitted since memory is exhausted leaves nothing behind: nobody waits for
 * it, its tag and its data are free, and it can be submitted again.
 *
 * orr-test: sanitizer none
 * orr-test: expect task crowd: out of memory for its 1000000 data
 *
 * Invariant: the address space is limited such that what a task of N data needs exceeds it, and
 * what everything else needs does not. */
#include "core_test.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#define N 1000000
#define TAG 7

static int nruns, ncallbacks;

static void kernel(void *buffers[], void *arg)
{
	(void) arg;
	for (unsigned i = 0; i < N; i++)
		++*core_int(buffers[i]);
	nruns++;
}

static void callback(void *arg)
{
	(void) arg;
	INCR(ncallbacks);
}

static struct starpu_codelet crowd_cl = { .cpu_funcs = { kernel },
					  .nbuffers = STARPU_VARIABLE_NBUFFERS,
					  .name = "crowd" };
static struct starpu_codelet alone_cl = { .cpu_funcs = { core_count_kernel }, .name = "alone" };

static struct starpu_task *crowd(starpu_data_handle_t h)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &crowd_cl;
	task->nbuffers = N;
	task->dyn_handles = malloc(N * sizeof(*task->dyn_handles));
	task->dyn_modes = malloc(N * sizeof(*task->dyn_modes));
	CHECK(task->dyn_handles && task->dyn_modes);
	for (unsigned i = 0; i < N; i++) {
		task->dyn_handles[i] = h;
		task->dyn_modes[i] = STARPU_RW;
	}
	task->use_tag = 1;
	task->tag_id = TAG;
	task->callback_func = callback;
	return task;
}

/* What this process has of address space, in bytes. */
static rlim_t address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long pages;

	CHECK(f && fscanf(f, "%lu", &pages) == 1);
	fclose(f);
	return (rlim_t) pages * (rlim_t) sysconf(_SC_PAGESIZE);
}

static void submit_without_memory(struct starpu_task *task)
{
	struct rlimit old, small;

	CHECK_IS(getrlimit(RLIMIT_AS, &old), 0);
	small = old;
	small.rlim_cur = address_space() + (16 << 20);
	CHECK_IS(setrlimit(RLIMIT_AS, &small), 0);
	CHECK_IS(starpu_task_submit(task), -ENOMEM);
	CHECK_IS(setrlimit(RLIMIT_AS, &old), 0);
}

int main(void)
{
	struct starpu_task *task, *same_tag;
	starpu_data_handle_t h;
	int x = 0, n = 0;

	core_start(1, NULL);
	h = core_register(&x);
	task = crowd(h);
	submit_without_memory(task);
	CHECK_IS(starpu_task_nsubmitted(), 0);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	CHECK_IS(ncallbacks, 0);
	/* The tag is free for another task, and so is the datum. */
	same_tag = starpu_task_create();
	same_tag->cl = &alone_cl;
	same_tag->cl_arg = &n;
	same_tag->use_tag = 1;
	same_tag->tag_id = TAG;
	CHECK_IS(starpu_task_submit(same_tag), 0);
	CHECK_IS(starpu_tag_wait(TAG), 0);
	CHECK_IS(n, 1);
	CHECK_IS(starpu_data_acquire(h, STARPU_RW), 0);
	x = 1;
	starpu_data_release(h);
	/* With memory the same task goes. */
	CHECK_IS(starpu_task_submit(task), 0);
	CHECK_IS(starpu_task_wait_for_all(), 0);
	CHECK_IS(nruns, 1);
	CHECK_IS(ncallbacks, 1);
	/* One that never runs can be destroyed. */
	task = crowd(h);
	submit_without_memory(task);
	starpu_task_destroy(task);
	starpu_data_unregister(h);
	CHECK_IS(x, 1 + N);
	starpu_shutdown();
	return 0;
}
