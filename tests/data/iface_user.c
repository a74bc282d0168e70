/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An interface of the program with every operation: complex numbers in two arrays, each a
 * dev_handle with a common offset (handbook 27.7, 27.9). Registered, moved to devices and back,
 * cached and reused, resized, partitioned, packed, compared byte by byte.
 *
 * Invariant: no operation computes with a dev_handle, or asks what kind of memory it is about.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 */
#include <starpu.h>

#include <errno.h>
#include <string.h>

#include "lib/test.h"

#define N 1000

struct complex_interface {
	uintptr_t re, im; /* what the allocations returned */
	size_t offset;    /* of both, in bytes */
	uint32_t nx, max; /* numbers, and how many the allocations hold */
};

static unsigned ncached, nreused, nallocated;

static size_t bytes(const struct complex_interface *c)
{
	return c->nx * sizeof(double);
}
static size_t max_bytes(const struct complex_interface *c)
{
	return c->max * sizeof(double);
}
static struct complex_interface *on(starpu_data_handle_t h, unsigned node)
{
	return starpu_data_get_interface_on_node(h, node);
}

static void complex_register(starpu_data_handle_t h, int home, void *iface)
{
	for (int node = 0; node < STARPU_MAXNODES; node++) {
		struct complex_interface *c = on(h, (unsigned) node);

		*c = *(struct complex_interface *) iface;
		if (node != home)
			c->re = c->im = c->offset = 0;
	}
}

static starpu_ssize_t complex_allocate(void *iface, unsigned node)
{
	struct complex_interface *c = iface;

	c->re = starpu_malloc_on_node(node, max_bytes(c));
	c->im = c->re ? starpu_malloc_on_node(node, max_bytes(c)) : 0;
	if (!c->im) {
		starpu_free_on_node(node, c->re, max_bytes(c));
		c->re = 0;
		return -ENOMEM;
	}
	c->offset = 0;
	__atomic_add_fetch(&nallocated, 1, __ATOMIC_RELAXED);
	return (starpu_ssize_t) (2 * max_bytes(c));
}

static void complex_free(void *iface, unsigned node)
{
	struct complex_interface *c = iface;

	starpu_free_on_node(node, c->re, max_bytes(c));
	starpu_free_on_node(node, c->im, max_bytes(c));
	c->re = c->im = 0;
}

static void complex_cache(void *cached, void *from, unsigned node)
{
	struct complex_interface *c = from;

	(void) node;
	memcpy(cached, from, sizeof(*c));
	c->re = c->im = 0;
	__atomic_add_fetch(&ncached, 1, __ATOMIC_RELAXED);
}

static void complex_reuse(void *iface, const void *cached, unsigned node)
{
	struct complex_interface *c = iface;
	const struct complex_interface *from = cached;

	(void) node;
	c->re = from->re;
	c->im = from->im;
	c->offset = from->offset;
	__atomic_add_fetch(&nreused, 1, __ATOMIC_RELAXED);
}

static size_t complex_size(starpu_data_handle_t h)
{
	return 2 * bytes(on(h, STARPU_MAIN_RAM));
}
static size_t complex_alloc_size(starpu_data_handle_t h)
{
	return 2 * max_bytes(on(h, STARPU_MAIN_RAM));
}
static uint32_t complex_footprint(starpu_data_handle_t h)
{
	return starpu_hash_crc32c_be(on(h, STARPU_MAIN_RAM)->nx, 0);
}
static uint32_t complex_alloc_footprint(starpu_data_handle_t h)
{
	return starpu_hash_crc32c_be(on(h, STARPU_MAIN_RAM)->max, 0);
}
static int complex_compare(void *a, void *b)
{
	return ((struct complex_interface *) a)->nx == ((struct complex_interface *) b)->nx;
}
static int complex_alloc_compare(void *a, void *b)
{
	return ((struct complex_interface *) a)->max == ((struct complex_interface *) b)->max;
}
static void complex_display(starpu_data_handle_t h, FILE *f)
{
	fprintf(f, "%u complex numbers", on(h, STARPU_MAIN_RAM)->nx);
}

static starpu_ssize_t complex_describe(void *iface, char *buf, size_t size)
{
	return snprintf(buf, size, "C%u", ((struct complex_interface *) iface)->nx);
}

static void *complex_pointer(void *iface, unsigned node)
{
	struct complex_interface *c = iface;

	(void) node;
	return (void *) (c->re + c->offset);
}

static int copy_both(uintptr_t re, uintptr_t im, size_t offset, unsigned node, uintptr_t to_re,
		     uintptr_t to_im, size_t to_offset, unsigned to_node, size_t size,
		     void *async_data)
{
	int a = starpu_interface_copy(re, offset, node, to_re, to_offset, to_node, size,
				      async_data);
	int b = starpu_interface_copy(im, offset, node, to_im, to_offset, to_node, size,
				      async_data);

	return a && a != -EAGAIN ? a : b ? b : a;
}

static int complex_copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
			void *async_data)
{
	struct complex_interface *s = src, *d = dst;

	CHECK(s->nx <= d->max);
	d->nx = s->nx;
	return copy_both(s->re, s->im, s->offset, src_node, d->re, d->im, d->offset, dst_node,
			 bytes(s), async_data);
}

/* Real parts, then imaginary ones, in memory of the node. */
static int complex_pack(starpu_data_handle_t h, unsigned node, void **ptr, starpu_ssize_t *count)
{
	struct complex_interface *c = on(h, node);
	uintptr_t to;

	*count = (starpu_ssize_t) (2 * bytes(c));
	if (!ptr)
		return 0;
	to = starpu_malloc_on_node_flags(node, 2 * bytes(c), 0);
	if (!to)
		return -ENOMEM;
	*ptr = (void *) to;
	return starpu_interface_copy(c->re, c->offset, node, to, 0, node, bytes(c), NULL) ||
	       starpu_interface_copy(c->im, c->offset, node, to, bytes(c), node, bytes(c), NULL);
}

static int complex_peek(starpu_data_handle_t h, unsigned node, void *ptr, size_t count)
{
	struct complex_interface *c = on(h, node);

	if (count != 2 * bytes(c))
		return -EINVAL;
	return starpu_interface_copy((uintptr_t) ptr, 0, node, c->re, c->offset, node, bytes(c),
				     NULL) ||
	       starpu_interface_copy((uintptr_t) ptr, bytes(c), node, c->im, c->offset, node,
				     bytes(c), NULL);
}

static int complex_unpack(starpu_data_handle_t h, unsigned node, void *ptr, size_t count)
{
	int ret = complex_peek(h, node, ptr, count);

	if (!ret)
		starpu_free_on_node_flags(node, (uintptr_t) ptr, count, 0);
	return ret;
}

static const struct starpu_data_copy_methods copy_methods = { .any_to_any = complex_copy };

static struct starpu_data_interface_ops complex_ops = {
	.register_data_handle = complex_register,
	.allocate_data_on_node = complex_allocate,
	.free_data_on_node = complex_free,
	.cache_data_on_node = complex_cache,
	.reuse_data_on_node = complex_reuse,
	.copy_methods = &copy_methods,
	.to_pointer = complex_pointer,
	.get_size = complex_size,
	.get_alloc_size = complex_alloc_size,
	.get_max_size = complex_alloc_size,
	.footprint = complex_footprint,
	.alloc_footprint = complex_alloc_footprint,
	.compare = complex_compare,
	.alloc_compare = complex_alloc_compare,
	.display = complex_display,
	.describe = complex_describe,
	.pack_data = complex_pack,
	.peek_data = complex_peek,
	.unpack_data = complex_unpack,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct complex_interface),
	.name = "complex",
};

static void new_complex(starpu_data_handle_t *h, int home, double *re, double *im, uint32_t nx,
			uint32_t max)
{
	struct complex_interface c = {
		.re = (uintptr_t) re, .im = (uintptr_t) im, .nx = nx, .max = max
	};

	starpu_data_register(h, home, &c, &complex_ops);
}

static void complex_filter(void *father, void *child, struct starpu_data_filter *f, unsigned id,
			   unsigned nparts)
{
	struct complex_interface *from = father, *c = child;
	unsigned chunk;
	size_t offset;

	(void) f;
	starpu_filter_nparts_compute_chunk_size_and_offset(from->nx, nparts, sizeof(double), id, 1,
							   &chunk, &offset);
	*c = *from;
	c->nx = c->max = chunk;
	c->offset += offset;
}

/* ---- kernels ---- */

/* x = i x + value, on copies in main memory of what the unit has. */
static void turn_func(void *buffers[], void *arg)
{
	struct complex_interface *c = buffers[0];
	unsigned node = starpu_worker_get_memory_node((unsigned) starpu_worker_get_id()), i;
	double *v = malloc(2 * bytes(c) + 1), *re = v, *im = v + c->nx;
	int value;

	starpu_codelet_unpack_args(arg, &value);
	CHECK(copy_both(c->re, c->im, c->offset, node, (uintptr_t) re, (uintptr_t) im, 0,
			STARPU_MAIN_RAM, bytes(c), NULL) == 0);
	for (i = 0; i < c->nx; i++) {
		double x = re[i];

		re[i] = -im[i] + value;
		im[i] = x;
	}
	CHECK(copy_both((uintptr_t) re, (uintptr_t) im, 0, STARPU_MAIN_RAM, c->re, c->im, c->offset,
			node, bytes(c), NULL) == 0);
	free(v);
}

/* Half as many numbers from now on (27.1). */
static void halve_func(void *buffers[], void *arg)
{
	(void) arg;
	((struct complex_interface *) buffers[0])->nx /= 2;
}

static struct starpu_codelet turn_cl = { .cpu_funcs = { turn_func },
					 .cuda_funcs = { turn_func },
					 .opencl_funcs = { turn_func },
					 .nbuffers = 1,
					 .modes = { STARPU_RW },
					 .name = "turn" };
static struct starpu_codelet halve_cl = { .cpu_funcs = { halve_func },
					  .cuda_funcs = { halve_func },
					  .opencl_funcs = { halve_func },
					  .nbuffers = 1,
					  .modes = { STARPU_RW },
					  .name = "halve" };

/* Unit 0: a CPU, others: devices. */
static unsigned worker(unsigned unit)
{
	return unit ? starpu_cpu_worker_get_count() + unit - 1 : 0;
}

static unsigned node_of(unsigned unit)
{
	return starpu_worker_get_memory_node(worker(unit));
}

static void run(struct starpu_codelet *cl, unsigned unit, starpu_data_handle_t h, int value)
{
	CHECK(starpu_task_insert(cl, STARPU_RW, h, STARPU_VALUE, &value, sizeof(value),
				 STARPU_EXECUTE_ON_WORKER, worker(unit), 0) == 0);
}

static void turn(double *re, double *im, unsigned n, int value)
{
	for (unsigned i = 0; i < n; i++) {
		double x = re[i];

		re[i] = -im[i] + value;
		im[i] = x;
	}
}

/* ---- what is checked ---- */

static double re[N], im[N], want_re[N], want_im[N];

static void moves(starpu_data_handle_t h)
{
	unsigned i, nunits = starpu_worker_get_count() - starpu_cpu_worker_get_count() + 1;

	for (i = 0; i < 9; i++) {
		run(&turn_cl, i % nunits, h, (int) i);
		turn(want_re, want_im, N, (int) i);
		if (i % 4 == 1) {
			CHECK(starpu_data_acquire(h, STARPU_R) == 0);
			CHECK(!memcmp(re, want_re, sizeof(re)) && !memcmp(im, want_im, sizeof(im)));
			starpu_data_release(h);
		}
	}
}

static void pieces(starpu_data_handle_t h)
{
	struct starpu_data_filter f = { .filter_func = complex_filter, .nchildren = 7 };
	starpu_data_handle_t c[7];
	unsigned i, start = 0,
		    nunits = starpu_worker_get_count() - starpu_cpu_worker_get_count() + 1;

	starpu_data_partition_plan(h, &f, c);
	starpu_data_partition_submit(h, 7, c);
	for (i = 0; i < 7; i++) {
		unsigned n = on(c[i], STARPU_MAIN_RAM)->nx;

		run(&turn_cl, i % nunits, c[i], (int) i);
		run(&turn_cl, (i + 1) % nunits, c[i], (int) i);
		turn(want_re + start, want_im + start, n, (int) i);
		turn(want_re + start, want_im + start, n, (int) i);
		start += n;
	}
	CHECK(start == N);
	starpu_data_unpartition_submit(h, 7, c, STARPU_MAIN_RAM);
	run(&turn_cl, nunits - 1, h, 3);
	turn(want_re, want_im, N, 3);
	starpu_data_partition_clean(h, 7, c);
}

/* Packed where it is, unpacked elsewhere. */
static void packs(starpu_data_handle_t h)
{
	unsigned last = starpu_worker_get_count() - starpu_cpu_worker_get_count(),
		 node = node_of(last);
	double *v = malloc(2 * sizeof(re)), *w = malloc(2 * sizeof(re));
	starpu_data_handle_t other;
	starpu_ssize_t count = 0;
	void *packed;

	new_complex(&other, -1, NULL, NULL, N, N);
	CHECK(starpu_data_acquire_on_node(h, (int) node, STARPU_R) == 0 &&
	      starpu_data_acquire_on_node(other, (int) node, STARPU_W) == 0);
	CHECK(starpu_data_pack_node(h, node, NULL, &count) == 0 && count == 2 * sizeof(re));
	CHECK(starpu_data_pack_node(h, node, &packed, &count) == 0 && count == 2 * sizeof(re));
	CHECK(starpu_interface_copy((uintptr_t) packed, 0, node, (uintptr_t) v, 0, STARPU_MAIN_RAM,
				    2 * sizeof(re), NULL) == 0);
	CHECK(!memcmp(v, want_re, sizeof(re)) && !memcmp(v + N, want_im, sizeof(im)));
	CHECK(starpu_data_peek_node(other, node, packed, 5) == -EINVAL);
	CHECK(starpu_data_peek_node(other, node, packed, (size_t) count) == 0);
	CHECK(starpu_data_unpack_node(other, node, packed, (size_t) count) == 0);
	starpu_data_release_on_node(other, (int) node);
	starpu_data_release_on_node(h, (int) node);
	CHECK(starpu_data_acquire(other, STARPU_R) == 0);
	CHECK(starpu_data_pack(other, &packed, &count) == 0);
	CHECK(!memcmp(packed, v, 2 * sizeof(re)));
	starpu_data_release(other);
	starpu_free_on_node_flags(STARPU_MAIN_RAM, (uintptr_t) packed, (size_t) count, 0);
	starpu_data_unregister(other);
	free(v);
	free(w);
}

/* Buffers of a data that ended serve the next one that takes as much, whatever its size in use. */
static void cache(unsigned unit)
{
	unsigned before = nallocated, again = nreused;
	starpu_data_handle_t h;

	for (int i = 0; i < 4; i++) {
		new_complex(&h, -1, NULL, NULL, 10 + (unsigned) i, 64);
		CHECK(starpu_data_request_allocation(h, node_of(unit)) == 0);
		starpu_data_unregister(h);
	}
	CHECK(nallocated == before + 1 && nreused == again + 3);
	complex_ops.dontcache = 1;
	again = ncached;
	for (int i = 0; i < 3; i++) {
		new_complex(&h, -1, NULL, NULL, 10, 65);
		CHECK(starpu_data_request_allocation(h, node_of(unit)) == 0);
		starpu_data_unregister(h);
	}
	CHECK(nallocated == before + 4 && ncached == again);
	complex_ops.dontcache = 0;
}

/* The size in use changes in a task on a device, and goes home with the value. */
static void shrinks(unsigned unit)
{
	double a[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, b[8] = { 0 };
	starpu_data_handle_t h;
	char text[64];

	new_complex(&h, STARPU_MAIN_RAM, a, b, 8, 8);
	CHECK(starpu_data_get_size(h) == 16 * sizeof(*a) &&
	      starpu_data_get_alloc_size(h) == 16 * sizeof(*a));
	run(&halve_cl, unit, h, 0);
	run(&turn_cl, unit, h, 5);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	CHECK(on(h, STARPU_MAIN_RAM)->nx == 4 && starpu_data_get_size(h) == 8 * sizeof(*a) &&
	      starpu_data_get_max_size(h) == 16 * sizeof(*a));
	CHECK(a[0] == 5 && b[3] == 4 && a[4] == 5 && b[4] == 0);
	CHECK(starpu_data_get_interface_ops(h)->describe(on(h, STARPU_MAIN_RAM), text,
							 sizeof(text)) == 2 &&
	      !strcmp(text, "C4"));
	CHECK(starpu_data_handle_to_pointer(h, STARPU_MAIN_RAM) == a &&
	      starpu_data_get_local_ptr(h) == a);
	starpu_data_release(h);
	starpu_data_unregister(h);
}

int main(void)
{
	starpu_data_handle_t h, copy, ro;
	int i, ret = starpu_init(NULL);

	if (ret == -ENODEV)
		return 77;
	CHECK(ret == 0);
	if (!starpu_cpu_worker_get_count())
		return 77;
	for (i = 0; i < N; i++) {
		want_re[i] = re[i] = i;
		want_im[i] = im[i] = -2 * i;
	}
	new_complex(&h, STARPU_MAIN_RAM, re, im, N, N);
	CHECK(starpu_data_get_interface_id(h) >= STARPU_MAX_INTERFACE_ID &&
	      starpu_data_get_interface_id(h) == complex_ops.interfaceid);
	CHECK(starpu_data_interface_get_next_id() > (int) complex_ops.interfaceid);
	moves(h);
	pieces(h);
	starpu_data_register_same(&copy, h);
	CHECK(starpu_data_cpy(copy, h, 0, NULL, NULL) == 0 &&
	      starpu_data_dup_ro(&ro, copy, 0) == 0);
	packs(h);
	packs(ro);
	starpu_data_unregister(ro);
	starpu_data_unregister(copy);
	for (i = 0; i < (int) (starpu_worker_get_count() - starpu_cpu_worker_get_count()); i++) {
		cache((unsigned) i + 1);
		shrinks((unsigned) i + 1);
	}
	shrinks(0);
	starpu_data_unregister(h);
	CHECK(!memcmp(re, want_re, sizeof(re)) && !memcmp(im, want_im, sizeof(im)));
	starpu_shutdown();
	return 0;
}
