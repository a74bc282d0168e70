/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bitmaps against arrays of flags, with random operations. No runtime is needed.
 *
 * Invariant: after each operation both have the same elements, asked for in each way. */
#include "core_test.h"

#include <limits.h>

#define MAX STARPU_NMAXWORKERS

static uint64_t state = 42;

static int draw(int n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int) ((state >> 33) % (uint64_t) n);
}

static void compare(struct starpu_bitmap *b, const char *flag)
{
	int n = 0, first = -1, last = -1, e = -1;

	for (int i = 0; i < MAX; i++) {
		CHECK_IS(!!starpu_bitmap_get(b, i), flag[i]);
		if (!flag[i])
			continue;
		CHECK(starpu_bitmap_has_next(b, e));
		e = starpu_bitmap_next(b, e);
		CHECK_IS(e, i);
		n++;
		last = i;
		if (first < 0)
			first = i;
	}
	CHECK(!starpu_bitmap_has_next(b, e));
	CHECK_IS(starpu_bitmap_next(b, e), -1);
	CHECK_IS(starpu_bitmap_cardinal(b), n);
	CHECK_IS(starpu_bitmap_first(b), first);
	CHECK_IS(starpu_bitmap_last(b), last);
}

static void outside(struct starpu_bitmap *b)
{
	static const int wrong[] = { -1, -64, MAX, MAX + 1, INT_MAX, INT_MIN };
	int n = starpu_bitmap_cardinal(b);

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		starpu_bitmap_set(b, wrong[i]);
		starpu_bitmap_unset(b, wrong[i]);
		CHECK(!starpu_bitmap_get(b, wrong[i]));
		CHECK(!starpu_bitmap_and_get(b, b, wrong[i]));
	}
	CHECK_IS(starpu_bitmap_cardinal(b), n);
	CHECK_IS(starpu_bitmap_next(b, INT_MAX), -1);
	CHECK_IS(starpu_bitmap_next(b, MAX - 1), -1);
	CHECK_IS(starpu_bitmap_next(b, INT_MIN), starpu_bitmap_first(b));
}

int main(void)
{
	struct starpu_bitmap *b[3], byval;
	char flag[3][MAX] = { { 0 } };

	for (int i = 0; i < 3; i++)
		CHECK((b[i] = starpu_bitmap_create()) != NULL);
	memset(&byval, 0xff, sizeof(byval));
	starpu_bitmap_init(&byval);
	compare(&byval, flag[0]);
	for (int k = 0; k < 3000; k++) {
		int x = draw(3), y = draw(3), z = draw(3), e = draw(MAX), op = draw(40);

		if (op == 0) {
			starpu_bitmap_unset_all(b[x]);
			memset(flag[x], 0, MAX);
		} else if (op < 3) {
			starpu_bitmap_or(b[x], b[y]);
			for (int i = 0; i < MAX; i++)
				flag[x][i] |= flag[y][i];
		} else if (op < 5) {
			starpu_bitmap_unset_and(b[x], b[y], b[z]);
			for (int i = 0; i < MAX; i++)
				flag[x][i] = flag[y][i] && flag[z][i];
		} else if (op < 30) {
			starpu_bitmap_set(b[x], e);
			flag[x][e] = 1;
		} else {
			starpu_bitmap_unset(b[x], e);
			flag[x][e] = 0;
		}
		compare(b[x], flag[x]);
		CHECK_IS(!!starpu_bitmap_and_get(b[y], b[z], e), flag[y][e] && flag[z][e]);
	}
	outside(b[0]);
	for (int i = 0; i < 3; i++)
		starpu_bitmap_destroy(b[i]);
	return 0;
}
