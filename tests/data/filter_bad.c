/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mistakes with partitions are refused with a message, and nothing is lost: the data and its pieces
 * can be used as before.
 * orr-test: expect is partitioned: use its pieces
 * orr-test: expect together with another view
 * orr-test: expect STARPU_NOPLAN forbids
 * orr-test: expect overlaps this one
 * orr-test: expect can only be read
 * orr-test: expect give all of them
 * orr-test: expect not those of a plan
 * orr-test: expect is not partitioned; nothing is done
 */
#include "data/filter_test.h"

#define NX 40

static unsigned v[NX], w[NX];

static int try_mix(starpu_data_handle_t h, unsigned mode)
{
	struct starpu_codelet *cl = &mix_cl;
	static struct starpu_codelet noplan_cl = { .cpu_funcs = { mix_cpu },
						   .cpu_funcs_name = { "mix_cpu" },
						   .nbuffers = 1,
						   .modes = { STARPU_RW | STARPU_NOPLAN },
						   .name = "mix" };
	unsigned one = 1;

	if (mode & STARPU_NOPLAN)
		cl = &noplan_cl;
	return starpu_task_insert(cl, mode, h, STARPU_VALUE, &one, sizeof(one), 0);
}

static void two_cpu(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet two_cl = {
	.cpu_funcs = { two_cpu }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_R }, .name = "two"
};
static struct starpu_codelet read_cl = { .cpu_funcs = { two_cpu },
					 .nbuffers = 3,
					 .modes = { STARPU_R, STARPU_R, STARPU_R },
					 .name = "read" };

static void synchronous(starpu_data_handle_t h)
{
	struct starpu_data_filter f = blocks(4);

	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	starpu_data_partition(h, &f);
	CHECK(try_mix(h, STARPU_RW) == -EINVAL);
	CHECK(starpu_data_acquire(h, STARPU_R) == -EINVAL);
	CHECK(starpu_data_acquire_try(h, STARPU_RW) == -EINVAL);
	for (unsigned i = 0; i < 4; i++)
		mix(starpu_data_get_child(h, i), 1);
	CHECK(starpu_data_get_child(h, 4) == NULL);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	seq_mix(w, NX, 1);
	CHECK(!memcmp(v, w, sizeof(v)));
}

static void shadows(starpu_data_handle_t h)
{
	struct starpu_data_filter f = { .filter_func = starpu_vector_filter_block_shadow,
					.nchildren = 4,
					.filter_arg_ptr = (void *) (uintptr_t) 2 };
	starpu_data_handle_t c[4];
	unsigned out = 0;
	starpu_data_handle_t out_h;

	starpu_variable_data_register(&out_h, STARPU_MAIN_RAM, (uintptr_t) &out, sizeof(out));
	starpu_data_partition_plan(h, &f, c);
	starpu_data_partition_submit(h, 4, c); /* refused */
	CHECK(try_mix(c[0], STARPU_RW) == -EINVAL);
	starpu_data_partition_readonly_submit(h, 4, c);
	sum(c[1], out_h);
	CHECK(try_mix(c[1], STARPU_RW) == -EINVAL);
	starpu_data_partition_clean(h, 4, c);
	starpu_data_partition(h, &f);
	sum(starpu_data_get_child(h, 1), out_h);
	CHECK(try_mix(starpu_data_get_child(h, 0), STARPU_RW) == -EINVAL);
	starpu_data_unpartition(h, STARPU_MAIN_RAM);
	starpu_data_unregister(out_h);
	seq_sum(w + 9, 13, &(unsigned){ 0 });
}

static void plans(starpu_data_handle_t h)
{
	struct starpu_data_filter fa = blocks(4), fb = blocks(5);
	starpu_data_handle_t a[4], b[5];

	starpu_data_partition_plan(h, &fa, a);
	starpu_data_partition_plan(h, &fb, b);
	CHECK(try_mix(a[0], STARPU_RW | STARPU_NOPLAN) == -EINVAL);
	starpu_data_partition_submit(h, 3, a);
	starpu_data_partition_submit(a[0], 4, a);
	starpu_data_partition_submit(h, 4, a);
	CHECK(try_mix(a[0], STARPU_RW | STARPU_NOPLAN) == 0);
	seq_mix(w, NX / 4, 1);
	CHECK(try_mix(h, STARPU_RW | STARPU_NOPLAN) == -EINVAL);
	starpu_data_partition_submit(h, 5, b); /* overlaps a */
	mix(a[1], 2);
	seq_mix(w + NX / 4, NX / 4, 2);
	CHECK(starpu_task_insert(&two_cl, STARPU_RW, a[0], STARPU_R, b[1], 0) == -EINVAL);
	CHECK(starpu_task_insert(&two_cl, STARPU_RW, h, STARPU_R, b[1], 0) == -EINVAL);
	CHECK(starpu_task_insert(&two_cl, STARPU_RW, a[0], STARPU_R, h, 0) == -EINVAL);
	CHECK(starpu_task_insert(&two_cl, STARPU_RW, a[0], STARPU_R, a[1], 0) == 0);
	CHECK(starpu_task_insert(&read_cl, STARPU_R, a[0], STARPU_R, b[0], STARPU_R, h, 0) == 0);
	mix(b[4], 3);
	seq_mix(w + NX / 5 * 4, NX / 5, 3);
	starpu_data_partition_clean(h, 5, b);
	starpu_data_partition_clean(h, 4, a);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	CHECK(!memcmp(v, w, sizeof(v)));
	starpu_data_release(h);
}

int main(void)
{
	starpu_data_handle_t h;

	start();
	for (unsigned i = 0; i < NX; i++)
		v[i] = w[i] = i;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, NX, sizeof(*v));
	synchronous(h);
	shadows(h);
	plans(h);
	starpu_data_unregister(h);
	CHECK(!memcmp(v, w, sizeof(v)));
	starpu_shutdown();
	return 0;
}
