/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The likeness of two names (see spelling.h).
 *
 * Invariant: see spelling.h. */
#include "base/spelling.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/assert.h"

#define LONGEST 255

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static int same(char a, char b)
{
	return tolower((unsigned char) a) == tolower((unsigned char) b);
}

unsigned orr_spelling_distance(const char *a, const char *b)
{
	unsigned rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];
	size_t na = strlen(a), nb = strlen(b);

	if (na > LONGEST || nb > LONGEST)
		return UINT_MAX;
	for (size_t j = 0; j <= nb; j++)
		last[j] = (unsigned) j;
	for (size_t i = 1; i <= na; i++) {
		row[0] = (unsigned) i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] = least(least(last[j], row[j - 1]) + 1,
				       last[j - 1] + !same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				row[j] = least(row[j], before[j - 2] + 1);
		}
		unsigned *free_row = before;
		before = last;
		last = row;
		row = free_row;
	}
	orr_assert((last[nb] == 0) == !strcasecmp(a, b));
	return last[nb];
}

int orr_spelling_offer(struct orr_spelling *s, const char *name, unsigned distance)
{
	unsigned at = s->n;

	orr_assert(s->room <= ORR_SPELLING_BEST && s->n <= s->room);
	if (distance > s->limit || strlen(name) > LONGEST)
		return 0;
	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->best[i].name, name))
			return 0;
	while (at > 0 && s->best[at - 1].distance > distance)
		at--;
	if (at == s->room)
		return 0;
	s->n += s->n < s->room;
	memmove(&s->best[at + 1], &s->best[at], (s->n - at - 1) * sizeof(s->best[0]));
	snprintf(s->best[at].name, sizeof(s->best[at].name), "%s", name);
	s->best[at].distance = distance;
	return at == 0;
}
