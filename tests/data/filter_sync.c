/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Synchronous partitioning: partition, recursive map_filters in all forms, looking pieces up,
 * unpartition of several levels, again and again; a data without home; a piece acquired by the
 * program. */
#include "data/filter_test.h"

#define NX 103

static unsigned v[NX], w[NX];

static void check(void)
{
	for (unsigned i = 0; i < NX; i++)
		CHECK(v[i] == w[i], "element %u is %u, not %u", i, v[i], w[i]);
}

static void one_level(starpu_data_handle_t h)
{
	struct starpu_data_filter f = blocks(7);

	for (unsigned round = 0; round < 20; round++) {
		mix(h, round);
		seq_mix(w, NX, round);
		f.nchildren = 1 + round;
		starpu_data_partition(h, &f);
		CHECK(starpu_data_get_nb_children(h) == (int) f.nchildren);
		for (unsigned i = 0; i < f.nchildren; i++) {
			unsigned start = block_start(NX, f.nchildren, i),
				 end = block_start(NX, f.nchildren, i + 1);

			CHECK(starpu_data_get_child(h, i) == starpu_data_get_sub_data(h, 1, i));
			CHECK(starpu_vector_get_nx(starpu_data_get_child(h, i)) == end - start);
			mix(starpu_data_get_child(h, i), i);
			seq_mix(w + start, end - start, i);
		}
		starpu_data_unpartition(h, STARPU_MAIN_RAM);
		CHECK(starpu_data_get_nb_children(h) == 0);
		check();
	}
}

static void cut(starpu_data_handle_t h, int how)
{
	struct starpu_data_filter f[3] = { blocks(4), blocks(3), blocks(2) },
				  *p[3] = { &f[0], &f[1], &f[2] };

	switch (how) {
	case 0: starpu_data_map_filters(h, 3, &f[0], &f[1], &f[2]); break;
	case 1: starpu_data_map_filters_parray(h, 3, p); break;
	case 2: starpu_data_map_filters_array(h, 3, f); break;
	default: /* the second and third filters on pieces that exist */
		starpu_data_partition(h, &f[0]);
		starpu_data_map_filters(h, 2, &f[1], &f[2]);
	}
}

static void three_levels(starpu_data_handle_t h)
{
	for (unsigned how = 0; how < 4; how++) {
		mix(h, how);
		seq_mix(w, NX, how);
		cut(h, (int) how);
		for (unsigned i = 0; i < 4; i++)
			for (unsigned j = 0; j < 3; j++)
				for (unsigned k = 0; k < 2; k++) {
					unsigned s = block_start(NX, 4, i),
						 n = block_start(NX, 4, i + 1) - s;
					unsigned s2 = block_start(n, 3, j),
						 n2 = block_start(n, 3, j + 1) - s2;
					unsigned s3 = block_start(n2, 2, k),
						 n3 = block_start(n2, 2, k + 1) - s3;
					starpu_data_handle_t c = starpu_data_get_sub_data(h, 3, i,
											  j, k);

					CHECK(c ==
					      starpu_data_get_sub_data(
						      starpu_data_get_sub_data(h, 1, i), 2, j, k));
					mix(c, i + 10 * j + 100 * k);
					seq_mix(w + s + s2 + s3, n3, i + 10 * j + 100 * k);
				}
		starpu_data_unpartition(h, STARPU_MAIN_RAM);
		check();
	}
}

static void zero_cpu(void *buffers[], void *arg)
{
	(void) arg;
	memset((void *) STARPU_VECTOR_GET_PTR(buffers[0]), 0,
	       STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(unsigned));
}

static struct starpu_codelet zero_cl = { .cpu_funcs = { zero_cpu },
					 .cpu_funcs_name = { "zero_cpu" },
					 .nbuffers = 1,
					 .modes = { STARPU_W },
					 .name = "zero" };

/* A data that the runtime allocates, written for the first time through its pieces. */
static void without_home(void)
{
	struct starpu_data_filter f = blocks(5);
	starpu_data_handle_t h;
	unsigned i, *p;

	starpu_vector_data_register(&h, -1, 0, NX, sizeof(unsigned));
	starpu_data_partition(h, &f);
	for (i = 0; i < 5; i++) {
		CHECK(starpu_task_insert(&zero_cl, STARPU_W, starpu_data_get_child(h, i), 0) == 0);
		mix(starpu_data_get_child(h, i), i);
	}
	CHECK(starpu_data_acquire(starpu_data_get_child(h, 2), STARPU_RW) == 0);
	p = (unsigned *) starpu_vector_get_local_ptr(starpu_data_get_child(h, 2));
	CHECK(*p == 2);
	*p = 77;
	starpu_data_release(starpu_data_get_child(h, 2));
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	p = (unsigned *) starpu_vector_get_local_ptr(h);
	for (i = 0; i < 5; i++)
		CHECK(p[block_start(NX, 5, i)] == (i == 2 ? 77 : i) &&
		      p[block_start(NX, 5, i + 1) - 1] == i);
	starpu_data_release(h);
	starpu_data_unregister(h);
}

int main(void)
{
	starpu_data_handle_t h;

	start();
	for (unsigned i = 0; i < NX; i++)
		v[i] = w[i] = i;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, NX, sizeof(*v));
	one_level(h);
	three_levels(h);
	starpu_data_unregister(h);
	check();
	without_home();
	starpu_shutdown();
	return 0;
}
