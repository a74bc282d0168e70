/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranks that insert different tasks wait for messages that nobody sends. With
 * ORRERY_CHECK_INSERTS=1 each rank keeps running checksums of the names of the codelets and the
 * modes of the data that it inserts; starpu_mpi_wait_for_all() and starpu_mpi_shutdown() compare
 * them before they wait, search the first difference, and end the program with the names of the
 * tasks there. A second checksum has the tags and owners of the data, too. It counts only where no
 * rank has left out a datum since the last comparison: handles may be NULL where a rank has no
 * part.
 *
 * Comparing needs sums over all ranks only: all have the same number exactly if the sum is `size`
 * times the own one on each of them.
 *
 * Invariant: by the program's thread; all ranks take part in the same number of sums, because each
 * decides by the sums alone. */
#include "mpi/auto/check_inserts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/log.h"
#include "base/config.h"
#include "base/map.h"
#include "mpi/carry/unmatched.h"

/* Checksums: of codelets and modes; with tags and owners as well. */
enum { TASKS, DATA, NSUMS };

#define NAMED 4 /* data that a message names */

struct inserted {
	uint32_t sum[NSUMS]; /* of this one and all before it */
	uint32_t own[NSUMS]; /* of this one */
	const char *name;
	unsigned ndata;
	struct {
		int64_t tag;
		int32_t owner;
	} data[NAMED]; /* of the first ones */
};

struct orr_mpi_check {
	struct inserted *v; /* since the last comparison */
	uint32_t n, cap;
	uint64_t before; /* compared earlier */
	unsigned absent; /* data of these insertions that this rank does not know */
};

void orr_mpi_check_init(struct orr_mpi *mpi)
{
	if (mpi->fake || orr_config_long("ORRERY_CHECK_INSERTS", 0) <= 0)
		return;
	mpi->check = calloc(1, sizeof(*mpi->check));
	if (!mpi->check)
		orr_fatal("out of memory for the comparison of insertions");
}

void orr_mpi_check_exit(struct orr_mpi *mpi)
{
	if (mpi->check)
		free(mpi->check->v);
	free(mpi->check);
}

void orr_mpi_check_note(struct orr_mpi *mpi, const struct starpu_codelet *cl,
			const struct starpu_data_descr *d, unsigned n)
{
	struct orr_mpi_check *c = mpi->check;
	const char *name = cl && cl->name ? cl->name : "unnamed";
	uint64_t own = n;

	if (c->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 64;
		c->v = realloc(c->v, c->cap * sizeof(*c->v));
		if (!c->v)
			orr_fatal("out of memory for the comparison of insertions");
	}
	for (const char *p = name; *p; p++)
		own = orr_mix64(own ^ (unsigned char) *p);
	for (unsigned i = 0; i < n; i++)
		own = orr_mix64(own ^ (uint64_t) d[i].mode << 8);
	struct inserted *last = c->n ? &c->v[c->n - 1] : NULL, *new = &c->v[c->n++];
	*new = (struct inserted){ .own = { [TASKS] = (uint32_t) own }, .name = name, .ndata = n };
	for (unsigned i = 0; i < n; i++) {
		starpu_data_handle_t h = d[i].handle;
		c->absent += !h;
		if (!h)
			continue;
		own = orr_mix64(own ^ (uint64_t) h->mpi_tag);
		own = orr_mix64(own ^ (uint32_t) h->mpi_rank);
		if (i < NAMED) {
			new->data[i].tag = h->mpi_tag;
			new->data[i].owner = h->mpi_rank;
		}
	}
	new->own[DATA] = (uint32_t) own;
	for (int k = 0; k < NSUMS; k++)
		new->sum[k] = (uint32_t) orr_mix64(new->own[k] ^
						   (uint64_t) (last ? last->sum[k] : 0) << 32);
}

/* [waits] */
static uint64_t sum_of(struct orr_mpi *mpi, uint64_t mine)
{
	uint64_t all = 0;

	if (orr_mpi_sum(mpi, &mine, &all, 1))
		orr_sys_mpi_abort(mpi->proc);
	return all;
}

/* [waits] Whether all ranks have the same number, below 2^32. */
static int all_equal(struct orr_mpi *mpi, uint64_t mine)
{
	int differs = sum_of(mpi, mine) != mine * (uint64_t) mpi->size;

	return !sum_of(mpi, (uint64_t) differs);
}

/* The checksum of the first n insertions; of fewer, with a mark. */
static uint32_t prefix(const struct orr_mpi_check *c, int which, uint64_t n)
{
	uint32_t sum = !n ? 0 : c->n ? c->v[(n < c->n ? n : c->n) - 1].sum[which] : 0;

	return n <= c->n ? sum : (uint32_t) orr_mix64(sum + n);
}

/* [waits] The number of insertions in which the ranks agree. */
static uint64_t agreement(struct orr_mpi *mpi, int which)
{
	uint64_t low = 0, high = sum_of(mpi, mpi->check->n);

	while (low + 1 < high) {
		uint64_t middle = low + (high - low) / 2;
		if (all_equal(mpi, prefix(mpi->check, which, middle)))
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The tags and owners of an insertion's data, as far as they are named. */
static void describe(const struct inserted *in, char *text, size_t size)
{
	size_t at = 0;

	for (unsigned i = 0; i < in->ndata && i < NAMED && at < size; i++)
		at += (size_t) snprintf(text + at, size - at, "%stag %" PRId64 " of rank %d",
					i ? ", " : ": ", in->data[i].tag, in->data[i].owner);
	if (in->ndata > NAMED && at < size)
		snprintf(text + at, size - at, ", ...");
}

static void inserts_tell(struct orr_mpi *mpi, int which, uint64_t k)
{
	const struct orr_mpi_check *c = mpi->check;
	char data[64 * (NAMED + 1)] = "";

	if (k < c->n && which == DATA)
		describe(&c->v[k], data, sizeof(data));
	if (k < c->n)
		orr_error(
			"the ranks insert different tasks: insertion %" PRIu64
			" is task '%s' with %u data%s on rank %d; every rank must insert the same tasks in the same order, on data with the same tags and owners (ORRERY_CHECK_INSERTS)",
			c->before + k + 1, c->v[k].name, c->v[k].ndata, data, mpi->rank);
	else
		orr_error(
			"the ranks insert different tasks: rank %d inserted only %" PRIu64
			" of them; every rank must insert the same tasks in the same order (ORRERY_CHECK_INSERTS)",
			mpi->rank, c->before + c->n);
}

void orr_mpi_check_compare(struct orr_mpi *mpi)
{
	struct orr_mpi_check *c = mpi->check;
	int same = all_equal(mpi, c->n) && all_equal(mpi, prefix(c, TASKS, c->n));
	int which = sum_of(mpi, c->absent) ? TASKS : DATA;

	if (same && (which == TASKS || all_equal(mpi, prefix(c, DATA, c->n)))) {
		c->before += c->n;
		c->n = c->absent = 0;
		return;
	}
	uint64_t k = agreement(mpi, which);
	uint32_t own = k < c->n ? c->v[k].own[which] : 0;
	/* Rank 0, and those that do not do the same. */
	if (sum_of(mpi, mpi->rank ? 0 : own) != own || !mpi->rank)
		inserts_tell(mpi, which, k);
	sum_of(mpi, 0); /* everybody has spoken */
	orr_sys_mpi_abort(mpi->proc);
}
