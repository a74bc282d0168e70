/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Readers of the files bus/HOST.* of a machine (see machine.h).
 *
 * .config: lines "12 # Number of CPUs". .bandwidth (MB/s) and .latency (microseconds): square
 * matrices with one line per source and one column per destination, "nan" where nothing was
 * measured; rows are main memory (one per NUMA node if .config names several), then CUDA, then
 * OpenCL devices, and as many more as the writer had room for. .affinity: numbers of processors.
 * .costs, .memory and .power are our own: words with a number and a unit. So is .contention, see
 * machine_contention.c.
 *
 * Invariant: a text is accepted as a whole or refused with one message that names file, line and
 * what was expected there. */
#include "perf/machine.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/numbers.h"
#include "perf/text.h"

#define MOST_CPUS 65536
#define MOST_DEVICES 64
#define MOST_WATTS 1e6
#define LEAST_MBS 1e-6 /* of a link */

int orr_machine_malformed(const char *path, unsigned line, const char *expected)
{
	orr_error(
		"%s:%u: malformed machine description: expected %s; measure the machine again with `orrery calibrate'",
		path, line, expected);
	return -EINVAL;
}

static char *skip_space(char *s)
{
	while (isspace((unsigned char) *s))
		s++;
	return s;
}

/* ---- .config and matrices ---- */

/* Does the comment of a line of .config name this? Case and punctuation differ between versions. */
static int names(const char *comment, const char *word)
{
	return strcasestr(comment, word) != NULL;
}

int orr_machine_parse_config(char *text, const char *path, struct orr_machine *m, unsigned *nmain)
{
	char *s;
	unsigned line = 0;
	int seen = 0;
	while (orr_text_line(&text, &line, &s)) {
		char *stop;
		errno = 0;
		long v = strtol(s, &stop, 10);
		char *comment = skip_space(stop);
		if (errno || stop == s || v < 0 || *comment != '#')
			return orr_machine_malformed(
				path, line,
				"a number and what it counts, such as `12 # Number of CPUs'");
		if (v > (names(comment, "CPU") ? MOST_CPUS : MOST_DEVICES))
			return orr_machine_malformed(
				path, line,
				"a believable number of units (64 devices, 65536 processors at most)");
		if (names(comment, "CPU")) {
			m->ncpus = (unsigned) v;
			seen = 1;
		} else if (names(comment, "CUDA")) {
			m->ncuda = (unsigned) v;
		} else if (names(comment, "OpenCL")) {
			m->nopencl = (unsigned) v;
		} else if (names(comment, "NUMA")) {
			*nmain = v > 1 ? (unsigned) v : 1;
		}
	}
	return seen ? 0
		    : orr_machine_malformed(
			      path, line,
			      "a line with the number of CPUs, such as `12 # Number of CPUs'");
}

/* One row of a matrix: its first n numbers; there may be more. */
static int parse_row(char *s, const char *path, unsigned line, unsigned n, double *row)
{
	char *stop;
	for (unsigned i = 0;; i++) {
		s = skip_space(s);
		if (!*s)
			return i >= n ? 0
				      : orr_machine_malformed(
						path, line,
						"as many columns as there are memory nodes (main memory, then the devices)");
		double v = orr_strtod(s, &stop);
		if (stop == s || (*stop && !isspace((unsigned char) *stop)))
			return orr_machine_malformed(path, line,
						     "numbers, or `nan' for what was not measured");
		if (i < n) {
			if (isinf(v) || v < 0)
				return orr_machine_malformed(
					path, line,
					"numbers that are neither negative nor infinite");
			row[i] = v;
		}
		s = stop;
	}
}

int orr_machine_parse_matrix(char *text, const char *path, unsigned n, double *matrix)
{
	char *s;
	unsigned line = 0, rows = 0;
	while (orr_text_line(&text, &line, &s)) {
		if (rows < n) {
			int err = parse_row(s, path, line, n, matrix + (size_t) rows * n);
			if (err)
				return err;
		}
		rows++;
	}
	if (rows < n)
		return orr_machine_malformed(
			path, line,
			"as many lines as there are memory nodes (main memory, then the devices); the file is truncated");
	for (unsigned i = 0; i < n; i++)
		matrix[(size_t) i * n + i] = 0;
	return 0;
}

void orr_machine_check_affinity(char *text, const char *path)
{
	unsigned line = 0;
	char *s;

	while (orr_text_line(&text, &line, &s)) {
		if (!isdigit((unsigned char) *s)) {
			orr_warn("%s:%u: expected numbers of processors; affinities are ignored",
				 path, line);
			return;
		}
	}
}

/* ---- our own files ---- */

int orr_machine_parse_costs(char *text, const char *path, double costs_us[ORR_NCOSTS])
{
	static const char *const names[ORR_NCOSTS] = {
		[ORR_COST_SUBMIT] = "submit_us",
		[ORR_COST_ACCESS] = "access_us",
		[ORR_COST_FOREIGN] = "foreign_us",
		[ORR_COST_COMPLETE] = "complete_us",
		[ORR_COST_DATUM] = "datum_us",
		[ORR_COST_SCHED] = "sched_us",
		[ORR_COST_RELOAD] = "reload_us",
		[ORR_COST_RELOAD_LARGE] = "reload_large_us",
		[ORR_COST_MESSAGE] = "message_us",
		[ORR_COST_INTERRUPT] = "interrupt_us",
		[ORR_COST_WAKE] = "wake_us",
		[ORR_COST_LOOK] = "look_us",
		[ORR_COST_PROFILE_SUBMIT] = "profile_submit_us",
		[ORR_COST_PROFILE] = "profile_us",
		[ORR_COST_SHARED] = "shared_us",
		[ORR_COST_SHARED_DATUM] = "shared_datum_us",
		[ORR_COST_SHARED_PROFILE] = "shared_profile_us",
		[ORR_COST_TURN] = "turn_us",
		[ORR_COST_BUFFER] = "buffer_us",
	};
	char *s;
	unsigned line = 0;
	for (int i = 0; i < ORR_NCOSTS; i++)
		costs_us[i] = NAN;
	while (orr_text_line(&text, &line, &s)) {
		size_t n = strcspn(s, " \t\r");
		int i = 0;
		while (i < ORR_NCOSTS && (strlen(names[i]) != n || strncmp(names[i], s, n)))
			i++;
		if (i == ORR_NCOSTS)
			return orr_machine_malformed(
				path, line,
				"one of submit_us, access_us, foreign_us, complete_us, datum_us, sched_us, reload_us, reload_large_us, message_us, interrupt_us, wake_us, look_us, profile_submit_us, profile_us, shared_us, shared_datum_us, shared_profile_us, turn_us and buffer_us");
		char *stop;
		double v = orr_strtod(s + n, &stop);
		if (stop == s + n || *skip_space(stop) || !(v >= 0) || v > 1e6)
			return orr_machine_malformed(path, line,
						     "a number of microseconds, 0 to a million");
		if (!isnan(costs_us[i]))
			return orr_machine_malformed(path, line, "each cost only once");
		costs_us[i] = v;
	}
	return 0;
}

/* The number of "cuda12", -1 if the word is something else. */
static long device_number(const char *word, const char *kind)
{
	size_t n = strlen(kind);
	if (strncmp(word, kind, n) || !isdigit((unsigned char) word[n]))
		return -1;
	char *stop;
	long id = strtol(word + n, &stop, 10);
	return *stop ? -1 : id;
}

/* One line of .memory: a word, the value v and its unit. */
static int memory_line(struct orr_machine *m, const char *path, unsigned line, const char *word,
		       double v, const char *unit)
{
	long id = device_number(word, "cuda"), first = id >= 0 ? 0 : (long) m->ncuda,
	     n = id >= 0 ? (long) m->ncuda : (long) m->nopencl;
	if (id < 0)
		id = device_number(word, "opencl");
	if (id >= 0) {
		if (strcmp(unit, "MiB") || v < 1 || v > 1e9)
			return orr_machine_malformed(path, line, "a size such as `cuda0 5375 MiB'");
		if (id >= n)
			return orr_machine_malformed(
				path, line,
				"no more CUDA and OpenCL devices than .config announces, counted from cuda0 and opencl0");
		if (m->memory[first + id])
			return orr_machine_malformed(path, line, "each device only once");
		m->memory[first + id] = (size_t) (v * 1048576);
		return 0;
	}
	if (!strcmp(word, "kernels")) {
		if (strcmp(unit, "streams") || v < 1 || v > ORR_MAX_KERNELS || v != (unsigned) v)
			return orr_machine_malformed(
				path, line,
				"a number of kernels at once, 1 to 32, such as `kernels 4 streams'");
		if (m->nkernels)
			return orr_machine_malformed(path, line, "kernels only once");
		m->nkernels = (unsigned) v;
		return 0;
	}
	const struct {
		const char *word;
		double *us, *mbs;
	} words[] = {
		{ "pin", &m->pin_us, NULL },
		{ "launch", &m->launch_us, NULL },
		{ "alloc", &m->alloc_us, NULL },
		{ "disk_latency", &m->disk_us, NULL },
		{ "link_in", NULL, &m->link_mbs[0] },
		{ "link_out", NULL, &m->link_mbs[1] },
		{ "disk_read", NULL, &m->disk_mbs[0] },
		{ "disk_write", NULL, &m->disk_mbs[1] },
	};
	size_t i = 0, nwords = sizeof(words) / sizeof(words[0]);
	while (i < nwords && strcmp(words[i].word, word))
		i++;
	if (i == nwords)
		return orr_machine_malformed(
			path, line,
			"one of cuda0, cuda1, ..., opencl0, ..., link_in, link_out, alloc, pin, launch, kernels, disk_read, disk_write and disk_latency");
	if (words[i].us && (strcmp(unit, "us") || v > 1e6))
		return orr_machine_malformed(path, line, "a time such as `alloc 100 us'");
	if (words[i].mbs && (strcmp(unit, "MB/s") || v < LEAST_MBS || v > 1e9))
		return orr_machine_malformed(path, line, "a bandwidth such as `link_in 6000 MB/s'");
	if (words[i].us ? !isnan(*words[i].us) : *words[i].mbs > 0)
		return orr_machine_malformed(path, line, "each word only once");
	*(words[i].us ? words[i].us : words[i].mbs) = v;
	return 0;
}

int orr_machine_parse_memory(char *text, const char *path, struct orr_machine *m)
{
	ORR_PLAIN_NUMBERS;
	char *s;
	unsigned line = 0;
	while (orr_text_line(&text, &line, &s)) {
		char word[32], unit[8], rest;
		double v;
		if (sscanf(s, "%31s %lf %7s %c", word, &v, unit, &rest) != 3 || !(v >= 0))
			return orr_machine_malformed(
				path, line,
				"a word, a number and its unit, such as `cuda0 5375 MiB'");
		int err = memory_line(m, path, line, word, v, unit);
		if (err)
			return err;
	}
	return 0;
}

static double *power_field(struct orr_machine *m, const char *word)
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
	int seen[STARPU_NARCH + 1] = { 0 };
	unsigned line = 0;
	char *s;

	while (orr_text_line(&text, &line, &s)) {
		char word[16], unit[4], rest;
		double v;

		if (sscanf(s, "%15s %lf %3s %c", word, &v, unit, &rest) != 3 || strcmp(unit, "W") ||
		    !(v >= 0) || v > MOST_WATTS)
			return orr_machine_malformed(path, line,
						     "a word and watts, such as `idle 80 W'");

		double *watts = power_field(m, word);

		if (!watts)
			return orr_machine_malformed(path, line,
						     "one of idle, cpu, cuda and opencl");

		int *mark = watts == &m->idle_watts ? &seen[STARPU_NARCH] : &seen[watts - m->watts];

		if ((*mark)++)
			return orr_machine_malformed(path, line, "each word only once");
		*watts = v;
	}
	return 0;
}
