/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The analysis of a standstill (see standstill.h).
 *
 * Invariant: see there. */
#include "base/standstill.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define FEW 16 /* lines that are printed as they are */
#define CULPRITS 6

struct wait {
	int rank;
	struct orr_mpi_wait w; /* its name is here */
	char name[80];
};

/* A line that ranks have in common but for numbers. */
struct group {
	char *text; /* of the first rank */
	int rank, last;
	unsigned nranks, ntimes;
};

/* A line of one rank, as it came. */
struct line {
	int rank;
	char *text;
};

struct list {
	void *v;
	size_t n, room;
};

/* A rank, as far as it is known. */
enum { ENDED = 1, PARTIAL = 2 };

struct orr_standstill {
	int nranks, nended;
	uint8_t *known; /* by rank */
	struct list waits, groups;
	struct line few[FEW];
	unsigned nlines; /* of all ranks */
};

/* The place for another element; NULL without memory. */
static void *add(struct list *l, size_t bytes)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		void *v = realloc(l->v, room * bytes);
		if (!v)
			return NULL;
		l->v = v;
		l->room = room;
	}
	return (char *) l->v + l->n++ * bytes;
}

struct orr_standstill *orr_standstill_new(int nranks)
{
	struct orr_standstill *s = calloc(1, sizeof(*s));

	orr_assert(nranks > 0);
	if (!s)
		return NULL;
	s->nranks = nranks;
	s->known = calloc((size_t) nranks, 1);
	if (s->known)
		return s;
	free(s);
	return NULL;
}

void orr_standstill_free(struct orr_standstill *s)
{
	const struct group *g = s->groups.v;

	for (size_t i = 0; i < s->groups.n; i++)
		free(g[i].text);
	for (unsigned i = 0; i < FEW; i++)
		free(s->few[i].text);
	free(s->groups.v);
	free(s->waits.v);
	free(s->known);
	free(s);
}

/* ---- gathering ---- */

void orr_standstill_ended(struct orr_standstill *s, int rank)
{
	orr_assert(rank >= 0 && rank < s->nranks && !(s->known[rank] & ENDED));
	s->known[rank] |= ENDED;
	s->nended++;
}

void orr_standstill_partial(struct orr_standstill *s, int rank)
{
	orr_assert(rank >= 0 && rank < s->nranks);
	s->known[rank] |= PARTIAL;
}

void orr_standstill_wait(struct orr_standstill *s, int rank, const struct orr_mpi_wait *w)
{
	struct wait *fresh = add(&s->waits, sizeof(*fresh));

	if (!fresh) {
		orr_standstill_partial(s, rank);
		return;
	}
	*fresh = (struct wait){ .rank = rank, .w = *w };
	snprintf(fresh->name, sizeof(fresh->name), "%s", w->name);
}

/* Compares texts, a number or an address being like any other. */
static int same_but_numbers(const char *a, const char *b)
{
	while (*a && *b) {
		int digits = isdigit((unsigned char) *a) && isdigit((unsigned char) *b);
		int address = digits && !strncmp(a, "0x", 2) && !strncmp(b, "0x", 2);
		const char *set = address ? "0123456789abcdefx" : "0123456789";
		if (!digits && *a != *b)
			return 0;
		a += digits ? strspn(a, set) : 1;
		b += digits ? strspn(b, set) : 1;
	}
	return *a == *b;
}

/* The line without its indentation and the rank in front of it. */
static const char *bare(const char *line)
{
	line += strspn(line, " ");
	if (!strncmp(line, "[rank ", 6) && strchr(line, ']'))
		line = strchr(line, ']') + 1;
	return line + strspn(line, " ");
}

/* The group of a line, which is made if there is none; NULL without memory. */
static struct group *group_of(struct list *groups, int rank, const char *line)
{
	struct group *g = groups->v;

	for (size_t i = 0; i < groups->n; i++)
		if (same_but_numbers(g[i].text, line))
			return &g[i];
	char *text = strdup(line);
	g = text ? add(groups, sizeof(*g)) : NULL;
	if (g)
		*g = (struct group){ .text = text, .rank = rank, .last = -1 };
	else
		free(text);
	return g;
}

static void add_line(struct orr_standstill *s, int rank, const char *line)
{
	if (s->nlines < FEW)
		s->few[s->nlines] = (struct line){ .rank = rank, .text = strdup(line) };
	s->nlines++;
	struct group *g = group_of(&s->groups, rank, bare(line));
	if (!g)
		return;
	g->nranks += g->last != rank;
	g->ntimes++;
	g->last = rank;
}

void orr_standstill_text(struct orr_standstill *s, int rank, char *text)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		add_line(s, rank, line);
}

/* ---- culprits ---- */

/* By kind, rank, the other rank, communicator and tag. */
static int by_place(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->w.kind != y->w.kind)
		return x->w.kind < y->w.kind ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->w.peer != y->w.peer)
		return x->w.peer < y->w.peer ? -1 : 1;
	if (x->w.context != y->w.context)
		return x->w.context < y->w.context ? -1 : 1;
	return (x->w.tag > y->w.tag) - (x->w.tag < y->w.tag);
}

/* A receive of a rank from another one, of which nothing that fits is known to be sent. */
static int is_missing(const struct orr_standstill *s, const struct wait *w)
{
	if (w->w.kind != ORR_WAIT_RECEIVE || w->w.peer < 0 || w->w.peer >= s->nranks ||
	    s->known[w->w.peer] & PARTIAL)
		return 0;
	struct wait key = { .rank = w->w.peer, .w = w->w };
	key.w.kind = ORR_WAIT_SEND;
	key.w.peer = w->rank;
	return !bsearch(&key, s->waits.v, s->waits.n, sizeof(key), by_place);
}

/* A message that is at the receiver, from the same rank, and that nobody asks for; or NULL. */
static const struct wait *unasked_like(const struct orr_standstill *s, const struct wait *receive)
{
	const struct wait *w = s->waits.v;

	for (size_t i = 0; i < s->waits.n; i++)
		if (w[i].w.kind == ORR_WAIT_UNASKED && w[i].rank == receive->rank &&
		    w[i].w.peer == receive->w.peer)
			return &w[i];
	return NULL;
}

/* For each rank its first receive that nobody has sent anything for, or NULL. */
static const struct wait **find_missing(const struct orr_standstill *s)
{
	const struct wait **first = calloc((size_t) s->nranks, sizeof(*first)), *w = s->waits.v;

	for (size_t i = s->waits.n; first && i > 0; i--)
		if (is_missing(s, &w[i - 1]))
			first[w[i - 1].rank] = &w[i - 1];
	return first;
}

static void print_culprit(FILE *f, const struct orr_standstill *s, const struct wait *w)
{
	const struct wait *other = unasked_like(s, w);

	fprintf(f, "  rank %d %snever sent tag %" PRId64 ", which rank %d waits for (%s)",
		w->w.peer, s->known[w->w.peer] & ENDED ? "has ended and " : "", w->w.tag, w->rank,
		w->name);
	if (other)
		fprintf(f, "; its message with tag %" PRId64 " is there, and nobody asks for it",
			other->w.tag);
	fputc('\n', f);
}

/* Receives of ranks from one that waits for no message itself. Returns the number of lines. */
static unsigned print_roots(FILE *f, const struct orr_standstill *s,
			    const struct wait *const *missing)
{
	const struct wait *w = s->waits.v;
	unsigned lines = 0, more = 0;

	for (size_t i = 0; i < s->waits.n; i++) {
		if (!is_missing(s, &w[i]) || missing[w[i].w.peer])
			continue;
		if (lines < CULPRITS) {
			print_culprit(f, s, &w[i]);
			lines++;
		} else {
			more++;
		}
	}
	if (more) {
		fprintf(f, "  ... and %u more messages that were never sent\n", more);
		lines++;
	}
	return lines;
}

/* Ranks that wait for each other in a circle, each for a message that the next one has not sent. */
static unsigned print_circle(FILE *f, const struct orr_standstill *s,
			     const struct wait *const *missing)
{
	int at = 0, n = 0;

	while (at < s->nranks && !missing[at])
		at++;
	if (at == s->nranks)
		return 0;
	for (int i = 0; i < s->nranks; i++)
		at = missing[at]->w.peer;
	fprintf(f, "  ranks wait for each other in a circle:");
	int first = at;
	do {
		if (n++ < CULPRITS)
			fprintf(f, "%s rank %d for tag %" PRId64 " of rank %d", n > 1 ? "," : "",
				at, missing[at]->w.tag, missing[at]->w.peer);
		at = missing[at]->w.peer;
	} while (at != first);
	if (n > CULPRITS)
		fprintf(f, ", ... %d ranks in all", n);
	fputs("; none of these was sent\n", f);
	return 1;
}

/* Messages that nobody asks for. */
static unsigned print_unasked(FILE *f, const struct orr_standstill *s)
{
	const struct wait *w = s->waits.v;
	unsigned lines = 0;

	for (size_t i = 0; i < s->waits.n && lines < CULPRITS; i++)
		if (w[i].w.kind == ORR_WAIT_UNASKED) {
			fprintf(f,
				"  rank %d never asked for tag %" PRId64
				", which rank %d has sent to it\n",
				w[i].rank, w[i].w.tag, w[i].w.peer);
			lines++;
		}
	return lines;
}

static unsigned print_culprits(FILE *f, const struct orr_standstill *s)
{
	const struct wait **missing = find_missing(s);
	unsigned lines = 0;

	if (missing)
		lines = print_roots(f, s, missing);
	if (!lines) {
		lines = missing ? print_circle(f, s, missing) : 0;
		lines += print_unasked(f, s);
	}
	free(missing);
	return lines;
}

/* ---- what each rank waits for ---- */

static int by_number(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->nranks != y->nranks)
		return x->nranks < y->nranks ? 1 : -1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void print_groups(FILE *f, struct list *groups, unsigned most)
{
	const struct group *g = groups->v;
	size_t shown = groups->n <= most ? groups->n : most - 1;

	if (groups->n)
		qsort(groups->v, groups->n, sizeof(*g), by_number);
	for (size_t i = 0; i < shown; i++) {
		if (g[i].nranks == 1)
			fprintf(f, "  rank %d", g[i].rank);
		else
			fprintf(f, "  %u ranks, as rank %d", g[i].nranks, g[i].rank);
		if (g[i].ntimes > g[i].nranks)
			fprintf(f, " (%u such)", g[i].ntimes);
		fprintf(f, ": %s\n", g[i].text);
	}
	if (groups->n > shown)
		fprintf(f, "  ... and %zu more kinds of waits\n", groups->n - shown);
}

static void print_ranks(FILE *f, const struct orr_standstill *s)
{
	int rank = -1;

	for (unsigned i = 0; i < s->nlines; i++) {
		if (s->few[i].rank != rank)
			fprintf(f, "  rank %d waits:\n", rank = s->few[i].rank);
		if (s->few[i].text)
			fprintf(f, "    %s\n", s->few[i].text);
	}
}

void orr_standstill_print(struct orr_standstill *s, FILE *f, unsigned most)
{
	unsigned alone = s->nlines + (unsigned) (s->nranks - s->nended);

	orr_assert(most > CULPRITS + 2);
	if (s->waits.n)
		qsort(s->waits.v, s->waits.n, sizeof(struct wait), by_place);
	unsigned lines = print_culprits(f, s);
	if (alone <= FEW && lines + alone <= most)
		print_ranks(f, s);
	else
		print_groups(f, &s->groups, most - lines);
}
