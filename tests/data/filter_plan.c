/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Asynchronous partitioning with the switches submitted by the program: read-write, several
 * read-only plans at once, upgrade and downgrade, a second level, callbacks, the variants outside
 * of sequential consistency, many pieces. */
#include "data/filter_test.h"

#define NX 120

static unsigned v[NX], w[NX];
static unsigned out, ref;
static starpu_data_handle_t h, out_h;

static void check(void)
{
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	CHECK(starpu_data_acquire(out_h, STARPU_R) == 0);
	CHECK(!memcmp(v, w, sizeof(v)));
	CHECK(out == ref);
	starpu_data_release(out_h);
	starpu_data_release(h);
}

static void mix_all(starpu_data_handle_t *c, unsigned n, unsigned value)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned s = block_start(NX, n, i), e = block_start(NX, n, i + 1);

		mix(c[i], value + i);
		seq_mix(w + s, e - s, value + i);
	}
}

static void sum_all(starpu_data_handle_t *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned s = block_start(NX, n, i), e = block_start(NX, n, i + 1);

		sum(c[i], out_h);
		seq_sum(w + s, e - s, &ref);
	}
}

static void whole(unsigned value)
{
	mix(h, value);
	seq_mix(w, NX, value);
}

static void whole_sum(void)
{
	sum(h, out_h);
	seq_sum(w, NX, &ref);
}

static void read_write(starpu_data_handle_t *a, starpu_data_handle_t *b)
{
	for (unsigned round = 0; round < 30; round++) {
		whole(round);
		starpu_data_partition_submit(h, 4, a);
		mix_all(a, 4, round);
		mix_all(a, 4, 2 * round);
		starpu_data_unpartition_submit(h, 4, a, round % 2 ? STARPU_MAIN_RAM : -1);
		whole_sum();
		starpu_data_partition_submit(h, 9, b);
		mix_all(b, 9, round);
		sum_all(b, 9);
		starpu_data_unpartition_submit(h, 9, b, STARPU_MAIN_RAM);
	}
	check();
}

static void read_only(starpu_data_handle_t *a, starpu_data_handle_t *b)
{
	for (unsigned round = 0; round < 30; round++) {
		starpu_data_partition_readonly_submit(h, 4, a);
		starpu_data_partition_readonly_submit(h, 9, b);
		sum_all(a, 4);
		whole_sum();
		sum_all(b, 9);
		starpu_data_unpartition_submit(h, 9, b, -1);
		starpu_data_partition_readwrite_upgrade_submit(h, 4, a);
		mix_all(a, 4, round);
		starpu_data_partition_readonly_downgrade_submit(h, 4, a);
		sum_all(a, 4);
		whole_sum();
		starpu_data_partition_readwrite_upgrade_submit(h, 4, a);
		mix_all(a, 4, round);
		starpu_data_unpartition_readonly_submit(h, 4, a, STARPU_MAIN_RAM);
		whole_sum();
		sum_all(a, 4);
		starpu_data_unpartition_submit(h, 4, a, STARPU_MAIN_RAM);
		whole(round);
	}
	check();
}

static void second_level(starpu_data_handle_t *a)
{
	struct starpu_data_filter f = blocks(3);
	starpu_data_handle_t s[4][3];

	for (unsigned i = 0; i < 4; i++)
		starpu_data_partition_plan(a[i], &f, s[i]);
	for (unsigned round = 0; round < 10; round++) {
		whole(round);
		starpu_data_partition_submit(h, 4, a);
		for (unsigned i = 0; i < 4; i++)
			starpu_data_partition_submit(a[i], 3, s[i]);
		for (unsigned i = 0; i < 4; i++)
			for (unsigned j = 0; j < 3; j++) {
				mix(s[i][j], i * j);
				seq_mix(w + NX / 4 * i + NX / 12 * j, NX / 12, i * j);
			}
		for (unsigned i = 0; i < 4; i++)
			starpu_data_unpartition_submit(a[i], 3, s[i], -1);
		mix_all(a, 4, round);
		starpu_data_unpartition_submit(h, 4, a, -1);
		whole_sum();
	}
	check();
	for (unsigned i = 0; i < 4; i++)
		starpu_data_partition_clean(a[i], 3, s[i]);
}

static void count(void *arg)
{
	__atomic_add_fetch((int *) arg, 1, __ATOMIC_SEQ_CST);
}

/* Outside of sequential consistency the program orders: here by waiting. */
static void variants(starpu_data_handle_t *a)
{
	int calls = 0;

	starpu_data_partition_submit_sequential_consistency(h, 4, a, 0);
	CHECK(starpu_task_wait_for_all() == 0);
	mix_all(a, 4, 1);
	CHECK(starpu_task_wait_for_all() == 0);
	starpu_data_unpartition_submit_sequential_consistency_cb(h, 4, a, STARPU_MAIN_RAM, 0, count,
								 &calls);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(calls == 1);
	starpu_data_partition_readonly_submit_sequential_consistency(h, 4, a, 0);
	CHECK(starpu_task_wait_for_all() == 0);
	sum_all(a, 4);
	CHECK(starpu_task_wait_for_all() == 0);
	starpu_data_unpartition_submit_sequential_consistency(h, 4, a, STARPU_MAIN_RAM, 0);
	CHECK(starpu_task_wait_for_all() == 0);
	starpu_data_partition_submit(h, 4, a);
	mix_all(a, 4, 5);
	starpu_data_unpartition_submit_sequential_consistency_cb(h, 4, a, -1, 1, count, &calls);
	check();
	CHECK(calls == 2);
}

#define MANY 70000

static void many(void)
{
	struct starpu_data_filter f = blocks(MANY);
	unsigned *p = calloc(MANY, sizeof(*p)), i;
	starpu_data_handle_t big, *c = malloc(MANY * sizeof(*c));

	starpu_vector_data_register(&big, STARPU_MAIN_RAM, (uintptr_t) p, MANY, sizeof(*p));
	starpu_data_partition_plan(big, &f, c);
	starpu_data_partition_submit(big, MANY, c);
	for (i = 0; i < MANY; i += 100)
		mix(c[i], i);
	starpu_data_unpartition_submit(big, MANY, c, STARPU_MAIN_RAM);
	starpu_data_partition_clean(big, MANY, c);
	starpu_data_unregister(big);
	for (i = 0; i < MANY; i++)
		CHECK(p[i] == (i % 100 ? 0 : i));
	free(c);
	free(p);
}

int main(void)
{
	struct starpu_data_filter f4 = blocks(4), f9 = blocks(9);
	starpu_data_handle_t a[4], b[9];

	start();
	for (unsigned i = 0; i < NX; i++)
		v[i] = w[i] = i;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, NX, sizeof(*v));
	starpu_variable_data_register(&out_h, STARPU_MAIN_RAM, (uintptr_t) &out, sizeof(out));
	starpu_data_partition_plan(h, &f4, a);
	starpu_data_partition_plan(h, &f9, b);
	read_write(a, b);
	read_only(a, b);
	second_level(a);
	variants(a);
	/* Cleaning gathers what is still active. */
	starpu_data_partition_submit(h, 9, b);
	mix_all(b, 9, 3);
	starpu_data_partition_clean(h, 9, b);
	whole(1);
	check();
	starpu_data_partition_clean_node(h, 4, a, STARPU_MAIN_RAM);
	starpu_data_unregister(out_h);
	starpu_data_unregister(h);
	CHECK(!memcmp(v, w, sizeof(v)));
	many();
	starpu_shutdown();
	return 0;
}
