/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs tasks under whatever policy the environment names; the script of the same name builds
 * policies as shared objects and names them.
 *
 * Invariant: with an argument, the policy in use has that name. */
#include "core_test.h"

#include <string.h>

static int ran;
static struct starpu_codelet cl = { .cpu_funcs = { core_count_kernel } };

int main(int argc, char **argv)
{
	struct starpu_conf conf;

	CHECK_IS(starpu_conf_init(&conf), 0);
	conf.ncpus = 2;
	if (starpu_init(&conf))
		return 3;
	if (argc > 1)
		CHECK(!strcmp(starpu_sched_get_sched_policy()->policy_name, argv[1]));
	for (int i = 0; i < 100; i++)
		CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran), 0), 0);
	starpu_task_wait_for_all();
	CHECK_IS(ran, 100);
	starpu_shutdown();
	return 0;
}
