/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests that all processes of a set make together: each kind says when its call can be answered,
 * and answers it.
 *
 * Invariant: a call is answered when all have arrived, and not before. */
#include "dyn/registry_own.h"

#include <stdlib.h>
#include <string.h>

static int evaluate_query(struct orr_dyn_registry *r, struct orr_dyn_call *c)
{
	struct orr_dyn_change *now = &r->change;
	if (now->phase == ORR_DYN_STARTING && now->by_manager && now->input == c->set)
		return 0;
	if (now->phase == ORR_DYN_IDLE && r->sets.sets[c->set]->malleable &&
	    !orr_dyn_demand_next(r, c))
		return 1; /* the calls were evaluated, or wait for processes that start */
	struct orr_dyn_words words = orr_dyn_words_of("ok", NULL);
	int known = now->phase == ORR_DYN_PENDING && orr_dyn_change_involves(now, c->set);
	orr_dyn_words_number(&words, known ? now->type : ORR_DYN_NULL);
	orr_dyn_words_number(&words, known ? now->noutputs : 0);
	for (int i = 0; known && i < now->noutputs; i++)
		orr_dyn_words_add(&words, orr_dyn_set_name(&r->sets, now->outputs[i]));
	orr_dyn_call_answer(r, c, &words);
	orr_dyn_words_free(&words);
	return 1;
}

static int evaluate_get(struct orr_dyn_registry *r, struct orr_dyn_call *c)
{
	const struct orr_dyn_set *set = r->sets.sets[c->set];
	struct orr_dyn_words words = orr_dyn_words_of("ok", NULL);
	int missing = 0;
	for (int i = 4; i < c->words.n; i++) {
		const char *value = orr_dyn_set_value(set, c->words.w[i]);
		missing += !value;
		if (!value)
			continue;
		orr_dyn_words_add(&words, c->words.w[i]);
		orr_dyn_words_add(&words, value);
	}
	int ready = !missing || !orr_dyn_number(&c->words, 3);
	if (ready)
		orr_dyn_call_answer(r, c, &words);
	orr_dyn_words_free(&words);
	return ready;
}

static int evaluate_join(struct orr_dyn_registry *r, struct orr_dyn_call *c)
{
	struct orr_dyn_words words = orr_dyn_words_of("ok", NULL);
	for (int i = 0; i < c->n; i++) {
		if (r->sets.procs[c->uids[i]].state != ORR_DYN_GONE)
			continue;
		orr_dyn_call_fail(r, c, "a process of the group has ended");
		orr_dyn_words_free(&words);
		return 1;
	}
	orr_dyn_words_number(&words, ++r->njoins);
	if (orr_dyn_plan(&r->links, &r->sets, c->uids, c->n, &words))
		orr_dyn_call_fail(r, c, "a process of the group has not started");
	else
		orr_dyn_call_answer(r, c, &words);
	orr_dyn_words_free(&words);
	return 1;
}

static int evaluate_ask(struct orr_dyn_registry *r, struct orr_dyn_call *c)
{
	int number = (int) orr_dyn_number(&c->words, 1), piece = (int) orr_dyn_number(&c->words, 2);
	struct orr_dyn_port **at = &r->ports, *p;
	while (*at && ((*at)->number != number || (*at)->piece != piece))
		at = &(*at)->next;
	if (!(p = *at))
		return 0;
	*at = p->next;
	r->nports--;
	struct orr_dyn_words words = orr_dyn_words_of("ok", p->text, NULL);
	orr_dyn_call_answer(r, c, &words);
	orr_dyn_words_free(&words);
	free(p->text);
	free(p);
	return 1;
}

int orr_dyn_evaluate(struct orr_dyn_registry *r, struct orr_dyn_call *c)
{
	static int (*const by_kind[])(struct orr_dyn_registry *, struct orr_dyn_call *) = {
		[ORR_DYN_CALL_QUERY] = evaluate_query,
		[ORR_DYN_CALL_GET] = evaluate_get,
		[ORR_DYN_CALL_JOIN] = evaluate_join,
		[ORR_DYN_CALL_ASK] = evaluate_ask,
	};
	if (!orr_dyn_call_complete(r, c))
		return 0;
	if (orr_dyn_call_awaited(r, c))
		return by_kind[c->kind](r, c);
	orr_dyn_call_end(r, c);
	return 1;
}

/* query COLL SET, get COLL SET WAIT KEY... */
void orr_dyn_request_of_set(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			    const struct orr_dyn_words *words, enum orr_dyn_call_kind kind)
{
	int coll = orr_dyn_find(r, from, orr_dyn_word(words, 1));
	int set = coll < 0 ? -1 : orr_dyn_find(r, from, orr_dyn_word(words, 2));
	if (set < 0)
		return;
	const struct orr_dyn_set *all = r->sets.sets[coll];
	if (orr_dyn_set_place(all, from.uid) < 0) {
		orr_dyn_answer_error(r, from,
				     "this process is not in %s, over which the call is collective",
				     orr_dyn_word(words, 1));
		return;
	}
	struct orr_dyn_call *c = orr_dyn_call_enter(r, kind, all->uids, all->n, from, words);
	if (c->narrived == 1) {
		c->coll = coll;
		c->set = set;
	} else if (c->set != set || !orr_dyn_same_words(&c->words, words, 3)) {
		orr_dyn_call_fail(
			r, c, "processes of the set ask for different things in a collective call");
		return;
	}
	orr_dyn_evaluate(r, c);
}

void orr_dyn_request_query(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			   const struct orr_dyn_words *words)
{
	orr_dyn_request_of_set(r, from, words, ORR_DYN_CALL_QUERY);
}

void orr_dyn_request_get(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			 const struct orr_dyn_words *words)
{
	orr_dyn_request_of_set(r, from, words, ORR_DYN_CALL_GET);
}

/* The processes of a join: 0, or -1 if one does not exist or comes twice. */
static int read_uids(const struct orr_dyn_registry *r, const struct orr_dyn_words *words, int *uids,
		     int n)
{
	size_t bytes = (size_t) r->sets.nprocs;
	char *seen = memset(orr_dyn_memory(NULL, bytes), 0, bytes);
	int bad = 0;
	for (int i = 0; i < n && !bad; i++) {
		uids[i] = orr_dyn_count(words, i + 2, r->sets.nprocs - 1);
		bad = uids[i] < 0 || seen[uids[i]]++;
	}
	free(seen);
	return bad ? -1 : 0;
}

void orr_dyn_request_join(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			  const struct orr_dyn_words *words)
{
	int n = words->n > 2 ? words->n - 2 : 0;
	int *uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids));
	if (read_uids(r, words, uids, n))
		orr_dyn_answer_error(r, from,
				     "the group has a process that does not exist, or one twice");
	else if (orr_dyn_place_of(uids, n, from.uid) < 0)
		orr_dyn_answer_error(r, from, "this process is not in the group");
	else
		orr_dyn_evaluate(r, orr_dyn_call_enter(r, ORR_DYN_CALL_JOIN, uids, n, from, words));
	free(uids);
}
