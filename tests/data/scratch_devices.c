/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_SCRATCH on devices and CPUs: as large as the handle says, private to each execution, on
 * the unit's memory, never a value for anybody else; a handle with a value keeps it. Reused
 * allocations are not mixed up by sizes.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=2 STARPU_LIMIT_CUDA_MEM=4 STARPU_LIMIT_OPENCL_MEM=4 */
#include "data/mem_test.h"
#include "data/staged.h"

#define N 5000
#define TASKS 60

struct arg {
	int seed;
	unsigned n;
};

/* Fills the scratch, folds it into the result: somebody else's writes would show. */
static void fold_cpu(void *buffers[], void *arg)
{
	int *s = (int *) STARPU_VECTOR_GET_PTR(buffers[0]),
	    *sum = (int *) STARPU_VARIABLE_GET_PTR(buffers[1]);
	struct arg *a = arg;

	CHECK(STARPU_VECTOR_GET_NX(buffers[0]) == a->n);
	for (unsigned i = 0; i < a->n; i++)
		s[i] = a->seed + (int) i % 7;
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < a->n; i++)
			CHECK(s[i] == a->seed + (int) i % 7);
	*sum += s[0] + s[a->n - 1];
}

STAGED(fold_staged, fold_cpu, 2)

static struct starpu_codelet cl = { .cpu_funcs = { fold_cpu },
				    .cuda_funcs = { fold_cpu },
				    .opencl_funcs = { fold_staged },
				    .nbuffers = 2,
				    .modes = { STARPU_SCRATCH, STARPU_RW },
				    .name = "fold" };

int main(void)
{
	static int value[N];
	starpu_data_handle_t scratch[2], valued, sum[4];
	static struct arg args[TASKS];
	int total[4] = { 0 }, want[4] = { 0 }, i, k;

	start();
	for (k = 0; k < 2; k++)
		starpu_vector_data_register(&scratch[k], -1, 0, N >> k, sizeof(int));
	for (i = 0; i < N; i++)
		value[i] = i;
	starpu_vector_data_register(&valued, STARPU_MAIN_RAM, (uintptr_t) value, N, sizeof(int));
	for (k = 0; k < 4; k++)
		starpu_variable_data_register(&sum[k], STARPU_MAIN_RAM, (uintptr_t) &total[k],
					      sizeof(int));
	for (i = 0; i < TASKS; i++) {
		unsigned worker = (unsigned) i % starpu_worker_get_count(),
			 n = i % 3 == 1 ? N / 2 : N;
		struct arg *a = &args[i];

		*a = (struct arg){ i * 3, n };
		CHECK(starpu_task_insert(&cl, STARPU_SCRATCH, i % 3 == 2 ? valued : scratch[i % 3],
					 STARPU_RW, sum[i % 4], STARPU_CL_ARGS_NFREE, a, sizeof(*a),
					 STARPU_EXECUTE_ON_WORKER, worker, 0) == 0);
		want[i % 4] += 2 * a->seed + (int) (n - 1) % 7;
	}
	CHECK(starpu_task_wait_for_all() == 0);
	/* A scratch is no value. */
	for (k = 0; k < (int) starpu_memory_nodes_get_count(); k++)
		CHECK(!starpu_data_is_on_node(scratch[0], (unsigned) k));
	CHECK(starpu_data_is_on_node(valued, STARPU_MAIN_RAM));
	for (k = 0; k < 2; k++)
		starpu_data_unregister(scratch[k]);
	starpu_data_unregister(valued);
	for (k = 0; k < 4; k++) {
		starpu_data_unregister(sum[k]);
		CHECK(total[k] == want[k]);
	}
	for (i = 0; i < N; i++)
		CHECK(value[i] == i);
	for (k = 0; k < (int) starpu_memory_nodes_get_count(); k++)
		CHECK(starpu_memory_get_used((unsigned) k) == 0);
	starpu_shutdown();
	return 0;
}
