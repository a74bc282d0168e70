/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that wait for all processes of a set.
 *
 * Invariant: a call is in the list of the registry until it has been answered. */
#include "dyn/registry_own.h"

#include <stdlib.h>
#include <string.h>

int orr_dyn_place_of(const int *uids, int n, int uid)
{
	for (int i = 0; i < n; i++)
		if (uids[i] == uid)
			return i;
	return -1;
}

static int has_arrived(const struct orr_dyn_call *c, int uid)
{
	for (int i = 0; i < c->narrived; i++)
		if (c->arrived[i].uid == uid)
			return 1;
	return 0;
}

int orr_dyn_call_complete(const struct orr_dyn_registry *r, const struct orr_dyn_call *c)
{
	int missing = 0;
	for (int i = 0; i < c->n; i++)
		missing += r->sets.procs[c->uids[i]].state != ORR_DYN_GONE;
	for (int i = 0; i < c->narrived; i++)
		missing -= r->sets.procs[c->arrived[i].uid].state != ORR_DYN_GONE;
	orr_assert(missing >= 0);
	return !missing;
}

int orr_dyn_call_awaited(const struct orr_dyn_registry *r, const struct orr_dyn_call *c)
{
	for (int i = 0; i < c->narrived; i++)
		if (r->sets.procs[c->arrived[i].uid].state != ORR_DYN_GONE)
			return 1;
	return 0;
}

static struct orr_dyn_call *call_new(struct orr_dyn_registry *r, enum orr_dyn_call_kind kind,
				     const int *uids, int n, const struct orr_dyn_words *words)
{
	struct orr_dyn_call *c = orr_dyn_memory(NULL, sizeof(*c)), **end = &r->calls;
	*c = (struct orr_dyn_call){ .kind = kind, .n = n };
	c->uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids));
	memcpy(c->uids, uids, (size_t) n * sizeof(*uids));
	c->arrived = orr_dyn_memory(NULL, (size_t) n * sizeof(*c->arrived));
	orr_dyn_words_copy(&c->words, words, 0);
	while (*end)
		end = &(*end)->next;
	*end = c;
	return c;
}

void orr_dyn_call_end(struct orr_dyn_registry *r, struct orr_dyn_call *c)
{
	struct orr_dyn_call **at = &r->calls;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	orr_dyn_words_free(&c->words);
	free(c->uids);
	free(c->arrived);
	free(c);
}

void orr_dyn_call_answer(struct orr_dyn_registry *r, struct orr_dyn_call *c,
			 const struct orr_dyn_words *w)
{
	for (int i = 0; i < c->narrived; i++) {
		struct orr_dyn_words copy = { 0 };
		orr_dyn_words_copy(&copy, w, 0);
		orr_dyn_answer(r, c->arrived[i], copy);
	}
	orr_dyn_call_end(r, c);
}

void orr_dyn_call_fail(struct orr_dyn_registry *r, struct orr_dyn_call *c, const char *why)
{
	struct orr_dyn_words w = orr_dyn_words_of("error", why, NULL);
	orr_dyn_call_answer(r, c, &w);
	orr_dyn_words_free(&w);
}

int orr_dyn_same_words(const struct orr_dyn_words *a, const struct orr_dyn_words *b, int from)
{
	int same = a->n == b->n;
	for (int i = from; same && i < a->n; i++)
		same = !strcmp(a->w[i], b->w[i]);
	return same;
}

static int same_uids(const struct orr_dyn_call *c, const int *uids, int n)
{
	return c->n == n && !memcmp(c->uids, uids, (size_t) n * sizeof(*uids));
}

struct orr_dyn_call *orr_dyn_call_enter(struct orr_dyn_registry *r, enum orr_dyn_call_kind kind,
					const int *uids, int n, struct orr_dyn_arrival from,
					const struct orr_dyn_words *words)
{
	struct orr_dyn_call *c = r->calls;
	while (c && (c->kind != kind || !same_uids(c, uids, n) || has_arrived(c, from.uid)))
		c = c->next;
	if (!c)
		c = call_new(r, kind, uids, n, words);
	orr_assert(c->narrived < c->n);
	c->arrived[c->narrived++] = from;
	return c;
}
