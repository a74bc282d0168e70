/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model files: what is written can be read again; what is malformed is refused with a message that
 * names file and line, whatever it is. */
#include <errno.h>
#include "core/worker/core.h"
#include "perf/model_file.h"
#include "perf_util.h"

#define HEAD(n) "# version\n45\n\n# combinations\n" #n "\n"

static const char good[] = HEAD(2) COMB(
	0, 0, 4, 2,
	"# hash\n0000002a 1000 2e3 10.5 0.5 105 1105 10\ndeadbeef\t2000\tnan\t20\t1\t40\t802\t2\n") "# devices\n2\n0\n0\n1\n7\n1\n1\n# implementations\n2\n0\n1 2 3 4 0.5 1.5 10 100 1000\n0.1 1.1 3\n3 1.5 -2 nan\n"
												    "1\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n2 4 5\nffffffff 5 0 1 0 1 1 1\n";

static char *write_text(const struct orr_model_data *d, size_t *n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, n);
	CHECK(f && orr_model_file_write(f, d) == 0 && fclose(f) == 0);
	return text;
}

static void round_trip(void)
{
	struct orr_model_data *d, *again;
	size_t n, n2;
	CHECK(orr_model_file_parse(good, sizeof(good) - 1, "good", &d) == 0);
	CHECK(d->ncombs == 2 && d->combs[0]->devices[0].ncores == 4 && d->combs[1]->ndevices == 2 &&
	      d->combs[1]->nimpls == 2);
	CHECK(d->combs[1]->devices[1].type == STARPU_HIP_WORKER);
	const struct starpu_perfmodel_regression_model *r = &d->combs[1]->impls[0].reg;
	CHECK(r->valid && r->alpha == 0.5 && r->maxx == 1000 && r->nl_valid && r->c == 3 &&
	      r->ncoeff == 3 && !r->multi_valid);
	CHECK(d->combs[1]->impls[1].reg.multi_valid && !d->combs[1]->impls[1].reg.valid);
	struct orr_model_entry *e = orr_model_entry_find(&d->combs[0]->impls[0], 0xdeadbeef);
	CHECK(e && e->pub.size == 2000 && e->pub.flops == 0 && e->pub.mean == 20 &&
	      e->pub.nsample == 2);
	char *text = write_text(d, &n);
	CHECK(orr_model_file_parse(text, n, "again", &again) == 0);
	char *text2 = write_text(again, &n2);
	CHECK(n == n2 && !memcmp(text, text2, n));
	free(text);
	free(text2);
	orr_model_data_free(d);
	orr_model_data_free(again);
}

/* Refused, with a message that has `words`. */
static void refuse(const char *text, size_t n, const char *words)
{
	struct orr_model_data *d = (struct orr_model_data *) 1;
	capture();
	int err = orr_model_file_parse(text, n, "some/file", &d);
	const char *said = captured();
	CHECK(err == -EINVAL && d == (struct orr_model_data *) 1 && strstr(said, "some/file:") &&
		      strstr(said, words),
	      "%d, message: %s\nexpected `%s' for:\n%.*s", err, said, words, (int) n, text);
}

static void refuse_text(const char *text, const char *words)
{
	refuse(text, strlen(text), words);
}

static void malformed(void)
{
	refuse_text("", "truncated");
	refuse_text("# nothing but comments\n", "truncated");
	refuse_text("44\n0\n", "version 45");
	refuse_text("#!/bin/sh\necho hello\n", "file:2:");
	refuse_text("45\n-1\n", "combinations");
	refuse_text("45\n99999999999999999999\n", "combinations");
	refuse_text("45\n4000\n", "truncated");
	refuse_text("45\n0 # many\n", "combinations");
	refuse_text(HEAD(1) "65\n", "devices");
	refuse_text(HEAD(1) "1\n0\n0\n0\n", "cores");
	refuse_text(HEAD(1) COMB(0, 0, 1, 999999999, ""), "entries");
	refuse_text(HEAD(1) COMB(0, 0, 1, 900000, ""), "truncated");
	refuse_text(HEAD(1) COMB(0, 0, 1, 1, "xyz 1 1 1 1 1 1 1\n"), "hash");
	refuse_text(HEAD(1) COMB(0, 0, 1, 1, "123456789 1 1 1 1 1 1 1\n"), "hash");
	refuse_text(HEAD(1) COMB(0, 0, 1, 1, "12 1 1 1 1 1 1 -1\n"), "8 fields");
	refuse_text(HEAD(1) COMB(0, 0, 1, 1, "12 1 1 -5 1 1 1 1\n"), "not negative");
	refuse_text(HEAD(1) COMB(0, 0, 1, 1, "12 1 1 nan 1 1 1 1\n"), "not negative");
	refuse_text(HEAD(1) COMB(0, 0, 1, 1, "12 1 1 1e999 1 1 1 1\n"), "8 fields");
	refuse_text(HEAD(1) COMB(0, 0, 1, 1, "12 1 1 5 1 1 1 1 1\n"), "8 fields");
	refuse_text(HEAD(1) COMB(0, 0, 1, 2, "12 1 1 5 1 1 1 1\n12 2 1 5 1 1 1 1\n"), "only once");
	refuse_text(HEAD(2) COMB(0, 0, 1, 0, "") COMB(0, 0, 1, 0, ""), "did not describe before");
	refuse_text(HEAD(0) "garbage\n", "file:6:");
	refuse(good, 60, "file:");
	refuse("45\n\0\n0\n", 7, "value 0");
}

/* Cut after every line, every byte, and with every byte replaced by something else. Only the first
 * must always be refused. */
static void mutations(void)
{
	size_t n = sizeof(good) - 1, last = strstr(good, "ffffffff") - good;
	struct orr_model_data *d;
	for (size_t i = 0; i < last; i++) {
		if (i == 0 || good[i - 1] == '\n')
			refuse(good, i, "expected");
	}
	unsigned accepted = 0, refused = 0;
	char copy[sizeof(good)];
	static const char with[] = "\n\t #-+9afxn.\x80\xff";
	capture();
	for (size_t i = 0; i < n; i++) {
		if (orr_model_file_parse(good, i, "cut", &d) == 0)
			orr_model_data_free(d);
		for (size_t k = 0; k < sizeof(with); k++) {
			memcpy(copy, good, n);
			copy[i] = with[k];
			if (orr_model_file_parse(copy, n, "changed", &d) == 0) {
				orr_model_data_free(d);
				accepted++;
			} else {
				refused++;
			}
		}
	}
	unsigned seed = 1;
	for (unsigned round = 0; round < 2000; round++) {
		for (size_t i = 0; i < n; i++) {
			seed = seed * 1103515245u + 12345u;
			copy[i] = (char) (seed >> 16);
		}
		CHECK(orr_model_file_parse(copy, n, "random", &d) == -EINVAL);
	}
	captured();
	printf("changed bytes: %u accepted, %u refused\n", accepted, refused);
	CHECK(accepted && refused);
}

static void files(void)
{
	char path[1024];
	struct orr_model_data *d;
	CHECK(orr_model_file_read("/nonexistent/x.y", &d) == -ENOENT);
	CHECK(orr_model_file_read(tmp_dir(), &d) == -ENOENT);
	snprintf(path, sizeof(path), "%s/real.host", tmp_dir());
	write_file(path, good, sizeof(good) - 1);
	CHECK(orr_model_file_read(path, &d) == 0);
	orr_model_data_free(d);
	/* A symbolic link that became a text file. */
	snprintf(path, sizeof(path), "%s/link.host", tmp_dir());
	write_file(path, "real.host", 9);
	CHECK(orr_model_file_read(path, &d) == 0 && d->ncombs == 2);
	orr_model_data_free(d);
	write_file(path, "link.host", 9);
	capture();
	CHECK(orr_model_file_read(path, &d) == -EINVAL);
	CHECK(strstr(captured(), "link.host"));
	write_file(path, "none.host", 9);
	capture();
	CHECK(orr_model_file_read(path, &d) == -EINVAL);
	CHECK(strstr(captured(), "none.host"));
	write_file(path, "../../etc/passwd", 16);
	capture();
	CHECK(orr_model_file_read(path, &d) == -EINVAL);
	captured();
}

int main(void)
{
	round_trip();
	malformed();
	mutations();
	files();
	return 0;
}
