/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Demands of the resource manager: they become changes when a set that may change asks for one.
 *
 * Invariant: a demand is used once. */
#include "dyn/registry_own.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEMANDS = 20000 }; /* words of those that are kept */

static int demanded_processes(const struct orr_dyn_registry *r, const struct orr_dyn_set *set,
			      const char *host, int *uids)
{
	int n = 0;
	for (int i = 0; i < set->n; i++) {
		const struct orr_dyn_proc *p = &r->sets.procs[set->uids[i]];
		if (host ? p->host && orr_dyn_same_host(p->host, host) : p->state == ORR_DYN_GONE)
			uids[n++] = set->uids[i];
	}
	return n;
}

/* Those of the set leave that are on the host, or that are gone (host NULL). 0, or -1: none are. */
static int demand_leave(struct orr_dyn_registry *r, int set, const char *host)
{
	int room = r->sets.sets[set]->n;
	int *uids = orr_dyn_memory(NULL, (size_t) room * sizeof(*uids));
	int n = demanded_processes(r, r->sets.sets[set], host, uids);
	if (!n && host)
		orr_dyn_say(r, "no process of %s is on %s; nobody leaves",
			    orr_dyn_set_name(&r->sets, set), host);
	if (n == room)
		orr_dyn_say(r, "all processes of %s would leave; nobody does",
			    orr_dyn_set_name(&r->sets, set));
	if (n && n < room) {
		r->change = (struct orr_dyn_change){
			.type = ORR_DYN_SHRINK, .input = set, .by_manager = 1, .fills = host != NULL
		};
		r->change.delta = -1;
		r->change.leaving = orr_dyn_change_output(r, uids, n);
		orr_dyn_change_done(r);
	}
	free(uids);
	return n && n < room ? 0 : -1;
}

int orr_dyn_demand_next(struct orr_dyn_registry *r, const struct orr_dyn_call *c)
{
	int begun = -1;
	while (begun && r->demands.n) {
		char *what = r->demands.w[0], *text = r->demands.w[1];
		int n = (int) strtol(text, NULL, 10), grow = !strcmp(what, "grow");
		struct orr_dyn_change change = { .type = grow ? ORR_DYN_GROW : ORR_DYN_SHRINK,
						 .input = c->set,
						 .by_manager = 1,
						 .asker = c->arrived[0] };
		for (int i = 0; i < c->narrived; i++) /* the primary, if it is there */
			if (r->sets.procs[c->arrived[i].uid].state != ORR_DYN_GONE &&
			    (c->arrived[i].uid < change.asker.uid ||
			     r->sets.procs[change.asker.uid].state == ORR_DYN_GONE))
				change.asker = c->arrived[i];
		r->demands.n -= 2;
		memmove(r->demands.w, r->demands.w + 2,
			(size_t) r->demands.n * sizeof(*r->demands.w));
		if (grow || !strcmp(what, "shrink"))
			begun = orr_dyn_change_begin(r, &change, grow ? n : 0, grow ? 0 : n);
		else
			begun = demand_leave(r, c->set, !strcmp(what, "leave") ? text : NULL);
		free(what);
		free(text);
	}
	return begun;
}

int orr_dyn_demand(struct orr_dyn_registry *r, const struct orr_dyn_words *words)
{
	const char *what = orr_dyn_word(words, 0);
	int counts = !strcmp(what, "grow") || !strcmp(what, "shrink") || !strcmp(what, "pool");
	if (words->n != 2 || (!counts && strcmp(what, "leave")) ||
	    (counts && orr_dyn_count(words, 1, ORR_DYN_MOST_PROCS) < 1)) {
		orr_dyn_say(
			r,
			"the resource manager says \"%s %s\"; known are grow N, shrink N, pool N (N up to %d) and leave HOST",
			what, orr_dyn_word(words, 1), ORR_DYN_MOST_PROCS);
		return -1;
	}
	if (r->demands.n + r->away.n >= MOST_DEMANDS) {
		orr_dyn_say(r, "the resource manager has made %d demands that nobody fulfils",
			    MOST_DEMANDS / 2);
		return -1;
	}
	if (!strcmp(what, "leave"))
		orr_dyn_away(r, orr_dyn_word(words, 1));
	if (!strcmp(what, "pool"))
		r->pool = (int) orr_dyn_number(words, 1);
	else
		orr_dyn_words_copy(&r->demands, words, 0);
	return 0;
}
