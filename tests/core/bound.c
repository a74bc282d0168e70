/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lower bounds of recorded tasks against values computed by hand, and what is printed.
 *
 * Invariant: two CPU workers and two devices that need no hardware; times come from cost functions.
 */
#include "core_test.h"

#include <math.h>
#include <string.h>

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static double is_cpu(struct starpu_perfmodel_arch *arch)
{
	return arch->devices[0].type == STARPU_CPU_WORKER;
}

static double gemm(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) i;
	return is_cpu(arch) ? 10000 : 1000;
}
static double potrf(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) i;
	return is_cpu(arch) ? 4000 : 2000;
}
static double only(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned i)
{
	(void) t;
	(void) arch;
	(void) i;
	return 3000;
}

static struct starpu_perfmodel gemm_model = { .type = STARPU_PER_ARCH, .arch_cost_function = gemm };
static struct starpu_perfmodel potrf_model = { .type = STARPU_PER_ARCH,
					       .arch_cost_function = potrf };
static struct starpu_perfmodel only_model = { .type = STARPU_PER_ARCH, .arch_cost_function = only };
static struct starpu_codelet gemm_cl = {
	.cpu_funcs = { kernel }, .cuda_funcs = { kernel }, .model = &gemm_model, .name = "gemm"
};
static struct starpu_codelet potrf_cl = {
	.cpu_funcs = { kernel }, .cuda_funcs = { kernel }, .model = &potrf_model, .name = "potrf"
};
static struct starpu_codelet chain_cl = { .cpu_funcs = { kernel },
					  .model = &only_model,
					  .nbuffers = 1,
					  .modes = { STARPU_RW },
					  .name = "chain" };
static struct starpu_codelet read_cl = { .cpu_funcs = { kernel },
					 .model = &only_model,
					 .nbuffers = 1,
					 .modes = { STARPU_R },
					 .name = "reader" };

static void start(void)
{
	struct starpu_conf conf;

	test_devices(2);
	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.ncpus = 2;
	CHECK_IS(starpu_init(&conf), 0);
}

static void near_to(double got, double want)
{
	CHECK_NEAR(got, want, 1e-6);
}

static void insert(struct starpu_codelet *cl, int n)
{
	while (n-- > 0)
		CHECK_IS(starpu_task_insert(cl, 0), 0);
}

/* Whether what print writes contains text. */
static int prints(void (*print)(FILE *), const char *text)
{
	static char buffer[1 << 16];
	FILE *f = tmpfile();
	size_t n;

	CHECK(f != NULL);
	print(f);
	rewind(f);
	n = fread(buffer, 1, sizeof(buffer) - 1, f);
	buffer[n] = 0;
	fclose(f);
	return strstr(buffer, text) != NULL;
}

static void print_plain(FILE *f)
{
	starpu_bound_print(f, 1);
}

static void area(void)
{
	double ms, whole;

	starpu_bound_start(0, 0);
	insert(&gemm_cl, 40);
	insert(&potrf_cl, 10);
	starpu_bound_stop();
	insert(&gemm_cl, 1000); /* not recorded */
	starpu_task_wait_for_all();
	starpu_bound_compute(&ms, &whole, 1);
	/* CPUs do all potrf (40 ms) and x gemm of 10 ms: 40 + 10 x = 2 T, devices 40 - x = 2 T: x =
	 * 0 leaves the CPUs at 20 ms. */
	near_to(ms, 20);
	near_to(whole, 20);
	starpu_bound_compute(&ms, &whole, 0);
	CHECK(whole == 0);
	starpu_bound_start(0, 0);
	insert(&gemm_cl, 44);
	starpu_task_wait_for_all();
	starpu_bound_stop();
	/* 2 T / 10 + 2 T / 1 = 44; whole tasks: 20 ms on the CPUs (4) and on the devices (40). */
	starpu_bound_compute(&ms, &whole, 1);
	near_to(ms, 20);
	near_to(whole, 20);
	starpu_bound_start(0, 0);
	insert(&gemm_cl, 3);
	starpu_bound_stop();
	starpu_task_wait_for_all();
	starpu_bound_compute(&ms, &whole, 1);
	near_to(ms, 3 / 2.2);
	near_to(whole, 2);
	CHECK(prints(starpu_bound_print_lp, "min: tmax;"));
	CHECK(prints(starpu_bound_print_lp, "= 3;"));
	CHECK(prints(starpu_bound_print_mps, "ENDATA"));
	CHECK(prints(print_plain, "gemm"));
}

static void path(void)
{
	starpu_data_handle_t h;
	double ms, whole;
	int x = 0;
	struct starpu_task *a, *b;

	h = core_register(&x);
	starpu_bound_start(1, 1);
	for (int i = 0; i < 5; i++)
		CHECK_IS(starpu_task_insert(&chain_cl, STARPU_RW, h, 0), 0);
	for (int i = 0; i < 2; i++)
		CHECK_IS(starpu_task_insert(&read_cl, STARPU_R, h, 0), 0);
	CHECK_IS(starpu_task_insert(&chain_cl, STARPU_RW, h, STARPU_PRIORITY, 3, 0), 0);
	starpu_bound_stop();
	starpu_bound_compute(&ms, &whole, 1);
	near_to(ms, 7 * 3);
	near_to(whole, 7 * 3);
	CHECK(prints(starpu_bound_print_dot, "t4 -> t5"));
	CHECK(prints(starpu_bound_print_dot, "t6 -> t7"));
	CHECK(!prints(starpu_bound_print_dot, "t4 -> t7"));
	CHECK(prints(starpu_bound_print_lp, "tmax >= 21000"));
	starpu_data_unregister(h);

	/* Declared dependencies, in any order of submission. */
	starpu_bound_start(1, 0);
	a = starpu_task_create();
	b = starpu_task_create();
	a->cl = b->cl = &gemm_cl;
	starpu_task_declare_deps(b, 1, a);
	CHECK_IS(starpu_task_submit(b), 0);
	CHECK_IS(starpu_task_submit(a), 0);
	starpu_task_wait_for_all();
	starpu_bound_stop();
	starpu_bound_compute(&ms, &whole, 0);
	near_to(ms, 2);
	/* Without dependencies nothing but the area remains. */
	h = core_register(&x);
	starpu_bound_start(0, 0);
	for (int i = 0; i < 4; i++)
		CHECK_IS(starpu_task_insert(&chain_cl, STARPU_RW, h, 0), 0);
	starpu_bound_stop();
	starpu_data_unregister(h);
	starpu_bound_compute(&ms, &whole, 0);
	near_to(ms, 6);
}

int main(void)
{
	double ms = 1, whole = 1;

	start();
	starpu_bound_compute(&ms, &whole, 1); /* nothing recorded: a message */
	CHECK(ms == 0 && whole == 0);
	area();
	path();
	starpu_shutdown();
	return 0;
}
