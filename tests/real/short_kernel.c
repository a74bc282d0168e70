/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Durations of short kernels that are calibrated where workers share their cores, so that the
 * processor time counts: what reading it takes is not in them. There is a worker for each core, so
 * the program's thread shares one.
 * orr-test: timeout 60
 * orr-test: env STARPU_CALIBRATE=1 STARPU_WORKERS_NOBIND=1 STARPU_HISTORY_MAX_ERROR=1000000 */
#include <starpu.h>
#include <time.h>
#include <unistd.h>

#include "lib/test.h"

enum { TASKS = 2000 };

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED, .symbol = "short_kernel" };
static struct starpu_codelet cl = {
	.cpu_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_R }, .model = &model
};

static double thread_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double) ts.tv_sec * 1e6 + (double) ts.tv_nsec * 1e-3;
}

/* The least time between two readings. */
static double reading_us(void)
{
	double least = 1e30;

	for (int i = 0; i < 1000; i++) {
		double us = -thread_us();

		us += thread_us();
		least = us < least ? us : least;
	}
	return least;
}

/* The mean of so many kernels. */
static double mean_us(starpu_data_handle_t h)
{
	struct starpu_task *task = starpu_task_create();
	double us;

	for (int i = 0; i < TASKS; i++)
		OK(starpu_task_insert(&cl, STARPU_R, h, 0));
	OK(starpu_task_wait_for_all());
	task->cl = &cl;
	task->handles[0] = h;
	us = starpu_task_expected_length(task, starpu_worker_get_perf_archtype(0, 0), 0);
	task->destroy = 0;
	starpu_task_destroy(task);
	return us;
}

int main(void)
{
	struct starpu_conf conf;
	starpu_data_handle_t h;
	int value = 0;
	double us;

	starpu_conf_init(&conf);
	conf.ncpus = (int) sysconf(_SC_NPROCESSORS_ONLN);
	OK(starpu_init(&conf));
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &value, sizeof(value));
	us = mean_us(h);
	CHECK(us > 0, "a kernel takes no time");
	printf("%.3f us, a reading takes %.3f us\n", us, reading_us());
	CHECK(us < 0.8 * reading_us(), "an empty kernel takes %.3f us, reading the clock %.3f us",
	      us, reading_us());
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
