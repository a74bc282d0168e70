/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The copy helpers for interface methods (handbook 27.9.4), one to n dimensions, against loops;
 * contiguous or not. */
#include "data/iface_test.h"

#define N 4096

static char src[N], dst[N], want[N];

static void reset(void)
{
	for (int i = 0; i < N; i++)
		src[i] = (char) (i * 7 + i / 251);
	memset(dst, 0x55, N);
	memset(want, 0x55, N);
}

/* Blocks of `block` bytes in up to three dimensions, strides in bytes, all offset a little. */
static void expect(size_t block, const size_t *n, const size_t *ls, const size_t *ld)
{
	for (size_t k = 0; k < n[2]; k++)
		for (size_t j = 0; j < n[1]; j++)
			for (size_t i = 0; i < n[0]; i++)
				memcpy(want + 5 + i * ld[0] + j * ld[1] + k * ld[2],
				       src + 3 + i * ls[0] + j * ls[1] + k * ls[2], block);
}

static void check(size_t block, const size_t *n, const size_t *ls, const size_t *ld)
{
	uintptr_t s = (uintptr_t) src, d = (uintptr_t) dst;

	reset();
	expect(block, n, ls, ld);
	CHECK(starpu_interface_copy4d(s, 3, 0, d, 5, 0, block, n[0], ls[0], ld[0], n[1], ls[1],
				      ld[1], n[2], ls[2], ld[2], NULL) == 0);
	CHECK(!memcmp(dst, want, N));
	reset();
	expect(block, (size_t[]){ n[0], n[1], 1 }, ls, ld);
	CHECK(starpu_interface_copy3d(s, 3, 0, d, 5, 0, block, n[0], ls[0], ld[0], n[1], ls[1],
				      ld[1], NULL) == 0);
	CHECK(!memcmp(dst, want, N));
	reset();
	expect(block, (size_t[]){ n[0], 1, 1 }, ls, ld);
	CHECK(starpu_interface_copy2d(s, 3, 0, d, 5, 0, block, n[0], ls[0], ld[0], NULL) == 0);
	CHECK(!memcmp(dst, want, N));
	reset();
	expect(block, (size_t[]){ 1, 1, 1 }, ls, ld);
	CHECK(starpu_interface_copy(s, 3, 0, d, 5, 0, block, NULL) == 0);
	CHECK(!memcmp(dst, want, N));
}

static void check_nd(uint32_t *nn, uint32_t *ls, uint32_t *ld)
{
	reset();
	expect(2, (size_t[]){ nn[0], nn[1], nn[2] }, (size_t[]){ 2 * ls[0], 2 * ls[1], 2 * ls[2] },
	       (size_t[]){ 2 * ld[0], 2 * ld[1], 2 * ld[2] });
	CHECK(starpu_interface_copynd((uintptr_t) src, 3, 0, (uintptr_t) dst, 5, 0, 2, 3, nn, ls,
				      ld, NULL) == 0);
	CHECK(!memcmp(dst, want, N));
}

int main(void)
{
	start();
	check(8, (size_t[]){ 5, 4, 3 }, (size_t[]){ 10, 60, 300 }, (size_t[]){ 8, 40, 160 });
	check(8, (size_t[]){ 5, 4, 3 }, (size_t[]){ 8, 40, 160 }, (size_t[]){ 8, 40, 160 });
	check(8, (size_t[]){ 5, 4, 3 }, (size_t[]){ 8, 40, 200 }, (size_t[]){ 8, 40, 170 });
	check(8, (size_t[]){ 5, 4, 3 }, (size_t[]){ 9, 45, 180 }, (size_t[]){ 10, 50, 200 });
	check(8, (size_t[]){ 1, 4, 3 }, (size_t[]){ 1, 8, 32 }, (size_t[]){ 1, 8, 32 });
	check(8, (size_t[]){ 5, 0, 3 }, (size_t[]){ 8, 40, 160 }, (size_t[]){ 8, 40, 160 });
	check_nd((uint32_t[]){ 5, 4, 3 }, (uint32_t[]){ 1, 6, 30 }, (uint32_t[]){ 1, 5, 20 });
	check_nd((uint32_t[]){ 5, 4, 3 }, (uint32_t[]){ 2, 11, 50 }, (uint32_t[]){ 1, 5, 20 });
	starpu_shutdown();
	return 0;
}
