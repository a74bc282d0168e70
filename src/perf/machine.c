/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The measurements of a machine's inside: bus/HOST.config, .bandwidth, .latency, .affinity, .costs,
 * .memory and .power.
 *
 * .config: lines "12 # Number of CPUs". .bandwidth (MB/s) and .latency (µs): square matrices with
 * one line per source and one column per destination, "nan" where nothing was measured; rows are
 * main memory (one per NUMA node when .config tells several), then CUDA, then OpenCL devices, and
 * as many more as the writer had room for. .affinity only helps to place workers: one without sense
 * is ignored after a warning. .costs, which is ours and may be missing: lines "submit_us 0.11", in
 * microseconds. .memory, ours and optional too: what the matrices do not tell of devices, lines
 * "cuda0 5375 MiB". Invariant: what is loaded is complete for the devices that .config announces,
 * or refused. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/numbers.h"
#include "perf/model_file.h"
#include "perf/perf.h"
#include "base/log.h"

#define MACHINE_MAX_BYTES (4UL << 20)
#define MACHINE_MAX_NODES 256
#define MACHINE_MAX_CPUS 65536
/* What links can be: a byte per second to an exabyte, and latencies of an hour at most. */
#define MACHINE_MIN_MBS 1e-6
#define MACHINE_MAX_MBS 1e12
#define MACHINE_MAX_US 3.6e9

static int fail(const char *path, unsigned line, const char *expected)
{
	orr_error(
		"%s:%u: malformed machine description: expected %s; measure the machine again with `orrery calibrate'",
		path, line, expected);
	return -EINVAL;
}

/* Cuts the next line off *text. Returns 0 at the end. */
static int next_line(char **text, unsigned *line, char **out)
{
	if (!**text)
		return 0;
	*out = *text;
	char *nl = strchr(*text, '\n');
	if (nl)
		*nl = 0;
	*text = nl ? nl + 1 : *text + strlen(*text);
	(*line)++;
	return 1;
}

static char *skip_space(char *s)
{
	while (isspace((unsigned char) *s))
		s++;
	return s;
}

static int read_text(const char *dir, const char *name, const char *suffix, char *path, size_t size,
		     char **text)
{
	size_t length;
	if ((size_t) snprintf(path, size, "%s/bus/%s.%s", dir, name, suffix) >= size)
		return -ENOENT;
	int err = orr_model_slurp(path, MACHINE_MAX_BYTES, text, &length);
	if (!err && strlen(*text) != length) {
		unsigned line = 1;
		for (const char *c = *text; *c; c++)
			line += *c == '\n';
		free(*text);
		return fail(path, line, "text, but there is a byte of value 0");
	}
	return err;
}

/* Does the comment of a line of .config speak of this? Case and punctuation differ between
 * versions. */
static int speaks_of(const char *comment, const char *word)
{
	return strcasestr(comment, word) != NULL;
}

int orr_machine_parse_config(char *text, const char *path, struct orr_machine *m, unsigned *nmain)
{
	char *s;
	unsigned line = 0;
	int seen = 0;
	while (next_line(&text, &line, &s)) {
		s = skip_space(s);
		if (!*s || *s == '#')
			continue;
		char *stop;
		errno = 0;
		long v = strtol(s, &stop, 10);
		char *comment = skip_space(stop);
		if (errno || stop == s || v < 0 || *comment != '#')
			return fail(path, line,
				    "a number and what it counts, such as `12 # Number of CPUs'");
		if (v > (speaks_of(comment, "CPU") ? MACHINE_MAX_CPUS : MACHINE_MAX_NODES / 4))
			return fail(
				path, line,
				"a believable number of units (64 devices, 65536 processors at most)");
		if (speaks_of(comment, "CPU")) {
			m->ncpus = (unsigned) v;
			seen = 1;
		} else if (speaks_of(comment, "CUDA")) {
			m->ncuda = (unsigned) v;
		} else if (speaks_of(comment, "OpenCL")) {
			m->nopencl = (unsigned) v;
		} else if (speaks_of(comment, "NUMA")) {
			*nmain = v > 1 ? (unsigned) v : 1;
		}
	}
	return seen ? 0
		    : fail(path, line,
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
				      : fail(path, line,
					     "as many columns as there are memory nodes (main memory, then the devices)");
		double v = orr_strtod(s, &stop);
		if (stop == s || (*stop && !isspace((unsigned char) *stop)))
			return fail(path, line, "numbers, or `nan' for what was not measured");
		if (i < n) {
			if (isinf(v) || v < 0)
				return fail(path, line,
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
	while (next_line(&text, &line, &s)) {
		s = skip_space(s);
		if (!*s || *s == '#')
			continue;
		if (rows < n) {
			int err = parse_row(s, path, line, n, matrix + (size_t) rows * n);
			if (err)
				return err;
		}
		rows++;
	}
	if (rows < n)
		return fail(
			path, line,
			"as many lines as there are memory nodes (main memory, then the devices); the file is truncated");
	for (unsigned i = 0; i < n; i++)
		matrix[(size_t) i * n + i] = 0;
	return 0;
}

/* Reads one matrix; without devices a missing file leaves *out NULL. */
static int load_matrix(struct orr_machine *m, const char *suffix, double **out)
{
	char path[4096], *text;
	unsigned n = m->nmemnodes, ndevices = n - m->nnuma;
	int err = read_text(m->dir, m->name, suffix, path, sizeof(path), &text);
	if (err == -ENOENT) {
		if (!ndevices)
			return 0;
		orr_error(
			"%s: missing, but bus/%s.config of the same place announces %u devices; measure the machine again with "
			"`orrery calibrate'",
			path, m->name, ndevices);
		return -EINVAL;
	}
	if (err)
		return err;
	double *matrix = calloc((size_t) n * n, sizeof(double));
	err = matrix ? orr_machine_parse_matrix(text, path, n, matrix) : -ENOMEM;
	if (!err) {
		*out = matrix;
		matrix = NULL;
	}
	free(matrix);
	free(text);
	return err;
}

/* A bandwidth of (next to) zero between different nodes would be a transfer that never ends. */
static int check_tables(const struct orr_machine *m)
{
	for (unsigned i = 0; m->bandwidth && i < m->nmemnodes; i++) {
		for (unsigned j = 0; j < m->nmemnodes; j++) {
			double mbs = m->bandwidth[i * m->nmemnodes + j],
			       us = m->latency ? m->latency[i * m->nmemnodes + j] : 0;
			if (i != j && (mbs < MACHINE_MIN_MBS || mbs > MACHINE_MAX_MBS)) {
				orr_error(
					"%s/bus/%s.bandwidth: %s bandwidth between memory nodes %u and %u (%g MB/s); write nan when it is unknown",
					m->dir, m->name,
					mbs < MACHINE_MIN_MBS ? "no" : "no believable", i, j, mbs);
				return -EINVAL;
			}
			if (i != j && us > MACHINE_MAX_US) {
				orr_error(
					"%s/bus/%s.latency: no believable latency between memory nodes %u and %u (%g us); write nan when it is "
					"unknown",
					m->dir, m->name, i, j, us);
				return -EINVAL;
			}
		}
	}
	return 0;
}

static int check_affinity(const struct orr_machine *m)
{
	char path[4096], *text, *all, *s;
	unsigned line = 0;
	int err = read_text(m->dir, m->name, "affinity", path, sizeof(path), &text);
	if (err)
		return err == -ENOENT ? 0 : err;
	all = text;
	while (next_line(&text, &line, &s)) {
		s = skip_space(s);
		if (*s && *s != '#' && !isdigit((unsigned char) *s)) {
			orr_warn("%s:%u: expected numbers of processors; affinities are ignored",
				 path, line);
			break;
		}
	}
	free(all);
	return 0;
}

int orr_machine_parse_costs(char *text, const char *path, double costs_us[ORR_NCOSTS])
{
	static const char *const names[ORR_NCOSTS] = {
		[ORR_COST_SUBMIT] = "submit_us",   [ORR_COST_ACCESS] = "access_us",
		[ORR_COST_FOREIGN] = "foreign_us", [ORR_COST_COMPLETE] = "complete_us",
		[ORR_COST_DATUM] = "datum_us",     [ORR_COST_SCHED] = "sched_us",
		[ORR_COST_MESSAGE] = "message_us", [ORR_COST_INTERRUPT] = "interrupt_us",
		[ORR_COST_WAKE] = "wake_us",       [ORR_COST_LOOK] = "look_us",
	};
	char *s;
	unsigned line = 0;
	for (int i = 0; i < ORR_NCOSTS; i++)
		costs_us[i] = NAN;
	while (next_line(&text, &line, &s)) {
		s = skip_space(s);
		if (!*s || *s == '#')
			continue;
		size_t n = strcspn(s, " \t\r");
		int i = 0;
		while (i < ORR_NCOSTS && (strlen(names[i]) != n || strncmp(names[i], s, n)))
			i++;
		if (i == ORR_NCOSTS)
			return fail(
				path, line,
				"one of submit_us, access_us, foreign_us, complete_us, datum_us, sched_us, message_us, interrupt_us, wake_us and look_us");
		char *stop;
		double v = orr_strtod(s + n, &stop);
		if (stop == s + n || *skip_space(stop) || !(v >= 0) || v > 1e6)
			return fail(path, line, "a number of microseconds, 0 to a million");
		if (!isnan(costs_us[i]))
			return fail(path, line, "each cost only once");
		costs_us[i] = v;
	}
	return 0;
}

static int load_costs(struct orr_machine *m)
{
	char path[4096], empty[1] = "", *text;
	int err = read_text(m->dir, m->name, "costs", path, sizeof(path), &text);
	if (err == -ENOENT)
		return orr_machine_parse_costs(empty, path, m->costs_us);
	if (err)
		return err;
	err = orr_machine_parse_costs(text, path, m->costs_us);
	free(text);
	return err;
}

/* The number of "cuda12", -1 when the word is something else. */
static long device_number(const char *word, const char *kind)
{
	size_t n = strlen(kind);
	if (strncmp(word, kind, n) || !isdigit((unsigned char) word[n]))
		return -1;
	char *stop;
	long id = strtol(word + n, &stop, 10);
	return *stop ? -1 : id;
}

/* One line of .memory: its word, then v and the unit. */
static int memory_line(struct orr_machine *m, const char *path, unsigned line, const char *word,
		       double v, const char *unit)
{
	long id = device_number(word, "cuda"), first = id >= 0 ? 0 : (long) m->ncuda,
	     n = id >= 0 ? (long) m->ncuda : (long) m->nopencl;
	if (id < 0)
		id = device_number(word, "opencl");
	if (id >= 0) {
		if (strcmp(unit, "MiB") || v < 1 || v > 1e9)
			return fail(path, line, "a size such as `cuda0 5375 MiB'");
		if (id >= n)
			return fail(
				path, line,
				"no more CUDA and OpenCL devices than .config announces, counted from cuda0 and opencl0");
		if (m->memory[first + id])
			return fail(path, line, "each device only once");
		m->memory[first + id] = (size_t) (v * 1048576);
		return 0;
	}
	if (!strcmp(word, "kernels")) {
		if (strcmp(unit, "streams") || v < 1 || v > ORR_MAX_KERNELS || v != (unsigned) v)
			return fail(
				path, line,
				"a number of kernels at once, 1 to 32, such as `kernels 4 streams'");
		if (m->nkernels)
			return fail(path, line, "kernels only once");
		m->nkernels = (unsigned) v;
		return 0;
	}
	const struct {
		const char *word;
		double *us, *mbs;
	} words[] = {
		{ "alloc", &m->alloc_us, NULL },        { "disk_latency", &m->disk_us, NULL },
		{ "link_in", NULL, &m->link_mbs[0] },   { "link_out", NULL, &m->link_mbs[1] },
		{ "disk_read", NULL, &m->disk_mbs[0] }, { "disk_write", NULL, &m->disk_mbs[1] },
	};
	size_t i = 0, nwords = sizeof(words) / sizeof(words[0]);
	while (i < nwords && strcmp(words[i].word, word))
		i++;
	if (i == nwords)
		return fail(
			path, line,
			"one of cuda0, cuda1, ..., opencl0, ..., link_in, link_out, alloc, kernels, disk_read, disk_write and disk_latency");
	if (words[i].us && (strcmp(unit, "us") || v > 1e6))
		return fail(path, line, "a time such as `alloc 100 us'");
	if (words[i].mbs && (strcmp(unit, "MB/s") || v < MACHINE_MIN_MBS || v > 1e9))
		return fail(path, line, "a bandwidth such as `link_in 6000 MB/s'");
	if (words[i].us ? !isnan(*words[i].us) : *words[i].mbs > 0)
		return fail(path, line, "each word only once");
	*(words[i].us ? words[i].us : words[i].mbs) = v;
	return 0;
}

int orr_machine_parse_memory(char *text, const char *path, struct orr_machine *m)
{
	ORR_PLAIN_NUMBERS;
	char *s;
	unsigned line = 0;
	while (next_line(&text, &line, &s)) {
		char word[32], unit[8], rest;
		double v;
		s = skip_space(s);
		if (!*s || *s == '#')
			continue;
		if (sscanf(s, "%31s %lf %7s %c", word, &v, unit, &rest) != 3 || !(v >= 0))
			return fail(path, line,
				    "a word, a number and its unit, such as `cuda0 5375 MiB'");
		int err = memory_line(m, path, line, word, v, unit);
		if (err)
			return err;
	}
	return 0;
}

static int load_memory(struct orr_machine *m)
{
	char path[4096], *text;
	m->alloc_us = m->disk_us = NAN;
	m->memory = m->ncuda + m->nopencl ? calloc(m->ncuda + m->nopencl, sizeof(*m->memory))
					  : NULL;
	if (m->ncuda + m->nopencl && !m->memory)
		return -ENOMEM;
	int err = read_text(m->dir, m->name, "memory", path, sizeof(path), &text);
	if (err)
		return err == -ENOENT ? 0 : err;
	err = orr_machine_parse_memory(text, path, m);
	free(text);
	return err;
}

static int load_power(struct orr_machine *m)
{
	char path[4096], *text;
	int err = read_text(m->dir, m->name, "power", path, sizeof(path), &text);
	if (err)
		return err == -ENOENT ? 0 : err;
	err = orr_machine_parse_power(text, path, m);
	free(text);
	return err;
}

static int load_from(const char *dir, const char *name, char *config, const char *path,
		     struct orr_machine **out)
{
	struct orr_machine *m = calloc(1, sizeof(*m));
	unsigned nmain = 1;
	int err = -ENOMEM;
	if (m && (m->name = strdup(name)) && (m->dir = strdup(dir)))
		err = orr_machine_parse_config(config, path, m, &nmain);
	if (!err) {
		m->nnuma = nmain;
		m->nmemnodes = nmain + m->ncuda + m->nopencl;
		err = load_matrix(m, "bandwidth", &m->bandwidth);
	}
	if (!err)
		err = load_matrix(m, "latency", &m->latency);
	if (!err)
		err = check_tables(m);
	if (!err)
		err = load_costs(m);
	if (!err)
		err = load_memory(m);
	if (!err)
		err = load_power(m);
	if (!err)
		err = check_affinity(m);
	if (err) {
		if (err == -ENOMEM)
			orr_error("%s: not enough memory to read it", path);
		orr_machine_free(m);
		return err;
	}
	*out = m;
	return 0;
}

int orr_machine_load(const char *name, const char *const *dirs, struct orr_machine **out)
{
	char path[4096], *config;
	if (!*name || strchr(name, '/')) {
		orr_error(
			"machine `%s': expected a name without `/', such as that of bus/NAME.config",
			name);
		return -EINVAL;
	}
	for (unsigned i = 0; dirs[i]; i++) {
		int err = read_text(dirs[i], name, "config", path, sizeof(path), &config);
		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		err = load_from(dirs[i], name, config, path, out);
		free(config);
		return err;
	}
	orr_error(
		"machine %s: no bus/%s.config in %s%s; measure it with `orrery calibrate' or name another machine",
		name, name, dirs[0] ? dirs[0] : "any place",
		dirs[0] && dirs[1] ? " or the places after it" : "");
	return -ENOENT;
}

void orr_machine_free(struct orr_machine *m)
{
	if (!m)
		return;
	free(m->name);
	free(m->dir);
	free(m->bandwidth);
	free(m->latency);
	free(m->memory);
	free(m);
}
