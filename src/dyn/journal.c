/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The journal of an elastic run, if $ORRERY_DYN_LOG names a file: a line for each request, answer
 * and end of a process, with the seconds since the run began. It says where the time of a change
 * goes, and both worlds write the same one, so that a prediction can be compared step by step.
 *
 * Invariant: a run without that variable writes nothing. */
#include "dyn/registry_own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists of processes are long and say little. */
enum { MOST_WORDS = 6 };

void orr_dyn_journal_open(struct orr_dyn_registry *r)
{
	const char *path = getenv("ORRERY_DYN_LOG");

	if (!path || !*path)
		return;
	r->journal = fopen(path, "w");
	if (!r->journal)
		orr_dyn_say(r, "$ORRERY_DYN_LOG: %s cannot be written", path);
}

/* A word of a peer's: blanks and control characters would make other words or lines of it. */
static void write_word(FILE *f, const char *word)
{
	fputc(' ', f);
	for (const unsigned char *c = (const unsigned char *) word; *c; c++)
		fputc(*c > ' ' && *c != 127 ? *c : '?', f);
}

void orr_dyn_note(struct orr_dyn_registry *r, int uid, const char *verb,
		  const struct orr_dyn_words *words)
{
	if (!r->journal)
		return;
	/* A simulated program may have another locale than the one with points. */
	long long us = (long long) (r->host.now_s(r->host.arg) * 1e6 + 0.5);
	fprintf(r->journal, "%lld.%06lld %d %s", us / 1000000, us % 1000000, uid, verb);
	for (int i = 0; words && i < words->n && i < MOST_WORDS; i++)
		write_word(r->journal, words->w[i]);
	fputc('\n', r->journal);
	fflush(r->journal);
}

void orr_dyn_journal_close(struct orr_dyn_registry *r)
{
	if (r->journal)
		fclose(r->journal);
	r->journal = NULL;
}
