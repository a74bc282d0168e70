/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device works by itself: copies of the next task come while a kernel runs, kernels wait in the
 * device's queue as STARPU_CUDA_PIPELINE says and end in order, and the worker's thread sleeps
 * meanwhile. The device is a fake one that takes its time. How much of its time it computes is
 * measured by tests/bench/device_stream, and tested by virtual time in tests/data/device_overlap;
 * here, on a machine that others use, it is more than the half that there is without overlap.
 * orr-test: timeout 120
 * orr-test: env ORRERY_FAKE_DEVICES=1 STARPU_NCPU=0 ORRERY_FAKE_COPY_MBS=10 */
#include <starpu.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/test.h"

#define NTASKS 30
#define BYTES 30000 /* 3 ms at 10 MB/s */
#define TRIES 60
#define OVERLAPS 0.7

static unsigned started, ended, at_first_end, order[NTASKS];

static void kernel(void *buffers[], void *arg)
{
	unsigned *v = buffers ? (unsigned *) STARPU_VECTOR_GET_PTR(buffers[0]) : NULL;

	if (v)
		v[0] += (unsigned) (uintptr_t) arg;
	__atomic_add_fetch(&started, 1, __ATOMIC_ACQ_REL);
}

static void bare_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	kernel(NULL, arg);
}

static struct starpu_codelet with_data = { .cuda_funcs = { kernel },
					   .cuda_flags = { STARPU_CUDA_ASYNC },
					   .nbuffers = 1,
					   .modes = { STARPU_RW } };
static struct starpu_codelet bare = { .cuda_funcs = { bare_kernel },
				      .cuda_flags = { STARPU_CUDA_ASYNC } };
static struct starpu_codelet waiting = { .cuda_funcs = { bare_kernel } };

static void begin(const char *kernel_us, const char *pipeline)
{
	setenv("ORRERY_FAKE_KERNEL_US", kernel_us, 1);
	setenv("STARPU_CUDA_PIPELINE", pipeline, 1);
	OK(starpu_init(NULL));
	CHECK_IS(starpu_cuda_worker_get_count(), 1);
	started = ended = at_first_end = 0;
}

/* The share of its time in which the device computed, when each task's copy takes as long as its
 * kernel; the values must be right each time. */
static double rate(void)
{
	static unsigned *data[NTASKS];
	starpu_data_handle_t h[NTASKS];

	begin("3000", "2");
	for (unsigned i = 0; i < NTASKS; i++) {
		data[i] = calloc(1, BYTES);
		data[i][0] = i;
		starpu_vector_data_register(&h[i], STARPU_MAIN_RAM, (uintptr_t) data[i],
					    BYTES / sizeof(unsigned), sizeof(unsigned));
	}
	double start = starpu_timing_now();
	for (unsigned i = 0; i < NTASKS; i++)
		OK(starpu_task_insert(&with_data, STARPU_RW, h[i], STARPU_CL_ARGS_NFREE,
				      (void *) (uintptr_t) 100, sizeof(void *), 0));
	starpu_task_wait_for_all();
	double us = starpu_timing_now() - start;
	for (unsigned i = 0; i < NTASKS; i++) {
		starpu_data_unregister(h[i]);
		CHECK_IS(data[i][0], i + 100);
		free(data[i]);
	}
	starpu_shutdown();
	return NTASKS * 3000.0 / us;
}

static void test_overlap(void)
{
	double best = 0;

	for (unsigned t = 0; t < TRIES && best < OVERLAPS; t++) {
		double r = rate();

		CHECK(r < 1.01, "%u kernels took %.2f of their time", NTASKS, 1 / r);
		best = r > best ? r : best;
	}
	CHECK(best >= OVERLAPS, "the device computes %.0f %% of the time", best * 100);
	printf("the device computes %.1f %% of the time\n", best * 100);
}

static void over(void *arg)
{
	if (!ended)
		at_first_end = __atomic_load_n(&started, __ATOMIC_ACQUIRE);
	order[ended++] = (unsigned) (uintptr_t) arg;
}

/* The number of kernels that have been started when the first one ends. */
static unsigned depth(struct starpu_codelet *cl, const char *pipeline)
{
	begin("40000", pipeline);
	starpu_pause();
	for (uintptr_t i = 0; i < 6; i++)
		OK(starpu_task_insert(cl, STARPU_CALLBACK_WITH_ARG_NFREE, over, (void *) i, 0));
	starpu_resume();
	starpu_task_wait_for_all();
	starpu_shutdown();
	CHECK_IS(ended, 6);
	for (unsigned i = 0; i < 6; i++)
		CHECK_IS(order[i], i);
	return at_first_end;
}

static void test_depth(void)
{
	CHECK_IS(depth(&bare, "0"), 1);
	CHECK_IS(depth(&bare, "1"), 1);
	CHECK_IS(depth(&bare, "2"), 2);
	CHECK_IS(depth(&bare, "4"), 4);
	/* Kernels that wait themselves are not queued. */
	CHECK_IS(depth(&waiting, "4"), 1);
}

static double cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Nobody computes while kernels run. */
static void test_sleeps(void)
{
	begin("100000", "2");
	double cpu = cpu_us(), start = starpu_timing_now();
	for (uintptr_t i = 0; i < 5; i++)
		OK(starpu_task_insert(&bare, 0));
	starpu_task_wait_for_all();
	double us = starpu_timing_now() - start;
	cpu = cpu_us() - cpu;
	CHECK(us >= 5 * 100000, "5 kernels of 100 ms took %.0f us", us);
	CHECK(cpu < 0.02 * us, "%.0f us of processor time in %.0f us", cpu, us);
	starpu_shutdown();
}

int main(void)
{
	test_overlap();
	test_depth();
	test_sleeps();
	return 0;
}
