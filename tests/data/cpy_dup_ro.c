/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read-only duplicates hold the value of the moment of the call whatever becomes of the original;
 * the same value is stored once; duplicates cannot be written; the original may go first.
 * orr-test: expect can only be read */
#include "data/filter_test.h"

#define NX 30

static unsigned v[NX], w[NX];

static void check(starpu_data_handle_t h, const unsigned *expected)
{
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	CHECK(!memcmp((void *) starpu_vector_get_local_ptr(h), expected, NX * sizeof(*expected)));
	starpu_data_release(h);
}

int main(void)
{
	starpu_data_handle_t h, dup[20], again, of_dup, pieces[3], of_piece, same;
	struct starpu_data_filter f = blocks(3);
	unsigned old[20][NX], i, one = 1;

	start();
	for (i = 0; i < NX; i++)
		v[i] = w[i] = i;
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, NX, sizeof(*v));
	for (i = 0; i < 20; i++) {
		mix(h, i);
		seq_mix(w, NX, i);
		memcpy(old[i], w, sizeof(w));
		CHECK(starpu_data_dup_ro(&dup[i], h, i % 2) == 0);
		CHECK(starpu_data_dup_ro(&again, h, 1) == 0);
		CHECK(again == dup[i] && again != h);
		starpu_data_unregister(again);
		CHECK(i == 0 || dup[i] != dup[i - 1]);
	}
	CHECK(starpu_task_insert(&mix_cl, STARPU_RW, dup[3], STARPU_VALUE, &one, sizeof(one), 0) ==
	      -EINVAL);
	CHECK(starpu_data_acquire(dup[3], STARPU_W) == -EINVAL);
	CHECK(starpu_data_dup_ro(&of_dup, dup[3], 0) == 0);
	for (i = 0; i < 20; i++) {
		check(dup[i], old[i]);
		if (i % 3)
			starpu_data_unregister(dup[i]);
		else
			starpu_data_unregister_submit(dup[i]);
	}
	check(of_dup, old[3]);
	starpu_data_unregister(of_dup);
	/* Writing through pieces makes a duplicate of the whole stale, and the other way round. */
	starpu_data_partition_plan(h, &f, pieces);
	CHECK(starpu_data_dup_ro(&again, h, 1) == 0);
	mix(pieces[1], 5);
	CHECK(starpu_data_dup_ro(&of_piece, pieces[1], 1) == 0);
	CHECK(starpu_data_dup_ro(&same, h, 1) == 0);
	CHECK(same != again);
	check(again, w);
	seq_mix(w + 10, 10, 5);
	check(same, w);
	mix(h, 1);
	CHECK(starpu_data_acquire(of_piece, STARPU_R) == 0);
	CHECK(!memcmp((void *) starpu_vector_get_local_ptr(of_piece), w + 10, 10 * sizeof(*w)));
	starpu_data_release(of_piece);
	starpu_data_partition_clean(h, 3, pieces);
	starpu_data_unregister(h);
	seq_mix(w, NX, 1);
	CHECK(!memcmp(v, w, sizeof(v)));
	starpu_data_unregister(same);
	starpu_data_unregister(again);
	starpu_data_unregister(of_piece);
	starpu_shutdown();
	return 0;
}
