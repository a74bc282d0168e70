/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libFuzzer target of the reader of performance models: whatever the text, it is refused, or accepted and then survives being written
 * and read again unchanged.
 *
 * clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE= -Iinclude -Isrc -Isrc/sys \
 *	fuzz/perf_model_fuzz.c src/perf/model_file.c src/perf/model_data.c -o perf_model_fuzz -lm
 * The include path of the build tree (include/starpu_config.h) comes first when it is another one. */
#include <stdlib.h>
#include <string.h>
#include "core/node.h"
#include "perf/model_file.h"

/* Messages are counted, not printed. */
static unsigned messages;
void orr_error(const char *fmt, ...) { (void) fmt; messages++; }
void orr_warn(const char *fmt, ...) { (void) fmt; }
void orr_info(const char *fmt, ...) { (void) fmt; }

static char *text_of(const struct orr_model_data *d, size_t *n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, n);
	if (!f || orr_model_write(f, d) || fclose(f))
		abort();
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct orr_model_data *d = NULL, *again = NULL;
	messages = 0;
	if (orr_model_parse((const char *) data, size, "fuzz", &d)) {
		if (d || messages != 1)
			abort();
		return 0;
	}
	size_t n, n2;
	char *text = text_of(d, &n);
	if (orr_model_parse(text, n, "written", &again))
		abort();
	char *text2 = text_of(again, &n2);
	if (n != n2 || memcmp(text, text2, n))
		abort();
	free(text);
	free(text2);
	orr_model_data_free(d);
	orr_model_data_free(again);
	return 0;
}
