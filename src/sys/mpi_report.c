/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The messages of a real run: a row for each pair of ranks. A process keeps rows of the
 * ranks that it had in earlier communicators, and of processes that have left the run.
 *
 * Invariant: the rows of a process are sorted by sender and receiver, and no pair is there twice.
 */
#include "sys/mpi_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/about.h"
#include "base/assert.h"
#include "base/checksum.h"
#include "base/mpi_fake_rows.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/output.h"

#define VARIABLE "ORRERY_MPI_STATS_FILE"

struct row {
	int src;
	struct orr_mpi_peer_stats to;
};

/* A real process has one MPI, and one table. */
static struct {
	struct row *v;
	int n;
} kept;

static int by_pair(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->src != y->src ? (x->src > y->src) - (x->src < y->src)
				: (x->to.peer > y->to.peer) - (x->to.peer < y->to.peer);
}

/* Room for that many more rows behind those that are there. */
static struct row *room(int n)
{
	struct row *v = realloc(kept.v, ((size_t) kept.n + (size_t) n + 1) * sizeof(*v));

	if (!v)
		orr_fatal("out of memory for the statistics");
	kept.v = v;
	return v + kept.n;
}

/* That many rows have been written behind the others. */
static void report_take(int n)
{
	int all = kept.n + n, last = 0;

	if (!all)
		return;
	qsort(kept.v, (size_t) all, sizeof(*kept.v), by_pair);
	for (int i = 1; i < all; i++)
		if (by_pair(&kept.v[i], &kept.v[last]))
			kept.v[++last] = kept.v[i];
		else
			orr_mpi_stats_add(&kept.v[last].to, &kept.v[i].to);
	kept.n = last + 1;
}

static void take_own(int rank, const struct orr_mpi_peer_stats *peers, unsigned n)
{
	struct row *at = room((int) n);

	for (unsigned i = 0; i < n; i++)
		at[i] = (struct row){ .src = rank, .to = peers[i] };
	report_take((int) n);
}

static void forget(void)
{
	free(kept.v);
	kept.v = NULL;
	kept.n = 0;
}

/* [waits] Collective: the bytes of all ranks, one after the other, *total of them, come to that
 * one; to be freed there. NULL elsewhere. */
static void *gather_bytes(MPI_Comm comm, int to, const void *mine, int bytes, int *total)
{
	int rank, size, *counts = NULL, *starts = NULL;
	char *all = NULL;

	*total = 0;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	if (rank == to) {
		counts = calloc(2 * (size_t) size, sizeof(*counts));
		if (!counts)
			orr_fatal("out of memory for the statistics");
		starts = counts + size;
	}
	MPI_Gather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, to, comm);
	for (int i = 0; counts && i < size; i++) {
		starts[i] = *total;
		*total += counts[i];
	}
	if (counts && !(all = malloc((size_t) *total + 1)))
		orr_fatal("out of memory for the statistics");
	MPI_Gatherv(mine, bytes, MPI_BYTE, all, counts, starts, MPI_BYTE, to, comm);
	free(counts);
	return all;
}

/* [waits] Collective: what the ranks that give keep comes to that one. */
static void gather(MPI_Comm comm, int to, int gives)
{
	int total;
	void *all = gather_bytes(comm, to, kept.v, gives ? kept.n * (int) sizeof(*kept.v) : 0,
				 &total);
	int n = total / (int) sizeof(*kept.v);

	orr_assert(!all || !gives);
	if (n)
		memcpy(room(n), all, (size_t) total);
	report_take(n);
	free(all);
}

void orr_real_stats_keep(MPI_Comm comm, MPI_Comm next, const struct orr_mpi_peer_stats *peers,
			 unsigned n)
{
	int rank, first = -1, mine = 0, heir;

	MPI_Comm_rank(comm, &rank);
	if (next != MPI_COMM_NULL)
		MPI_Comm_rank(next, &first);
	if (!first)
		mine = rank;
	take_own(rank, peers, n);
	MPI_Allreduce(&mine, &heir, 1, MPI_INT, MPI_SUM, comm);
	gather(comm, heir, next == MPI_COMM_NULL);
	if (next == MPI_COMM_NULL)
		forget();
}

/* One more than the highest rank that there was. */
static int nranks(int size)
{
	for (int i = 0; i < kept.n; i++) {
		if (kept.v[i].src >= size)
			size = kept.v[i].src + 1;
		if (kept.v[i].to.peer >= size)
			size = kept.v[i].to.peer + 1;
	}
	return size;
}

int orr_real_stats_prepare(MPI_Comm comm, const char *path)
{
	int rank, ret = 0;

	MPI_Comm_rank(comm, &rank);
	if (!rank)
		ret = orr_output_prepare(VARIABLE, path);
	MPI_Bcast(&ret, 1, MPI_INT, 0, comm);
	return ret;
}

/* A file that is being written: its text gets a checksum. */
struct stats_file {
	FILE *f;
	struct orr_checked text;
};

/* The stream for its text, with the comments; NULL after a message. */
static FILE *begin_file(struct stats_file *file, const char *path, int nodes, double makespan_us)
{
	char about[ORR_ABOUT_SIZE];
	FILE *text;

	file->f = orr_output_open(VARIABLE, path);
	if (!file->f)
		return NULL;
	text = orr_checked_open(&file->text);
	if (!text) {
		orr_error(VARIABLE ": not enough memory for '%s'", path);
		orr_output_close(file->f, VARIABLE, path);
		return NULL;
	}
	fprintf(text, "# orrery stats: nodes=%d makespan_s=%.6f\n", nodes, makespan_us * 1e-6);
	orr_sys_run_describe(orr_self(), about, sizeof(about));
	orr_about_comments(text, about);
	return text;
}

static void end_file(struct stats_file *file, const char *path)
{
	if (orr_checked_close(&file->text, file->f))
		orr_error(VARIABLE ": not enough memory for '%s'", path);
	orr_output_close(file->f, VARIABLE, path);
}

static void write_rows(const char *path, int size, double makespan_us)
{
	ORR_PLAIN_NUMBERS;
	struct stats_file file;
	FILE *f = begin_file(&file, path, nranks(size), makespan_us);

	if (!f)
		return;
	fputs(ORR_MPI_STATS_HEAD, f);
	for (const struct row *r = kept.v; r < kept.v + kept.n; r++)
		fprintf(f, "%d,%d,%llu,%llu,%.6f,%.6f,%.9f,%llu,%llu\n", r->src, r->to.peer,
			(unsigned long long) r->to.bytes, (unsigned long long) r->to.messages,
			r->to.first_us * 1e-6, r->to.last_us * 1e-6, r->to.active_us * 1e-6,
			(unsigned long long) r->to.logical_bytes,
			(unsigned long long) r->to.logical_messages);
	end_file(&file, path);
}

void orr_real_stats_write(MPI_Comm comm, const char *path, const struct orr_mpi_peer_stats *peers,
			  unsigned n, double span_us)
{
	double makespan_us = span_us;
	int rank, size;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	take_own(rank, peers, n);
	MPI_Reduce(&span_us, &makespan_us, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
	gather(comm, 0, rank != 0);
	if (!rank)
		write_rows(path, size, makespan_us);
	forget();
}

void orr_real_stats_write_fake(MPI_Comm comm, const char *path, int rank, int size,
			       const struct orr_mpi_peer_stats *peers, unsigned n, double span_us)
{
	ORR_PLAIN_NUMBERS;
	double makespan_us = span_us;
	struct orr_fake_rows rows = { .n = 0 };
	int total;

	orr_fake_rows_begin(&rows, rank, size);
	for (const struct orr_mpi_peer_stats *p = peers; p < peers + n; p++) {
		orr_fake_rows_add(&rows, rank, p->peer, 0, p->logical_messages, p->logical_bytes);
		orr_fake_rows_add(&rows, rank, p->peer, 1, p->received_messages, p->received_bytes);
	}
	MPI_Reduce(&span_us, &makespan_us, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
	void *all = gather_bytes(comm, 0, rows.v, (int) (rows.n * sizeof(*rows.v)), &total);
	free(rows.v);
	if (!all)
		return;
	rows = (struct orr_fake_rows){ .v = all, .n = (size_t) total / sizeof(*rows.v) };
	struct stats_file file;
	FILE *f = begin_file(&file, path, orr_fake_rows_size(&rows), makespan_us);
	if (f) {
		orr_fake_rows_write(f, ORR_MPI_STATS_HEAD, &rows);
		end_file(&file, path);
	}
	free(all);
}
