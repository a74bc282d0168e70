/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that are like one that was not found. Invariant: suggestions are names that exist. */
#ifndef ORR_PERF_NEAR_H
#define ORR_PERF_NEAR_H

#include <stddef.h>

/* The models of a machine in dirs (NULL-terminated) whose names are most like symbol: "; did you
 * mean x or y?" into text, or "". */
void orr_near_models(const char *symbol, const char *machine, const char *const *dirs, char *text,
		     size_t size);

#endif
