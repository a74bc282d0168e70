/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers in texts, see numbers.h. Where the C library cannot give its "C" locale the program's is
 * used: numbers are then read and written as the program would, which is right unless it has a
 * decimal comma.
 *
 * Invariant: the thread has the locale it had before, the program's global one included. */
#include "base/numbers.h"

#include "base/assert.h"

#include <stdlib.h>

/* The C library keeps this locale in constant memory: it is neither made nor freed in fact. */
static locale_t plain(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t) 0);
}

locale_t orr_numbers_begin(void)
{
	locale_t c = plain();

	return c ? uselocale(c) : (locale_t) 0;
}

void orr_numbers_end(const locale_t *before)
{
	if (*before) {
		locale_t plain_numbers = uselocale(*before);

		orr_assertf(plain_numbers != LC_GLOBAL_LOCALE && uselocale((locale_t) 0) == *before,
			    "the thread's locale changed meanwhile");
		freelocale(plain_numbers);
	}
}

double orr_strtod(const char *text, char **end)
{
	locale_t c = plain();

	if (!c)
		return strtod(text, end);
	double v = strtod_l(text, end, c);
	freelocale(c);
	return v;
}
