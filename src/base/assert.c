/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of a process whose invariant does not hold.
 *
 * Invariant: the message is written by one call and without any lock of ours, because the caller
 * may hold any of them. */
#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/process.h"

#ifdef ORR_DEBUG
void orr_assert_failed(const char *file, unsigned line, const char *function, const char *expr,
		       const char *fmt, ...)
{
	const struct orr_process *proc = orr_self();
	char text[2048];
	size_t n = 0, max = sizeof(text) - 1; /* one byte is left for the end of the line */

	n += (size_t) snprintf(text, max, "[orrery]");
	if (proc->mpi_size > 1)
		n += (size_t) snprintf(text + n, max - n, "[%d]", proc->mpi_rank);
	n += (size_t) snprintf(text + n, max - n, " assertion failed: %s:%u: %s: %s", file, line,
			       function, expr);
	if (fmt && n < max) {
		va_list ap;

		n += (size_t) snprintf(text + n, max - n, ": ");
		va_start(ap, fmt);
		if (n < max)
			n += (size_t) vsnprintf(text + n, max - n, fmt, ap);
		va_end(ap);
	}
	if (n >= max)
		n = max - 1;
	text[n++] = '\n';
	if (write(STDERR_FILENO, text, n) < 0)
		perror("orrery");
	abort();
}
#endif
