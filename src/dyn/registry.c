/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The registry of process sets: processes that arrive and end, its beginning and its end. What they
 * ask for is in requests.c and collective.c.
 *
 * Invariant: see registry.h. */
#include "dyn/registry_own.h"

#include <stdlib.h>
#include <string.h>

/* True if the change under way is the one that starts these processes. */
static int is_starting(const struct orr_dyn_registry *r, int start)
{
	return r->change.phase == ORR_DYN_STARTING && r->change.start == start;
}

int orr_dyn_same_host(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), least = n < m ? n : m;
	return !strncmp(a, b, least) && (n == m || (n > m ? a : b)[least] == '.');
}

void orr_dyn_away(struct orr_dyn_registry *r, const char *name)
{
	orr_dyn_words_add(&r->away, name);
	orr_dyn_words_number(&r->away, r->nstarts);
}

void orr_dyn_not_away(struct orr_dyn_registry *r, const char *name)
{
	for (int i = r->away.n - 2; i >= 0; i -= 2) {
		if (!orr_dyn_same_host(r->away.w[i], name))
			continue;
		free(r->away.w[i]);
		free(r->away.w[i + 1]);
		r->away.n -= 2;
		memmove(r->away.w + i, r->away.w + i + 2,
			(size_t) (r->away.n - i) * sizeof(*r->away.w));
	}
}

/* True if the host had gone when that start began. */
static int was_away(const struct orr_dyn_registry *r, const char *host, int start)
{
	for (int i = 0; i < r->away.n; i += 2)
		if (orr_dyn_same_host(r->away.w[i], host) &&
		    start > orr_dyn_number(&r->away, i + 1))
			return 1;
	return 0;
}

/* The process that starts them may still be at it, and gets its answer then. */
static void give_up_start(struct orr_dyn_registry *r, const char *why)
{
	struct orr_dyn_change *c = &r->change;
	c->failed = why;
	if (c->spawned)
		orr_dyn_change_cancel(r, why);
	orr_dyn_change_spawn(r);
	orr_dyn_evaluate_all(r);
}

int orr_dyn_arrive(struct orr_dyn_registry *r, int start, int place, const char *where)
{
	if (start && !is_starting(r, start))
		return -1; /* too late: that start was given up */
	if (was_away(r, where, start)) {
		give_up_start(r, "a process was started on a host that was taken back");
		return -1;
	}
	int world = start ? r->change.delta : 0;
	const struct orr_dyn_set *set = r->sets.sets[world];
	if (place < 0 || place >= set->n ||
	    r->sets.procs[set->uids[place]].state != ORR_DYN_EXPECTED ||
	    r->sets.procs[set->uids[place]].host) /* somebody has that place */
		return -1;
	struct orr_dyn_proc *p = &r->sets.procs[set->uids[place]];
	orr_dyn_note(r, set->uids[place], "arrives", NULL);
	p->host = strcpy(orr_dyn_memory(NULL, strlen(where) + 1), where);
	return set->uids[place];
}

void orr_dyn_start_failed(struct orr_dyn_registry *r, int start)
{
	if (is_starting(r, start))
		give_up_start(r, "a process ended while it joined");
}

int orr_dyn_expecting(const struct orr_dyn_registry *r)
{
	return r->change.phase == ORR_DYN_STARTING && !orr_dyn_lacks(r);
}

int orr_dyn_awaits(const struct orr_dyn_registry *r)
{
	for (int i = 0; i < r->sets.nprocs; i++)
		if (r->sets.procs[i].state == ORR_DYN_EXPECTED)
			return 1;
	return orr_dyn_expecting(r);
}

static enum orr_dyn_end fails(struct orr_dyn_registry *r, int uid)
{
	if (!orr_dyn_registry_alive(r)) {
		orr_dyn_say(r, "process %d failed, and no other process is left", uid);
		return ORR_DYN_NONE_LEFT;
	}
	for (int i = 0; i < r->sets.nsets; i++) {
		if (!r->sets.sets[i]->malleable || orr_dyn_set_place(r->sets.sets[i], uid) < 0)
			continue;
		orr_dyn_words_add(&r->demands, "gone");
		orr_dyn_words_number(&r->demands, uid);
		return ORR_DYN_GOES_ON;
	}
	return ORR_DYN_NEEDED;
}

enum orr_dyn_end orr_dyn_gone(struct orr_dyn_registry *r, int uid, int failed)
{
	struct orr_dyn_proc *p = &r->sets.procs[uid];
	enum orr_dyn_state before = p->state;
	enum orr_dyn_end end = ORR_DYN_GOES_ON;
	if (before == ORR_DYN_GONE)
		return end;
	orr_dyn_note(r, uid, "ends", NULL);
	p->state = ORR_DYN_GONE;
	if (before != ORR_DYN_RUNS && p->world) {
		orr_dyn_start_failed(r, r->change.start);
	} else if (failed && !p->leaving) {
		end = fails(r, uid);
	}
	orr_dyn_change_spawn(r);
	orr_dyn_evaluate_all(r);
	return end;
}

void orr_dyn_forget(struct orr_dyn_registry *r, int uid, unsigned ticket)
{
	struct orr_dyn_change *change = &r->change;
	for (struct orr_dyn_call *c = r->calls, *next; c; c = next) {
		next = c->next;
		for (int i = c->narrived - 1; i >= 0; i--)
			if (c->arrived[i].uid == uid && c->arrived[i].ticket == ticket)
				c->arrived[i] = c->arrived[--c->narrived];
		if (!c->narrived)
			orr_dyn_call_end(r, c);
	}
	if (change->phase == ORR_DYN_STARTING && change->nwanted && change->asker.uid == uid &&
	    change->asker.ticket == ticket)
		orr_dyn_change_cancel(r, "the thread that starts processes has gone");
}

int orr_dyn_runs(const struct orr_dyn_registry *r, int uid)
{
	return uid >= 0 && uid < r->sets.nprocs && r->sets.procs[uid].state == ORR_DYN_RUNS;
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
	orr_dyn_journal_open(r);
	orr_dyn_link_new(&r->links, uids, n, 1);
	free(uids);
	return r;
}

void orr_dyn_registry_free(struct orr_dyn_registry *r)
{
	while (r->calls)
		orr_dyn_call_end(r, r->calls);
	for (struct orr_dyn_port *p = r->ports, *next; p; p = next) {
		next = p->next;
		free(p->text);
		free(p);
	}
	orr_dyn_change_end(r);
	orr_dyn_journal_close(r);
	orr_dyn_words_free(&r->demands);
	orr_dyn_words_free(&r->away);
	orr_dyn_words_free(&r->rooms);
	orr_dyn_links_free(&r->links);
	orr_dyn_sets_free(&r->sets);
	free(r);
}
