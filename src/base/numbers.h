/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers in texts of the runtime: environment, files of models and machines, statistics, traces,
 * messages.
 *
 * Invariant: they have a decimal point, whatever locale the program has chosen with setlocale():
 * what one process writes, any other can read. Only the calling thread is concerned, and no code of
 * the program runs between begin and end (asserted as far as the locale tells). */
#ifndef ORR_BASE_NUMBERS_H
#define ORR_BASE_NUMBERS_H

#include <locale.h>

/* From begin to end printf and scanf and their relatives know decimal points only. The value of
 * begin is for the end. */
locale_t orr_numbers_begin(void);
void orr_numbers_end(const locale_t *before);

/* Among the declarations of a block: until its end, however that is left. */
#define ORR_PLAIN_NUMBERS \
	__attribute__((cleanup(orr_numbers_end), unused)) \
	const locale_t orr_numbers_before = orr_numbers_begin()

/* strtod() for one number with a decimal point. */
double orr_strtod(const char *text, char **end);

#endif
