/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every interface between two ranks whose units have memories of their own: what a task wrote on
 * the device of one rank is sent, received, changed on the device of the other one, and comes back;
 * as a whole and piece by piece, with each way to cut and to pick.
 *
 * Invariant: bytes between columns never change; indices travel with the values and stay. opencl.sh
 * runs it with devices that have no pointers, too.
 * orr-test: ranks 2
 * orr-test: sim-ranks 2
 * orr-test: env ORRERY_FAKE_DEVICES=1 STARPU_NCPU=1 */
#include "data/iface_test.h"
#include "data/staged.h"
#include "user_interface.h"

#define PAD 0x5a5a5a5a
#define NROW 6
#define NNZ 9
#define R 2
#define C 3
#define MAXPIECES 16

static const uint32_t rowptr0[NROW + 1] = { 0, 2, 2, 5, 7, 8, 9 },
				     colind0[NNZ] = { 0, 3, 1, 2, 4, 0, 4, 2, 5 };
static int tag;
static struct starpu_codelet *cl; /* of the data that travel just now */

/* ---- the one transformation, of the values of any interface ---- */

static int change(int v, int arg)
{
	return (int) ((unsigned) v * 3 + (unsigned) arg);
}

static void change_array(uintptr_t p, uint32_t n, int arg)
{
	for (uint32_t i = 0; i < n; i++)
		((int *) p)[i] = change(((int *) p)[i], arg);
}

static void change_func(void *buffers[], void *arg)
{
	void *i = buffers[0];
	int a = *(int *) arg;

	switch ((int) *(enum starpu_data_interface_id *) i) {
	case STARPU_CSR_INTERFACE_ID:
		change_array(STARPU_CSR_GET_NZVAL(i), STARPU_CSR_GET_NNZ(i), a);
		break;
	case STARPU_BCSR_INTERFACE_ID:
		change_array(STARPU_BCSR_GET_NZVAL(i), STARPU_BCSR_GET_NNZ(i) * R * C, a);
		break;
	case STARPU_COO_INTERFACE_ID:
		change_array(STARPU_COO_GET_VALUES(i), STARPU_COO_GET_NVALUES(i), a);
		break;
	default: {
		struct view v = view_of(i);
		uint32_t at[MAXDIM] = { 0 };

		do
			*element(&v, at) = change(*element(&v, at), a);
		while (next_index(&v, at));
	}
	}
}
STAGED(change_staged, change_func, 1)

static struct starpu_codelet change_cl = { .cpu_funcs = { change_func },
					   .cuda_funcs = { change_func },
					   .opencl_funcs = { change_staged },
					   .nbuffers = 1,
					   .modes = { STARPU_RW },
					   .name = "change" };

static enum starpu_worker_archtype device_type(void)
{
	return starpu_opencl_worker_get_count() ? STARPU_OPENCL_WORKER : STARPU_CUDA_WORKER;
}

static int device(void)
{
	return starpu_worker_get_by_type(device_type(), 0);
}
static unsigned device_node(void)
{
	return starpu_worker_get_memory_node((unsigned) device());
}

static void on_device(starpu_data_handle_t h, int arg)
{
	struct starpu_task *task = starpu_task_create();
	int *copy = malloc(sizeof(*copy));

	*copy = arg;
	task->cl = cl;
	task->handles[0] = h;
	task->cl_arg = copy;
	task->cl_arg_size = sizeof(*copy);
	task->cl_arg_free = 1;
	task->execute_on_a_specific_worker = 1;
	task->workerid = (unsigned) device();
	OK(starpu_task_submit(task));
}

/* Changed by 1 on rank 0, by 2 on rank 1, by 3 on rank 0 again: submitted, not waited for. */
static void round_trip(starpu_data_handle_t h, int there)
{
	int back = there + 1;

	if (rank == 0) {
		on_device(h, 1);
		OK(starpu_mpi_isend_detached(h, 1, there, MPI_COMM_WORLD, NULL, NULL));
		OK(starpu_mpi_irecv_detached(h, 1, back, MPI_COMM_WORLD, NULL, NULL));
		on_device(h, 3);
	} else {
		OK(starpu_mpi_irecv_detached(h, 0, there, MPI_COMM_WORLD, NULL, NULL));
		on_device(h, 2);
		OK(starpu_mpi_isend_detached(h, 0, back, MPI_COMM_WORLD, NULL, NULL));
	}
}

/* What a value of rank 0 has become. */
static int expected(int v)
{
	v = change(change(v, 1), 2);
	return rank ? v : change(v, 3);
}

enum way { WHOLE, SYNC, PLAN, WAYS }; /* cut by starpu_data_partition, by a plan */

/* Rank 1 takes the pieces from the last to the first. */
static void travel(starpu_data_handle_t h, struct starpu_data_filter *f, enum way way)
{
	unsigned n = !f ? 0 : f->get_nchildren ? f->get_nchildren(f, h) : f->nchildren;
	starpu_data_handle_t c[MAXPIECES];

	CHECK(n <= MAXPIECES, "%u pieces", n);
	if (way == WHOLE) {
		round_trip(h, tag);
	} else if (way == SYNC) {
		starpu_data_partition(h, f);
		for (unsigned i = 0; i < n; i++)
			c[i] = starpu_data_get_child(h, i);
	} else {
		starpu_data_partition_plan(h, f, c);
		starpu_data_partition_submit(h, n, c);
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned k = rank ? n - 1 - i : i;

		round_trip(c[k], tag + 2 * (int) k);
	}
	tag += 2 * MAXPIECES;
	OK(starpu_mpi_wait_for_all(MPI_COMM_WORLD));
	if (way == SYNC)
		starpu_data_unpartition(h, STARPU_MAIN_RAM);
	else if (way == PLAN)
		starpu_data_partition_clean(h, n, c);
}

/* ---- dense data ---- */

/* Numbers the elements on rank 0 and marks everything else. */
static struct view prepare(starpu_data_handle_t h, int *buf, size_t n)
{
	uint32_t at[MAXDIM] = { 0 };
	struct view v;
	int k = 0;

	OK(starpu_data_acquire(h, STARPU_W));
	v = main_view(h);
	for (size_t i = 0; i < n; i++)
		buf[i] = PAD;
	do
		*element(&v, at) = rank ? 0 : ++k;
	while (next_index(&v, at));
	starpu_data_release(h);
	return v;
}

static void check(const struct view *v, int *buf, size_t n, const char *what)
{
	uint32_t at[MAXDIM] = { 0 };
	int k = 0;

	do {
		int *e = element(v, at);

		k++;
		CHECK(*e == expected(k), "%s: element %d is %d, not %d", what, k, *e, expected(k));
		*e = PAD;
	} while (next_index(v, at));
	for (size_t i = 0; i < n; i++)
		CHECK(buf[i] == PAD, "%s: %zu, between columns, is %d", what, i, buf[i]);
}

/* h is in buf, of n ints. */
static void dense(starpu_data_handle_t h, struct starpu_data_filter *f, const char *what, int *buf,
		  size_t n)
{
	for (int way = WHOLE; way < (f ? WAYS : SYNC); way++) {
		struct view v = prepare(h, buf, n);

		travel(h, way == WHOLE ? NULL : f, (enum way) way);
		OK(starpu_data_acquire(h, STARPU_RW));
		check(&v, buf, n, what);
		starpu_data_release(h);
	}
}

#define FILTER(func, n, ...) \
	(&(struct starpu_data_filter){ \
		.filter_func = starpu_##func, .nchildren = n, __VA_ARGS__ }), \
		#func

static void dense_interfaces(void)
{
	uint32_t pad = rank ? 2 : 5, nn[5] = { 3, 4, 2, 3, 4 },
		 ldn[5] = { 1, 3 + pad, 4 * (3 + pad), 8 * (3 + pad), 24 * (3 + pad) };
	static int b[1000];
	starpu_data_handle_t h;

	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, sizeof(*b));
	dense(h, NULL, "variable", b, 3);
	starpu_data_unregister(h);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, 14, sizeof(*b));
	dense(h, FILTER(vector_filter_block, 4), b, 20);
	dense(h, FILTER(vector_filter_divide_in_2, 2, .filter_arg = 5), b, 20);
	dense(h,
	      FILTER(vector_filter_pick_variable, 14,
		     .get_child_ops = starpu_vector_filter_pick_variable_child_ops),
	      b, 20);
	starpu_data_unregister(h);
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, 7 + pad, 7, 5, sizeof(*b));
	dense(h, FILTER(matrix_filter_block, 3), b, 100);
	dense(h, FILTER(matrix_filter_vertical_block, 2), b, 100);
	dense(h,
	      FILTER(matrix_filter_pick_vector_y, 5,
		     .get_child_ops = starpu_matrix_filter_pick_vector_child_ops),
	      b, 100);
	starpu_data_unregister(h);
	starpu_block_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, 3 + pad, 5 * (3 + pad), 3, 4,
				   6, sizeof(*b));
	dense(h, FILTER(block_filter_block, 2), b, 400);
	dense(h, FILTER(block_filter_vertical_block, 3), b, 400);
	dense(h, FILTER(block_filter_depth_block, 4), b, 400);
	dense(h,
	      FILTER(block_filter_pick_matrix_y, 4,
		     .get_child_ops = starpu_block_filter_pick_matrix_child_ops),
	      b, 400);
	dense(h,
	      FILTER(block_filter_pick_matrix_z, 6,
		     .get_child_ops = starpu_block_filter_pick_matrix_child_ops),
	      b, 400);
	starpu_data_unregister(h);
	starpu_tensor_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, 2 + pad, 3 * (2 + pad),
				    9 * (2 + pad), 2, 3, 3, 5, sizeof(*b));
	dense(h, FILTER(tensor_filter_block, 2), b, 400);
	dense(h, FILTER(tensor_filter_vertical_block, 2), b, 400);
	dense(h, FILTER(tensor_filter_depth_block, 3), b, 400);
	dense(h, FILTER(tensor_filter_time_block, 2), b, 400);
	dense(h,
	      FILTER(tensor_filter_pick_block_y, 3,
		     .get_child_ops = starpu_tensor_filter_pick_block_child_ops),
	      b, 400);
	dense(h,
	      FILTER(tensor_filter_pick_block_z, 3,
		     .get_child_ops = starpu_tensor_filter_pick_block_child_ops),
	      b, 400);
	dense(h,
	      FILTER(tensor_filter_pick_block_t, 5,
		     .get_child_ops = starpu_tensor_filter_pick_block_child_ops),
	      b, 400);
	starpu_data_unregister(h);
	starpu_ndim_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, ldn, nn, 5, sizeof(*b));
	for (unsigned d = 0; d < 5; d++) {
		dense(h, FILTER(ndim_filter_block, 2, .filter_arg = d), b, 1000);
		dense(h, FILTER(ndim_filter_pick_ndim, nn[d], .filter_arg = d), b, 1000);
		if (d)
			dense(h,
			      FILTER(ndim_filter_5d_pick_tensor, nn[d], .filter_arg = d,
				     .get_child_ops = starpu_ndim_filter_pick_tensor_child_ops),
			      b, 1000);
	}
	starpu_data_unregister(h);
}

/* The same data with another number of dimensions, by the filters of n-dimensional data. */
static void seen_otherwise(void)
{
	static const struct {
		void (*pick)(void *, void *, struct starpu_data_filter *, unsigned, unsigned),
			(*to)(void *, void *, struct starpu_data_filter *, unsigned, unsigned);
		struct starpu_data_interface_ops *(*pick_ops)(struct starpu_data_filter *,
							      unsigned),
			*(*to_ops)(struct starpu_data_filter *, unsigned);
	} forms[5] = {
		{ NULL, starpu_ndim_filter_to_variable, NULL,
		  starpu_ndim_filter_to_variable_child_ops },
		{ starpu_ndim_filter_1d_pick_variable, starpu_ndim_filter_to_vector,
		  starpu_ndim_filter_pick_variable_child_ops,
		  starpu_ndim_filter_to_vector_child_ops },
		{ starpu_ndim_filter_2d_pick_vector, starpu_ndim_filter_to_matrix,
		  starpu_ndim_filter_pick_vector_child_ops,
		  starpu_ndim_filter_to_matrix_child_ops },
		{ starpu_ndim_filter_3d_pick_matrix, starpu_ndim_filter_to_block,
		  starpu_ndim_filter_pick_matrix_child_ops, starpu_ndim_filter_to_block_child_ops },
		{ starpu_ndim_filter_4d_pick_block, starpu_ndim_filter_to_tensor,
		  starpu_ndim_filter_pick_block_child_ops, starpu_ndim_filter_to_tensor_child_ops },
	};
	uint32_t nn[4] = { 3, 4, 2, 3 }, ldn[4] = { 1, 5, 20, 41 };
	static int b[200];
	starpu_data_handle_t h;

	for (unsigned n = 0; n < 5; n++) {
		struct starpu_data_filter to = { .filter_func = forms[n].to,
						 .get_child_ops = forms[n].to_ops,
						 .nchildren = n ? 2 : 1,
						 .filter_arg = n ? n - 1 : 0 };
		struct starpu_data_filter pick = { .filter_func = forms[n].pick,
						   .get_child_ops = forms[n].pick_ops,
						   .filter_arg = n ? n - 1 : 0 };

		starpu_ndim_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) b, n ? ldn : NULL,
					  n ? nn : NULL, n, sizeof(*b));
		dense(h, &to, "ndim_filter_to", b, 200);
		to.nchildren = 1;
		dense(h, &to, "ndim_filter_to, one piece", b, 200);
		pick.nchildren = n ? nn[n - 1] : 0;
		dense(h, n ? &pick : NULL, "ndim pick of fewer dimensions", b, 200);
		starpu_data_unregister(h);
	}
}

/* ---- matrices with indices ---- */

static void indexed(void)
{
	uint32_t rowptr[NROW + 1], colind[NNZ], rows[NNZ];
	static int val[NNZ * R * C];
	struct starpu_data_filter csr = { .filter_func = starpu_csr_filter_vertical_block,
					  .nchildren = 3 };
	struct starpu_data_filter bcsr = { .filter_func = starpu_bcsr_filter_vertical_block,
					   .nchildren = 2 };
	struct starpu_data_filter blocks = {
		.filter_func = starpu_bcsr_filter_canonical_block,
		.get_nchildren = starpu_bcsr_filter_canonical_block_get_nchildren,
		.get_child_ops = starpu_bcsr_filter_canonical_block_child_ops
	};
	struct starpu_data_filter *filters[] = { NULL, &csr, NULL, &bcsr, &blocks };
	starpu_data_handle_t h;

	for (int kind = 0; kind < 5; kind++)
		for (int way = filters[kind] ? SYNC : WHOLE; way < (filters[kind] ? WAYS : SYNC);
		     way++) {
			int n = kind < 3 ? NNZ : NNZ * R * C;

			memcpy(rowptr, rowptr0, sizeof(rowptr));
			memcpy(colind, colind0, sizeof(colind));
			memcpy(rows, colind0, sizeof(rows));
			for (int i = 0; i < n; i++)
				val[i] = rank ? 0 : i + 1;
			if (kind < 2)
				starpu_csr_data_register(&h, STARPU_MAIN_RAM, NNZ, NROW,
							 (uintptr_t) val, colind, rowptr, 0,
							 sizeof(*val));
			else if (kind == 2)
				starpu_coo_data_register(&h, STARPU_MAIN_RAM, NROW, NROW, NNZ,
							 colind, rows, (uintptr_t) val,
							 sizeof(*val));
			else
				starpu_bcsr_data_register(&h, STARPU_MAIN_RAM, NNZ, NROW,
							  (uintptr_t) val, colind, rowptr, 0, R, C,
							  sizeof(*val));
			travel(h, filters[kind], (enum way) way);
			starpu_data_unregister(h);
			for (int i = 0; i < n; i++)
				CHECK(val[i] == expected(i + 1),
				      "matrix %d: value %d is %d, not %d", kind, i, val[i],
				      expected(i + 1));
			CHECK(!memcmp(rowptr, rowptr0, sizeof(rowptr)) &&
				      !memcmp(colind, colind0, sizeof(colind)) &&
				      !memcmp(rows, colind0, sizeof(rows)),
			      "matrix %d: indices", kind);
		}
}

/* ---- ints from and to the device, for the interfaces whose structures are not known to staged.h
 * ---- */

static int *fetch(const void *p, int n)
{
	int *v = malloc((size_t) n * sizeof(*v));

	OK(starpu_interface_copy((uintptr_t) p, 0, device_node(), (uintptr_t) v, 0, STARPU_MAIN_RAM,
				 (size_t) n * sizeof(*v), NULL));
	return v;
}

static void store(int *v, void *p, int n)
{
	OK(starpu_interface_copy((uintptr_t) v, 0, STARPU_MAIN_RAM, (uintptr_t) p, 0, device_node(),
				 (size_t) n * sizeof(*v), NULL));
	free(v);
}

static void change_there(void *p, int n, int arg)
{
	int *v = fetch(p, n);

	change_array((uintptr_t) v, (uint32_t) n, arg);
	store(v, p, n);
}

/* Data at home in the device, and without a home. */
static void elsewhere(void)
{
	enum { N = 50 };
	struct starpu_data_filter thirds = { .filter_func = starpu_vector_filter_block,
					     .nchildren = 3 };
	starpu_data_handle_t h;
	uintptr_t p = starpu_malloc_on_node(device_node(), N * sizeof(int));
	int *v;

	cl = &change_cl;
	for (int home = 0; home < 2; home++) {
		starpu_vector_data_register(&h, home ? (int) device_node() : -1, home ? p : 0, N,
					    sizeof(int));
		OK(starpu_data_acquire(h, STARPU_W));
		v = starpu_data_get_local_ptr(h);
		for (int i = 0; i < N; i++)
			v[i] = rank ? 0 : i + 1;
		starpu_data_release(h);
		travel(h, NULL, WHOLE);
		travel(h, &thirds, SYNC);
		OK(starpu_data_acquire(h, STARPU_R));
		v = starpu_data_get_local_ptr(h);
		for (int i = 0; i < N && rank == 0; i++)
			CHECK(v[i] == expected(expected(i + 1)), "home %d: value %d is %d", home, i,
			      v[i]);
		starpu_data_release(h);
		starpu_data_unregister(h);
	}
	v = fetch((void *) p, N);
	for (int i = 0; i < N && rank == 0; i++)
		CHECK(v[i] == expected(expected(i + 1)), "in the device: value %d is %d", i, v[i]);
	free(v);
	starpu_free_on_node(device_node(), p, N * sizeof(int));
}

/* The program's own interface. */
static void pair_func(void *buffers[], void *arg)
{
	struct pair_interface *p = buffers[0];

	change_there(p->first, p->n, *(int *) arg);
	change_there(p->second, p->n, *(int *) arg);
}

static struct starpu_codelet pair_cl = { .cuda_funcs = { pair_func },
					 .opencl_funcs = { pair_func },
					 .nbuffers = 1,
					 .modes = { STARPU_RW },
					 .name = "pair" };

static void pairs(void)
{
	struct pair_interface *p;
	starpu_data_handle_t h;

	cl = &pair_cl;
	new_pair(&h, 700);
	fill_pair(h, rank ? 0 : 5);
	travel(h, NULL, WHOLE);
	OK(starpu_data_acquire(h, STARPU_R));
	p = starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);
	for (int i = 0; i < p->n; i++)
		CHECK(p->first[i] == expected(5 + i) && p->second[i] == expected(-5 - i),
		      "pair %d: %d and %d", i, p->first[i], p->second[i]);
	starpu_data_release(h);
	starpu_data_unregister(h);
}

/* Layouts: an int in main memory, two on devices. */
#define NX 600

static void *mf_pointer(void *i)
{
	return device_type() == STARPU_CUDA_WORKER ? STARPU_MULTIFORMAT_GET_CUDA_PTR(i)
						   : STARPU_MULTIFORMAT_GET_OPENCL_PTR(i);
}

/* Twice the ints: each value and its negative. */
static void mf_func(void *buffers[], void *arg)
{
	int *v = fetch(mf_pointer(buffers[0]), 2 * NX);

	for (int i = 0; i < NX; i++) {
		CHECK(v[2 * i] == -v[2 * i + 1], "value %d: %d and %d", i, v[2 * i], v[2 * i + 1]);
		v[2 * i] = change(v[2 * i], *(int *) arg);
		v[2 * i + 1] = -v[2 * i];
	}
	store(v, mf_pointer(buffers[0]), 2 * NX);
}

static void to_device(void *buffers[], void *arg)
{
	int *from = fetch(STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]), NX),
	    *to = malloc(2 * NX * sizeof(*to));

	(void) arg;
	for (int i = 0; i < NX; i++) {
		to[2 * i] = from[i];
		to[2 * i + 1] = -from[i];
	}
	free(from);
	store(to, mf_pointer(buffers[0]), 2 * NX);
}

static void to_cpu(void *buffers[], void *arg)
{
	int *from = mf_pointer(buffers[0]), *to = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);

	(void) arg;
	for (int i = 0; i < NX; i++)
		to[i] = from[2 * i];
}

static struct starpu_codelet mf_cl = { .cuda_funcs = { mf_func },
				       .opencl_funcs = { mf_func },
				       .nbuffers = 1,
				       .modes = { STARPU_RW },
				       .name = "mf" };
static struct starpu_codelet to_device_cl = { .cuda_funcs = { to_device },
					      .opencl_funcs = { to_device },
					      .nbuffers = 1,
					      .modes = { STARPU_RW } };
static struct starpu_codelet to_cpu_cl = { .cpu_funcs = { to_cpu },
					   .nbuffers = 1,
					   .modes = { STARPU_RW } };

static void multiformat(void)
{
	static struct starpu_multiformat_data_interface_ops formats = {
		.cpu_elemsize = sizeof(int),
		.cuda_elemsize = 2 * sizeof(int),
		.opencl_elemsize = 2 * sizeof(int),
		.cpu_to_cuda_cl = &to_device_cl,
		.cpu_to_opencl_cl = &to_device_cl,
		.cuda_to_cpu_cl = &to_cpu_cl,
		.opencl_to_cpu_cl = &to_cpu_cl
	};
	static int v[NX];
	starpu_data_handle_t h;

	cl = &mf_cl;
	for (int i = 0; i < NX; i++)
		v[i] = rank ? 0 : i + 1;
	starpu_multiformat_data_register(&h, STARPU_MAIN_RAM, v, NX, &formats);
	travel(h, NULL, WHOLE);
	starpu_data_unregister(h);
	for (int i = 0; i < NX; i++)
		CHECK(v[i] == expected(i + 1), "multiformat: value %d is %d", i, v[i]);
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 2))
		return 77;
	cl = &change_cl;
	if (starpu_opencl_worker_get_count() + starpu_cuda_worker_get_count() && rank < 2) {
		dense_interfaces();
		seen_otherwise();
		indexed();
		elsewhere();
		pairs();
		multiformat();
	}
	return end();
}
