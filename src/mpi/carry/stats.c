/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Communication statistics and the trace of communications.
 *
 * One small record per peer that something was sent to or came from holds two counts. The world
 * gathers the first in a file when asked; it runs from the start, unless the program switches
 * counting off. The second is the one that the program sees and that is printed at the end; it runs
 * while the program wants it, from the start with STARPU_MPI_STATS or from
 * starpu_mpi_comm_stats_enable().
 *
 * The first count has two parts. What went over which pair counts each hop of a tree; who needs
 * whose data counts each value once for each rank that it was sent for (logical), whichever way it
 * went.
 *
 * Invariant: one message per datum, its payload's bytes, however many messages of MPI carry it: so
 * both worlds count the same. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/checksum.h"
#include "base/notice.h"
#include "base/numbers.h"
#include "base/private.h"
#include "orrery.h"
#include "mpi/carry/fake_rank.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/stats.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/map.h"
#include "core/front/statistics.h"
#include "core/front/work.h"

void orr_mpi_count(struct orr_mpi *mpi, struct orr_mpi_peer *p, size_t bytes, unsigned what)
{
	int counting = ORR_ATOMIC_LOAD(&mpi->stats.counting);
	struct orr_mpi_peer_stats *s = &p->stats;

	if (counting == ORR_MPI_COUNTS_NOTHING)
		return;
	orr_lock(&mpi->lock);
	double now = orr_sys_now_us() - mpi->start_us;
	if (!orr_mpi_stats_sent(s))
		s->first_us = now;
	if (what & ORR_MPI_COUNT_HOP) {
		s->messages++;
		s->bytes += bytes;
		if (counting == ORR_MPI_COUNTS_FOR_PROGRAM)
			p->program_bytes += bytes;
	}
	if (what & ORR_MPI_COUNT_LOGICAL) {
		s->logical_messages++;
		s->logical_bytes += bytes;
	}
	s->last_us = now;
	orr_unlock(&mpi->lock);
}

void orr_mpi_count_received(struct orr_mpi *mpi, struct orr_mpi_peer *p, size_t bytes)
{
	orr_mpi_assert_owner(mpi);
	if (ORR_ATOMIC_LOAD(&mpi->stats.counting) == ORR_MPI_COUNTS_NOTHING)
		return;
	ORR_ATOMIC_STORE_RELAXED(&p->received_messages, p->received_messages + 1);
	ORR_ATOMIC_STORE_RELAXED(&p->received_bytes, p->received_bytes + bytes);
}

/* All counts of this communicator. Under mpi->lock. */
static struct orr_mpi_peer_stats stats_of(const struct orr_mpi_peer *p)
{
	struct orr_mpi_peer_stats s = p->stats;

	s.received_messages = ORR_ATOMIC_LOAD_RELAXED(&p->received_messages);
	s.received_bytes = ORR_ATOMIC_LOAD_RELAXED(&p->received_bytes);
	return s;
}

static int by_peer(const void *a, const void *b)
{
	return ((const struct orr_mpi_peer_stats *) a)->peer -
	       ((const struct orr_mpi_peer_stats *) b)->peer;
}

/* A sorted copy of the counts, to be freed; *n may be 0. whole: from the start, not only those of
 * this communicator. received: also of peers that only sent. NULL when memory is exhausted. */
static struct orr_mpi_peer_stats *snapshot(struct orr_mpi *mpi, int whole, int received,
					   unsigned *n)
{
	orr_lock(&mpi->lock);
	struct orr_mpi_peer_stats *v = malloc((mpi->stats.peers.n + 1) * sizeof(*v));
	*n = 0;
	for (uint32_t i = 0; v && i < mpi->stats.peers.cap; i++) {
		const struct orr_mpi_peer *p = orr_map_at(&mpi->stats.peers, i);
		if (!p)
			continue;
		v[*n] = stats_of(p);
		if (whole)
			orr_mpi_stats_add(&v[*n], &p->before);
		*n += orr_mpi_stats_sent(&v[*n]) || (received && v[*n].received_messages);
	}
	orr_unlock(&mpi->lock);
	if (v)
		qsort(v, *n, sizeof(*v), by_peer);
	else
		orr_error("out of memory for the communication statistics");
	return v;
}

struct orr_mpi_peer_stats *orr_mpi_stats_all(struct orr_mpi *mpi, unsigned *n)
{
	return snapshot(mpi, 1, 1, n);
}

/* The lines of a rank, and the checksum of those that were printed. */
struct printed {
	FILE *f;
	struct orr_crc32 *crc; /* NULL: no memory for it */
	uint32_t sum;
};

static void print_line(struct printed *p, const char *who, uint64_t bytes, double seconds)
{
	const double mb = 1024.0 * 1024.0;
	double rate = seconds > 0 ? (double) bytes / seconds : 0;
	char line[256];
	int n = snprintf(line, sizeof(line),
			 "[starpu_comm_stats][%s\t%f B\t%f MB\t %f B/s\t %f MB/s\n", who,
			 (double) bytes, (double) bytes / mb, rate, rate / mb);

	orr_assert(n > 0 && (size_t) n < sizeof(line));
	if (p->crc)
		p->sum = orr_crc32(p->crc, p->sum, line, (size_t) n);
	fputs(line, p->f);
}

/* Bytes to one peer, as the program sees them. */
static uint64_t program_bytes(struct orr_mpi *mpi, int peer)
{
	orr_lock(&mpi->lock);
	const struct orr_mpi_peer *p = orr_map_find(&mpi->stats.peers, (uint64_t) peer);
	uint64_t bytes = p ? p->program_bytes : 0;
	orr_unlock(&mpi->lock);
	return bytes;
}

static void print_stats(struct orr_mpi *mpi)
{
	ORR_PLAIN_NUMBERS;
	double seconds = (orr_sys_now_us() - mpi->start_us) * 1e-6;
	uint64_t total = 0;
	unsigned n;
	char who[48];
	struct orr_notice notice;
	struct orr_mpi_peer_stats *v = snapshot(mpi, 1, 0, &n);
	struct printed lines = { .crc = malloc(sizeof(*lines.crc)) };

	if (lines.crc)
		orr_crc32_init(lines.crc);
	for (unsigned i = 0; v && i < n; i++)
		total += program_bytes(mpi, v[i].peer);
	snprintf(who, sizeof(who), "%d] TOTAL:", mpi->rank);
	lines.f = orr_notice_open(&notice);
	fprintf(lines.f, "\n");
	print_line(&lines, who, total, seconds);
	for (unsigned i = 0; v && i < n; i++) {
		uint64_t bytes = program_bytes(mpi, v[i].peer);
		snprintf(who, sizeof(who), "%d:%d]", mpi->rank, v[i].peer);
		if (bytes)
			print_line(&lines, who, bytes, seconds);
	}
	if (lines.crc)
		fprintf(lines.f, "[starpu_comm_stats][%d] checksum: %08x, rank %d of %d\n",
			mpi->rank, (unsigned) lines.sum, mpi->rank, mpi->size);
	free(lines.crc);
	orr_notice_write(&notice);
	free(v);
}

/* The records for tools (core/front/statistics.h). */
static void record_stats(struct orr_mpi *mpi)
{
	ORR_PLAIN_NUMBERS;
	double seconds = (orr_sys_now_us() - mpi->start_us) * 1e-6;
	uint64_t total = 0;
	unsigned n = 0;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct orr_mpi_peer_stats *v = f ? snapshot(mpi, 1, 1, &n) : NULL;

	for (unsigned i = 0; v && i < n; i++)
		total += program_bytes(mpi, v[i].peer);
	if (v)
		fprintf(f,
			"{\"what\": \"messages\", \"rank\": %d, \"start\": %u, \"seconds\": %.9f, \"program_bytes\": %" PRIu64
			", \"inserted\": %" PRIu64 ", \"own\": %" PRIu64 ", \"own_bytes\": %" PRIu64
			", \"copies_bytes\": %" PRIu64 "}\n",
			mpi->rank, mpi->proc->epoch, seconds, total, mpi->counts.ninserted,
			mpi->counts.nown, ORR_ATOMIC_LOAD(&mpi->holds.own_most),
			ORR_ATOMIC_LOAD(&mpi->holds.copies_most));
	for (unsigned i = 0; v && i < n; i++)
		fprintf(f,
			"{\"what\": \"peer\", \"rank\": %d, \"start\": %u, \"peer\": %d, \"program_bytes\": %" PRIu64
			", \"bytes\": %" PRIu64 ", \"messages\": %" PRIu64
			", \"logical_bytes\": %" PRIu64 ", \"logical_messages\": %" PRIu64
			", \"received_bytes\": %" PRIu64 ", \"received_messages\": %" PRIu64
			", \"first_s\": %.9f, \"last_s\": %.9f, \"active_s\": %.9f}\n",
			mpi->rank, mpi->proc->epoch, v[i].peer, program_bytes(mpi, v[i].peer),
			v[i].bytes, v[i].messages, v[i].logical_bytes, v[i].logical_messages,
			v[i].received_bytes, v[i].received_messages, v[i].first_us * 1e-6,
			v[i].last_us * 1e-6, v[i].active_us * 1e-6);
	free(v);
	if (f && !fclose(f) && text)
		orr_statistics_add(mpi->proc, text, size);
	free(text);
}

void orr_mpi_stats_report(struct orr_mpi *mpi)
{
	unsigned n = 0;
	struct orr_mpi_peer_stats *v = mpi->life.left ? NULL : snapshot(mpi, 0, mpi->fake, &n);

	if (mpi->stats.print)
		print_stats(mpi);
	if (mpi->proc->cfg->statistics)
		record_stats(mpi);
	if (mpi->alone)
		orr_mpi_alone_report(mpi);
	orr_work_tell(mpi->proc);
	orr_sys_mpi_report_stats(mpi->proc, v, v ? n : 0, mpi->life.left);
	free(v);
}

void orr_mpi_stats_switch(struct orr_mpi *mpi, MPI_Comm next)
{
	unsigned n;
	struct orr_mpi_peer_stats *v = snapshot(mpi, 0, 0, &n);

	orr_sys_mpi_keep_stats(mpi->proc, next, v, v ? n : 0);
	free(v);
	orr_lock(&mpi->lock);
	for (uint32_t i = 0; i < mpi->stats.peers.cap; i++) {
		struct orr_mpi_peer *p = orr_map_at(&mpi->stats.peers, i);
		if (!p)
			continue;
		struct orr_mpi_peer_stats s = stats_of(p);
		orr_mpi_stats_add(&p->before, &s);
		p->stats = (struct orr_mpi_peer_stats){ .peer = (int) p->key };
		ORR_ATOMIC_STORE_RELAXED(&p->received_messages, 0);
		ORR_ATOMIC_STORE_RELAXED(&p->received_bytes, 0);
	}
	orr_unlock(&mpi->lock);
}

void orr_mpi_trace(struct orr_mpi *mpi, const char *what, const struct orr_mpi_req *req)
{
	if (__builtin_expect(!mpi->proc->cfg->mpi_comm_trace, 1))
		return;

	ORR_PLAIN_NUMBERS;
	fprintf(stderr,
		"[starpu_mpi_comm][%d] %.3f us: %s %s %s %s rank %d tag %" PRId64
		" bytes %zu prio %d\n",
		mpi->rank, orr_sys_now_us() - mpi->start_us, what,
		req->kind == ORR_MPI_SEND ? "send" : "receive",
		orr_handle_name(req->acquire.access.handle),
		req->kind == ORR_MPI_SEND ? "to" : "from", req->peer_rank, req->tag, req->size,
		req->prio);
}

/* ---- public ---- */

void starpu_mpi_comm_stats_disable(void)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (mpi)
		ORR_ATOMIC_STORE(&mpi->stats.counting, ORR_MPI_COUNTS_NOTHING);
}

void starpu_mpi_comm_stats_enable(void)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return;
	ORR_ATOMIC_STORE(&mpi->stats.counting, ORR_MPI_COUNTS_FOR_PROGRAM);
	mpi->stats.print = 1;
}

void starpu_mpi_comm_stats_retrieve(size_t *comm_stats)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return;
	memset(comm_stats, 0, (size_t) mpi->size * sizeof(*comm_stats));
	orr_lock(&mpi->lock);
	for (uint32_t i = 0; i < mpi->stats.peers.cap; i++) {
		const struct orr_mpi_peer *p = orr_map_at(&mpi->stats.peers, i);
		if (p && p->stats.peer < mpi->size)
			comm_stats[p->stats.peer] = p->program_bytes;
	}
	orr_unlock(&mpi->lock);
}

void starpu_mpi_comm_amounts_retrieve(size_t *comm_amounts)
{
	starpu_mpi_comm_stats_retrieve(comm_amounts);
}

static int unwritten(const char *path, int err)
{
	orr_error("cannot write communication statistics to '%s': %s", path, orr_private_why(err));
	return err;
}

int orrery_stats_write(const char *path)
{
	ORR_PLAIN_NUMBERS;
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	unsigned n;

	if (!mpi)
		return -ENODEV;
	struct orr_mpi_peer_stats *v = snapshot(mpi, 1, 0, &n);
	if (!v)
		return -ENOMEM;
	struct orr_checked text;
	FILE *f = orr_checked_open(&text);
	if (!f) {
		free(v);
		return -ENOMEM;
	}
	fputs(ORR_MPI_STATS_HEAD, f);
	for (unsigned i = 0; i < n; i++)
		fprintf(f, "%d,%d,%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%.9f,%" PRIu64 ",%" PRIu64 "\n",
			mpi->rank, v[i].peer, v[i].bytes, v[i].messages, v[i].first_us * 1e-6,
			v[i].last_us * 1e-6, v[i].active_us * 1e-6, v[i].logical_bytes,
			v[i].logical_messages);
	free(v);
	int fd = orr_private_output(path, O_WRONLY | O_CREAT | O_TRUNC);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	int err = fd < 0 ? fd : f ? 0 : -errno;
	if (!f) {
		fclose(text.stream);
		free(text.text);
		return unwritten(path, err);
	}
	err = orr_checked_close(&text, f);
	if (!err && (fflush(f) || ferror(f)))
		err = -errno;
	if (fclose(f) && !err)
		err = -errno;
	return err ? unwritten(path, err) : 0;
}
