/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The arithmetic of contention, and its file: curves, pressures, what is refused. */
#include <errno.h>
#include <math.h>
#include "base/contention.h"
#include "perf/machine.h"
#include "perf_util.h"

static struct orr_contention *read_table(const char *text)
{
	char copy[8192];
	struct orr_contention *t = NULL;

	snprintf(copy, sizeof(copy), "%s", text);
	CHECK(orr_machine_parse_contention(copy, "box.contention", &t) == 0);
	CHECK(t != NULL);
	return t;
}

static double slowdown(const struct orr_contention *t, const char *name, double pressure)
{
	int i = orr_contention_find(t, name);

	CHECK(i >= 0, "no curve of %s", name);
	return orr_contention_slowdown(&t->curve[i], pressure);
}

static void curves(void)
{
	struct orr_contention *t = read_table(
		"# a comment\n\ncontention 1\n a: 2 1.5 4 3 \nflat:2 1\nx: y :  2 1 4 3\nrises: 8 9\n");

	CHECK(t->ncurves == 4 && orr_contention_find(t, "x: y") == 2 &&
	      orr_contention_find(t, "x") == -1);
	CHECK(orr_contention_measured(&t->curve[0]) == 4);
	CHECK_NEAR(slowdown(t, "a", 0), 1.0, 1e-15);
	CHECK_NEAR(slowdown(t, "a", 0.5), 1.25, 1e-15);
	CHECK_NEAR(slowdown(t, "a", 1), 1.5, 1e-15);
	CHECK_NEAR(slowdown(t, "a", 2), 2.25, 1e-15);
	CHECK_NEAR(slowdown(t, "a", 3), 3.0, 1e-15);
	/* Beyond: 0.75 each, as between the last two, which is also all that company can do. */
	CHECK_NEAR(slowdown(t, "a", 7), 6.0, 1e-15);
	/* Between the last two it is 1 each; from nothing to the last, 3 / 4. */
	CHECK_NEAR(slowdown(t, "x: y", 5), 4.5, 1e-15);
	/* 8 / 7 each, and 9 / 8. */
	CHECK_NEAR(slowdown(t, "rises", 15), 18.0, 1e-15);
	CHECK_NEAR(slowdown(t, "flat", 63), 1.0, 1e-15);
	for (unsigned i = 0; i < t->ncurves; i++) {
		double before = 1;
		for (double p = 0; p < 100; p += 0.125) {
			double now = orr_contention_slowdown(&t->curve[i], p);
			CHECK(now >= before, "%s falls at %g", t->curve[i].name, p);
			before = now;
		}
	}
	orr_contention_free(t);
}

static void pressures(void)
{
	struct orr_contention *t = read_table("contention 1\na: 2 1.5 4 3\nb: 2 1.125 4 1.5\n"
					      "flat: 2 1\ntwin: 2 1.5 4 3\nshort: 2 1.5\n");
	const double *p = t->press;
	unsigned n = t->ncurves;

	for (unsigned i = 0; i < n; i++)
		CHECK(p[i * n + i] == 1);
	/* Excesses of 2 and 0.5: a kernel of a presses on b as two of b do, b on a as half of one.
	 */
	CHECK_NEAR(p[0 * n + 1], 0.5, 1e-15);
	CHECK_NEAR(p[1 * n + 0], 2.0, 1e-15);
	CHECK(p[0 * n + 2] == 0 && p[2 * n + 0] == 0);
	CHECK_NEAR(p[0 * n + 3], 1.0, 1e-15);
	/* Both in company 4: 2 against 1.5. */
	CHECK_NEAR(p[0 * n + 4], sqrt(0.75), 1e-15);
	orr_contention_free(t);
	orr_contention_free(NULL);
}

static void same(void)
{
	struct orr_contention *a = read_table("contention 1\na: 2 1.5\nb: 2 2\n"),
			      *b = read_table("contention 1\n# other words\na: 2 1.50\nb: 2 2 \n"),
			      *c = read_table("contention 1\na: 2 1.5\nb: 2 2 3 2\n"),
			      *none = read_table("contention 1\n");

	CHECK(orr_contention_same(a, b) && !orr_contention_same(a, c) &&
	      !orr_contention_same(a, NULL));
	CHECK(orr_contention_same(NULL, NULL) && !orr_contention_same(NULL, none));
	orr_contention_free(a);
	orr_contention_free(b);
	orr_contention_free(c);
	orr_contention_free(none);
}

static void refuse(const char *text, const char *words)
{
	char copy[16384];
	struct orr_contention *t = NULL;

	snprintf(copy, sizeof(copy), "%s", text);
	capture();
	int err = orr_machine_parse_contention(copy, "box.contention", &t);
	const char *said = captured();
	CHECK(err == -EINVAL && !t && strstr(said, words), "%d, message: %s\nexpected `%s'", err,
	      said, words);
}

static void bad(void)
{
	char many[16384] = "contention 1\n";

	refuse("", "box.contention:1: ");
	refuse("# nothing\n", "the version of the format");
	refuse("contention 2\na: 2 1\n", "box.contention:1: ");
	refuse("a: 2 1\n", "`contention 1'");
	refuse("contention 1\na 2 1\n",
	       "box.contention:2: malformed machine description: expected a name");
	refuse("contention 1\n: 2 1\n", "a name, a colon and pairs");
	refuse("contention 1\n\na:\n",
	       "box.contention:3: malformed machine description: expected pairs");
	refuse("contention 1\na: 2\n", "pairs of a company and a slowdown");
	refuse("contention 1\na: 2 1.5x\n", "pairs");
	refuse("contention 1\na: 2 1 4\n", "pairs");
	refuse("contention 1\na: 1 1\n", "whole numbers from 2 to 65536");
	refuse("contention 1\na: 2.5 1\n", "whole numbers");
	refuse("contention 1\na: 65537 1\n", "whole numbers");
	refuse("contention 1\na: 4 1 4 1\n", "companies that rise");
	refuse("contention 1\na: nan 1\n", "whole numbers");
	refuse("contention 1\na: 2 0.99\n", "numbers from 1 to 10000");
	refuse("contention 1\na: 2 nan\n", "numbers from 1");
	refuse("contention 1\na: 2 1e9\n", "numbers from 1");
	refuse("contention 1\na: 2 1.5 4 1.4\n", "slowdowns that do not fall");
	refuse("contention 1\na: 2 1\na: 2 1\n",
	       "box.contention:3: malformed machine description: expected each name only once");
	for (unsigned i = 0; i <= ORR_CONTENTION_MOST_CURVES; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "k%u: 2 1\n", i);
	refuse(many,
	       "box.contention:258: malformed machine description: expected at most 256 names");
	snprintf(many, sizeof(many), "contention 1\na:");
	for (unsigned i = 0; i <= ORR_CONTENTION_MOST_POINTS; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), " %u 1", i + 2);
	refuse(many, "at most 64 companies");
}

/* Found and refused by its place, as a part of a machine. */
static void whole(void)
{
	const char *const dirs[] = { tmp_dir(), NULL };
	struct orr_machine *m = NULL;
	char path[1024];

	make_dirs(tmp_dir());
	snprintf(path, sizeof(path), "%s/bus/box.config", tmp_dir());
	write_file(path, "4 # Number of CPUs\n", 19);
	CHECK(orr_machine_load("box", dirs, &m) == 0 && !m->contention);
	orr_machine_free(m);
	snprintf(path, sizeof(path), "%s/bus/box.contention", tmp_dir());
	write_file(path, "contention 1\na: 2 2\n", 20);
	CHECK(orr_machine_load("box", dirs, &m) == 0 && m->contention &&
	      m->contention->ncurves == 1);
	orr_machine_free(m);
	m = NULL;
	write_file(path, "contention 1\na: 2 0\n", 20);
	capture();
	CHECK(orr_machine_load("box", dirs, &m) == -EINVAL && !m);
	CHECK(strstr(captured(), "/bus/box.contention:2: malformed"));
}

int main(void)
{
	curves();
	pressures();
	same();
	bad();
	whole();
	return 0;
}
