/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stalls across ranks. A receive that no message comes for is mostly the fault of the rank that
 * should have sent it: it inserted fewer tasks, or waits itself. Before a rank prints what waits,
 * it finds out how far those ranks are: where the world knows the others' processes, by a look at
 * them; else it asks their engines, which answer while their programs wait or compute.
 *
 * Invariant: a rank that does not answer delays the print by ANSWER_US, and nothing else. */
#include "mpi/carry/mpi_stall.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/mpi_flight.h"
#include "mpi/carry/request.h"
#include "mpi/carry/request_list.h"
#include "mpi/carry/rest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/notice.h"
#include "core/task/task_count.h"

#define MOST 8 /* ranks that are asked */
#define ANSWER_US 500e3

/* The progress of a rank, seen by another one. */
struct far {
	uint64_t ninserted;
	uint64_t nmessages; /* that it sent to the other one */
	double since_us;    /* since the last of them */
	uint64_t ntasks;    /* pending */
};

struct orr_stall {
	double since_us; /* when the questions were sent; 0: there are none */
	unsigned n, nanswers;
	struct {
		int rank, answered;
		struct far far;
	} v[MOST];
};

/* A question, or an answer. */
struct aside {
	struct orr_mpi_envelope env;
	struct far far;
};

/* ---- the ranks that this one waits for ---- */

struct awaited {
	struct orr_mpi *mpi;
	unsigned n;
	struct {
		const struct orr_mpi_req *first;
		unsigned nreceives;
	} v[MOST];
};

static void note_receive(struct orr_mpi_req *req, void *arg)
{
	struct awaited *a = arg;
	unsigned i;

	if (req->kind != ORR_MPI_RECV || req->where != ORR_MPI_POSTED || req->plan ||
	    req->peer == ORR_MPI_ANY || req->peer == a->mpi->rank)
		return;
	for (i = 0; i < a->n && a->v[i].first->peer != req->peer; i++)
		;
	if (i == MOST)
		return;
	if (i == a->n) {
		a->n++;
		a->v[i].first = req;
		a->v[i].nreceives = 0;
	}
	a->v[i].nreceives++;
	if (req->seq < a->v[i].first->seq)
		a->v[i].first = req;
}

static struct awaited awaited_by(struct orr_mpi *mpi)
{
	struct awaited a = { .mpi = mpi };

	orr_mpi_reqs_foreach(mpi, note_receive, &a);
	return a;
}

/* ---- how far they are ---- */

static struct far far_of(struct orr_mpi *mpi, int seen_by)
{
	struct far far = { .ninserted = ORR_ATOMIC_LOAD_RELAXED(&mpi->counts.ninserted) };

	orr_lock(&mpi->lock);
	const struct orr_mpi_peer *p = orr_map_find(&mpi->stats.peers, (uint64_t) seen_by);
	if (p && p->stats.messages) {
		far.nmessages = p->stats.messages;
		far.since_us = orr_sys_now_us() - mpi->start_us - p->stats.last_us;
	}
	orr_unlock(&mpi->lock);
	if (mpi->proc->state == ORR_PROCESS_UP)
		far.ntasks = orr_task_npending(mpi->proc);
	return far;
}

void orr_mpi_aside_post(struct orr_mpi *mpi, int rank, void *message, size_t bytes)
{
	struct orr_parcel *f = orr_mpi_fly(mpi, ORR_FLIGHT_ASIDE_OUT, NULL, NULL, message);
	struct orr_layout row;

	orr_assert(bytes <= ORR_MPI_ASIDE_MAX);
	mpi->transport->send(mpi->proc, f, message, orr_layout_row(&row, bytes), rank,
			     mpi->set.comm_tag, 0);
}

static void send_aside(struct orr_mpi *mpi, int rank, uint32_t flags, const struct far *far)
{
	_Static_assert(sizeof(struct aside) <= ORR_MPI_ASIDE_MAX, "a transport listens for less");
	struct aside *aside = calloc(1, sizeof(*aside));

	if (!aside)
		return;
	aside->env.flags = flags | ORR_MPI_EAGER;
	aside->env.size = sizeof(aside->far);
	if (far)
		aside->far = *far;
	orr_mpi_aside_post(mpi, rank, aside, sizeof(*aside));
}

void orr_mpi_stall_in(struct orr_mpi *mpi, const char *message, size_t bytes, int source)
{
	struct orr_stall *stall = mpi->watch.stall;
	struct aside aside;

	if (bytes < sizeof(aside))
		orr_fatal("a question or answer of rank %d has %zu bytes", source, bytes);
	memcpy(&aside, message, sizeof(aside));
	if (aside.env.flags & ORR_MPI_ASK) {
		struct far far = far_of(mpi, source);
		send_aside(mpi, source, ORR_MPI_TELL, &far);
		return;
	}
	for (unsigned i = 0; stall && i < stall->n; i++)
		if (stall->v[i].rank == source && !stall->v[i].answered) {
			stall->v[i].answered = 1;
			stall->v[i].far = aside.far;
			stall->nanswers++;
		}
}

/* Fills in what is known of a rank; returns whether anything is. */
static int know(struct orr_mpi *mpi, int rank, struct far *far)
{
	struct orr_process *proc = orr_sys_mpi_process_at(mpi->proc, rank);

	if (proc && proc->mpi) {
		*far = far_of(proc->mpi, mpi->rank);
		return 1;
	}
	for (unsigned i = 0; mpi->watch.stall && i < mpi->watch.stall->n; i++)
		if (mpi->watch.stall->v[i].rank == rank && mpi->watch.stall->v[i].answered) {
			*far = mpi->watch.stall->v[i].far;
			return 1;
		}
	return 0;
}

/* ---- the lines ---- */

static void tell_far(struct orr_mpi *mpi, FILE *f, int rank, const struct far *far)
{
	uint64_t here = ORR_ATOMIC_LOAD_RELAXED(&mpi->counts.ninserted);
	int64_t more = (int64_t) (far->ninserted - here);

	if (far->nmessages)
		fprintf(f, ", which sent its last message to it %.3f s ago (%" PRIu64 " in all)",
			far->since_us * 1e-6, far->nmessages);
	else
		fprintf(f, ", which has sent it no message");
	if (more)
		fprintf(f, "; rank %d inserted %" PRId64 " task%s %s", rank,
			more < 0 ? -more : more, more == 1 || more == -1 ? "" : "s",
			more < 0 ? "fewer" : "more");
	else
		fprintf(f, "; rank %d inserted as many tasks", rank);
	fprintf(f, " (%" PRIu64 ", here %" PRIu64 "), and %" PRIu64 " of its tasks are pending",
		far->ninserted, here, far->ntasks);
	if (here && !mpi->check)
		fputs(more ? "; ORRERY_CHECK_INSERTS=1 names the first that differs"
			   : "; ORRERY_CHECK_INSERTS=1 compares them, their tags and owners",
		      f);
	fputc('\n', f);
}

void orr_mpi_stall_tell(struct orr_mpi *mpi, FILE *f)
{
	struct awaited a = awaited_by(mpi);

	for (unsigned i = 0; i < a.n; i++) {
		const struct orr_mpi_req *req = a.v[i].first;
		struct far far;
		int known = know(mpi, req->peer, &far);

		/* Nobody has asked. */
		if (!known && (!mpi->watch.stall || !mpi->watch.stall->n))
			continue;
		fprintf(f, "[rank %d] rank %d waits for tag %" PRId64, mpi->rank, mpi->rank,
			req->tag);
		if (a.v[i].nreceives > 1)
			fprintf(f, " (and %u more receives)", a.v[i].nreceives - 1);
		fprintf(f, " of rank %d", req->peer_rank);
		if (known)
			tell_far(mpi, f, req->peer_rank, &far);
		else
			fprintf(f,
				", which does not answer: its process is stopped, or its runtime has ended\n");
	}
}

/* ---- the watchdog ---- */

static void ask(struct orr_mpi *mpi, double now)
{
	struct awaited a = awaited_by(mpi);
	struct orr_stall *stall = mpi->watch.stall;

	if (!stall && !(stall = mpi->watch.stall = calloc(1, sizeof(*stall))))
		return;
	*stall = (struct orr_stall){ .since_us = now };
	for (unsigned i = 0; i < a.n; i++) {
		int rank = a.v[i].first->peer;
		if (orr_sys_mpi_process_at(mpi->proc, rank))
			continue;
		stall->v[stall->n++].rank = rank;
		send_aside(mpi, rank, ORR_MPI_ASK, NULL);
	}
}

void orr_mpi_stall_show(struct orr_mpi *mpi)
{
	struct orr_notice n;

	orr_mpi_stall_tell(mpi, orr_notice_open(&n));
	orr_mpi_dump(mpi->proc, n.f, 20);
	orr_notice_write(&n);
}

static void bark(struct orr_mpi *mpi, double now)
{
	orr_warn("no communication has ended for %.1f s (STARPU_WATCHDOG_TIMEOUT); what waits:",
		 (now - mpi->watch.event_us) * 1e-6);
	orr_mpi_stall_show(mpi);
	mpi->watch.event_us = -1;
	mpi->watch.stall->since_us = 0;
	if (mpi->proc->cfg->watchdog_crash)
		orr_sys_mpi_abort(mpi->proc);
}

static void stall_report(struct orr_mpi *mpi)
{
	double limit = (double) mpi->proc->cfg->watchdog_us, now = orr_sys_now_us();
	struct orr_stall *stall = mpi->watch.stall;

	if (mpi->watch.event_us == 0) {
		mpi->watch.event_us = now;
		if (stall)
			stall->since_us = 0;
	}
	if (mpi->watch.event_us < 0 || now - mpi->watch.event_us <= limit)
		return;
	if (!stall || stall->since_us == 0)
		ask(mpi, now);
	else if (stall->nanswers == stall->n || now - stall->since_us > ANSWER_US)
		bark(mpi, now);
}

void orr_mpi_stall_exit(struct orr_mpi *mpi)
{
	free(mpi->watch.stall);
	mpi->watch.stall = NULL;
}

void orr_mpi_stall_watch(struct orr_mpi *mpi)
{
	if (mpi->proc->cfg->watchdog_us > 0 && orr_mpi_busy(mpi))
		stall_report(mpi);
}
