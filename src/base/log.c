/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages to people: one line each on stderr, prefixed with the rank in programs of several
 * processes.
 *
 * Invariant: see log.h. */
#include "base/process.h"
#include "base/numbers.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void emit(const char *level, const char *fmt, va_list ap)
{
	ORR_PLAIN_NUMBERS;
	struct orr_process *proc = orr_self();
	char line[2048];
	int n;

	if (proc->mpi_size > 1)
		n = snprintf(line, sizeof(line), "[orrery][%d] %s", proc->mpi_rank, level);
	else
		n = snprintf(line, sizeof(line), "[orrery] %s", level);
	vsnprintf(line + n, sizeof(line) - (size_t) n - 1, fmt, ap);
	strcat(line, "\n");
	fflush(stdout);
	fputs(line, stderr);
	fflush(stderr);
}

void orr_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit("error: ", fmt, ap);
	va_end(ap);
}

void orr_warn(const char *fmt, ...)
{
	va_list ap;

	if (orr_self()->cfg.silent)
		return;
	va_start(ap, fmt);
	emit("warning: ", fmt, ap);
	va_end(ap);
}

void orr_info(const char *fmt, ...)
{
	va_list ap;

	if (orr_self()->cfg.silent)
		return;
	va_start(ap, fmt);
	emit("", fmt, ap);
	va_end(ap);
}

void orr_fatal(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit("error: ", fmt, ap);
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
