/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distributions: for `base` ranks they are what their names say; for any other number they are
 * even, and a change of the number moves only what must move. Mistakes are refused.
 * orr-test: ranks 1
 * orr-test: sim-ranks 1 */
#include <orrery_resize.h>
#include "mpi_test.h"

enum { MOST = 33 };

static void counts(orrery_distribution_t d, int n, int nranks, int owner[], int count[])
{
	for (int r = 0; r < MOST; r++)
		count[r] = 0;
	for (int i = 0; i < n; i++) {
		owner[i] = orrery_distribution_owner(d, i, nranks);
		CHECK(owner[i] >= 0 && owner[i] < nranks, "%d of %d: %d", i, nranks, owner[i]);
		count[owner[i]]++;
	}
}

/* even: no rank has more than its share, rounded up. */
static void check_numbers(orrery_distribution_t d, int n, int even)
{
	int *before = calloc((size_t) n, sizeof(int)), *after = calloc((size_t) n, sizeof(int)),
	    had[MOST], has[MOST];

	for (int p = 1; p < MOST; p++) {
		counts(d, n, p, before, had);
		for (int r = 0; r < p && even; r++)
			CHECK(had[r] <= (n + p - 1) / p && had[r] >= n / p, "rank %d of %d has %d",
			      r, p, had[r]);
		for (int q = p + 1; q < MOST; q += p) {
			int moved = 0, further = 0;
			counts(d, n, q, after, has);
			for (int i = 0; i < n; i++)
				moved += before[i] != after[i];
			for (int r = p; r < q; r++)
				further += has[r];
			CHECK(moved == further, "%d to %d: %d move, not %d", p, q, moved, further);
			CHECK(!even || moved * (double) q <= 1.05 * n * (q - p) + q,
			      "%d to %d: %d of %d", p, q, moved, n);
		}
	}
	free(before);
	free(after);
}

static void check_block(void)
{
	orrery_distribution_t d = orrery_distribution_block(1000, 4);

	for (int i = 0; i < 1000; i++)
		CHECK_IS(orrery_distribution_owner(d, i, 4), i / 250);
	/* The fifth rank takes the beginning of each part. */
	for (int i = 0; i < 1000; i++)
		CHECK_IS(orrery_distribution_owner(d, i, 5), i % 250 < 50 ? 4 : i / 250);
	check_numbers(d, 1000, 1);
	orrery_distribution_free(d);
	d = orrery_distribution_block(1, 1);
	check_numbers(d, 1, 1);
	orrery_distribution_free(d);
}

static void check_cyclic(void)
{
	orrery_distribution_t d = orrery_distribution_cyclic(1200, 2, 6);
	int row[6] = { 0 };

	for (int i = 0; i < 1200; i++)
		CHECK_IS(orrery_distribution_owner(d, i, 6), i / 2 % 6);
	/* The seventh rank's data come from everywhere. */
	for (int i = 0; i < 1200; i++)
		if (orrery_distribution_owner(d, i, 7) == 6)
			row[i / 200]++;
	for (int i = 0; i < 6; i++)
		CHECK(row[i] >= 20 && row[i] <= 40, "%d of part %d", row[i], i);
	check_numbers(d, 1200, 1);
	orrery_distribution_free(d);
	d = orrery_distribution_cyclic_2d(24, 30, 2, 3);
	for (int i = 0; i < 24; i++)
		for (int j = 0; j < 30; j++)
			CHECK_IS(orrery_distribution_owner(d, i * 30 + j, 6), i % 2 * 3 + j % 3);
	check_numbers(d, 24 * 30, 1);
	orrery_distribution_free(d);
}

/* A ladder: vertices i and i + W are neighbours, and those beside each other. */
static void check_graph(void)
{
	enum { W = 40, N = 2 * W };
	int part[N], edges = 0, inside = 0;
	int64_t first[N + 1], adjacent[4 * N], n = 0;

	for (int i = 0; i < N; i++) {
		first[i] = n;
		part[i] = i % W < W / 2 ? 1 : 0;
		if (i % W)
			adjacent[n++] = i - 1;
		if (i % W < W - 1)
			adjacent[n++] = i + 1;
		adjacent[n++] = (i + W) % N;
	}
	first[N] = n;
	orrery_distribution_t d = orrery_distribution_graph(N, part, 2, first, adjacent);
	for (int i = 0; i < N; i++)
		CHECK_IS(orrery_distribution_owner(d, i, 2), part[i]);
	check_numbers(d, N, 1);
	for (int i = 0; i < N; i++)
		for (int64_t e = first[i]; e < first[i + 1]; e++) {
			int there = orrery_distribution_owner(d, adjacent[e], 3);
			if (orrery_distribution_owner(d, i, 3) != 2)
				continue;
			edges++;
			inside += there == 2;
		}
	CHECK(edges && inside * 3 >= edges * 2, "%d of %d edges of the new part", inside, edges);
	orrery_distribution_free(d);
	/* A part that is not even stays so, and still only what must move does. */
	part[0] = 0;
	part[1] = 0;
	d = orrery_distribution_graph(N, part, 5, NULL, NULL);
	check_numbers(d, N, 0);
	orrery_distribution_free(d);
	part[3] = 7;
	CHECK(!orrery_distribution_graph(N, part, 5, NULL, NULL), "part 7 of 5");
	part[3] = 1;
	adjacent[5] = N;
	CHECK(!orrery_distribution_graph(N, part, 5, first, adjacent), "neighbour %d", N);
}

static int own_rule(int64_t index, int nranks, void *arg)
{
	return (int) (index + *(int *) arg) % nranks;
}

static void check_mistakes(void)
{
	int offset = 3;
	orrery_distribution_t d = orrery_distribution_function(own_rule, &offset);

	CHECK_IS(orrery_distribution_owner(d, 10, 7), 13 % 7);
	CHECK_IS(orrery_distribution_owner(d, 10, 0), -EINVAL);
	CHECK_IS(orrery_distribution_owner(d, -1, 1), -EINVAL);
	CHECK_IS(orrery_distribution_owner(NULL, 1, 1), -EINVAL);
	offset = -12;
	CHECK_IS(orrery_distribution_owner(d, 10, 7), -EINVAL);
	orrery_distribution_free(d);
	d = orrery_distribution_block(10, 2);
	CHECK_IS(orrery_distribution_owner(d, 10, 1), -EINVAL);
	orrery_distribution_free(d);
	orrery_distribution_free(NULL);
	CHECK(!orrery_distribution_function(NULL, NULL), "no function");
	CHECK(!orrery_distribution_block(0, 2), "no data");
	CHECK(!orrery_distribution_block((int64_t) INT32_MAX + 1, 2), "too many data");
	CHECK(!orrery_distribution_cyclic(10, 0, 2), "no piece");
	CHECK(!orrery_distribution_cyclic(10, 1, 0), "no rank");
	CHECK(!orrery_distribution_cyclic_2d(1 << 16, 1 << 16, 2, 2), "too many tiles");
	CHECK(!orrery_distribution_cyclic_2d(10, 10, 0, 2), "no grid");
}

int main(int argc, char **argv)
{
	if (!begin(&argc, &argv, 1))
		return 77;
	check_block();
	check_cyclic();
	check_graph();
	check_mistakes();
	return end();
}
