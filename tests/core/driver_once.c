/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Workers that the program drives itself: by starpu_driver_run_once() until a task is over or until
 * some time has passed, by starpu_driver_run() in a thread, beside workers that the runtime drives.
 *
 * orr-test: timeout 60 */
#include <starpu.h>
#include "lib/test.h"

static struct starpu_driver drivers[2] = { { .type = STARPU_CPU_WORKER, .id.cpu_id = 0 },
					   { .type = STARPU_CPU_WORKER, .id.cpu_id = 2 } };
static int ran_on = -2;

static void note(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	ran_on = starpu_worker_get_id();
	starpu_sleep(0.002);
}

static struct starpu_codelet note_cl = { .cpu_funcs = { note }, .name = "note" };

static int start(unsigned ncpus, unsigned ndriven)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	starpu_conf_noworker(&conf);
	conf.ncpus = (int) ncpus;
	conf.precedence_over_environment_variables = 1;
	conf.not_launched_drivers = drivers;
	conf.n_not_launched_drivers = ndriven;
	int ret = starpu_init(&conf);
	CHECK(ret == 0 || ret == -ENODEV, "starpu_init returned %d", ret);
	return ret == 0 && starpu_cpu_worker_get_count() == ncpus;
}

static struct starpu_task *submit_to(int worker)
{
	struct starpu_task *task = starpu_task_create();

	task->cl = &note_cl;
	task->detach = 0;
	task->destroy = 0;
	task->execute_on_a_specific_worker = worker >= 0;
	task->workerid = worker >= 0 ? (unsigned) worker : 0;
	ran_on = -2;
	OK(starpu_task_submit(task));
	return task;
}

/* One call executes a task that is there, and takes as long as it does. */
static void one_call(void)
{
	struct starpu_task *task = submit_to(0);
	double before = starpu_timing_now();

	for (int n = 0; !starpu_task_finished(task); n++) {
		CHECK(n < 3, "the task is not over after %d calls", n);
		OK(starpu_driver_run_once(&drivers[0]));
	}
	CHECK(starpu_timing_now() - before >= 2000, "%g us", starpu_timing_now() - before);
	CHECK_IS(ran_on, 0);
	OK(starpu_task_wait(task));
	starpu_task_destroy(task);
}

/* How many calls fit into a millisecond when nothing is there. */
static long calls_in_1_ms(void)
{
	double before = starpu_timing_now();
	long n = 0;

	for (; starpu_timing_now() - before < 1000; n++) {
		CHECK(n < 100000000, "no time passes");
		OK(starpu_driver_run_once(&drivers[0]));
	}
	return n;
}

/* Nothing is there: time passes all the same, so a loop with a limit ends. A call is short; where
 * others use the core meanwhile, some milliseconds have a single one. */
static void idle_calls(void)
{
	long n = 0;

	for (int i = 0; i < 100 && n <= 10; i++)
		n = calls_in_1_ms();
	CHECK(n > 10, "%ld calls in each of 100 ms", n);
}

/* Worker 1 is the runtime's, worker 2 the program's. */
static void beside_others(void)
{
	struct starpu_task *task = submit_to(2);

	while (!starpu_task_finished(task))
		OK(starpu_driver_run_once(&drivers[1]));
	CHECK_IS(ran_on, 2);
	OK(starpu_task_wait(task));
	starpu_task_destroy(task);
	task = submit_to(1);
	OK(starpu_task_wait(task));
	CHECK_IS(ran_on, 1);
	starpu_task_destroy(task);
	CHECK_IS(starpu_driver_run_once(
			 &(struct starpu_driver){ .type = STARPU_CPU_WORKER, .id.cpu_id = 1 }),
		 -ENODEV);
}

static void *run(void *arg)
{
	return (void *) (intptr_t) starpu_driver_run(arg);
}

static void in_threads(void)
{
	starpu_pthread_t thread[2];
	void *ret;

	for (int i = 0; i < 2; i++)
		OK(starpu_pthread_create(&thread[i], NULL, run, &drivers[i]));
	for (int i = 0; i < 30; i++) {
		struct starpu_task *task = submit_to(i % 3);
		OK(starpu_task_wait(task));
		CHECK_IS(ran_on, i % 3);
		starpu_task_destroy(task);
	}
	starpu_drivers_request_termination();
	for (int i = 0; i < 2; i++) {
		OK(starpu_pthread_join(thread[i], &ret));
		CHECK(!ret);
	}
}

int main(void)
{
	if (!start(1, 1))
		return 77;
	OK(starpu_driver_init(&drivers[0]));
	one_call();
	idle_calls();
	one_call();
	OK(starpu_driver_deinit(&drivers[0]));
	starpu_shutdown();

	if (!start(3, 2))
		return 77;
	for (int i = 0; i < 2; i++)
		OK(starpu_driver_init(&drivers[i]));
	one_call();
	beside_others();
	for (int i = 0; i < 2; i++)
		OK(starpu_driver_deinit(&drivers[i]));
	in_threads();
	starpu_shutdown();
	return 0;
}
