/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices cuda */
/* orr-test: env ORRERY_FAKE_DEVICES=2 */
/* Policies that use models, on CPU workers and two devices that need no hardware: work goes where
 * the models say that it ends first, data that lie on a device draw tasks there, and restrictions
 * hold.
 *
 * Invariant: expectations follow from the cost functions below, so that they hold whatever the
 * kernels really take. */
#include "core_test.h"

#include <math.h>
#include <string.h>

#define N 60

static int on_cpu, on_device, order[N], norder;

static void count(void)
{
	if (starpu_worker_get_type(starpu_worker_get_id()) == STARPU_CPU_WORKER)
		INCR(on_cpu);
	else
		INCR(on_device);
}

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	count();
}

static void note_kernel(void *buffers[], void *arg)
{
	(void) buffers;
	order[INCR(norder) - 1] = (int) (intptr_t) arg;
}

static double device_faster(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			    unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 1e6 : 1e3;
}

static double cpu_faster(struct starpu_task *task, struct starpu_perfmodel_arch *arch,
			 unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 1e3 : 1e6;
}

static double same(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) task;
	(void) arch;
	(void) nimpl;
	return 1e3;
}

/* The second implementation is the better one. */
static double by_impl(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) task;
	(void) arch;
	return nimpl == 1 ? 10 : 1e4;
}

static struct starpu_perfmodel device_model = { .type = STARPU_PER_ARCH,
						.arch_cost_function = device_faster };
static struct starpu_perfmodel cpu_model = { .type = STARPU_PER_ARCH,
					     .arch_cost_function = cpu_faster };
static struct starpu_perfmodel same_model = { .type = STARPU_PER_ARCH, .arch_cost_function = same };
static struct starpu_perfmodel impl_model = { .type = STARPU_PER_ARCH,
					      .arch_cost_function = by_impl };
static struct starpu_codelet device_cl = { .cpu_funcs = { kernel },
					   .cuda_funcs = { kernel },
					   .model = &device_model,
					   .name = "for_device" };
static struct starpu_codelet cpu_cl = {
	.cpu_funcs = { kernel }, .cuda_funcs = { kernel }, .model = &cpu_model, .name = "for_cpu"
};
static struct starpu_codelet any_cl = { .cpu_funcs = { kernel },
					.cuda_funcs = { kernel },
					.name = "without_model" };
static struct starpu_codelet data_cl = { .cpu_funcs = { kernel },
					 .cuda_funcs = { kernel },
					 .model = &same_model,
					 .nbuffers = 1,
					 .modes = { STARPU_R },
					 .name = "reader" };
static struct starpu_codelet write_cl = {
	.cuda_funcs = { kernel }, .nbuffers = 1, .modes = { STARPU_W }, .name = "writer"
};

static void start(const char *policy)
{
	struct starpu_conf conf;

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.ncpus = 2;
	conf.sched_policy_name = policy;
	CHECK_IS(starpu_init(&conf), 0);
	CHECK_IS(starpu_worker_get_count(), 4);
	on_cpu = on_device = norder = 0;
}

static void insert(struct starpu_codelet *cl, int n)
{
	on_cpu = on_device = 0;
	for (int i = 0; i < n; i++)
		CHECK_IS(starpu_task_insert(cl, 0), 0);
	starpu_task_wait_for_all();
	CHECK_IS(on_cpu + on_device, n);
}

static void placement(const char *policy)
{
	double cpu, device;
	struct starpu_task *task;

	start(policy);
	insert(&device_cl, N);
	CHECK(on_device == N);
	insert(&cpu_cl, N);
	CHECK(on_cpu == N);
	insert(&any_cl, N);
	/* What a policy may ask. */
	task = starpu_task_create();
	task->cl = &device_cl;
	cpu = starpu_task_worker_expected_length(task, 0, 0, 0);
	device = starpu_task_worker_expected_length(task, 3, 0, 0);
	CHECK(cpu == 1e6 && device == 1e3);
	CHECK(starpu_task_expected_length_average(task, 0) == (2 * cpu + 2 * device) / 4);
	starpu_task_destroy(task);
	starpu_shutdown();
}

/* Both kinds are as fast: readers go where the datum is, once transfers count. */
static void locality(const char *policy)
{
	static char buffer[1 << 22];
	starpu_data_handle_t h;
	struct starpu_task *task;

	start(policy);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) buffer, sizeof(buffer), 1);
	CHECK_IS(starpu_task_insert(&write_cl, STARPU_EXECUTE_ON_WORKER, 3, STARPU_W, h, 0), 0);
	starpu_task_wait_for_all();
	task = starpu_task_create();
	task->cl = &data_cl;
	task->handles[0] = h;
	CHECK(starpu_task_expected_data_transfer_time_for(task, 3) == 0);
	CHECK(!(starpu_task_expected_data_transfer_time_for(task, 0) == 0));
	starpu_task_destroy(task);
	on_cpu = on_device = 0;
	for (int i = 0; i < 10; i++)
		CHECK_IS(starpu_task_insert(&data_cl, STARPU_R, h, STARPU_TASK_SYNCHRONOUS, 1, 0),
			 0);
	CHECK_IS(on_device, 10);
	starpu_data_unregister(h);
	starpu_shutdown();
}

static int not_zero(unsigned workerid, struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return workerid != 0;
}

static void on_one(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	CHECK_IS(starpu_worker_get_id(), 1);
	count();
}

/* where, can_execute, masks of workers, one worker. */
static void restrictions(const char *policy)
{
	static struct starpu_codelet picky = { .cpu_funcs = { on_one },
					       .can_execute = not_zero,
					       .model = &cpu_model };
	static struct starpu_codelet masked = { .cpu_funcs = { on_one }, .model = &cpu_model };
	static uint32_t mask[1] = { 1u << 1 };

	start(policy);
	insert(&picky, N);
	for (int i = 0; i < N; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &masked;
		task->workerids = mask;
		task->workerids_len = 1;
		CHECK_IS(starpu_task_submit(task), 0);
		CHECK_IS(starpu_task_insert(&masked, STARPU_EXECUTE_ON_WORKER, 1, 0), 0);
		CHECK_IS(starpu_task_insert(&device_cl, STARPU_EXECUTE_WHERE,
					    (unsigned long long) STARPU_CPU, 0),
			 0);
	}
	starpu_task_wait_for_all();
	CHECK_IS(on_cpu, 4 * N);
	CHECK_IS(on_device, 0);
	starpu_shutdown();
}

/* While the one worker is paused tasks pile up; then the most urgent go first. */
static void urgency(const char *policy)
{
	static struct starpu_codelet note = { .cpu_funcs = { note_kernel }, .model = &same_model };
	struct starpu_conf conf;

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.ncpus = 1;
	conf.sched_policy_name = policy;
	CHECK_IS(starpu_init(&conf), 0);
	norder = 0;
	starpu_pause();
	for (int i = 0; i < N; i++)
		CHECK_IS(starpu_task_insert(&note, STARPU_CL_ARGS_NFREE,
					    (void *) (intptr_t) (i % 7), (size_t) 0,
					    STARPU_PRIORITY, i % 7, STARPU_EXECUTE_WHERE,
					    (unsigned long long) STARPU_CPU, 0),
			 0);
	starpu_resume();
	starpu_task_wait_for_all();
	CHECK_IS(norder, N);
	for (int i = 1; i < N; i++)
		CHECK(order[i] <= order[i - 1]);
	starpu_shutdown();
}

static void slow_impl(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	CHECK(!"the slower implementation was chosen");
}

static void implementation(void)
{
	static struct starpu_codelet two = { .cpu_funcs = { slow_impl, kernel },
					     .model = &impl_model };

	start("dm");
	insert(&two, 20);
	starpu_shutdown();
}

/* A joule costs gamma microseconds: the device is faster, and not worth its energy. */
static double watts(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 0 : 1e6;
}

static void energy(void)
{
	static struct starpu_perfmodel joules = { .type = STARPU_PER_ARCH,
						  .arch_cost_function = watts };
	static struct starpu_codelet cl = { .cpu_funcs = { kernel },
					    .cuda_funcs = { kernel },
					    .model = &device_model,
					    .energy_model = &joules };

	start("dmda");
	insert(&cl, N);
	CHECK_IS(on_cpu, N);
	starpu_shutdown();
	setenv("STARPU_SCHED_GAMMA", "0", 1);
	start("dmda");
	insert(&cl, N);
	CHECK_IS(on_device, N);
	starpu_shutdown();
	unsetenv("STARPU_SCHED_GAMMA");
}

/* Chance is the same for all that can execute a task, however fast those are that cannot. */
static void chance(void)
{
	static struct starpu_codelet cpu_only = { .cpu_funcs = { kernel }, .name = "cpu_only" };
	static struct starpu_codelet device_only = { .cuda_funcs = { kernel },
						     .name = "device_only" };
	struct starpu_profiling_worker_info info[4];

	start("random");
	starpu_profiling_status_set(1);
	insert(&cpu_only, 400);
	insert(&device_only, 400);
	for (int i = 0; i < 4; i++) {
		CHECK_IS(starpu_profiling_worker_get_info(i, &info[i]), 0);
		CHECK(info[i].executed_tasks > 150 && info[i].executed_tasks < 250);
	}
	starpu_profiling_status_set(0);
	starpu_shutdown();
}

int main(void)
{
	static const char *const family[] = { "dm",    "dmda",   "dmdap", "dmdar",
					      "dmdas", "dmdasd", "heft",  "pheft" };
	static const char *const urgent[] = { "dmdap", "dmdas",      "dmdasd",
					      "heft",  "heteroprio", "prio" };

	test_devices(2);
	for (unsigned i = 0; i < sizeof(family) / sizeof(family[0]); i++) {
		placement(family[i]);
		restrictions(family[i]);
		if (i > 0)
			locality(family[i]);
	}
	placement("heteroprio");
	restrictions("heteroprio");
	restrictions("ws");
	restrictions("random");
	chance();
	for (unsigned i = 0; i < sizeof(urgent) / sizeof(urgent[0]); i++)
		urgency(urgent[i]);
	implementation();
	energy();
	return 0;
}
