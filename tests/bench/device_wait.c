/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A worker that waits for its device: how much processor time the process uses meanwhile, and how
 * long after the end of a kernel its task has completed.
 *
 * The kernels compute nothing. Those of a fake device are over at a known time; those of an OpenCL
 * device sleep in a thread of the device (native kernels; for CUDA a function that the stream
 * calls) and note when they end. The latency is the time from there to the callback of the task,
 * the median of NTASKS. device_wait.sh runs it.
 *
 * Beside it stands what bare OpenCL or CUDA takes on this machine, with the two means that the
 * runtime has, because it does not know the events of a program's kernels: a marker behind them,
 * whose end calls a function, which wakes a thread.
 *
 * Invariant: tasks run one at a time, so nothing but the end of the kernel wakes the worker. Above
 * one of the aims the exit status is 1. */
#include <semaphore.h>
#include <starpu.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/spin_cuda.h"
#include "lib/test.h"

#define NTASKS 500
#define LONG_TASKS 20
#define AIM_US 20.0
#define AIM_SHARE 0.02

static double kernel_us, ended_us, noticed_us;

static void on_fake(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	ended_us = starpu_timing_now() + kernel_us;
}

static void asleep(void *arg)
{
	(void) arg;
	usleep((unsigned) kernel_us);
	ended_us = starpu_timing_now();
}

#ifdef STARPU_USE_CUDA
static void on_cuda(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	OK(spin_cuda_call(asleep, NULL, starpu_cuda_get_local_stream()));
}
#else
#define on_cuda NULL
#endif

static void over(void *arg)
{
	sem_post(arg);
}

/* Microseconds until a thread has noticed the end of a kernel, without the runtime. */
static void bare_cuda(double us[NTASKS])
{
	void *stream;
	sem_t end;

	OK(spin_cuda_streams(&stream));
	OK(sem_init(&end, 0, 0));
	for (unsigned i = 0; i < NTASKS; i++) {
		OK(spin_cuda_call(asleep, NULL, stream));
		OK(spin_cuda_call(over, &end, stream));
		OK(sem_wait(&end));
		us[i] = starpu_timing_now() - ended_us;
	}
	OK(sem_destroy(&end));
}

#ifdef STARPU_USE_OPENCL
#include "lib/native_kernel.h"

static void CL_CALLBACK sleeping(void *arg)
{
	asleep(arg);
}

static void on_opencl(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	native_kernel_start(sleeping);
}

static void CL_CALLBACK marked(cl_event event, cl_int status, void *arg)
{
	(void) event;
	(void) status;
	sem_post(arg);
}

/* The same for OpenCL. */
static void bare_opencl(double us[NTASKS])
{
	cl_command_queue queue;
	sem_t over;

	starpu_opencl_get_queue(0, &queue);
	OK(sem_init(&over, 0, 0));
	for (unsigned i = 0; i < NTASKS; i++) {
		cl_event marker;
		OK(clEnqueueNativeKernel(queue, sleeping, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
		OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker));
		OK(clSetEventCallback(marker, CL_COMPLETE, marked, &over));
		OK(clFlush(queue));
		OK(sem_wait(&over));
		us[i] = starpu_timing_now() - ended_us;
		OK(clReleaseEvent(marker));
	}
	OK(sem_destroy(&over));
}
#else
#define on_opencl NULL

/* There are no OpenCL workers then, so nobody calls it. */
static void bare_opencl(double us[NTASKS])
{
	(void) us;
}
#endif

static struct starpu_codelet cl = { .cuda_funcs = { on_fake },
				    .cuda_flags = { STARPU_CUDA_ASYNC },
				    .opencl_funcs = { on_opencl },
				    .opencl_flags = { STARPU_OPENCL_ASYNC },
				    .name = "waits" };

static void noticed(void *arg)
{
	(void) arg;
	noticed_us = starpu_timing_now();
}

static void one(void)
{
	OK(starpu_task_insert(&cl, STARPU_CALLBACK, noticed, 0));
	OK(starpu_task_wait_for_all());
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

static double cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double) (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
	       (double) (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Starts the runtime with fake kernels of that length. 0: there is a device. */
static int begin(const char *us)
{
	setenv("ORRERY_FAKE_KERNEL_US", us, 1);
	kernel_us = atof(us);
	int ret = starpu_init(NULL);
	if (ret == -ENODEV)
		return -1;
	OK(ret);
	if (spin_has_cuda())
		cl.cuda_funcs[0] = on_cuda;
	if (starpu_cuda_worker_get_count() + starpu_opencl_worker_get_count())
		return 0;
	starpu_shutdown();
	return -1;
}

int main(void)
{
	static double us[NTASKS], bare_us[NTASKS];

	if (begin("50000"))
		return 77;
	one();
	double cpu = cpu_us(), start = starpu_timing_now();
	for (unsigned i = 0; i < LONG_TASKS; i++)
		one();
	double share = (cpu_us() - cpu) / (starpu_timing_now() - start);
	starpu_shutdown();

	OK(begin("500"));
	for (unsigned i = 0; i < NTASKS; i++) {
		one();
		us[i] = noticed_us - ended_us;
	}
	if (starpu_opencl_worker_get_count())
		bare_opencl(bare_us);
	else if (spin_has_cuda())
		bare_cuda(bare_us);
	starpu_shutdown();
	qsort(us, NTASKS, sizeof(*us), ascending);
	qsort(bare_us, NTASKS, sizeof(*bare_us), ascending);
	printf("%.2f %% of a core while it waits (aim: %.0f %%); ends are noticed after %.1f us in the median, 10 %% before %.1f us, 10 %% after %.1f us (aim: %.0f us)\n",
	       share * 100, AIM_SHARE * 100, us[NTASKS / 2], us[NTASKS / 10],
	       us[NTASKS - NTASKS / 10], AIM_US);
	if (bare_us[NTASKS / 2] > 0)
		printf("without the runtime: %.1f us in the median, 10 %% before %.1f us, 10 %% after %.1f us\n",
		       bare_us[NTASKS / 2], bare_us[NTASKS / 10], bare_us[NTASKS - NTASKS / 10]);
	return share > AIM_SHARE || us[NTASKS / 2] > AIM_US;
}
