/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env ORRERY_FAKE_DEVICES=2 */
/* Bundles: who may be inserted, what is expected of them together, and that dmda keeps the tasks of
 * one on one memory.
 *
 * Invariant: expectations follow from the cost function below, so that they hold whatever the
 * kernels really take. */
#include "core_test.h"

#include <errno.h>
#include <math.h>

#define N 24

static int on_node[STARPU_MAXNODES];

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	INCR(on_node[starpu_worker_get_local_memory_node()]);
}

static double length(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return arch->devices[0].type == STARPU_CPU_WORKER ? 1e6 : 1e3;
}

static struct starpu_perfmodel model = { .type = STARPU_PER_ARCH, .arch_cost_function = length };
static struct starpu_codelet cl = { .cpu_funcs = { kernel },
				    .cuda_funcs = { kernel },
				    .model = &model,
				    .nbuffers = 1,
				    .modes = { STARPU_R } };

static struct starpu_task *make(starpu_data_handle_t h)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &cl;
	task->handles[0] = h;
	return task;
}

/* Mistakes, and the life of a bundle. */
static void rules(starpu_data_handle_t h)
{
	starpu_task_bundle_t a, b;
	struct starpu_task *t = make(h), *u = make(h), *copy;

	starpu_task_bundle_create(&a);
	starpu_task_bundle_create(&b);
	CHECK_IS(starpu_task_bundle_insert(a, t), 0);
	CHECK(t->bundle == a);
	CHECK_IS(starpu_task_bundle_insert(b, t), -EINVAL);
	CHECK_IS(starpu_task_bundle_remove(b, t), -ENOENT);
	CHECK_IS(starpu_task_bundle_remove(a, t), 0);
	CHECK(t->bundle == NULL);
	CHECK_IS(starpu_task_bundle_remove(a, t), -ENOENT);
	CHECK_IS(starpu_task_bundle_insert(b, t), 0);
	copy = starpu_task_dup(t);
	CHECK(copy->bundle == NULL);
	starpu_task_destroy(copy);
	starpu_task_bundle_close(b);
	CHECK_IS(starpu_task_bundle_insert(b, u), -EINVAL);
	t->detach = 0;
	t->destroy = 0;
	CHECK_IS(starpu_task_submit(t), 0);
	CHECK_IS(starpu_task_wait(t), 0);
	CHECK(t->bundle == NULL); /* it left with its completion, and b went with it */
	starpu_task_destroy(t);
	/* A task that is destroyed leaves too. */
	CHECK_IS(starpu_task_bundle_insert(a, u), 0);
	starpu_task_destroy(u);
	starpu_task_bundle_close(a);
}

static void expectations(starpu_data_handle_t h, starpu_data_handle_t g)
{
	struct starpu_perfmodel_arch *cpu = starpu_worker_get_perf_archtype(0, 0);
	struct starpu_task *t = make(h), *u = make(h), *v = make(g);
	starpu_task_bundle_t b;

	starpu_task_bundle_create(&b);
	CHECK_IS(starpu_task_bundle_insert(b, t), 0);
	CHECK_IS(starpu_task_bundle_insert(b, u), 0);
	CHECK_IS(starpu_task_bundle_insert(b, v), 0);
	CHECK(starpu_task_bundle_expected_length(b, cpu, 0) == 3e6);
	CHECK(isnan(
		starpu_task_bundle_expected_energy(b, cpu, 0))); /* there is no model of energy */
	CHECK(starpu_task_bundle_expected_data_transfer_time(b, STARPU_MAIN_RAM) == 0);
	starpu_task_bundle_close(b);
	starpu_task_destroy(t);
	starpu_task_destroy(u);
	starpu_task_destroy(v);
}

/* Without a bundle the two devices share the work. */
static void together(starpu_data_handle_t *h, int bundled)
{
	starpu_task_bundle_t b;
	unsigned used = 0;

	for (unsigned i = 0; i < STARPU_MAXNODES; i++)
		on_node[i] = 0;
	starpu_task_bundle_create(&b);
	starpu_pause();
	for (unsigned i = 0; i < N; i++) {
		struct starpu_task *t = make(h[i % 2]);

		if (bundled)
			CHECK_IS(starpu_task_bundle_insert(b, t), 0);
		CHECK_IS(starpu_task_submit(t), 0);
	}
	starpu_task_bundle_close(b);
	starpu_resume();
	starpu_task_wait_for_all();
	for (unsigned i = 0; i < STARPU_MAXNODES; i++)
		used += on_node[i] > 0;
	CHECK_IS(used, bundled ? 1 : 2);
	CHECK_IS(on_node[STARPU_MAIN_RAM], 0);
}

int main(void)
{
	static const char *const policies[] = { "dmda", "dmdas", "dm", "eager" };
	struct starpu_conf conf;
	starpu_data_handle_t h[2];
	int x[2] = { 0 };

	test_devices(2);
	for (unsigned i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		CHECK_IS(starpu_conf_init(&conf), 0);
		conf.ncpus = 2;
		conf.sched_policy_name = policies[i];
		CHECK_IS(starpu_init(&conf), 0);
		h[0] = core_register(&x[0]);
		h[1] = core_register(&x[1]);
		rules(h[0]);
		expectations(h[0], h[1]);
		if (i < 3) {
			together(h, 0);
			together(h, 1);
		}
		starpu_data_unregister(h[0]);
		starpu_data_unregister(h[1]);
		starpu_shutdown();
	}
	return 0;
}
