/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Estimates and learning of one process, on tasks whose data are made up: order of sources, notes,
 * files of several writers. */
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "perf_task.h"
#include "data/data.h"
#include "base/config.h"

static void estimates(void)
{
	char text[2048];
	uint32_t exact = starpu_hash_crc32c_be(starpu_hash_crc32c_be(4096, 0), 0);
	snprintf(text, sizeof(text),
		 "45\n2\n" COMB(
			 0, 0, 1, 4,
			 "%08x 4096 1e6 100 7 1000 100490 10\n1 8192 2e6 200 1 2000 400000 10\n"
			 "2 32768 8e6 800 4 8000 6400000 10\n3 65536 0 nan nan 0 0 0\n")
			 COMB(1, 0, 1, 1, "5 4096 1e6 10 1 100 1000 10\n"),
		 exact);
	store("est", text);
	struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED, .symbol = "est" };
	struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_RW }, .model = &model };
	enum orr_perf_source s;
	start(0);
	capture();
	CHECK_NEAR(expect(&cl, &cpu, 4096, 0, 0, &s), 100, 1e-12);
	CHECK(s == ORR_PERF_CALIBRATED);
	CHECK(!*captured());
	capture();
	CHECK_NEAR(expect(&cl, &cpu, 8192, 0, 0, &s), 200, 1e-12);
	CHECK(s == ORR_PERF_BY_SIZE);
	CHECK(strstr(captured(), "same size"));
	capture();
	CHECK_NEAR(expect(&cl, &cpu, 8192, 0, 0, &s), 200, 1e-12);
	CHECK_NEAR(expect(&cl, &cpu, 16384, 0, 0, &s), 400, 1e-9);
	CHECK(s == ORR_PERF_BY_SIZE);
	/* Another device of the same kind serves; nothing is known of OpenCL. Beyond the largest
	 * size the curve goes on, here a straight line. */
	CHECK_NEAR(expect(&cl, &cuda, 4096, 0, 0, &s), 10, 1e-12);
	const struct orr_arch opencl = { STARPU_OPENCL_WORKER, 0, 1 };
	CHECK(isnan(expect(&cl, &opencl, 4096, 1e6, 0, &s)) && s == ORR_PERF_UNKNOWN);
	CHECK_NEAR(expect(&cl, &cpu, 131072, 0, 0, &s), 3200, 1e-3);
	CHECK(s == ORR_PERF_FLOPS);
	/* With defaults: at the speed of the nearest measurement, or at all. */
	CHECK_NEAR(expect(&cl, &cpu, 65536, 16e6, 1, &s), 1600, 1e-9);
	CHECK(s == ORR_PERF_FLOPS);
	CHECK_NEAR(expect(&cl, &cpu, 131072, 0, 1, &s), 3200, 1e-3);
	/* No model at all. */
	struct starpu_codelet bare = { .nbuffers = 1, .modes = { STARPU_R } };
	CHECK(isnan(expect(&bare, &cpu, 64, 1e6, 0, &s)));
	CHECK_NEAR(expect(&bare, &cpu, 64, 1e6, 1, &s), 100,
		   1e-9); /* the best speed seen is 1e10 flop/s */
	CHECK(!*captured());
	struct starpu_task *t = make(&cl, 4096, 0);
	double deviation = 0;
	CHECK_NEAR(orr_expect_spread_us(proc, &cpu, t, 0, &s, &deviation),
		   expect(&cl, &cpu, 4096, 0, 1, NULL), 1e-12);
	CHECK_NEAR(deviation, 7, 1e-12);
	free(t);
	orr_perf_exit(proc);
	CHECK(!model.state && !model.is_init);
}

/* A file that cannot be read ends the process, says where, and stays as it is. */
static void malformed(void)
{
	store("broken", "45\n1\n1\n0\n0\n");
	struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED, .symbol = "broken" };
	struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_R }, .model = &model };
	int status = 0;
	capture();
	pid_t child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		start(1);
		expect(&cl, &cpu, 64, 0, 0, NULL);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	const char *said = captured(), *first = strstr(said, "broken.box:5:");
	CHECK(WEXITSTATUS(status) == 1, "the process ended with status %d", WEXITSTATUS(status));
	CHECK(first && !strstr(first + 1, "broken.box"));
}

static double by_task(struct starpu_task *t, unsigned nimpl)
{
	(void) t;
	return 40 + nimpl;
}
static double by_arch(struct starpu_task *t, struct starpu_perfmodel_arch *a, unsigned n)
{
	(void) t;
	(void) n;
	return a->devices[0].type == STARPU_CUDA_WORKER ? 3 : 30;
}
static double part(struct starpu_task *t, struct starpu_perfmodel_arch *a, unsigned n)
{
	(void) t;
	(void) a;
	(void) n;
	return 77;
}
static double failing(struct starpu_task *t, unsigned n)
{
	(void) t;
	(void) n;
	return NAN;
}

static void functions(void)
{
	struct starpu_perfmodel common = { .type = STARPU_COMMON, .cost_function = by_task },
				arch = { .type = STARPU_PER_ARCH, .arch_cost_function = by_arch };
	struct starpu_perfmodel nothing = { .type = STARPU_COMMON, .cost_function = failing };
	struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_R }, .model = &common };
	enum orr_perf_source s;
	start(0);
	CHECK(expect(&cl, &cpu, 8, 0, 0, &s) == 40 && s == ORR_PERF_COST_FUNCTION);
	double gpu = expect(&cl, &cuda, 8, 0, 0, &s);
	CHECK(gpu > 0 && gpu < 40);
	cl.model = &arch;
	CHECK(expect(&cl, &cpu, 8, 0, 0, &s) == 30 && expect(&cl, &cuda, 8, 0, 0, &s) == 3);
	CHECK(starpu_perfmodel_set_per_devices_cost_function(&arch, 0, part, STARPU_CUDA_WORKER, 1,
							     1, -1) == 0);
	CHECK(expect(&cl, &cpu, 8, 0, 0, &s) == 30 && expect(&cl, &cuda, 8, 0, 0, &s) == 77);
	cl.model = &nothing;
	CHECK(isnan(expect(&cl, &cpu, 8, 0, 0, &s)) && s == ORR_PERF_UNKNOWN);
	cl.model = &starpu_perfmodel_nop;
	CHECK(expect(&cl, &cpu, 8, 0, 1, &s) == 0 && s == ORR_PERF_COST_FUNCTION);
	orr_perf_exit(proc);
}

/* Private fields hold garbage until is_init is set. */
static void garbage(void)
{
	struct starpu_perfmodel model = { .type = STARPU_COMMON, .cost_function = by_task };
	struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_R }, .model = &model };
	enum orr_perf_source s;

	memset(&model.state, 0x3f, sizeof(model.state));
	start(0);
	CHECK(starpu_perfmodel_unload_model(&model) == 0); /* there is none */
	CHECK(expect(&cl, &cpu, 8, 0, 0, &s) == 40 && s == ORR_PERF_COST_FUNCTION);
	orr_perf_exit(proc);
	CHECK(!model.is_init);
}

static void learning(void)
{
	struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED, .symbol = "learn" };
	struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_W }, .model = &model };
	enum orr_perf_source s;
	start(1);
	record(&cl, 1000, 50, 8);
	/* Schedulers are to try further; a simulated run takes what there is. */
	CHECK(isnan(expect(&cl, &cpu, 1000, 0, 0, &s)));
	CHECK_NEAR(expect(&cl, &cpu, 1000, 0, 1, &s), 50, 1e-12);
	record(&cl, 1000, 50, 12);
	CHECK_NEAR(expect(&cl, &cpu, 1000, 0, 0, &s), 50, 1e-12);
	CHECK(s == ORR_PERF_CALIBRATED);
	record(&cl, 1000, 500, 4); /* outliers */
	CHECK_NEAR(expect(&cl, &cpu, 1000, 0, 0, &s), 50, 1e-12);
	CHECK(isnan(expect(&cl, &cpu, 1001, 0, 0, &s)));
	struct starpu_perfmodel_per_arch *p = starpu_perfmodel_get_model_per_devices(
		&model, 0, STARPU_CPU_WORKER, 0, 1, -1);
	CHECK(p && p->regression.nsample == 20 && p->list && p->list->entry->nsample == 20);
	orr_perf_exit(proc);
	/* Two other processes add to it at the same time. */
	for (int child = 0; child < 2; child++) {
		pid_t pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			start(1);
			record(&cl, 1000, 50, 20);
			record(&cl, 2000 + (size_t) child, 70, 10);
			orr_perf_exit(proc);
			_exit(0);
		}
	}
	for (int child = 0, status; child < 2; child++)
		CHECK(wait(&status) > 0 && status == 0);
	start(0);
	CHECK_NEAR(expect(&cl, &cpu, 1000, 0, 0, &s), 50, 1e-9);
	CHECK_NEAR(expect(&cl, &cpu, 2000, 0, 0, &s), 70, 1e-9);
	CHECK_NEAR(expect(&cl, &cpu, 2001, 0, 0, &s), 70, 1e-9);
	CHECK(s == ORR_PERF_CALIBRATED);
	struct orr_model_entry *e = orr_model_entry_find(
		&model.state->m->data->combs[0]->impls[0],
		starpu_hash_crc32c_be(starpu_hash_crc32c_be(1000, 0), 0));
	CHECK(e && e->pub.nsample == 60);
	CHECK_NEAR(e->pub.deviation, 5, 1e-6);
	orr_perf_exit(proc);
	/* The machine has changed: more samples are dropped than were ever kept, and the history
	 * starts afresh. */
	start(1);
	record(&cl, 1000, 500, 75);
	CHECK_NEAR(expect(&cl, &cpu, 1000, 0, 1, &s), 500, 0.02);
	orr_perf_exit(proc);
	start(2);
	CHECK(isnan(expect(&cl, &cpu, 2000, 0, 0, &s)));
	record(&cl, 3000, 9, 10);
	orr_perf_exit(proc);
	start(0);
	/* The measurements of 1000 bytes are gone: in proportion to those of 3000. */
	CHECK_NEAR(expect(&cl, &cpu, 1000, 0, 0, &s), 3, 1e-9);
	CHECK(s == ORR_PERF_FLOPS);
	CHECK_NEAR(expect(&cl, &cpu, 3000, 0, 0, &s), 9, 1e-9);
	orr_perf_exit(proc);
}

static void parameters(struct starpu_task *t, double *p)
{
	p[0] = (double) starpu_data_get_size(t->handles[0]);
}

static void regressions(void)
{
	unsigned one[] = { 1 }, two[] = { 2 }, *combinations[] = { one, two };
	struct starpu_perfmodel linear = { .type = STARPU_REGRESSION_BASED, .symbol = "lin" },
				nl = { .type = STARPU_NL_REGRESSION_BASED, .symbol = "nl" };
	struct starpu_perfmodel multi = { .type = STARPU_MULTIPLE_REGRESSION_BASED,
					  .symbol = "multi",
					  .parameters = parameters,
					  .nparameters = 1,
					  .combinations = combinations,
					  .ncombinations = 2 };
	struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_R } };
	enum orr_perf_source s;
	for (int round = 0; round < 2; round++) {
		start(round == 0);
		for (size_t size = 100; round == 0 && size < 100000; size *= 2) {
			double x = (double) size;
			cl.model = &linear;
			record(&cl, size, 0.5 * pow(x, 1.5), 4);
			cl.model = &nl;
			record(&cl, size, 0.5 * x + 200, 4);
			cl.model = &multi;
			record(&cl, size, 30 + 2 * x + 0.001 * x * x, 4);
		}
		cl.model = &linear;
		CHECK_NEAR(expect(&cl, &cpu, 150, 0, 0, &s), 0.5 * pow(150, 1.5), 0.02);
		CHECK(s == ORR_PERF_CALIBRATED);
		cl.model = &nl;
		CHECK_NEAR(expect(&cl, &cpu, 333, 0, 0, &s), 0.5 * 333 + 200, 0.05);
		/* A regression's deviation is that of the measurements, relative to their means. */
		struct starpu_task *t = make(&cl, 333, 0);
		double deviation, us = orr_expect_spread_us(proc, &cpu, t, 0, &s, &deviation);
		CHECK_NEAR(deviation, 0.1 * us, 1e-4);
		free(t);
		cl.model = &multi;
		CHECK_NEAR(expect(&cl, &cpu, 20000, 0, 0, &s), 30 + 40000 + 400000, 0.05);
		CHECK(s == ORR_PERF_CALIBRATED);
		orr_perf_exit(proc);
	}
}

static struct starpu_perfmodel shared_model = { .type = STARPU_HISTORY_BASED, .symbol = "threads" };
static struct starpu_codelet shared_cl = { .nbuffers = 1,
					   .modes = { STARPU_R },
					   .model = &shared_model };

/* Learns 64 footprints and asks for them, as workers and schedulers do. */
static void *learner(void *arg)
{
	for (unsigned i = 0; i < 6400; i++) {
		struct starpu_task *t = make(&shared_cl, 1 + i % 64, 0);
		orr_expect_learn(proc, &cpu, t, 0, 10 * (1 + i % 64));
		double us = orr_expect_us(proc, &cpu, t, 0, 1, NULL);
		CHECK_NEAR(us, 10 * (1 + i % 64), 1e-9);
		free(t);
	}
	return arg;
}

static void threads(void)
{
	pthread_t t[4];
	start(1);
	for (unsigned i = 0; i < 4; i++)
		CHECK(pthread_create(&t[i], NULL, learner, NULL) == 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	struct orr_model_impl *impl = &shared_model.state->m->data->combs[0]->impls[0];
	CHECK(impl->nentries == 64);
	for (unsigned e = 0; e < 64; e++)
		CHECK(impl->entries[e]->pub.nsample == 400);
	orr_perf_exit(proc);
}

static void speed(void)
{
	struct starpu_perfmodel model = { .type = STARPU_HISTORY_BASED, .symbol = "est" };
	struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_RW }, .model = &model };
	enum { N = 1000000 };
	for (int by_size = 0; by_size < 2; by_size++) {
		struct timespec a, b;
		start(0);
		orr_config_own(proc)->silent = 1;
		struct starpu_task *t = make(&cl, by_size ? 8192 : 4096, 0);
		struct orr_task private = { .pub = t };
		double sum = 0;
		t->starpu_private = &private;
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (unsigned i = 0; i < N; i++)
			sum += orr_expect_us(proc, &cpu, t, 0, 1, NULL);
		clock_gettime(CLOCK_MONOTONIC, &b);
		double ns = ((double) (b.tv_sec - a.tv_sec) * 1e9 +
			     (double) (b.tv_nsec - a.tv_nsec)) /
			    N;
		printf("%s: %.1f ns per estimate\n", by_size ? "by size" : "by footprint", ns);
		CHECK(sum > 0 && ns < 5000);
		t->starpu_private = NULL;
		free(t);
		orr_perf_exit(proc);
	}
}

int main(void)
{
	make_dirs(tmp_dir());
	estimates();
	malformed();
	functions();
	garbage();
	learning();
	regressions();
	threads();
	speed();
	return 0;
}
