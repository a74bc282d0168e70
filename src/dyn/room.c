/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Room on hosts, where a resource manager says how much each has: which hosts new processes begin
 * on, and growths that wait until there is more.
 *
 * Invariant: a host never gets more processes than it has room for. */
#include "dyn/registry_own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int orr_dyn_on_host(const struct orr_dyn_registry *r, const char *host)
{
	int n = 0;
	for (int i = 0; i < r->sets.nprocs; i++)
		n += r->sets.procs[i].state != ORR_DYN_GONE && r->sets.procs[i].host &&
		     orr_dyn_same_host(r->sets.procs[i].host, host);
	return n;
}

const struct orr_dyn_words *orr_dyn_rooms(const struct orr_dyn_registry *r)
{
	return &r->rooms;
}

/* Places that are free there, which those of processes that have left the application are soon. */
static long free_soon(const struct orr_dyn_registry *r, int at)
{
	long n = orr_dyn_number(&r->rooms, at + 1);
	for (int i = 0; i < r->sets.nprocs; i++) {
		const struct orr_dyn_proc *p = &r->sets.procs[i];
		n -= p->state != ORR_DYN_GONE && !p->leaving && p->host &&
		     orr_dyn_same_host(p->host, r->rooms.w[at]);
	}
	return n > 0 ? n : 0; /* a host may have lost room that is in use */
}

int orr_dyn_lacks(const struct orr_dyn_registry *r)
{
	if (r->change.phase != ORR_DYN_STARTING || !r->rooms.n)
		return 0;
	long lack = r->change.nwanted;
	for (int i = 0; i < r->rooms.n && lack > 0; i += 2)
		lack -= free_soon(r, i);
	return lack > 0 ? (int) lack : 0;
}

char *orr_dyn_places_for(const struct orr_dyn_registry *r, int n)
{
	size_t size = 1;
	for (int i = 0; i < r->rooms.n; i += 2)
		size += strlen(r->rooms.w[i]) + 16;
	char *text = orr_dyn_memory(NULL, size);
	*text = 0;
	for (int i = 0; i < r->rooms.n && n > 0; i += 2) {
		int free_places = (int) orr_dyn_number(&r->rooms, i + 1) -
				  orr_dyn_on_host(r, r->rooms.w[i]);
		int here = free_places < n ? free_places : n;
		if (here <= 0)
			continue;
		size_t length = strlen(text);
		snprintf(text + length, size - length, "%s%s:%d", length ? "," : "", r->rooms.w[i],
			 here);
		n -= here;
	}
	orr_assert(!n || !r->rooms.n); /* since none lacks room */
	return text;
}

int orr_dyn_room(struct orr_dyn_registry *r, const char *host, int room)
{
	char text[16];
	int at = 0;
	/* Names stand in lists HOST:N,HOST:N. */
	if (!*host || strpbrk(host, ":, ") || room < 0 || room > ORR_DYN_MOST_PROCS)
		return -1;
	while (at < r->rooms.n && !orr_dyn_same_host(r->rooms.w[at], host))
		at += 2;
	if (at == r->rooms.n) {
		if (r->rooms.n >= 2 * ORR_DYN_MOST_HOSTS)
			return -1;
		orr_dyn_words_add(&r->rooms, host);
		orr_dyn_words_number(&r->rooms, room);
	} else {
		snprintf(text, sizeof(text), "%d", room);
		free(r->rooms.w[at + 1]);
		r->rooms.w[at + 1] = strcpy(orr_dyn_memory(NULL, strlen(text) + 1), text);
	}
	if (room)
		orr_dyn_not_away(r, host);
	orr_dyn_change_spawn(r);
	return 0;
}

void orr_dyn_deny(struct orr_dyn_registry *r, const char *why)
{
	if (!orr_dyn_lacks(r))
		return; /* room has come meanwhile, or nobody waits any more */
	orr_dyn_change_cancel(r, why);
	orr_dyn_evaluate_all(r);
}
