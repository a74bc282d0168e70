/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* starpu_sched_display: the scheduling policies that STARPU_SCHED may name.
 *
 * Invariant: it asks the library, so it lists what programs can use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu.h>
#include <starpu_scheduler.h>

static const char usage[] =
	"usage: starpu_sched_display [options] [POLICY...]\n"
	"Lists the scheduling policies and what they do, or only those that are named.\n"
	"  -n, --names     only the names\n"
	"  -h, --help      this text\n"
	"  -v, --version   version\n";

static int is_wanted(const char *name, int argc, char **argv)
{
	int named = 0;
	for (int i = 1; i < argc; i++) {
		if (*argv[i] == '-')
			continue;
		named = 1;
		if (!strcmp(argv[i], name))
			return 1;
	}
	return !named;
}

/* Fails for a name that no policy has. */
static void check_names(struct starpu_sched_policy **policies, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int found = *argv[i] == '-';
		for (int j = 0; policies[j]; j++)
			found |= !strcmp(policies[j]->policy_name, argv[i]);
		if (found)
			continue;
		fprintf(stderr,
			"starpu_sched_display: there is no policy %s; without names, all are listed\n",
			argv[i]);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct starpu_sched_policy **policies = starpu_sched_get_predefined_policies();
	int names = 0;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help")) {
			fputs(usage, stdout);
			return 0;
		}
		if (!strcmp(argv[i], "-v") || !strcmp(argv[i], "--version")) {
			printf("starpu_sched_display (Orrery %d.%d.%d)\n", STARPU_MAJOR_VERSION,
			       STARPU_MINOR_VERSION, STARPU_RELEASE_VERSION);
			return 0;
		}
		if (!strcmp(argv[i], "-n") || !strcmp(argv[i], "--names")) {
			names = 1;
		} else if (*argv[i] == '-') {
			fprintf(stderr,
				"starpu_sched_display: unknown option %s; see starpu_sched_display --help\n",
				argv[i]);
			return 2;
		}
	}
	check_names(policies, argc, argv);
	for (int i = 0; policies[i]; i++) {
		if (!is_wanted(policies[i]->policy_name, argc, argv))
			continue;
		if (names)
			puts(policies[i]->policy_name);
		else
			printf("%-16s %s\n", policies[i]->policy_name,
			       policies[i]->policy_description);
	}
	return fflush(stdout) ? 1 : 0;
}
