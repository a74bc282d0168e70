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
#include "mpi/carry/unmatched.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/mpi_wait.h"
#include "mpi/carry/engine.h"
#include "mpi/carry/match.h"
#include "mpi/carry/request.h"
#include "mpi/carry/rest.h"
#include "mpi/carry/request_list.h"
#include "mpi/carry/mpi_stall.h"
#include "base/assert.h"
#include "base/log.h"
#include "core/task/task_count.h"

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
	r.at_rest &= !ORR_ATOMIC_LOAD(&mpi->engine.inbox) && !mpi->ready.n &&
		     !mpi->counts.nrelays && !mpi->late.groups;
	r.sums[SENT] = mpi->counts.nsent;
	r.sums[RECEIVED] = mpi->counts.nreceived;
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
	double pause_us = 0.25;

	for (;;) {
		if (mpi->may_drive)
			orr_mpi_wait_until(mpi, nothing_goes_on, &p, NULL);
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
		/* A value that this process passes on needs its time. */
		pause_us = pause_us < patience_us ? 2 * pause_us : pause_us;
		orr_sys_sleep_us(pause_us);
	}
}

static int start_over(struct orr_mpi *mpi, MPI_Comm comm, const uint64_t *mine, uint64_t *all,
		      int n, MPI_Request *request)
{
	while (mpi->may_drive && !orr_mpi_own(mpi))
		orr_sys_relax();
	int ret = orr_sys_mpi_sum_start(mpi->proc, comm, mine, all, n, request);
	mpi->counts.ncollectives += mpi->may_drive && comm == mpi->comms.all[0]->comm;
	if (mpi->may_drive)
		orr_mpi_unown(mpi);
	return ret;
}

int orr_mpi_sum_start(struct orr_mpi *mpi, const uint64_t *mine, uint64_t *all, int n,
		      MPI_Request *request)
{
	return start_over(mpi, mpi->comms.all[0]->comm, mine, all, n, request);
}

void orr_mpi_sum_finish(struct orr_mpi *mpi, MPI_Request *request)
{
	orr_mpi_wait_until(mpi, orr_mpi_collective_test, request,
			   "a call that all ranks make, as starpu_mpi_shutdown()");
}

int orr_mpi_sum_over(struct orr_mpi *mpi, MPI_Comm comm, const uint64_t *mine, uint64_t *all, int n)
{
	MPI_Request request;
	int ret = start_over(mpi, comm, mine, all, n, &request);

	if (!ret)
		orr_mpi_sum_finish(mpi, &request);
	return ret;
}

int orr_mpi_sum(struct orr_mpi *mpi, const uint64_t *mine, uint64_t *all, int n)
{
	return orr_mpi_sum_over(mpi, mpi->comms.all[0]->comm, mine, all, n);
}

int orr_mpi_settle(struct orr_mpi *mpi)
{
	uint64_t all[NSUMS], last[NSUMS] = { UINT64_MAX };
	double patience_us = FIRST_PATIENCE_US;
	int equal = 0;

	/* Messages that were denied memory come here, so that their senders can end. */
	if (ORR_ATOMIC_XCHG(&mpi->limits.throttle, 0))
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

static starpu_data_handle_t handle_of_tag(struct orr_mpi *mpi, int64_t tag)
{
	return tag >= 0 ? orr_map_find(&mpi->data.tags, (uint64_t) tag) : NULL;
}

/* The first messages or receives of a report, in the order of their ranks and tags: it reads the
 * same whenever the run does the same. */
struct report {
	struct line {
		int64_t tag;
		int rank; /* or ORR_MPI_ANY */
		starpu_data_handle_t handle;
	} line[SHOWN];
	unsigned n; /* of all, shown or not */
};

static int is_before(const struct line *a, const struct line *b)
{
	return a->rank != b->rank ? (unsigned) a->rank < (unsigned) b->rank : a->tag < b->tag;
}

static void add_line(struct report *r, struct line new)
{
	unsigned i = r->n < SHOWN ? r->n : SHOWN;

	r->n++;
	for (; i && is_before(&new, &r->line[i - 1]); i--)
		if (i < SHOWN)
			r->line[i] = r->line[i - 1];
	if (i < SHOWN)
		r->line[i] = new;
}

static void write_line(const struct line *l, char *text, size_t size)
{
	char rank[32] = "any rank";

	if (l->rank != ORR_MPI_ANY)
		snprintf(rank, sizeof(rank), "rank %d", l->rank);
	snprintf(text, size, "from %s, tag %" PRId64 "%s%s", rank, l->tag, l->handle ? ", " : "",
		 l->handle ? orr_handle_name(l->handle) : "");
}

/* " a; b; ..." */
static void write_lines(const struct report *r, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < r->n && i < SHOWN && used < size; i++) {
		char one[200];

		write_line(&r->line[i], one, sizeof(one));
		used += (size_t) snprintf(text + used, size - used, "%s %s", i ? ";" : "", one);
	}
	if (r->n > SHOWN && used < size)
		snprintf(text + used, size - used, "; ...");
}

/* Messages that no receive asked for. */
static unsigned report_messages(struct orr_mpi *mpi)
{
	struct report r = { .n = 0 };
	char text[1024];

	for (struct orr_mpi_early *e = mpi->match.first; e; e = e->next)
		if (!e->req)
			add_line(&r, (struct line){ .tag = e->env.tag,
						    .rank = e->source,
						    .handle = handle_of_tag(mpi, e->env.tag) });
	write_lines(&r, text, sizeof(text));
	if (r.n)
		orr_warn(
			"rank %d: %u message%s came that no receive asked for:%s; either a receive is missing, or this rank left out a task in which it has a part",
			mpi->rank, r.n, r.n > 1 ? "s" : "", text);
	return r.n;
}

struct receives {
	struct orr_mpi *mpi;
	struct report report;
	unsigned ncancelled, nsends;
};

static void note_receive(struct orr_mpi_req *req, void *arg)
{
	struct receives *r = arg;

	if (req->where == ORR_MPI_DONE)
		return;
	if (req->kind != ORR_MPI_RECV) {
		r->nsends++;
		return;
	}
	add_line(&r->report, (struct line){ .tag = req->tag,
					    .rank = req->peer_rank,
					    .handle = req->acquire.access.handle });
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
	ORR_ATOMIC_STORE_RELAXED(&req->where, ORR_MPI_DONE);
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
	char text[1024];

	orr_mpi_reqs_foreach(mpi, note_receive, &r);
	unsigned n = r.report.n;
	write_lines(&r.report, text, sizeof(text));
	if (n)
		orr_warn("rank %d: no message came for %u receive%s:%s", mpi->rank, n,
			 n > 1 ? "s" : "", text);
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
		orr_mpi_stall_show(mpi);
		orr_sys_mpi_abort(mpi->proc);
	}
	return n;
}

void orr_mpi_report_unmatched(struct orr_mpi *mpi)
{
	while (mpi->may_drive && !orr_mpi_own(mpi))
		orr_sys_relax();
	unsigned n = report_messages(mpi) + report_receives(mpi);
	if (mpi->may_drive)
		orr_mpi_unown(mpi);
	if (!mpi->proc->cfg->mpi_unmatched_error)
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
