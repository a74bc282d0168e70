/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program without any distribution, whose tasks execute on other ranks: it is started on several
 * of them in the master-slave mode. Only the first rank gets past starpu_init().
 *
 * Two thirds of the tasks name a slave's worker, so that the test fails if one of them executes
 * elsewhere; a kernel tells whether it runs in the master's process.
 *
 * orr-test: ranks 2 4
 * orr-test: sim-ranks 2 4
 * orr-test: run-args --master-slave
 * orr-test: sim-args --master-slave
 * orr-test: env STARPU_NCPU=1 STARPU_NMPIMSTHREADS=2
 */
#include <unistd.h>

#include "core_test.h"

enum { N = 1000, NX = 13, NY = 7, LD = 20 };

/* Only functions that are visible can be found by their names. */
void scale(void **buffers, void *arg);
void slow_scale(void **buffers, void *arg);
void add_up(void **buffers, void *arg);
void fill(void **buffers, void *arg);
void who_am_i(void **buffers, void *arg);

/* Each process has its own; the master's is never written by a kernel on a slave. */
static int calls, is_master;

void scale(void **buffers, void *arg)
{
	float *v = (float *) STARPU_VECTOR_GET_PTR(buffers[0]), factor;
	unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);

	starpu_codelet_unpack_args(arg, &factor);
	for (unsigned i = 0; i < n; i++)
		v[i] *= factor;
	INCR(calls);
}

void add_up(void **buffers, void *arg)
{
	const float *v = (const float *) STARPU_VECTOR_GET_PTR(buffers[0]);
	unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);
	double *sum = (double *) STARPU_VARIABLE_GET_PTR(buffers[1]);

	(void) arg;
	for (unsigned i = 0; i < n; i++)
		*sum += v[i];
}

void fill(void **buffers, void *arg)
{
	int *m = (int *) STARPU_MATRIX_GET_PTR(buffers[0]), add = *(int *) arg;
	unsigned nx = STARPU_MATRIX_GET_NX(buffers[0]), ny = STARPU_MATRIX_GET_NY(buffers[0]);
	size_t ld = STARPU_MATRIX_GET_LD(buffers[0]);

	for (unsigned y = 0; y < ny; y++)
		for (unsigned x = 0; x < nx; x++)
			m[y * ld + x] = 2 * m[y * ld + x] + add;
}

void who_am_i(void **buffers, void *arg)
{
	(void) arg;
	*core_int(buffers[0]) = 10 + is_master;
}

/* Takes so long that the master alone would be late. */
void slow_scale(void **buffers, void *arg)
{
	scale(buffers, arg);
	usleep(300);
}

static struct starpu_codelet scale_cl = { .cpu_funcs = { scale },
					  .cpu_funcs_name = { "scale" },
					  .nbuffers = 1,
					  .modes = { STARPU_RW },
					  .name = "scale" },
			     slow_cl = { .cpu_funcs = { slow_scale },
					 .cpu_funcs_name = { "slow_scale" },
					 .nbuffers = 1,
					 .modes = { STARPU_RW },
					 .name = "slow_scale" },
			     sum_cl = { .cpu_funcs = { add_up },
					.cpu_funcs_name = { "add_up" },
					.nbuffers = 2,
					.modes = { STARPU_R, STARPU_RW },
					.name = "add_up" },
			     fill_cl = { .cpu_funcs = { fill },
					 .cpu_funcs_name = { "fill" },
					 .nbuffers = 1,
					 .modes = { STARPU_RW },
					 .name = "fill" },
			     who_cl = { .cpu_funcs = { who_am_i },
					.cpu_funcs_name = { "who_am_i" },
					.nbuffers = 1,
					.modes = { STARPU_W },
					.name = "who_am_i" };

static int slave_workers[64], nslave_workers;

static void find_slaves(void)
{
	nslave_workers = (int) starpu_worker_get_ids_by_type(STARPU_MPI_MS_WORKER, slave_workers,
							     64);
	CHECK(nslave_workers >= 2, "there are %d", nslave_workers);
	CHECK_IS(starpu_mpi_ms_worker_get_count(), nslave_workers);
	for (int i = 0; i < nslave_workers; i++) {
		unsigned node = starpu_worker_get_memory_node((unsigned) slave_workers[i]);

		CHECK_IS(starpu_node_get_kind(node), STARPU_MPI_MS_RAM);
		CHECK_IS(starpu_worker_get_type(slave_workers[i]), STARPU_MPI_MS_WORKER);
	}
}

/* A chain through all slaves and the master. */
static void test_vector(void)
{
	static float v[N];
	starpu_data_handle_t h, sum_h;
	double sum = 0, wanted = 0;
	float factor = 2;
	int turns = 3 * nslave_workers;

	for (int i = 0; i < N; i++)
		v[i] = (float) i;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N, sizeof(*v));
	starpu_variable_data_register(&sum_h, STARPU_MAIN_RAM, (uintptr_t) &sum, sizeof(sum));
	for (int i = 0; i < turns; i++) {
		int worker = i % 3 == 2 ? 0 : slave_workers[i / 3];

		factor = i % 2 ? 0.5F : 2;
		OK(starpu_task_insert(&scale_cl, STARPU_RW, h, STARPU_VALUE, &factor,
				      sizeof(factor), STARPU_EXECUTE_ON_WORKER, worker, 0));
	}
	OK(starpu_task_insert(&sum_cl, STARPU_R, h, STARPU_RW, sum_h, STARPU_EXECUTE_ON_WORKER,
			      slave_workers[0], 0));
	starpu_data_unregister(sum_h);
	starpu_data_unregister(h);
	for (int i = 0; i < N; i++) {
		CHECK(v[i] == (float) (turns % 2 ? 2 * i : i), "v[%d] is %g", i, (double) v[i]);
		wanted += (double) v[i];
	}
	CHECK_NEAR(sum, wanted, 1e-12);
	CHECK_IS(calls, turns / 3);
}

/* A matrix with gaps between its columns, which stay as they are; the argument is long. */
static void test_matrix(void)
{
	static int m[NY * LD], arg[3000];
	starpu_data_handle_t h;

	for (int i = 0; i < NY * LD; i++)
		m[i] = i;
	arg[0] = 5;
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) m, LD, NX, NY, sizeof(*m));
	for (int i = 0; i < 2; i++)
		OK(starpu_task_insert(&fill_cl, STARPU_RW, h, STARPU_CL_ARGS_NFREE, arg,
				      sizeof(arg), STARPU_EXECUTE_ON_WORKER,
				      slave_workers[i * (nslave_workers - 1)], 0));
	starpu_data_unregister(h);
	for (int i = 0; i < NY * LD; i++)
		CHECK_IS(m[i], i % LD < NX ? 4 * i + 15 : i);
}

/* Tasks that anybody may execute, with pieces of a vector: all are executed, and some by slaves. */
static void test_free_tasks(void)
{
	enum { PIECES = 40, WORK = 5 };
	static float v[N];
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block,
					.nchildren = PIECES };
	starpu_data_handle_t h;
	float factor = 3;
	unsigned long remote = 0;

	for (int i = 0; i < N; i++)
		v[i] = 1;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N, sizeof(*v));
	starpu_data_partition(h, &f);
	for (int i = 0; i < PIECES * WORK; i++)
		OK(starpu_task_insert(&slow_cl, STARPU_RW,
				      starpu_data_get_sub_data(h, 1, i % PIECES), STARPU_VALUE,
				      &factor, sizeof(factor), 0));
	starpu_task_wait_for_all();
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	starpu_data_unregister(h);
	for (int i = 0; i < N; i++)
		CHECK(v[i] == 243, "v[%d] is %g", i, (double) v[i]);
	for (int i = 0; i < nslave_workers; i++)
		remote += slow_cl.per_worker_stats[slave_workers[i]];
	printf("slaves have executed %lu of %d tasks\n", remote, PIECES * WORK);
	CHECK(remote > 0);
}

static void test_process(void)
{
	int master = 0, slave = 0;
	starpu_data_handle_t hm = core_register(&master), hs = core_register(&slave);

	OK(starpu_task_insert(&who_cl, STARPU_W, hm, STARPU_EXECUTE_ON_WORKER, 0, 0));
	OK(starpu_task_insert(&who_cl, STARPU_W, hs, STARPU_EXECUTE_ON_WORKER, slave_workers[0],
			      0));
	starpu_data_unregister(hm);
	starpu_data_unregister(hs);
	CHECK_IS(master, 11);
	CHECK_IS(slave, 10);
}

int main(void)
{
	OK(starpu_init(NULL));
	is_master = 1;

	unsigned ncpus = starpu_cpu_worker_get_count();
	find_slaves();
	test_vector();
	test_matrix();
	test_free_tasks();
	test_process();
	starpu_shutdown();
	printf("the master has ended; it had %u CPU workers, and %d of slaves\n", ncpus,
	       nslave_workers);
	return 0;
}
