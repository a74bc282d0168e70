/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The places of threads and memory of devices: prints for each worker its unit and the processors
 * that its thread may run on, and the policy of memory that devices copy from and to. beside.sh
 * compares that with machines that it describes. OpenCL devices (PoCL's) say that they are on the
 * PCI bus.
 *
 * Invariant: each worker has executed a task, so each line is of a thread that computes. */
#include <sched.h>
#include <starpu.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/test.h"

#define N (1 << 20) /* bytes */

#ifdef STARPU_USE_OPENCL
#include <dlfcn.h>

#define BUS_ID_NV 0x4008 /* NVIDIA's driver tells where devices are by these */
#define SLOT_ID_NV 0x4009
#define DOMAIN_ID_NV 0x400a

/* The library calls this function in place of OpenCL's. */
cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void *value,
		       size_t *size_ret)
{
	union {
		void *p;
		__typeof__(&clGetDeviceInfo) f;
	} next = { dlsym(RTLD_NEXT, "clGetDeviceInfo") };

	if (name != BUS_ID_NV && name != SLOT_ID_NV && name != DOMAIN_ID_NV)
		return next.f(device, name, size, value, size_ret);
	CHECK_IS(size, sizeof(cl_uint));
	*(cl_uint *) value = name == BUS_ID_NV ? 3 : 0;
	return CL_SUCCESS;
}
#endif

static cpu_set_t processors[STARPU_NMAXWORKERS];
static int policy = -1;

static void look(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	CHECK(!sched_getaffinity(0, sizeof(cpu_set_t), &processors[starpu_worker_get_id()]));
}

static void fill(void *buffers[], void *arg)
{
	char *v = (char *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	v[0] = 1;
	syscall(SYS_get_mempolicy, &policy, NULL, 0UL, v, 2UL /* MPOL_F_ADDR */);
}

static struct starpu_codelet look_cl = { .cpu_funcs = { look },
					 .cuda_funcs = { look },
					 .opencl_funcs = { look } },
			     fill_cl = { .cpu_funcs = { fill },
					 .nbuffers = 1,
					 .modes = { STARPU_W } };

static void print_worker(unsigned w)
{
	char name[64];

	starpu_worker_get_name((int) w, name, sizeof(name));
	printf("%s: unit %d, processors", name, starpu_worker_get_bindid((int) w));
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &processors[w]))
			printf(" %d", i);
	printf("\n");
}

int main(void)
{
	starpu_data_handle_t h;

	OK(starpu_init(NULL));
	for (unsigned w = 0; w < starpu_worker_get_count(); w++)
		OK(starpu_task_insert(&look_cl, STARPU_EXECUTE_ON_WORKER, (int) w, 0));
	starpu_vector_data_register(&h, -1, 0, N, 1);
	OK(starpu_task_insert(&fill_cl, STARPU_W, h, 0));
	starpu_task_wait_for_all();
	starpu_data_unregister(h);
	for (unsigned w = 0; w < starpu_worker_get_count(); w++)
		print_worker(w);
	printf("policy %d\n", policy);
	starpu_shutdown();
	return 0;
}
