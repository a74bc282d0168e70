/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers of the registry, and what it says to its user.
 *
 * Invariant: each request gets one answer. */
#include "dyn/registry_own.h"

#include <stdarg.h>
#include <stdio.h>

void __attribute__((format(printf, 2, 3)))
orr_dyn_say(struct orr_dyn_registry *r, const char *fmt, ...)
{
	char line[1024];
	va_list list;
	va_start(list, fmt);
	vsnprintf(line, sizeof(line), fmt, list);
	va_end(list);
	for (unsigned char *c = (unsigned char *) line; *c; c++)
		if (*c < ' ' || *c == 127) /* a peer's words may be commands for a terminal */
			*c = '?';
	r->host.say(r->host.arg, line);
}

void orr_dyn_answer(struct orr_dyn_registry *r, struct orr_dyn_arrival to,
		    struct orr_dyn_words words)
{
	if (to.uid >= 0 && r->sets.procs[to.uid].state != ORR_DYN_GONE) {
		orr_dyn_note(r, to.uid, "gets", &words);
		r->host.reply(r->host.arg, to.uid, to.ticket, &words);
	}
	orr_dyn_words_free(&words);
}

void orr_dyn_answer_ok(struct orr_dyn_registry *r, struct orr_dyn_arrival to)
{
	orr_dyn_answer(r, to, orr_dyn_words_of("ok", NULL));
}

void __attribute__((format(printf, 3, 4)))
orr_dyn_answer_error(struct orr_dyn_registry *r, struct orr_dyn_arrival to, const char *fmt, ...)
{
	char line[1024];
	va_list list;
	va_start(list, fmt);
	vsnprintf(line, sizeof(line), fmt, list);
	va_end(list);
	orr_dyn_answer(r, to, orr_dyn_words_of("error", line, NULL));
}

void orr_dyn_answer_refused(struct orr_dyn_registry *r, struct orr_dyn_arrival to)
{
	orr_dyn_answer(r, to, orr_dyn_words_of("ok", "0", "0", NULL));
}

void orr_dyn_answer_outputs(struct orr_dyn_registry *r, struct orr_dyn_arrival to, int type,
			    const int *outputs, int n)
{
	struct orr_dyn_words words = orr_dyn_words_of("ok", NULL);
	orr_dyn_words_number(&words, type);
	orr_dyn_words_number(&words, n);
	for (int i = 0; i < n; i++)
		orr_dyn_words_add(&words, orr_dyn_set_name(&r->sets, outputs[i]));
	orr_dyn_answer(r, to, words);
}

int orr_dyn_find(struct orr_dyn_registry *r, struct orr_dyn_arrival from, const char *name)
{
	int set = orr_dyn_set_find(&r->sets, from.uid, name);
	if (set < 0)
		orr_dyn_answer_error(
			r, from,
			"there is no process set \"%s\"; MPI_Session_get_nth_pset() lists them",
			name);
	return set;
}
