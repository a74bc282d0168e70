/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests that one process makes, by name.
 *
 * Invariant: an unknown request, and one with numbers that its process cannot have, is answered
 * with an error and changes nothing. */
#include "dyn/registry_own.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Limits that no program comes near, so that one that is broken harms the run no further. */
enum {
	MOST_NAMES = 4096,  /* process sets or keys in a request */
	MOST_SETS = 65536,  /* that a run makes */
	MOST_PORTS = 65536, /* that nobody has asked for yet */
	MOST_TEXT = 4096    /* bytes of a name or port */
};
#define MOST_KEPT ((size_t) 256 << 20) /* bytes of sets and dictionaries */

static void request_ready(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			  const struct orr_dyn_words *words)
{
	struct orr_dyn_proc *p = &r->sets.procs[from.uid];
	(void) words;
	if (p->state == ORR_DYN_GONE) { /* its start was cancelled meanwhile */
		struct orr_dyn_words leave = orr_dyn_words_of("leave", NULL);
		r->host.reply(r->host.arg, from.uid, from.ticket, &leave);
		orr_dyn_words_free(&leave);
		return;
	}
	if (p->state != ORR_DYN_EXPECTED) {
		orr_dyn_answer_error(r, from, "this process has said before that it is ready");
		return;
	}
	p->ticket = from.ticket;
	p->state = ORR_DYN_READY;
	if (p->world)
		orr_dyn_change_try(r);
	for (int i = 0; !p->world && i < r->sets.sets[0]->n; i++)
		if (r->sets.procs[i].state == ORR_DYN_EXPECTED)
			return;
	if (!p->world)
		orr_dyn_world_runs(r, 0, 0);
}

/* The number behind that key: 0 without one, -1 if it is none. */
static int number_in(const struct orr_dyn_words *words, int from, const char *key)
{
	for (int i = from; i + 1 < words->n; i += 2)
		if (!strcmp(words->w[i], key))
			return orr_dyn_count(words, i + 1, INT_MAX / 4);
	return 0;
}

/* An operation on resources; `at` is where the keys begin. */
static void request_change(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			   const struct orr_dyn_words *words, struct orr_dyn_change *c, int at)
{
	int add = number_in(words, at, "mpi_num_procs_add");
	int sub = number_in(words, at, "mpi_num_procs_sub");
	if (c->type == ORR_DYN_ADD || c->type == ORR_DYN_GROW)
		sub = 0;
	if (c->type == ORR_DYN_SUB || c->type == ORR_DYN_SHRINK)
		add = 0;
	if (add < 0 || sub < 0 || !(add || sub)) {
		orr_dyn_answer_error(
			r, from,
			"the operation needs a positive number in the info key mpi_num_procs_%s",
			c->type == ORR_DYN_SUB || c->type == ORR_DYN_SHRINK ? "sub" : "add");
		return;
	}
	c->asker = from;
	if (orr_dyn_change_begin(r, c, add, sub))
		orr_dyn_answer_refused(r, from);
}

/* SPLIT: sizes as in "4,4". Returns the number of parts in sizes, or -1. */
static int split_sizes(const char *text, int *sizes, int room, int total)
{
	int n = 0;
	for (char *end; *text && n < room; text = end + (*end == ',')) {
		long size = strtol(text, &end, 10);
		if (end == text || size < 1 || size > total || (*end && *end != ','))
			return -1;
		total -= sizes[n++] = (int) size;
	}
	return *text || total ? -1 : n;
}

static void request_split(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			  const struct orr_dyn_words *words, const struct orr_dyn_change *c, int at)
{
	const struct orr_dyn_set *in = r->sets.sets[c->input];
	int room = in->n, *all = orr_dyn_memory(NULL, (size_t) room * 2 * sizeof(*all));
	int *sizes = all, *outputs = all + room, n = -1, begin = 0;
	for (int i = at; i + 1 < words->n; i += 2)
		if (!strcmp(words->w[i], "mpi_part_sizes"))
			n = split_sizes(words->w[i + 1], sizes, room, in->n);
	for (int i = 0; i < n; begin += sizes[i++])
		outputs[i] = orr_dyn_set_new(&r->sets, orr_dyn_change_name(c, i),
					     r->sets.sets[c->input]->uids + begin, sizes[i]);
	if (n > 0)
		orr_dyn_answer_outputs(r, from, c->type, outputs, n);
	else
		orr_dyn_answer_error(
			r, from,
			"the info key mpi_part_sizes must be sizes with commas whose sum is %d",
			room);
	free(all);
}

static void request_algebra(struct orr_dyn_registry *r, struct orr_dyn_arrival from, const int *in,
			    int nin, const struct orr_dyn_change *c)
{
	const struct orr_dyn_set **sets = orr_dyn_memory(NULL, (size_t) nin * sizeof(*sets));
	size_t room = 0;
	for (int i = 0; i < nin; i++)
		room += (size_t) (sets[i] = r->sets.sets[in[i]])->n;
	int *uids = orr_dyn_memory(NULL, room * sizeof(*uids));
	int n = c->type == ORR_DYN_UNION        ? orr_dyn_union(sets, nin, uids)
		: c->type == ORR_DYN_DIFFERENCE ? orr_dyn_difference(sets, nin, uids)
						: orr_dyn_intersection(sets, nin, uids);
	int set = orr_dyn_set_new(&r->sets, orr_dyn_change_name(c, 0), uids, n);
	r->sets.sets[set]->malleable = r->sets.sets[in[0]]->malleable;
	orr_dyn_answer_outputs(r, from, c->type, &set, 1);
	free(uids);
	free(sets);
}

static void perform(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
		    const struct orr_dyn_words *words, struct orr_dyn_change *c, const int *in,
		    int nin, int at)
{
	switch (c->type) {
	case ORR_DYN_ADD:
	case ORR_DYN_SUB:
	case ORR_DYN_REPLACE:
	case ORR_DYN_GROW:
	case ORR_DYN_SHRINK: request_change(r, from, words, c, at); break;
	case ORR_DYN_UNION:
	case ORR_DYN_DIFFERENCE:
	case ORR_DYN_INTERSECTION: request_algebra(r, from, in, nin, c); break;
	case ORR_DYN_SPLIT: request_split(r, from, words, c, at); break;
	case ORR_DYN_MALLEABLE:
		r->sets.sets[c->input]->malleable = 1;
		orr_dyn_answer_outputs(r, from, c->type, NULL, 0);
		break;
	default:
		orr_dyn_answer_error(r, from, "%d is no operation on process sets", c->type);
		break;
	}
}

/* The names that the program chose for the outputs are free, or the process gets an error. */
static int names_are_free(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			  const struct orr_dyn_words *names)
{
	for (int i = 0; i < names->n; i++) {
		const char *name = names->w[i];
		if (!*name || !strncmp(name, "mpi://", 6) || strlen(name) > MOST_TEXT)
			orr_dyn_answer_error(r, from,
					     "a process set cannot have the name \"%.64s\"", name);
		else if (orr_dyn_set_find(&r->sets, from.uid, name) >= 0)
			orr_dyn_answer_error(r, from, "there is a process set %s already", name);
		else
			continue;
		return 0;
	}
	return 1;
}

/* psetop OP N NAME... N SET... KEY VALUE... */
static void request_psetop(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			   const struct orr_dyn_words *words)
{
	struct orr_dyn_change c = { .type = (int) orr_dyn_number(words, 1) };
	int nnames = orr_dyn_count(words, 2, MOST_NAMES), at = 3 + nnames, found = 0;
	int nin = nnames < 0 ? -1 : orr_dyn_count(words, at, MOST_NAMES);
	if (nin < 1 || nin > words->n - at - 1) {
		orr_dyn_answer_error(
			r, from,
			"an operation needs a process set to begin with, and at most %d of them",
			MOST_NAMES);
		return;
	}
	int *in = orr_dyn_memory(NULL, (size_t) nin * sizeof(*in));
	for (int i = 0; i < nnames; i++)
		orr_dyn_words_add(&c.names, orr_dyn_word(words, 3 + i));
	while (found < nin &&
	       (in[found] = orr_dyn_find(r, from, orr_dyn_word(words, at + 1 + found))) >= 0)
		found++;
	if (found == nin && names_are_free(r, from, &c.names)) {
		c.input = in[0];
		perform(r, from, words, &c, in, nin, at + 1 + nin);
	}
	orr_dyn_words_free(&c.names);
	free(in);
}

/* The request that follows the start of processes has a ticket of its own: the query that asked for
 * the start is answered by it. */
static void renew_query(struct orr_dyn_registry *r, struct orr_dyn_arrival from)
{
	for (struct orr_dyn_call *call = r->calls; call; call = call->next)
		for (int i = 0; call->kind == ORR_DYN_CALL_QUERY && call->set == r->change.input &&
				i < call->narrived;
		     i++)
			if (call->arrived[i].uid == from.uid) {
				call->arrived[i] = from;
				return;
			}
}

static void request_spawned(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			    const struct orr_dyn_words *words)
{
	struct orr_dyn_change *c = &r->change;
	if (c->phase != ORR_DYN_STARTING || c->asker.uid != from.uid || c->spawned || c->nwanted) {
		/* a process died meanwhile, and the change with it; or nobody asked for a start */
		orr_dyn_answer_refused(r, from);
		return;
	}
	if (c->by_manager)
		renew_query(r, from);
	c->asker = from;
	c->spawned = 1;
	if (c->failed)
		orr_dyn_change_cancel(r, c->failed);
	else if (orr_dyn_number(words, 1))
		orr_dyn_change_try(r);
	else
		orr_dyn_change_cancel(r, "processes cannot be started");
}

static void request_set(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			const struct orr_dyn_words *words)
{
	int set = orr_dyn_find(r, from, orr_dyn_word(words, 1));
	if (set < 0)
		return;
	if (words->n + r->sets.sets[set]->dict.n > 2 * MOST_NAMES) {
		orr_dyn_answer_error(r, from, "the dictionary of a process set has at most %d keys",
				     MOST_NAMES);
		return;
	}
	for (int i = 2; i + 1 < words->n; i += 2)
		orr_dyn_set_put(&r->sets, set, words->w[i], words->w[i + 1]);
	orr_dyn_answer_ok(r, from);
	orr_dyn_evaluate_all(r);
}

static void request_finalize(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			     const struct orr_dyn_words *words)
{
	struct orr_dyn_change *c = &r->change;
	int set = orr_dyn_find(r, from, orr_dyn_word(words, 1));
	if (set < 0)
		return;
	if (c->phase != ORR_DYN_PENDING || !orr_dyn_change_involves(c, set)) {
		orr_dyn_answer_error(r, from, "no change of the process set %s is pending",
				     orr_dyn_word(words, 1));
		return;
	}
	for (int i = 0; c->leaving >= 0 && i < r->sets.sets[c->leaving]->n; i++)
		r->sets.procs[r->sets.sets[c->leaving]->uids[i]].leaving = 1;
	orr_dyn_change_end(r);
	orr_dyn_answer_ok(r, from);
}

static void request_info(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			 const struct orr_dyn_words *words)
{
	int set = orr_dyn_find(r, from, orr_dyn_word(words, 1));
	if (set < 0)
		return;
	const struct orr_dyn_set *s = r->sets.sets[set];
	struct orr_dyn_words out = orr_dyn_words_of("ok", NULL);
	int place = orr_dyn_set_place(s, from.uid), first = 0;
	while (first < s->n && r->sets.procs[s->uids[first]].state == ORR_DYN_GONE)
		first++;
	orr_dyn_words_number(&out, s->n);
	orr_dyn_words_number(&out, s->world && set != 0);
	orr_dyn_words_number(&out, place >= 0);
	orr_dyn_words_number(&out, place >= 0 && place == first);
	orr_dyn_answer(r, from, out);
}

static void request_psets(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			  const struct orr_dyn_words *words)
{
	struct orr_dyn_words out = orr_dyn_words_of("ok", "mpi://WORLD", "mpi://SELF", NULL);
	(void) words;
	for (int i = 0; i < r->sets.nsets; i++) {
		const struct orr_dyn_set *s = r->sets.sets[i];
		if (*s->name && strncmp(s->name, "mpi://", 6) &&
		    orr_dyn_set_place(s, from.uid) >= 0)
			orr_dyn_words_add(&out, s->name);
	}
	orr_dyn_answer(r, from, out);
}

static void request_members(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			    const struct orr_dyn_words *words)
{
	int set = orr_dyn_find(r, from, orr_dyn_word(words, 1));
	struct orr_dyn_words out = orr_dyn_words_of("ok", NULL);
	for (int i = 0; set >= 0 && i < r->sets.sets[set]->n; i++)
		orr_dyn_words_number(&out, r->sets.sets[set]->uids[i]);
	if (set >= 0)
		orr_dyn_answer(r, from, out);
	else
		orr_dyn_words_free(&out);
}

static void request_port(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			 const struct orr_dyn_words *words)
{
	const char *text = orr_dyn_word(words, 3);
	if (r->nports == MOST_PORTS || strlen(text) > MOST_TEXT) {
		orr_dyn_answer_error(r, from,
				     "too many ports are open, or the name of one is too long");
		return;
	}
	struct orr_dyn_port *p = orr_dyn_memory(NULL, sizeof(*p));
	*p = (struct orr_dyn_port){ .next = r->ports,
				    .number = (int) orr_dyn_number(words, 1),
				    .piece = (int) orr_dyn_number(words, 2) };
	p->text = strcpy(orr_dyn_memory(NULL, strlen(text) + 1), text);
	r->ports = p;
	r->nports++;
	orr_dyn_answer_ok(r, from);
	orr_dyn_evaluate_all(r);
}

static void request_ask(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
			const struct orr_dyn_words *words)
{
	orr_dyn_evaluate(r, orr_dyn_call_enter(r, ORR_DYN_CALL_ASK, &from.uid, 1, from, words));
}

/* False after an answer: the process does not run, or what the run keeps is at its limit. */
static int may_ask(struct orr_dyn_registry *r, struct orr_dyn_arrival from,
		   const struct orr_dyn_words *words)
{
	const char *what = orr_dyn_word(words, 0), *why = NULL;
	int makes = !strcmp(what, "psetop");
	if (strcmp(what, "ready") && !orr_dyn_runs(r, from.uid))
		why = "this process does not take part in the run";
	else if (words->n > 2 * MOST_NAMES && (!strcmp(what, "get") || !strcmp(what, "set")))
		why = "too many keys in a request";
	else if ((makes && r->sets.nsets >= MOST_SETS) ||
		 ((makes || !strcmp(what, "set")) && r->sets.kept >= MOST_KEPT))
		why = "the process sets of this run, or their dictionaries, have become too many";
	if (!why)
		return 1;
	struct orr_dyn_words error = orr_dyn_words_of("error", why, NULL);
	r->host.reply(r->host.arg, from.uid, from.ticket, &error);
	orr_dyn_words_free(&error);
	return 0;
}

void orr_dyn_request(struct orr_dyn_registry *r, int uid, unsigned ticket,
		     const struct orr_dyn_words *words)
{
	static const struct {
		const char *name;
		void (*f)(struct orr_dyn_registry *, struct orr_dyn_arrival,
			  const struct orr_dyn_words *);
	} table[] = {
		{ "ready", request_ready },       { "psetop", request_psetop },
		{ "spawned", request_spawned },   { "query", orr_dyn_request_query },
		{ "get", orr_dyn_request_get },   { "set", request_set },
		{ "finalize", request_finalize }, { "info", request_info },
		{ "psets", request_psets },       { "members", request_members },
		{ "join", orr_dyn_request_join }, { "port", request_port },
		{ "ask", request_ask },
	};
	struct orr_dyn_arrival from = { uid, ticket };
	orr_assert(uid >= 0 && uid < r->sets.nprocs);
	orr_dyn_note(r, uid, "asks", words);
	if (!may_ask(r, from, words))
		return;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(orr_dyn_word(words, 0), table[i].name))
			continue;
		table[i].f(r, from, words);
		return;
	}
	orr_dyn_answer_error(
		r, from,
		"the request \"%s\" is unknown: the program uses another version of Orrery",
		orr_dyn_word(words, 0));
}
