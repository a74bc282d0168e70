/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of all communication: the ranks find out together that nothing can happen any more, and
 * each reports the messages that no receive asked for and the receives that no message came for.
 *
 * A rank is at rest when no task of it is ready or running and no request of it can go on by
 * itself. Ranks at rest add up what they sent and received. When both are equal and nobody has a
 * request left, all is over. Requests that are left may still be served by a rank that was not at
 * rest yet or by a message that was on its way, so the ranks add again; two equal sums in a row
 * with as many messages received as sent mean that nothing happened anywhere in between (Mattern,
 * Algorithms for distributed termination detection, 1987, section 4).
 *
 * Invariant: every rank takes part in the same number of sums, because each decides by the sums
 * alone. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "mpi/unmatched.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/task_count.h"

#define FIRST_PATIENCE_US 1000.0
#define LONG_PATIENCE_US 1e6
#define HELD_ROUNDS \
	3 /* equal sums in a row where a request waits for its data, which may be on their \
	     way from another memory */
#define SHOWN 5

/* The numbers that the ranks add up. */
enum { SENT, RECEIVED, LEFT, HELD, TASKS, NSUMS };

struct rest {
	uint64_t sums[NSUMS];
	int at_rest;
};

static void count_left(struct orr_mpi_req *req, void *arg)
{
	struct rest *r = arg;
	int posted = req->kind == ORR_MPI_RECV && req->where == ORR_MPI_POSTED,
	    unanswered = req->sync && req->where == ORR_MPI_FLYING,
	    held = req->where == ORR_MPI_FETCHING && !req->granted;

	if (!req->detached || req->where == ORR_MPI_DONE)
		return;
	r->sums[LEFT]++;
	r->sums[HELD] += held || unanswered || (posted && !req->granted);
	r->at_rest &= posted || unanswered || held;
}

/* Looks at all requests and tasks of this process. */
static struct rest look_around(struct orr_mpi *mpi)
{
	struct rest r = { .at_rest = 1 };
	int up = mpi->proc->state == ORR_PROCESS_UP;

	while (mpi->may_drive && !orr_mpi_own(mpi))
		orr_sys_relax();
	if (ORR_ATOMIC_LOAD(&mpi->ndetached))
		orr_mpi_reqs_foreach(mpi, count_left, &r);
	r.at_rest &= !ORR_ATOMIC_LOAD(&mpi->inbox) && !mpi->nready && !mpi->nrelays;
	r.sums[SENT] = mpi->nsent;
	r.sums[RECEIVED] = mpi->nreceived;
	if (mpi->may_drive)
		orr_mpi_unown(mpi);
	r.sums[TASKS] = up ? orr_task_ncompleted(mpi->proc) : 0;
	if (r.sums[LEFT])
		r.at_rest &= !up || !starpu_task_nready();
	else
		r.at_rest &= !up || !orr_task_npending(mpi->proc);
	return r;
}

/* ---- waiting for this process ---- */

struct patience {
	double us, until_us;
	struct rest rest;
};

/* All detached requests are complete, or it is time to look around and nothing goes on. */
static int nothing_goes_on(struct orr_mpi *mpi, void *arg)
{
	struct patience *p = arg;

	if (!ORR_ATOMIC_LOAD(&mpi->ndetached))
		return 1;
	if (orr_sys_now_us() < p->until_us)
		return 0;
	p->us = p->us < LONG_PATIENCE_US ? 2 * p->us : p->us;
	p->until_us = orr_sys_now_us() + p->us;
	p->rest = look_around(mpi);
	return p->rest.at_rest;
}

/* [waits] Until this process is at rest. */
static struct rest come_to_rest(struct orr_mpi *mpi, double patience_us)
{
	struct patience p = { .us = patience_us, .until_us = orr_sys_now_us() + patience_us };

	for (;;) {
		if (mpi->may_drive)
			orr_mpi_wait_until(mpi, nothing_goes_on, &p);
		while (!nothing_goes_on(mpi, &p)) {
			unsigned key = orr_waitq_prepare(&mpi->done);
			if (!ORR_ATOMIC_LOAD(&mpi->ndetached))
				orr_waitq_cancel(&mpi->done);
			else
				orr_waitq_wait(&mpi->done, key, p.us);
		}
		if (!ORR_ATOMIC_LOAD(&mpi->ndetached) && mpi->proc->state == ORR_PROCESS_UP)
			starpu_task_wait_for_all();
		p.rest = look_around(mpi);
		if (p.rest.at_rest)
			return p.rest;
	}
}

int orr_mpi_sum_start(struct orr_mpi *mpi, const uint64_t *mine, uint64_t *all, int n,
		      MPI_Request *request)
{
	while (mpi->may_drive && !orr_mpi_own(mpi))
		orr_sys_relax();
	int ret = orr_sys_mpi_sum_start(mpi->proc, mpi->comms[0]->comm, mine, all, n, request);
	if (mpi->may_drive)
		orr_mpi_unown(mpi);
	return ret;
}

void orr_mpi_sum_finish(struct orr_mpi *mpi, MPI_Request *request)
{
	orr_mpi_wait_until(mpi, orr_mpi_collective_test, request);
}

int orr_mpi_sum(struct orr_mpi *mpi, const uint64_t *mine, uint64_t *all, int n)
{
	MPI_Request request;
	int ret = orr_mpi_sum_start(mpi, mine, all, n, &request);

	if (!ret)
		orr_mpi_sum_finish(mpi, &request);
	return ret;
}

int orr_mpi_settle(struct orr_mpi *mpi)
{
	uint64_t all[NSUMS], last[NSUMS] = { UINT64_MAX };
	double patience_us = FIRST_PATIENCE_US;
	int equal = 0;

	/* Messages that were denied memory come here, so that their senders can end. */
	if (ORR_ATOMIC_XCHG(&mpi->throttle, 0))
		orr_mpi_ring(mpi);
	for (;;) {
		struct rest r = come_to_rest(mpi, patience_us);
		int ret = orr_mpi_sum(mpi, r.sums, all, NSUMS);
		if (ret)
			return ret;
		int arrived = all[SENT] == all[RECEIVED];
		if (arrived && !all[LEFT])
			return 0;
		equal = memcmp(all, last, sizeof(all)) ? 0 : equal + 1;
		if (arrived && equal >= (all[HELD] ? HELD_ROUNDS : 1))
			return 0;
		memcpy(last, all, sizeof(all));
		/* Everybody waits equally long, so that a message or a copy gets its time. */
		if (all[LEFT])
			orr_sys_sleep_us(patience_us);
		patience_us = patience_us < LONG_PATIENCE_US ? 4 * patience_us : patience_us;
	}
}

/* ---- reports ---- */

static const char *name_of_tag(struct orr_mpi *mpi, int64_t tag)
{
	starpu_data_handle_t h = tag >= 0 ? orr_map_find(&mpi->tags, (uint64_t) tag) : NULL;

	return h ? orr_handle_name(h) : "";
}

/* Messages that no receive asked for. */
static unsigned report_messages(struct orr_mpi *mpi)
{
	char list[512] = "";
	size_t used = 0;
	unsigned n = 0;

	for (struct orr_mpi_early *e = mpi->early_first; e; e = e->next) {
		if (e->req)
			continue;
		if (n++ >= SHOWN || used >= sizeof(list))
			continue;
		const char *name = name_of_tag(mpi, e->env.tag);
		used += (size_t) snprintf(list + used, sizeof(list) - used,
					  "%s from rank %d, tag %" PRId64 "%s%s", n > 1 ? ";" : "",
					  e->source, e->env.tag, *name ? ", " : "", name);
	}
	if (n)
		orr_warn(
			"rank %d: %u message%s came that no receive asked for:%s%s; either a receive is missing, or this rank left out a task in which it has a part",
			mpi->rank, n, n > 1 ? "s" : "", list, n > SHOWN ? "; ..." : "");
	return n;
}

struct receives {
	struct orr_mpi *mpi;
	char list[512];
	size_t used;
	unsigned n, ncancelled, nsends;
};

static void note_receive(struct orr_mpi_req *req, void *arg)
{
	struct receives *r = arg;
	char from[32] = "any rank";

	if (req->where == ORR_MPI_DONE)
		return;
	if (req->kind != ORR_MPI_RECV) {
		r->nsends++;
		return;
	}
	if (r->n++ >= SHOWN || r->used >= sizeof(r->list))
		return;
	if (req->peer_rank != ORR_MPI_ANY)
		snprintf(from, sizeof(from), "rank %d", req->peer_rank);
	r->used += (size_t) snprintf(r->list + r->used, sizeof(r->list) - r->used,
				     "%s %s from %s, tag %" PRId64, r->n > 1 ? ";" : "",
				     orr_handle_name(req->acquire.access.handle), from, req->tag);
}

/* Gives up a detached receive whose datum nobody else waits for before it. Its callback does not
 * run: nothing was received. */
static void cancel_receive(struct orr_mpi_req *req, void *arg)
{
	struct receives *r = arg;

	if (!req->detached || req->kind != ORR_MPI_RECV || req->where != ORR_MPI_POSTED ||
	    !req->granted)
		return;
	orr_lock(&r->mpi->lock);
	orr_mpi_match_withdraw(r->mpi, req);
	req->where = ORR_MPI_DONE;
	orr_unlock(&r->mpi->lock);
	orr_acquire_release(&req->acquire);
	orr_mpi_req_free(r->mpi, req);
	ORR_ATOMIC_ADD(&r->mpi->ndetached, -1);
	r->ncancelled++;
}

/* Receives that no message came for; they end here. */
static unsigned report_receives(struct orr_mpi *mpi)
{
	struct receives r = { .mpi = mpi };

	orr_mpi_reqs_foreach(mpi, note_receive, &r);
	if (r.n)
		orr_warn("rank %d: no message came for %u receive%s:%s%s", mpi->rank, r.n,
			 r.n > 1 ? "s" : "", r.list, r.n > SHOWN ? "; ..." : "");
	uint64_t ntasks = mpi->proc->state == ORR_PROCESS_UP ? orr_task_npending(mpi->proc) : 0;
	if (!ntasks)
		do {
			r.ncancelled = 0;
			orr_mpi_reqs_foreach(mpi, cancel_receive, &r);
		} while (r.ncancelled);
	if (ORR_ATOMIC_LOAD(&mpi->ndetached)) {
		orr_error(
			"rank %d: %" PRIu64
			" tasks and %d communications wait for what will not come, so the program cannot end:",
			mpi->rank, ntasks, ORR_ATOMIC_LOAD(&mpi->ndetached));
		orr_mpi_dump(mpi->proc, stderr, 20);
		orr_sys_mpi_abort(mpi->proc);
	}
	return r.n;
}

void orr_mpi_report_unmatched(struct orr_mpi *mpi)
{
	while (mpi->may_drive && !orr_mpi_own(mpi))
		orr_sys_relax();
	unsigned n = report_messages(mpi) + report_receives(mpi);
	if (mpi->may_drive)
		orr_mpi_unown(mpi);
	if (!mpi->proc->cfg.mpi_unmatched_error)
		return;
	/* All ranks end together: none is in the middle of MPI_Finalize when another one aborts. */
	uint64_t mine[NSUMS] = { n }, all[NSUMS] = { 0 };
	if (!orr_mpi_sum(mpi, mine, all, NSUMS) && all[0]) {
		orr_error(
			"rank %d ends the program because of %" PRIu64
			" unmatched messages and receives of all ranks (ORRERY_MPI_UNMATCHED_ERROR=1)",
			mpi->rank, all[0]);
		orr_sys_mpi_abort(mpi->proc);
	}
}
