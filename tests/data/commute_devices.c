/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_COMMUTE, and arbiters, on a CPU and two devices: tasks that update overlapping pairs of
 * data in any order, each alone with its data; nothing is lost and nobody waits for ever. Tasks
 * before and after keep their place.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 */
#include "data/mem_test.h"
#include "data/staged.h"

#define NDATA 5
#define N 200
#define TASKS 120

static int busy[NDATA];

/* Adds 1 to both; the data's numbers are in their first elements. */
static void both_cpu(void *buffers[], void *arg)
{
	(void) arg;
	for (unsigned k = 0; k < 2; k++) {
		int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[k]);

		CHECK(__atomic_exchange_n(&busy[v[0]], 1, __ATOMIC_ACQ_REL) == 0);
		for (unsigned i = 1; i < N; i++)
			v[i]++;
	}
	for (unsigned k = 0; k < 2; k++)
		__atomic_store_n(&busy[*(int *) STARPU_VECTOR_GET_PTR(buffers[k])], 0,
				 __ATOMIC_RELEASE);
}

static void scale_cpu(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	for (unsigned i = 1; i < N; i++)
		v[i] = v[i] * 2 + *(int *) arg;
}

STAGED(both_staged, both_cpu, 2)
STAGED(scale_staged, scale_cpu, 1)

static struct starpu_codelet both_cl = { .cpu_funcs = { both_cpu },
					 .cuda_funcs = { both_cpu },
					 .opencl_funcs = { both_staged },
					 .nbuffers = 2,
					 .modes = { STARPU_RW | STARPU_COMMUTE,
						    STARPU_RW | STARPU_COMMUTE },
					 .name = "both" };
static struct starpu_codelet scale_cl = { .cpu_funcs = { scale_cpu },
					  .cuda_funcs = { scale_cpu },
					  .opencl_funcs = { scale_staged },
					  .nbuffers = 1,
					  .modes = { STARPU_RW },
					  .name = "scale" };

static void run(int with_arbiter)
{
	static int v[NDATA][N], add = 5;
	int want[NDATA] = { 0 }, i, k;
	starpu_arbiter_t arbiter = with_arbiter ? starpu_arbiter_create() : NULL;
	starpu_data_handle_t h[NDATA];

	for (k = 0; k < NDATA; k++) {
		memset(v[k], 0, sizeof(v[k]));
		v[k][0] = k;
		starpu_vector_data_register(&h[k], STARPU_MAIN_RAM, (uintptr_t) v[k], N,
					    sizeof(int));
		if (arbiter)
			starpu_data_assign_arbiter(h[k], arbiter);
	}
	for (i = 0; i < TASKS; i++) {
		/* Given in both orders: whoever took one after the other would wait in a circle. */
		int a = i % NDATA, b = (i * i + 1 + i / 7) % NDATA, swap = i % 2;

		if (a == b)
			b = (b + 1) % NDATA;
		CHECK(starpu_task_insert(&both_cl, STARPU_RW | STARPU_COMMUTE, h[swap ? b : a],
					 STARPU_RW | STARPU_COMMUTE, h[swap ? a : b],
					 STARPU_EXECUTE_ON_WORKER,
					 (unsigned) i % starpu_worker_get_count(), 0) == 0);
		want[a]++;
		want[b]++;
		if (i % 17 == 0) {
			CHECK(starpu_task_insert(&scale_cl, STARPU_RW, h[a], STARPU_CL_ARGS_NFREE,
						 &add, sizeof(add), 0) == 0);
			want[a] = want[a] * 2 + add;
		}
	}
	for (k = 0; k < NDATA; k++) {
		starpu_data_unregister(h[k]);
		for (i = 1; i < N; i++)
			CHECK(v[k][i] == want[k]);
		CHECK(v[k][0] == k);
	}
	starpu_arbiter_destroy(arbiter);
}

int main(void)
{
	start();
	run(0);
	run(1);
	starpu_shutdown();
	return 0;
}
