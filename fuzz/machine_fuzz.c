/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libFuzzer target of the readers of machine files: the first byte of the input chooses between the number of units and a table.
 * Whatever the text, it is refused with a message, or the result is within bounds.
 *
 * clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE= -Iinclude -Isrc -Isrc/sys \
 *	fuzz/machine_fuzz.c src/perf/machine.c src/perf/model_file.c src/perf/model_data.c -o machine_fuzz -lm
 * The include path of the build tree (include/starpu_config.h) comes first when it is another one. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "perf/perf.h"

static unsigned messages;
void orr_error(const char *fmt, ...) { (void) fmt; messages++; }
void orr_warn(const char *fmt, ...) { (void) fmt; }
void orr_info(const char *fmt, ...) { (void) fmt; }

static void judge(int err)
{
	if (err != 0 && err != -EINVAL)
		abort();
	if (messages != (err != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	/* Readers get text that ends with a zero, as from a file without zeros. */
	char *text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	messages = 0;
	if (data[0] % 8 == 0) {
		struct orr_machine m = { 0 };
		unsigned nmain = 1;
		int err = orr_machine_parse_config(text, "fuzz.config", &m, &nmain);
		judge(err);
		if (!err && (m.ncpus > 65536 || m.ncuda > 64 || m.nopencl > 64 || nmain > 64))
			abort();
	} else if (data[0] % 8 == 7) {
		double costs[ORR_NCOSTS];
		int err = orr_machine_parse_costs(text, "fuzz.costs", costs);
		judge(err);
		for (unsigned i = 0; !err && i < ORR_NCOSTS; i++) {
			if (costs[i] < 0 || isinf(costs[i]))
				abort();
		}
	} else {
		unsigned n = data[0] % 8;
		double matrix[64];
		int err = orr_machine_parse_matrix(text, "fuzz.bandwidth", n, matrix);
		judge(err);
		for (unsigned i = 0; !err && i < n * n; i++) {
			if (isinf(matrix[i]) || matrix[i] < 0)
				abort();
		}
	}
	free(text);
	return 0;
}
