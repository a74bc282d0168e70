/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The launcher's options and the variables that it reads.
 *
 * Invariant: every option is checked here, before anything is loaded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "launcher.h"

static const char usage[] =
	"usage: orrery-sim-launcher -n N [options] PROGRAM.sim [ARGS]\n"
	"  -n N                 nodes\n"
	"  --platform FILE.xml  SimGrid platform, hosts in order are the nodes (default: a cluster of N nodes)\n"
	"  --machine NAME       what is inside a node, by name or path, unless its host has the property `machine`;\n"
	"                       NAME,NAME,...: of the nodes in turn\n"
	"  --machine-path DIRS  where machines are looked for, separated by colons\n"
	"  --cpus K             cores of a node (default: the machine's); each GPU takes one to drive it, and on\n"
	"                       machines with GPUs the progression of messages takes another\n"
	"  --cuda-from-model yes|no\n"
	"                       codelets without function for CUDA run on simulated GPUs that their performance\n"
	"                       model knows, where their function for the CPU computes the result (default: yes)\n"
	"  --kernels MODE       run (default), skip or inject\n"
	"  --bound              lower bounds on the time that the tasks take, next to the time\n"
	"  --stats FILE.csv     bytes and messages per pair of nodes\n"
	"  --report FILE.json   the summary for programs\n"
	"  --cost-submit US, --cost-access US, --cost-foreign US, --cost-complete US, --cost-datum US, --cost-sched US,\n"
	"  --cost-message US, --cost-interrupt US, --cost-wake US, --cost-look US\n"
	"                       virtual cost of what the runtime does, in microseconds (default: what was\n"
	"                       measured on the machine; ORR_SIM_COSTS=0: all 0)\n"
	"  --noise[=FACTOR]     durations of kernels vary as much as was measured, times FACTOR (default: not at all)\n"
	"  --noise-default PERCENT\n"
	"                       deviation of kernels of which none was measured (default 0; implies --noise)\n"
	"  --speed-spread PERCENT, --worker-spread PERCENT\n"
	"                       deviation of the constant factors by which nodes, and workers, are slower or faster\n"
	"  --background-load PERCENT\n"
	"                       bandwidth that others take on each link on average (0 to 90)\n"
	"  --background-period US\n"
	"                       for so long a link keeps the share that was drawn for it (default 10000)\n"
	"  --seed S             of all of these, and of the runtime unless STARPU_RAND_SEED is set (default 0)\n"
	"  --quantum US         smallest charge of such costs that is slept (default 1)\n"
	"  --stack KIB          stack of the program's main\n"
	"  --cfg=KEY:VALUE      a setting of SimGrid\n";

static const char *const cost_options[ORR_NCOSTS] = {
	[ORR_COST_SUBMIT] = "--cost-submit",   [ORR_COST_ACCESS] = "--cost-access",
	[ORR_COST_FOREIGN] = "--cost-foreign", [ORR_COST_COMPLETE] = "--cost-complete",
	[ORR_COST_DATUM] = "--cost-datum",     [ORR_COST_SCHED] = "--cost-sched",
	[ORR_COST_MESSAGE] = "--cost-message", [ORR_COST_INTERRUPT] = "--cost-interrupt",
	[ORR_COST_WAKE] = "--cost-wake",       [ORR_COST_LOOK] = "--cost-look",
};

static unsigned costs_given; /* bit i: the user decided on cost i */

int launcher_cost_given(int cost)
{
	return costs_given >> cost & 1;
}

static long positive(const char *name, const char *value, long max)
{
	char *end;
	long v = strtol(value, &end, 10);
	if (end == value || *end || v < 1 || v > max)
		launcher_fail("%s %s: expected a whole number between 1 and %ld", name, value, max);
	return v;
}

static double microseconds(const char *name, const char *value)
{
	char *end;
	double v = strtod(value, &end);
	if (end == value || *end || !(v >= 0) || isinf(v))
		launcher_fail("%s %s: expected a number of microseconds, 0 or more", name, value);
	return v;
}

static int is_cost(const char *name, const char *value)
{
	for (int i = 0; i < ORR_NCOSTS; i++) {
		if (strcmp(name, cost_options[i]))
			continue;
		orr_sim.costs[i] = microseconds(name, value);
		costs_given |= 1u << i;
		return 1;
	}
	return 0;
}

static enum orr_sim_kernels kernel_mode(const char *value)
{
	if (!strcmp(value, "run"))
		return ORR_SIM_RUN;
	if (!strcmp(value, "skip"))
		return ORR_SIM_SKIP;
	if (!strcmp(value, "inject"))
		return ORR_SIM_INJECT;
	launcher_fail("--kernels %s: there are run, skip and inject", value);
}

static int yes_or_no(const char *name, const char *value)
{
	if (strcmp(value, "yes") && strcmp(value, "no"))
		launcher_fail("%s %s: it takes yes or no", name, value);
	return !strcmp(value, "yes");
}

static void set_option(struct launcher_options *o, const char *name, const char *value)
{
	if (!strcmp(name, "-n") || !strcmp(name, "-np"))
		o->n = (int) positive(name, value, 1000000);
	else if (!strcmp(name, "--platform"))
		o->platform = value;
	else if (!strcmp(name, "--machine"))
		o->machine = value;
	else if (!strcmp(name, "--machine-path"))
		o->machine_path = value;
	else if (!strcmp(name, "--cuda-from-model"))
		orr_sim.cuda_from_model = yes_or_no(name, value);
	else if (!strcmp(name, "--kernels"))
		orr_sim.kernels = kernel_mode(value);
	else if (!strcmp(name, "--stats"))
		orr_sim.stats_file = value;
	else if (!strcmp(name, "--report"))
		orr_sim.report_file = value;
	else if (!strcmp(name, "--cpus"))
		o->cpus = (int) positive(name, value, STARPU_MAXCPUS);
	else if (!strcmp(name, "--stack"))
		o->stack_kib = positive(name, value, 1L << 21);
	else if (!strcmp(name, "--quantum"))
		orr_sim_quantum_us = microseconds(name, value);
	else if (!strcmp(name, "--cfg"))
		o->cfg[o->ncfg++] = value;
	else if (!is_cost(name, value) && !launcher_noise_option(name, value))
		launcher_fail("unknown option %s; see --help", name);
}

static void default_costs(void)
{
	static const double us[ORR_NCOSTS] = {
		[ORR_COST_SUBMIT] = 0.5, [ORR_COST_FOREIGN] = 0.04, [ORR_COST_COMPLETE] = 0.3,
		[ORR_COST_SCHED] = 0.2,  [ORR_COST_MESSAGE] = 0.5,
	};
	memcpy(orr_sim.costs, us, sizeof(us));
}

static int counts(const char *name)
{
	const char *value = getenv(name);
	return !value || strcmp(value, "0");
}

/* A cost that no option gave is left out when its variable is 0. */
static void maybe_drop(const char *name, enum orr_cost cost)
{
	if (counts(name) || (costs_given >> cost & 1))
		return;
	orr_sim.costs[cost] = 0;
	costs_given |= 1u << cost;
}

static void read_environment(void)
{
	orr_sim.transfer_cost = counts("STARPU_SIMGRID_TRANSFER_COST");
	orr_sim.alloc_cost = counts("STARPU_SIMGRID_CUDA_MALLOC_COST");
	maybe_drop("STARPU_SIMGRID_TASK_SUBMIT_COST", ORR_COST_SUBMIT);
	maybe_drop("STARPU_SIMGRID_TASK_SUBMIT_COST", ORR_COST_FOREIGN);
	maybe_drop("STARPU_SIMGRID_TASK_PUSH_COST", ORR_COST_SCHED);
	maybe_drop("STARPU_SIMGRID_FETCHING_INPUT_COST", ORR_COST_DATUM);
	const char *costs = getenv("ORR_SIM_COSTS"),
		   *fold = getenv("STARPU_MALLOC_SIMULATION_FOLD");
	if (costs && !strcmp(costs, "0")) {
		memset(orr_sim.costs, 0, sizeof(orr_sim.costs));
		costs_given = ~0u;
	}
	orr_sim.fold_bytes = (size_t) (fold && *fold ? positive("STARPU_MALLOC_SIMULATION_FOLD",
								fold, 1L << 20)
						     : 1)
			     << 20;
}

void launcher_options_read(struct launcher_options *o, int argc, char **argv)
{
	int i = 1;
	memset(o, 0, sizeof(*o));
	o->cfg = calloc((size_t) argc, sizeof(*o->cfg));
	if (!o->cfg)
		launcher_fail("out of memory");
	o->n = 1;
	orr_sim.cuda_from_model = 1;
	orr_sim.noise.period_us = 10000;
	default_costs();
	for (; i < argc && argv[i][0] == '-'; i++) {
		char *equals = strchr(argv[i], '='), *name = argv[i];
		if (!strcmp(name, "--")) {
			i++;
			break;
		}
		if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
			fputs(usage, stdout);
			exit(0);
		}
		if (!strcmp(name, "--bound")) {
			orr_sim.bound = 1;
			continue;
		}
		if (equals && name[1] == '-') {
			*equals = 0;
			set_option(o, name, equals + 1);
		} else if (!strcmp(name, "--noise")) {
			set_option(o, name, "1");
		} else if (i + 1 < argc) {
			set_option(o, name, argv[++i]);
		} else {
			launcher_fail("%s needs a value after it; see --help", name);
		}
	}
	if (i >= argc)
		launcher_fail("no program given; usage: orrery sim -n N PROGRAM.sim [ARGS]");
	read_environment();
	launcher_noise_read();
	o->program = argv + i;
	o->nprogram = argc - i;
	orr_sim.progress = isatty(2);
}
