/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The registry: requests, collective calls, and the change of resources that is pending.
 *
 * Invariant: see registry.h. */
#include "dyn/registry.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "dyn/links.h"
#include "dyn/operations.h"
#include "dyn/sets.h"

enum phase { IDLE, STARTING, PENDING };
enum kind { QUERY, GET, JOIN, ASK };

struct arrival {
	int uid;
	unsigned ticket;
};

/* A call that waits for all processes of a set, or for somebody else. */
struct call {
	struct call *next;
	enum kind kind;
	struct orr_dyn_words words; /* of the first process; the others said the same */
	int *uids, n;
	int coll, set; /* of QUERY and GET */
	struct arrival *arrived;
	int narrived;
};

struct change {
	enum phase phase;
	int type, input, delta, leaving; /* sets, or -1 */
	int outputs[3], noutputs;
	struct orr_dyn_words names; /* for the outputs, if the program chose them */
	struct arrival asker;       /* of psetop; by_manager: the process that starts others */
	int by_manager, spawned, failed;
	int start;   /* its number among those that start processes, 0: it starts none */
	int nwanted; /* processes that somebody will be asked to start, once those that leave are
			gone */
};

struct port {
	struct port *next;
	int number, piece;
	char *text;
};

struct orr_dyn_registry {
	struct orr_dyn_host host;
	struct orr_dyn_sets sets;
	struct orr_dyn_links links;
	struct change change;
	struct call *calls;
	struct port *ports;
	struct orr_dyn_words demands; /* each two words */
	int pool, njoins, nstarts;
};

/* ---- answers ---- */

static void __attribute__((format(printf, 2, 3)))
say(struct orr_dyn_registry *r, const char *fmt, ...)
{
	char line[1024];
	va_list list;
	va_start(list, fmt);
	vsnprintf(line, sizeof(line), fmt, list);
	va_end(list);
	r->host.say(r->host.arg, line);
}

static void answer(struct orr_dyn_registry *r, struct arrival to, struct orr_dyn_words words)
{
	if (to.uid >= 0 && r->sets.procs[to.uid].state != ORR_DYN_GONE)
		r->host.reply(r->host.arg, to.uid, to.ticket, &words);
	orr_dyn_words_free(&words);
}

static void answer_ok(struct orr_dyn_registry *r, struct arrival to)
{
	answer(r, to, orr_dyn_words_of("ok", NULL));
}

static void __attribute__((format(printf, 3, 4)))
answer_error(struct orr_dyn_registry *r, struct arrival to, const char *fmt, ...)
{
	char line[1024];
	va_list list;
	va_start(list, fmt);
	vsnprintf(line, sizeof(line), fmt, list);
	va_end(list);
	answer(r, to, orr_dyn_words_of("error", line, NULL));
}

/* The operation was refused, as the document says: success, with a null operation. */
static void answer_refused(struct orr_dyn_registry *r, struct arrival to)
{
	answer(r, to, orr_dyn_words_of("ok", "0", "0", NULL));
}

static void answer_outputs(struct orr_dyn_registry *r, struct arrival to, int type,
			   const int *outputs, int n)
{
	struct orr_dyn_words words = orr_dyn_words_of("ok", NULL);
	orr_dyn_words_number(&words, type);
	orr_dyn_words_number(&words, n);
	for (int i = 0; i < n; i++)
		orr_dyn_words_add(&words, orr_dyn_set_name(&r->sets, outputs[i]));
	answer(r, to, words);
}

/* The set of that name, or -1 after an error to the process. */
static int find(struct orr_dyn_registry *r, struct arrival from, const char *name)
{
	int set = orr_dyn_set_find(&r->sets, from.uid, name);
	if (set < 0)
		answer_error(
			r, from,
			"there is no process set \"%s\"; MPI_Session_get_nth_pset() lists them",
			name);
	return set;
}

/* ---- calls of a set ---- */

static int place_of(const int *uids, int n, int uid)
{
	for (int i = 0; i < n; i++)
		if (uids[i] == uid)
			return i;
	return -1;
}

static int has_arrived(const struct call *c, int uid)
{
	for (int i = 0; i < c->narrived; i++)
		if (c->arrived[i].uid == uid)
			return 1;
	return 0;
}

static int complete(const struct orr_dyn_registry *r, const struct call *c)
{
	int missing = 0;
	for (int i = 0; i < c->n; i++)
		missing += r->sets.procs[c->uids[i]].state != ORR_DYN_GONE;
	for (int i = 0; i < c->narrived; i++)
		missing -= r->sets.procs[c->arrived[i].uid].state != ORR_DYN_GONE;
	orr_assert(missing >= 0);
	return !missing;
}

static struct call *call_new(struct orr_dyn_registry *r, enum kind kind, const int *uids, int n,
			     const struct orr_dyn_words *words)
{
	struct call *c = orr_dyn_memory(NULL, sizeof(*c)), **end = &r->calls;
	*c = (struct call){ .kind = kind, .n = n };
	c->uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids));
	memcpy(c->uids, uids, (size_t) n * sizeof(*uids));
	c->arrived = orr_dyn_memory(NULL, (size_t) n * sizeof(*c->arrived));
	orr_dyn_words_copy(&c->words, words, 0);
	while (*end)
		end = &(*end)->next;
	*end = c;
	return c;
}

static void call_end(struct orr_dyn_registry *r, struct call *c)
{
	struct call **at = &r->calls;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	orr_dyn_words_free(&c->words);
	free(c->uids);
	free(c->arrived);
	free(c);
}

/* Answers all processes of the call, and ends it. */
static void call_answer(struct orr_dyn_registry *r, struct call *c, const struct orr_dyn_words *w)
{
	for (int i = 0; i < c->narrived; i++) {
		struct orr_dyn_words copy = { 0 };
		orr_dyn_words_copy(&copy, w, 0);
		answer(r, c->arrived[i], copy);
	}
	call_end(r, c);
}

static void call_fail(struct orr_dyn_registry *r, struct call *c, const char *why)
{
	struct orr_dyn_words w = orr_dyn_words_of("error", why, NULL);
	call_answer(r, c, &w);
	orr_dyn_words_free(&w);
}

static int same_words(const struct orr_dyn_words *a, const struct orr_dyn_words *b, int from)
{
	int same = a->n == b->n;
	for (int i = from; same && i < a->n; i++)
		same = !strcmp(a->w[i], b->w[i]);
	return same;
}

static int same_uids(const struct call *c, const int *uids, int n)
{
	return c->n == n && !memcmp(c->uids, uids, (size_t) n * sizeof(*uids));
}

/* The call of that kind and set in which this process is missing, or a new one. */
static struct call *call_enter(struct orr_dyn_registry *r, enum kind kind, const int *uids, int n,
			       struct arrival from, const struct orr_dyn_words *words)
{
	struct call *c = r->calls;
	while (c && (c->kind != kind || !same_uids(c, uids, n) || has_arrived(c, from.uid)))
		c = c->next;
	if (!c)
		c = call_new(r, kind, uids, n, words);
	c->arrived[c->narrived++] = from;
	return c;
}

/* ---- the change ---- */

static int involves(const struct change *c, int set)
{
	for (int i = 0; i < c->noutputs; i++)
		if (c->outputs[i] == set)
			return 1;
	return c->input == set;
}

static void change_end(struct orr_dyn_registry *r)
{
	orr_dyn_words_free(&r->change.names);
	r->change = (struct change){ .phase = IDLE };
}

/* The next output, by the name that the program chose if it did. */
static void output(struct orr_dyn_registry *r, int set)
{
	struct change *c = &r->change;
	orr_assert(c->noutputs < 3);
	c->outputs[c->noutputs++] = set;
}

static const char *name_of_output(const struct change *c, int place)
{
	return place < c->names.n ? c->names.w[place] : NULL;
}

static int new_output(struct orr_dyn_registry *r, const int *uids, int n)
{
	int set = orr_dyn_set_new(&r->sets, name_of_output(&r->change, r->change.noutputs), uids,
				  n);
	output(r, set);
	return set;
}

/* The next form of a set: without those that leave, and with those that come. */
static void output_main(struct orr_dyn_registry *r)
{
	struct change *c = &r->change;
	struct orr_dyn_set **sets = r->sets.sets;
	const struct orr_dyn_set *in = sets[c->input];
	int n = in->n, *uids, malleable = in->malleable;
	int room = in->n + (c->delta >= 0 ? sets[c->delta]->n : 0);
	uids = orr_dyn_memory(NULL, (size_t) room * sizeof(*uids));
	memcpy(uids, in->uids, (size_t) in->n * sizeof(*uids));
	if (c->leaving >= 0) {
		const struct orr_dyn_set *both[] = { in, sets[c->leaving] };
		n = orr_dyn_difference(both, 2, uids);
	}
	for (int i = 0; c->delta >= 0 && i < sets[c->delta]->n; i++)
		uids[n++] = sets[c->delta]->uids[i];
	int set = new_output(r, uids, n);
	r->sets.sets[set]->malleable = malleable;
	free(uids);
}

static int evaluate(struct orr_dyn_registry *r, struct call *c);

/* One evaluation may end other calls, so each begins anew. */
static void evaluate_all(struct orr_dyn_registry *r)
{
	for (struct call *c = r->calls, *next; c; c = next) {
		next = c->next;
		if (evaluate(r, c))
			next = r->calls;
	}
}

/* All that the change needs is there: the application learns of it. */
static void change_done(struct orr_dyn_registry *r)
{
	struct change *c = &r->change;
	c->phase = PENDING;
	if (c->type == ORR_DYN_ADD || c->type == ORR_DYN_GROW || c->type == ORR_DYN_REPLACE)
		output(r, c->delta);
	if (c->type != ORR_DYN_ADD && c->type != ORR_DYN_SUB)
		output_main(r);
	if (c->by_manager)
		evaluate_all(r);
	else
		answer_outputs(r, c->asker, c->type, c->outputs, c->noutputs);
}

static void world_runs(struct orr_dyn_registry *r, int world, int link)
{
	const struct orr_dyn_set *set = r->sets.sets[world];
	for (int i = 0; i < set->n; i++) {
		struct orr_dyn_proc *p = &r->sets.procs[set->uids[i]];
		struct orr_dyn_words words = orr_dyn_words_of("ok", NULL);
		const long numbers[] = { set->uids[i], set->n, i, world != 0, link };
		p->state = ORR_DYN_RUNS;
		for (int k = 0; k < 5; k++)
			orr_dyn_words_number(&words, numbers[k]);
		answer(r, (struct arrival){ set->uids[i], p->ticket }, words);
	}
}

static void change_try(struct orr_dyn_registry *r)
{
	struct change *c = &r->change;
	if (c->phase != STARTING || !c->spawned)
		return;
	int delta = c->delta;
	const struct orr_dyn_set *set = r->sets.sets[delta];
	for (int i = 0; i < set->n; i++)
		if (r->sets.procs[set->uids[i]].state != ORR_DYN_READY)
			return;
	int link = orr_dyn_link_new(&r->links, set->uids, set->n, 1);
	change_done(r);
	world_runs(r, delta, link);
}

/* Not all processes came: those that did end, and the application stays as it is. */
static void change_cancel(struct orr_dyn_registry *r, const char *why)
{
	struct change c = r->change;
	struct orr_dyn_set *set = r->sets.sets[c.delta];
	say(r, "%s; the run goes on without the %d new processes", why, set->n);
	for (int i = 0; i < set->n; i++) {
		struct orr_dyn_proc *p = &r->sets.procs[set->uids[i]];
		if (p->state == ORR_DYN_READY)
			answer(r, (struct arrival){ set->uids[i], p->ticket },
			       orr_dyn_words_of("leave", NULL));
		p->state = ORR_DYN_GONE;
	}
	strcpy(set->name, "");
	c.names = r->change.names;
	change_end(r);
	if (c.by_manager)
		evaluate_all(r);
	else if (c.spawned)
		answer_refused(r, c.asker);
}

/* Room for n more processes: 0, or -1 after saying why not. */
static int pool_has(struct orr_dyn_registry *r, int n)
{
	int alive = orr_dyn_sets_alive(&r->sets);
	if (alive + n <= r->pool)
		return 0;
	say(r,
	    "%d more processes are refused: %d of %d in the pool are in use; --max N sets the pool",
	    n, alive, r->pool);
	return -1;
}

static int tail(struct orr_dyn_registry *r, int input, int n)
{
	const struct orr_dyn_set *in = r->sets.sets[input];
	return new_output(r, in->uids + in->n - n, n);
}

/* Asks for the start of processes that are wanted. Those that leave have to be gone first: their
 * hosts may be needed, and mpirun has been seen to forget processes that start while others end. */
static void change_spawn(struct orr_dyn_registry *r)
{
	struct change *c = &r->change;
	if (c->phase != STARTING || !c->nwanted)
		return;
	for (int i = 0; i < r->sets.nprocs; i++)
		if (r->sets.procs[i].leaving && r->sets.procs[i].state != ORR_DYN_GONE)
			return;
	struct orr_dyn_words words = orr_dyn_words_of("spawn", NULL);
	orr_dyn_words_number(&words, c->nwanted);
	orr_dyn_words_number(&words, c->start);
	c->nwanted = 0;
	answer(r, c->asker, words);
}

/* Begins to start n processes: somebody has to start them, and says so. */
static void change_start(struct orr_dyn_registry *r, int n)
{
	struct change *c = &r->change;
	int *uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids)), world = r->sets.nsets;
	for (int i = 0; i < n; i++)
		uids[i] = orr_dyn_proc_new(&r->sets, world);
	c->delta = orr_dyn_set_new(&r->sets, name_of_output(c, c->noutputs), uids, n);
	orr_assert(c->delta == world);
	r->sets.sets[world]->world = 1;
	free(uids);
	c->phase = STARTING;
	c->start = ++r->nstarts;
	c->nwanted = n;
	change_spawn(r);
}

/* Begins the change that *c describes: add processes come, sub leave from the tail. 0, or -1 if it
 * is refused. */
static int change_begin(struct orr_dyn_registry *r, const struct change *c, int add, int sub)
{
	if (r->change.phase != IDLE) {
		say(r, "a change of resources is refused: another one is pending; "
		       "MPI_Session_dyn_finalize_psetop() ends it");
		return -1;
	}
	if (sub >= r->sets.sets[c->input]->n + add) {
		say(r, "%d of the %d processes of %s cannot leave: none would be left", sub,
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
		change_done(r);
	return 0;
}

/* ---- the resource manager ---- */

static int demanded_processes(const struct orr_dyn_registry *r, const struct orr_dyn_set *set,
			      const char *host, int *uids)
{
	int n = 0;
	for (int i = 0; i < set->n; i++) {
		const struct orr_dyn_proc *p = &r->sets.procs[set->uids[i]];
		if (host ? p->host && !strcmp(p->host, host) : p->state == ORR_DYN_GONE)
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
	if (n == room)
		say(r, "all processes of %s would leave; nobody does",
		    orr_dyn_set_name(&r->sets, set));
	if (n && n < room) {
		r->change = (struct change){ .type = ORR_DYN_SHRINK,
					     .input = set,
					     .by_manager = 1 };
		r->change.delta = -1;
		r->change.leaving = new_output(r, uids, n);
		change_done(r);
	}
	free(uids);
	return n && n < room ? 0 : -1;
}

/* Begins the next demand for the set that the call asks about. 0, or -1: there is none. */
static int demand_next(struct orr_dyn_registry *r, const struct call *c)
{
	int begun = -1;
	while (begun && r->demands.n) {
		char *what = r->demands.w[0], *text = r->demands.w[1];
		int n = (int) strtol(text, NULL, 10), grow = !strcmp(what, "grow");
		struct change change = { .type = grow ? ORR_DYN_GROW : ORR_DYN_SHRINK,
					 .input = c->set,
					 .by_manager = 1,
					 .asker = c->arrived[0] };
		for (int i = 0; i < c->narrived; i++) /* the primary, if it is there */
			if (c->arrived[i].uid < change.asker.uid)
				change.asker = c->arrived[i];
		r->demands.n -= 2;
		memmove(r->demands.w, r->demands.w + 2,
			(size_t) r->demands.n * sizeof(*r->demands.w));
		if (grow || !strcmp(what, "shrink"))
			begun = change_begin(r, &change, grow ? n : 0, grow ? 0 : n);
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
	    (counts && orr_dyn_number(words, 1) < 1)) {
		say(r,
		    "the resource manager says \"%s %s\"; known are grow N, shrink N, pool N and leave HOST",
		    what, orr_dyn_word(words, 1));
		return -1;
	}
	if (!strcmp(what, "pool"))
		r->pool = (int) orr_dyn_number(words, 1);
	else
		orr_dyn_words_copy(&r->demands, words, 0);
	return 0;
}

/* ---- collective requests ---- */

static int evaluate_query(struct orr_dyn_registry *r, struct call *c)
{
	struct change *now = &r->change;
	if (now->phase == STARTING && now->by_manager && now->input == c->set)
		return 0;
	if (now->phase == IDLE && r->sets.sets[c->set]->malleable && !demand_next(r, c))
		return 1; /* the calls were evaluated, or wait for processes that start */
	struct orr_dyn_words words = orr_dyn_words_of("ok", NULL);
	int known = now->phase == PENDING && involves(now, c->set);
	orr_dyn_words_number(&words, known ? now->type : ORR_DYN_NULL);
	orr_dyn_words_number(&words, known ? now->noutputs : 0);
	for (int i = 0; known && i < now->noutputs; i++)
		orr_dyn_words_add(&words, orr_dyn_set_name(&r->sets, now->outputs[i]));
	call_answer(r, c, &words);
	orr_dyn_words_free(&words);
	return 1;
}

static int evaluate_get(struct orr_dyn_registry *r, struct call *c)
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
		call_answer(r, c, &words);
	orr_dyn_words_free(&words);
	return ready;
}

static int evaluate_join(struct orr_dyn_registry *r, struct call *c)
{
	struct orr_dyn_words words = orr_dyn_words_of("ok", NULL);
	for (int i = 0; i < c->n; i++) {
		if (r->sets.procs[c->uids[i]].state != ORR_DYN_GONE)
			continue;
		call_fail(r, c, "a process of the group has ended");
		orr_dyn_words_free(&words);
		return 1;
	}
	orr_dyn_words_number(&words, ++r->njoins);
	if (orr_dyn_plan(&r->links, &r->sets, c->uids, c->n, &words))
		call_fail(r, c, "a process of the group has not started");
	else
		call_answer(r, c, &words);
	orr_dyn_words_free(&words);
	return 1;
}

static int evaluate_ask(struct orr_dyn_registry *r, struct call *c)
{
	int number = (int) orr_dyn_number(&c->words, 1), piece = (int) orr_dyn_number(&c->words, 2);
	struct port **at = &r->ports, *p;
	while (*at && ((*at)->number != number || (*at)->piece != piece))
		at = &(*at)->next;
	if (!(p = *at))
		return 0;
	*at = p->next;
	struct orr_dyn_words words = orr_dyn_words_of("ok", p->text, NULL);
	call_answer(r, c, &words);
	orr_dyn_words_free(&words);
	free(p->text);
	free(p);
	return 1;
}

/* Answers the call if that is possible now; then it does not exist any more, or others do not. */
static int evaluate(struct orr_dyn_registry *r, struct call *c)
{
	static int (*const by_kind[])(struct orr_dyn_registry *, struct call *) = {
		[QUERY] = evaluate_query,
		[GET] = evaluate_get,
		[JOIN] = evaluate_join,
		[ASK] = evaluate_ask,
	};
	return complete(r, c) && by_kind[c->kind](r, c);
}

/* query COLL SET, get COLL SET WAIT KEY... */
static void request_of_set(struct orr_dyn_registry *r, struct arrival from,
			   const struct orr_dyn_words *words, enum kind kind)
{
	int coll = find(r, from, orr_dyn_word(words, 1));
	int set = coll < 0 ? -1 : find(r, from, orr_dyn_word(words, 2));
	if (set < 0)
		return;
	const struct orr_dyn_set *all = r->sets.sets[coll];
	if (orr_dyn_set_place(all, from.uid) < 0) {
		answer_error(r, from,
			     "this process is not in %s, over which the call is collective",
			     orr_dyn_word(words, 1));
		return;
	}
	struct call *c = call_enter(r, kind, all->uids, all->n, from, words);
	if (c->narrived == 1) {
		c->coll = coll;
		c->set = set;
	} else if (c->set != set || !same_words(&c->words, words, 3)) {
		call_fail(r, c,
			  "processes of the set ask for different things in a collective call");
		return;
	}
	evaluate(r, c);
}

static void request_query(struct orr_dyn_registry *r, struct arrival from,
			  const struct orr_dyn_words *words)
{
	request_of_set(r, from, words, QUERY);
}

static void request_get(struct orr_dyn_registry *r, struct arrival from,
			const struct orr_dyn_words *words)
{
	request_of_set(r, from, words, GET);
}

static void request_join(struct orr_dyn_registry *r, struct arrival from,
			 const struct orr_dyn_words *words)
{
	int n = words->n - 2, *uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids));
	for (int i = 0; i < n; i++)
		uids[i] = (int) orr_dyn_number(words, i + 2);
	if (place_of(uids, n, from.uid) < 0)
		answer_error(r, from, "this process is not in the group");
	else
		evaluate(r, call_enter(r, JOIN, uids, n, from, words));
	free(uids);
}

/* ---- other requests ---- */

static void request_ready(struct orr_dyn_registry *r, struct arrival from,
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
	p->ticket = from.ticket;
	p->state = ORR_DYN_READY;
	if (p->world)
		change_try(r);
	for (int i = 0; !p->world && i < r->sets.sets[0]->n; i++)
		if (r->sets.procs[i].state == ORR_DYN_EXPECTED)
			return;
	if (!p->world)
		world_runs(r, 0, 0);
}

static int number_in(const struct orr_dyn_words *words, int from, const char *key)
{
	for (int i = from; i + 1 < words->n; i += 2)
		if (!strcmp(words->w[i], key))
			return (int) orr_dyn_number(words, i + 1);
	return 0;
}

/* An operation on resources; `at` is where the keys begin. */
static void request_change(struct orr_dyn_registry *r, struct arrival from,
			   const struct orr_dyn_words *words, struct change *c, int at)
{
	int add = number_in(words, at, "mpi_num_procs_add");
	int sub = number_in(words, at, "mpi_num_procs_sub");
	if (c->type == ORR_DYN_ADD || c->type == ORR_DYN_GROW)
		sub = 0;
	if (c->type == ORR_DYN_SUB || c->type == ORR_DYN_SHRINK)
		add = 0;
	if (add < 0 || sub < 0 || !(add || sub)) {
		answer_error(
			r, from,
			"the operation needs a positive number in the info key mpi_num_procs_%s",
			c->type == ORR_DYN_SUB || c->type == ORR_DYN_SHRINK ? "sub" : "add");
		return;
	}
	c->asker = from;
	if (change_begin(r, c, add, sub))
		answer_refused(r, from);
}

/* SPLIT: sizes as in "4,4". Returns the number of parts in sizes, or -1. */
static int split_sizes(const char *text, int *sizes, int room, int total)
{
	int n = 0;
	for (char *end; *text && n < room; text = end + (*end == ',')) {
		sizes[n] = (int) strtol(text, &end, 10);
		if (end == text || sizes[n] < 1 || (*end && *end != ','))
			return -1;
		total -= sizes[n++];
	}
	return *text || total ? -1 : n;
}

static void request_split(struct orr_dyn_registry *r, struct arrival from,
			  const struct orr_dyn_words *words, const struct change *c, int at)
{
	const struct orr_dyn_set *in = r->sets.sets[c->input];
	int room = in->n, *all = orr_dyn_memory(NULL, (size_t) room * 2 * sizeof(*all));
	int *sizes = all, *outputs = all + room, n = -1, begin = 0;
	for (int i = at; i + 1 < words->n; i += 2)
		if (!strcmp(words->w[i], "mpi_part_sizes"))
			n = split_sizes(words->w[i + 1], sizes, room, in->n);
	for (int i = 0; i < n; begin += sizes[i++])
		outputs[i] = orr_dyn_set_new(&r->sets, name_of_output(c, i),
					     r->sets.sets[c->input]->uids + begin, sizes[i]);
	if (n > 0)
		answer_outputs(r, from, c->type, outputs, n);
	else
		answer_error(
			r, from,
			"the info key mpi_part_sizes must be sizes with commas whose sum is %d",
			room);
	free(all);
}

static void request_algebra(struct orr_dyn_registry *r, struct arrival from, const int *in, int nin,
			    const struct change *c)
{
	const struct orr_dyn_set **sets = orr_dyn_memory(NULL, (size_t) nin * sizeof(*sets));
	int room = 0;
	for (int i = 0; i < nin; i++)
		room += (sets[i] = r->sets.sets[in[i]])->n;
	int *uids = orr_dyn_memory(NULL, (size_t) room * sizeof(*uids));
	int n = c->type == ORR_DYN_UNION        ? orr_dyn_union(sets, nin, uids)
		: c->type == ORR_DYN_DIFFERENCE ? orr_dyn_difference(sets, nin, uids)
						: orr_dyn_intersection(sets, nin, uids);
	int set = orr_dyn_set_new(&r->sets, name_of_output(c, 0), uids, n);
	r->sets.sets[set]->malleable = r->sets.sets[in[0]]->malleable;
	answer_outputs(r, from, c->type, &set, 1);
	free(uids);
	free(sets);
}

static void perform(struct orr_dyn_registry *r, struct arrival from,
		    const struct orr_dyn_words *words, struct change *c, const int *in, int nin,
		    int at)
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
		answer_outputs(r, from, c->type, NULL, 0);
		break;
	default: answer_error(r, from, "%d is no operation on process sets", c->type); break;
	}
}

/* psetop OP N NAME... N SET... KEY VALUE... */
static void request_psetop(struct orr_dyn_registry *r, struct arrival from,
			   const struct orr_dyn_words *words)
{
	struct change c = { .type = (int) orr_dyn_number(words, 1) };
	int nnames = (int) orr_dyn_number(words, 2), at = 3 + nnames;
	int nin = (int) orr_dyn_number(words, at), found = 0;
	int *in = orr_dyn_memory(NULL, (size_t) (nin > 0 ? nin : 0) * sizeof(*in));
	for (int i = 0; i < nnames; i++)
		orr_dyn_words_add(&c.names, orr_dyn_word(words, 3 + i));
	if (nin < 1)
		answer_error(r, from, "an operation needs a process set to begin with");
	while (found < nin && (in[found] = find(r, from, orr_dyn_word(words, at + 1 + found))) >= 0)
		found++;
	for (int i = 0; found == nin && i < nnames; i++) {
		if (orr_dyn_set_find(&r->sets, from.uid, c.names.w[i]) < 0)
			continue;
		answer_error(r, from, "there is a process set %s already", c.names.w[i]);
		found = -1;
	}
	if (nin > 0 && found == nin) {
		c.input = in[0];
		perform(r, from, words, &c, in, nin, at + 1 + nin);
	}
	orr_dyn_words_free(&c.names);
	free(in);
}

static const char ended_early[] = "a process ended while it joined";

static void request_spawned(struct orr_dyn_registry *r, struct arrival from,
			    const struct orr_dyn_words *words)
{
	struct change *c = &r->change;
	if (c->by_manager) { /* its ticket is a new one */
		for (struct call *call = r->calls; call; call = call->next)
			for (int i = 0; call->kind == QUERY && i < call->narrived; i++)
				if (call->arrived[i].uid == from.uid)
					call->arrived[i] = from;
	}
	if (c->phase != STARTING || c->asker.uid != from.uid) {
		/* a process died meanwhile, and the change with it */
		if (!c->by_manager)
			answer_refused(r, from);
		return;
	}
	c->asker = from;
	c->spawned = 1;
	if (c->failed)
		change_cancel(r, ended_early);
	else if (orr_dyn_number(words, 1))
		change_try(r);
	else
		change_cancel(r, "processes cannot be started");
}

static void request_set(struct orr_dyn_registry *r, struct arrival from,
			const struct orr_dyn_words *words)
{
	int set = find(r, from, orr_dyn_word(words, 1));
	if (set < 0)
		return;
	for (int i = 2; i + 1 < words->n; i += 2)
		orr_dyn_set_put(r->sets.sets[set], words->w[i], words->w[i + 1]);
	answer_ok(r, from);
	evaluate_all(r);
}

static void request_finalize(struct orr_dyn_registry *r, struct arrival from,
			     const struct orr_dyn_words *words)
{
	struct change *c = &r->change;
	int set = find(r, from, orr_dyn_word(words, 1));
	if (set < 0)
		return;
	if (c->phase != PENDING || !involves(c, set)) {
		answer_error(r, from, "no change of the process set %s is pending",
			     orr_dyn_word(words, 1));
		return;
	}
	for (int i = 0; c->leaving >= 0 && i < r->sets.sets[c->leaving]->n; i++)
		r->sets.procs[r->sets.sets[c->leaving]->uids[i]].leaving = 1;
	change_end(r);
	answer_ok(r, from);
}

static void request_info(struct orr_dyn_registry *r, struct arrival from,
			 const struct orr_dyn_words *words)
{
	int set = find(r, from, orr_dyn_word(words, 1));
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
	answer(r, from, out);
}

static void request_psets(struct orr_dyn_registry *r, struct arrival from,
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
	answer(r, from, out);
}

static void request_members(struct orr_dyn_registry *r, struct arrival from,
			    const struct orr_dyn_words *words)
{
	int set = find(r, from, orr_dyn_word(words, 1));
	struct orr_dyn_words out = orr_dyn_words_of("ok", NULL);
	for (int i = 0; set >= 0 && i < r->sets.sets[set]->n; i++)
		orr_dyn_words_number(&out, r->sets.sets[set]->uids[i]);
	if (set >= 0)
		answer(r, from, out);
	else
		orr_dyn_words_free(&out);
}

static void request_port(struct orr_dyn_registry *r, struct arrival from,
			 const struct orr_dyn_words *words)
{
	struct port *p = orr_dyn_memory(NULL, sizeof(*p));
	const char *text = orr_dyn_word(words, 3);
	*p = (struct port){ .next = r->ports,
			    .number = (int) orr_dyn_number(words, 1),
			    .piece = (int) orr_dyn_number(words, 2) };
	p->text = strcpy(orr_dyn_memory(NULL, strlen(text) + 1), text);
	r->ports = p;
	answer_ok(r, from);
	evaluate_all(r);
}

static void request_ask(struct orr_dyn_registry *r, struct arrival from,
			const struct orr_dyn_words *words)
{
	evaluate(r, call_enter(r, ASK, &from.uid, 1, from, words));
}

void orr_dyn_request(struct orr_dyn_registry *r, int uid, unsigned ticket,
		     const struct orr_dyn_words *words)
{
	static const struct {
		const char *name;
		void (*f)(struct orr_dyn_registry *, struct arrival, const struct orr_dyn_words *);
	} table[] = {
		{ "ready", request_ready },       { "psetop", request_psetop },
		{ "spawned", request_spawned },   { "query", request_query },
		{ "get", request_get },           { "set", request_set },
		{ "finalize", request_finalize }, { "info", request_info },
		{ "psets", request_psets },       { "members", request_members },
		{ "join", request_join },         { "port", request_port },
		{ "ask", request_ask },
	};
	struct arrival from = { uid, ticket };
	orr_assert(uid >= 0 && uid < r->sets.nprocs);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(orr_dyn_word(words, 0), table[i].name))
			continue;
		table[i].f(r, from, words);
		return;
	}
	answer_error(r, from,
		     "the request \"%s\" is unknown: the program uses another version of Orrery",
		     orr_dyn_word(words, 0));
}

/* ---- processes ---- */

/* Whether the change under way is the one that starts these processes. */
static int is_starting(const struct orr_dyn_registry *r, int start)
{
	return r->change.phase == STARTING && r->change.start == start;
}

int orr_dyn_arrive(struct orr_dyn_registry *r, int start, int place, const char *where)
{
	if (start && !is_starting(r, start))
		return -1; /* too late: that start was given up */
	int world = start ? r->change.delta : 0;
	const struct orr_dyn_set *set = r->sets.sets[world];
	if (place < 0 || place >= set->n ||
	    r->sets.procs[set->uids[place]].state != ORR_DYN_EXPECTED)
		return -1;
	struct orr_dyn_proc *p = &r->sets.procs[set->uids[place]];
	free(p->host);
	p->host = strcpy(orr_dyn_memory(NULL, strlen(where) + 1), where);
	return set->uids[place];
}

/* The process that starts them may still be at it, and gets its answer then. */
void orr_dyn_start_failed(struct orr_dyn_registry *r, int start)
{
	struct change *c = &r->change;
	if (!is_starting(r, start))
		return;
	c->failed = 1;
	if (c->spawned)
		change_cancel(r, ended_early);
	change_spawn(r);
	evaluate_all(r);
}

int orr_dyn_expecting(const struct orr_dyn_registry *r)
{
	return r->change.phase == STARTING;
}

static int fails(struct orr_dyn_registry *r, int uid)
{
	for (int i = 0; i < r->sets.nsets; i++) {
		if (!r->sets.sets[i]->malleable || orr_dyn_set_place(r->sets.sets[i], uid) < 0)
			continue;
		orr_dyn_words_add(&r->demands, "gone");
		orr_dyn_words_number(&r->demands, uid);
		return 0;
	}
	return 1;
}

int orr_dyn_gone(struct orr_dyn_registry *r, int uid, int failed)
{
	struct orr_dyn_proc *p = &r->sets.procs[uid];
	enum orr_dyn_state before = p->state;
	int fatal = 0;
	if (before == ORR_DYN_GONE)
		return 0;
	p->state = ORR_DYN_GONE;
	if (before != ORR_DYN_RUNS && p->world) {
		orr_dyn_start_failed(r, r->change.start);
	} else if (failed && !p->leaving) {
		fatal = fails(r, uid);
	}
	change_spawn(r);
	evaluate_all(r);
	return fatal;
}

int orr_dyn_registry_alive(const struct orr_dyn_registry *r)
{
	int n = 0;
	for (int i = 0; i < r->sets.nprocs; i++)
		n += r->sets.procs[i].state != ORR_DYN_GONE;
	return n;
}

struct orr_dyn_registry *orr_dyn_registry_new(const struct orr_dyn_host *host, int n, int pool)
{
	struct orr_dyn_registry *r = orr_dyn_memory(NULL, sizeof(*r));
	int *uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids));
	*r = (struct orr_dyn_registry){ .host = *host, .pool = pool };
	for (int i = 0; i < n; i++)
		uids[i] = orr_dyn_proc_new(&r->sets, 0);
	orr_dyn_set_new(&r->sets, "mpi://WORLD", uids, n);
	r->sets.sets[0]->world = 1;
	orr_dyn_link_new(&r->links, uids, n, 1);
	free(uids);
	return r;
}

void orr_dyn_registry_free(struct orr_dyn_registry *r)
{
	while (r->calls)
		call_end(r, r->calls);
	for (struct port *p = r->ports, *next; p; p = next) {
		next = p->next;
		free(p->text);
		free(p);
	}
	change_end(r);
	orr_dyn_words_free(&r->demands);
	orr_dyn_links_free(&r->links);
	orr_dyn_sets_free(&r->sets);
	free(r);
}
