/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The times that a policy expected of kernels, in the trace: what its model says, in the start of
 * each task, with the model's name; nothing where the policy asks no model, or there is none.
 *
 * Invariant: the file has what the policy used, not what the kernels took. */
#include "core_test.h"
#include "lib/tracefile.h"

#include <string.h>

static int ran;
static double says_us;

static double says(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned n)
{
	(void) task;
	(void) arch;
	(void) n;
	return says_us;
}

static struct starpu_perfmodel model = { .type = STARPU_PER_ARCH,
					 .arch_cost_function = says,
					 .symbol = "trace_expected" };
static struct starpu_codelet modelled = { .cpu_funcs = { core_count_kernel },
					  .model = &model,
					  .name = "modelled" };
static struct starpu_codelet other = { .cpu_funcs = { core_count_kernel }, .name = "other" };

static void insert(struct starpu_codelet *cl)
{
	CHECK_IS(starpu_task_insert(cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
				    STARPU_TASK_SYNCHRONOUS, 1, 0),
		 0);
}

/* A run of four tasks under that policy: what is in the starts of the three with a model, in
 * order. */
static void record(const char *path, const char *policy, float *expected)
{
	struct tracefile t;
	int n = 0;

	remove(path);
	setenv("ORRERY_TRACE", path, 1);
	core_start(1, policy);
	for (int i = 0; i < 3; i++) {
		says_us = 100.25 * (i + 1);
		insert(&modelled);
	}
	insert(&other);
	starpu_shutdown();
	t = tracefile_read(path);
	for (size_t i = 0; i < t.n; i++) {
		uint32_t name = (uint32_t) t.events[i].d, bits = (uint32_t) (t.events[i].d >> 32);

		if (t.events[i].kind != ORR_TRACE_START)
			continue;
		CHECK(t.events[i].a < 64 && name < 64);
		if (strcmp(t.strings[t.events[i].a], "modelled") != 0) {
			CHECK(!name && !bits);
			continue;
		}
		CHECK(!strcmp(t.strings[name], "trace_expected"));
		CHECK(n < 3);
		memcpy(&expected[n++], &bits, sizeof(bits));
	}
	CHECK_IS(n, 3);
	free(t.events);
}

int main(void)
{
	char path[512];
	const char *dir = getenv("ORR_TEST_TMP");
	float us[3];

	snprintf(path, sizeof(path), "%s/orrery-trace-expected", dir ? dir : "/tmp");
	record(path, "dmda", us);
	for (int i = 0; i < 3; i++)
		CHECK(us[i] == 100.25F * (float) (i + 1));
	record(path, "eager", us);
	for (int i = 0; i < 3; i++)
		CHECK(us[i] == 0);
	remove(path);
	return 0;
}
