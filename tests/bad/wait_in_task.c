/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting in kernels and in callbacks of each kind: -EDEADLK in every form, and the program goes
 * on.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect starpu_task_wait_for_all called inside task or callback waiter
 * orr-test: expect starpu_tag_wait called inside
 * orr-test: expect synchronous submission from inside
 */
#include "bad_test.h"

static int answers[5], places;

static void wait_all_ways(void *arg)
{
	(void) arg;
	answers[0] = starpu_task_wait_for_all();
	answers[1] = starpu_task_wait_for_n_submitted(0);
	answers[2] = starpu_task_wait_for_no_ready();
	answers[3] = starpu_tag_wait(1);
	answers[4] = starpu_task_insert(&starpu_codelet_nop, STARPU_TASK_SYNCHRONOUS, 1, 0);
	for (int i = 0; i < 5; i++)
		if (answers[i] != -EDEADLK)
			exit(0);
	places++;
}

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	wait_all_ways(arg);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel }, .name = "waiter" };

int main(void)
{
	start();
	if (starpu_task_insert(&cl, STARPU_PROLOGUE_CALLBACK, wait_all_ways,
			       STARPU_PROLOGUE_CALLBACK_POP, wait_all_ways,
			       STARPU_EPILOGUE_CALLBACK, wait_all_ways, STARPU_CALLBACK,
			       wait_all_ways, 0))
		return 0;
	starpu_task_wait_for_all();
	if (places != 5)
		return 0;
	refused(answers[0], -EDEADLK);
}
