/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code that keeps the processor for ever, or only for long; spins.sh runs it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <starpu.h>
#include "lib/test.h"

static volatile int flag;
static sem_t never;

static void __attribute__((noinline)) wait_for_flag(void)
{
	while (!flag)
		;
}

/* It cannot be told from work. (A loop that adds to memory, and has nothing in registers, can.) */
static void __attribute__((noinline)) count_until_flag(void)
{
	static volatile unsigned long long n;

	while (!flag)
		n = 3 * n + 1;
}

static void spin_in_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	wait_for_flag();
}

static struct starpu_codelet spin_cl = { .cpu_funcs = { spin_in_kernel }, .name = "spin" };

/* As a library does that was not linked for the simulated world. */
static void __attribute__((noinline)) wait_in_the_system(void)
{
	int (*wait)(sem_t *) = (int (*)(sem_t *)) dlsym(RTLD_DEFAULT, "sem_wait");

	CHECK(wait);
	wait(&never);
	flag = 1;
}

/* Two seconds of work without any wait: twice what the watch needs for those that wait. */
static void __attribute__((noinline)) compute(void)
{
	static double numbers[1000];
	clock_t (*used)(void) = (clock_t(*)(void)) dlsym(RTLD_DEFAULT, "clock");

	for (clock_t start = used(); used() - start < 2 * CLOCKS_PER_SEC;)
		for (int k = 0; k < 1000000; k++)
			numbers[k % 1000] += k;
}

/* Two seconds in which the same page comes and goes, and the registers hardly change. */
static void __attribute__((noinline)) turn_memory_over(void)
{
	clock_t (*used)(void) = (clock_t(*)(void)) dlsym(RTLD_DEFAULT, "clock");

	for (clock_t start = used(); used() - start < 2 * CLOCKS_PER_SEC;) {
		static volatile unsigned left;

		for (left = 100000; left; left--) {
			char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			CHECK(page != MAP_FAILED);
			*page = 1;
			munmap(page, 4096);
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (test_skips(starpu_init(NULL)))
		return 77;
	CHECK(!sem_init(&never, 0, 0));
	if (!strcmp(what, "variable"))
		wait_for_flag();
	if (!strcmp(what, "counts"))
		count_until_flag();
	if (!strcmp(what, "system"))
		wait_in_the_system();
	if (!strcmp(what, "compute"))
		compute();
	if (!strcmp(what, "memory"))
		turn_memory_over();
	if (!strcmp(what, "kernel")) {
		OK(starpu_task_insert(&spin_cl, 0));
		OK(starpu_task_wait_for_all());
	}
	starpu_shutdown();
	return 0;
}
