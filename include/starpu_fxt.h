/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Control of the event recorder from the program.
 *
 * Invariant: these calls cost next to nothing when no trace is recorded (STARPU_FXT_TRACE=0), and
 * never fail.
 */
#ifndef STARPU_FXT_H
#define STARPU_FXT_H

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Before starpu_init(): 0 leaves recording off until starpu_fxt_start_profiling(), 1 (the default)
 * starts at once. */
void starpu_fxt_autostart_profiling(int autostart);
/* Start or continue, and suspend recording.  Any thread, after starpu_init(). */
void starpu_fxt_start_profiling(void);
void starpu_fxt_stop_profiling(void);
/* Whether events are being recorded now. */
int starpu_fxt_is_enabled(void);
/* Put a mark of the program into the trace, at the present time, for the calling thread.  Strings
 * are copied. */
void starpu_fxt_trace_user_event(unsigned long code);
void starpu_fxt_trace_user_event_string(const char *s);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
