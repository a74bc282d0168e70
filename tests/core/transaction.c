/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transactions: epochs are decided when the one before is over, and before their first task begins;
 * tasks of cancelled epochs execute nothing, leave their data alone, and keep dependencies.
 *
 * Invariant: the value of the datum is that of a sequential run of the epochs that were not
 * cancelled. */
#include "core_test.h"

#define NEPOCHS 12
#define NTASKS 5

static int value, ncallbacks;
static int decided[NEPOCHS]; /* when each was decided: the value that the function saw, + 1 */

struct epoch {
	int id, start;
};
static struct epoch epochs[NEPOCHS];

static int do_start(void *buffer, void *arg)
{
	struct epoch *e = arg;

	(void) buffer;
	CHECK_IS(LOAD(decided[e->id]), 0);
	STORE(decided[e->id], value + 1);
	return e->start;
}

/* Multiplies and adds: the order of tasks shows. */
static void step(void *buffers[], void *arg)
{
	int *x = core_int(buffers[0]), k;

	starpu_codelet_unpack_args(arg, &k);
	*x = (*x * 3 + k) % 1000003;
}

static struct starpu_codelet step_cl = { .cpu_funcs = { step },
					 .nbuffers = STARPU_VARIABLE_NBUFFERS };
static struct starpu_codelet set_cl = { .cpu_funcs = { step },
					.nbuffers = 1,
					.modes = { STARPU_W } };

static void callback(void *arg)
{
	(void) arg;
	INCR(ncallbacks);
}

static void submit_epoch(struct starpu_transaction *trs, starpu_data_handle_t h, int id)
{
	for (int i = 0; i < NTASKS; i++) {
		int k = id * NTASKS + i;

		OK(starpu_task_insert(&step_cl, STARPU_RW, h, STARPU_VALUE, &k, sizeof(k),
				      STARPU_TRANSACTION, trs, STARPU_CALLBACK, callback, 0));
	}
}

static void check(unsigned mask)
{
	int expected = 1;

	for (int id = 0; id < NEPOCHS; id++) {
		CHECK_IS(decided[id], expected + 1);
		for (int i = 0; i < NTASKS && (mask >> id & 1); i++)
			expected = (expected * 3 + id * NTASKS + i) % 1000003;
	}
	CHECK_IS(value, expected);
	CHECK_IS(ncallbacks, NEPOCHS * NTASKS);
}

/* mask: the epochs that start. pause: everything is submitted before anything runs. */
static void run(unsigned mask, int pause)
{
	starpu_data_handle_t h;
	struct starpu_transaction *trs;

	value = 1;
	ncallbacks = 0;
	for (int id = 0; id < NEPOCHS; id++) {
		epochs[id] = (struct epoch){ id, (int) (mask >> id & 1) };
		decided[id] = 0;
	}
	h = core_register(&value);
	if (pause)
		starpu_pause();
	trs = starpu_transaction_open(do_start, &epochs[0]);
	CHECK(trs != NULL);
	for (int id = 0; id < NEPOCHS; id++) {
		if (id)
			starpu_transaction_next_epoch(trs, &epochs[id]);
		submit_epoch(trs, h, id);
	}
	starpu_transaction_close(trs);
	if (pause)
		starpu_resume();
	starpu_data_unregister(h);
	OK(starpu_task_wait_for_all());
	check(mask);
}

static int never(void *buffer, void *arg)
{
	(void) buffer;
	INCR(*(int *) arg);
	return 0;
}

/* Epochs without tasks; a cancelled task that would have replaced the value; the field. */
static void corners(void)
{
	int n = 0, k = 7;
	starpu_data_handle_t h;
	struct starpu_transaction *trs = starpu_transaction_open(never, &n);

	starpu_transaction_next_epoch(trs, &n);
	starpu_transaction_next_epoch(trs, &n);
	value = 5;
	h = core_register(&value);
	OK(starpu_task_insert(&set_cl, STARPU_W, h, STARPU_VALUE, &k, sizeof(k), STARPU_TRANSACTION,
			      trs, 0));
	starpu_transaction_close(trs);
	OK(starpu_data_acquire(h, STARPU_R));
	CHECK_IS(value, 5);
	starpu_data_release(h);
	starpu_data_unregister(h);
	OK(starpu_task_wait_for_all());
	CHECK_IS(n, 3);
}

int main(void)
{
	CHECK(!starpu_transaction_open(never, NULL));
	core_start(3, NULL);
	for (int pause = 0; pause < 2; pause++) {
		run(0xfff, pause);
		run(0, pause);
		run(0x5a3, pause);
		run(0xa5c, pause);
	}
	corners();
	CHECK(!starpu_transaction_open(NULL, NULL));
	starpu_shutdown();
	return 0;
}
