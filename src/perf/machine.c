/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loading the measurements of a machine (see machine.h; machine_parse.c reads the files).
 *
 * Invariant: a loaded machine is complete for the devices that its .config announces; other
 * machines are refused. */
#include "perf/machine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/contention.h"
#include "base/log.h"
#include "perf/text.h"

#define MOST_BYTES (4UL << 20) /* of a file */
/* Links transfer from a byte per second to an exabyte, with latencies of an hour at most. */
#define LEAST_MBS 1e-6
#define MOST_MBS 1e12
#define MOST_US 3.6e9

static int read_text(const char *dir, const char *name, const char *suffix, char *path, size_t size,
		     char **text)
{
	size_t length;
	if ((size_t) snprintf(path, size, "%s/bus/%s.%s", dir, name, suffix) >= size)
		return -ENOENT;
	int err = orr_text_read(path, MOST_BYTES, text, &length);
	if (!err && strlen(*text) != length) {
		unsigned line = 1;
		for (const char *c = *text; *c; c++)
			line += *c == '\n';
		free(*text);
		return orr_machine_malformed(path, line, "text, but there is a byte of value 0");
	}
	return err;
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

/* Devices between which nothing was measured, as of different kinds: copies go by main memory. */
static void fill_by_main_memory(struct orr_machine *m)
{
	unsigned n = m->nmemnodes;
	double *us = m->latency, *mbs = m->bandwidth;

	for (unsigned i = m->nnuma; mbs && i < n; i++) {
		for (unsigned j = m->nnuma; j < n; j++) {
			if (i == j || !isnan(mbs[i * n + j]))
				continue;
			mbs[i * n + j] = 1 / (1 / mbs[i * n] + 1 / mbs[j]);
			if (us)
				us[i * n + j] = us[i * n] + us[j];
		}
	}
}

/* A bandwidth of (next to) zero between different nodes would be a transfer that never ends, and
 * one that nobody knows would be another one's. */
static int check_tables(const struct orr_machine *m)
{
	for (unsigned i = 0; m->bandwidth && i < m->nmemnodes; i++) {
		for (unsigned j = 0; j < m->nmemnodes; j++) {
			double mbs = m->bandwidth[i * m->nmemnodes + j],
			       us = m->latency ? m->latency[i * m->nmemnodes + j] : 0;
			if (i != j && !(mbs >= LEAST_MBS && mbs <= MOST_MBS)) {
				orr_error(
					"%s/bus/%s.bandwidth: %s bandwidth between memory nodes %u and %u (%g MB/s); measure the machine with "
					"`orrery calibrate', or write the number of its data sheet",
					m->dir, m->name, mbs > MOST_MBS ? "no believable" : "no", i,
					j, mbs);
				return -EINVAL;
			}
			if (i != j && !(us <= MOST_US)) {
				orr_error(
					"%s/bus/%s.latency: %s latency between memory nodes %u and %u (%g us); measure the machine with "
					"`orrery calibrate', or write the number of its data sheet",
					m->dir, m->name, us > MOST_US ? "no believable" : "no", i,
					j, us);
				return -EINVAL;
			}
		}
	}
	return 0;
}

static int check_affinity(const struct orr_machine *m)
{
	char path[4096], *text;
	int err = read_text(m->dir, m->name, "affinity", path, sizeof(path), &text);

	if (err)
		return err == -ENOENT ? 0 : err;
	orr_machine_check_affinity(text, path);
	free(text);
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

static int load_memory(struct orr_machine *m)
{
	char path[4096], *text;
	m->alloc_us = m->pin_us = m->launch_us = m->disk_us = NAN;
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

static int load_contention(struct orr_machine *m)
{
	char path[4096], *text;
	int err = read_text(m->dir, m->name, "contention", path, sizeof(path), &text);
	if (err)
		return err == -ENOENT ? 0 : err;
	err = orr_machine_parse_contention(text, path, &m->contention);
	free(text);
	return err;
}

static int machine_load_from(const char *dir, const char *name, char *config, const char *path,
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
		fill_by_main_memory(m);
	if (!err)
		err = check_tables(m);
	if (!err)
		err = load_costs(m);
	if (!err)
		err = load_memory(m);
	if (!err)
		err = load_power(m);
	if (!err)
		err = load_contention(m);
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
		err = machine_load_from(dirs[i], name, config, path, out);
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
	orr_contention_free(m->contention);
	free(m);
}
