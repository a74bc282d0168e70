/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All ranks wait for ever (see stuck.h).
 *
 * A rank is stuck by itself if its workers sleep, its only other thread waits in the runtime, no
 * timer runs, and the engine has nothing that goes on without another message. Only a message can
 * change that. The thread that waits looks: between two looks that see the same, it has asked once
 * more for what it waits for, so that it is about to wait on. A rank that is stuck by itself for
 * ORRERY_STALL_TIMEOUT reports to rank 0 how many messages it has sent and received. If all ranks
 * have reported, and as many messages were received as sent, rank 0 asks them again; if each
 * answers that nothing has changed since its report, no message was under way in between (Mattern,
 * Algorithms for distributed termination detection, 1987, section 4), so that nothing ever changes.
 * The answers bring what each rank waits for, and rank 0 prints it.
 *
 * Two kinds of messages are not counted as such. The end of a synchronous send: as many of these
 * must be incomplete at senders as wait at receivers. Collectives of the world: one that all ranks
 * have begun comes to its end. Where the runtime does not know enough, it says nothing: threads
 * that MPI or the program has started in ways that nobody sees, a worker that the engine's thread
 * steps, barriers of a part of the ranks, elastic runs.
 *
 * Invariant: a rank answers only while the state of its report lasts, and a report revokes the
 * question that is under way. */
#include "mpi/carry/stuck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/notice.h"
#include "base/numbers.h"
#include "base/park.h"
#include "base/standstill.h"
#include "base/upcalls.h"
#include "mpi/carry/mpi_stall.h"
#include "mpi/carry/stuck_list.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/request.h"

#define LINES 16 /* of the list, so that those of mpirun fit on the screen, too */

/* All numbers that must not change; without padding, because they are compared as bytes. */
struct state {
	uint64_t nsent, nreceived; /* envelopes */
	uint64_t unanswered, kept; /* synchronous messages that no receive has taken: here, there */
	uint64_t nrequests, nsubmitted, ncompleted;
	uint64_t ncollectives; /* of the world, that began */
	uint64_t awaited;      /* the number of the one that the program waits for, 0: none */
};

/* A message of this file. An answer (stuck_list.h) comes in several. */
enum kind { REPORT, QUESTION, ANSWER };
struct head {
	struct orr_mpi_envelope env;
	uint32_t kind;
	uint32_t round; /* of questions */
	uint32_t last;  /* of the messages of an answer */
	uint32_t nbytes;
};
#define PIECE (ORR_MPI_ASIDE_MAX - sizeof(struct head))

/* A rank as rank 0 knows it. */
struct account {
	struct state state;
	struct orr_stuck_list answer;
	int reported;
};

struct orr_stuck {
	double limit_us;
	double next_us;  /* of the next look */
	double since_us; /* of the first look that saw this state */
	struct state state;
	unsigned nlooks; /* in a row that saw it; 0: the last one saw that something goes on */
	int reported;    /* the state */
	uint32_t asked;  /* the question that is to be answered, 0: none */
	/* of rank 0: */
	struct account *of; /* by rank; NULL before the first report */
	int nreports, nanswers;
	uint32_t round;
};

void orr_mpi_stuck_begin(struct orr_mpi *mpi)
{
	double limit_us = orr_sys_stall_us(mpi->proc);

	_Static_assert(sizeof(struct head) + sizeof(struct state) <= ORR_MPI_ASIDE_MAX,
		       "a transport listens for less");
	orr_assert(!mpi->watch.stuck);
	if (limit_us < 0 || mpi->fake || orr_sys_mpi_elastic() ||
	    orr_sys_mpi_threads(mpi->proc) < 0)
		return;
	/* Without memory, this rank never reports. */
	mpi->watch.stuck = calloc(1, sizeof(*mpi->watch.stuck));
	if (mpi->watch.stuck)
		mpi->watch.stuck->limit_us = limit_us;
}

void orr_mpi_stuck_end(struct orr_mpi *mpi)
{
	struct orr_stuck *s = mpi->watch.stuck;

	mpi->counts.ncollectives = 0;
	if (!s)
		return;
	for (int i = 0; s->of && i < mpi->size; i++)
		free(s->of[i].answer.v);
	free(s->of);
	free(s);
	mpi->watch.stuck = NULL;
}

/* ---- this rank ---- */

struct tally {
	const struct orr_mpi *mpi;
	int moves, unanswered;
};

static void count_request(struct orr_mpi_req *req, void *arg)
{
	struct tally *t = arg;
	int posted = req->kind == ORR_MPI_RECV && req->where == ORR_MPI_POSTED,
	    held = req->where == ORR_MPI_FETCHING && !req->granted,
	    synchronous = req->kind == ORR_MPI_SEND && req->sync,
	    to_self = req->peer == t->mpi->rank && req->where == ORR_MPI_READY,
	    unanswered = req->peer != t->mpi->rank && req->where == ORR_MPI_FLYING;

	if (req->where == ORR_MPI_DONE)
		return;
	t->unanswered += synchronous && unanswered;
	t->moves |= !posted && !held && !(synchronous && (unanswered || to_self));
}

/* Fills in the state; 0 if something of this process can go on, or if that is not known. */
static int look(struct orr_mpi *mpi, int collective, struct state *state)
{
	struct orr_process *proc = mpi->proc;
	struct tally t = { .mpi = mpi };
	int nothers = orr_sys_mpi_threads(proc);

	if (proc->state != ORR_PROCESS_UP || !proc->core_up->asleep(proc) || nothers < 0 ||
	    ORR_ATOMIC_LOAD(&mpi->engine.inbox) || ORR_ATOMIC_LOAD(&mpi->engine.nsubmitting) ||
	    ORR_ATOMIC_LOAD(&mpi->counts.nannounced) || mpi->ready.n || mpi->counts.nrelays ||
	    mpi->counts.ndeferred)
		return 0;
	orr_mpi_reqs_foreach(mpi, count_request, &t);
	/* Threads: the workers', the engine's, the one that waits, and the heartbeat's. */
	if (t.moves || mpi->flights.n != t.unanswered ||
	    !orr_sys_only_threads(proc, proc->ngroups + 2 + (unsigned) nothers +
						(mpi->heartbeat.thread != NULL)))
		return 0;
	*state = (struct state){ .nsent = mpi->counts.nsent,
				 .nreceived = mpi->counts.nreceived,
				 .unanswered = (uint64_t) t.unanswered,
				 .nrequests = mpi->reqs.seq,
				 .ncollectives = mpi->counts.ncollectives,
				 .awaited = collective ? mpi->counts.ncollectives : 0 };
	proc->core_up->count_tasks(proc, &state->nsubmitted, &state->ncompleted);
	for (const struct orr_mpi_early *e = mpi->match.first; e; e = e->next)
		state->kept += e->env.flags & ORR_MPI_SYNC && e->source != mpi->rank;
	return 1;
}

/* ---- messages ---- */

static void post(struct orr_mpi *mpi, int rank, enum kind kind, uint32_t round, int last,
		 const void *bytes, size_t n)
{
	char *message = malloc(sizeof(struct head) + n);
	struct head head = { .env = { .flags = ORR_MPI_STUCK | ORR_MPI_EAGER,
				      .size = sizeof(head) - sizeof(head.env) + n },
			     .kind = kind,
			     .round = round,
			     .last = (uint32_t) last,
			     .nbytes = (uint32_t) n };

	orr_assert(n <= PIECE);
	if (!message)
		orr_fatal("out of memory for a message between ranks");
	memcpy(message, &head, sizeof(head));
	if (n)
		memcpy(message + sizeof(head), bytes, n);
	orr_mpi_aside_post(mpi, rank, message, sizeof(head) + n);
}

/* ---- the verdict; by rank 0 ---- */

/* One call writes all of it: mpirun, which prints what it has to say about the abort as soon as it
 * hears of it, puts nothing into the middle of a line. */
static void print_at_once(struct orr_standstill *all)
{
	struct orr_notice n;

	orr_standstill_print(all, orr_notice_open(&n), LINES - 1);
	orr_notice_write(&n);
}

static void give_verdict(struct orr_mpi *mpi)
{
	ORR_PLAIN_NUMBERS;
	struct orr_standstill *all = orr_standstill_new(mpi->size);

	orr_error(
		"nothing can act any more: %d of %d ranks wait for ever (ORRERY_STALL_TIMEOUT=0 goes on waiting)",
		mpi->size, mpi->size);
	for (int i = 0; all && i < mpi->size; i++)
		orr_stuck_list_enter(all, i, &mpi->watch.stuck->of[i].answer);
	if (all)
		print_at_once(all);
	orr_sys_mpi_abort(mpi->proc);
}

/* ---- rank 0 and the others ---- */

static struct account *account_of(struct orr_mpi *mpi, int rank)
{
	struct orr_stuck *s = mpi->watch.stuck;

	orr_assert(mpi->rank == 0 && rank >= 0 && rank < mpi->size);
	if (!s->of)
		s->of = calloc((size_t) mpi->size, sizeof(*s->of));
	return s->of ? &s->of[rank] : NULL;
}

/* Does something that was reported by all go on by itself? */
static int goes_on(const struct orr_mpi *mpi)
{
	const struct account *of = mpi->watch.stuck->of;
	struct state sum = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < mpi->size; i++) {
		sum.nsent += of[i].state.nsent;
		sum.nreceived += of[i].state.nreceived;
		sum.unanswered += of[i].state.unanswered;
		sum.kept += of[i].state.kept;
		if (of[i].state.ncollectives < least)
			least = of[i].state.ncollectives;
	}
	for (int i = 0; i < mpi->size; i++)
		if (of[i].state.awaited && of[i].state.awaited <= least)
			return 1;
	return sum.nsent != sum.nreceived || sum.unanswered != sum.kept;
}

static void ask_all(struct orr_mpi *mpi)
{
	struct orr_stuck *s = mpi->watch.stuck;

	for (int i = 0; i < mpi->size; i++) {
		s->of[i].answer.n = 0;
		if (i)
			post(mpi, i, QUESTION, s->round, 0, NULL, 0);
	}
	s->asked = s->round;
	s->next_us = 0;
}

static void note_report(struct orr_mpi *mpi, int rank, const struct state *state)
{
	struct orr_stuck *s = mpi->watch.stuck;
	struct account *a = account_of(mpi, rank);

	if (!a)
		return;
	s->nreports += !a->reported;
	a->reported = 1;
	a->state = *state;
	s->round++;
	s->nanswers = 0;
	if (s->nreports == mpi->size && !goes_on(mpi))
		ask_all(mpi);
}

static void note_answer(struct orr_mpi *mpi, int rank, uint32_t round, int last, const void *bytes,
			size_t n)
{
	struct orr_stuck *s = mpi->watch.stuck;
	struct account *a = account_of(mpi, rank);

	if (!a || round != s->round)
		return;
	orr_stuck_list_append(&a->answer, bytes, n);
	s->nanswers += last;
	if (s->nanswers == mpi->size)
		give_verdict(mpi);
}

static void report(struct orr_mpi *mpi)
{
	struct orr_stuck *s = mpi->watch.stuck;

	s->reported = 1;
	if (mpi->rank)
		post(mpi, 0, REPORT, 0, 0, &s->state, sizeof(s->state));
	else
		note_report(mpi, 0, &s->state);
}

static void answer(struct orr_mpi *mpi, const char *what)
{
	struct orr_stuck *s = mpi->watch.stuck;
	struct orr_stuck_list b = { 0 };
	uint32_t round = s->asked;
	size_t at = 0;

	s->asked = 0;
	orr_stuck_list_make(mpi, what, &b);
	do {
		size_t n = b.n - at < PIECE ? b.n - at : PIECE;
		int last = at + n == b.n;
		if (mpi->rank)
			post(mpi, 0, ANSWER, round, last, b.v + at, n);
		else
			note_answer(mpi, 0, round, last, b.v + at, n);
		at += n;
	} while (at < b.n);
	free(b.v);
}

void orr_mpi_stuck_watch(struct orr_mpi *mpi, const char *what, int collective)
{
	struct orr_stuck *s = mpi->watch.stuck;
	struct state state = { 0 };
	double now;

	orr_mpi_assert_owner(mpi);
	if (!s || !what || (now = orr_sys_now_us()) < s->next_us)
		return;
	s->next_us = now + s->limit_us / ORR_PARK_LOOKS;
	int stuck = look(mpi, collective, &state);
	if (!stuck || !s->nlooks || memcmp(&state, &s->state, sizeof(state))) {
		s->nlooks = (unsigned) stuck;
		s->state = state;
		s->since_us = now;
		s->reported = 0;
		s->asked = 0;
		return;
	}
	s->nlooks++;
	if (now - s->since_us < s->limit_us)
		return;
	if (!s->reported)
		report(mpi);
	else if (s->asked)
		answer(mpi, what);
}

void orr_mpi_stuck_in(struct orr_mpi *mpi, const char *message, size_t bytes, int source)
{
	struct orr_stuck *s = mpi->watch.stuck;
	struct head head;
	struct state state;

	orr_mpi_assert_owner(mpi);
	if (!s)
		return;
	if (bytes < sizeof(head))
		orr_fatal("a message of rank %d about waiting has %zu bytes", source, bytes);
	memcpy(&head, message, sizeof(head));
	message += sizeof(head);
	bytes -= sizeof(head);
	if (bytes < (head.kind == REPORT ? sizeof(state) : head.kind == ANSWER ? head.nbytes : 0))
		orr_fatal("a message of rank %d about waiting is cut off", source);
	switch (head.kind) {
	case REPORT:
		memcpy(&state, message, sizeof(state));
		note_report(mpi, source, &state);
		break;
	case QUESTION:
		/* Unless the report has been overtaken by what happened since. */
		if (s->reported)
			s->asked = head.round;
		s->next_us = 0;
		break;
	case ANSWER: note_answer(mpi, source, head.round, (int) head.last, message, head.nbytes);
	}
}
