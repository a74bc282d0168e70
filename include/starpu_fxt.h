/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Control of the recorder of traces from the program. The variable ORRERY_TRACE names the file of a
 * trace, or STARPU_FXT_TRACE=1 asks for one; without them nothing is recorded, and these calls have
 * no effect. Orrery writes a format of its own and no FxT traces.
 *
 * Invariant: these calls cost next to nothing when no trace is recorded, and never fail.
 */
#ifndef STARPU_FXT_H
#define STARPU_FXT_H

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Call it before starpu_init(). 0: recording begins with starpu_fxt_start_profiling(); 1 (the
 * default): with the runtime. */
void starpu_fxt_autostart_profiling(int autostart);
/* Start or continue recording; suspend it. Any thread, after starpu_init(). */
void starpu_fxt_start_profiling(void);
void starpu_fxt_stop_profiling(void);
/* 1 while events are being recorded, else 0. Any thread. */
int starpu_fxt_is_enabled(void);
/* Put a mark of the program into the trace, at the present time, for the calling thread. The string
 * is copied. Any thread. */
void starpu_fxt_trace_user_event(unsigned long code);
void starpu_fxt_trace_user_event_string(const char *s);

/* A mark that is about the run rather than a moment; as starpu_fxt_trace_user_event_string(). */
void starpu_fxt_trace_user_meta_string(const char *s);

/* Refused with a message: there are no traces of StarPU's format, see ORRERY_TRACE. */
struct starpu_fxt_options;
void starpu_fxt_options_init(struct starpu_fxt_options *options);
void starpu_fxt_options_shutdown(struct starpu_fxt_options *options);
void starpu_fxt_generate_trace(struct starpu_fxt_options *options);
void starpu_fxt_write_data_trace(char *filename_in);
void starpu_fxt_write_data_trace_in_dir(char *filename_in, char *dir);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
