/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data at home in a device, cut there: pieces are the father's dev_handle and an offset, on the
 * device as everywhere (handbook 27.7). Every dense interface and each direction to cut or pick;
 * the pieces are changed on the device, on the other device and on CPUs, by turns, and gathered in
 * the device again. Buffers given with an offset of their own, too.
 *
 * Invariant: bytes between columns never change. With ORRERY_FAKE_OPENCL (iface_opencl.sh) any
 * arithmetic on dev_handle ends the program.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 */
#include "data/iface_test.h"
#include "data/staged.h"

#define SLACK 37 /* elements around the data in their buffer */

static enum starpu_worker_archtype device;

static int change(int v, int arg)
{
	return (int) ((unsigned) v * 3 + (unsigned) arg);
}

static void dense_func(void *buffers[], void *arg)
{
	struct view v = view_of(buffers[0]);
	uint32_t at[MAXDIM] = { 0 };

	do
		*element(&v, at) = change(*element(&v, at), *(int *) arg);
	while (next_index(&v, at));
}
STAGED(dense_staged, dense_func, 1)

static struct starpu_codelet cl = { .cpu_funcs = { dense_func },
				    .cuda_funcs = { dense_func },
				    .opencl_funcs = { dense_staged },
				    .nbuffers = 1,
				    .modes = { STARPU_RW },
				    .name = "dense" };

/* On unit 0 or 1 of the devices, or on a CPU. */
static void run_on(unsigned unit, starpu_data_handle_t h, int arg)
{
	struct starpu_task *task = starpu_task_create();
	int *copy = malloc(sizeof(*copy));

	*copy = arg;
	task->cl = &cl;
	task->handles[0] = h;
	task->cl_arg = copy;
	task->cl_arg_size = sizeof(*copy);
	task->cl_arg_free = 1;
	task->execute_on_a_specific_worker = 1;
	task->workerid = (unsigned) (unit < 2 ? starpu_worker_get_by_type(device, (int) unit)
					      : starpu_worker_get_by_type(STARPU_CPU_WORKER, 0));
	CHECK(starpu_task_submit(task) == 0);
}

static unsigned home(void)
{
	return starpu_worker_get_memory_node((unsigned) starpu_worker_get_by_type(device, 0));
}

/* n ints in the device's memory. */
static uintptr_t new_buffer(const int *v, size_t n)
{
	uintptr_t p = starpu_malloc_on_node(home(), n * sizeof(*v));

	CHECK(p);
	CHECK(starpu_interface_copy((uintptr_t) v, 0, STARPU_MAIN_RAM, p, 0, home(), n * sizeof(*v),
				    NULL) == 0);
	return p;
}

static void end_buffer(uintptr_t p, const int *want, size_t n)
{
	int *got = malloc(n * sizeof(*got));

	CHECK(starpu_interface_copy(p, 0, home(), (uintptr_t) got, 0, STARPU_MAIN_RAM,
				    n * sizeof(*got), NULL) == 0);
	for (size_t i = 0; i < n; i++)
		CHECK(got[i] == want[i], "element %zu is %d, not %d", i, got[i], want[i]);
	starpu_free_on_node(home(), p, n * sizeof(*got));
	free(got);
}

/* The part that a piece covers, in the program's copy v of the father's buffer: the same filter
 * applied there tells. */
static void change_piece(struct starpu_data_filter *f, void *father, unsigned i, unsigned n,
			 int arg)
{
	void *child = calloc(1, 256);
	struct view v;
	uint32_t at[MAXDIM] = { 0 };

	f->filter_func(father, child, f, i, n);
	v = view_of(child);
	do
		*element(&v, at) = change(*element(&v, at), arg);
	while (next_index(&v, at));
	if (*(enum starpu_data_interface_id *) child == STARPU_NDIM_INTERFACE_ID) {
		free(STARPU_NDIM_GET_NN(child));
		free(STARPU_NDIM_GET_LDN(child));
	}
	free(child);
}

/* Cuts h, whose buffer in the device is `p`, as f says, and changes the pieces; `father` describes
 * the same data in the program's copy. */
static void cut(starpu_data_handle_t h, void *father, struct starpu_data_filter f)
{
	unsigned n = f.nchildren;

	starpu_data_partition(h, &f);
	CHECK(starpu_data_get_nb_children(h) == (int) n);
	for (unsigned i = 0; i < n; i++) {
		void *piece = starpu_data_get_interface_on_node(starpu_data_get_child(h, i),
								home());
		struct staged_array a = staged_dense(piece),
				    b = staged_dense(starpu_data_get_interface_on_node(h, home()));

		CHECK(a.handle == b.handle && a.offset >= b.offset);
		for (unsigned turn = 0; turn < 3; turn++) {
			run_on((turn + i) % 3, starpu_data_get_child(h, i), (int) (10 * i + turn));
			change_piece(&f, father, i, n, (int) (10 * i + turn));
		}
	}
	starpu_data_unpartition(h, home());
	CHECK(starpu_data_is_on_node(h, home()));
}

#define FILTER(func, n, ...) \
	((struct starpu_data_filter){ .filter_func = starpu_##func, .nchildren = n, __VA_ARGS__ })
#define POSITION(k) .filter_arg_ptr = (void *) (uintptr_t) (k)

static int *fresh(size_t n)
{
	int *v = malloc(n * sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = (int) i + 1;
	return v;
}

static void vectors(void)
{
	const uint32_t nx = 23;
	int *v = fresh(nx);
	struct starpu_vector_interface father = { .id = STARPU_VECTOR_INTERFACE_ID,
						  .ptr = (uintptr_t) v,
						  .nx = nx,
						  .elemsize = sizeof(*v) };
	uintptr_t p = new_buffer(v, nx);
	starpu_data_handle_t h;

	starpu_vector_data_register(&h, (int) home(), p, nx, sizeof(*v));
	cut(h, &father, FILTER(vector_filter_block, 4));
	cut(h, &father, FILTER(vector_filter_divide_in_2, 2, .filter_arg = 7));
	cut(h, &father,
	    FILTER(vector_filter_pick_variable, 5, POSITION(11),
		   .get_child_ops = starpu_vector_filter_pick_variable_child_ops));
	starpu_data_unregister(h);
	end_buffer(p, v, nx);
	free(v);
}

static void matrices(void)
{
	const uint32_t nx = 11, ny = 7, ld = 13;
	static uint32_t pos[2] = { 4, 5 };
	int *v = fresh(ld * ny);
	struct starpu_matrix_interface father = { .id = STARPU_MATRIX_INTERFACE_ID,
						  .ptr = (uintptr_t) v,
						  .ld = ld,
						  .nx = nx,
						  .ny = ny,
						  .elemsize = sizeof(*v) };
	uintptr_t p = new_buffer(v, ld * ny);
	starpu_data_handle_t h;

	starpu_matrix_data_register(&h, (int) home(), p, ld, nx, ny, sizeof(*v));
	cut(h, &father, FILTER(matrix_filter_block, 3));
	cut(h, &father, FILTER(matrix_filter_vertical_block, 4));
	cut(h, &father,
	    FILTER(matrix_filter_pick_vector_y, 3, POSITION(2),
		   .get_child_ops = starpu_matrix_filter_pick_vector_child_ops));
	cut(h, &father,
	    FILTER(matrix_filter_pick_variable, 4, .filter_arg_ptr = pos,
		   .get_child_ops = starpu_matrix_filter_pick_variable_child_ops));
	starpu_data_unregister(h);
	end_buffer(p, v, ld * ny);
	free(v);
}

static void blocks(void)
{
	const uint32_t nx = 5, ny = 4, nz = 6, ldy = 7, ldz = 40;
	static uint32_t pos[3] = { 1, 2, 3 };
	int *v = fresh(ldz * nz);
	struct starpu_block_interface father = { .id = STARPU_BLOCK_INTERFACE_ID,
						 .ptr = (uintptr_t) v,
						 .nx = nx,
						 .ny = ny,
						 .nz = nz,
						 .ldy = ldy,
						 .ldz = ldz,
						 .elemsize = sizeof(*v) };
	uintptr_t p = new_buffer(v, ldz * nz);
	starpu_data_handle_t h;

	starpu_block_data_register(&h, (int) home(), p, ldy, ldz, nx, ny, nz, sizeof(*v));
	cut(h, &father, FILTER(block_filter_block, 2));
	cut(h, &father, FILTER(block_filter_vertical_block, 3));
	cut(h, &father, FILTER(block_filter_depth_block, 4));
	cut(h, &father,
	    FILTER(block_filter_pick_matrix_z, 3, POSITION(2),
		   .get_child_ops = starpu_block_filter_pick_matrix_child_ops));
	cut(h, &father,
	    FILTER(block_filter_pick_matrix_y, 2, POSITION(1),
		   .get_child_ops = starpu_block_filter_pick_matrix_child_ops));
	cut(h, &father,
	    FILTER(block_filter_pick_variable, 4, .filter_arg_ptr = pos,
		   .get_child_ops = starpu_block_filter_pick_variable_child_ops));
	starpu_data_unregister(h);
	end_buffer(p, v, ldz * nz);
	free(v);
}

static void tensors(void)
{
	const uint32_t nx = 4, ny = 3, nz = 5, nt = 4, ldy = 5, ldz = 17, ldt = 90;
	static uint32_t pos[4] = { 0, 2, 3, 1 };
	int *v = fresh(ldt * nt);
	struct starpu_tensor_interface father = { .id = STARPU_TENSOR_INTERFACE_ID,
						  .ptr = (uintptr_t) v,
						  .nx = nx,
						  .ny = ny,
						  .nz = nz,
						  .nt = nt,
						  .ldy = ldy,
						  .ldz = ldz,
						  .ldt = ldt,
						  .elemsize = sizeof(*v) };
	uintptr_t p = new_buffer(v, ldt * nt);
	starpu_data_handle_t h;

	starpu_tensor_data_register(&h, (int) home(), p, ldy, ldz, ldt, nx, ny, nz, nt, sizeof(*v));
	cut(h, &father, FILTER(tensor_filter_block, 2));
	cut(h, &father, FILTER(tensor_filter_vertical_block, 3));
	cut(h, &father, FILTER(tensor_filter_depth_block, 4));
	cut(h, &father, FILTER(tensor_filter_time_block, 3));
	cut(h, &father,
	    FILTER(tensor_filter_pick_block_t, 2, POSITION(1),
		   .get_child_ops = starpu_tensor_filter_pick_block_child_ops));
	cut(h, &father,
	    FILTER(tensor_filter_pick_block_z, 2, POSITION(3),
		   .get_child_ops = starpu_tensor_filter_pick_block_child_ops));
	cut(h, &father,
	    FILTER(tensor_filter_pick_block_y, 1, POSITION(2),
		   .get_child_ops = starpu_tensor_filter_pick_block_child_ops));
	cut(h, &father,
	    FILTER(tensor_filter_pick_variable, 4, .filter_arg_ptr = pos,
		   .get_child_ops = starpu_tensor_filter_pick_variable_child_ops));
	starpu_data_unregister(h);
	end_buffer(p, v, ldt * nt);
	free(v);
}

static void ndims(void)
{
	uint32_t nn[5] = { 3, 4, 2, 3, 4 }, ldn[5] = { 1, 3, 14, 30, 100 }, d;
	const size_t n = 100 * 4;
	static uint32_t pos[5] = { 0, 1, 1, 2, 3 };
	int *v = fresh(n);
	struct starpu_ndim_interface father = { .id = STARPU_NDIM_INTERFACE_ID,
						.ptr = (uintptr_t) v,
						.nn = nn,
						.ldn = ldn,
						.ndim = 5,
						.elemsize = sizeof(*v) };
	uintptr_t p = new_buffer(v, n);
	starpu_data_handle_t h;

	starpu_ndim_data_register(&h, (int) home(), p, ldn, nn, 5, sizeof(*v));
	for (d = 0; d < 5; d++) {
		cut(h, &father, FILTER(ndim_filter_block, nn[d] > 2 ? 3 : 2, .filter_arg = d));
		cut(h, &father, FILTER(ndim_filter_pick_ndim, 1, .filter_arg = d, POSITION(1)));
		if (d)
			cut(h, &father,
			    FILTER(ndim_filter_5d_pick_tensor, 2, .filter_arg = d,
				   .get_child_ops = starpu_ndim_filter_pick_tensor_child_ops));
	}
	cut(h, &father,
	    FILTER(ndim_filter_pick_variable, 3, .filter_arg_ptr = pos,
		   .get_child_ops = starpu_ndim_filter_pick_variable_child_ops));
	starpu_data_unregister(h);
	end_buffer(p, v, n);
	free(v);
}

/* Buffers that begin somewhere inside of an allocation, given by starpu_*_ptr_register; cut as
 * well. */
static void given(void)
{
	const uint32_t nx = 10, ny = 6, ld = 12;
	const size_t n = 2 * SLACK + ld * ny;
	int *v = fresh(n), arg = 1;
	struct starpu_matrix_interface father = { .id = STARPU_MATRIX_INTERFACE_ID,
						  .ptr = (uintptr_t) (v + SLACK),
						  .ld = ld,
						  .nx = nx,
						  .ny = ny,
						  .elemsize = sizeof(*v) };
	struct starpu_data_filter whole = FILTER(matrix_filter_block, 1);
	uintptr_t p = new_buffer(v, n),
		  ptr = device == STARPU_CUDA_WORKER ? p + SLACK * sizeof(*v) : p;
	int *ram = calloc(nx * ny, sizeof(*ram));
	starpu_data_handle_t h;

	for (uint32_t y = 0; y < ny; y++)
		for (uint32_t x = 0; x < nx; x++)
			ram[y * nx + x] = v[SLACK + y * ld + x];
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) ram, nx, nx, ny, sizeof(*v));
	starpu_matrix_ptr_register(h, home(), ptr, p, SLACK * sizeof(*v), ld);
	run_on(0, h, arg);
	change_piece(&whole, &father, 0, 1, arg);
	run_on(2, h, ++arg);
	change_piece(&whole, &father, 0, 1, arg);
	run_on(0, h, ++arg);
	change_piece(&whole, &father, 0, 1, arg);
	starpu_data_unregister(h);
	for (uint32_t y = 0; y < ny; y++)
		for (uint32_t x = 0; x < nx; x++)
			CHECK(ram[y * nx + x] == v[SLACK + y * ld + x]);
	end_buffer(p, v, n);
	free(ram);
	free(v);
}

/* Packed in the device and unpacked there. */
static void packs(void)
{
	const uint32_t nx = 10, ny = 6, ld = 12;
	int *v = fresh(ld * ny), *w = calloc(nx * ny, sizeof(*w));
	struct starpu_data_filter f = FILTER(matrix_filter_block, 2);
	uintptr_t p = new_buffer(v, ld * ny);
	starpu_data_handle_t h, piece;
	starpu_ssize_t count;
	void *bytes;

	starpu_matrix_data_register(&h, (int) home(), p, ld, nx, ny, sizeof(*v));
	starpu_data_partition(h, &f);
	piece = starpu_data_get_child(h, 1);
	CHECK(starpu_data_acquire_on_node(piece, (int) home(), STARPU_RW) == 0);
	CHECK(starpu_data_pack_node(piece, home(), &bytes, &count) == 0 &&
	      count == (starpu_ssize_t) (nx / 2 * ny * sizeof(*v)));
	CHECK(starpu_interface_copy((uintptr_t) bytes, 0, home(), (uintptr_t) w, 0, STARPU_MAIN_RAM,
				    (size_t) count, NULL) == 0);
	for (uint32_t y = 0; y < ny; y++)
		for (uint32_t x = 0; x < nx / 2; x++) {
			CHECK(w[y * (nx / 2) + x] == v[y * ld + nx / 2 + x]);
			v[y * ld + nx / 2 + x] = w[y * (nx / 2) + x] *= -2;
		}
	CHECK(starpu_interface_copy((uintptr_t) w, 0, STARPU_MAIN_RAM, (uintptr_t) bytes, 0, home(),
				    (size_t) count, NULL) == 0);
	CHECK(starpu_data_unpack_node(piece, home(), bytes, (size_t) count) == 0);
	starpu_data_release_on_node(piece, (int) home());
	starpu_data_unpartition(h, home());
	starpu_data_unregister(h);
	end_buffer(p, v, ld * ny);
	free(v);
	free(w);
}

/* Compressed rows have no offsets: they are cut in main memory, wherever they are at home. */
static void rows(void)
{
	uint32_t rowptr[5] = { 0, 2, 3, 5, 6 }, colind[6] = { 0, 3, 1, 2, 4, 0 };
	int v[6] = { 1, 2, 3, 4, 5, 6 };
	struct starpu_data_filter f = FILTER(csr_filter_vertical_block, 2);
	uintptr_t p = new_buffer(v, 6), c = new_buffer((int *) colind, 6),
		  r = new_buffer((int *) rowptr, 5);
	starpu_data_handle_t h;
	struct starpu_csr_interface *piece;

	starpu_csr_data_register(&h, (int) home(), 6, 4, p, (uint32_t *) c, (uint32_t *) r, 0,
				 sizeof(*v));
	starpu_data_partition(h, &f);
	piece = starpu_data_get_interface_on_node(starpu_data_get_child(h, 1), STARPU_MAIN_RAM);
	CHECK(starpu_data_acquire(starpu_data_get_child(h, 1), STARPU_RW) == 0);
	CHECK(piece->nnz == 3 && piece->nrow == 2 && piece->firstentry == 3 &&
	      piece->rowptr[0] == 3 && piece->colind[2] == 0);
	((int *) piece->nzval)[2] = v[5] = 60;
	starpu_data_release(starpu_data_get_child(h, 1));
	starpu_data_unpartition(h, home());
	starpu_data_unregister(h);
	end_buffer(p, v, 6);
	end_buffer(c, (int *) colind, 6);
	end_buffer(r, (int *) rowptr, 5);
}

int main(void)
{
	start();
	device = starpu_opencl_worker_get_count() ? STARPU_OPENCL_WORKER : STARPU_CUDA_WORKER;
	if (starpu_worker_get_count_by_type(device) < 2 || !starpu_cpu_worker_get_count())
		return 77;
	vectors();
	matrices();
	blocks();
	tensors();
	ndims();
	given();
	packs();
	rows();
	starpu_shutdown();
	return 0;
}
