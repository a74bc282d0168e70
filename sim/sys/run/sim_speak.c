/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ranks that say the same speak once, as they run in one process: the first one prints the text at
 * once, and the number of others follows at the end.
 *
 * Invariant: a text has one entry, which counts each rank once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "run/sim_speak.h"
#include "actors/sim_actor.h"
#include "actors/sim_rank.h"
#include "base/seam.h"

static struct said {
	struct said *next;
	int first, others; /* the rank that printed it; the number of the others */
	uint8_t *by;       /* bit i: rank i has said it, too; NULL: none has */
	char text[];
} * all, **last = &all;

static struct said *find(const char *text)
{
	struct said *s = all;

	while (s && strcmp(s->text, text))
		s = s->next;
	return s;
}

static void add(const char *text, int rank)
{
	struct said *s = calloc(1, sizeof(*s) + strlen(text) + 1);

	if (!s)
		return;
	s->first = rank;
	strcpy(s->text, text);
	*last = s;
	last = &s->next;
}

int orr_sys_speak(struct orr_process *proc, const char *text, int wait)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	struct said *s = find(text);
	(void) proc;
	(void) wait;
	if (!a || !a->rank)
		return 0;

	int rank = a->rank->rank;
	if (!s)
		add(text, rank);
	if (!s || s->first == rank)
		return 0;
	if (!s->by)
		s->by = calloc(1, (size_t) orr_sim.nranks / 8 + 1);
	if (!s->by)
		return 0;
	if (!(s->by[rank / 8] >> rank % 8 & 1))
		s->others++;
	s->by[rank / 8] |= (uint8_t) (1 << rank % 8);
	return -1;
}

void orr_sys_spoken(struct orr_process *proc, const char *text)
{
	(void) proc;
	(void) text;
}

void orr_sim_speak_end(void)
{
	for (const struct said *s = all; s; s = s->next)
		if (s->others)
			fprintf(stderr, "orrery sim: %d more rank%s said like rank %d: %.60s%s\n",
				s->others, s->others > 1 ? "s" : "", s->first, s->text,
				strlen(s->text) > 60 ? " ..." : "");
	all = NULL;
}
