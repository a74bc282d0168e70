/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the tests of the interfaces share: a view of dense data of ints, a kernel that
 * fills a piece, and the checks.
 *
 * Invariant: public interface only; a failed check names its line and ends the program with
 * status 1. */
#ifndef IFACE_TEST_H
#define IFACE_TEST_H

#include <starpu.h>
#include <errno.h>
#include <string.h>

#include "lib/test.h"

#define MAXDIM 6

struct view {
	unsigned n;
	uint32_t nn[MAXDIM], ld[MAXDIM];
	int *p;
};

static inline void add_dim(struct view *v, uint32_t nn, uint32_t ld)
{
	v->nn[v->n] = nn;
	v->ld[v->n++] = ld;
}

/* Any dense interface, by the id that registration and filters leave in it. */
static inline struct view view_of(void *i)
{
	struct view v = { 0 };
	size_t d;

	switch (*(enum starpu_data_interface_id *) i) {
	case STARPU_VARIABLE_INTERFACE_ID: v.p = (int *) STARPU_VARIABLE_GET_PTR(i); break;
	case STARPU_VECTOR_INTERFACE_ID:
		v.p = (int *) STARPU_VECTOR_GET_PTR(i);
		add_dim(&v, STARPU_VECTOR_GET_NX(i), 1);
		break;
	case STARPU_MATRIX_INTERFACE_ID:
		v.p = (int *) STARPU_MATRIX_GET_PTR(i);
		add_dim(&v, STARPU_MATRIX_GET_NX(i), 1);
		add_dim(&v, STARPU_MATRIX_GET_NY(i), STARPU_MATRIX_GET_LD(i));
		break;
	case STARPU_BLOCK_INTERFACE_ID:
		v.p = (int *) STARPU_BLOCK_GET_PTR(i);
		add_dim(&v, STARPU_BLOCK_GET_NX(i), 1);
		add_dim(&v, STARPU_BLOCK_GET_NY(i), STARPU_BLOCK_GET_LDY(i));
		add_dim(&v, STARPU_BLOCK_GET_NZ(i), STARPU_BLOCK_GET_LDZ(i));
		break;
	case STARPU_TENSOR_INTERFACE_ID:
		v.p = (int *) STARPU_TENSOR_GET_PTR(i);
		add_dim(&v, STARPU_TENSOR_GET_NX(i), 1);
		add_dim(&v, STARPU_TENSOR_GET_NY(i), STARPU_TENSOR_GET_LDY(i));
		add_dim(&v, STARPU_TENSOR_GET_NZ(i), STARPU_TENSOR_GET_LDZ(i));
		add_dim(&v, STARPU_TENSOR_GET_NT(i), STARPU_TENSOR_GET_LDT(i));
		break;
	case STARPU_NDIM_INTERFACE_ID:
		v.p = (int *) STARPU_NDIM_GET_PTR(i);
		for (d = 0; d < STARPU_NDIM_GET_NDIM(i); d++)
			add_dim(&v, STARPU_NDIM_GET_NN(i)[d], STARPU_NDIM_GET_LDN(i)[d]);
		break;
	default: CHECK(!"an interface without shape");
	}
	return v;
}

/* The next index in x-first order; 0 after the last one. */
static inline int next_index(const struct view *v, uint32_t *at)
{
	unsigned d;

	for (d = 0; d < v->n; d++) {
		if (++at[d] < v->nn[d])
			return 1;
		at[d] = 0;
	}
	return 0;
}

static inline int *element(const struct view *v, const uint32_t *at)
{
	size_t skip = 0;
	unsigned d;

	for (d = 0; d < v->n; d++)
		skip += (size_t) at[d] * v->ld[d];
	return v->p + skip;
}

static inline size_t count_of(const struct view *v)
{
	size_t n = 1;
	unsigned d;

	for (d = 0; d < v->n; d++)
		n *= v->nn[d];
	return n;
}

/* Sets all elements to a value, or to value + rank of the element when value is negative. */
static inline void fill_view(const struct view *v, int value)
{
	uint32_t at[MAXDIM] = { 0 };
	int k = 0;

	if (count_of(v) == 0)
		return;
	do
		*element(v, at) = value >= 0 ? value : k++ - value;
	while (next_index(v, at));
}

static inline void fill_cpu(void *buffers[], void *arg)
{
	struct view v = view_of(buffers[0]);
	int value;

	starpu_codelet_unpack_args(arg, &value);
	fill_view(&v, value);
}

static inline void add_cpu(void *buffers[], void *arg)
{
	struct view v = view_of(buffers[0]);
	uint32_t at[MAXDIM] = { 0 };
	int value;

	starpu_codelet_unpack_args(arg, &value);
	do
		*element(&v, at) += value;
	while (next_index(&v, at));
}

static struct starpu_codelet fill_cl = { .cpu_funcs = { fill_cpu },
					 .cpu_funcs_name = { "fill_cpu" },
					 .nbuffers = 1,
					 .modes = { STARPU_W },
					 .name = "fill" };
static struct starpu_codelet add_cl = { .cpu_funcs = { add_cpu },
					.cpu_funcs_name = { "add_cpu" },
					.nbuffers = 1,
					.modes = { STARPU_RW },
					.name = "add" };

static inline void start(void)
{
	int ret = starpu_init(NULL);

	if (ret == -ENODEV)
		exit(77);
	CHECK(ret == 0);
	if (starpu_cpu_worker_get_count() == 0) {
		starpu_shutdown();
		exit(77);
	}
}

static inline struct view main_view(starpu_data_handle_t h)
{
	return view_of(starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM));
}

/* A task on the whole, then every element is what it was plus 1000. The caller numbered the
 * elements from 1 on. */
static inline void check_task(starpu_data_handle_t h)
{
	uint32_t at[MAXDIM] = { 0 };
	struct view v;
	int k = 1;

	CHECK(starpu_task_insert(&add_cl, STARPU_RW, h, STARPU_VALUE, &(int){ 1000 }, sizeof(int),
				 0) == 0);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	v = main_view(h);
	do
		CHECK(*element(&v, at) == 1000 + k++);
	while (next_index(&v, at));
	starpu_data_release(h);
}

/* Packs h, compares with the elements in x-first order, and unpacks into `other`, of the same
 * shape. */
static inline void check_pack(starpu_data_handle_t h, starpu_data_handle_t other)
{
	uint32_t at[MAXDIM] = { 0 };
	starpu_ssize_t size = -1, count = -1;
	struct view v, w;
	void *buf = NULL;
	int *packed;

	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	v = main_view(h);
	CHECK(starpu_data_pack(h, NULL, &size) == 0);
	CHECK(size == (starpu_ssize_t) (count_of(&v) * sizeof(int)));
	CHECK((size_t) size == starpu_data_get_size(h));
	CHECK(starpu_data_pack(h, &buf, &count) == 0);
	CHECK(count == size && buf);
	packed = buf;
	do
		CHECK(*element(&v, at) == *packed++);
	while (next_index(&v, at));
	CHECK(starpu_data_acquire(other, STARPU_W) == 0);
	w = main_view(other);
	fill_view(&w, 0);
	CHECK(starpu_data_peek(other, buf, (size_t) count) == 0);
	do
		CHECK(*element(&v, at) == *element(&w, at));
	while (next_index(&v, at));
	fill_view(&w, 0);
	CHECK(starpu_data_unpack(other, buf, (size_t) count) == 0);
	do
		CHECK(*element(&v, at) == *element(&w, at));
	while (next_index(&v, at));
	starpu_data_release(other);
	starpu_data_release(h);
}

/* Cuts h, lets a task fill each piece with 100 + its number, and compares with which piece owner()
 * says holds each element of the whole (-1: none). */
static inline void check_filter(starpu_data_handle_t h, struct starpu_data_filter *f,
				unsigned pieces, int (*owner)(const uint32_t *at))
{
	uint32_t at[MAXDIM] = { 0 };
	struct view v;
	unsigned i;

	CHECK(starpu_data_acquire(h, STARPU_W) == 0);
	v = main_view(h);
	fill_view(&v, 7);
	starpu_data_release(h);
	starpu_data_partition(h, f);
	CHECK(starpu_data_get_nb_children(h) == (int) pieces);
	for (i = 0; i < pieces; i++) {
		int value = 100 + (int) i;

		CHECK(starpu_task_insert(&fill_cl, STARPU_W, starpu_data_get_sub_data(h, 1, i),
					 STARPU_VALUE, &value, sizeof(value), 0) == 0);
	}
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	v = main_view(h);
	do {
		int o = owner(at);

		CHECK(*element(&v, at) == (o < 0 ? 7 : 100 + o),
		      "element (%u,%u,%u,%u,%u) is %d; it belongs to piece %d", at[0], at[1], at[2],
		      at[3], at[4], *element(&v, at), o);
	} while (next_index(&v, at));
	starpu_data_release(h);
}

/* Cuts h with a shadow filter and checks that piece i is the elements [start[i], start[i] + len[i])
 * along dimension dim. */
static inline void check_shadow(starpu_data_handle_t h, struct starpu_data_filter *f, unsigned dim,
				unsigned pieces, const uint32_t *start, const uint32_t *len)
{
	struct view v = main_view(h), c;
	unsigned i, d;

	starpu_data_partition(h, f);
	CHECK(starpu_data_get_nb_children(h) == (int) pieces);
	for (i = 0; i < pieces; i++) {
		c = main_view(starpu_data_get_sub_data(h, 1, i));
		CHECK(c.n == v.n);
		for (d = 0; d < v.n; d++)
			CHECK(c.nn[d] == (d == dim ? len[i] : v.nn[d]) && c.ld[d] == v.ld[d]);
		CHECK(c.p == v.p + (size_t) start[i] * v.ld[dim]);
	}
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
}

#endif
