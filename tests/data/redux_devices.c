/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_REDUX with contributions of a CPU and of two devices: every contribution counts once, in
 * several rounds, with the methods' arguments; between rounds the value is read, written and
 * reduced further.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=2 */
#include "data/mem_test.h"
#include "data/staged.h"

#define N 257

static void init_cpu(void *buffers[], void *arg)
{
	long *x = (long *) STARPU_VECTOR_GET_PTR(buffers[0]);

	for (unsigned i = 0; i < N; i++)
		x[i] = *(long *) arg;
}

/* The contributions start from the neutral element plus something that must not stay: an argument
 * says how much. */
static void redux_cpu(void *buffers[], void *arg)
{
	long *x = (long *) STARPU_VECTOR_GET_PTR(buffers[0]),
	     *y = (long *) STARPU_VECTOR_GET_PTR(buffers[1]);

	for (unsigned i = 0; i < N; i++)
		x[i] += y[i] - *(long *) arg;
}

static void add_cpu(void *buffers[], void *arg)
{
	long *x = (long *) STARPU_VECTOR_GET_PTR(buffers[0]);

	for (unsigned i = 0; i < N; i++)
		x[i] += *(int *) arg * (long) i;
}

STAGED(init_staged, init_cpu, 1)
STAGED(redux_staged, redux_cpu, 2)
STAGED(add_staged, add_cpu, 1)

static struct starpu_codelet init_cl = { .cpu_funcs = { init_cpu },
					 .cuda_funcs = { init_cpu },
					 .opencl_funcs = { init_staged },
					 .nbuffers = 1,
					 .modes = { STARPU_W },
					 .name = "init" };
static struct starpu_codelet redux_cl = { .cpu_funcs = { redux_cpu },
					  .cuda_funcs = { redux_cpu },
					  .opencl_funcs = { redux_staged },
					  .nbuffers = 2,
					  .modes = { STARPU_RW | STARPU_COMMUTE, STARPU_R },
					  .name = "redux" };
static struct starpu_codelet contribute_cl = { .cpu_funcs = { add_cpu },
					       .cuda_funcs = { add_cpu },
					       .opencl_funcs = { add_staged },
					       .nbuffers = 1,
					       .modes = { STARPU_REDUX },
					       .name = "contribute" };
static struct starpu_codelet add_rw_cl = { .cpu_funcs = { add_cpu },
					   .cuda_funcs = { add_cpu },
					   .opencl_funcs = { add_staged },
					   .nbuffers = 1,
					   .modes = { STARPU_RW },
					   .name = "add" };

static void submit(struct starpu_codelet *cl, starpu_data_handle_t h, int value, unsigned worker)
{
	struct starpu_task *task = starpu_task_create();
	int *arg = malloc(sizeof(*arg));

	*arg = value;
	task->cl = cl;
	task->handles[0] = h;
	task->cl_arg = arg;
	task->cl_arg_size = sizeof(*arg);
	task->cl_arg_free = 1;
	task->execute_on_a_specific_worker = 1;
	task->workerid = worker;
	CHECK(starpu_task_submit(task) == 0);
}

static void rounds(starpu_data_handle_t h, long start)
{
	unsigned w, nworkers = starpu_worker_get_count(), round, i;
	long factor = 0;

	for (round = 0; round < 5; round++) {
		for (i = 0; i < 4; i++)
			for (w = 0; w < nworkers; w++) {
				submit(&contribute_cl, h, (int) (w + i), w);
				factor += w + i;
			}
		if (round % 2) {
			submit(&add_rw_cl, h, 1000, round % nworkers);
			factor += 1000;
		}
		if (round == 3)
			continue; /* reduced because of the next one, or at the end */
		CHECK(starpu_data_acquire(h, STARPU_R) == 0);
		for (i = 0; i < N; i++)
			CHECK(((long *) starpu_data_get_local_ptr(h))[i] ==
			      start + factor * (long) i);
		starpu_data_release(h);
	}
}

int main(void)
{
	static long v[N], two = 2, zero;
	starpu_data_handle_t h;

	start();
	for (unsigned i = 0; i < N; i++)
		v[i] = 7;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N, sizeof(*v));
	starpu_data_set_reduction_methods_with_args(h, &redux_cl, &two, &init_cl, &two);
	rounds(h, 7);
	starpu_data_unregister(h);
	CHECK(v[0] == 7 && v[1] != 7);
	/* Without home. */
	starpu_vector_data_register(&h, -1, 0, N, sizeof(*v));
	starpu_data_set_reduction_methods_with_args(h, &redux_cl, &zero, &init_cl, &zero);
	CHECK(starpu_data_acquire(h, STARPU_W) == 0);
	memset(starpu_data_get_local_ptr(h), 0, sizeof(v));
	starpu_data_release(h);
	rounds(h, 0);
	/* Contributions that nobody reads end with the data, or just afterwards: the worker that
	 * contributed gives their memory back. */
	for (unsigned i = 0; i < starpu_worker_get_count(); i++)
		submit(&contribute_cl, h, 1, i);
	starpu_data_unregister(h);
	for (unsigned i = 0; i < starpu_memory_nodes_get_count(); i++) {
		for (unsigned tries = 0; starpu_memory_get_used(i) && tries < 10000; tries++)
			starpu_usleep(1000);
		CHECK(starpu_memory_get_used(i) == 0);
	}
	starpu_shutdown();
	return 0;
}
