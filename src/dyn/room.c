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

int orr_dyn_short_of(const struct orr_dyn_registry *r, int more)
{
	long room = 0;
	if (!r->rooms.n)
		return 0;
	for (int i = 0; i < r->rooms.n; i += 2)
		room += orr_dyn_number(&r->rooms, i + 1);
	/* Those on hosts without room have a place until they end. */
	int without = 0;
	for (int i = 0; i < r->rooms.n; i += 2)
		if (!orr_dyn_number(&r->rooms, i + 1))
			without += orr_dyn_on_host(r, r->rooms.w[i]);
	long wanted = (long) orr_dyn_sets_alive(&r->sets) - without + more;
	return wanted > room ? (int) (wanted - room) : 0;
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
	return text;
}

int orr_dyn_room(struct orr_dyn_registry *r, const char *host, int room)
{
	char text[16];
	int at = 0;
	if (!*host || room < 0 || room > ORR_DYN_MOST_PROCS)
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

int orr_dyn_lacks(const struct orr_dyn_registry *r)
{
	return r->change.phase == ORR_DYN_STARTING && r->change.lacks ? orr_dyn_short_of(r, 0) : 0;
}

void orr_dyn_deny(struct orr_dyn_registry *r, const char *why)
{
	if (r->change.phase != ORR_DYN_STARTING || !r->change.lacks)
		return;
	r->change.lacks = 0;
	orr_dyn_change_cancel(r, why);
	orr_dyn_evaluate_all(r);
}
