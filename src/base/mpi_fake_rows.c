/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows and columns of single ranks (see mpi_fake_rows.h). Nothing travels, so a value counts as a
 * message from its origin to the rank that needs it, and no line has a time.
 *
 * Invariant: as stated there. */
#include "base/mpi_fake_rows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/numbers.h"

static void append(struct orr_fake_rows *rows, struct orr_fake_row row)
{
	if (rows->n == rows->cap) {
		rows->cap = rows->cap ? 2 * rows->cap : 32;
		rows->v = realloc(rows->v, rows->cap * sizeof(*rows->v));
		if (!rows->v)
			orr_fatal("out of memory for the communication statistics");
	}
	rows->v[rows->n++] = row;
}

void orr_fake_rows_begin(struct orr_fake_rows *rows, int rank, int size)
{
	append(rows, (struct orr_fake_row){ .src = rank, .dst = -1, .messages = (uint64_t) size });
}

void orr_fake_rows_add(struct orr_fake_rows *rows, int rank, int peer, int heard, uint64_t messages,
		       uint64_t bytes)
{
	if (messages)
		append(rows, (struct orr_fake_row){ .src = heard ? peer : rank,
						    .dst = heard ? rank : peer,
						    .heard = heard,
						    .messages = messages,
						    .bytes = bytes });
}

int orr_fake_rows_size(const struct orr_fake_rows *rows)
{
	int size = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].dst < 0 && (int) rows->v[i].messages > size)
			size = (int) rows->v[i].messages;
	return size;
}

static int by_pair(const void *a, const void *b)
{
	const struct orr_fake_row *x = a, *y = b;

	if (x->src != y->src)
		return (x->src > y->src) - (x->src < y->src);
	return x->dst != y->dst ? (x->dst > y->dst) - (x->dst < y->dst) : x->heard - y->heard;
}

/* "rank 3 of 16", or "ranks 3, 5 of 16"; the rows are sorted. */
static void name_players(FILE *f, const struct orr_fake_rows *rows)
{
	int nplayers = 0;

	for (int pass = 0; pass < 2; pass++) {
		int before = -1;

		if (pass)
			fprintf(f, "# alone: rank%s ", nplayers > 1 ? "s" : "");
		for (size_t i = 0; i < rows->n; i++) {
			const struct orr_fake_row *r = &rows->v[i];

			if (r->dst >= 0 || r->src == before)
				continue;
			if (pass)
				fprintf(f, "%s%d", before < 0 ? "" : ", ", r->src);
			before = r->src;
			nplayers++;
		}
	}
	fprintf(f, " of %d\n", orr_fake_rows_size(rows));
}

void orr_fake_rows_write(FILE *f, const char *head, struct orr_fake_rows *rows)
{
	ORR_PLAIN_NUMBERS;
	const struct orr_fake_row *before = NULL;

	qsort(rows->v, rows->n, sizeof(*rows->v), by_pair);
	name_players(f, rows);
	fputs(head, f);
	for (const struct orr_fake_row *r = rows->v; r < rows->v + rows->n; r++) {
		if (r->dst < 0 || (before && before->src == r->src && before->dst == r->dst))
			continue;
		fprintf(f, "%d,%d,%" PRIu64 ",%" PRIu64 ",0,0,0,%" PRIu64 ",%" PRIu64 "\n", r->src,
			r->dst, r->bytes, r->messages, r->bytes, r->messages);
		before = r;
	}
}
