/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mapping of main memory to devices (enable_map): kernels of a device work on the program's buffer,
 * nothing is copied, and results are those of copies; interfaces of the program and data without a
 * buffer of the program; nothing is mapped unless asked for.
 *
 * Invariant: a datum is mapped on a node exactly when its kernel there saw the program's addresses.
 * orr-test: devices none
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 */
#include <starpu.h>

#include <errno.h>
#include <string.h>

#include "lib/test.h"

#define N 64

static int v[N], m[N * N];
static void *seen; /* by the last kernel */

static unsigned worker(int dev)
{
	return (unsigned) (dev < 0 ? starpu_worker_get_by_type(STARPU_CPU_WORKER, 0)
				   : starpu_worker_get_by_devid(STARPU_CUDA_WORKER, dev));
}

static unsigned node(int dev)
{
	return starpu_worker_get_memory_node(worker(dev));
}

static void begin(int map)
{
	struct starpu_conf conf;

	OK(starpu_conf_init(&conf));
	conf.enable_map = map;
	int ret = starpu_init(&conf);
	if (ret == -ENODEV)
		exit(77);
	CHECK_IS(ret, 0);
	CHECK_IS(starpu_map_enabled(), map);
}

static void run(struct starpu_codelet *cl, starpu_data_handle_t h, int dev)
{
	OK(starpu_task_insert(cl, cl->modes[0], h, STARPU_EXECUTE_ON_WORKER, worker(dev), 0));
	OK(starpu_task_wait_for_all());
}

/* ---- vectors ---- */

static void add(void *buffers[], void *arg)
{
	int *x = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);

	(void) arg;
	seen = x;
	for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
		x[i] += 1;
}

static void set(void *buffers[], void *arg)
{
	memset((void *) STARPU_VECTOR_GET_PTR(buffers[0]), 0, N * sizeof(int));
	add(buffers, arg);
}

static struct starpu_codelet add_cl = {
	.cpu_funcs = { add }, .cuda_funcs = { add }, .nbuffers = 1, .modes = { STARPU_RW }
};
static struct starpu_codelet set_cl = {
	.cpu_funcs = { set }, .cuda_funcs = { set }, .nbuffers = 1, .modes = { STARPU_W }
};

/* Turns between main memory and two devices, by all ways that a value takes. */
static void vectors(int mapped)
{
	starpu_data_handle_t h;
	static const int turns[] = { 0, 1, -1, 1, 0, 0, -1, -1, 0 };
	size_t used = starpu_memory_get_used(node(0));

	memset(v, 0, sizeof(v));
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, N, sizeof(v[0]));
	CHECK_IS(starpu_data_test_if_mapped_on_node(h, node(0)), 0);
	for (unsigned i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		run(&add_cl, h, turns[i]);
		CHECK_IS(seen == v, mapped || turns[i] < 0);
		CHECK_IS(starpu_data_test_if_mapped_on_node(h, node(turns[i])),
			 mapped && turns[i] >= 0);
	}
	CHECK_IS(starpu_data_test_if_mapped_on_node(h, STARPU_MAIN_RAM), 0);
	CHECK_IS(starpu_memory_get_used(node(0)) == used, mapped);
	OK(starpu_data_acquire(h, STARPU_R));
	CHECK_IS(v[0], 9);
	CHECK_IS(v[N - 1], 9);
	starpu_data_release(h);
	run(&set_cl, h, 1);
	run(&add_cl, h, 0);
	starpu_data_unregister(h);
	CHECK_IS(v[N - 1], 2);
}

/* No buffer of the program: where data are mapped, main memory's buffer is the runtime's. */
static void without_home(int mapped)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block, .nchildren = 2 };
	starpu_data_handle_t h;
	void *first;

	starpu_vector_data_register(&h, -1, 0, N, sizeof(v[0]));
	for (int i = 0; i < 2; i++) {
		run(&set_cl, h, 0);
		first = seen;
		CHECK_IS(starpu_data_test_if_mapped_on_node(h, node(0)), mapped);
		run(&add_cl, h, -1);
		CHECK_IS(seen == first, mapped);
		run(&add_cl, h, 1);
		CHECK_IS(seen == first, mapped);
		run(&add_cl, h, 0);
		OK(starpu_data_acquire(h, STARPU_R));
		CHECK_IS(((int *) starpu_data_get_local_ptr(h))[N - 1], 4);
		starpu_data_release(h);
		/* Buffers and maps go. */
		starpu_data_invalidate(h);
		CHECK_IS(starpu_data_test_if_mapped_on_node(h, node(0)), 0);
	}
	run(&set_cl, h, 1);
	starpu_data_partition(h, &f);
	run(&add_cl, starpu_data_get_child(h, 0), 0);
	run(&add_cl, starpu_data_get_child(h, 1), 1);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	run(&add_cl, h, 0);
	OK(starpu_data_acquire(h, STARPU_R));
	CHECK_IS(((int *) starpu_data_get_local_ptr(h))[0], 3);
	CHECK_IS(((int *) starpu_data_get_local_ptr(h))[N - 1], 3);
	starpu_data_release(h);
	starpu_data_unregister(h);
}

/* ---- matrices: leading dimensions, pieces ---- */

static void fill(void *buffers[], void *arg)
{
	int *x = (int *) STARPU_MATRIX_GET_PTR(buffers[0]);
	unsigned ld = STARPU_MATRIX_GET_LD(buffers[0]);

	(void) arg;
	seen = x;
	for (unsigned j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
		for (unsigned i = 0; i < STARPU_MATRIX_GET_NX(buffers[0]); i++)
			x[j * ld + i] += 1;
}

static struct starpu_codelet fill_cl = {
	.cpu_funcs = { fill }, .cuda_funcs = { fill }, .nbuffers = 1, .modes = { STARPU_RW }
};

static void matrices(void)
{
	struct starpu_data_filter f = { .filter_func = starpu_matrix_filter_block, .nchildren = 2 };
	starpu_data_handle_t h;

	memset(m, 0, sizeof(m));
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) m, N, N / 2, N, sizeof(m[0]));
	run(&fill_cl, h, 0);
	CHECK(seen == m);
	starpu_data_partition(h, &f);
	run(&fill_cl, starpu_data_get_child(h, 1), 1);
	CHECK(seen == m + N / 4);
	CHECK_IS(starpu_data_test_if_mapped_on_node(starpu_data_get_child(h, 1), node(1)), 1);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	run(&fill_cl, h, 1);
	starpu_data_unregister(h);
	for (int k = 0; k < N * N; k++)
		CHECK_IS(m[k], k % N < N / 4 ? 2 : k % N < N / 2 ? 3 : 0);
}

/* ---- sparse matrices: several arrays ---- */

static void scale(void *buffers[], void *arg)
{
	int *x = (int *) STARPU_CSR_GET_NZVAL(buffers[0]);

	(void) arg;
	seen = STARPU_CSR_GET_COLIND(buffers[0]);
	for (unsigned i = 0; i < STARPU_CSR_GET_NNZ(buffers[0]); i++)
		x[i] *= 2;
}

static struct starpu_codelet scale_cl = {
	.cpu_funcs = { scale }, .cuda_funcs = { scale }, .nbuffers = 1, .modes = { STARPU_RW }
};

static void sparse(void)
{
	static int values[3] = { 1, 2, 3 };
	static uint32_t columns[3] = { 0, 1, 2 }, rows[4] = { 0, 1, 2, 3 };
	starpu_data_handle_t h;

	starpu_csr_data_register(&h, STARPU_MAIN_RAM, 3, 3, (uintptr_t) values, columns, rows, 0,
				 sizeof(values[0]));
	run(&scale_cl, h, 0);
	CHECK(seen == columns);
	run(&scale_cl, h, -1);
	starpu_data_unregister(h);
	CHECK_IS(values[2], 12);
}

/* ---- an interface of the program ---- */

struct one {
	uintptr_t ptr;
};
static int nmaps, nunmaps, nupdates, refuses;

static void one_register(starpu_data_handle_t h, int home, void *iface)
{
	for (int i = 0; i < STARPU_MAXNODES; i++) {
		struct one *o = starpu_data_get_interface_on_node(h, (unsigned) i);

		o->ptr = i == home ? ((struct one *) iface)->ptr : 0;
	}
}

static starpu_ssize_t one_allocate(void *iface, unsigned n)
{
	((struct one *) iface)->ptr = starpu_malloc_on_node(n, sizeof(int));
	return ((struct one *) iface)->ptr ? (starpu_ssize_t) sizeof(int) : -ENOMEM;
}

static void one_free(void *iface, unsigned n)
{
	starpu_free_on_node(n, ((struct one *) iface)->ptr, sizeof(int));
}

static int one_copy(void *src, unsigned sn, void *dst, unsigned dn, void *async)
{
	return starpu_interface_copy(((struct one *) src)->ptr, 0, sn, ((struct one *) dst)->ptr, 0,
				     dn, sizeof(int), async);
}

static int one_map(void *src, unsigned sn, void *dst, unsigned dn)
{
	int ret;

	if (refuses)
		return -EOPNOTSUPP;
	CHECK_IS(sn, STARPU_MAIN_RAM);
	((struct one *) dst)->ptr = starpu_interface_map(((struct one *) src)->ptr, 0, sn, dn,
							 sizeof(int), &ret);
	nmaps += !ret;
	return ret;
}

static int one_unmap(void *src, unsigned sn, void *dst, unsigned dn)
{
	nunmaps++;
	return starpu_interface_unmap(((struct one *) src)->ptr, 0, sn, ((struct one *) dst)->ptr,
				      dn, sizeof(int));
}

static int one_update(void *src, unsigned sn, void *dst, unsigned dn)
{
	nupdates++;
	return starpu_interface_update_map(((struct one *) src)->ptr, 0, sn,
					   ((struct one *) dst)->ptr, 0, dn, sizeof(int));
}

static size_t one_size(starpu_data_handle_t h)
{
	(void) h;
	return sizeof(int);
}

static uint32_t one_footprint(starpu_data_handle_t h)
{
	(void) h;
	return 1;
}

static const struct starpu_data_copy_methods one_copies = { .any_to_any = one_copy };
static struct starpu_data_interface_ops one_ops = {
	.register_data_handle = one_register,
	.allocate_data_on_node = one_allocate,
	.free_data_on_node = one_free,
	.map_data = one_map,
	.unmap_data = one_unmap,
	.update_map = one_update,
	.copy_methods = &one_copies,
	.get_size = one_size,
	.footprint = one_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct one),
	.name = "one",
};

static void one_add(void *buffers[], void *arg)
{
	(void) arg;
	seen = (void *) ((struct one *) buffers[0])->ptr;
	*(int *) seen += 1;
}

static void one_set(void *buffers[], void *arg)
{
	*(int *) ((struct one *) buffers[0])->ptr = 0;
	one_add(buffers, arg);
}

static struct starpu_codelet one_cl = {
	.cpu_funcs = { one_add }, .cuda_funcs = { one_add }, .nbuffers = 1, .modes = { STARPU_RW }
};

static struct starpu_codelet one_set_cl = {
	.cpu_funcs = { one_set }, .cuda_funcs = { one_set }, .nbuffers = 1, .modes = { STARPU_W }
};

/* The same without a home: refusing to map leaves no buffer behind. */
static void programs_own_without_home(int refuse)
{
	struct one o = { .ptr = 0 };
	starpu_data_handle_t h;
	int there;

	nmaps = nunmaps = 0;
	refuses = refuse;
	starpu_data_register(&h, -1, &o, &one_ops);
	run(&one_set_cl, h, 0);
	starpu_data_query_status(h, STARPU_MAIN_RAM, &there, NULL, NULL);
	CHECK_IS(there, !refuse);
	run(&one_cl, h, 1);
	run(&one_cl, h, -1);
	CHECK_IS(*(int *) seen, 3);
	starpu_data_unregister(h);
	CHECK_IS(nmaps, refuse ? 0 : 2);
	CHECK_IS(nunmaps, nmaps);
}

static void programs_own(int refuse)
{
	int x = 0;
	struct one o = { .ptr = (uintptr_t) &x };
	starpu_data_handle_t h;

	nmaps = nunmaps = nupdates = 0;
	refuses = refuse;
	starpu_data_register(&h, STARPU_MAIN_RAM, &o, &one_ops);
	run(&one_cl, h, 0);
	CHECK_IS(seen == &x, !refuse);
	run(&one_cl, h, -1);
	run(&one_cl, h, 1);
	run(&one_cl, h, 0);
	CHECK_IS(starpu_data_test_if_mapped_on_node(h, node(0)), !refuse);
	starpu_data_unregister(h);
	CHECK_IS(x, 4);
	CHECK_IS(nmaps, refuse ? 0 : 2);
	CHECK_IS(nunmaps, nmaps);
	/* To device 0, back, to device 1, from there to 0 by way of main memory, and home. */
	CHECK_IS(nupdates, refuse ? 0 : 6);
}

/* Addresses and nodes that cannot be. */
static void wrong(void)
{
	int x, ret = 0;

	CHECK(!starpu_interface_map((uintptr_t) &x, 0, STARPU_MAIN_RAM, 99, sizeof(x), &ret));
	CHECK_IS(ret, -EINVAL);
	CHECK(!starpu_interface_map((uintptr_t) &x, 0, node(0), STARPU_MAIN_RAM, sizeof(x), &ret));
	CHECK_IS(ret, -EOPNOTSUPP);
	CHECK_IS(starpu_interface_unmap((uintptr_t) &x, 0, STARPU_MAIN_RAM, (uintptr_t) &ret,
					node(0), sizeof(x)),
		 -EINVAL);
	CHECK_IS(starpu_interface_update_map((uintptr_t) &x, 0, STARPU_MAIN_RAM, (uintptr_t) &ret,
					     0, node(0), sizeof(x)),
		 -EINVAL);
}

int main(void)
{
	begin(0);
	vectors(0);
	without_home(0);
	starpu_shutdown();
	begin(1);
	vectors(1);
	without_home(1);
	matrices();
	sparse();
	programs_own(0);
	programs_own(1);
	programs_own_without_home(0);
	programs_own_without_home(1);
	wrong();
	starpu_shutdown();
	setenv("STARPU_ENABLE_MAP", "1", 1);
	OK(starpu_init(NULL));
	CHECK_IS(starpu_map_enabled(), 1);
	vectors(1);
	starpu_shutdown();
	/* Buffers of the runtime come and go where main memory is limited. */
	setenv("STARPU_LIMIT_CPU_MEM", "10", 1);
	begin(1);
	without_home(0);
	starpu_shutdown();
	return 0;
}
