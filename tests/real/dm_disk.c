/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policies that prefetch do so from a disk, too, which is registered when the policy runs already
 * and may be the only other memory node: while a task executes on the only worker that may, an idle
 * one brings the datum of the next task.
 * orr-test: env STARPU_NCPU=2 STARPU_WORKERS_NOBIND=1
 * orr-test: world real
 * orr-test: devices none */
#include "data/mem_test.h"

#include <unistd.h>

#define N 1000

static starpu_data_handle_t awaited;
static int running, came;

/* Executes until the datum of the task behind it is in main memory, or for too long. */
static void wait_func(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	__atomic_store_n(&running, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3000 && !came; i++) {
		came = starpu_data_is_on_node(awaited, STARPU_MAIN_RAM);
		usleep(1000);
	}
}

static void read_func(void *buffers[], void *arg)
{
	const int *v = (const int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	for (int i = 0; i < N; i++)
		CHECK_IS(v[i], i);
}

static int only_first(unsigned workerid, struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return workerid == 0;
}

static struct starpu_codelet wait_cl = { .can_execute = only_first,
					 .cpu_funcs = { wait_func },
					 .name = "wait" };
static struct starpu_codelet read_cl = { .can_execute = only_first,
					 .cpu_funcs = { read_func },
					 .nbuffers = 1,
					 .modes = { STARPU_R },
					 .name = "read" };

static void one(const char *policy, char *folder)
{
	setenv("STARPU_SCHED", policy, 1);
	start();
	int disk = starpu_disk_register(&starpu_disk_unistd_ops, folder, STARPU_DISK_SIZE_MIN);
	CHECK(disk == 1);
	starpu_vector_data_register(&awaited, -1, 0, N, sizeof(int));
	CHECK(starpu_data_acquire(awaited, STARPU_W) == 0);
	for (int i = 0; i < N; i++)
		((int *) starpu_data_get_local_ptr(awaited))[i] = i;
	starpu_data_release(awaited);
	/* The disk has the only copy. */
	CHECK(starpu_data_acquire_on_node(awaited, disk, STARPU_RW) == 0);
	starpu_data_release_on_node(awaited, disk);
	CHECK(!starpu_data_is_on_node(awaited, STARPU_MAIN_RAM));
	running = came = 0;
	CHECK(starpu_task_insert(&wait_cl, 0) == 0);
	while (!__atomic_load_n(&running, __ATOMIC_ACQUIRE))
		usleep(100);
	CHECK(starpu_task_insert(&read_cl, STARPU_R, awaited, 0) == 0);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(came, "%s did not prefetch", policy);
	starpu_data_unregister(awaited);
	starpu_shutdown();
}

int main(void)
{
	const char *tmp = getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp",
		   *policies[] = { "dmda",   "dmdap", "dmdar", "dmdas",
				   "dmdasd", "heft",  "pheft", "modular-dmda" };
	char folder[300];

	snprintf(folder, sizeof(folder), "%s/dm_disk", tmp);
	for (unsigned i = 0; i < sizeof(policies) / sizeof(*policies); i++)
		one(policies[i], folder);
	return 0;
}
