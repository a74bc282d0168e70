/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scripts of the resource manager.
 *
 * Invariant: see script.h. */
#include "dyn/script.h"
#include "dyn/registry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char why[512];

int orr_dyn_script_line(const char *line, struct orr_dyn_words *words)
{
	static const char *const known[] = { "grow", "shrink", "pool", "leave", "fail" };
	char what[16], value[256], rest[2];
	if (sscanf(line, " %15s %255s %1s", what, value, rest) != 2)
		return -1;
	int is = -1;
	for (int i = 0; i < 5; i++)
		if (!strcmp(what, known[i]))
			is = i;
	if (is < 0)
		return -1;
	*words = orr_dyn_words_of(what, value, NULL);
	if (is > 2 || orr_dyn_count(words, 1, ORR_DYN_MOST_PROCS) > 0)
		return 0;
	orr_dyn_words_free(words);
	return -1;
}

static int by_time(const void *a, const void *b)
{
	const struct orr_dyn_event *x = a, *y = b;
	if (x->s != y->s)
		return x->s < y->s ? -1 : 1;
	return x->line - y->line;
}

static int read_line(struct orr_dyn_script *s, const char *line, int number)
{
	int used = 0;
	char *end;
	sscanf(line, " at %n", &used);
	double at = strtod(line + used, &end);
	struct orr_dyn_event event = { .s = at, .line = number };
	if (!used || end == line + used || !(at >= 0) || orr_dyn_script_line(end, &event.words))
		return -1;
	s->events = orr_dyn_memory(s->events, (size_t) (s->n + 1) * sizeof(*s->events));
	s->events[s->n++] = event;
	return 0;
}

const char *orr_dyn_script_read(struct orr_dyn_script *s, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[1024];
	int bad = 0;
	*s = (struct orr_dyn_script){ 0 };
	if (!f) {
		snprintf(why, sizeof(why), "%s: %s", path, strerror(errno));
		return why;
	}
	for (int number = 1; !bad && fgets(line, sizeof(line), f); number++) {
		line[strcspn(line, "\n")] = 0;
		size_t blank = strspn(line, " \t\r");
		if (line[blank] && line[blank] != '#' && read_line(s, line, number))
			bad = number;
	}
	fclose(f);
	if (bad) {
		snprintf(
			why, sizeof(why),
			"%s:%d: \"%.200s\" is not `at SECONDS grow N`, shrink N, pool N, leave HOST or fail HOST",
			path, bad, line);
		return why;
	}
	if (s->n)
		qsort(s->events, (size_t) s->n, sizeof(*s->events), by_time);
	return NULL;
}

int orr_dyn_script_add(struct orr_dyn_script *s, const char *line, int done)
{
	int last = 0;
	for (int i = 0; i < s->n; i++)
		last = s->events[i].line > last ? s->events[i].line : last;
	if (read_line(s, line, last + 1))
		return -1;
	qsort(s->events + done, (size_t) (s->n - done), sizeof(*s->events), by_time);
	return 0;
}

void orr_dyn_script_free(struct orr_dyn_script *s)
{
	for (int i = 0; i < s->n; i++)
		orr_dyn_words_free(&s->events[i].words);
	free(s->events);
	*s = (struct orr_dyn_script){ 0 };
}
