/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader of bus/HOST.contention (see machine.h; base/contention.h says what it means).
 *
 * The first line is "contention 1", the version of the format. Each other one is a curve: the name
 * of a performance model, or of a codelet without one, a colon, then pairs of a company and the
 * slowdown in it, "stencil: 2 1.42 4 2.61". Names may have spaces and colons.
 *
 * Invariant: a text is accepted as a whole or refused with one message that names file, line and
 * what was expected there. */
#include "perf/machine.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/contention.h"
#include "base/numbers.h"
#include "perf/text.h"

#define VERSION "contention 1"

static void trim(char *s)
{
	size_t n = strlen(s);

	while (n > 0 && isspace((unsigned char) s[n - 1]))
		s[--n] = '\0';
}

/* One pair, at *s, which moves behind it. */
static int parse_point(char **s, const char *path, unsigned line, struct orr_contention_curve *c)
{
	const struct orr_contention_point *last = c->npoints ? &c->point[c->npoints - 1] : NULL;
	char *stop, *end;
	double company = orr_strtod(*s, &stop), slowdown = orr_strtod(stop, &end);

	if (stop == *s || end == stop || (*end && !isspace((unsigned char) *end)))
		return orr_machine_malformed(
			path, line, "pairs of a company and a slowdown, such as `gemm: 2 1.05'");
	if (!(company >= 2 && company <= ORR_CONTENTION_MOST_COMPANY) ||
	    company != (unsigned) company || (last && company <= last->company))
		return orr_machine_malformed(
			path, line,
			"companies that rise: whole numbers from 2 to 65536, the kernel itself included");
	if (!(slowdown >= (last ? last->slowdown : 1) && slowdown <= ORR_CONTENTION_MOST_SLOWDOWN))
		return orr_machine_malformed(
			path, line,
			"slowdowns that do not fall when company grows: numbers from 1 to 10000");
	if (c->npoints == ORR_CONTENTION_MOST_POINTS)
		return orr_machine_malformed(path, line, "at most 64 companies");
	c->point[c->npoints++] = (struct orr_contention_point){ (unsigned) company, slowdown };
	while (isspace((unsigned char) *end))
		end++;
	*s = end;
	return 0;
}

/* One line. The curve is counted once it has a name, so that it is freed. */
static int parse_curve(char *s, const char *path, unsigned line, struct orr_contention *t)
{
	char *colon = strrchr(s, ':'), *pairs = colon ? colon + 1 : s;
	int err = 0;

	if (!colon || colon == s)
		return orr_machine_malformed(path, line,
					     "a name, a colon and pairs, such as `gemm: 2 1.05'");
	*colon = '\0';
	trim(s);
	trim(pairs);
	if (orr_contention_find(t, s) >= 0)
		return orr_machine_malformed(path, line, "each name only once");
	if (t->ncurves == ORR_CONTENTION_MOST_CURVES)
		return orr_machine_malformed(path, line, "at most 256 names");

	struct orr_contention_curve *c = &t->curve[t->ncurves];

	c->name = strdup(s);
	c->point = calloc(ORR_CONTENTION_MOST_POINTS, sizeof(*c->point));
	t->ncurves++;
	if (!c->name || !c->point)
		return -ENOMEM;
	while (isspace((unsigned char) *pairs))
		pairs++;
	do
		err = parse_point(&pairs, path, line, c);
	while (!err && *pairs);
	return err;
}

int orr_machine_parse_contention(char *text, const char *path, struct orr_contention **out)
{
	struct orr_contention *t = calloc(1, sizeof(*t));
	unsigned line = 0;
	char *s = NULL;
	int err = 0, more = orr_text_line(&text, &line, &s);

	if (more)
		trim(s);
	if (t)
		t->curve = calloc(ORR_CONTENTION_MOST_CURVES, sizeof(*t->curve));
	if (!t || !t->curve)
		err = -ENOMEM;
	else if (!more || strcmp(s, VERSION))
		err = orr_machine_malformed(path, line ? line : 1,
					    "`" VERSION
					    "', the version of the format that this Orrery reads");
	while (!err && orr_text_line(&text, &line, &s))
		err = parse_curve(s, path, line, t);
	if (!err)
		err = orr_contention_complete(t);
	if (err)
		orr_contention_free(t);
	else
		*out = t;
	return err;
}
