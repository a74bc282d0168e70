/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The change of resources: processes come, leave, or both.
 *
 * Invariant: at most one is under way. */
#include "dyn/registry_own.h"

#include <stdlib.h>
#include <string.h>

int orr_dyn_change_involves(const struct orr_dyn_change *c, int set)
{
	for (int i = 0; i < c->noutputs; i++)
		if (c->outputs[i] == set)
			return 1;
	return c->input == set;
}

void orr_dyn_change_end(struct orr_dyn_registry *r)
{
	orr_dyn_words_free(&r->change.names);
	r->change = (struct orr_dyn_change){ .phase = ORR_DYN_IDLE };
}

/* The next output, by the name that the program chose if it did. */
static void output(struct orr_dyn_registry *r, int set)
{
	struct orr_dyn_change *c = &r->change;
	orr_assert(c->noutputs < 3);
	c->outputs[c->noutputs++] = set;
}

const char *orr_dyn_change_name(const struct orr_dyn_change *c, int place)
{
	return place < c->names.n ? c->names.w[place] : NULL;
}

int orr_dyn_change_output(struct orr_dyn_registry *r, const int *uids, int n)
{
	int set = orr_dyn_set_new(&r->sets, orr_dyn_change_name(&r->change, r->change.noutputs),
				  uids, n);
	output(r, set);
	return set;
}

/* The next form of a set: without those that leave, and with those that come. */
static void output_main(struct orr_dyn_registry *r)
{
	struct orr_dyn_change *c = &r->change;
	struct orr_dyn_set **sets = r->sets.sets;
	const struct orr_dyn_set *in = sets[c->input];
	int n = in->n, *uids, malleable = in->malleable;
	int room = in->n + (c->delta >= 0 ? sets[c->delta]->n : 0);
	uids = orr_dyn_memory(NULL, (size_t) room * sizeof(*uids));
	memcpy(uids, in->uids, (size_t) in->n * sizeof(*uids));
	if (c->leaving >= 0) {
		const struct orr_dyn_set *both[] = { in, sets[c->leaving] };
		n = (c->fills ? orr_dyn_fill : orr_dyn_difference)(both, 2, uids);
	}
	for (int i = 0; c->delta >= 0 && i < sets[c->delta]->n; i++)
		uids[n++] = sets[c->delta]->uids[i];
	int set = orr_dyn_change_output(r, uids, n);
	r->sets.sets[set]->malleable = malleable;
	free(uids);
}

void orr_dyn_evaluate_all(struct orr_dyn_registry *r)
{
	for (struct orr_dyn_call *c = r->calls, *next; c; c = next) {
		next = c->next;
		if (orr_dyn_evaluate(r, c))
			next = r->calls;
	}
}

void orr_dyn_change_done(struct orr_dyn_registry *r)
{
	struct orr_dyn_change *c = &r->change;
	c->phase = ORR_DYN_PENDING;
	if (c->delta >= 0)
		output(r, c->delta);
	if (c->type != ORR_DYN_ADD && c->type != ORR_DYN_SUB)
		output_main(r);
	if (c->by_manager)
		orr_dyn_evaluate_all(r);
	else
		orr_dyn_answer_outputs(r, c->asker, c->type, c->outputs, c->noutputs);
}

void orr_dyn_world_runs(struct orr_dyn_registry *r, int world, int link)
{
	const struct orr_dyn_set *set = r->sets.sets[world];
	for (int i = 0; i < set->n; i++) {
		struct orr_dyn_proc *p = &r->sets.procs[set->uids[i]];
		struct orr_dyn_words words = orr_dyn_words_of("ok", NULL);
		const long numbers[] = { set->uids[i], set->n, i, world != 0, link };
		p->state = ORR_DYN_RUNS;
		for (int k = 0; k < 5; k++)
			orr_dyn_words_number(&words, numbers[k]);
		orr_dyn_answer(r, (struct orr_dyn_arrival){ set->uids[i], p->ticket }, words);
	}
}

void orr_dyn_change_try(struct orr_dyn_registry *r)
{
	struct orr_dyn_change *c = &r->change;
	if (c->phase != ORR_DYN_STARTING || !c->spawned)
		return;
	int delta = c->delta;
	const struct orr_dyn_set *set = r->sets.sets[delta];
	for (int i = 0; i < set->n; i++)
		if (r->sets.procs[set->uids[i]].state != ORR_DYN_READY)
			return;
	int link = orr_dyn_link_new(&r->links, set->uids, set->n, 1);
	orr_dyn_change_done(r);
	orr_dyn_world_runs(r, delta, link);
}

void orr_dyn_change_cancel(struct orr_dyn_registry *r, const char *why)
{
	struct orr_dyn_change c = r->change;
	struct orr_dyn_set *set = r->sets.sets[c.delta];
	orr_dyn_say(r, "%s; the run goes on without the %d new processes", why, set->n);
	for (int i = 0; i < set->n; i++) {
		struct orr_dyn_proc *p = &r->sets.procs[set->uids[i]];
		if (p->state == ORR_DYN_READY)
			orr_dyn_answer(r, (struct orr_dyn_arrival){ set->uids[i], p->ticket },
				       orr_dyn_words_of("leave", NULL));
		p->state = ORR_DYN_GONE;
	}
	strcpy(set->name, "");
	c.names = r->change.names;
	orr_dyn_change_end(r);
	if (c.by_manager)
		orr_dyn_evaluate_all(r);
	else if (c.spawned || c.nwanted)
		orr_dyn_answer_refused(r, c.asker);
}

/* Room for n more processes: 0, or -1 after saying why not. */
static int pool_has(struct orr_dyn_registry *r, int n)
{
	int alive = orr_dyn_sets_alive(&r->sets);
	if ((long) alive + n <= r->pool)
		return 0;
	orr_dyn_say(
		r,
		"%d more processes are refused: %d of %d in the pool are in use; --max N sets the pool",
		n, alive, r->pool);
	return -1;
}

static int tail(struct orr_dyn_registry *r, int input, int n)
{
	const struct orr_dyn_set *in = r->sets.sets[input];
	return orr_dyn_change_output(r, in->uids + in->n - n, n);
}

void orr_dyn_change_spawn(struct orr_dyn_registry *r)
{
	struct orr_dyn_change *c = &r->change;
	if (c->phase != ORR_DYN_STARTING || !c->nwanted)
		return;
	for (int i = 0; i < r->sets.nprocs; i++)
		if (r->sets.procs[i].leaving && r->sets.procs[i].state != ORR_DYN_GONE)
			return;
	if (orr_dyn_lacks(r))
		return;
	struct orr_dyn_words words = orr_dyn_words_of("spawn", NULL);
	char *places = orr_dyn_places_for(r, c->nwanted);
	orr_dyn_words_number(&words, c->nwanted);
	orr_dyn_words_number(&words, c->start);
	if (*places)
		orr_dyn_words_add(&words, places);
	free(places);
	c->nwanted = 0;
	orr_dyn_answer(r, c->asker, words);
}

/* Begins to start n processes: somebody has to start them, and says so. */
static void change_start(struct orr_dyn_registry *r, int n)
{
	struct orr_dyn_change *c = &r->change;
	int *uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids)), world = r->sets.nsets;
	for (int i = 0; i < n; i++)
		uids[i] = orr_dyn_proc_new(&r->sets, world);
	c->delta = orr_dyn_set_new(&r->sets, orr_dyn_change_name(c, c->noutputs), uids, n);
	orr_assert(c->delta == world);
	r->sets.sets[world]->world = 1;
	free(uids);
	c->phase = ORR_DYN_STARTING;
	c->start = ++r->nstarts;
	c->nwanted = n;
	orr_dyn_change_spawn(r);
}

int orr_dyn_change_begin(struct orr_dyn_registry *r, const struct orr_dyn_change *c, int add,
			 int sub)
{
	if (r->change.phase != ORR_DYN_IDLE) {
		orr_dyn_say(r, "a change of resources is refused: another one is pending; "
			       "MPI_Session_dyn_finalize_psetop() ends it");
		return -1;
	}
	if (sub > r->sets.sets[c->input]->n) {
		orr_dyn_say(r, "%d processes cannot leave %s: it has %d", sub,
			    orr_dyn_set_name(&r->sets, c->input), r->sets.sets[c->input]->n);
		return -1;
	}
	if (sub == r->sets.sets[c->input]->n && !add) {
		orr_dyn_say(r, "%d of the %d processes of %s cannot leave: none would be left", sub,
			    r->sets.sets[c->input]->n, orr_dyn_set_name(&r->sets, c->input));
		return -1;
	}
	if (add > 0 && pool_has(r, add - sub))
		return -1;
	r->change = *c;
	memset(&r->change.names, 0, sizeof(r->change.names));
	orr_dyn_words_copy(&r->change.names, &c->names, 0);
	r->change.delta = r->change.leaving = -1;
	r->change.noutputs = 0;
	if (sub > 0)
		r->change.leaving = tail(r, c->input, sub);
	if (add > 0)
		change_start(r, add);
	else
		orr_dyn_change_done(r);
	return 0;
}
