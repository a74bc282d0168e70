/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env STARPU_NCPU=1 */
/* Measuring energy with the processors' counters: counters that this test writes (one that starts
 * anew meanwhile), a model that is fed with what they tell, and each mistake. */
#include "../core/core_test.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[256];

static void put(int package, const char *name, const char *text)
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%s/intel-rapl:%d", place, package);
	mkdir(path, 0700);
	strcat(strcat(path, "/"), name);
	f = fopen(path, "w");
	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED,
					 .symbol = "test_energy_model" };
static struct starpu_codelet cl = { .cpu_funcs = { nothing },
				    .nbuffers = 1,
				    .modes = { STARPU_RW },
				    .energy_model = &model,
				    .name = "nothing" };

int main(void)
{
	int x = 0;
	starpu_data_handle_t h;
	struct starpu_task *task;

	snprintf(place, sizeof(place), "%s/powercap-%d",
		 getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp", getpid());
	CHECK_IS(mkdir(place, 0700), 0);
	setenv("ORRERY_POWERCAP", place, 1);
	CHECK_IS(starpu_init(NULL), 0);
	h = core_register(&x);
	task = starpu_task_create();
	task->cl = &cl;
	task->handles[0] = h;
	task->destroy = task->detach = 0;

	CHECK_IS(starpu_energy_start(-1, STARPU_CPU_WORKER), -ENODEV); /* no counter */
	CHECK_IS(starpu_energy_start(-1, STARPU_CUDA_WORKER), -ENODEV);
	CHECK_IS(starpu_energy_stop(&model, task, 0, 1, -1, STARPU_CPU_WORKER), -EINVAL);
	put(0, "energy_uj", "1000000\n");
	put(0, "max_energy_range_uj", "262143328850\n");
	put(1, "energy_uj", "99999000\n");
	put(1, "max_energy_range_uj", "100000000\n");
	CHECK_IS(starpu_energy_start(0, STARPU_CPU_WORKER), -EINVAL);
	CHECK_IS(starpu_energy_start(7, STARPU_CPU_WORKER), -EINVAL);
	for (int i = 0; i < 12; i++) {
		double joules;

		put(0, "energy_uj", "1000000\n");
		put(1, "energy_uj", "99999000\n");
		CHECK_IS(starpu_energy_start(-1, STARPU_CPU_WORKER), 0);
		CHECK_IS(starpu_energy_start(-1, STARPU_CPU_WORKER), -EBUSY);
		CHECK_IS(starpu_task_submit(task), 0);
		CHECK_IS(starpu_task_wait(task), 0);
		put(0, "energy_uj", "4000000\n"); /* 3 J */
		put(1, "energy_uj", "2999000\n"); /* 3 J, past the end of the range */
		CHECK_IS(starpu_energy_stop(&model, task, 0, 4, -1, STARPU_CPU_WORKER), 0);
		joules = starpu_task_worker_expected_energy(task, 0, 0, 0);
		CHECK(i < 10 || fabs(joules - 1.5) < 1e-9);
	}
	CHECK(starpu_energy_used() >= 0);
	starpu_task_destroy(task);
	starpu_data_unregister(h);
	starpu_shutdown();
	return 0;
}
