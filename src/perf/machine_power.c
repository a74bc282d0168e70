/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bus/HOST.power of a machine, ours and optional: what it draws. Lines "idle 80 W" (the whole
 * machine, doing nothing) and "cpu 8 W", "cuda 150 W", "opencl 150 W" (a unit that executes a
 * kernel, on top). Invariant: watts are finite and not negative. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/numbers.h"
#include "perf/perf.h"
#include "base/log.h"

#define MOST_WATTS 1e6

static int fail(const char *path, unsigned line, const char *expected)
{
	orr_error("%s:%u: malformed machine description: expected %s; correct or remove the file",
		  path, line, expected);
	return -EINVAL;
}

static double *field(struct orr_machine *m, const char *word)
{
	return !strcmp(word, "idle")     ? &m->idle_watts
	       : !strcmp(word, "cpu")    ? &m->watts[STARPU_CPU_WORKER]
	       : !strcmp(word, "cuda")   ? &m->watts[STARPU_CUDA_WORKER]
	       : !strcmp(word, "opencl") ? &m->watts[STARPU_OPENCL_WORKER]
					 : NULL;
}

int orr_machine_parse_power(char *text, const char *path, struct orr_machine *m)
{
	ORR_PLAIN_NUMBERS;
	unsigned line = 0;
	int seen[STARPU_NARCH + 1] = { 0 };
	for (char *s = text, *next; s && *s; s = next) {
		char word[16], unit[4], rest;
		double v;
		next = strchr(s, '\n');
		if (next)
			*next++ = 0;
		line++;
		while (isspace((unsigned char) *s))
			s++;
		if (!*s || *s == '#')
			continue;
		if (sscanf(s, "%15s %lf %3s %c", word, &v, unit, &rest) != 3 || strcmp(unit, "W") ||
		    !(v >= 0) || v > MOST_WATTS)
			return fail(path, line, "a word and watts, such as `idle 80 W'");
		double *watts = field(m, word);
		if (!watts)
			return fail(path, line, "one of idle, cpu, cuda and opencl");
		int *mark = watts == &m->idle_watts ? &seen[STARPU_NARCH] : &seen[watts - m->watts];
		if ((*mark)++)
			return fail(path, line, "each word only once");
		*watts = v;
	}
	return 0;
}
