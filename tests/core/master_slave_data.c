/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data of several interfaces on slaves: arrays of n dimensions (whose structure points to its
 * dimensions), blocks, reductions, scratch memory, and more data than a slave has memory for.
 * Kernels have models, which learn what slaves take.
 *
 * orr-test: ranks 3
 * orr-test: sim-ranks 3
 * orr-test: run-args --master-slave
 * orr-test: sim-args --master-slave
 * orr-test: env STARPU_NCPU=1 STARPU_NMPIMSTHREADS=2 STARPU_LIMIT_CPU_MEM=8 STARPU_SCHED=dmda
 */
#include "core_test.h"

enum { N1 = 4, N2 = 5, N3 = 6, N4 = 3, TILES = 40, TILE = 1 << 17 };

void add_array(void **buffers, void *arg);
void add_block(void **buffers, void *arg);
void add_number(void **buffers, void *arg);
void sum_redux(void **buffers, void *arg);
void sum_init(void **buffers, void *arg);
void add_tile(void **buffers, void *arg);

void add_array(void **buffers, void *arg)
{
	struct starpu_ndim_interface *a = buffers[0];
	int *v = (int *) a->ptr;

	(void) arg;
	for (uint32_t l = 0; l < a->nn[3]; l++)
		for (uint32_t k = 0; k < a->nn[2]; k++)
			for (uint32_t j = 0; j < a->nn[1]; j++)
				for (uint32_t i = 0; i < a->nn[0]; i++)
					v[l * a->ldn[3] + k * a->ldn[2] + j * a->ldn[1] + i] += 7;
}

void add_block(void **buffers, void *arg)
{
	int *v = (int *) STARPU_BLOCK_GET_PTR(buffers[0]);
	unsigned nx = STARPU_BLOCK_GET_NX(buffers[0]), ny = STARPU_BLOCK_GET_NY(buffers[0]),
		 nz = STARPU_BLOCK_GET_NZ(buffers[0]);

	(void) arg;
	for (unsigned z = 0; z < nz; z++)
		for (unsigned y = 0; y < ny; y++)
			for (unsigned x = 0; x < nx; x++)
				v[z * STARPU_BLOCK_GET_LDZ(buffers[0]) +
				  y * STARPU_BLOCK_GET_LDY(buffers[0]) + x] *= 3;
}

void add_number(void **buffers, void *arg)
{
	int by;

	starpu_codelet_unpack_args(arg, &by);
	*core_int(buffers[0]) += by;
}

void sum_redux(void **buffers, void *arg)
{
	(void) arg;
	*core_int(buffers[0]) += *core_int(buffers[1]);
}

void sum_init(void **buffers, void *arg)
{
	(void) arg;
	*core_int(buffers[0]) = 0;
}

/* The scratch memory holds the tile in between. */
void add_tile(void **buffers, void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]),
	    *s = (int *) STARPU_VECTOR_GET_PTR(buffers[1]);

	(void) arg;
	for (int i = 0; i < TILE; i++)
		s[i] = v[i];
	for (int i = 0; i < TILE; i++)
		v[i] = s[TILE - 1 - i] + 1;
}

static struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED,
					 .symbol = "master_slave_tile" };
static struct starpu_codelet array_cl = { .cpu_funcs = { add_array },
					  .cpu_funcs_name = { "add_array" },
					  .nbuffers = 1,
					  .modes = { STARPU_RW } },
			     block_cl = { .cpu_funcs = { add_block },
					  .cpu_funcs_name = { "add_block" },
					  .nbuffers = 1,
					  .modes = { STARPU_RW } },
			     number_cl = { .cpu_funcs = { add_number },
					   .cpu_funcs_name = { "add_number" },
					   .nbuffers = 1,
					   .modes = { STARPU_REDUX } },
			     redux_cl = { .cpu_funcs = { sum_redux },
					  .cpu_funcs_name = { "sum_redux" },
					  .nbuffers = 2,
					  .modes = { STARPU_RW | STARPU_COMMUTE, STARPU_R } },
			     init_cl = { .cpu_funcs = { sum_init },
					 .cpu_funcs_name = { "sum_init" },
					 .nbuffers = 1,
					 .modes = { STARPU_W } },
			     tile_cl = { .cpu_funcs = { add_tile },
					 .cpu_funcs_name = { "add_tile" },
					 .nbuffers = 2,
					 .modes = { STARPU_RW, STARPU_SCRATCH },
					 .model = &model };

static double hundred_us(struct starpu_task *task, unsigned nimpl)
{
	(void) task;
	(void) nimpl;
	return 100;
}

static int slave[64], nslave;

/* Slaves are as fast as cores, and data take their time to get there. */
static void test_estimates(void)
{
	static struct starpu_perfmodel cost = { .type = STARPU_COMMON,
						.cost_function = hundred_us };
	static struct starpu_codelet cl = { .cpu_funcs = { add_array },
					    .cpu_funcs_name = { "add_array" },
					    .model = &cost };
	struct starpu_task *task = starpu_task_create();
	unsigned w = (unsigned) slave[0], node = starpu_worker_get_memory_node(w);

	task->cl = &cl;
	CHECK_NEAR(
		starpu_task_expected_length(
			task, starpu_worker_get_perf_archtype((int) w, STARPU_NMAX_SCHED_CTXS), 0),
		100, 1e-9);
	task->destroy = 0;
	starpu_task_destroy(task);
	double near = starpu_transfer_predict(STARPU_MAIN_RAM, node, 1 << 10),
	       far = starpu_transfer_predict(node, STARPU_MAIN_RAM, 1 << 20);

	CHECK(near > 0 && far > near, "%g and %g", near, far);
}

static void test_array(void)
{
	static int v[N4][N3][N2][N1 + 2];
	uint32_t nn[] = { N1, N2, N3, N4 },
		 ldn[] = { 1, N1 + 2, N2 * (N1 + 2), N3 * N2 * (N1 + 2) };
	starpu_data_handle_t h;

	starpu_ndim_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, ldn, nn, 4, sizeof(int));
	for (int i = 0; i < nslave; i++)
		OK(starpu_task_insert(&array_cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER, slave[i],
				      0));
	starpu_data_unregister(h);
	for (int i = 0; i < N4 * N3 * N2 * (N1 + 2); i++)
		CHECK_IS((&v[0][0][0][0])[i], i % (N1 + 2) < N1 ? 7 * nslave : 0);
}

static void test_block(void)
{
	static int v[N3][N2 + 1][N1 + 2];
	starpu_data_handle_t h;

	for (int i = 0; i < N3 * (N2 + 1) * (N1 + 2); i++)
		(&v[0][0][0])[i] = i;
	starpu_block_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N1 + 2, (N2 + 1) * (N1 + 2),
				   N1, N2, N3, sizeof(int));
	OK(starpu_task_insert(&block_cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER, slave[0], 0));
	OK(starpu_task_insert(&block_cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER, slave[nslave - 1],
			      0));
	starpu_data_unregister(h);
	for (int z = 0, i = 0; z < N3; z++)
		for (int y = 0; y < N2 + 1; y++)
			for (int x = 0; x < N1 + 2; x++, i++)
				CHECK_IS(v[z][y][x], x < N1 && y < N2 ? 9 * i : i);
}

static void test_redux(void)
{
	int x = 1000, sum = 1000;
	starpu_data_handle_t h = core_register(&x);

	starpu_data_set_reduction_methods(h, &redux_cl, &init_cl);
	for (int i = 1; i <= 60; i++) {
		OK(starpu_task_insert(&number_cl, STARPU_REDUX, h, STARPU_VALUE, &i, sizeof(i),
				      STARPU_EXECUTE_ON_WORKER,
				      i % (nslave + 1) ? slave[i % (nslave + 1) - 1] : 0, 0));
		sum += i;
	}
	starpu_data_unregister(h);
	CHECK_IS(x, sum);
}

/* 20 MiB of tiles go through memories of 8 MiB. */
static void test_tiles(void)
{
	enum { TURNS = 6 };
	static int v[TILES][TILE];
	starpu_data_handle_t h[TILES], scratch;

	starpu_vector_data_register(&scratch, -1, 0, TILE, sizeof(int));
	for (int t = 0; t < TILES; t++) {
		for (int i = 0; i < TILE; i++)
			v[t][i] = t + i;
		starpu_vector_data_register(&h[t], STARPU_MAIN_RAM, (uintptr_t) v[t], TILE,
					    sizeof(int));
	}
	for (int turn = 0; turn < TURNS; turn++)
		for (int t = 0; t < TILES; t++)
			OK(starpu_task_insert(&tile_cl, STARPU_RW, h[t], STARPU_SCRATCH, scratch,
					      STARPU_EXECUTE_ON_WORKER, slave[(turn + t) % nslave],
					      0));
	for (int t = 0; t < TILES; t++)
		starpu_data_unregister(h[t]);
	starpu_data_unregister(scratch);
	for (int t = 0; t < TILES; t++)
		for (int i = 0; i < TILE; i++)
			CHECK(v[t][i] == t + i + TURNS, "v[%d][%d] is %d", t, i, v[t][i]);
}

int main(void)
{
	OK(starpu_init(NULL));
	nslave = (int) starpu_worker_get_ids_by_type(STARPU_MPI_MS_WORKER, slave, 64);
	CHECK(nslave >= 2);
	test_estimates();
	test_array();
	test_block();
	test_redux();
	test_tiles();
	starpu_shutdown();
	return 0;
}
