/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Machine files: numbers of units, tables of buses, and clear refusals of what is damaged. */
#include <errno.h>
#include "perf/machine.h"
#include "perf_util.h"

static const char config[] =
	"# Current configuration\n4 # Number of CPUs\n2 # Number of CUDA devices\n0 # Number of OpenCL devices\n";
static const char matrix[] =
	"# to 0\tto 1\tto 2\n0 6000 5000 nan\n6500 0 3000 nan\n6400 3100.5 0 nan\nnan nan nan nan\n";

static void put(const char *suffix, const char *text)
{
	char path[1024];
	snprintf(path, sizeof(path), "%s/bus/box.%s", tmp_dir(), suffix);
	if (text)
		write_file(path, text, strlen(text));
	else
		unlink(path);
}

static int load(struct orr_machine **m)
{
	const char *const dirs[] = { "/nonexistent", tmp_dir(), NULL };
	return orr_machine_load("box", dirs, m);
}

static void refuse(int want, const char *words)
{
	struct orr_machine *m = NULL;
	capture();
	int err = load(&m);
	const char *said = captured();
	CHECK(err == want && !m && strstr(said, words), "%d, message: %s\nexpected `%s'", err, said,
	      words);
}

static void good(void)
{
	struct orr_machine *m;
	put("config", config);
	put("bandwidth", matrix);
	put("latency", "0 10 11\n12 0 13\n14 15 0\n");
	CHECK(load(&m) == 0);
	CHECK(!strcmp(m->name, "box") && !strcmp(m->dir, tmp_dir()));
	CHECK(m->ncpus == 4 && m->ncuda == 2 && m->nopencl == 0 && m->nmemnodes == 3);
	CHECK(m->bandwidth[0 * 3 + 1] == 6000 && m->bandwidth[2 * 3 + 1] == 3100.5 &&
	      m->bandwidth[4] == 0);
	CHECK(m->latency[1 * 3 + 0] == 12);
	orr_machine_free(m);

	/* Two NUMA nodes: they come first. */
	put("config",
	    "4 # Number of CPUs\n2 # Number of NUMA nodes\n1 # Number of CUDA devices\n0 # Number of MPI devices\n");
	CHECK(load(&m) == 0);
	CHECK(m->nnuma == 2 && m->nmemnodes == 3 && m->bandwidth[2] == 5000 &&
	      m->bandwidth[2 * 3] == 6400);
	orr_machine_free(m);

	/* Processors only: no tables needed. */
	put("config", "8 # Number of CPUs");
	put("bandwidth", NULL);
	put("latency", NULL);
	CHECK(load(&m) == 0);
	CHECK(m->ncpus == 8 && m->nmemnodes == 1 && !m->bandwidth && !m->latency);
	orr_machine_free(m);
}

static void bad(void)
{
	put("config", config);
	refuse(-EINVAL, "box.bandwidth: missing");
	put("bandwidth", matrix);
	refuse(-EINVAL, "box.latency: missing");
	put("latency", "0 10 11\n12 0 13\n");
	refuse(-EINVAL, "box.latency:2: malformed");
	put("latency", "0 10 11\n12 0\n14 15 0\n");
	refuse(-EINVAL, "box.latency:2: malformed");
	put("latency", "0 10 11\n12 x 0\n14 15 0\n");
	refuse(-EINVAL, "box.latency:2: malformed");
	put("latency", "0 10 11\n12 0 -1\n14 15 0\n");
	refuse(-EINVAL, "negative");
	put("latency", "0 10 11\n12 0 13\n14 15 0\n");
	put("bandwidth", "0 0 1\n1 0 1\n1 1 0\n");
	refuse(-EINVAL, "no bandwidth between memory nodes 0 and 1");
	put("bandwidth", matrix);
	put("config", "");
	refuse(-EINVAL, "number of CPUs");
	put("config", "a # Number of CPUs\n");
	refuse(-EINVAL, "box.config:1:");
	put("config", "4 # Number of CPUs\n999999999 # Number of CUDA devices\n");
	refuse(-EINVAL, "box.config:2:");
	put("config", "4\n");
	refuse(-EINVAL, "box.config:1:");
	put("config", NULL);
	refuse(-ENOENT, "no bus/box.config");
	const char *const dirs[] = { tmp_dir(), NULL };
	struct orr_machine *m;
	capture();
	CHECK(orr_machine_load("../box", dirs, &m) == -EINVAL &&
	      orr_machine_load("", dirs, &m) == -EINVAL);
	captured();
}

/* Every truncation either loads or is refused; none crashes (run under sanitizers, too). */
static void cuts(void)
{
	struct orr_machine *m;
	char copy[sizeof(matrix)];
	put("config", config);
	put("affinity", "#\nnonsense\n");
	capture();
	for (size_t i = 0; i < sizeof(matrix); i++) {
		memcpy(copy, matrix, i);
		copy[i] = 0;
		put("bandwidth", copy);
		if (load(&m) == 0)
			orr_machine_free(m);
	}
	captured();
}

int main(void)
{
	make_dirs(tmp_dir());
	good();
	bad();
	cuts();
	return 0;
}
