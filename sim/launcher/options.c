/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The launcher's options (options.def) and the variables that it reads.
 *
 * Invariant: every option is checked here, before anything is loaded, and the compiler complains
 * about an option of the table that options_set does not know. */
#include "launcher.h"
#include "base/private.h"
#include "run/sim_dyn.h"
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum option_id {
#define OPTION(id, ...) OPTION_##id,
#include "options.def"
	NOPTIONS
};
enum option_handler { HANDLER_LAUNCHER, HANDLER_WRAPPER };
enum option_kind {
	KIND_FLAG,
	KIND_TEXT,
	KIND_OUTPUT,
	KIND_CHOICE,
	KIND_WHOLE,
	KIND_NUMBER,
	KIND_FACTOR
};

struct option_row {
	const char *name;
	enum option_handler handler;
	enum option_kind kind;
	double least, most;
	const char *value, *what, *help;
};

static const struct option_row options_table[NOPTIONS] = {
#define OPTION(id, name, handler, kind, least, most, value, what, help) \
	[OPTION_##id] = { name, HANDLER_##handler, KIND_##kind, least, most, value, what, help },
#include "options.def"
};

static const struct {
	const char *name;
	enum option_id id;
} options_aliases[] = {
#define OPTION(id, ...)
#define ALIAS(name, id) { name, OPTION_##id },
#include "options.def"
};

static const enum option_id cost_options[ORR_NCOSTS] = {
	[ORR_COST_SUBMIT] = OPTION_COST_SUBMIT,
	[ORR_COST_ACCESS] = OPTION_COST_ACCESS,
	[ORR_COST_FOREIGN] = OPTION_COST_FOREIGN,
	[ORR_COST_COMPLETE] = OPTION_COST_COMPLETE,
	[ORR_COST_DATUM] = OPTION_COST_DATUM,
	[ORR_COST_SCHED] = OPTION_COST_SCHED,
	[ORR_COST_RELOAD] = OPTION_COST_RELOAD,
	[ORR_COST_RELOAD_LARGE] = OPTION_COST_RELOAD_LARGE,
	[ORR_COST_MESSAGE] = OPTION_COST_MESSAGE,
	[ORR_COST_INTERRUPT] = OPTION_COST_INTERRUPT,
	[ORR_COST_WAKE] = OPTION_COST_WAKE,
	[ORR_COST_LOOK] = OPTION_COST_LOOK,
	[ORR_COST_PROFILE_SUBMIT] = OPTION_COST_PROFILE_SUBMIT,
	[ORR_COST_PROFILE] = OPTION_COST_PROFILE,
	[ORR_COST_SHARED] = OPTION_COST_SHARED,
	[ORR_COST_SHARED_DATUM] = OPTION_COST_SHARED_DATUM,
	[ORR_COST_SHARED_PROFILE] = OPTION_COST_SHARED_PROFILE,
	[ORR_COST_TURN] = OPTION_COST_TURN,
	[ORR_COST_BUFFER] = OPTION_COST_BUFFER,
};

_Static_assert(STARPU_MAXCPUS == 512, "options.def: the limit of --cpus");

static unsigned costs_given; /* bit i: the user decided on cost i */

int launcher_cost_given(int cost)
{
	return costs_given >> cost & 1;
}

/* ---- usage ---- */

#define USAGE_INDENT 23
#define USAGE_WIDTH 80

/* Prints the words of text in lines that begin at USAGE_INDENT, the first one at column. */
static void usage_wrap(const char *text, int column)
{
	int empty = 1;
	for (size_t n; *text; text += n + strspn(text + n, " ")) {
		n = strcspn(text, " ");
		if (column + !empty + (int) n > USAGE_WIDTH) {
			printf("\n");
			column = 0;
			empty = 1;
		}
		column += printf("%*s%.*s", column ? !empty : USAGE_INDENT, "", (int) n, text);
		empty = 0;
	}
	printf("\n");
}

/* Prints the name and the value of an option, in as many lines as its choices need. Returns the
 * column behind it. */
static int usage_head(const struct option_row *o)
{
	const char *value = o->value;
	int column = printf(o->kind == KIND_FACTOR ? "  %s[=" : "  %s ", o->name), first = column;
	for (size_t n; n = strcspn(value, "|"), n += value[n] == '|', *value; value += n) {
		if (column + (int) n > USAGE_WIDTH)
			column = printf("\n%*s", first, "") - 1;
		column += printf("%.*s", (int) n, value);
	}
	return column + (o->kind == KIND_FACTOR ? printf("]") : 0);
}

static void usage_print(void)
{
	printf("usage: orrery-sim-launcher -n N [options] PROGRAM.sim [ARGS]\n");
	for (int i = 0; i < NOPTIONS; i++) {
		const struct option_row *o = &options_table[i];
		if (o->handler != HANDLER_LAUNCHER)
			continue;
		int column = usage_head(o);
		if (column > USAGE_INDENT - 2) {
			printf("\n");
			column = 0;
		}
		column += printf("%*s", USAGE_INDENT - column, "");
		usage_wrap(o->help, column);
	}
}

/* ---- values ---- */

/* Fails with what the option expects. */
static void options_refuse(const struct option_row *o, const char *text) __attribute__((noreturn));
static void options_refuse(const struct option_row *o, const char *text)
{
	if (o->kind == KIND_WHOLE)
		launcher_fail("%s %s: expected %s between %.0f and %.0f", o->name, text, o->what,
			      o->least, o->most);
	if (o->kind == KIND_CHOICE)
		launcher_fail("%s %s: expected %s", o->name, text, o->what);
	if (isinf(o->most))
		launcher_fail("%s %s: expected %s, %g or more", o->name, text, o->what, o->least);
	launcher_fail("%s %s: expected %s between %g and %g", o->name, text, o->what, o->least,
		      o->most);
}

/* The place of text among the words of the option's value. */
static int options_choice(const struct option_row *o, const char *text)
{
	int place = 0;
	for (const char *word = o->value;; place++) {
		size_t length = strcspn(word, "|");
		if (strlen(text) == length && !strncmp(word, text, length))
			return place;
		if (!word[length])
			options_refuse(o, text);
		word += length + 1;
	}
}

/* The value of options that have a number or a choice, 0 for others. */
static double options_number(const struct option_row *o, const char *text)
{
	char *end = NULL;
	double v = 0;
	switch (o->kind) {
	case KIND_FLAG:
	case KIND_TEXT:
	case KIND_OUTPUT: return 0;
	case KIND_CHOICE: return options_choice(o, text);
	case KIND_WHOLE:
		if (*text >= '0' && *text <= '9')
			v = (double) strtoull(text, &end, 10);
		break;
	case KIND_NUMBER:
	case KIND_FACTOR: v = strtod(text, &end); break;
	}
	if (!end || end == text || *end || !(v >= o->least && v <= o->most) || isinf(v))
		options_refuse(o, text);
	return v;
}

/* ---- setting them ---- */

static void options_set_cost(enum option_id id, double us)
{
	for (int i = 0; i < ORR_NCOSTS; i++) {
		if (cost_options[i] != id)
			continue;
		orr_sim.costs[i] = us;
		costs_given |= 1u << i;
	}
}

static void options_settle_channels(void)
{
	if (orr_sim.channels && orr_sim.network != ORR_SIM_QUEUE)
		launcher_fail("--channels is about --network queue; add that or leave it out");
	if (!orr_sim.channels)
		orr_sim.channels = 1;
}

/* (smpi has other actors, which are chosen before the platform is known.) */
void launcher_options_network(const struct launcher_options *o, const char *name)
{
	if (!name || o->network_given)
		return;
	for (int i = 0; i < ORR_SIM_NNETWORKS; i++)
		if (i != ORR_SIM_SMPI && !strcmp(name, orr_sim_network_names[i])) {
			orr_sim.network = (enum orr_sim_network) i;
			return;
		}
	launcher_fail(
		"--platform %s: the property network of its first host is `%s'; it can be share, maxmin, queue or tcp",
		o->platform, name);
}

/* An elastic run has all its hosts from the start. */
static void options_settle_elastic(struct launcher_options *o)
{
	if (!orr_sim_dyn.on && (o->max || orr_sim_dyn.scenario))
		launcher_fail("--max and --scenario are about elastic runs; add --elastic");
	if (o->max && o->max < o->n)
		launcher_fail("--max %d is less than the %d processes that -n asks for", o->max,
			      o->n);
	orr_sim_dyn.n = o->n;
	if (o->max)
		o->n = o->max;
}

static void options_set(struct launcher_options *o, enum option_id id, const char *text)
{
	static const enum orr_sim_kernels modes[] = { ORR_SIM_RUN, ORR_SIM_SKIP, ORR_SIM_INJECT };
	static const enum orr_sim_network networks[] = { ORR_SIM_SHARE, ORR_SIM_MAXMIN,
							 ORR_SIM_QUEUE, ORR_SIM_SMPI, ORR_SIM_TCP };
	double v = options_number(&options_table[id], text);
	switch (id) {
	case OPTION_NODES: o->n = (int) v; break;
	case OPTION_PLATFORM: o->platform = text; break;
	case OPTION_LIKE: o->like = text; break;
	case OPTION_MACHINE: o->machine = text; break;
	case OPTION_MACHINE_PATH: o->machine_path = text; break;
	case OPTION_NETWORK:
		orr_sim.network = networks[(int) v];
		o->network_given = 1;
		break;
	case OPTION_CHANNELS: orr_sim.channels = (int) v; break;
	case OPTION_CPUS: o->cpus = (int) v; break;
	case OPTION_KERNELS: orr_sim.kernels = modes[(int) v]; break;
	case OPTION_CUDA_FROM_MODEL: orr_sim.cuda_from_model = v == 0; break;
	case OPTION_BOUND: orr_sim.bound = 1; break;
	case OPTION_QUIET: orr_sim.quiet = 1; break;
	case OPTION_STATS: orr_sim.stats_file = text; break;
	case OPTION_REPORT: orr_sim.report_file = text; break;
	case OPTION_COST_SUBMIT:
	case OPTION_COST_ACCESS:
	case OPTION_COST_FOREIGN:
	case OPTION_COST_COMPLETE:
	case OPTION_COST_DATUM:
	case OPTION_COST_SCHED:
	case OPTION_COST_RELOAD:
	case OPTION_COST_RELOAD_LARGE:
	case OPTION_COST_MESSAGE:
	case OPTION_COST_INTERRUPT:
	case OPTION_COST_WAKE:
	case OPTION_COST_LOOK:
	case OPTION_COST_PROFILE_SUBMIT:
	case OPTION_COST_PROFILE:
	case OPTION_COST_SHARED:
	case OPTION_COST_SHARED_DATUM:
	case OPTION_COST_SHARED_PROFILE: options_set_cost(id, v); break;
	case OPTION_COST_TURN:
	case OPTION_COST_BUFFER: options_set_cost(id, v); break;
	case OPTION_QUANTUM: orr_sim_quantum_us = v; break;
	case OPTION_NOISE: o->noise_factor = v; break;
	case OPTION_NOISE_DEFAULT: orr_sim.noise.unmeasured = v / 100; break;
	case OPTION_SPEED_SPREAD: orr_sim.noise.nodes = v / 100; break;
	case OPTION_WORKER_SPREAD: orr_sim.noise.workers = v / 100; break;
	case OPTION_BACKGROUND_LOAD: orr_sim.noise.load = v / 100; break;
	case OPTION_BACKGROUND_PERIOD: orr_sim.noise.period_us = v; break;
	case OPTION_SEED:
		orr_sim.noise.seed = (uint64_t) v;
		o->seed_given = 1;
		break;
	case OPTION_ELASTIC: orr_sim_dyn.on = 1; break;
	case OPTION_MAX: o->max = (int) v; break;
	case OPTION_SCENARIO: orr_sim_dyn.scenario = text; break;
	case OPTION_COST_REQUEST: orr_sim_dyn.us[ORR_SIM_DYN_REQUEST] = v; break;
	case OPTION_COST_START: orr_sim_dyn.us[ORR_SIM_DYN_START] = v; break;
	case OPTION_COST_START_EACH: orr_sim_dyn.us[ORR_SIM_DYN_EACH] = v; break;
	case OPTION_COST_LEAVE: orr_sim_dyn.us[ORR_SIM_DYN_LEAVE] = v; break;
	case OPTION_COST_SWITCH: orr_sim.switch_us = v; break;
	case OPTION_COST_BEGIN: orr_sim.begin_us = v; break;
	case OPTION_COST_JOIN: orr_sim_dyn.us[ORR_SIM_DYN_JOIN] = v; break;
	case OPTION_STACK: o->stack_kib = (long) v; break;
	case OPTION_MEMORY: o->memory_mib = v; break;
	case OPTION_YIELDS:
		orr_sim.yields = (uint64_t) v;
		orr_sim_quantum_us = -1; /* each settlement is a chance to yield */
		break;
	case OPTION_COLLECTIVES: o->mpich = v > 0; break;
	case OPTION_CFG: o->cfg[o->ncfg++] = text; break;
	case OPTION_ESTIMATE:
	case OPTION_REPEAT:
	case OPTION_JOBS:
	case OPTION_FAIL:
	case OPTION_MTBF:
	case OPTION_RESTART_DELAY:
	case OPTION_RESTARTS:
	case OPTION_SHOW:
	case OPTION_MASTER_SLAVE:
	case OPTION_STATISTICS:
	case OPTION_TRACE:
	case OPTION_TRACE_LIMIT:
	case OPTION_TRACE_RANKS:
	case OPTION_TRACE_WINDOW:
	case OPTION_TRACE_KINDS:
	case OPTION_FAKE_RANK:
	case OPTION_FAKE_SIZE:
	case OPTION_FAKE_PEERS:
	case NOPTIONS: break; /* options_find does not return these */
	}
}

/* ---- variables ---- */

static void options_default_costs(void)
{
	static const double us[ORR_NCOSTS] = {
		[ORR_COST_SUBMIT] = 0.5,   [ORR_COST_FOREIGN] = 0.04,
		[ORR_COST_COMPLETE] = 0.3, [ORR_COST_SCHED] = 0.2,
		[ORR_COST_MESSAGE] = 0.5,  [ORR_COST_BUFFER] = (1 << 20) / ORR_SIM_COPY_MBS,
	};
	memcpy(orr_sim.costs, us, sizeof(us));
}

/* A switch, on unless the variable says otherwise. */
static int variable_is_on(const char *name)
{
	static const char *const words[] = { "0", "1", "no", "yes", "false", "true", "off", "on" };
	const char *value = getenv(name);
	if (!value)
		return 1;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(value, words[i]))
			return (int) (i & 1);
	launcher_fail(
		"environment variable %s has the value \"%s\": it takes 0, 1, no, yes, off, on, false or true; unset or correct it",
		name, value);
}

/* Sets a cost to 0 when the variable is 0, unless an option gave it. */
static void variable_drops_cost(const char *name, enum orr_cost cost)
{
	if (variable_is_on(name) || launcher_cost_given(cost))
		return;
	orr_sim.costs[cost] = 0;
	costs_given |= 1u << cost;
}

double launcher_variable_whole(const char *name, double least, double most, double without)
{
	const char *value = getenv(name);
	const struct option_row variable = {
		.name = name,
		.kind = KIND_WHOLE,
		.least = least,
		.most = most,
		.what = "a whole number",
	};
	return value && *value ? options_number(&variable, value) : without;
}

static void options_read_environment(void)
{
	orr_sim.transfer_cost = variable_is_on("STARPU_SIMGRID_TRANSFER_COST");
	orr_sim.alloc_cost = variable_is_on("STARPU_SIMGRID_CUDA_MALLOC_COST");
	variable_drops_cost("STARPU_SIMGRID_TASK_SUBMIT_COST", ORR_COST_SUBMIT);
	variable_drops_cost("STARPU_SIMGRID_TASK_SUBMIT_COST", ORR_COST_FOREIGN);
	variable_drops_cost("STARPU_SIMGRID_TASK_PUSH_COST", ORR_COST_SCHED);
	variable_drops_cost("STARPU_SIMGRID_FETCHING_INPUT_COST", ORR_COST_DATUM);
	if (!variable_is_on("ORR_SIM_COSTS")) {
		memset(orr_sim.costs, 0, sizeof(orr_sim.costs));
		costs_given = ~0u;
	}
	orr_sim.fold_bytes =
		(size_t) launcher_variable_whole("STARPU_MALLOC_SIMULATION_FOLD", 1, 1 << 20, 1)
		<< 20;
}

/* ---- the command line ---- */

/* The option of ours with the name that word begins with, up to an equals sign. */
static enum option_id options_find(const char *word)
{
	size_t length = word[1] == '-' ? strcspn(word, "=") : strlen(word);
	for (int i = 0; i < NOPTIONS; i++)
		if (options_table[i].handler == HANDLER_LAUNCHER &&
		    strlen(options_table[i].name) == length &&
		    !strncmp(options_table[i].name, word, length))
			return (enum option_id) i;
	for (size_t i = 0; i < sizeof(options_aliases) / sizeof(*options_aliases); i++)
		if (!strcmp(options_aliases[i].name, word))
			return options_aliases[i].id;
	launcher_fail("unknown option %.*s; see --help", (int) length, word);
}

/* Reads the option in argv[i] and its value. Returns the place of the next word. */
static int options_read_one(struct launcher_options *o, char **argv, int i)
{
	const enum option_id id = options_find(argv[i]);
	const struct option_row *row = &options_table[id];
	const char *equals = argv[i][1] == '-' ? strchr(argv[i], '=') : NULL;
	if (row->kind == KIND_FLAG && equals)
		launcher_fail("%s: %s takes no value", argv[i], row->name);
	if (row->kind == KIND_FLAG || (row->kind == KIND_FACTOR && !equals)) {
		options_set(o, id, "1");
		return i + 1;
	}
	if (equals) {
		options_set(o, id, equals + 1);
		return i + 1;
	}
	if (!argv[i + 1])
		launcher_fail("%s needs %s after it", argv[i], row->what);
	options_set(o, id, argv[i + 1]);
	return i + 2;
}

/* The file of an older run does not stay as if it were of this one. */
static void options_empty_file(const char *name, const char *path)
{
	struct stat st;
	if (!path || stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	int fd = orr_private_output(path, O_WRONLY | O_TRUNC);
	if (fd < 0)
		launcher_fail("%s %s: it cannot be written: %s; choose another place", name, path,
			      orr_private_why(fd));
	close(fd);
}

void launcher_options_read(struct launcher_options *o, int argc, char **argv)
{
	int i = 1;
	memset(o, 0, sizeof(*o));
	o->cfg = calloc((size_t) argc, sizeof(*o->cfg));
	if (!o->cfg)
		launcher_fail("out of memory");
	o->n = 1;
	o->noise_factor = -1;
	orr_sim.cuda_from_model = 1;
	orr_sim.network = ORR_SIM_SHARE;
	orr_sim.noise.period_us = 10000;
	options_default_costs();
	orr_sim_dyn.us[ORR_SIM_DYN_REQUEST] = 100;
	orr_sim_dyn.us[ORR_SIM_DYN_START] = 300000;
	orr_sim_dyn.us[ORR_SIM_DYN_LEAVE] = 250000;
	orr_sim_dyn.us[ORR_SIM_DYN_JOIN] = 90000;
	orr_sim.switch_us = 10000;
	orr_sim.begin_us = 20000;
	while (i < argc && argv[i][0] == '-') {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			usage_print();
			exit(0);
		}
		i = options_read_one(o, argv, i);
	}
	if (i >= argc)
		launcher_fail("no program given; usage: orrery sim -n N PROGRAM.sim [ARGS]");
	if (o->like && o->platform)
		launcher_fail(
			"--like %s and --platform %s exclude each other; `orrery platform --like %s` writes a platform with such a network",
			o->like, o->platform, o->like);
	options_settle_channels();
	options_settle_elastic(o);
	options_read_environment();
	launcher_noise_read(o);
	options_empty_file("--stats", orr_sim.stats_file);
	options_empty_file("--report", orr_sim.report_file);
	options_empty_file("ORRERY_STATISTICS", getenv("ORRERY_STATISTICS"));
	o->program = argv + i;
	o->nprogram = argc - i;
	orr_sim.progress = isatty(2);
}
