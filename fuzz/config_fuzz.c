/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The environment: lines "NAME=VALUE" of the input become variables, a line "@UNITS RANK" the size
 * of the machine and the rank. Whatever they say, the configuration is refused with one message
 * that names a variable or all of it is within bounds, and so are the lists of units to bind to and
 * the name of the machine. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/ids.h"
#include "base/config.h"
#include "core/worker/core.h"
#include "fuzz.h"

extern char **environ;
static unsigned units;
static int rank;

/* Sets the variables of ours that the text names and no other. */
static void set_variables(char *text)
{
	static char *mine[64];
	static char *none[1];
	unsigned n = 0;
	units = 8;
	rank = 0;
	for (char *line; n < 63 && (line = fuzz_line(&text));) {
		if (*line == '@')
			sscanf(line, "@%u %d", &units, &rank);
		else if ((!strncmp(line, "STARPU_", 7) || !strncmp(line, "ORRERY_", 7)) &&
			 strchr(line, '='))
			mine[n++] = line;
	}
	mine[n] = NULL;
	environ = n ? mine : none;
	units %= 4097;
	rank = (int) ((unsigned) rank % 100000);
}

static void judge(const struct orr_config *c)
{
	const double numbers[] = { c->alpha, c->beta, c->gamma, c->idle_power,
				   c->history_max_error };
	const int percents[] = { c->minimum_available_mem, c->target_available_mem,
				 c->minimum_clean_buffers, c->target_clean_buffers };
	const size_t sizes[] = { c->limit_cpu_mem, c->limit_cuda_mem, c->disk_swap_size };
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		MUST(isfinite(numbers[i]));
	for (unsigned i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		MUST(percents[i] >= 0 && percents[i] <= 100);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		MUST(sizes[i] % (1 << 20) == 0);
	MUST(c->calibrate >= 0 && c->calibrate <= 2 && c->history_max_error >= 0);
	MUST(c->ncpu >= -1 && c->reserve_ncpu >= 0 && c->max_submitted >= 0 &&
	     c->min_submitted >= 0);
	MUST(c->watchdog_us >= 0 && c->mpi_eager_limit >= 0);
}

static void judge_ids(const char *name, const char *text)
{
	int *v = NULL;
	unsigned n = 0;
	fuzz_forget();
	int err = orr_ids_parse(name, text, units, &v, &n);
	MUST(err ? err == -EINVAL && fuzz_errors == 1 && strstr(fuzz_said(), name) && !v && !n
		 : fuzz_errors == 0 && n <= ORR_IDS_MAX);
	for (unsigned i = 0; i < n; i++)
		MUST(v[i] >= 0 && v[i] < ORR_IDS_MAX);
	free(v);
}

/* The name goes into names of files. */
static void judge_name(struct orr_config *cfg)
{
	struct orr_process *proc = orr_self();
	*orr_config_own(proc) = *cfg;
	proc->mpi_size = rank + 1;
	proc->mpi_rank = rank;
	MUST(orr_sys_process_init(proc) == 0);
	proc->mpi_rank = rank;
	const char *name = orr_sys_machine_name(proc);
	MUST(name && *name && !strchr(name, '/') && *name != '.');
	MUST(orr_sys_machine_name(proc) == name);
	orr_sys_process_exit(proc);
	proc->mpi_size = 1;
	proc->mpi_rank = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char **saved = environ, *text = fuzz_text(data, size);
	struct orr_config cfg;
	set_variables(text);
	fuzz_forget();
	int err = orr_config_read(&cfg);
	environ = saved;
	if (err) {
		MUST(err == -EINVAL && fuzz_errors == 1 &&
		     (strstr(fuzz_said(), "STARPU_") || strstr(fuzz_said(), "ORRERY_")));
	} else {
		MUST(fuzz_errors == 0);
		judge(&cfg);
		if (cfg.workers_cpuid)
			judge_ids("STARPU_WORKERS_CPUID", cfg.workers_cpuid);
		if (cfg.workers_coreid)
			judge_ids("STARPU_WORKERS_COREID", cfg.workers_coreid);
		judge_name(&cfg);
		orr_config_free(&cfg);
	}
	free(text);
	return 0;
}
