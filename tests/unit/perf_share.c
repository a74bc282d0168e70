/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Four processes add to one model file at the same time, again and again, while one more reads it
 * and another is killed in the middle: every reading finds a whole file, no measurement is lost,
 * and no lock outlives who held it. */
#include <signal.h>
#include <sys/wait.h>
#include "perf/model_file.h"
#include "perf_task.h"

#define WRITERS 4
#define ROUNDS 25
#define TIMES 4

static struct starpu_perfmodel model = { .type = STARPU_NL_REGRESSION_BASED, .symbol = "shared" };
static struct starpu_codelet cl = { .nbuffers = 1, .modes = { STARPU_R }, .model = &model };

static uint32_t footprint(size_t size)
{
	return starpu_hash_crc32c_be(starpu_hash_crc32c_be((uint32_t) size, 0), 0);
}

/* All measure size 1000; writer w alone measures size 2000 + w. */
static void writer(unsigned w, unsigned rounds)
{
	for (unsigned r = 0; r < rounds; r++) {
		start(1);
		record(&cl, 1000, 50, TIMES);
		record(&cl, 2000 + w, 80, TIMES);
		orr_perf_exit(proc);
	}
	_exit(0);
}

static pid_t start_writer(unsigned w, unsigned rounds)
{
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		writer(w, rounds);
	return pid;
}

static const struct starpu_perfmodel_history_entry *entry_of(const struct orr_model_data *d,
							     size_t size)
{
	struct orr_model_entry *e = d->ncombs ? orr_model_entry_find(&d->combs[0]->impls[0],
								     footprint(size))
					      : NULL;
	return e ? &e->pub : NULL;
}

/* Reads the file: it is whole, and it never knows less than before. */
static unsigned look(const char *path, unsigned before)
{
	struct orr_model_data *d = NULL;
	int err = orr_model_file_read(path, &d);
	if (err == -ENOENT && !before)
		return 0;
	CHECK(err == 0);
	const struct starpu_perfmodel_history_entry *e = entry_of(d, 1000);
	CHECK(e && e->nsample >= before);
	CHECK_NEAR(e->mean, 50, 1e-6);
	unsigned n = e->nsample;
	orr_model_data_free(d);
	return n;
}

int main(void)
{
	char path[1024];
	make_dirs(tmp_dir());
	snprintf(path, sizeof(path), "%s/codelets/45/shared.box", tmp_dir());
	pid_t victim = start_writer(WRITERS, 1000000);
	for (unsigned w = 0; w < WRITERS; w++)
		start_writer(w, ROUNDS);
	unsigned n = 0, readings = 0, ended = 0;
	for (int status; ended < WRITERS; readings++) {
		n = look(path, n);
		if (victim && n > WRITERS * ROUNDS * TIMES / 3) {
			kill(victim, SIGKILL);
			CHECK(waitpid(victim, &status, 0) == victim);
			victim = 0;
		}
		pid_t pid = waitpid(-1, &status, WNOHANG);
		CHECK(pid <= 0 || status == 0);
		ended += pid > 0;
	}
	CHECK(!victim);
	struct orr_model_data *d = NULL;
	CHECK(orr_model_file_read(path, &d) == 0);
	const struct starpu_perfmodel_history_entry *all = entry_of(d, 1000);
	printf("%u readings, %u samples\n", readings, all->nsample);
	CHECK(all->nsample >= WRITERS * ROUNDS * TIMES && all->nsample % TIMES == 0);
	CHECK_NEAR(all->sum, 50.0 * all->nsample, 1e-6);
	CHECK_NEAR(all->deviation, 5, 1e-3);
	for (unsigned w = 0; w < WRITERS; w++) {
		const struct starpu_perfmodel_history_entry *own = entry_of(d, 2000 + w);
		CHECK(own && own->nsample == ROUNDS * TIMES);
		CHECK_NEAR(own->mean, 80, 1e-6);
	}
	/* The regression has counted all of them, too. */
	unsigned sum = 0;
	for (unsigned e = 0; e < d->combs[0]->impls[0].nentries; e++)
		sum += d->combs[0]->impls[0].entries[e]->pub.nsample;
	CHECK(d->combs[0]->impls[0].reg.nsample == sum);
	orr_model_data_free(d);
	return 0;
}
