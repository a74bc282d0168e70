/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words for a signal: how a process crashed, and what its runtime was doing.
 *
 * Invariant: no memory is allocated and no lock is taken, so that it works in a handler (not
 * asserted: it is how it is written). */
#ifndef ORR_BASE_SIGNAL_TEXT_H
#define ORR_BASE_SIGNAL_TEXT_H

#include <stddef.h>

struct orr_process;
struct orr_thread;

/* "crashed (bus error)", "aborted", "was interrupted", of a signal that ends a process. */
const char *orr_signal_ends(int sig);
/* The work of the runtime in that thread: the task that it runs or inserts, else how many tasks
 * of the process are complete. proc has a core. Returns whether the thread is busy with a task. */
int orr_signal_doing(struct orr_process *proc, const struct orr_thread *self, char *text,
		     size_t size);

#endif
