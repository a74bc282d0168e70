/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies between handles: in the order of submission, waiting or not, with callbacks and
 * priorities, between interfaces of several kinds; what cannot be copied is refused.
 * orr-test: expect different interfaces
 * orr-test: expect too few */
#include "data/filter_test.h"

#define NX 50

static void count(void *arg)
{
	__atomic_add_fetch((int *) arg, 1, __ATOMIC_SEQ_CST);
}

/* A chain: each copy reads what the one before wrote. */
static void chain(void)
{
	unsigned v[4][NX], i, k;
	starpu_data_handle_t h[4], nohome;
	int calls = 0;

	for (k = 0; k < 4; k++) {
		for (i = 0; i < NX; i++)
			v[k][i] = i + 100 * k;
		starpu_vector_data_register(&h[k], STARPU_MAIN_RAM, (uintptr_t) v[k], NX,
					    sizeof(unsigned));
	}
	starpu_data_register_same(&nohome, h[0]);
	for (k = 1; k < 4; k++) {
		mix(h[k - 1], k);
		CHECK(starpu_data_cpy_priority(h[k], h[k - 1], 1, count, &calls, (int) k) == 0);
	}
	CHECK(starpu_data_cpy(nohome, h[3], 1, count, &calls) == 0);
	mix(h[3], 9);
	CHECK(starpu_data_cpy(h[0], nohome, 0, count, &calls) == 0);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(calls == 5);
	for (k = 0; k < 4; k++)
		starpu_data_unregister(h[k]);
	starpu_data_unregister(nohome);
	for (i = 0; i < NX; i++) {
		unsigned x = 3 * i + 1, y = 3 * x + 2, z = 3 * y + 3;

		CHECK(v[1][i] == y && v[2][i] == z && v[3][i] == 3 * z + 9 && v[0][i] == z);
	}
}

/* Other shapes: a matrix with a leading dimension into a packed one, a variable, a void, a piece
 * into another. */
static void shapes(void)
{
	int a[5][8], b[5][6], x = 1, y = 2, i, j;
	unsigned v[6] = { 1, 2, 3, 4, 5, 6 };
	struct starpu_data_filter f = blocks(2);
	starpu_data_handle_t ha, hb, hx, hy, v0, v1, hv;

	for (i = 0; i < 5; i++)
		for (j = 0; j < 8; j++)
			a[i][j] = 10 * i + j;
	starpu_matrix_data_register(&ha, STARPU_MAIN_RAM, (uintptr_t) a, 8, 6, 5, sizeof(int));
	starpu_matrix_data_register(&hb, STARPU_MAIN_RAM, (uintptr_t) b, 6, 6, 5, sizeof(int));
	starpu_variable_data_register(&hx, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	starpu_variable_data_register(&hy, STARPU_MAIN_RAM, (uintptr_t) &y, sizeof(y));
	starpu_void_data_register(&v0);
	starpu_void_data_register(&v1);
	starpu_vector_data_register(&hv, STARPU_MAIN_RAM, (uintptr_t) v, 6, sizeof(*v));
	starpu_data_partition(hv, &f);
	CHECK(starpu_data_cpy(starpu_data_get_child(hv, 0), starpu_data_get_child(hv, 1), 1, NULL,
			      NULL) == 0);
	starpu_data_unpartition(hv, STARPU_MAIN_RAM);
	CHECK(starpu_data_cpy(hb, ha, 1, NULL, NULL) == 0);
	CHECK(starpu_data_cpy(hx, hy, 1, NULL, NULL) == 0);
	CHECK(starpu_data_cpy(v1, v0, 1, NULL, NULL) == 0);
	CHECK(starpu_data_cpy(hx, hv, 1, NULL, NULL) == -EINVAL);
	CHECK(starpu_data_cpy(hx, hx, 1, NULL, NULL) == -EINVAL);
	starpu_data_unregister(hv);
	starpu_data_unregister(v1);
	starpu_data_unregister(v0);
	starpu_data_unregister(hy);
	starpu_data_unregister(hx);
	starpu_data_unregister(hb);
	starpu_data_unregister(ha);
	CHECK(x == 2 && v[0] == 4 && v[2] == 6 && v[5] == 6);
	for (i = 0; i < 5; i++)
		for (j = 0; j < 6; j++)
			CHECK(b[i][j] == 10 * i + j);
}

static void too_small(void)
{
	unsigned v[6] = { 0 }, w[4] = { 0 };
	starpu_data_handle_t a, b;

	starpu_vector_data_register(&a, STARPU_MAIN_RAM, (uintptr_t) v, 6, sizeof(*v));
	starpu_vector_data_register(&b, STARPU_MAIN_RAM, (uintptr_t) w, 4, sizeof(*v));
	CHECK(starpu_data_cpy(b, a, 1, NULL, NULL) == -EINVAL);
	CHECK(starpu_data_cpy(a, b, 1, NULL, NULL) == 0);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
}

int main(void)
{
	start();
	chain();
	shapes();
	too_small();
	starpu_shutdown();
	return 0;
}
