/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Performance model files: whatever the text, it is refused with one message that names file and
 * line, or accepted; then all that it tells is believable, and it survives being written and read
 * again unchanged. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "core/worker/core.h"
#include "fuzz.h"
#include "perf/arch.h"
#include "perf/model_file.h"

static char *text_of(const struct orr_model_data *d, size_t *n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, n);
	MUST(f && orr_model_file_write(f, d) == 0 && fclose(f) == 0);
	return text;
}

static int number(double v)
{
	return isfinite(v) && fabs(v) <= ORR_MODEL_MAX_NUMBER;
}

static void judge_regression(const struct starpu_perfmodel_regression_model *r)
{
	MUST(!r->valid || (number(r->alpha) && r->alpha > 0 && number(r->beta)));
	MUST(!r->nl_valid || (number(r->a) && number(r->b) && number(r->c)));
	for (unsigned i = 0; r->multi_valid && i < r->ncoeff; i++)
		MUST(number(r->coeff[i]));
}

static void judge_entry(const struct starpu_perfmodel_history_entry *h)
{
	MUST(number(h->flops) && h->flops >= 0);
	if (h->nsample)
		MUST(number(h->mean) && h->mean >= 0 && number(h->deviation) && h->deviation >= 0 &&
		     number(h->sum) && number(h->sum2));
}

static void judge(const struct orr_model_data *d)
{
	MUST(d->ncombs <= ORR_MODEL_MAX_COMBS);
	for (unsigned c = 0; c < d->ncombs; c++) {
		const struct orr_model_comb *comb = d->combs[c];
		char name[64];
		MUST(comb->ndevices >= 1 && comb->ndevices <= ORR_MODEL_MAX_DEVICES &&
		     comb->nimpls <= ORR_MODEL_MAX_IMPLS);
		orr_arch_name(comb->ndevices, comb->devices, 0, name, sizeof(name));
		MUST(strnlen(name, sizeof(name)) < sizeof(name));
		for (unsigned i = 0; i < comb->nimpls; i++) {
			judge_regression(&comb->impls[i].reg);
			for (unsigned e = 0; e < comb->impls[i].nentries; e++)
				judge_entry(&comb->impls[i].entries[e]->pub);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct orr_model_data *d = NULL, *again = NULL;
	fuzz_forget();
	int err = orr_model_file_parse((const char *) data, size, "the.file", &d);
	if (err) {
		MUST(err == -EINVAL && !d && fuzz_errors == 1 &&
		     !strncmp(fuzz_said(), "the.file:", 9));
		return 0;
	}
	MUST(fuzz_errors == 0);
	judge(d);
	size_t n, n2;
	char *text = text_of(d, &n);
	MUST(orr_model_file_parse(text, n, "written", &again) == 0);
	char *text2 = text_of(again, &n2);
	MUST(n == n2 && !memcmp(text, text2, n));
	free(text);
	free(text2);
	orr_model_data_free(d);
	orr_model_data_free(again);
	return 0;
}
