/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of starpu_perfmodel.h that print the measurements of the machine.
 *
 * Invariant: only measurements are printed, never the assumptions that stand in for them. */
#include <math.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "perf/perf.h"
#include "perf/text.h"

static void print_table(FILE *f, const struct orr_machine *m, const char *title, const double *t)
{
	ORR_PLAIN_NUMBERS;
	fprintf(f, "%s\nfrom/to\t", title);
	for (unsigned j = 0; j < m->nmemnodes; j++)
		fprintf(f, "%u\t", j);
	for (unsigned i = 0; i < m->nmemnodes; i++) {
		fprintf(f, "\n%u\t", i);
		for (unsigned j = 0; j < m->nmemnodes; j++)
			fprintf(f, "%.0f\t", t ? t[i * m->nmemnodes + j] : NAN);
	}
	fprintf(f, "\n\n");
}

void starpu_bus_print_bandwidth(FILE *f)
{
	const struct orr_machine *m = orr_perf_machine(orr_self());
	if (!m) {
		fprintf(f,
			"The buses of this machine were never measured; run `orrery calibrate'.\n");
		return;
	}
	print_table(
		f, m,
		"bandwidth (MB/s), latency (us) below; main memory first (each NUMA node), then CUDA, then OpenCL devices",
		m->bandwidth);
	print_table(f, m, "latency (us)", m->latency);
}

static void print_file(FILE *f, const struct orr_machine *m, const char *suffix)
{
	char path[4096], *text;
	size_t length;
	snprintf(path, sizeof(path), "%s/bus/%s.%s", m->dir, m->name, suffix);
	if (orr_text_read(path, 4 << 20, &text, &length) == 0) {
		fwrite(text, 1, length, f);
		free(text);
	}
}

void starpu_bus_print_affinity(FILE *f)
{
	const struct orr_machine *m = orr_perf_machine(orr_self());
	if (m)
		print_file(f, m, "affinity");
}

void starpu_bus_print_filenames(FILE *f)
{
	static const char *const suffix[] = { "bandwidth", "affinity", "latency" };
	struct orr_perf *p = orr_perf_get(orr_self());
	const struct orr_machine *m = orr_perf_machine(orr_self());
	for (unsigned i = 0; p && i < 3; i++)
		fprintf(f, "%s: <%s/bus/%s.%s>\n", suffix[i], m ? m->dir : p->dirs[p->ndirs - 1],
			m ? m->name : p->host, suffix[i]);
}
