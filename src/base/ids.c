/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader of ids.h. */
#include "base/ids.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "base/assert.h"
#include "base/log.h"

static const char blanks[] = " ,\t\n";

/* The number at *p, which it moves past; -1 when there is none that may be a unit. */
static long number(const char **p)
{
	char *end;

	if (!isdigit((unsigned char) **p))
		return -1;
	long v = strtol(*p, &end, 10);
	*p = end;
	return v < ORR_IDS_MAX ? v : -1;
}

/* One number or range at *p: 0, or -EINVAL. */
static int range(const char **p, unsigned units, long *first, long *last)
{
	*first = *last = number(p);
	if (*first >= 0 && **p == '-') {
		(*p)++;
		*last = isdigit((unsigned char) **p) ? number(p) : (long) units - 1;
	}
	if (**p && !strchr(blanks, **p))
		return -EINVAL;
	return *first < 0 || *last < *first || *last >= ORR_IDS_MAX ? -EINVAL : 0;
}

int orr_ids_parse(const char *name, const char *text, unsigned units, int **v, unsigned *n)
{
	const char *p = text + strspn(text, blanks);
	unsigned count = 0;
	int *ids = NULL;

	for (; *p; p += strspn(p, blanks)) {
		long first, last;

		if (range(&p, units, &first, &last)) {
			orr_error(
				"%s=\"%s\": it takes numbers of units and ranges such as \"0 2-4 7-\"; there are %u units",
				name, text, units);
			free(ids);
			return -EINVAL;
		}
		if (!ids)
			ids = malloc(ORR_IDS_MAX * sizeof(*ids));
		if (!ids)
			return -ENOMEM;
		for (; first <= last && count < ORR_IDS_MAX; first++)
			ids[count++] = (int) first;
	}
	orr_assert(count <= ORR_IDS_MAX && (ids || !count));
	*v = ids;
	*n = count;
	return 0;
}
