/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Suggestions of names (see near.h). */
#include "perf/near.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/spelling.h"

#define LONGEST 255

/* The symbol of a file SYMBOL.MACHINE; 0 when it is of another machine. */
static int symbol_of(const char *file, const char *machine, char *symbol)
{
	size_t n = strlen(file), m = strlen(machine);
	if (n < m + 2 || n > LONGEST || file[0] == '.' || file[n - m - 1] != '.' ||
	    strcmp(file + n - m, machine))
		return 0;
	memcpy(symbol, file, n - m - 1);
	symbol[n - m - 1] = 0;
	return 1;
}

void orr_near_models(const char *symbol, const char *machine, const char *const *dirs, char *text,
		     size_t size)
{
	unsigned limit = 1 + (unsigned) strlen(symbol) / 3;
	struct orr_spelling near = { .limit = limit, .room = ORR_SPELLING_BEST };
	for (unsigned i = 0; dirs[i]; i++) {
		char place[4096], name[LONGEST + 1];
		if (snprintf(place, sizeof(place), "%s/codelets/45", dirs[i]) >=
		    (int) sizeof(place))
			continue;
		DIR *d = opendir(place);
		for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
			if (!symbol_of(e->d_name, machine, name))
				continue;
			unsigned distance = orr_spelling_distance(symbol, name);
			/* Part of the name counts as near, too. */
			if (*symbol && strstr(name, symbol))
				distance = distance < limit ? distance : limit;
			orr_spelling_offer(&near, name, distance);
		}
		if (d)
			closedir(d);
	}
	size_t used = 0;
	if (size)
		text[0] = 0;
	for (unsigned i = 0; i < near.n && used < size; i++)
		used += (size_t) snprintf(text + used, size - used, "%s%s%s",
					  i == 0           ? "; did you mean "
					  : i + 1 < near.n ? ", "
							   : " or ",
					  near.best[i].name, i + 1 < near.n ? "" : "?");
}
