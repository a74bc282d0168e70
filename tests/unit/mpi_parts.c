/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walks over the parts of the message layer: whichever part fails to begin, those before it end
 * in the other direction, later ones never begin; what undoes goes backwards; a refusal stops its
 * walk; a part without a function is passed over.
 *
 * Invariant: the walks are those of the layer, over a table of the test's own, which writes down
 * every call. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/test.h"
#include "mpi/run/part_walk.c"

#define N 4

static char calls[256];
static int failing; /* the part whose begin, finish or may_switch fails, -1: none */

static void note(char what, int part)
{
	size_t n = strlen(calls);

	snprintf(calls + n, sizeof(calls) - n, "%c%d ", what, part);
}

/* A part has no argument that says which one it is: a set of functions for each. */
#define PART(i) \
	static int begin_##i(struct orr_mpi *mpi, const struct orr_mpi_change *to) \
	{ \
		(void) mpi; \
		(void) to; \
		note('b', i); \
		return failing == i ? -EIO : 0; \
	} \
	static void end_##i(struct orr_mpi *mpi) \
	{ \
		(void) mpi; \
		note('e', i); \
	} \
	static int finish_##i(struct orr_mpi *mpi) \
	{ \
		(void) mpi; \
		note('f', i); \
		return failing == i ? -EIO : 0; \
	} \
	static int may_switch_##i(struct orr_mpi *mpi, const struct orr_mpi_change *to) \
	{ \
		(void) mpi; \
		(void) to; \
		note('m', i); \
		return failing == i ? -EBUSY : 0; \
	} \
	static void pause_##i(struct orr_mpi *mpi) \
	{ \
		(void) mpi; \
		note('p', i); \
	} \
	static void leave_##i(struct orr_mpi *mpi, const struct orr_mpi_change *to) \
	{ \
		(void) mpi; \
		(void) to; \
		note('l', i); \
	} \
	static void renumber_##i(struct orr_mpi *mpi, const struct orr_mpi_change *to) \
	{ \
		(void) mpi; \
		(void) to; \
		note('r', i); \
	} \
	static void enter_##i(struct orr_mpi *mpi, const struct orr_mpi_change *to) \
	{ \
		(void) mpi; \
		(void) to; \
		note('n', i); \
	} \
	static void stop_##i(struct orr_mpi *mpi) \
	{ \
		(void) mpi; \
		note('s', i); \
	}
PART(0)
PART(1)
PART(3)

/* clang-format off */
#define ROW(i) \
	{ "part " #i, begin_##i, end_##i, finish_##i, may_switch_##i, pause_##i, leave_##i, renumber_##i, enter_##i, stop_##i }
/* clang-format on */
/* Part 2 has nothing to do at any time. */
static const struct orr_mpi_part parts[N] = { ROW(0), ROW(1), { .name = "part 2" }, ROW(3) };

static void expect(const char *what, int ret, int wanted, const char *wanted_calls)
{
	CHECK(ret == wanted, "%s, part %d fails: %d instead of %d", what, failing, ret, wanted);
	CHECK(!strcmp(calls, wanted_calls), "%s, part %d fails: the calls were \"%s\", not \"%s\"",
	      what, failing, calls, wanted_calls);
	calls[0] = 0;
}

static void walk_begin(void)
{
	static const struct {
		int failing, ret;
		const char *calls;
	} table[] = {
		{ -1, 0, "b0 b1 b3 " },
		{ 0, -EIO, "b0 " },
		{ 1, -EIO, "b0 b1 e0 " },
		{ 3, -EIO, "b0 b1 b3 e1 e0 " },
	};

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		failing = table[i].failing;
		expect("begin", orr_mpi_parts_begin(NULL, parts, N, NULL), table[i].ret,
		       table[i].calls);
	}
}

static void walk_refusals(void)
{
	static const struct {
		int failing, finished, refused;
		const char *finish, *may_switch;
	} table[] = {
		{ -1, 0, 0, "f0 f1 f3 ", "m3 m1 m0 " },
		{ 0, -EIO, -EBUSY, "f0 ", "m3 m1 m0 " },
		{ 1, -EIO, -EBUSY, "f0 f1 ", "m3 m1 " },
		{ 3, -EIO, -EBUSY, "f0 f1 f3 ", "m3 " },
	};

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		failing = table[i].failing;
		expect("finish", orr_mpi_parts_finish(NULL, parts, N), table[i].finished,
		       table[i].finish);
		expect("may_switch", orr_mpi_parts_may_switch(NULL, parts, N, NULL),
		       table[i].refused, table[i].may_switch);
	}
}

int main(void)
{
	walk_begin();
	walk_refusals();
	failing = -1;
	orr_mpi_parts_pause(NULL, parts, N);
	expect("pause", 0, 0, "p3 p1 p0 ");
	orr_mpi_parts_leave(NULL, parts, N, NULL);
	expect("leave", 0, 0, "l3 l1 l0 ");
	orr_mpi_parts_renumber(NULL, parts, N, NULL);
	expect("renumber", 0, 0, "r0 r1 r3 ");
	orr_mpi_parts_enter(NULL, parts, N, NULL);
	expect("enter", 0, 0, "n0 n1 n3 ");
	orr_mpi_parts_stop(NULL, parts, N);
	expect("stop", 0, 0, "s3 s1 s0 ");
	orr_mpi_parts_end(NULL, parts, N);
	expect("end", 0, 0, "e3 e1 e0 ");
	return 0;
}
