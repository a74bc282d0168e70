/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file that we write can be read by starpu_perfmodel_display where that program is installed. */
#include "core/node.h"
#include "perf/model_file.h"
#include "perf_util.h"

int main(void)
{
	if (system("command -v starpu_perfmodel_display >/dev/null 2>&1") != 0) {
		printf("SKIP: starpu_perfmodel_display is not installed\n");
		return 77;
	}
	make_dirs(tmp_dir());
	struct orr_model_data *d = orr_model_data_new();
	struct starpu_perfmodel_device cpu = { STARPU_CPU_WORKER, 0, 1 }, cuda = { STARPU_CUDA_WORKER, 2, 1 };
	struct orr_model_comb *c1 = orr_model_comb_make(d, 1, &cpu), *c2 = orr_model_comb_make(d, 1, &cuda);
	CHECK(orr_model_impl_make(c1, 1) && orr_model_impl_make(c2, 0));
	for (unsigned i = 0; i < 3; i++) {
		struct orr_model_entry *e = orr_model_entry_make(i ? &c1->impls[i - 1] : &c2->impls[0], 0xabcd0000 + i);
		e->pub.size = 1000 * (i + 1);
		e->pub.mean = 12.5 * (i + 1);
		e->pub.nsample = 20;
		e->pub.sum = e->pub.mean * 20;
		e->pub.sum2 = e->pub.mean * e->pub.sum;
	}
	char path[1024], command[4096], text[8192];
	snprintf(path, sizeof(path), "%s/codelets/45/ours.box", tmp_dir());
	FILE *f = fopen(path, "w");
	CHECK(f && orr_model_write(f, d) == 0 && fclose(f) == 0);
	orr_model_data_free(d);
	snprintf(command, sizeof(command), "STARPU_HOSTNAME=box STARPU_PERF_MODEL_DIR=%s STARPU_HOME=%s starpu_perfmodel_display -s ours 2>&1", tmp_dir(), tmp_dir());
	f = popen(command, "r");
	CHECK(f);
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	CHECK(pclose(f) == 0);
	puts(text);
	CHECK(strstr(text, "abcd0000") && strstr(text, "abcd0001") && strstr(text, "abcd0002"));
	CHECK(strstr(text, "1.250000e+01") && strstr(text, "3.750000e+01"));
	CHECK(strstr(text, "cuda2_impl0") && strstr(text, "cpu0_impl1"));
	return 0;
}
