/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels beside each other (contention.sh): prints when each of the given tasks is over, in
 * microseconds from a common instant, after its number and its word.
 *
 *      contention KIND:US[@START][/RANK]...
 *
 * A task of that kind takes US alone and is submitted at START, 0 if it is not given, by RANK, 0
 * likewise. The tasks of a rank stand by rising START.
 *
 * a to d  codelets of that name
 * m       a codelet of name m whose model is called `symbol'
 * n       a codelet of name `long name: n'
 * s       a kernel that sleeps for 400 us of its time
 *
 * Invariant: nothing but kernels takes time after the common instant (ORR_SIM_COSTS=0). */
#include "../mpi/mpi_test.h"

#include <string.h>

#define BEGIN_US 1000000.0
#define MOST 64

struct word {
	char kind;
	double us, at_us, end_us;
	int rank;
};

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}
static void sleeps(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	usleep(400);
}
static double model_us(struct starpu_task *t, unsigned nimpl)
{
	(void) nimpl;
	return ((struct word *) t->cl_arg)->us;
}

static struct starpu_perfmodel plain = { .type = STARPU_COMMON, .cost_function = model_us };
static struct starpu_perfmodel named = { .type = STARPU_COMMON,
					 .cost_function = model_us,
					 .symbol = "symbol" };

static struct starpu_codelet kinds[] = {
	{ .cpu_funcs = { nothing }, .model = &plain, .name = "a" },
	{ .cpu_funcs = { nothing }, .model = &plain, .name = "b" },
	{ .cpu_funcs = { nothing }, .model = &plain, .name = "c" },
	{ .cpu_funcs = { nothing }, .model = &plain, .name = "d" },
	{ .cpu_funcs = { nothing }, .model = &named, .name = "m" },
	{ .cpu_funcs = { nothing }, .model = &plain, .name = "long name: n" },
	{ .cpu_funcs = { sleeps }, .model = &plain, .name = "s" },
};
static const char letters[] = "abcdmns";

static void over(void *arg)
{
	((struct word *) arg)->end_us = starpu_timing_now() - BEGIN_US;
}

static void wait_until(double us)
{
	double left_us = us - starpu_timing_now();

	if (left_us > 0)
		usleep((useconds_t) (left_us + 0.5));
}

static void submit(struct word *w)
{
	const char *letter = strchr(letters, w->kind);
	struct starpu_task *t = starpu_task_create();

	CHECK(letter && *letter, "the kind %c is none of %s", w->kind, letters);
	t->cl = &kinds[letter - letters];
	t->cl_arg = w;
	t->callback_func = over;
	t->callback_arg = w;
	wait_until(BEGIN_US + w->at_us);
	OK(starpu_task_submit(t));
}

static void read_word(const char *text, struct word *w)
{
	char *end;

	CHECK(text[0] && text[1] == ':', "%s: expected KIND:US[@START][/RANK]", text);
	w->kind = text[0];
	w->us = strtod(text + 2, &end);
	if (*end == '@')
		w->at_us = strtod(end + 1, &end);
	if (*end == '/')
		w->rank = (int) strtol(end + 1, &end, 10);
	CHECK(!*end, "%s: expected KIND:US[@START][/RANK]", text);
}

int main(int argc, char **argv)
{
	static struct word words[MOST + 1];

	if (!begin(&argc, &argv, 1))
		return 77;
	CHECK(argc - 1 <= MOST, "at most %d tasks", MOST);
	for (int i = 1; i < argc; i++)
		read_word(argv[i], &words[i]);
	wait_until(BEGIN_US);
	for (int i = 1; i < argc; i++)
		if (words[i].rank == rank)
			submit(&words[i]);
	OK(starpu_task_wait_for_all());
	for (int i = 1; i < argc; i++)
		if (words[i].rank == rank)
			printf("%d %s %.2f\n", i, argv[i], words[i].end_us);
	return end();
}
