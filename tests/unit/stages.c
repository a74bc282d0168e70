/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env STARPU_NCPU=3 STARPU_WORKERS_NOBIND=1 STARPU_SCHED=lws
 * A start of which any stage fails leaves nothing behind: every stage that began has ended, later
 * ones never began, and no thread runs. The runtime starts again afterwards. (A build with the
 * address sanitizer sees whether memory is lost.)
 *
 * Invariant: the test calls the stages that starpu_init has, through functions that count; one of
 * them fails. */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "core/worker/core.h"
#include "data/data.h"
#include "lib/test.h"
#include "start/the_process.h"
#include "start/shared_conf.h"
#include "start/stages.h"

#define MOST 28

/* Threads that are there between two starts: the program's, and ThreadSanitizer's own. */
#ifdef __SANITIZE_THREAD__
#define REST 2
#else
#define REST 1
#endif

static int begun[MOST], ended[MOST];
static unsigned
	failing; /* the stage that fails; the number of stages: one more after all of them */

static int enter(struct orr_process *proc, unsigned i)
{
	if (i == failing)
		return -EIO;
	int ret = orr_stages[i].init(proc);
	CHECK(!ret, "stage %s: %d", orr_stages[i].name, ret);
	begun[i]++;
	return 0;
}

static void leave(struct orr_process *proc, unsigned i)
{
	CHECK(begun[i], "stage %s ends and never began", orr_stages[i].name);
	for (unsigned k = i + 1; k < MOST; k++)
		CHECK(begun[k] == ended[k], "stage %u ends before %u", i, k);
	orr_stages[i].exit(proc);
	ended[i]++;
}

/* A stage has no argument that says which one it is: a pair of functions for each. */
/* clang-format off */
#define STAGES(S) \
	S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10) S(11) \
	S(12) S(13) S(14) S(15) S(16) S(17) S(18) S(19) S(20) S(21) S(22) S(23) S(24) S(25) \
	S(26) S(27)
/* clang-format on */
#define FUNCTIONS(i) \
	static int enter_##i(struct orr_process *proc) \
	{ \
		return enter(proc, i); \
	} \
	static void leave_##i(struct orr_process *proc) \
	{ \
		leave(proc, i); \
	}
STAGES(FUNCTIONS)
#define ROW(i) { "stage " #i, enter_##i, leave_##i },
static const struct orr_stage counted[MOST + 1] = { STAGES(ROW) };

static unsigned nthreads(void)
{
	unsigned n = 0;
	DIR *d = opendir("/proc/self/task");

	CHECK(d);
	for (struct dirent *e = readdir(d); e; e = readdir(d))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void check_nothing_left(struct orr_process *proc)
{
	for (unsigned i = 0; i < MOST; i++)
		CHECK(begun[i] == ended[i] && begun[i] == (i < failing && i < orr_nstages),
		      "stage %u of %u began %d times and ended %d times, stage %u failed", i,
		      orr_nstages, begun[i], ended[i], failing);
	CHECK(!proc->core->workers && !proc->core->groups && !proc->core->nworkers);
	CHECK(!proc->ngroups && !proc->data->nmemnodes && !proc->perf && !proc->trace &&
	      !proc->sys);
	CHECK(!proc->core->nctxs && !proc->core->tags && !proc->core->combined);
	CHECK_IS(nthreads(), REST);
}

static void fail_at(struct orr_process *proc, unsigned stage)
{
	memset(begun, 0, sizeof(begun));
	memset(ended, 0, sizeof(ended));
	failing = stage;
	CHECK_IS(orr_conf_begin(proc, NULL), 0);
	proc->state = ORR_PROCESS_STARTING;
	CHECK_IS(orr_stages_enter(proc, counted, orr_nstages + (stage == orr_nstages)), -EIO);
	proc->state = ORR_PROCESS_DOWN;
	check_nothing_left(proc);
}

static void add_one(void *buffers[], void *arg)
{
	(void) buffers;
	__atomic_add_fetch((int *) arg, 1, __ATOMIC_RELAXED);
}

static void start_and_stop(void)
{
	struct starpu_codelet cl = { .cpu_funcs = { add_one } };
	int n = 0;

	CHECK_IS(starpu_init(NULL), 0);
	for (int i = 0; i < 50; i++)
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &n, sizeof(n), 0), 0);
	starpu_task_wait_for_all();
	CHECK_IS(n, 50);
	starpu_shutdown();
	CHECK_IS(nthreads(), REST);
}

int main(void)
{
	struct orr_process *proc = &orr_the_process;

	CHECK(orr_nstages < MOST, "make MOST larger: there are %u stages", orr_nstages);
	start_and_stop();
	for (unsigned stage = 0; stage <= orr_nstages; stage++) {
		fail_at(proc, stage);
		start_and_stop();
	}
	return 0;
}
