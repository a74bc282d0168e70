/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that a thread was in when a signal came.
 *
 * Invariant: no memory is allocated and no lock is taken, so that it works wherever the signal came
 * (not asserted: it is how it is written). */
#ifndef ORR_BASE_BACKTRACE_H
#define ORR_BASE_BACKTRACE_H

#include <stddef.h>

/* Loads what the others need. Call it once, before the first signal. */
void orr_backtrace_prepare(void);

/* Writes to text the functions from the one that the signal interrupted outwards, one a line: to
 * the last of the program's, without those of the runtime that these call, at most max. context:
 * the third argument of the handler. path_of: the file that a loaded object comes from, where that
 * is not its own name; NULL: it is always. object is a struct link_map. */
void orr_backtrace_write(char *text, size_t size, const void *context, unsigned max,
			 const char *(*path_of)(const void *object));

/* The function at that offset of a file, by its table of symbols. Returns whether there is one. */
int orr_backtrace_name(const char *path, size_t at, char *name, size_t size);

#endif
