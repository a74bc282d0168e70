/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data handles, for the recorder: what the process knows of the data that are its own, or nobody's.
 *
 * Invariant: a load and a branch while nothing is recorded. Data of other ranks have no event, so
 * that there is one for each datum of the run, and not for each rank that names it. */
#ifndef ORR_DATA_HANDLE_TRACE_H
#define ORR_DATA_HANDLE_TRACE_H

#include "data/datum/datum.h"
#include "base/thread.h"

/* [any] The datum got its tag, its owner, a name or coordinates; or it ends. */
void orr_handle_record_slow(struct orr_process *proc, starpu_data_handle_t h, int ends);
static inline void orr_handle_record(starpu_data_handle_t h, int ends)
{
	struct orr_process *proc = orr_self();

	if (__builtin_expect(proc->trace != NULL, 0))
		orr_handle_record_slow(proc, h, ends);
}

#endif
