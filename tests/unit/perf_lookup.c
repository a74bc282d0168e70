/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The look-up of an estimate when the exact hash is not there, with a model's own footprint and
 * size, and with files whose numbers mislead: the answer says where it comes from, and is never a
 * zero that nobody asked for. Files whose numbers cannot be are refused. */
#include <sys/wait.h>
#include <unistd.h>
#include "perf_task.h"

static unsigned calls;
static uint32_t own_footprint(struct starpu_task *t)
{
	(void) t;
	calls++;
	return 0xc0ffee;
}
static size_t own_size(struct starpu_task *t, unsigned nimpl)
{
	(void) t;
	(void) nimpl;
	return 500;
}
static size_t cuda_size(struct starpu_task *t, struct starpu_perfmodel_arch *a, unsigned n)
{
	(void) t;
	(void) a;
	(void) n;
	return 900;
}

static const char shapes[] = "45\n2\n" COMB(
	0, 0, 1, 2, "c0ffee 4096 0 100 1 1000 100010 10\n7 500 0 60 1 600 36010 10\n")
	COMB(1, 1, 1, 2, "c 500 0 6 1 60 370 10\nd 900 0 9 1 90 820 10\n");

static void own_functions(void)
{
	struct starpu_perfmodel by_hash = { .type = STARPU_HISTORY_BASED,
					    .symbol = "shapes",
					    .footprint = own_footprint };
	struct starpu_perfmodel by_size = { .type = STARPU_HISTORY_BASED,
					    .symbol = "shapes",
					    .size_base = own_size };
	struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_R }, .model = &by_hash };
	enum orr_perf_source s;
	store("shapes", shapes);
	start(0);
	capture();
	/* Whatever the data's size is, the model's function names the entry. */
	CHECK_NEAR(expect(&cl, &cpu, 123456, 0, 0, &s), 100, 1e-12);
	CHECK(s == ORR_PERF_CALIBRATED && calls > 0);
	struct starpu_task *t = make(&cl, 99, 0);
	CHECK(starpu_task_footprint(&by_hash, t, NULL, 0) == 0xc0ffee &&
	      starpu_task_data_footprint(t) != 0xc0ffee);
	free(t);
	CHECK(!*captured());
	capture();
	cl.model = &by_size;
	CHECK_NEAR(expect(&cl, &cpu, 123456, 0, 0, &s), 60, 1e-12);
	CHECK(s == ORR_PERF_BY_SIZE && strstr(captured(), "same size"));
	CHECK_NEAR(expect(&cl, &cuda, 123456, 0, 0, &s), 6, 1e-12);
	CHECK(starpu_perfmodel_set_per_devices_size_base(&by_size, 0, cuda_size, STARPU_CUDA_WORKER,
							 1, 1, -1) == 0);
	CHECK_NEAR(expect(&cl, &cuda, 123456, 0, 0, &s), 9, 1e-12);
	CHECK_NEAR(expect(&cl, &cpu, 123456, 0, 0, &s), 60, 1e-12);
	orr_perf_exit(proc);
}

/* Of a model whose only measurements mislead: "not known", or a time that is above zero when one is
 * needed. */
static void misleading(const char *what, const char *text)
{
	static const enum starpu_perfmodel_type types[] = { STARPU_HISTORY_BASED,
							    STARPU_REGRESSION_BASED,
							    STARPU_NL_REGRESSION_BASED,
							    STARPU_MULTIPLE_REGRESSION_BASED };
	store("odd", text);
	for (unsigned k = 0; k < 4; k++) {
		struct starpu_perfmodel model = { .type = types[k],
						  .symbol = "odd",
						  .footprint = own_footprint };
		struct starpu_codelet cl = { .nbuffers = 1,
					     .modes = { STARPU_R },
					     .model = &model };
		enum orr_perf_source s, with;
		start(0);
		capture();
		double us = expect(&cl, &cpu, 4096, 1e6, 0, &s),
		       some = expect(&cl, &cpu, 4096, 1e6, 1, &with);
		captured();
		printf("%s, type %d: %g (source %d), with defaults %g (source %d)\n", what,
		       (int) types[k], us, (int) s, some, (int) with);
		CHECK(isnan(us) && s == ORR_PERF_UNKNOWN);
		CHECK(some > 0 && isfinite(some) && with != ORR_PERF_CALIBRATED &&
		      with != ORR_PERF_BY_SIZE);
		orr_perf_exit(proc);
	}
}

/* A file whose numbers cannot be: the process that needs it ends, and says so. */
static void refused(const char *text)
{
	struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED,
					  .symbol = "odd",
					  .footprint = own_footprint };
	struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_R }, .model = &model };
	int status = 0;

	store("odd", text);
	capture();
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		start(0);
		expect(&cl, &cpu, 4096, 1e6, 0, NULL);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	const char *said = captured();
	CHECK(WEXITSTATUS(status) == 1, "the process ended with status %d", WEXITSTATUS(status));
	CHECK(strstr(said, "odd.box:"), "it says: %s", said);
}

int main(void)
{
	make_dirs(tmp_dir());
	own_functions();
	misleading("a mean of zero", "45\n1\n" COMB(0, 0, 1, 1, "c0ffee 4096 0 0 0 0 0 10\n"));
	misleading("no samples", "45\n1\n" COMB(0, 0, 1, 1, "c0ffee 4096 0 50 1 500 25000 0\n"));
	misleading("no entries", "45\n1\n" COMB(0, 0, 1, 0, ""));
	misleading("no combination", "45\n0\n");
	misleading("another implementation only", "45\n1\n1\n0\n0\n1\n0\n");
	refused("45\n1\n" COMB(0, 0, 1, 1, "5 64 1e99 1e-300 0 1e-299 0 10\n"));
	misleading("regressions that give zero",
		   "45\n1\n1\n0\n0\n1\n1\n0\n1 1 1 1 1e-99 -99 10 1 9\n0 0 0\n4 0 0 0 0\n");
	return 0;
}
