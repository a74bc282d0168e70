/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file that we write can be read by the starpu_perfmodel_display of Debian's starpu-tools, where
 * that is installed: histories, regressions of each kind, combinations of devices. */
#include "core/worker/core.h"
#include "perf/model_file.h"
#include "perf_util.h"

/* The words of the command. */
static const char *said(const char *options)
{
	static char text[16384];
	char command[4096];
	snprintf(
		command, sizeof(command),
		"STARPU_HOSTNAME=box STARPU_PERF_MODEL_DIR=%s STARPU_HOME=%s starpu_perfmodel_display %s 2>&1",
		tmp_dir(), tmp_dir(), options);
	FILE *f = popen(command, "r");
	CHECK(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	CHECK(pclose(f) == 0);
	puts(text);
	return text;
}

static void fits(struct starpu_perfmodel_regression_model *r)
{
	r->nsample = 40;
	r->minx = 1000;
	r->maxx = 3000;
	r->sumlnx = r->sumlnx2 = r->sumlny = r->sumlnxlny = 12;
	r->alpha = 0.125;
	r->beta = 1.5;
	r->a = 0.25;
	r->b = 1.25;
	r->c = 6;
	r->coeff = calloc(2, sizeof(double));
	CHECK(r->coeff);
	r->ncoeff = 2;
	r->coeff[0] = 7;
	r->coeff[1] = 0.5;
}

int main(void)
{
	/* Ours has the same name and may be installed. */
	if (system("starpu_perfmodel_display --version 2>&1 | grep '(StarPU)' > /dev/null") != 0) {
		printf("SKIP: Debian's starpu_perfmodel_display (starpu-tools) is not installed\n");
		return 77;
	}
	make_dirs(tmp_dir());
	struct orr_model_data *d = orr_model_data_new();
	struct starpu_perfmodel_device cpu = { STARPU_CPU_WORKER, 0, 1 },
				       cuda = { STARPU_CUDA_WORKER, 2, 1 };
	struct orr_model_comb *c1 = orr_model_comb_make(d, 1, &cpu),
			      *c2 = orr_model_comb_make(d, 1, &cuda);
	CHECK(orr_model_impl_make(c1, 1) && orr_model_impl_make(c2, 0));
	for (unsigned i = 0; i < 3; i++) {
		struct orr_model_entry *e = orr_model_entry_make(
			i ? &c1->impls[i - 1] : &c2->impls[0], 0xabcd0000 + i);
		e->pub.size = 1000 * (i + 1);
		e->pub.mean = 12.5 * (i + 1);
		e->pub.nsample = 20;
		e->pub.sum = e->pub.mean * 20;
		e->pub.sum2 = e->pub.mean * e->pub.sum;
	}
	fits(&c1->impls[0].reg);
	struct starpu_perfmodel_device both[] = { { STARPU_CPU_WORKER, 0, 4 },
						  { STARPU_CUDA_WORKER, 2, 1 } };
	struct orr_model_comb *c3 = orr_model_comb_make(d, 2, both);
	CHECK(c3 && orr_model_impl_make(c3, 0));
	*orr_model_entry_make(&c3->impls[0],
			      0xbeef) = (struct orr_model_entry){ .pub = { .footprint = 0xbeef,
									   .size = 5000,
									   .mean = 50,
									   .nsample = 10,
									   .sum = 500,
									   .sum2 = 25000 } };
	char path[1024];
	snprintf(path, sizeof(path), "%s/codelets/45/ours.box", tmp_dir());
	FILE *f = fopen(path, "w");
	CHECK(f && orr_model_file_write(f, d) == 0 && fclose(f) == 0);
	orr_model_data_free(d);
	const char *text = said("-s ours");
	CHECK(strstr(text, "abcd0000") && strstr(text, "abcd0001") && strstr(text, "abcd0002"));
	CHECK(strstr(text, "1.250000e+01") && strstr(text, "3.750000e+01"));
	CHECK(strstr(text, "cuda2_impl0") && strstr(text, "cpu0_impl1"));
	CHECK(strstr(text, "0000beef") && strstr(text, "5.000000e+01"));
	CHECK(strstr(text, "1.250000e-01") && strstr(text, "1.500000e+00"));
	CHECK(strstr(said("-l"), "ours.box"));
	CHECK(strstr(said("-s ours -a cpu -p alpha"), "1.25"));
	CHECK(strstr(said("-s ours -x"), "footprint=\"abcd0002\""));
	return 0;
}
