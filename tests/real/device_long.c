/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A kernel whose end the device tells lasts longer than it takes to see that all ranks wait for
 * ever: nobody says so meanwhile. The worker's thread sleeps without a limit of time.
 *
 * The kernel sleeps in a thread of an OpenCL device.
 * orr-test: env STARPU_NCPU=0 STARPU_OPENCL_ON_CPUS=1 ORRERY_OPENCL_PARTS=1 ORRERY_STALL_TIMEOUT=100000 */
#include <starpu_mpi.h>
#include <unistd.h>

#include "lib/test.h"

static int nended;

#ifdef STARPU_USE_OPENCL
#include "lib/native_kernel.h"

static void CL_CALLBACK sleeping(void *arg)
{
	(void) arg;
	usleep(1500000);
	__atomic_add_fetch(&nended, 1, __ATOMIC_ACQ_REL);
}

static void on_opencl(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	native_kernel_start(sleeping);
}
#else
#define on_opencl NULL
#endif

static struct starpu_codelet cl = { .opencl_funcs = { on_opencl },
				    .opencl_flags = { STARPU_OPENCL_ASYNC },
				    .name = "long" };

static void on_own(int with_messages)
{
	if (with_messages)
		OK(starpu_mpi_init_conf(NULL, NULL, 1, MPI_COMM_WORLD, NULL));
	else
		OK(starpu_init(NULL));
	if (!starpu_opencl_worker_get_count())
		exit(77);
	OK(starpu_task_insert(&cl, 0));
	OK(starpu_task_wait_for_all());
	if (with_messages)
		OK(starpu_mpi_shutdown());
	else
		starpu_shutdown();
}

int main(void)
{
	/* Before, threads of the device's library are those that MPI has started. */
	on_own(1);
	CHECK_IS(nended, 1);
	on_own(0);
	CHECK_IS(nended, 2);
	puts("two long kernels ended");
	return 0;
}
