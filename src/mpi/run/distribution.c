/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distributions: owners of data for any number of ranks.
 *
 * The provided ones begin with the lists of data of `base` ranks. One rank more takes the last data
 * of each list, as many as make all lists even; one rank less deals its list to the others. Either
 * only ever changes the owners of data that the rank gets or had. So for p < q ranks, all data
 * whose owners differ belong to ranks p to q-1 at q ranks, and no distribution that is even needs
 * less. What the names of distributions promise about further ranks is a matter of the order in the
 * lists: the end of a list is the end of a block, or a sample of it (orders below).
 *
 * Invariant: each datum is in exactly one list, and owner[] says in which. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "mpi/run/distribution.h"
#include "mpi/carry/layer.h"
#include "base/assert.h"
#include "base/log.h"

/* The data of one rank, in the order in which they stay. */
struct list {
	int32_t *v;
	int64_t n, cap;
};

/* The owners for one number of ranks. */
struct owners {
	int nranks; /* 0: not computed */
	int32_t *of;
};

struct orrery_distribution {
	orrery_owner_func_t function; /* the program's, or NULL */
	void *arg;
	int64_t n;
	int base;
	int spread;            /* a further rank takes data from all ranks in turn, one by one */
	int32_t *part;         /* owners for base ranks */
	int32_t *order;        /* the data in the order of the lists, of all ranks */
	struct owners last[2]; /* the newer one first: before and after a resize */
};

int64_t orr_distribution_n(const struct orrery_distribution *d)
{
	return d->function ? INT64_MAX : d->n;
}

/* ---- lists ---- */

static int list_add(struct list *l, const int32_t *v, int64_t n)
{
	if (l->n + n > l->cap) {
		int64_t cap = l->n + n > 2 * l->cap ? l->n + n : 2 * l->cap;
		int32_t *bigger = realloc(l->v, (size_t) cap * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		l->v = bigger;
		l->cap = cap;
	}
	if (n)
		memcpy(l->v + l->n, v, (size_t) n * sizeof(*v));
	l->n += n;
	return 0;
}

/* Moves the last n data of a list to the end of another one, in their order. */
static int list_move(struct list *from, struct list *to, int64_t n)
{
	orr_assert(n <= from->n);
	int ret = list_add(to, from->v + from->n - n, n);

	if (!ret)
		from->n -= n;
	return ret;
}

/* The number of data that lists above (or below) a level have too many (or too few). */
static int64_t distance(const struct list *l, int n, int64_t level, int above)
{
	int64_t sum = 0;

	for (int r = 0; r < n; r++) {
		int64_t d = above ? l[r].n - level : level - l[r].n;
		sum += d > 0 ? d : 0;
	}
	return sum;
}

/* quota[r]: how many data list r of n gives away (above) or gets, `total` altogether, so that lists
 * are as even as that makes them. */
static void quotas(const struct list *l, int n, int64_t total, int above, int64_t *quota)
{
	int64_t low = 0, high = total;

	for (int r = 0; r < n; r++)
		high = l[r].n + total > high ? l[r].n + total : high;
	while (low < high) {
		int64_t mid = low + (high - low + above) / 2;
		if (distance(l, n, mid, above) >= total)
			*(above ? &low : &high) = mid;
		else
			*(above ? &high : &low) = mid + (above ? -1 : 1);
	}
	int64_t surplus = distance(l, n, low, above) - total;
	for (int r = 0; r < n; r++) {
		int64_t d = above ? l[r].n - low : low - l[r].n;
		quota[r] = d > 0 ? d : 0;
		if (surplus > 0 && quota[r] > 0) {
			quota[r]--;
			surplus--;
		}
	}
	orr_assert(surplus == 0);
}

/* ---- one rank more, or less ---- */

/* List n is empty and gets its share from those before it. */
static int add_rank(const struct orrery_distribution *d, struct list *l, int n, int64_t *quota)
{
	int64_t left = d->n / (n + 1);
	int ret = 0;

	quotas(l, n, left, 1, quota);
	while (left && !ret)
		for (int r = 0; r < n && !ret; r++) {
			int64_t k = d->spread && quota[r] ? 1 : quota[r];
			ret = list_move(&l[r], &l[n], k);
			quota[r] -= k;
			left -= k;
		}
	return ret;
}

/* List n, the last one, gives all it has to those before it. */
static int remove_rank(struct list *l, int n, int64_t *quota)
{
	int ret = 0;

	quotas(l, n, l[n].n, 0, quota);
	for (int r = n; r-- > 0 && !ret;)
		ret = list_move(&l[n], &l[r], quota[r]);
	orr_assert(ret || !l[n].n);
	return ret;
}

/* Fills in o->of from the lists at nranks ranks; l and quota have room for these and d->base. */
static int deal(const struct orrery_distribution *d, struct owners *o, int nranks, struct list *l,
		int64_t *quota)
{
	int ret = 0;

	for (int64_t i = 0; i < d->n && !ret; i++)
		ret = list_add(&l[d->part[d->order[i]]], &d->order[i], 1);
	for (int n = d->base; n < nranks && !ret; n++)
		ret = add_rank(d, l, n, quota);
	for (int n = d->base; n-- > nranks && !ret;)
		ret = remove_rank(l, n, quota);
	for (int r = 0; r < nranks && !ret; r++)
		for (int64_t i = 0; i < l[r].n; i++)
			o->of[l[r].v[i]] = r;
	return ret;
}

/* The owners for a number of ranks; NULL after a message when memory is exhausted. */
static const int32_t *owners_of(struct orrery_distribution *d, int nranks)
{
	if (nranks == d->base)
		return d->part;
	if (d->last[0].nranks == nranks)
		return d->last[0].of;
	struct owners o = d->last[1];
	d->last[1] = d->last[0];
	d->last[0] = o;
	if (o.nranks == nranks)
		return o.of;
	int most = nranks > d->base ? nranks : d->base, ret = -ENOMEM;
	struct list *l = calloc((size_t) most, sizeof(*l));
	int64_t *quota = malloc((size_t) most * sizeof(*quota));
	o.of = o.of ? o.of : malloc((size_t) d->n * sizeof(*o.of));
	if (l && quota && o.of)
		ret = deal(d, &o, nranks, l, quota);
	for (int r = 0; l && r < most; r++)
		free(l[r].v);
	free(l);
	free(quota);
	o.nranks = ret ? 0 : nranks;
	d->last[0] = o;
	if (ret)
		orr_error("out of memory for the owners of %" PRId64 " data on %d ranks", d->n,
			  nranks);
	return ret ? NULL : o.of;
}

/* ---- orders of the lists ---- */

/* The lowest `bits` bits of i in reverse order. */
static uint64_t reversed(uint64_t i, unsigned bits)
{
	uint64_t r = 0;

	for (unsigned b = 0; b < bits; b++)
		r |= (i >> b & 1) << (bits - 1 - b);
	return r;
}

/* An order of the data of each rank in which each end of a list is spread evenly over the list:
 * that of the reversed bits of their places. position[i] is the place of datum i among those of its
 * rank, which has count[part[i]] data. */
static int order_spread(struct orrery_distribution *d)
{
	int64_t *begin = calloc((size_t) d->base + 1, sizeof(*begin)), at = 0;
	int32_t *sorted = malloc((size_t) d->n * sizeof(*sorted));

	if (!begin || !sorted) {
		free(begin);
		free(sorted);
		return -ENOMEM;
	}
	for (int64_t i = 0; i < d->n; i++)
		begin[d->part[i] + 1]++;
	for (int r = 0; r < d->base; r++)
		begin[r + 1] += begin[r];
	for (int64_t i = 0; i < d->n; i++)
		sorted[begin[d->part[i]]++] = (int32_t) i;
	/* begin[r] is where the data of rank r end now. */
	for (int r = 0; r < d->base; r++) {
		int64_t first = r ? begin[r - 1] : 0, n = begin[r] - first;
		unsigned bits = 0;
		while ((int64_t) 1 << bits < n)
			bits++;
		for (uint64_t k = 0; k < (uint64_t) 1 << bits; k++) {
			int64_t place = (int64_t) reversed(k, bits);
			if (place < n)
				d->order[at++] = sorted[first + place];
		}
	}
	orr_assert(at == d->n);
	free(begin);
	free(sorted);
	return 0;
}

/* The vertices of each part by their distance in the part from where it begins, far ones first. */
static int order_graph(struct orrery_distribution *d, const int64_t *first, const int64_t *adjacent)
{
	char *seen = calloc((size_t) d->n, 1);
	int64_t head = d->n, tail = d->n; /* of a queue that grows downwards */

	if (!seen)
		return -ENOMEM;
	for (int64_t seed = 0; seed < d->n; seed++) {
		if (seen[seed])
			continue;
		seen[seed] = 1;
		d->order[--tail] = (int32_t) seed;
		while (head > tail) {
			int64_t v = d->order[--head];
			for (int64_t e = first[v]; e < first[v + 1]; e++) {
				int64_t w = adjacent[e];
				if (seen[w] || d->part[w] != d->part[v])
					continue;
				seen[w] = 1;
				d->order[--tail] = (int32_t) w;
			}
		}
	}
	free(seen);
	return 0;
}

/* ---- making them ---- */

static orrery_distribution_t out_of_memory(orrery_distribution_t d)
{
	orr_error("out of memory for a distribution");
	orrery_distribution_free(d);
	return NULL;
}

/* A provided one, with part[] still to be filled in; the last index comes first in the lists. */
static orrery_distribution_t make(int64_t n, int base, int spread)
{
	if (n < 1 || n > INT32_MAX || base < 1) {
		orr_error("a distribution of %" PRId64
			  " data over %d ranks does not exist: it needs 1 to %d data, and a rank",
			  n, base, INT32_MAX);
		return NULL;
	}
	orrery_distribution_t d = calloc(1, sizeof(*d));
	if (!d)
		return out_of_memory(d);
	d->n = n;
	d->base = base;
	d->spread = spread;
	d->part = malloc((size_t) n * sizeof(*d->part));
	d->order = malloc((size_t) n * sizeof(*d->order));
	if (!d->part || !d->order)
		return out_of_memory(d);
	for (int64_t i = 0; i < n; i++)
		d->order[i] = (int32_t) (n - 1 - i);
	return d;
}

orrery_distribution_t orrery_distribution_function(orrery_owner_func_t owner, void *arg)
{
	if (!owner) {
		orr_error("orrery_distribution_function: the function is NULL");
		return NULL;
	}
	orrery_distribution_t d = calloc(1, sizeof(*d));
	if (!d)
		return out_of_memory(d);
	d->function = owner;
	d->arg = arg;
	return d;
}

orrery_distribution_t orrery_distribution_block(int64_t n, int base)
{
	orrery_distribution_t d = make(n, base, 0);

	for (int64_t i = 0; d && i < n; i++)
		d->part[i] = (int32_t) (i * base / n);
	return d;
}

/* Completes a distribution whose further ranks take samples. */
static orrery_distribution_t spread_out(orrery_distribution_t d)
{
	return d && order_spread(d) ? out_of_memory(d) : d;
}

orrery_distribution_t orrery_distribution_cyclic(int64_t n, int64_t piece, int base)
{
	if (piece < 1) {
		orr_error("orrery_distribution_cyclic: pieces of %" PRId64
			  " data do not exist; give 1 or more",
			  piece);
		return NULL;
	}
	orrery_distribution_t d = make(n, base, 1);
	for (int64_t i = 0; d && i < n; i++)
		d->part[i] = (int32_t) (i / piece % base);
	return spread_out(d);
}

orrery_distribution_t orrery_distribution_cyclic_2d(int64_t rows, int64_t columns, int p, int q)
{
	if (rows < 1 || columns < 1 || rows > INT32_MAX / columns || p < 1 || q < 1 ||
	    p > INT32_MAX / q) {
		orr_error("orrery_distribution_cyclic_2d: %" PRId64 " x %" PRId64
			  " data on %d x %d ranks: each number must be 1 or more, "
			  "and each product at most %d",
			  rows, columns, p, q, INT32_MAX);
		return NULL;
	}
	orrery_distribution_t d = make(rows * columns, p * q, 1);
	for (int64_t i = 0; d && i < rows; i++)
		for (int64_t j = 0; j < columns; j++)
			d->part[i * columns + j] = (int32_t) (i % p * q + j % q);
	return spread_out(d);
}

/* 0, or -EINVAL after a message. */
static int check_graph(int64_t n, const int *part, int base, const int64_t *first,
		       const int64_t *adjacent)
{
	for (int64_t i = 0; i < n; i++)
		if (part[i] < 0 || part[i] >= base) {
			orr_error("orrery_distribution_graph: vertex %" PRId64
				  " is in part %d, but there are %d parts",
				  i, part[i], base);
			return -EINVAL;
		}
	for (int64_t i = 0; first && i < n; i++)
		for (int64_t e = first[i]; e < first[i + 1]; e++)
			if (adjacent[e] < 0 || adjacent[e] >= n) {
				orr_error("orrery_distribution_graph: vertex %" PRId64
					  " has neighbour %" PRId64 ", but there are %" PRId64
					  " vertices",
					  i, adjacent[e], n);
				return -EINVAL;
			}
	return 0;
}

orrery_distribution_t orrery_distribution_graph(int64_t n, const int *part, int base,
						const int64_t *first, const int64_t *adjacent)
{
	orrery_distribution_t d = make(n, base, 0);

	if (!d || check_graph(n, part, base, first, adjacent)) {
		orrery_distribution_free(d);
		return NULL;
	}
	memcpy(d->part, part, (size_t) n * sizeof(*d->part));
	return first && order_graph(d, first, adjacent) ? out_of_memory(d) : d;
}

void orrery_distribution_free(orrery_distribution_t d)
{
	if (!d)
		return;
	free(d->part);
	free(d->order);
	free(d->last[0].of);
	free(d->last[1].of);
	free(d);
}

/* ---- asking ---- */

static int by_function(const struct orrery_distribution *d, int64_t index, int nranks)
{
	int rank = d->function(index, nranks, d->arg);

	if (rank >= 0 && rank < nranks)
		return rank;
	orr_error("a distribution names rank %d as owner of datum %" PRId64
		  ", but %d ranks are in use: its function must return 0 to %d",
		  rank, index, nranks, nranks - 1);
	return -EINVAL;
}

int orrery_distribution_owner(orrery_distribution_t d, int64_t index, int nranks)
{
	if (!d || nranks < 1 || index < 0 || index >= orr_distribution_n(d)) {
		orr_error("datum %" PRId64
			  " has no owner among %d ranks: the distribution is for %" PRId64 " data",
			  index, nranks, d ? orr_distribution_n(d) : 0);
		return -EINVAL;
	}
	if (d->function)
		return by_function(d, index, nranks);
	const int32_t *of = owners_of(d, nranks);
	return of ? of[index] : -ENOMEM;
}
