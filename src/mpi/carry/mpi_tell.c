/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The answers of the MPI layer (see mpi_tell.h). The lists have the names that reports and
 * tables of traces use (tools/orrery_lists.py).
 *
 * Invariant: as stated there. */
#include "mpi/carry/mpi_tell.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/seam_datagram.h"
#include "mpi/carry/layer.h"
#include "trace/format.h"
#include "mpi/carry/request.h"

struct tally {
	unsigned list[ORR_MPI_DONE + 1], early;
	uint64_t messages, bytes;
};

static void count_request(struct orr_mpi_req *req, void *arg)
{
	unsigned kind = ORR_ATOMIC_LOAD_RELAXED(&req->kind),
		 where = ORR_ATOMIC_LOAD_RELAXED(&req->where);

	if ((kind == ORR_MPI_SEND || kind == ORR_MPI_RECV) && where <= ORR_MPI_DONE)
		((struct tally *) arg)->list[where]++;
}

static int by_peer(const void *a, const void *b)
{
	const struct orr_mpi_peer_stats *x = a, *y = b;

	return (x->peer > y->peer) - (x->peer < y->peer);
}

/* Copies of the counts, n of them; NULL if there are none, or memory is exhausted. */
static struct orr_mpi_peer_stats *count(struct orr_mpi *mpi, struct tally *t, unsigned *n, int all)
{
	struct orr_mpi_peer_stats *v = NULL;

	*n = 0;
	orr_lock(&mpi->lock);
	if (all)
		v = malloc((mpi->stats.peers.n + 1) * sizeof(*v));
	for (uint32_t i = 0; i < mpi->stats.peers.cap; i++) {
		const struct orr_mpi_peer *p = orr_map_at(&mpi->stats.peers, i);

		if (!p)
			continue;
		struct orr_mpi_peer_stats whole = p->stats;
		orr_mpi_stats_add(&whole, &p->before);
		t->messages += whole.messages;
		t->bytes += whole.bytes;
		if (v && whole.messages)
			v[(*n)++] = whole;
	}
	orr_mpi_reqs_foreach(mpi, count_request, t);
	for (const struct orr_mpi_early *e = mpi->match.first; e; e = e->next)
		t->early += !e->req;
	orr_unlock(&mpi->lock);
	return v;
}

/* The present state of the progression. */
static const char *progression(const struct orr_mpi *mpi)
{
	if (!ORR_ATOMIC_LOAD(&mpi->engine.running))
		return "stopped";
	if (ORR_ATOMIC_LOAD(&mpi->rest.dozing))
		return "asleep";
	return ORR_ATOMIC_LOAD(&mpi->engine.owner) ? "busy" : "idle";
}

/* The time for which something has gone on since that moment (0: it does not) and the first look.
 */
static uint64_t lasts_ns(const int64_t *moment, int64_t looks_ns, int64_t now_ns)
{
	int64_t since_ns = ORR_ATOMIC_LOAD_RELAXED(moment);

	if (!since_ns)
		return 0;
	since_ns = since_ns > looks_ns ? since_ns : looks_ns;
	return now_ns > since_ns ? (uint64_t) (now_ns - since_ns) : 0;
}

/* Sums of the progression since the first look, in seconds of the rank's time; this may be that
 * one. Simulated threads sleep all the rest of the time. */
static void tell_turns(struct orr_mpi *mpi, FILE *f)
{
	struct orr_mpi_turn_sums *s = &mpi->trace.sums;
	int64_t now_ns = (int64_t) (orr_sys_now_us() * 1e3);

	if (!ORR_ATOMIC_LOAD_RELAXED(&s->on)) {
		ORR_ATOMIC_STORE_RELAXED(&s->since_ns, now_ns);
		ORR_ATOMIC_STORE(&s->on, 1);
	}
	int64_t looks_ns = ORR_ATOMIC_LOAD_RELAXED(&s->since_ns);
	uint64_t turns_ns = ORR_ATOMIC_LOAD_RELAXED(&s->ns[ORR_TURN_MESSAGES]) +
			    lasts_ns(&s->turn_ns, looks_ns, now_ns),
		 callbacks_ns = ORR_ATOMIC_LOAD_RELAXED(&s->callbacks_ns) +
				lasts_ns(&s->call_ns, looks_ns, now_ns),
		 asleep_ns = ORR_ATOMIC_LOAD_RELAXED(&s->ns[ORR_TURN_ASLEEP]) +
			     lasts_ns(&s->asleep_ns, looks_ns, now_ns);
	fprintf(f,
		", \"turns\": {\"seconds\": %.9f, \"messages_s\": %.9f, \"callbacks_s\": %.9f, \"tasks_s\": %.9f, \"asleep_s\": %.9f, \"others_s\": %.9f, \"things\": %" PRIu64
		"}",
		(double) (now_ns - looks_ns) * 1e-9,
		(double) (turns_ns > callbacks_ns ? turns_ns - callbacks_ns : 0) * 1e-9,
		(double) callbacks_ns * 1e-9,
		(double) ORR_ATOMIC_LOAD_RELAXED(&s->ns[ORR_TURN_TASKS]) * 1e-9,
		(double) asleep_ns * 1e-9, (double) ORR_ATOMIC_LOAD_RELAXED(&s->ns[0]) * 1e-9,
		ORR_ATOMIC_LOAD_RELAXED(&s->things));
}

/* True if a name may stand in a text of JSON as it is, and is one of a host. */
static int is_plain(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789.-_")];
}

/* The hosts of the run, where the ranks know each other's: the first rank of a host says it. */
static void tell_hosts(struct orr_mpi *mpi, FILE *f)
{
	const char *between = ", \"hosts\": [";

	if (!mpi->heartbeat.thread || orr_sys_datagram_host(mpi->proc, mpi->rank) != mpi->rank)
		return;
	for (int r = 0; r < mpi->size; r++) {
		const char *name = orr_sys_datagram_host_name(mpi->proc, r);

		if (orr_sys_datagram_host(mpi->proc, r) != r || !is_plain(name))
			continue;
		fprintf(f, "%s\"%s\"", between, name);
		between = ", ";
	}
	if (between[2] != '"')
		fputs("]", f);
}

void orr_mpi_tell(struct orr_process *proc, FILE *f, int all)
{
	struct orr_mpi *mpi = proc->mpi;
	struct tally t = { .early = 0 };
	unsigned n;

	if (!mpi)
		return;
	struct orr_mpi_peer_stats *v = count(mpi, &t, &n, all);
	fprintf(f,
		", \"messages\": %" PRIu64 ", \"bytes\": %" PRIu64
		", \"lists\": {\"fetching\": %u, \"ready\": %u, \"posted\": %u, \"flying\": %u, \"early\": %u}, \"progression\": \"%s\"",
		t.messages, t.bytes, t.list[ORR_MPI_FETCHING], t.list[ORR_MPI_READY],
		t.list[ORR_MPI_POSTED], t.list[ORR_MPI_FLYING], t.early, progression(mpi));
	tell_turns(mpi, f);
	tell_hosts(mpi, f);
	if (!v)
		return;
	qsort(v, n, sizeof(*v), by_peer);
	fputs(", \"peers\": [", f);
	for (unsigned i = 0; i < n; i++)
		fprintf(f,
			"%s{\"peer\": %d, \"messages\": %" PRIu64 ", \"bytes\": %" PRIu64
			", \"last_s\": %.6f}",
			i ? ", " : "", v[i].peer, v[i].messages, v[i].bytes, v[i].last_us * 1e-6);
	fputs("]", f);
	free(v);
}
