/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tags whose dependencies are over before they are given their tasks, as by a program that declares
 * all dependencies first: what depends on them, directly and through tags without tasks, waits for
 * the tasks all the same. What has no tasks at all fires by itself.
 *
 * Invariant: each task comes after those that its tag depends on. */
#include <starpu.h>
#include "lib/test.h"

#define CHAIN 20000

static int over[4]; /* atomic: of tasks A to D */

static void run(void *buffers[], void *arg)
{
	int me = (int) (intptr_t) arg;

	(void) buffers;
	for (int i = 0; i < me; i++)
		CHECK(__atomic_load_n(&over[i], __ATOMIC_ACQUIRE));
	starpu_sleep(0.02);
	__atomic_store_n(&over[me], 1, __ATOMIC_RELEASE);
}

static struct starpu_codelet cl = { .cpu_funcs = { run }, .name = "run" };

static void submit(int which, starpu_tag_t tag)
{
	OK(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, (void *) (intptr_t) which, sizeof(int),
			      STARPU_TAG, tag, 0));
}

/* D after C, C after B through tags without tasks, B after A. A is over, and so far as anybody
 * knows all the others, when B is submitted. */
static void given_later(starpu_tag_t base, unsigned length)
{
	starpu_tag_t a = base, b = base + 1, c = base + 2, d = base + 3, other = base + 4,
		     chain = base + 5;

	for (int i = 0; i < 4; i++)
		over[i] = 0;
	starpu_tag_declare_deps(b, 1, a);
	starpu_tag_declare_deps(chain, 2, b, other);
	for (unsigned i = 1; i < length; i++)
		starpu_tag_declare_deps(chain + i, 1, chain + i - 1);
	starpu_tag_declare_deps(c, 1, chain + length - 1);
	starpu_tag_declare_deps(d, 1, c);
	starpu_tag_notify_from_apps(other);
	submit(0, a);
	OK(starpu_tag_wait(a));
	OK(starpu_tag_wait(d)); /* it fired by itself */
	submit(1, b);
	submit(2, c);
	submit(3, d);
	OK(starpu_tag_wait(d));
	for (int i = 0; i < 4; i++)
		CHECK_IS(over[i], 1);
	OK(starpu_task_wait_for_all());
}

/* A tag that the program fired itself stays fired. */
static void by_the_program(starpu_tag_t base)
{
	over[0] = over[1] = over[2] = over[3] = 0;
	starpu_tag_declare_deps(base + 1, 1, base);
	starpu_tag_declare_deps(base + 2, 1, base + 1);
	starpu_tag_notify_from_apps(base + 1);
	submit(0, base + 2);
	OK(starpu_tag_wait(base + 2));
	submit(0, base);
	OK(starpu_task_wait_for_all());
}

int main(void)
{
	struct starpu_conf conf;

	starpu_conf_init(&conf);
	conf.ncpus = 4;
	OK(starpu_init(&conf));
	given_later(100, 1);
	given_later(200, 3);
	given_later(1000, CHAIN);
	by_the_program(50);
	starpu_shutdown();
	return 0;
}
