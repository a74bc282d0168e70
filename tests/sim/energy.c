/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The energy that tasks use on the machine of energy.sh: a core that draws 10 W while it computes,
 * a GPU of 100 W, 20 W for the rest all the time. `energy account`: sums, of watts and of a model
 * of energy. `energy choose`: twelve tasks that a policy sends to the GPU, which is twice as fast
 * but uses five times the energy by their model, or to the core; `energy weigh`: the same without
 * such a model, the machine's watts come to the same. `energy together`: a task that is faster on
 * several cores, but needs more joules there. */
#include "../core/core_test.h"

#include <math.h>
#include <string.h>

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

/* Microseconds; joules */
static double time_us(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) i;
	return arch->devices[0].type == STARPU_CUDA_WORKER ? 10000 : 20000;
}

static double joules(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) i;
	return arch->devices[0].type == STARPU_CUDA_WORKER ? 1 : 0.2;
}

static struct starpu_perfmodel time_model = { .type = STARPU_PER_ARCH,
					      .arch_cost_function = time_us };
static struct starpu_perfmodel energy_model = { .type = STARPU_PER_ARCH,
						.arch_cost_function = joules };
static struct starpu_codelet by_watts = { .cpu_funcs = { nothing },
					  .cuda_funcs = { nothing },
					  .model = &time_model,
					  .name = "by_watts" };
static struct starpu_codelet by_model = { .cpu_funcs = { nothing },
					  .cuda_funcs = { nothing },
					  .model = &time_model,
					  .energy_model = &energy_model,
					  .name = "by_model" };

static int cpu, gpu;

static void about(double got, double want)
{
	CHECK_NEAR(got, want, 1e-3); /* joules */
}

static void run(struct starpu_codelet *cl, int worker, double want)
{
	struct starpu_task *t = starpu_task_create();

	t->cl = cl;
	t->execute_on_a_specific_worker = 1;
	t->workerid = (unsigned) worker;
	t->detach = 0;
	t->destroy = 0;
	CHECK_IS(starpu_task_submit(t), 0);
	CHECK_IS(starpu_task_wait(t), 0);
	CHECK(t->profiling_info);
	about(t->profiling_info->energy_consumed, want);
	starpu_task_destroy(t);
}

/* The numbers that programs and their policies are told. */
static void expect(struct starpu_codelet *cl)
{
	struct starpu_task *t = starpu_task_create();

	t->cl = cl;
	about(starpu_task_worker_expected_energy(t, (unsigned) cpu, 0, 0), 0.2);
	about(starpu_task_worker_expected_energy(t, (unsigned) gpu, 0, 0), 1);
	about(starpu_task_expected_energy(t, starpu_worker_get_perf_archtype(gpu, 0), 0), 1);
	about(starpu_task_expected_energy_average(t, 0), 0.6);
	t->destroy = 0;
	starpu_task_destroy(t);
}

static void account(void)
{
	struct starpu_profiling_worker_info info;
	double start, used;

	expect(&by_watts);
	expect(&by_model);
	starpu_profiling_status_set(1);
	start = starpu_timing_now();
	used = starpu_energy_used();
	CHECK_IS(starpu_energy_start(-1, STARPU_CUDA_WORKER), 0);
	run(&by_watts, cpu, 10 * 20e-3);
	run(&by_watts, gpu, 100 * 10e-3);
	run(&by_model, cpu, 0.2);
	run(&by_model, gpu, 1);
	CHECK_IS(starpu_energy_stop(NULL, NULL, 0, 2, -1, STARPU_CUDA_WORKER), 0);
	about(starpu_energy_used() - used,
	      0.2 + 1 + 0.2 + 1 + 20 * (starpu_timing_now() - start) * 1e-6);
	CHECK_IS(starpu_profiling_worker_get_info(gpu, &info), 0);
	about(info.energy_consumed, 2);
	CHECK_IS(starpu_profiling_worker_get_info(gpu, &info), 0);
	CHECK(info.energy_consumed == 0);
}

static void choose(struct starpu_codelet *cl, int n)
{
	struct starpu_task *t;

	for (int i = 0; i < n; i++) {
		t = starpu_task_create();
		t->cl = cl;
		CHECK_IS(starpu_task_submit(t), 0);
	}
	starpu_task_wait_for_all();
}

static double together_us(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) i;
	return 20000 * (0.2 + 0.8 / arch->devices[0].ncores);
}

static struct starpu_perfmodel together_model = { .type = STARPU_PER_ARCH,
						  .arch_cost_function = together_us };
static struct starpu_codelet together_cl = { .cpu_funcs = { nothing },
					     .type = STARPU_FORKJOIN,
					     .max_parallelism = 4,
					     .model = &together_model,
					     .name = "together" };

int main(int argc, char **argv)
{
	double before;

	CHECK_IS(starpu_init(NULL), 0);
	cpu = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
	gpu = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
	before = starpu_timing_now();
	if (argc > 1 && !strcmp(argv[1], "account"))
		account();
	else if (argc > 1 && !strcmp(argv[1], "weigh"))
		choose(&by_watts, 12);
	else if (argc > 1 && !strcmp(argv[1], "together"))
		choose(&together_cl, 1);
	else
		choose(&by_model, 12);
	printf("took %.0f us\n", starpu_timing_now() - before);
	starpu_shutdown();
	return 0;
}
