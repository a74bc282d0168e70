/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans of communicators.
 *
 * Invariant: see links.h. */
#include "dyn/links.h"

#include <stdlib.h>
#include <string.h>
#include "base/assert.h"

int orr_dyn_link_new(struct orr_dyn_links *l, const int *uids, int n, int world)
{
	size_t bytes = (size_t) n * sizeof(*uids);
	struct orr_dyn_link link = { .n = n, .world = world };
	orr_assert(n > 0);
	link.uids = memcpy(orr_dyn_memory(NULL, bytes), uids, bytes);
	l->links = orr_dyn_memory(l->links, (size_t) (l->n + 1) * sizeof(*l->links));
	l->links[l->n] = link;
	return l->n++;
}

/* Marks are one byte for each process: 1: wanted and not yet in a piece. */
static int covers(const struct orr_dyn_link *link, const char *wanted)
{
	int n = 0;
	for (int i = 0; i < link->n; i++)
		n += wanted[link->uids[i]];
	return n;
}

/* The link with most of the processes that are wanted, or -1. */
static int best(const struct orr_dyn_links *l, const char *wanted)
{
	int at = -1, most = 0;
	for (int i = 0; i < l->n; i++) {
		int n = covers(&l->links[i], wanted);
		if (n > most) {
			most = n;
			at = i;
		}
	}
	return at;
}

/* Appends the piece and its processes to the words, and its processes to `order`. */
static void links_take(const struct orr_dyn_link *link, int number, char *wanted,
		       struct orr_dyn_words *out, int *order, int *norder)
{
	orr_dyn_words_number(out, number);
	orr_dyn_words_number(out, covers(link, wanted));
	for (int i = 0; i < link->n; i++) {
		if (!wanted[link->uids[i]])
			continue;
		wanted[link->uids[i]] = 0;
		order[(*norder)++] = link->uids[i];
		orr_dyn_words_number(out, link->uids[i]);
	}
}

/* True if all that live of a link are in the new one. */
static int obsolete(const struct orr_dyn_link *link, const struct orr_dyn_sets *s,
		    const char *members)
{
	if (!link->n || link->world)
		return 0;
	for (int i = 0; i < link->n; i++)
		if (s->procs[link->uids[i]].state != ORR_DYN_GONE && !members[link->uids[i]])
			return 0;
	return 1;
}

static void retire(struct orr_dyn_links *l, const struct orr_dyn_sets *s, const char *members,
		   int keep, struct orr_dyn_words *out)
{
	struct orr_dyn_words freed = { 0 };
	for (int i = 0; i < l->n; i++) {
		if (i == keep || !obsolete(&l->links[i], s, members))
			continue;
		orr_dyn_words_number(&freed, i);
		free(l->links[i].uids);
		l->links[i] = (struct orr_dyn_link){ 0 };
	}
	orr_dyn_words_number(out, freed.n);
	orr_dyn_words_copy(out, &freed, 0);
	orr_dyn_words_free(&freed);
}

int orr_dyn_plan(struct orr_dyn_links *l, const struct orr_dyn_sets *s, const int *uids, int n,
		 struct orr_dyn_words *out)
{
	char *wanted = memset(orr_dyn_memory(NULL, (size_t) s->nprocs), 0, (size_t) s->nprocs);
	int *order = orr_dyn_memory(NULL, (size_t) n * sizeof(*order)), norder = 0, npieces = 0;
	struct orr_dyn_words pieces = { 0 };
	for (int i = 0; i < n; i++)
		wanted[uids[i]] = 1;
	for (int at; (at = best(l, wanted)) >= 0; npieces++)
		links_take(&l->links[at], at, wanted, &pieces, order, &norder);
	if (norder == n) {
		int made = npieces > 1 ? orr_dyn_link_new(l, order, n, 0) : -1;
		orr_dyn_words_number(out, made);
		orr_dyn_words_number(out, npieces);
		orr_dyn_words_copy(out, &pieces, 0);
		for (int i = 0; i < n; i++)
			wanted[uids[i]] = 1;
		if (made >= 0)
			retire(l, s, wanted, made, out);
		else
			orr_dyn_words_number(out, 0);
	}
	orr_dyn_words_free(&pieces);
	free(order);
	free(wanted);
	return norder == n ? 0 : -1;
}

void orr_dyn_links_free(struct orr_dyn_links *l)
{
	for (int i = 0; i < l->n; i++)
		free(l->links[i].uids);
	free(l->links);
	*l = (struct orr_dyn_links){ 0 };
}
