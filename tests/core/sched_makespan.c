/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: world sim */
/* orr-test: sim-args --kernels skip --cpus 9 */
/* A Cholesky factorization of 12 x 12 tiles on 9 CPU workers and 3 devices, simulated: policies that use models beat those that do not, and
 * all stay above the lower bounds.
 *
 * Invariant: kernels take what the cost functions say, so that times are the same wherever this runs. */
#include "core_test.h"

#include <string.h>

#define NT 12
#define BYTES (512 * 512 * 4)

enum { POTRF, TRSM, SYRK, GEMM };
static const double cpu_us[] = { 6000, 12000, 12000, 24000 }, device_us[] = { 5000, 2400, 1200, 1000 };

static void nothing(void *buffers[], void *arg) { (void) buffers; (void) arg; }

static double us(struct starpu_perfmodel_arch *arch, int kind)
{
	return (arch->devices[0].type == STARPU_CPU_WORKER ? cpu_us : device_us)[kind];
}

static double potrf_us(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i) { (void) t; (void) i; return us(arch, POTRF); }
static double trsm_us(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i) { (void) t; (void) i; return us(arch, TRSM); }
static double syrk_us(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i) { (void) t; (void) i; return us(arch, SYRK); }
static double gemm_us(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i) { (void) t; (void) i; return us(arch, GEMM); }

static struct starpu_perfmodel model[] = {
	{ .type = STARPU_PER_ARCH, .arch_cost_function = potrf_us },
	{ .type = STARPU_PER_ARCH, .arch_cost_function = trsm_us },
	{ .type = STARPU_PER_ARCH, .arch_cost_function = syrk_us },
	{ .type = STARPU_PER_ARCH, .arch_cost_function = gemm_us },
};

#define KERNEL(NAME, KIND, N, ...) \
	static struct starpu_codelet NAME = { .cpu_funcs = { nothing }, .cuda_funcs = { nothing }, .nbuffers = N, .modes = { __VA_ARGS__ }, \
					      .model = &model[KIND], .name = #NAME }
KERNEL(potrf, POTRF, 1, STARPU_RW);
KERNEL(trsm, TRSM, 2, STARPU_R, STARPU_RW);
KERNEL(syrk, SYRK, 2, STARPU_R, STARPU_RW);
KERNEL(gemm, GEMM, 3, STARPU_R, STARPU_R, STARPU_RW);

static void factor(starpu_data_handle_t a[NT][NT])
{
	int i, j, k;

	for (k = 0; k < NT; k++) {
		CHECK_IS(starpu_task_insert(&potrf, STARPU_RW, a[k][k], STARPU_PRIORITY, 3 * (NT - k), 0), 0);
		for (i = k + 1; i < NT; i++)
			CHECK_IS(starpu_task_insert(&trsm, STARPU_R, a[k][k], STARPU_RW, a[i][k], STARPU_PRIORITY, 3 * (NT - k) - (i - k), 0), 0);
		for (i = k + 1; i < NT; i++) {
			CHECK_IS(starpu_task_insert(&syrk, STARPU_R, a[i][k], STARPU_RW, a[i][i], STARPU_PRIORITY, 3 * (NT - k) - 2 * (i - k), 0), 0);
			for (j = k + 1; j < i; j++)
				CHECK_IS(starpu_task_insert(&gemm, STARPU_R, a[i][k], STARPU_R, a[j][k], STARPU_RW, a[i][j], STARPU_PRIORITY,
							    3 * (NT - k) - (i - k) - (j - k), 0), 0);
		}
	}
}

/* Virtual milliseconds of a factorization; *bound gets the lower bound. */
static double makespan(const char *policy, double *bound)
{
	starpu_data_handle_t a[NT][NT];
	struct starpu_conf conf;
	double start, end;
	int i, j;

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.sched_policy_name = policy;
	CHECK_IS(starpu_init(&conf), 0);
	CHECK_IS(starpu_cuda_worker_get_count(), 3);
	for (i = 0; i < NT; i++)
		for (j = 0; j <= i; j++)
			starpu_vector_data_register(&a[i][j], -1, 0, BYTES, 1);
	for (i = 0; i < NT; i++)
		for (j = 0; j <= i; j++) {
			CHECK_IS(starpu_data_acquire(a[i][j], STARPU_W), 0);
			starpu_data_release(a[i][j]);
		}
	starpu_bound_start(1, 0);
	start = starpu_timing_now();
	factor(a);
	starpu_task_wait_for_all();
	end = starpu_timing_now();
	starpu_bound_stop();
	starpu_bound_compute(bound, NULL, 0);
	for (i = 0; i < NT; i++)
		for (j = 0; j <= i; j++)
			starpu_data_unregister(a[i][j]);
	starpu_shutdown();
	printf("%s: %.3f ms, lower bound %.3f ms\n", policy, (end - start) * 1e-3, *bound);
	CHECK((end - start) * 1e-3 >= *bound);
	return (end - start) * 1e-3;
}

int main(void)
{
	double bound, eager, dmdas, ms;

	setenv("ORRERY_FAKE_DEVICES", "3", 1);
	eager = makespan("eager", &bound);
	dmdas = makespan("dmdas", &bound);
	CHECK(dmdas < eager / 2);
	CHECK(dmdas < 1.5 * bound);
	ms = makespan("dmda", &bound);
	CHECK(ms < 0.6 * eager);	/* of equals, devices fetch ahead with eager too */
	ms = makespan("heteroprio", &bound);
	CHECK(ms < 0.7 * eager);
	ms = makespan("heft", &bound) - dmdas;	/* times since the start of the world are rounded */
	CHECK(ms < 1e-3 && ms > -1e-3);
	makespan("dm", &bound);
	makespan("lws", &bound);
	makespan("graph_test", &bound);
	return 0;
}
