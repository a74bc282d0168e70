/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output of a simulation at its end: the summary for people, --report, --stats.
 *
 * The description depends on the command, the environment and the files that they name only.
 *
 * Invariant: two runs of the same command write the same bytes, but for wall time and memory. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <simgrid/forward.h>
#include <simgrid/version.h>
#include <sys/resource.h>
#include "actors/sim_rank.h"
#include "machine/sim_node.h"
#include "run/sim_bound.h"
#include "run/sim_report.h"
#include "sim_clock.h"
#include "sim_progress.h"
#include "base/assert.h"
#include "base/checksum.h"
#include "base/log.h"
#include "base/mpi_fake_rows.h"
#include "base/numbers.h"
#include "base/private.h"
#include "base/seam_mpi.h"

/* One line of the statistics: what a rank sent to a peer; one that plays a rank of many, also what
 * it would receive from it. */
struct orr_sim_peer {
	int peer;
	uint64_t messages, bytes, logical_messages, logical_bytes;
	double first_us, last_us, active_us;
	uint64_t received_messages, received_bytes;
};

struct totals {
	uint64_t tasks, messages, bytes, logical_messages, logical_bytes;
	double makespan_s, uncalibrated, slept, without_deviation;
	double joules;
	struct orr_run_work work;
	int has_bounds;
	struct orr_sim_bounds bounds;
};

/* ---- the description of the run ---- */

static const char *network_name(void)
{
	return orr_sim_network_names[orr_sim.network];
}

static const char *simgrid_release(void)
{
	static char text[32];
	int major, minor, patch;
	sg_version_get(&major, &minor, &patch);
	snprintf(text, sizeof(text), "%d.%d", major, minor);
	return text;
}

/* The machines of the nodes: "default", or "4 x a, 2 x b". */
static void describe_machines(struct orr_about *a)
{
	char text[512];
	size_t length = 0;
	for (int i = 0; i < orr_sim.nranks; i++) {
		int first = 1, n = 0;
		for (int j = 0; j < i && first; j++)
			first = strcmp(orr_sim.ranks[j].machine_name,
				       orr_sim.ranks[i].machine_name) != 0;
		if (!first || length > sizeof(text) - 64)
			continue;
		for (int j = i; j < orr_sim.nranks; j++)
			n += !strcmp(orr_sim.ranks[j].machine_name, orr_sim.ranks[i].machine_name);
		if (n == orr_sim.nranks) {
			orr_about_add(a, "machine", "%s", orr_sim.ranks[0].machine_name);
			return;
		}
		int m = snprintf(text + length, sizeof(text) - length, "%s%d x %.40s",
				 length ? ", " : "", n, orr_sim.ranks[i].machine_name);
		length += m > 0 ? (size_t) m : 0;
	}
	orr_about_add(a, "machine", "%s", text);
}

static void describe_network(struct orr_about *a)
{
	sg_host_t host = orr_sim.ranks[0].host;
	const char *like = sg_host_get_property_value(host, "like");
	orr_about_add(a, "platform", "%s%s%s",
		      orr_sim.platform ? orr_sim.platform : "default cluster", like ? " like " : "",
		      like ? like : "");
	if (orr_sim.nranks > 1) {
		sg_host_t other = orr_sim.ranks[1].host;
		orr_about_add(a, "network", "%s, %.6g GB/s and %.6g us between nodes 0 and 1",
			      network_name(), sg_host_get_route_bandwidth(host, other) * 1e-9,
			      sg_host_get_route_latency(host, other) * 1e6);
	} else {
		orr_about_add(a, "network", "%s", network_name());
	}
	orr_about_add(a, "collectives", "%s", orr_sim.collectives);
}

static void describe_costs(struct orr_about *a)
{
	static const char *const names[ORR_NCOSTS] = {
		[ORR_COST_SUBMIT] = "submit",
		[ORR_COST_ACCESS] = "access",
		[ORR_COST_FOREIGN] = "foreign",
		[ORR_COST_COMPLETE] = "complete",
		[ORR_COST_DATUM] = "datum",
		[ORR_COST_SCHED] = "sched",
		[ORR_COST_RELOAD] = "reload",
		[ORR_COST_RELOAD_LARGE] = "reload-large",
		[ORR_COST_MESSAGE] = "message",
		[ORR_COST_INTERRUPT] = "interrupt",
		[ORR_COST_WAKE] = "wake",
		[ORR_COST_LOOK] = "look",
		[ORR_COST_PROFILE_SUBMIT] = "profile-submit",
		[ORR_COST_PROFILE] = "profile",
		[ORR_COST_SHARED] = "shared",
		[ORR_COST_SHARED_DATUM] = "shared-datum",
		[ORR_COST_SHARED_PROFILE] = "shared-profile",
		[ORR_COST_TURN] = "turn",
		[ORR_COST_BUFFER] = "buffer",
	};
	double costs[ORR_NCOSTS];
	char text[512];
	size_t length = 0;
	orr_sim_costs(&orr_sim.ranks[0], costs);
	for (int i = 0; i < ORR_NCOSTS; i++) {
		int n = snprintf(text + length, sizeof(text) - length, "%s%s %.6g", i ? ", " : "",
				 names[i], costs[i]);
		length += n > 0 ? (size_t) n : 0;
		orr_assert(length < sizeof(text));
	}
	orr_about_add(a, "costs", "%s us", text);
}

static void describe(char *text, size_t size)
{
	static const char *const modes[] = { "run", "skip", "inject" };
	const char *seed = getenv("STARPU_RAND_SEED");
	struct orr_about a = { .text = text, .size = size };
	*text = '\0';
	orr_about_add(&a, "version", "%s", orrery_version());
	orr_about_add(&a, "simgrid", "%s", simgrid_release());
	orr_about_add(&a, "world", "simulated");
	describe_machines(&a);
	orr_about_add(&a, "cores", "%u", orr_sim.ranks[0].ncpus);
	describe_network(&a);
	describe_costs(&a);
	orr_about_add(&a, "kernels", "%s", modes[orr_sim.kernels]);
	orr_about_add(&a, "seed", "%s", seed ? seed : "0");
	if (orr_sim.environment && *orr_sim.environment)
		orr_about_add(&a, "environment", "%.1024s", orr_sim.environment);
	orr_about_add(&a, "command", "%.1024s", orr_sim.command ? orr_sim.command : "");
}

void orr_sys_run_describe(struct orr_process *proc, char *text, size_t size)
{
	(void) proc;
	describe(text, size);
}

/* The runtime starts again: what it did before. */
static void keep_earlier(struct orr_sim_rank *r)
{
	if (!r->earlier && !(r->earlier = calloc(1, sizeof(*r->earlier))))
		orr_fatal("out of memory for the report; simulate fewer nodes");
	r->work.nworkers = 0;
	orr_run_work_add(r->earlier, &r->work);
}

void orr_sys_run_work(struct orr_process *proc, const struct orr_run_work *w)
{
	struct orr_sim_rank *r = proc->sys;
	if (r->epoch != proc->epoch) {
		if (r->epoch)
			keep_earlier(r);
		r->epoch = proc->epoch;
	}
	r->work = *w;
}

double orr_sys_run_waited_s(struct orr_process *proc)
{
	(void) proc;
	return 0;
}

/* ---- statistics of the MPI layer ---- */

static int by_peer(const void *a, const void *b)
{
	int x = ((const struct orr_sim_peer *) a)->peer,
	    y = ((const struct orr_sim_peer *) b)->peer;
	return (x > y) - (x < y);
}

static struct orr_sim_peer *find_peer(struct orr_sim_rank *r, unsigned n, int peer)
{
	struct orr_sim_peer key = { .peer = peer };
	return n ? bsearch(&key, r->peers, n, sizeof(key), by_peer) : NULL;
}

int orr_sys_mpi_same_fake(struct orr_process *proc, int fake, int *place)
{
	struct orr_sim_rank *r = proc->sys;
	int first = -1, n = 0;
	*place = r->rank;
	r->fake = fake + 1;
	for (int i = 0; i < orr_sim.nranks && fake >= 0; i++)
		if (i != r->rank && orr_sim.ranks[i].fake == fake + 1 && !n++)
			first = i;
	return n == 1 ? first : -1;
}

int orr_sys_mpi_prepare_stats(struct orr_process *proc)
{
	(void) proc; /* the launcher has looked at the file of --stats */
	return 0;
}

static int is_fake(const struct orr_process *proc)
{
	return proc->cfg->mpi_fake_rank >= 0;
}

void orr_sys_mpi_keep_stats(struct orr_process *proc, MPI_Comm next,
			    const struct orr_mpi_peer_stats *peers, unsigned n)
{
	struct orr_sim_rank *r = proc->sys;
	unsigned before = r->npeers;
	struct orr_sim_peer *p = realloc(r->peers, (before + n + 1) * sizeof(*p));
	(void) next;
	if (!p)
		return;
	r->peers = p;
	for (unsigned i = 0; i < n; i++) {
		int peer = is_fake(proc) ? peers[i].peer
					 : orr_sys_mpi_process_of(proc, peers[i].peer);
		struct orr_sim_peer *old = find_peer(r, before, peer);
		if (!old) {
			old = &r->peers[r->npeers++];
			*old = (struct orr_sim_peer){ .peer = peer, .first_us = INFINITY };
		}
		old->messages += peers[i].messages;
		old->bytes += peers[i].bytes;
		old->logical_messages += peers[i].logical_messages;
		old->logical_bytes += peers[i].logical_bytes;
		old->active_us += peers[i].active_us;
		old->received_messages += peers[i].received_messages;
		old->received_bytes += peers[i].received_bytes;
		old->first_us = fmin(old->first_us, peers[i].first_us);
		old->last_us = fmax(old->last_us, peers[i].last_us);
	}
	qsort(r->peers, r->npeers, sizeof(*r->peers), by_peer);
}

void orr_sys_mpi_report_stats(struct orr_process *proc, const struct orr_mpi_peer_stats *peers,
			      unsigned n, int left)
{
	struct orr_sim_rank *r = proc->sys;
	(void) left;
	if (is_fake(proc)) {
		r->fake = proc->cfg->mpi_fake_rank + 1;
		r->fake_size = proc->cfg->mpi_fake_size;
	}
	orr_sys_mpi_keep_stats(proc, MPI_COMM_NULL, peers, n);
}

/* ---- totals ---- */

static size_t peak_rss(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (size_t) u.ru_maxrss << 10;
}

static void sum(struct totals *t)
{
	double known = 0, slept = 0, all = 0;
	memset(t, 0, sizeof(*t));
	for (int i = 0; i < orr_sim.nranks; i++) {
		struct orr_sim_rank *r = &orr_sim.ranks[i];
		t->joules += r->joules;
		if (r->earlier)
			orr_run_work_add(&t->work, r->earlier);
		orr_run_work_add(&t->work, &r->work);
		if (r->end_us * 1e-6 > t->makespan_s)
			t->makespan_s = r->end_us * 1e-6;
		for (unsigned p = 0; p < r->npeers; p++) {
			t->messages += r->peers[p].messages;
			t->bytes += r->peers[p].bytes;
			t->logical_messages += r->peers[p].logical_messages;
			t->logical_bytes += r->peers[p].logical_bytes;
		}
	}
	if (orr_sim.interrupted && orr_sim_clock_s() > t->makespan_s)
		t->makespan_s = orr_sim_clock_s();
	/* A rank that did not come to its end has told nothing: then those that ran on workers
	 * count, the runtime's own among them. */
	t->tasks = t->work.tasks;
	if (orr_sim.nended < orr_sim.nranks && t->tasks < orr_sim.tasks_done)
		t->tasks = orr_sim.tasks_done;
	for (int s = 0; s < ORR_PERF_NSOURCES; s++) {
		all += orr_sim.kernel_us[s];
		if (s <= ORR_PERF_BY_SIZE)
			known += orr_sim.kernel_us[s];
	}
	for (unsigned i = 0; i < orr_sim.slept.n; i++)
		slept += orr_sim.slept.of[i].us;
	t->uncalibrated = all > 0 ? (all - known) / all : 0;
	t->slept = all > 0 ? slept / all : 0;
	t->has_bounds = orr_sim.bound && !orr_sim_bound_compute(&t->bounds);
	t->without_deviation = all > 0 ? orr_sim.noise.without_us / all : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct orr_sim_kernel_time *x = a, *y = b;
	return x->us != y->us ? (x->us < y->us) - (x->us > y->us) : strcmp(x->name, y->name);
}

static void sort_kernels(struct orr_sim_kernel_times *list)
{
	if (list->n)
		qsort(list->of, list->n, sizeof(*list->of), by_time);
}

static void write_kernels(FILE *f, const struct orr_sim_kernel_times *list)
{
	for (unsigned i = 0; i < list->n; i++) {
		fputs(i ? ", " : "", f);
		orr_about_string(f, list->of[i].name);
		fprintf(f, ": %.9f", list->of[i].us * 1e-6);
	}
}

static void print_kernels(FILE *f, const struct orr_sim_kernel_times *list)
{
	for (unsigned i = 0; i < list->n && i < 8; i++)
		fprintf(f, "%s %s", i ? "," : "", list->of[i].name);
	fprintf(f, "%s\n", list->n > 8 ? ", ..." : "");
}

/* The least known first, where machines differ. */
static int by_guess(const void *a, const void *b)
{
	const struct orr_sim_guess *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : (x->measured > y->measured) - (x->measured < y->measured);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* ---- files ---- */

static FILE *open_output(const char *path)
{
	int fd = orr_private_output(path, O_WRONLY | O_CREAT | O_TRUNC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		fprintf(stderr, "orrery sim: cannot write %s: %s; choose another place\n", path,
			orr_private_why(fd < 0 ? fd : -errno));
	return f;
}

static int close_output(FILE *f, const char *path)
{
	int failed = ferror(f);
	if (!fclose(f) && !failed)
		return 0;
	fprintf(stderr,
		"orrery sim: writing %s failed: %s; make room there or choose another place\n",
		path, strerror(errno));
	return -1;
}

static int close_without_memory(FILE *f, const char *path)
{
	fprintf(stderr, "orrery sim: not enough memory to write %s\n", path);
	fclose(f);
	return -1;
}

/* The words of processes about the ranks of many that they play; none: they are the ranks of the
 * run.
 */
static struct orr_fake_rows fake_rows(void)
{
	struct orr_fake_rows rows = { .n = 0 };
	for (int i = 0; i < orr_sim.nranks; i++) {
		const struct orr_sim_rank *r = &orr_sim.ranks[i];
		int rank = r->fake - 1;
		if (!r->fake_size)
			continue;
		orr_fake_rows_begin(&rows, rank, r->fake_size);
		for (const struct orr_sim_peer *p = r->peers; p < r->peers + r->npeers; p++) {
			orr_fake_rows_add(&rows, rank, p->peer, 0, p->logical_messages,
					  p->logical_bytes);
			orr_fake_rows_add(&rows, rank, p->peer, 1, p->received_messages,
					  p->received_bytes);
		}
	}
	return rows;
}

static void write_rows(FILE *f)
{
	fputs(ORR_MPI_STATS_HEAD, f);
	for (int i = 0; i < orr_sim.nranks; i++) {
		const struct orr_sim_rank *r = &orr_sim.ranks[i];
		for (unsigned p = 0; p < r->npeers; p++) {
			const struct orr_sim_peer *s = &r->peers[p];
			fprintf(f, "%d,%d,%llu,%llu,%.9f,%.9f,%.9f,%llu,%llu\n", i, s->peer,
				(unsigned long long) s->bytes, (unsigned long long) s->messages,
				s->first_us * 1e-6, s->last_us * 1e-6, s->active_us * 1e-6,
				(unsigned long long) s->logical_bytes,
				(unsigned long long) s->logical_messages);
		}
	}
}

static int write_stats(const struct totals *t, const char *path)
{
	struct orr_checked text;
	FILE *to = open_output(path), *f = to ? orr_checked_open(&text) : NULL;
	if (!f)
		return to ? close_without_memory(to, path) : -1;
	char about[ORR_ABOUT_SIZE];
	struct orr_fake_rows rows = fake_rows();
	fprintf(f, "# orrery stats: nodes=%d makespan_s=%.9f\n",
		rows.n ? orr_fake_rows_size(&rows) : orr_sim.nranks, t->makespan_s);
	describe(about, sizeof(about));
	orr_about_comments(f, about);
	if (orr_sim.interrupted)
		fprintf(f, "# interrupted at %.9f s: ranks that had not ended are missing\n",
			orr_sim_clock_s());
	if (rows.n)
		orr_fake_rows_write(f, ORR_MPI_STATS_HEAD, &rows);
	else
		write_rows(f);
	free(rows.v);
	return orr_checked_close(&text, to) ? close_without_memory(to, path)
					    : close_output(to, path);
}

/* The variations, in runs that had any. */
static void write_variability(FILE *f, const struct totals *t)
{
	const struct orr_sim_noise *v = &orr_sim.noise;
	if (!orr_sim_varies(v))
		return;
	fprintf(f,
		",\n  \"seed\": %llu,\n  \"noise\": %g,\n  \"noise_default_percent\": %g,\n  \"speed_spread_percent\": %g,\n",
		(unsigned long long) v->seed, v->kernels, 100 * v->unmeasured, 100 * v->nodes);
	fprintf(f,
		"  \"worker_spread_percent\": %g,\n  \"background_load_percent\": %g,\n  \"background_period_us\": %g,\n",
		100 * v->workers, 100 * v->load, v->period_us);
	fprintf(f, "  \"without_deviation_fraction\": %.6f", t->without_deviation);
}

/* The companies of kernels that were guessed. */
static void write_company(FILE *f)
{
	const struct orr_sim_guess *g = orr_sim.guesses;

	if (orr_sim.nguesses)
		fputs("  \"company_guessed\": {", f);
	for (unsigned i = 0; i < orr_sim.nguesses; i++) {
		/* Of machines with unlike measurements: the name stands once. */
		if (i && !strcmp(g[i].name, g[i - 1].name))
			continue;
		fputs(i ? ", " : "", f);
		orr_about_string(f, g[i].name);
		fprintf(f, ": {\"measured\": %u, \"used\": %u}", g[i].measured, g[i].used);
	}
	if (orr_sim.nguesses)
		fputs("},\n", f);
}

static int write_report(const struct totals *t, const char *path)
{
	static const char *const modes[] = { "run", "skip", "inject" };
	char about[ORR_ABOUT_SIZE];
	FILE *f = open_output(path);
	if (!f)
		return -1;
	fprintf(f,
		"{\n  \"nodes\": %d,\n  \"makespan_s\": %.9f,\n  \"tasks\": %llu,\n  \"messages\": %llu,\n  \"bytes\": %llu,\n  \"logical_messages\": %llu,\n  \"logical_bytes\": %llu,\n",
		orr_sim.nranks, t->makespan_s, (unsigned long long) t->tasks,
		(unsigned long long) t->messages, (unsigned long long) t->bytes,
		(unsigned long long) t->logical_messages, (unsigned long long) t->logical_bytes);
	fprintf(f,
		"  \"wall_s\": %.3f,\n  \"peak_rss_bytes\": %zu,\n  \"stacks\": %u,\n  \"uncalibrated_fraction\": %.6f,\n  \"uncalibrated\": {",
		orr_sim_wall_s() - orr_sim.wall_start, peak_rss(), orr_sim.nstacks,
		t->uncalibrated);
	write_kernels(f, &orr_sim.uncalibrated);
	fputs("},\n  \"slept\": {", f);
	write_kernels(f, &orr_sim.slept);
	fputs("},\n", f);
	orr_about_work(f, &t->work);
	if (t->has_bounds)
		fprintf(f,
			"  \"area_bound_s\": %.9f,\n  \"area_bound_mean_s\": %.9f,\n  \"area_bound_node\": %d,\n  \"path_bound_s\": %.9f,\n",
			t->bounds.area_us * 1e-6, t->bounds.area_mean_us * 1e-6,
			t->bounds.area_rank, t->bounds.path_us * 1e-6);
	write_company(f);
	if (t->joules > 0)
		fprintf(f, "  \"energy_j\": %.6f,\n", t->joules);
	fprintf(f, "  \"kernels\": \"%s\",\n  \"machine\": ", modes[orr_sim.kernels]);
	orr_about_string(f, orr_sim.ranks[0].machine_name);
	fprintf(f, ",\n  \"cpus_per_node\": %u,\n  \"status\": %d", orr_sim.ranks[0].ncpus,
		orr_sim.status);
	if (orr_sim.interrupted)
		fprintf(f, ",\n  \"interrupted_at_s\": %.9f", orr_sim_clock_s());
	write_variability(f, t);
	fputs(",\n", f);
	describe(about, sizeof(about));
	orr_about_json(f, about);
	fputs("\n}\n", f);
	return close_output(f, path);
}

static void print_bounds(FILE *f, const struct totals *t)
{
	double s = (t->bounds.area_us > t->bounds.path_us ? t->bounds.area_us : t->bounds.path_us) *
		   1e-6;
	fprintf(f,
		"orrery sim: lower bounds: area %.6f s (node %d; mean of the nodes %.6f s), critical path %.6f s; ",
		t->bounds.area_us * 1e-6, t->bounds.area_rank, t->bounds.area_mean_us * 1e-6,
		t->bounds.path_us * 1e-6);
	if (s > 0)
		fprintf(f, "the run took %.2f times the larger\n", t->makespan_s / s);
	else
		fputs("no tasks were recorded\n", f);
}

/* The assumptions where nothing was measured, and the way to measure. */
static void print_remedy(FILE *f)
{
	const struct orr_sim_rank *r = orr_sim.ranks;
	fprintf(f, "orrery sim: assumed for these: %u core%s a node (machine %s)", r->ncpus,
		r->ncpus == 1 ? "" : "s", r->machine_name);
	if (orr_sim.nranks > 1) {
		sg_host_t other = orr_sim.ranks[1].host;
		fputs(", a network of ", f);
		orr_about_bytes(f, sg_host_get_route_bandwidth(r->host, other));
		fprintf(f, "/s and %.3g us", 1e6 * sg_host_get_route_latency(r->host, other));
	}
	fputs(". To measure: `orrery calibrate -o m/NAME --name NAME`, run the program with STARPU_CALIBRATE=1 "
	      "STARPU_PERF_MODEL_DIR=m/NAME STARPU_HOSTNAME=NAME, simulate with --machine m/NAME\n",
	      f);
}

/* A line about the run: the rest is in the files. */
static void print_about(FILE *f)
{
	const struct orr_sim_rank *r = orr_sim.ranks;
	const char *seed = getenv("STARPU_RAND_SEED");
	const char *like = sg_host_get_property_value(r->host, "like");
	fprintf(f, "orrery sim: machine %s (%u core%s a node), platform %s%s%s, network %s",
		r->machine_name, r->ncpus, r->ncpus == 1 ? "" : "s",
		orr_sim.platform ? orr_sim.platform : "default", like ? " like " : "",
		like ? like : "", network_name());
	if (orr_sim.nranks > 1) {
		sg_host_t other = orr_sim.ranks[1].host;
		fputs(" (", f);
		orr_about_bytes(f, sg_host_get_route_bandwidth(r->host, other));
		fprintf(f, "/s, %.3g us)", 1e6 * sg_host_get_route_latency(r->host, other));
	}
	fprintf(f, ", seed %s, Orrery %s, SimGrid %s\n", seed ? seed : "0", orrery_version(),
		simgrid_release());
}

/* Kernels beside each other, where that goes beyond what was measured. */
static void print_company(FILE *f)
{
	if (orr_sim.nguesses)
		fputs("orrery sim: how kernels slow each other down is a guess beyond what was measured:",
		      f);
	for (unsigned i = 0; i < orr_sim.nguesses && i < 8; i++)
		fprintf(f, "%s %s measured on %u cores, used on %u", i ? "," : "",
			orr_sim.guesses[i].name, orr_sim.guesses[i].measured,
			orr_sim.guesses[i].used);
	if (orr_sim.nguesses)
		fprintf(f,
			"%s; measure with as many workers: `orrery calibrate --kernels -- PROGRAM`\n",
			orr_sim.nguesses > 8 ? ", ..." : "");
	if (orr_sim.nunmet)
		fputs("orrery sim: not measured beside others, and simulated as if alone:", f);
	for (unsigned i = 0; i < orr_sim.nunmet && i < 8; i++)
		fprintf(f, "%s %s", i ? "," : "", orr_sim.unmet[i]);
	if (orr_sim.nunmet)
		fprintf(f, "%s\n", orr_sim.nunmet > 8 ? ", ..." : "");
}

static void print_summary(const struct totals *t)
{
	FILE *f = stderr;
	orr_sim_progress_clear();
	fprintf(f, "orrery sim: %d node%s, %.6f s of virtual time, %llu tasks, %llu messages, ",
		orr_sim.nranks, orr_sim.nranks == 1 ? "" : "s", t->makespan_s,
		(unsigned long long) t->tasks, (unsigned long long) t->messages);
	orr_about_bytes(f, (double) t->bytes);
	fprintf(f, "; took %.2f s and ", orr_sim_wall_s() - orr_sim.wall_start);
	orr_about_bytes(f, (double) peak_rss());
	fputc('\n', f);
	print_about(f);
	if (t->has_bounds)
		print_bounds(f, t);
	if (t->joules > 0)
		fprintf(f, "orrery sim: %.6g J of energy\n", t->joules);
	if (t->without_deviation >= 0.0005 && !(orr_sim.noise.unmeasured > 0))
		fprintf(f,
			"orrery sim: --noise leaves %.3g %% of the simulated kernel time alone, whose deviation was not measured; "
			"--noise-default PERCENT gives it one\n",
			100 * t->without_deviation);
	print_company(f);
	if (t->slept >= 0.0005) {
		fprintf(f,
			"orrery sim: %.3g %% of the simulated kernel time is what kernels without a model slept, "
			"as if what they compute took none:",
			100 * t->slept);
		print_kernels(f, &orr_sim.slept);
	}
	if (t->uncalibrated < 0.0005)
		return;
	fprintf(f, "orrery sim: %.3g %% of the simulated kernel time is uncalibrated:",
		100 * t->uncalibrated);
	print_kernels(f, &orr_sim.uncalibrated);
	print_remedy(f);
}

int orr_sim_report_write(void)
{
	ORR_PLAIN_NUMBERS;
	struct totals t;
	int failed = 0;
	sum(&t);
	sort_kernels(&orr_sim.uncalibrated);
	sort_kernels(&orr_sim.slept);
	if (orr_sim.nguesses)
		qsort(orr_sim.guesses, orr_sim.nguesses, sizeof(*orr_sim.guesses), by_guess);
	if (orr_sim.nunmet)
		qsort(orr_sim.unmet, orr_sim.nunmet, sizeof(*orr_sim.unmet), by_text);
	if (orr_sim.stats_file)
		failed |= write_stats(&t, orr_sim.stats_file);
	if (orr_sim.report_file)
		failed |= write_report(&t, orr_sim.report_file);
	if (!orr_sim.quiet)
		print_summary(&t);
	return failed;
}
