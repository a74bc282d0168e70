/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waiting: for one request, for all communications, for all ranks.
 *
 * A thread that waits drives the engine itself where that is allowed.
 *
 * Invariant: whoever learns here that a request is complete frees it; detached requests free
 * themselves. */
#include "mpi/carry/fake_rank.h"
#include "mpi/carry/mpi_wait.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/engine.h"
#include "mpi/carry/request.h"
#include "mpi/carry/burst.h"
#include "mpi/carry/late.h"
#include "mpi/carry/rest.h"
#include "mpi/carry/mpi_stall.h"
#include "mpi/carry/stuck.h"

#include <errno.h>
#include "base/assert.h"
#include "base/park.h"
#include "base/log.h"
#include "core/task/task_count.h"
#include "trace/trace.h"

/* Polls without an event between two looks of the watches, each of which reads the clock. A poll
 * takes a millisecond at most (ORR_PATIENCE_LONG_NAP_US). */
#define POLLS_PER_WATCH 16

static int wait_is_done(struct orr_mpi *mpi, void *arg)
{
	(void) mpi;
	return ORR_ATOMIC_LOAD(&((struct orr_mpi_req *) arg)->done);
}

void orr_mpi_wait_until(struct orr_mpi *mpi, int (*cond)(struct orr_mpi *, void *), void *arg,
			const char *what)
{
	orr_assert_no_lock();
	orr_mpi_burst_flush(mpi);
	if (cond(mpi, arg))
		return;
	double since_us = orr_trace_wait_begin(mpi->proc);
	unsigned nempty = 0;

	if (orr_mpi_late_hurry(mpi) && !mpi->may_drive)
		orr_mpi_ring(mpi);
	if (mpi->may_drive) {
		ORR_ATOMIC_ADD(&mpi->engine.drivers, 1);
		orr_mpi_stir(mpi); /* what this thread waits for is about to happen */
	}
	if (!cond(mpi, arg))
		orr_about_to_wait(mpi->proc);
	while (!cond(mpi, arg)) {
		if (mpi->may_drive && orr_mpi_own(mpi)) {
			int n = orr_mpi_progress(mpi);
			if (!n && ++nempty % POLLS_PER_WATCH == 0) {
				orr_mpi_stall_watch(mpi);
				orr_mpi_stuck_watch(mpi, what, cond == orr_mpi_collective_test);
			}
			orr_mpi_unown(mpi);
			if (!n && !cond(mpi, arg) && !mpi->fake)
				orr_mpi_rest(mpi, ORR_MPI_EXPECTING);
			if (!mpi->fake || n)
				continue;
		}
		unsigned key = orr_waitq_prepare(&mpi->done);
		if (cond(mpi, arg))
			orr_waitq_cancel(&mpi->done);
		else
			orr_waitq_wait(&mpi->done, key, mpi->may_drive ? 500.0 : -1.0);
	}
	if (mpi->may_drive) {
		/* Another waiting thread drives from here on, or else the dedicated thread. */
		if (ORR_ATOMIC_ADD(&mpi->engine.drivers, -1))
			orr_waitq_wake(&mpi->done);
		else if (orr_mpi_busy(mpi))
			orr_mpi_expect(mpi);
	}
	if (since_us >= 0 && mpi->proc->trace)
		orr_trace_waited(mpi->proc, since_us,
				 cond == orr_mpi_collective_test || !what ? "a barrier" : what,
				 cond == wait_is_done
					 ? ORR_CAUSE_MESSAGE |
						   (uint32_t) ((struct orr_mpi_req *) arg)->seq
					 : 0);
}

static void wait_fill_status(struct orr_mpi *mpi, const struct orr_mpi_req *req, MPI_Status *status)
{
	/* Programs that were written for an MPI where both are the same give NULL. */
	if (!status || status == MPI_STATUS_IGNORE)
		return;
	status->MPI_SOURCE = req->peer_rank == ORR_MPI_ANY
				     ? orr_mpi_from_world(mpi->comms.all[req->comm], req->peer)
				     : req->peer_rank;
	status->MPI_TAG = (int) req->tag;
	status->MPI_ERROR = MPI_SUCCESS;
}

void orr_mpi_finish(struct orr_mpi *mpi, struct orr_mpi_req *req, MPI_Status *status,
		    const char *what)
{
	orr_assertf(!req->detached && req->kind != ORR_MPI_FREE,
		    "waiting for a request that frees itself");
	orr_mpi_wait_until(mpi, wait_is_done, req, what);
	orr_assert(req->where == ORR_MPI_DONE);
	wait_fill_status(mpi, req, status);
	orr_mpi_req_free(mpi, req);
}

int starpu_mpi_wait(starpu_mpi_req *req, MPI_Status *status)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	int ret = mpi ? orr_mpi_check_blocking(__func__) : -ENODEV;

	if (ret)
		return ret;
	if (!req || !*req) {
		orr_error(
			"starpu_mpi_wait: the request is NULL: it was waited for or tested complete before, or never started");
		return -EINVAL;
	}
	orr_mpi_finish(mpi, *req, status, __func__);
	*req = NULL;
	return 0;
}

int starpu_mpi_test(starpu_mpi_req *req, int *flag, MPI_Status *status)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return -ENODEV;
	if (!req || !*req) {
		orr_error(
			"starpu_mpi_test: the request is NULL: it was waited for or tested complete before, or never started");
		return -EINVAL;
	}
	*flag = wait_is_done(mpi, *req);
	if (!*flag && mpi->may_drive) {
		if (orr_mpi_own(mpi)) {
			orr_mpi_progress(mpi);
			orr_mpi_unown(mpi);
		}
		*flag = wait_is_done(mpi, *req);
	} else if (!*flag && !orr_thread_self()->task) {
		/* A program that polls must let time pass. */
		orr_sys_sleep_us(1.0);
		*flag = wait_is_done(mpi, *req);
	}
	if (*flag) {
		wait_fill_status(mpi, *req, status);
		orr_mpi_req_free(mpi, *req);
		*req = NULL;
	}
	return 0;
}

static int wait_no_detached(struct orr_mpi *mpi, void *arg)
{
	(void) arg;
	return !ORR_ATOMIC_LOAD(&mpi->ndetached);
}

void orr_mpi_wait_detached(struct orr_mpi *mpi, const char *what)
{
	orr_mpi_wait_until(mpi, wait_no_detached, NULL, what);
}

void orr_mpi_wait_everything(struct orr_mpi *mpi, const char *what)
{
	/* Callbacks of messages submit tasks, and callbacks of tasks submit messages. */
	do {
		orr_mpi_wait_detached(mpi, what);
		starpu_task_wait_for_all();
	} while (ORR_ATOMIC_LOAD(&mpi->ndetached) || orr_task_npending(mpi->proc));
}

/* ---- collectives: polled, so that the engine goes on meanwhile ---- */

/* Without MPI_THREAD_MULTIPLE only the engine's owner may call MPI. */
int orr_mpi_collective_test(struct orr_mpi *mpi, void *request)
{
	int alone = !orr_sys_mpi_thread_multiple(mpi->proc);

	if (alone && !orr_mpi_own(mpi))
		return 0;
	int over = orr_sys_mpi_collective_test(mpi->proc, request);
	if (alone)
		orr_mpi_unown(mpi);
	return over;
}

int orr_mpi_barrier(struct orr_mpi *mpi, MPI_Comm comm)
{
	MPI_Request request;

	while (mpi->may_drive && !orr_mpi_own(mpi))
		orr_sys_relax();
	int ret = orr_sys_mpi_barrier_start(mpi->proc, comm, &request),
	    whole = comm == mpi->comms.all[0]->comm;
	mpi->counts.ncollectives += mpi->may_drive && whole;
	if (mpi->may_drive)
		orr_mpi_unown(mpi);
	if (!ret)
		orr_mpi_wait_until(mpi, orr_mpi_collective_test, &request,
				   whole ? "a barrier of all ranks" : NULL);
	return ret;
}

int starpu_mpi_barrier(MPI_Comm comm)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	int ret = mpi ? orr_mpi_check_blocking(__func__) : -ENODEV;

	if (ret)
		return ret;
	if (mpi->alone)
		orr_mpi_alone_waited(mpi);
	return mpi->fake ? 0 : orr_mpi_barrier(mpi, comm);
}
