/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread of the heartbeat, and the end of a run that has lost ranks (see heartbeat.h).
 *
 * Invariant: once the thread has decided to end the run, this process ends, whatever its other
 * threads wait for. */
#include "mpi/run/heartbeat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/seam_datagram.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/request.h"
#include "mpi/run/detector.h"

#define LEAST_US 1e6   /* a shorter limit accuses a rank that the system lets wait */
#define ENDS_US 3e6    /* this process ends then, even if MPI_Abort() never returns */
#define CUT_OFF_US 1e6 /* likewise, where nobody can be told */
#define LOOKS 100      /* so often the lock of the layer is asked for, ... */
#define LOOKS_US 1e4   /* ... with such a pause */

/* ---- what waits ---- */

/* Fields of requests that go on meanwhile may be out of date. */
struct search {
	const int *lost;
	int n;
	unsigned nfound;
	struct { /* the one that was submitted first */
		uint64_t seq;
		int64_t tag;
		int kind, peer_rank;
	} first;
};

static void note_request(struct orr_mpi_req *req, void *arg)
{
	struct search *s = arg;
	unsigned kind = ORR_ATOMIC_LOAD_RELAXED(&req->kind),
		 where = ORR_ATOMIC_LOAD_RELAXED(&req->where);
	int waits = kind == ORR_MPI_RECV ? where == ORR_MPI_POSTED || where == ORR_MPI_FLYING
					 : kind == ORR_MPI_SEND && where == ORR_MPI_FLYING;

	for (int i = 0; waits && i < s->n; i++) {
		if (req->peer != s->lost[i])
			continue;
		if (!s->nfound++ || req->seq < s->first.seq)
			s->first = (typeof(s->first)){ req->seq, req->tag, (int) kind,
						       req->peer_rank };
	}
}

/* Nobody holds the lock for long; but if a thread that does hangs, the run ends all the same. */
static int lock_in_time(struct orr_mpi *mpi)
{
	for (int i = 0; i < LOOKS; i++) {
		if (orr_trylock(&mpi->lock))
			return 1;
		orr_sys_sleep_us(LOOKS_US);
	}
	return 0;
}

unsigned orr_detector_waits(struct orr_process *proc, const int *lost, int n,
			    char text[ORR_DETECTOR_TEXT])
{
	struct orr_mpi *mpi = ORR_ATOMIC_LOAD(&proc->mpi);
	struct search s = { .lost = lost, .n = n };

	text[0] = '\0';
	if (!mpi || !lock_in_time(mpi))
		return 0;
	orr_mpi_reqs_foreach(mpi, note_request, &s);
	orr_unlock(&mpi->lock);
	if (s.nfound)
		snprintf(text, ORR_DETECTOR_TEXT, "a %s with tag %" PRId64 " %s rank %d",
			 s.first.kind == ORR_MPI_SEND ? "send" : "receive", s.first.tag,
			 s.first.kind == ORR_MPI_SEND ? "to" : "from", s.first.peer_rank);
	return s.nfound;
}

/* ---- the thread ---- */

static void speak(const struct orr_detector *d)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f) {
		orr_detector_say(d, f);
		fclose(f);
	}
	orr_error("%s", text ? text : "a rank is lost; the run ends");
	free(text);
}

static void end_run(struct orr_mpi *mpi, enum orr_detector_outcome outcome)
{
	const struct orr_detector *d = mpi->heartbeat.detector;
	int alone = orr_detector_without_launcher(d);

	orr_sys_end_surely(mpi->proc, alone ? CUT_OFF_US : ENDS_US, alone);
	if (outcome == ORR_DETECTOR_SPEAKS)
		speak(d);
	/* Without mpirun, MPI_Abort() would end this process, and leave mpirun's daemon to wait for
	 * mpirun. */
	if (alone)
		orr_sys_sleep_us(10 * ENDS_US);
	orr_sys_mpi_abort(mpi->proc);
}

/* A rank that was told may be ended before its time, by an MPI that cannot do without the others:
 * mpirun's daemon ends all the same. Returns whether it will. */
static int daemon_ends(struct orr_mpi *mpi)
{
	const struct orr_detector *d = mpi->heartbeat.detector;
	double us = orr_detector_told_us(d);

	if (us < 0 || !orr_detector_without_launcher(d))
		return 0;
	orr_sys_end_surely(mpi->proc, us + CUT_OFF_US, 1);
	return 1;
}

static void *thread_main(void *arg)
{
	struct orr_mpi *mpi = arg;
	struct orr_detector *d = mpi->heartbeat.detector;
	char bytes[ORR_DATAGRAM_MAX];
	double wait_us;
	int from, ends = 0;

	while (!ORR_ATOMIC_LOAD(&mpi->heartbeat.stopping)) {
		enum orr_detector_outcome outcome = orr_detector_step(d, orr_sys_now_us(),
								      &wait_us);
		if (outcome != ORR_DETECTOR_WATCHES)
			end_run(mpi, outcome);
		size_t n = orr_sys_datagram_receive(mpi->proc, wait_us, bytes, &from);
		if (n)
			orr_detector_in(d, from, bytes, n);
		if (!ends)
			ends = daemon_ends(mpi);
	}
	orr_detector_bye(d);
	return NULL;
}

/* ---- the part ---- */

static int start(struct orr_mpi *mpi, double limit_us)
{
	struct orr_mpi_heartbeat *h = &mpi->heartbeat;

	h->detector = orr_detector_new(mpi->proc, mpi->rank, mpi->size, limit_us, orr_sys_now_us());
	h->stopping = 0;
	if (h->detector)
		h->thread = orr_sys_thread_start(mpi->proc, ORR_ROLE_WATCH, "heartbeat", -1,
						 thread_main, mpi);
	if (h->thread)
		return 0;
	orr_detector_free(h->detector);
	h->detector = NULL;
	orr_sys_datagrams_close(mpi->proc);
	orr_error("out of memory or threads for the heartbeat between ranks");
	return -ENOMEM;
}

int orr_mpi_heartbeat_begin(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	double limit_us = (double) mpi->proc->cfg->heartbeat_us;
	int ret;

	(void) to;
	if (mpi->fake || mpi->size == 1 || orr_sys_mpi_elastic())
		return 0;
	if (limit_us > 0 && limit_us < LEAST_US) {
		orr_error(
			"ORRERY_HEARTBEAT_TIMEOUT is %.0f microseconds, in which a rank that runs need not be heard; set it to %.0f or more, or to 0 for no heartbeat",
			limit_us, LEAST_US);
		limit_us = -1;
	}
	ret = orr_sys_datagrams_open(mpi->proc, &limit_us);
	return ret > 0 ? start(mpi, limit_us) : ret;
}

void orr_mpi_heartbeat_end(struct orr_mpi *mpi)
{
	struct orr_mpi_heartbeat *h = &mpi->heartbeat;

	if (!h->thread)
		return;
	ORR_ATOMIC_STORE(&h->stopping, 1);
	orr_sys_datagrams_wake(mpi->proc);
	orr_sys_thread_join(h->thread);
	h->thread = NULL;
	orr_detector_free(h->detector);
	h->detector = NULL;
	orr_sys_datagrams_close(mpi->proc);
}

void orr_mpi_heartbeat_leave(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	orr_mpi_heartbeat_end(mpi);
}

/* Without a heartbeat the run goes on. */
void orr_mpi_heartbeat_enter(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	orr_mpi_heartbeat_begin(mpi, to);
}
