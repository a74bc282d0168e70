/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The summary and the report of a real run, which `orrery run` asks for: rank 0 writes them when
 * its process ends, with the same names as those of a simulated run (sim/sys/run/sim_report.c).
 *
 * Invariant: the process of a run that writes them is the first one that the launcher started, or
 * the rank 0 that gathered what all ranks did; no other one. */
#include "sys/real.h"
#include "base/notice.h"
#include "sys/launched.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/about.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/output.h"

#define VARIABLE "ORRERY_REPORT"

/* A process has one run. By the program's thread. */
static struct {
	struct orr_run_work earlier, now; /* of earlier starts of the runtime; of the present one */
	unsigned epoch;                   /* that `now` is of */
	struct orr_run_totals all;        /* valid if `gathered` */
	int gathered, silent;             /* silent: another process writes */
	double begun_us, done_us;
	double waited_before_s; /* threads for cores, before the present start of the runtime */
	char *report;           /* the file, or NULL */
	int summary, kernels;
	char machine[256], about[ORR_ABOUT_SIZE];
	pid_t pid; /* of the process that ends with a report, 0: not asked for */
	int ranks; /* that the launcher started */
} run;

/* The words of the program's command. */
static void read_command(struct orr_about *a)
{
	char text[2048], *words[64];
	FILE *f = fopen("/proc/self/cmdline", "r");
	size_t length = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	int n = 0;

	if (f)
		fclose(f);
	text[length] = '\0';
	for (size_t at = 0; at < length && n < 64; at += strlen(text + at) + 1)
		words[n++] = text + at;
	char *command = orr_about_command("", words, n);
	if (command)
		orr_about_add(a, "command", "%s", command);
	free(command);
}

void orr_sys_run_describe(struct orr_process *proc, char *text, size_t size)
{
	struct orr_about a = { .text = text, .size = size };
	const char *command = proc->cfg->run_command;
	char *environment = orr_about_environment();

	*text = '\0';
	orr_about_add(&a, "version", "%s", orrery_version());
	orr_about_add(&a, "world", "real");
	orr_about_add(&a, "machine", "%s", orr_sys_machine_name(proc));
	orr_about_add(&a, "cores", "%u", orr_sys_cores(proc));
	orr_about_add(&a, "seed", "%lu", proc->cfg->rand_seed);
	if (environment && *environment)
		orr_about_add(&a, "environment", "%.1024s", environment);
	if (command)
		orr_about_add(&a, "command", "%.1536s", command);
	else
		read_command(&a);
	free(environment);
}

/* ---- the end ---- */

static void own_totals(struct orr_run_totals *t)
{
	struct rusage u;

	memset(t, 0, sizeof(*t));
	t->nodes = 1;
	t->work = run.earlier;
	orr_run_work_add(&t->work, &run.now);
	t->makespan_s = (run.done_us - run.begun_us) * 1e-6;
	if (!getrusage(RUSAGE_SELF, &u))
		t->peak_rss_bytes = 1024.0 * (double) u.ru_maxrss;
}

static void write_report(const struct orr_run_totals *t, double wall_s, int status)
{
	FILE *f = orr_output_open(VARIABLE, run.report);

	if (!f)
		return;
	fprintf(f,
		"{\n  \"nodes\": %u,\n  \"makespan_s\": %.9f,\n  \"tasks\": %llu,\n  \"messages\": %.0f,\n  \"bytes\": %.0f,\n  \"logical_messages\": %.0f,\n  \"logical_bytes\": %.0f,\n",
		t->nodes, t->makespan_s, (unsigned long long) t->work.tasks, t->messages, t->bytes,
		t->logical_messages, t->logical_bytes);
	fprintf(f, "  \"wall_s\": %.3f,\n  \"peak_rss_bytes\": %.0f,\n", wall_s, t->peak_rss_bytes);
	orr_about_work(f, &t->work);
	fprintf(f, "  \"waited_for_cores_s\": %.6f,\n", t->work.waited_s);
	if (t->work.joules > 0)
		fprintf(f, "  \"energy_j\": %.6f,\n", t->work.joules);
	fprintf(f, "  \"kernels\": \"%s\",\n  \"machine\": ", run.kernels ? "run" : "skip");
	orr_about_string(f, run.machine);
	fprintf(f, ",\n  \"cpus_per_node\": %u,\n  \"status\": %d,\n", run.now.nworkers, status);
	if (*t->network) {
		struct orr_about a = { run.about, sizeof(run.about), strlen(run.about) };
		orr_about_add(&a, "network", "%s", t->network);
	}
	orr_about_json(f, run.about);
	fputs("\n}\n", f);
	orr_output_close(f, VARIABLE, run.report);
}

static void print_summary(const struct orr_run_totals *t, double wall_s)
{
	struct orr_notice n;
	FILE *f = orr_notice_open(&n);

	if (run.gathered || run.ranks == 1)
		fprintf(f, "orrery run: %u rank%s", t->nodes, t->nodes == 1 ? "" : "s");
	else
		fprintf(f, "orrery run: rank 0 of %d", run.ranks);
	fprintf(f, ", %.6f s, %llu tasks, %.0f messages, ", t->makespan_s,
		(unsigned long long) t->work.tasks, t->messages);
	orr_about_bytes(f, t->bytes);
	fprintf(f, "; took %.2f s and ", wall_s);
	orr_about_bytes(f, t->peak_rss_bytes);
	fprintf(f, "\norrery run: machine %s (%u worker%s a rank)%s%s, Orrery %s\n", run.machine,
		run.now.nworkers, run.now.nworkers == 1 ? "" : "s", *t->network ? ", " : "",
		t->network, orrery_version());
	orr_notice_write(&n);
}

static void report(int status, void *arg)
{
	ORR_PLAIN_NUMBERS;
	struct orr_run_totals t;
	double wall_s = (orr_sys_now_us() - orr_real_started_us()) * 1e-6;

	(void) arg;
	if (run.silent || getpid() != run.pid)
		return;
	if (run.gathered)
		t = run.all;
	else
		own_totals(&t);
	fflush(stdout);
	if (run.report)
		write_report(&t, wall_s, status & 255);
	if (run.summary)
		print_summary(&t, wall_s);
	fflush(stderr);
}

/* Once: this process ends with a report if somebody wants one, and it is the first of the run.
 * Returns whether somebody does. */
static int arm(struct orr_process *proc)
{
	const struct orr_config *cfg = proc->cfg;

	if (run.pid || (!cfg->report && !cfg->summary))
		return run.pid != 0;
	run.ranks = (int) orr_real_launched(ORR_LAUNCHED_SIZE);
	run.silent = orr_real_launched(ORR_LAUNCHED_RANK) != 0;
	run.report = cfg->report ? strdup(cfg->report) : NULL;
	run.summary = cfg->summary;
	run.pid = getpid();
	on_exit(report, NULL);
	return 1;
}

/* ---- what was done ---- */

/* For how long that thread of this process could run and got no core, as Linux counts it. */
static double thread_waited_s(const char *thread)
{
	unsigned long long waited_ns = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/schedstat", thread);
	FILE *f = fopen(path, "r");
	if (f && fscanf(f, "%*u %llu", &waited_ns) != 1)
		waited_ns = 0;
	if (f)
		fclose(f);
	return (double) waited_ns * 1e-9;
}

/* The same of all threads that there are now. */
static double threads_waited_s(void)
{
	DIR *threads = opendir("/proc/self/task");
	double sum_s = 0;

	for (struct dirent *e; threads && (e = readdir(threads));)
		if (e->d_name[0] != '.')
			sum_s += thread_waited_s(e->d_name);
	if (threads)
		closedir(threads);
	return sum_s;
}

/* Somebody wants to know of it. */
static int waits_count(const struct orr_config *cfg)
{
	return cfg->report || cfg->summary || cfg->trace;
}

void orr_real_run_begin(const struct orr_process *proc)
{
	run.waited_before_s = waits_count(proc->cfg) ? threads_waited_s() : 0;
}

void orr_sys_run_work(struct orr_process *proc, const struct orr_run_work *w)
{
	if (!run.epoch)
		run.begun_us = proc->start_us;
	if (run.epoch != proc->epoch) {
		run.now.nworkers = 0;
		orr_run_work_add(&run.earlier, &run.now);
		run.epoch = proc->epoch;
	}
	run.now = *w;
	run.done_us = orr_sys_now_us();
	if (waits_count(proc->cfg)) {
		/* Threads of others may have ended since. */
		double s = threads_waited_s() - run.waited_before_s;
		run.now.waited_s = s > 0 ? s : 0;
	}
	if (!arm(proc))
		return;
	run.kernels = !proc->cfg->disable_kernels;
	snprintf(run.machine, sizeof(run.machine), "%s", orr_sys_machine_name(proc));
	orr_sys_run_describe(proc, run.about, sizeof(run.about));
}

double orr_sys_run_waited_s(struct orr_process *proc)
{
	return run.epoch == proc->epoch ? run.now.waited_s : 0;
}

void orr_real_run_own(struct orr_process *proc, struct orr_run_totals *t)
{
	(void) proc;
	run.done_us = orr_sys_now_us();
	own_totals(t);
}

void orr_real_run_all(const struct orr_run_totals *t)
{
	run.silent = !t;
	run.gathered = t != NULL;
	if (t)
		run.all = *t;
}
