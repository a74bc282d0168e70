/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages to people: one line each on stderr, prefixed with the rank in programs of several
 * processes. What several of them say is printed once (orr_sys_speak()).
 *
 * Invariant: see log.h. */
#include "base/process.h"
#include "base/numbers.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum level { ERROR, WARNING, INFO };

static void emit(enum level level, const char *fmt, va_list ap)
{
	ORR_PLAIN_NUMBERS;
	static const char *const words[] = {
		[ERROR] = "error: ", [WARNING] = "warning: ", [INFO] = ""
	};
	struct orr_process *proc = orr_self();
	char text[2048], rank[32] = "", more[64] = "", line[2200];
	int n = snprintf(text, sizeof(text), "%s", words[level]), others;

	vsnprintf(text + n, sizeof(text) - (size_t) n, fmt, ap);
	/* News of a run under way are of one rank, whatever others say. */
	int merged = level != INFO || proc->state != ORR_PROCESS_UP;
	others = merged ? orr_sys_speak(proc, text, level == ERROR) : 0;
	if (others < 0)
		return;
	if (others > 0)
		snprintf(more, sizeof(more), " (and %d more rank%s)", others,
			 others > 1 ? "s" : "");
	if (proc->mpi_size > 1)
		snprintf(rank, sizeof(rank), "[%d]", proc->mpi_rank);
	fflush(stdout);
	/* One write: newer C libraries print to standard error in pieces, between those of others.
	 */
	n = snprintf(line, sizeof(line), "[orrery]%s %s%s\n", rank, text, more);
	fwrite(line, 1, (size_t) n, stderr);
	fflush(stderr);
	if (merged)
		orr_sys_spoken(proc, text);
}

void orr_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(ERROR, fmt, ap);
	va_end(ap);
}

void orr_warn(const char *fmt, ...)
{
	va_list ap;

	if (orr_self()->cfg->silent)
		return;
	va_start(ap, fmt);
	emit(WARNING, fmt, ap);
	va_end(ap);
}

void orr_info(const char *fmt, ...)
{
	va_list ap;

	if (orr_self()->cfg->silent)
		return;
	va_start(ap, fmt);
	emit(INFO, fmt, ap);
	va_end(ap);
}

void orr_fatal(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(ERROR, fmt, ap);
	va_end(ap);
	orr_sys_abort();
}

uint64_t orr_random(struct orr_process *proc)
{
	uint64_t x = proc->rng ? proc->rng : 0x9e3779b97f4a7c15ULL;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	proc->rng = x;
	return x * 0x2545f4914f6cdd1dULL;
}
