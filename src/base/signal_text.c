/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words for a signal (see signal_text.h). */
#include "base/signal_text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/process.h"
#include "base/upcalls.h"

const char *orr_signal_ends(int sig)
{
	switch (sig) {
	case SIGSEGV: return "crashed (segmentation fault)";
	case SIGBUS: return "crashed (bus error)";
	case SIGFPE: return "crashed (arithmetic error)";
	case SIGILL: return "crashed (illegal instruction)";
	case SIGTRAP: return "came to a breakpoint";
	case SIGINT: return "was interrupted";
	default: return "aborted";
	}
}

int orr_signal_doing(struct orr_process *proc, const struct orr_thread *self, char *text,
		     size_t size)
{
	uint64_t nsubmitted, ncompleted;

	orr_assert(proc->core_up);
	proc->core_up->running(self, text, size);
	if (*text)
		return 1;
	proc->core_up->count_tasks(proc, &nsubmitted, &ncompleted);
	snprintf(text, size, "%" PRIu64 " of %" PRIu64 " submitted tasks are complete", ncompleted,
		 nsubmitted);
	return 0;
}
