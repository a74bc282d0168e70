/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CUDA and OpenCL devices of one simulated machine, several workers on a device, and codelets that
 * ask to be executed although kernels are skipped. `gpu_kinds PART [ARGUMENT]`, driven by
 * gpu_kinds.sh; prints what it found. */
#include "../core/core_test.h"

#include <string.h>

static int executed[3];

static void count(void *buffers[], void *arg)
{
	(void) buffers;
	INCR(executed[(intptr_t) arg]);
}

static void touch(void *buffers[], void *arg)
{
	char *x = (char *) STARPU_VECTOR_GET_PTR(buffers[0]);

	CHECK(x[0] == 5 && x[1023] == 7);
	x[1] = 9;
	count(buffers, arg);
}

static double two_ms(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) arch;
	(void) i;
	return 2000;
}
static double a_second(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) arch;
	(void) i;
	return 1e6;
}

static struct starpu_perfmodel short_model = { .type = STARPU_PER_ARCH,
					       .arch_cost_function = two_ms };
static struct starpu_perfmodel long_model = { .type = STARPU_PER_ARCH,
					      .arch_cost_function = a_second };
static struct starpu_perfmodel known_model = { .type = STARPU_HISTORY_BASED,
					       .symbol = "kinds_known" };
static struct starpu_codelet both_cl = {
	.cuda_funcs = { count }, .opencl_funcs = { count }, .model = &short_model, .name = "both"
};
static struct starpu_codelet known_cl = { .cpu_funcs = { touch },
					  .nbuffers = 1,
					  .modes = { STARPU_RW },
					  .model = &known_model,
					  .name = "known" };
static struct starpu_codelet plain_cl = { .cpu_funcs = { count },
					  .model = &long_model,
					  .name = "plain" };
static struct starpu_codelet execute_cl = { .cpu_funcs = { count },
					    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
					    .model = &long_model,
					    .name = "execute" };
static struct starpu_codelet inject_cl = { .cpu_funcs = { count },
					   .flags = STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT,
					   .model = &long_model,
					   .name = "inject" };

static void submit(struct starpu_codelet *cl, int worker, intptr_t arg)
{
	struct starpu_task *t = starpu_task_create();

	t->cl = cl;
	t->cl_arg = (void *) arg;
	t->execute_on_a_specific_worker = worker >= 0;
	t->workerid = (unsigned) worker;
	CHECK_IS(starpu_task_submit(t), 0);
}

static void show(void)
{
	unsigned last = starpu_memory_nodes_get_count() - 1;
	char name[64];

	starpu_worker_get_name((int) starpu_worker_get_count() - 1, name, sizeof(name));
	printf("%u cpu %u cuda %u opencl, %u nodes, last is %s with %lld MiB\n",
	       starpu_cpu_worker_get_count(), starpu_cuda_worker_get_count(),
	       starpu_opencl_worker_get_count(), last + 1, name,
	       (long long) starpu_memory_get_total(last) >> 20);
}

/* Twelve tasks of 2 ms, dealt out to the workers of one device. */
static void share(enum starpu_worker_archtype type)
{
	int ids[STARPU_NMAXWORKERS], n = starpu_worker_get_stream_workerids(0, ids, type), i;
	double us = starpu_timing_now();

	CHECK(n > 0);
	for (i = 0; i < 12; i++)
		submit(&both_cl, ids[i % n], 0);
	starpu_task_wait_for_all();
	printf("%d workers took %.0f us\n", n, starpu_timing_now() - us);
	CHECK_IS(executed[0], 12);
}

/* A function for the CPU stands in on the device that the model knows. */
static void known(void)
{
	static char x[1024];
	starpu_data_handle_t h;
	double us = starpu_timing_now();

	x[0] = 5;
	x[1023] = 7;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) x, sizeof(x), 1);
	CHECK_IS(starpu_task_insert(&known_cl, STARPU_RW, h, STARPU_EXECUTE_WHERE,
				    (unsigned long long) STARPU_OPENCL, 0),
		 0);
	starpu_data_unregister(h);
	printf("took %.0f us\n", starpu_timing_now() - us);
	CHECK_IS(executed[0], 1);
	CHECK_IS(x[1], 9);
}

static void flags(int skipped)
{
	double us = starpu_timing_now();

	submit(&plain_cl, -1, 0);
	submit(&execute_cl, -1, 1);
	starpu_task_wait_for_all();
	CHECK(starpu_timing_now() - us >= 1e6);
	CHECK_IS(executed[0], !skipped);
	CHECK_IS(executed[1], 1);
	us = starpu_timing_now();
	submit(&inject_cl, -1, 2);
	starpu_task_wait_for_all();
	CHECK_IS(executed[2], 1);
	CHECK(starpu_timing_now() - us < 0.5e6); /* what it took, not what the model says */
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";

	CHECK_IS(starpu_init(NULL), 0);
	if (!strcmp(part, "show"))
		show();
	else if (!strcmp(part, "cuda"))
		share(STARPU_CUDA_WORKER);
	else if (!strcmp(part, "opencl"))
		share(STARPU_OPENCL_WORKER);
	else if (!strcmp(part, "known"))
		known();
	else
		flags(!strcmp(part, "skip"));
	starpu_shutdown();
	return 0;
}
