/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_GENERATE_TRACE: the last process of a run has the trace converted.
 *
 * Invariant: the trace is left as it is, whatever becomes of the conversion. */
#ifndef ORR_TRACE_CONVERT_H
#define ORR_TRACE_CONVERT_H

#include "base/process.h"

/* Starts starpu_fxt_tool, which PATH must lead to, for the trace in cfg.trace, with the words of
 * STARPU_GENERATE_TRACE_OPTIONS, and waits for it; its files go into the current folder. If that
 * fails, the run ends with an error after a message. */
void orr_trace_convert(struct orr_process *proc);

#endif
