/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data that tasks use, in the trace (uses_trace.c).
 *
 * Invariant: stated in uses_trace.c. */
#ifndef ORR_DATA_USES_TRACE_H
#define ORR_DATA_USES_TRACE_H

#include <stdint.h>

struct orr_process;
struct orr_access;
/* [any] The task of that number uses these data. Requires proc->trace. */
void orr_handle_record_uses(struct orr_process *proc, uint64_t job, const struct orr_access *access,
			    unsigned n);

#endif
