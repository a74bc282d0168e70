/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Machine descriptions: the input holds the files of bus/, each after a line "== SUFFIX". Whatever
 * they say, the machine is refused with messages of which the first names a file, or all of it is
 * believable: a transfer takes a time that is finite and not negative, or one that is not known. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "fuzz.h"
#include "base/contention.h"
#include "perf/machine.h"

static const char *const suffixes[] = { "config", "bandwidth", "latency", "affinity",
					"costs",  "memory",    "power",   "contention" };
#define NSUFFIXES (sizeof(suffixes) / sizeof(suffixes[0]))

static int suffix_of(const char *line, size_t n)
{
	for (unsigned i = 0; i < NSUFFIXES; i++) {
		if (strlen(suffixes[i]) == n && !memcmp(line, suffixes[i], n))
			return (int) i;
	}
	return -1;
}

/* Writes the files that the input holds and removes the others. */
static void write_files(const char *text, const char *end)
{
	unsigned written = 0;
	for (const char *s = text; s < end;) {
		const char *nl = memchr(s, '\n', (size_t) (end - s)), *next;
		int is = nl && nl - s > 3 && !memcmp(s, "== ", 3)
				 ? suffix_of(s + 3, (size_t) (nl - s - 3))
				 : -1;
		next = nl ? nl + 1 : end;
		if (is < 0) {
			s = next;
			continue;
		}
		for (s = next; s < end; s = nl + 1) {
			nl = memchr(s, '\n', (size_t) (end - s));
			if (end - s > 3 && !memcmp(s, "== ", 3))
				break;
			if (!nl) {
				s = end;
				break;
			}
		}
		char name[64];
		snprintf(name, sizeof(name), "bus/box.%s", suffixes[is]);
		fuzz_write(name, next, (size_t) (s - next));
		written |= 1u << is;
	}
	for (unsigned i = 0; i < NSUFFIXES; i++) {
		char name[64], path[1024];
		snprintf(name, sizeof(name), "bus/box.%s", suffixes[i]);
		fuzz_path(path, sizeof(path), name);
		if (!(written >> i & 1))
			unlink(path);
	}
}

static void judge(const struct orr_machine *m)
{
	for (int k = 0; k < STARPU_NARCH; k++)
		MUST(m->watts[k] >= 0 && m->watts[k] <= 1e6 && m->idle_watts >= 0 &&
		     m->idle_watts <= 1e6);
	MUST(m->ncpus <= 65536 && m->ncuda <= 64 && m->nopencl <= 64 && m->nnuma >= 1 &&
	     m->nnuma <= 64 && m->nmemnodes == m->nnuma + m->ncuda + m->nopencl);
	for (unsigned i = 0; i < m->nmemnodes * m->nmemnodes; i++) {
		double us = m->bandwidth && m->latency ? m->latency[i] + 1e9 / m->bandwidth[i]
						       : NAN;
		if (i % (m->nmemnodes + 1) == 0)
			MUST(!m->bandwidth || m->bandwidth[i] == 0);
		else
			MUST(isnan(us) || (isfinite(us) && us > 0));
	}
	for (unsigned i = 0; i < ORR_NCOSTS; i++)
		MUST(isnan(m->costs_us[i]) || (m->costs_us[i] >= 0 && m->costs_us[i] <= 1e6));
	for (unsigned i = 0; i < 2; i++)
		MUST(m->link_mbs[i] == 0 || (m->link_mbs[i] > 0 && isfinite(1e9 / m->link_mbs[i])));
	MUST(isnan(m->alloc_us) || (m->alloc_us >= 0 && isfinite(m->alloc_us)));
	for (unsigned i = 0; m->contention && i < m->contention->ncurves; i++) {
		const struct orr_contention_curve *c = &m->contention->curve[i];
		double before = 1;
		for (double p = 0; p < 1e5; p = 2 * p + 0.25) {
			double now = orr_contention_slowdown(c, p);
			MUST(now >= before && isfinite(now));
			before = now;
		}
		double press = m->contention->press[i * m->contention->ncurves];
		MUST(press >= 0 && isfinite(press));
	}
	for (unsigned i = 0; i < m->ncuda; i++)
		MUST(m->memory[i] == 0 || m->memory[i] >= 1 << 20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const dirs[] = { fuzz_dir(), NULL };
	struct orr_machine *m = NULL;
	write_files((const char *) data, (const char *) data + size);
	fuzz_forget();
	int err = orr_machine_load("box", dirs, &m);
	if (err) {
		MUST((err == -EINVAL || err == -ENOENT) && !m && fuzz_errors > 0 &&
		     strstr(fuzz_said(), "box."));
		return 0;
	}
	MUST(fuzz_errors == 0);
	judge(m);
	orr_machine_free(m);
	return 0;
}
