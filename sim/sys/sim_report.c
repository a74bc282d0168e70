/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output of a simulation at its end: the summary for people, --report, --stats.
 *
 * Invariant: two runs of the same command write the same bytes, but for wall time and memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "sim.h"
#include "base/numbers.h"
#include "base/seam_mpi.h"

struct totals {
	uint64_t tasks, messages, bytes;
	double makespan_s, uncalibrated, without_deviation;
	double joules;
	int has_bounds;
	struct orr_sim_bounds bounds;
};

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

int orr_sys_mpi_prepare_stats(struct orr_process *proc)
{
	(void) proc; /* the launcher has looked at the file of --stats */
	return 0;
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
		int peer = orr_sys_mpi_process_of(proc, peers[i].peer);
		struct orr_sim_peer *old = find_peer(r, before, peer);
		if (!old) {
			r->peers[r->npeers++] = (struct orr_sim_peer){ peer, peers[i].messages,
								       peers[i].bytes,
								       peers[i].first_us,
								       peers[i].last_us };
			continue;
		}
		old->messages += peers[i].messages;
		old->bytes += peers[i].bytes;
		if (peers[i].first_us < old->first_us)
			old->first_us = peers[i].first_us;
		if (peers[i].last_us > old->last_us)
			old->last_us = peers[i].last_us;
	}
	qsort(r->peers, r->npeers, sizeof(*r->peers), by_peer);
}

void orr_sys_mpi_report_stats(struct orr_process *proc, const struct orr_mpi_peer_stats *peers,
			      unsigned n, uint64_t tasks, int alone)
{
	struct orr_sim_rank *r = proc->sys;
	(void) alone;
	r->tasks += tasks;
	orr_sys_mpi_keep_stats(proc, MPI_COMM_NULL, peers, n);
}

/* ---- totals ---- */

size_t orr_sim_peak_rss(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (size_t) u.ru_maxrss << 10;
}

static void sum(struct totals *t)
{
	double known = 0, all = 0;
	memset(t, 0, sizeof(*t));
	for (int i = 0; i < orr_sim.nranks; i++) {
		struct orr_sim_rank *r = &orr_sim.ranks[i];
		t->tasks += r->tasks;
		t->joules += r->joules;
		if (r->end_us * 1e-6 > t->makespan_s)
			t->makespan_s = r->end_us * 1e-6;
		for (unsigned p = 0; p < r->npeers; p++) {
			t->messages += r->peers[p].messages;
			t->bytes += r->peers[p].bytes;
		}
	}
	if (orr_sim.interrupted && orr_sim_clock_s() > t->makespan_s)
		t->makespan_s = orr_sim_clock_s();
	/* Programs without the MPI layer report no tasks: then those that ran on workers count. */
	if (t->tasks < orr_sim.tasks_done)
		t->tasks = orr_sim.tasks_done;
	for (int s = 0; s < ORR_PERF_NSOURCES; s++) {
		all += orr_sim.kernel_us[s];
		if (s <= ORR_PERF_BY_SIZE)
			known += orr_sim.kernel_us[s];
	}
	t->uncalibrated = all > 0 ? (all - known) / all : 0;
	t->has_bounds = orr_sim.bound && !orr_sim_bound_compute(&t->bounds);
	t->without_deviation = all > 0 ? orr_sim.noise.without_us / all : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct orr_sim_uncalibrated *x = a, *y = b;
	return x->us != y->us ? (x->us < y->us) - (x->us > y->us) : strcmp(x->name, y->name);
}

/* ---- files ---- */

static FILE *open_output(const char *path)
{
	FILE *f = fopen(path, "w");
	if (!f)
		fprintf(stderr, "orrery sim: cannot write %s: %s; choose another place\n", path,
			strerror(errno));
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

static int write_stats(const struct totals *t, const char *path)
{
	FILE *f = open_output(path);
	if (!f)
		return -1;
	fprintf(f,
		"# orrery stats: nodes=%d makespan_s=%.9f\nsrc,dst,bytes,messages,first_s,last_s\n",
		orr_sim.nranks, t->makespan_s);
	if (orr_sim.interrupted)
		fprintf(f, "# interrupted at %.9f s: ranks that had not ended are missing\n",
			orr_sim_clock_s());
	for (int i = 0; i < orr_sim.nranks; i++) {
		const struct orr_sim_rank *r = &orr_sim.ranks[i];
		for (unsigned p = 0; p < r->npeers; p++) {
			const struct orr_sim_peer *s = &r->peers[p];
			fprintf(f, "%d,%d,%llu,%llu,%.9f,%.9f\n", i, s->peer,
				(unsigned long long) s->bytes, (unsigned long long) s->messages,
				s->first_us * 1e-6, s->last_us * 1e-6);
		}
	}
	return close_output(f, path);
}

static void json_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if ((unsigned char) *s < 32)
			fprintf(f, "\\u%04x", *s);
		else
			fprintf(f, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	}
	fputc('"', f);
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

static int write_report(const struct totals *t, const char *path)
{
	static const char *const modes[] = { "run", "skip", "inject" };
	FILE *f = open_output(path);
	if (!f)
		return -1;
	fprintf(f,
		"{\n  \"nodes\": %d,\n  \"makespan_s\": %.9f,\n  \"tasks\": %llu,\n  \"messages\": %llu,\n  \"bytes\": %llu,\n",
		orr_sim.nranks, t->makespan_s, (unsigned long long) t->tasks,
		(unsigned long long) t->messages, (unsigned long long) t->bytes);
	fprintf(f,
		"  \"wall_s\": %.3f,\n  \"peak_rss_bytes\": %zu,\n  \"stacks\": %u,\n  \"uncalibrated_fraction\": %.6f,\n  \"uncalibrated\": {",
		orr_sim_wall_s() - orr_sim.wall_start, orr_sim_peak_rss(), orr_sim.nstacks,
		t->uncalibrated);
	for (unsigned i = 0; i < orr_sim.nuncalibrated; i++) {
		fputs(i ? ", " : "", f);
		json_string(f, orr_sim.uncalibrated[i].name);
		fprintf(f, ": %.9f", orr_sim.uncalibrated[i].us * 1e-6);
	}
	fputs("},\n", f);
	if (t->has_bounds)
		fprintf(f,
			"  \"area_bound_s\": %.9f,\n  \"area_bound_mean_s\": %.9f,\n  \"area_bound_node\": %d,\n  \"path_bound_s\": %.9f,\n",
			t->bounds.area_us * 1e-6, t->bounds.area_mean_us * 1e-6,
			t->bounds.area_rank, t->bounds.path_us * 1e-6);
	if (t->joules > 0)
		fprintf(f, "  \"energy_j\": %.6f,\n", t->joules);
	fprintf(f, "  \"kernels\": \"%s\",\n  \"machine\": ", modes[orr_sim.kernels]);
	json_string(f, orr_sim.ranks[0].machine_name);
	fprintf(f, ",\n  \"cpus_per_node\": %u,\n  \"status\": %d", orr_sim.ranks[0].ncpus,
		orr_sim.status);
	if (orr_sim.interrupted)
		fprintf(f, ",\n  \"interrupted_at_s\": %.9f", orr_sim_clock_s());
	write_variability(f, t);
	fputs("\n}\n", f);
	return close_output(f, path);
}

static void print_bytes(FILE *f, double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	int u = 0;
	for (; bytes >= 1000 && u < 5; u++)
		bytes /= 1000;
	fprintf(f, u ? "%.2f %s" : "%.0f %s", bytes, units[u]);
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
		r->ncpus == 1 ? "" : "s", r->machine ? r->machine_name : "built in");
	if (orr_sim.nranks > 1) {
		sg_host_t other = orr_sim.ranks[1].host;
		fputs(", a network of ", f);
		print_bytes(f, sg_host_get_route_bandwidth(r->host, other));
		fprintf(f, "/s and %.3g us", 1e6 * sg_host_get_route_latency(r->host, other));
	}
	fputs(". To measure: `orrery calibrate -o m/NAME --name NAME`, run the program with STARPU_CALIBRATE=1 "
	      "STARPU_PERF_MODEL_DIR=m/NAME STARPU_HOSTNAME=NAME, simulate with --machine m/NAME\n",
	      f);
}

static void print_summary(const struct totals *t)
{
	FILE *f = stderr;
	orr_sim_progress_clear();
	fprintf(f, "orrery sim: %d node%s, %.6f s of virtual time, %llu tasks, %llu messages, ",
		orr_sim.nranks, orr_sim.nranks == 1 ? "" : "s", t->makespan_s,
		(unsigned long long) t->tasks, (unsigned long long) t->messages);
	print_bytes(f, (double) t->bytes);
	fprintf(f, "; took %.2f s and ", orr_sim_wall_s() - orr_sim.wall_start);
	print_bytes(f, (double) orr_sim_peak_rss());
	fputc('\n', f);
	if (t->has_bounds)
		print_bounds(f, t);
	if (t->joules > 0)
		fprintf(f, "orrery sim: %.6g J of energy\n", t->joules);
	if (t->without_deviation >= 0.0005 && !(orr_sim.noise.unmeasured > 0))
		fprintf(f,
			"orrery sim: --noise leaves %.3g %% of the simulated kernel time alone, whose deviation was not measured; "
			"--noise-default PERCENT gives it one\n",
			100 * t->without_deviation);
	if (t->uncalibrated < 0.0005)
		return;
	fprintf(f, "orrery sim: %.3g %% of the simulated kernel time is uncalibrated:",
		100 * t->uncalibrated);
	for (unsigned i = 0; i < orr_sim.nuncalibrated && i < 8; i++)
		fprintf(f, "%s %s", i ? "," : "", orr_sim.uncalibrated[i].name);
	fprintf(f, "%s\n", orr_sim.nuncalibrated > 8 ? ", ..." : "");
	print_remedy(f);
}

int orr_sim_report_write(void)
{
	ORR_PLAIN_NUMBERS;
	struct totals t;
	int failed = 0;
	sum(&t);
	if (orr_sim.nuncalibrated)
		qsort(orr_sim.uncalibrated, orr_sim.nuncalibrated, sizeof(*orr_sim.uncalibrated),
		      by_time);
	if (orr_sim.stats_file)
		failed |= write_stats(&t, orr_sim.stats_file);
	if (orr_sim.report_file)
		failed |= write_report(&t, orr_sim.report_file);
	if (!orr_sim.quiet)
		print_summary(&t);
	return failed;
}
