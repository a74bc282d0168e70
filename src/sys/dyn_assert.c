/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* False assertions in liborrery-dyn and in the registry's process, where there is no runtime.
 *
 * Invariant: see base/assert.h. */
#include "base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef ORR_DEBUG
void orr_assert_failed(const char *file, unsigned line, const char *function, const char *expr,
		       const char *fmt, ...)
{
	(void) fmt;
	fprintf(stderr, "[orrery] assertion failed: %s:%u: %s: %s\n", file, line, function, expr);
	abort();
}
#endif
