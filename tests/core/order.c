/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implicit dependencies against an oracle: random tasks that read and write several data, under
 * each policy.
 *
 * Each datum holds a version. Invariant: a kernel finds, for each of its data, the version that
 * executing the tasks one after the other in the order of submission would give; readers of one
 * version may run together, writers never; commutative writers find a version between those of
 * their group, and none of them is lost. */
#include "core_test.h"

#define NDATA 12
#define NTASKS 1500
#define MAXD 4

enum { READ, WRITE, COMMUTE };

struct use {
	int datum, kind, from, to; /* versions that it may find: [from, to] */
};

struct job {
	int n;
	struct use use[MAXD];
};

static struct job jobs[NTASKS];
static int value[NDATA], readers[NDATA], writers[NDATA], ran;
static unsigned seed;

static unsigned rnd(unsigned n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 12) % n;
}

static void enter(const struct use *u)
{
	if (u->kind == READ) {
		INCR(readers[u->datum]);
		CHECK_IS(LOAD(writers[u->datum]), 0);
	} else {
		CHECK_IS(INCR(writers[u->datum]), 1);
		CHECK_IS(LOAD(readers[u->datum]), 0);
	}
}

static void leave(const struct use *u)
{
	__atomic_sub_fetch(u->kind == READ ? &readers[u->datum] : &writers[u->datum], 1,
			   __ATOMIC_ACQ_REL);
}

static void kernel(void *buffers[], void *arg)
{
	struct job *job = arg;

	for (int i = 0; i < job->n; i++) {
		struct use *u = &job->use[i];

		enter(u);
		CHECK(*core_int(buffers[i]) >= u->from && *core_int(buffers[i]) <= u->to);
	}
	for (int i = 0; i < job->n; i++) {
		if (job->use[i].kind != READ)
			++*core_int(buffers[i]);
		leave(&job->use[i]);
	}
	INCR(ran);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel },
				    .nbuffers = STARPU_VARIABLE_NBUFFERS,
				    .name = "job" };

/* The oracle: versions, and for each datum the group of commuting writers that is open. */
static void generate(void)
{
	int version[NDATA] = { 0 }, group[NDATA], last[NDATA], i, k, j;
	static int member[NDATA][NTASKS], where[NDATA][NTASKS], nmember[NDATA];

	for (i = 0; i < NDATA; i++) {
		group[i] = 0;
		last[i] = READ;
		nmember[i] = 0;
	}
	for (i = 0; i < NTASKS; i++) {
		struct job *job = &jobs[i];
		unsigned used = 0;

		job->n = 1 + (int) rnd(MAXD);
		for (k = 0; k < job->n; k++) {
			struct use *u = &job->use[k];
			int d;

			do
				d = (int) rnd(NDATA);
			while (used & (1u << d));
			used |= 1u << d;
			u->datum = d;
			u->kind = rnd(3) == 0 ? (rnd(2) ? WRITE : COMMUTE) : READ;
			if (rnd(4) == 0)
				u->kind = COMMUTE;
			if (u->kind == COMMUTE && last[d] != COMMUTE) {
				group[d] = version[d];
				nmember[d] = 0;
			}
			u->from = u->to = version[d];
			if (u->kind == COMMUTE) {
				u->from = group[d];
				member[d][nmember[d]] = i;
				where[d][nmember[d]++] = k;
				for (j = 0; j < nmember[d]; j++)
					jobs[member[d][j]].use[where[d][j]].to = version[d];
			}
			if (u->kind != READ)
				version[d]++;
			last[d] = u->kind;
		}
	}
	for (i = 0; i < NDATA; i++)
		value[i] = version[i];
}

static void run(const char *policy, int workers, unsigned start)
{
	static const enum starpu_data_access_mode modes[] = { STARPU_R, STARPU_RW,
							      STARPU_RW | STARPU_COMMUTE };
	starpu_data_handle_t h[NDATA];
	int data[NDATA] = { 0 }, i, k;

	seed = start;
	ran = 0;
	generate();
	core_start(workers, policy);
	for (i = 0; i < NDATA; i++)
		h[i] = core_register(&data[i]);
	for (i = 0; i < NTASKS; i++) {
		struct starpu_task *task = starpu_task_create();

		task->cl = &cl;
		task->cl_arg = &jobs[i];
		task->nbuffers = jobs[i].n;
		for (k = 0; k < jobs[i].n; k++) {
			task->handles[k] = h[jobs[i].use[k].datum];
			task->modes[k] = modes[jobs[i].use[k].kind];
		}
		task->priority = (int) rnd(5) - 2;
		CHECK_IS(starpu_task_submit(task), 0);
	}
	for (i = 0; i < NDATA; i++)
		starpu_data_unregister(h[i]);
	CHECK_IS(ran, NTASKS);
	for (i = 0; i < NDATA; i++)
		CHECK_IS(data[i], value[i]);
	starpu_shutdown();
}

int main(void)
{
	static const char *const policies[] = { NULL,        "eager",  "prio",       "lws",
						"ws",        "random", "dm",         "dmdap",
						"dmdas",     "dmdasd", "heteroprio", "peager",
						"graph_test" };

	for (unsigned i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		for (unsigned w = 1; w <= 4; w++)
			run(policies[i], (int) w, 7 * i + w);
	return 0;
}
