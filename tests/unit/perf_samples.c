/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurements of real machines written by another runtime load with their values. Skipped where
 * the samples are not at hand. */
#include <dirent.h>
#include "core/worker/core.h"
#include "perf/model_file.h"
#include "perf/machine.h"
#include "perf_util.h"

static const struct starpu_perfmodel_history_entry *find(const struct orr_model_data *d, int type,
							 int devid, size_t size)
{
	struct starpu_perfmodel_device dev = { type, devid, 1 };
	struct orr_model_comb *c = orr_model_comb_find(d, 1, &dev);
	CHECK(c && c->nimpls == 1);
	for (unsigned i = 0; i < c->impls[0].nentries; i++) {
		if (c->impls[0].entries[i]->pub.size == size)
			return &c->impls[0].entries[i]->pub;
	}
	return NULL;
}

static void known_values(const char *dir)
{
	char path[2048];
	struct orr_model_data *d;
	snprintf(path, sizeof(path), "%s/codelets/45/chol_model_gemm.mirage", dir);
	CHECK(orr_model_file_read(path, &d) == 0);
	CHECK(d->ncombs == 4);
	const struct starpu_perfmodel_history_entry *e = find(d, STARPU_CPU_WORKER, 0, 11059200);
	CHECK(e && e->footprint == 0x24c84a50 && e->nsample == 3292);
	CHECK_NEAR(e->mean, 87780.20, 1e-9);
	CHECK_NEAR(e->deviation, 959.8441, 1e-9);
	CHECK_NEAR(e->flops, 1.769472e9, 1e-9);
	e = find(d, STARPU_CUDA_WORKER, 0, 11059200);
	CHECK(e);
	CHECK_NEAR(e->mean, 2805.491, 1e-9);
	CHECK(!find(d, STARPU_CUDA_WORKER, 2, 1));
	orr_model_data_free(d);
}

static unsigned all_models(const char *dir)
{
	char path[2048];
	unsigned n = 0;
	snprintf(path, sizeof(path), "%s/codelets/45", dir);
	DIR *f = opendir(path);
	CHECK(f);
	for (struct dirent *e; (e = readdir(f));) {
		struct orr_model_data *d = NULL;
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/codelets/45/%s", dir, e->d_name);
		CHECK(orr_model_file_read(path, &d) == 0, "%s", path);
		orr_model_data_free(d);
		n++;
	}
	closedir(f);
	return n;
}

static void machines(const char *dir)
{
	static const struct {
		const char *name;
		unsigned cpus, cuda, opencl;
	} known[] = {
		{ "mirage", 12, 3, 3 },  { "attila", 12, 3, 3 },  { "idgraf", 12, 8, 0 },
		{ "sirocco", 24, 4, 0 }, { "hannibal", 8, 3, 3 }, { "hannibal-pitch", 8, 3, 3 },
	};
	const char *const dirs[] = { "/nonexistent", dir, NULL };
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct orr_machine *m = NULL;
		CHECK(orr_machine_load(known[i].name, dirs, &m) == 0);
		printf("%s: %u cpus, %u cuda, %u opencl\n", m->name, m->ncpus, m->ncuda,
		       m->nopencl);
		CHECK(m->ncpus == known[i].cpus && m->ncuda == known[i].cuda);
		CHECK(m->nmemnodes == 1 + m->ncuda + m->nopencl);
		for (unsigned k = 0; k <= m->ncuda; k++) {
			CHECK(m->bandwidth[k * m->nmemnodes + k] == 0);
			CHECK(k == 0 || m->bandwidth[k] > 100);
		}
		orr_machine_free(m);
	}
	struct orr_machine *m = NULL;
	CHECK(orr_machine_load("mirage", dirs, &m) == 0);
	CHECK_NEAR(m->bandwidth[1], 6030.996807, 1e-9);
	CHECK_NEAR(m->bandwidth[1 * m->nmemnodes + 2], 3074.66606, 1e-9);
	CHECK_NEAR(m->latency[3 * m->nmemnodes], 10.580664, 1e-9);
	orr_machine_free(m);
}

int main(void)
{
	const char *dir = samples();
	if (!dir) {
		printf("SKIP: set ORR_PERFMODELS_SAMPLES to a folder that holds bus/ and codelets/45/\n");
		return 77;
	}
	known_values(dir);
	unsigned n = all_models(dir);
	printf("%u model files\n", n);
	CHECK(n > 0);
	machines(dir);
	return 0;
}
