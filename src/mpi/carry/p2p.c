/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Point-to-point communication: every public send and receive is a thin form of orr_mpi_isend or
 * orr_mpi_irecv.
 *
 * A request acquires its datum in main memory (R to send, W to receive) in the order of submission;
 * a receive is posted for matching at once, so that receives match in the order in which the
 * program posted them.
 *
 * Invariant: a call never waits, the blocking forms and STARPU_MPI_MEM_THROTTLE aside; nothing is
 * left over when it fails. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "core/task/graph.h"
#include "mpi/carry/limits.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/p2p.h"
#include "mpi/carry/mpi_wait.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/engine.h"
#include "mpi/carry/match.h"
#include "mpi/carry/request.h"
#include "mpi/carry/rest.h"
#include "mpi/carry/burst.h"
#include "mpi/carry/relay.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "data/access.h"

static struct orr_mpi_req *req_of(struct orr_acquire *a)
{
	return (struct orr_mpi_req *) a;
}

/* The datum is available: gives the request to the engine, unless a receive still has to wait for
 * its message. Any thread. */
static void granted(struct orr_acquire *a)
{
	struct orr_mpi_req *req = req_of(a);
	struct orr_mpi *mpi = orr_self()->mpi;
	int submit = 1, sends = req->kind == ORR_MPI_SEND;

	/* A receive that is left to the engine may be complete, and used again, after the lock. */
	if (req->kind == ORR_MPI_RECV && !mpi->fake) {
		uint64_t after = orr_mpi_trace_after(mpi, req);

		orr_lock(&mpi->lock);
		orr_mpi_trace_grant(mpi, req,
				    after); /* before it is granted: then others go on with it */
		req->granted = 1;
		submit = req->early && req->early->state != ORR_EARLY_LOADING;
		req->submitted = (uint8_t) submit;
		orr_unlock(&mpi->lock);
	} else {
		orr_mpi_trace_grant(mpi, req, orr_mpi_trace_after(mpi, req));
		req->granted = 1;
	}
	/* a->arg: the caller of a blocking form drives the engine next. */
	if (sends)
		orr_mpi_burst_submit(mpi, req, a->arg != NULL);
	else if (submit)
		orr_mpi_submit(mpi, req, a->arg != NULL);
}

static struct orr_mpi_req *prepare(struct orr_mpi *mpi, struct orr_mpi_comm *c, int kind,
				   starpu_data_handle_t h, int peer, int64_t tag, int prio, int how)
{
	const char *what = kind == ORR_MPI_SEND ? "send" : "receive";

	if (!h) {
		orr_error("cannot %s a NULL data handle (tag %" PRId64 ")", what, tag);
		return NULL;
	}
	if ((peer < 0 || peer >= c->size) && !(kind == ORR_MPI_RECV && peer == MPI_ANY_SOURCE)) {
		orr_error(
			"cannot %s data %s: rank %d is not in the communicator, which has %d ranks",
			what, orr_handle_name(h), peer, c->size);
		return NULL;
	}
	struct orr_mpi_req *req = orr_mpi_req_alloc(mpi);
	if (!req)
		return NULL;
	req->tag = tag;
	req->context = c->context;
	req->comm = c->index;
	req->peer_rank = peer == MPI_ANY_SOURCE ? ORR_MPI_ANY : peer;
	req->peer = peer == MPI_ANY_SOURCE ? ORR_MPI_ANY : orr_mpi_to_world(c, peer);
	req->prio = mpi->proc->cfg->mpi_priorities ? prio : 0;
	req->detached = !!(how & ORR_P2P_DETACHED);
	req->sync = !!(how & ORR_P2P_SYNC);
	req->grows = !!(how & ORR_P2P_GROWS);
	req->acquire.arg = how & ORR_P2P_BLOCKING ? req : NULL;
	ORR_ATOMIC_STORE_RELAXED(&req->kind, (uint8_t) kind);
	req->acquire.chooses = (uint8_t) mpi->set.direct;
	return req;
}

static int start(struct orr_mpi *mpi, struct orr_mpi_req *req, starpu_data_handle_t h,
		 enum starpu_data_access_mode mode, int how, struct orr_mpi_req **out)
{
	int detached = req->detached, prio = req->prio;

	if (out)
		*out = req;
	orr_mpi_trace_post(mpi, req);
	if (__builtin_expect(ORR_ATOMIC_LOAD(&mpi->proc->core->graph) != NULL, 0))
		orr_graph_message(mpi->proc, h, !(how & ORR_P2P_UNORDERED),
				  &(struct orr_graph_message){
					  .context = req->context,
					  .peer = orr_sys_mpi_process_of(mpi->proc, req->peer),
					  .receive = req->kind == ORR_MPI_RECV,
					  .tag = req->tag });
	if (detached)
		ORR_ATOMIC_ADD(&mpi->ndetached, 1);
	int ret = orr_acquire_start(&req->acquire, h, STARPU_MAIN_RAM, mode,
				    !(how & ORR_P2P_UNORDERED), prio, granted);
	if (!ret)
		return 0;
	if (detached)
		ORR_ATOMIC_ADD(&mpi->ndetached, -1);
	if (out)
		*out = NULL;
	return ret;
}

int orr_mpi_isend(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h, int dest,
		  int64_t tag, int prio, int how, void (*callback)(void *), void *arg,
		  struct orr_mpi_req **out)
{
	struct orr_mpi_req *req = prepare(mpi, c, ORR_MPI_SEND, h, dest, tag, prio, how);

	if (!req)
		return -EINVAL;
	req->callback = callback;
	req->arg = arg;
	/* Pedantic: nobody reads the value either while MPI does. */
	int ret = start(mpi, req, h, mpi->set.pedantic ? STARPU_RW : STARPU_R, how, out);
	if (ret)
		orr_mpi_req_free(mpi, req);
	return ret;
}

/* [waits] The receive is posted: from now on its message needs no room of its own. */
static void throttle(struct orr_mpi *mpi, struct orr_mpi_req *req, starpu_data_handle_t h, int how)
{
	if (orr_mpi_early_hand_over(mpi, req) || !(how & ORR_P2P_THROTTLED) ||
	    !orr_mpi_must_await_room(mpi, h))
		return;
	orr_mpi_burst_flush(mpi);
	if (mpi->may_drive)
		orr_mpi_expect(mpi);
	orr_mpi_await_room(mpi, h);
}

int orr_mpi_irecv(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h, int source,
		  int64_t tag, int prio, int how, void (*callback)(void *), void *arg,
		  struct orr_mpi_req **out)
{
	struct orr_mpi_req *req = prepare(mpi, c, ORR_MPI_RECV, h, source, tag, prio, how);
	int ret = 0;

	if (!req)
		return -EINVAL;
	req->callback = callback;
	req->arg = arg;
	req->acquire.access.handle =
		h; /* for diagnosis and matching, before the acquisition sets it */
	if (!mpi->fake) {
		orr_lock(&mpi->lock);
		ret = orr_mpi_match_post(mpi, req);
		orr_unlock(&mpi->lock);
	}
	if (!ret) {
		if (ORR_ATOMIC_LOAD_RELAXED(&mpi->limits.throttle))
			throttle(mpi, req, h, how);
		ret = start(mpi, req, h, STARPU_W, how, out);
		if (ret && !mpi->fake) {
			orr_lock(&mpi->lock);
			orr_mpi_match_withdraw(mpi, req);
			orr_unlock(&mpi->lock);
		}
	}
	if (ret) {
		orr_mpi_req_free(mpi, req);
		return ret;
	}
	/* The engine may sleep for long while nothing is expected; a caller that goes on to wait
	 * drives it. */
	if (mpi->may_drive && !(how & ORR_P2P_BLOCKING))
		orr_mpi_expect(mpi);
	return 0;
}

/* ---- plans of reductions ---- */

/* Plans and data do not match each other, even with one tag. */
#define PLANS 0x706c616eU

/* A request for a plan that may go at once: a plan is nobody's datum, so it waits for no task. */
static struct orr_mpi_req *plan_request(struct orr_mpi *mpi, struct orr_mpi_comm *c, int kind,
					starpu_data_handle_t h, int owner, int64_t tag, void *arg)
{
	struct orr_mpi_req *req = prepare(mpi, c, kind, h, owner, tag, 0, ORR_P2P_DETACHED);

	if (!req)
		return NULL;
	req->context ^= PLANS;
	req->acquire.access.handle = h;
	req->arg = arg;
	orr_mpi_trace_post(mpi, req);
	orr_mpi_trace_grant(mpi, req, 0);
	req->granted = 1;
	ORR_ATOMIC_ADD(&mpi->ndetached, 1);
	return req;
}

int orr_mpi_plan_send(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		      int64_t tag, struct orr_mpi_plan_out *plan)
{
	struct orr_mpi_req *req = plan_request(mpi, c, ORR_MPI_SEND_PLAN, h, c->rank, tag, plan);

	if (!req)
		return -ENOMEM;
	orr_mpi_submit(mpi, req, 0);
	return 0;
}

int orr_mpi_plan_await(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		       int owner, int64_t tag, void (*callback)(void *),
		       struct orr_mpi_plan_awaited *awaited)
{
	struct orr_mpi_req *req = plan_request(mpi, c, ORR_MPI_RECV, h, owner, tag, awaited);

	if (!req)
		return -ENOMEM;
	req->callback = callback;
	req->plan = 1;
	orr_lock(&mpi->lock);
	int ret = orr_mpi_match_post(mpi, req), here = req->early != NULL;
	req->submitted = (uint8_t) here;
	orr_unlock(&mpi->lock);
	if (ret)
		orr_fatal("out of memory for a reduction");
	if (here)
		orr_mpi_submit(mpi, req, 0);
	else if (mpi->may_drive)
		orr_mpi_expect(mpi);
	return 0;
}

/* ---- public forms ---- */

static int post_form(__typeof__(orr_mpi_isend) *post, const char *who, starpu_data_handle_t h,
		     starpu_mpi_req *out, int peer, starpu_mpi_tag_t tag, int prio, MPI_Comm comm,
		     int how, void (*callback)(void *), void *arg)
{
	struct orr_mpi *mpi = orr_mpi_get(who);
	struct orr_mpi_comm *c = mpi ? orr_mpi_comm_of(mpi, comm) : NULL;

	if (!c)
		return mpi ? -EINVAL : -ENODEV;
	return post(mpi, c, h, peer, tag, prio, how, callback, arg, (struct orr_mpi_req **) out);
}

static int send_form(const char *who, starpu_data_handle_t h, starpu_mpi_req *out, int dest,
		     starpu_mpi_tag_t tag, int prio, MPI_Comm comm, int how,
		     void (*callback)(void *), void *arg)
{
	return post_form(orr_mpi_isend, who, h, out, dest, tag, prio, comm, how, callback, arg);
}

static int recv_form(const char *who, starpu_data_handle_t h, starpu_mpi_req *out, int source,
		     starpu_mpi_tag_t tag, int prio, MPI_Comm comm, int how,
		     void (*callback)(void *), void *arg)
{
	return post_form(orr_mpi_irecv, who, h, out, source, tag, prio, comm,
			 how | ORR_P2P_THROTTLED, callback, arg);
}

/* A blocking call: posts by a form above, and waits for the end. */
static int blocking_form(__typeof__(send_form) *post, const char *who, starpu_data_handle_t h,
			 int peer, starpu_mpi_tag_t tag, int prio, MPI_Comm comm,
			 MPI_Status *status)
{
	starpu_mpi_req req;
	int ret = orr_mpi_check_blocking(who);

	if (!ret)
		ret = post(who, h, &req, peer, tag, prio, comm, ORR_P2P_BLOCKING, NULL, NULL);
	if (!ret)
		orr_mpi_finish(orr_self()->mpi, req, status, who);
	return ret;
}

int starpu_mpi_isend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
		     starpu_mpi_tag_t data_tag, MPI_Comm comm)
{
	return send_form(__func__, data_handle, req, dest, data_tag, 0, comm, 0, NULL, NULL);
}

int starpu_mpi_isend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
			  starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm)
{
	return send_form(__func__, data_handle, req, dest, data_tag, prio, comm, 0, NULL, NULL);
}

int starpu_mpi_issend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
		      starpu_mpi_tag_t data_tag, MPI_Comm comm)
{
	return send_form(__func__, data_handle, req, dest, data_tag, 0, comm, ORR_P2P_SYNC, NULL,
			 NULL);
}

int starpu_mpi_issend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
			   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm)
{
	return send_form(__func__, data_handle, req, dest, data_tag, prio, comm, ORR_P2P_SYNC, NULL,
			 NULL);
}

int starpu_mpi_irecv(starpu_data_handle_t data_handle, starpu_mpi_req *req, int source,
		     starpu_mpi_tag_t data_tag, MPI_Comm comm)
{
	return recv_form(__func__, data_handle, req, source, data_tag, 0, comm, 0, NULL, NULL);
}

int starpu_mpi_send_prio(starpu_data_handle_t data_handle, int dest, starpu_mpi_tag_t data_tag,
			 int prio, MPI_Comm comm)
{
	return blocking_form(send_form, "starpu_mpi_send", data_handle, dest, data_tag, prio, comm,
			     MPI_STATUS_IGNORE);
}

int starpu_mpi_send(starpu_data_handle_t data_handle, int dest, starpu_mpi_tag_t data_tag,
		    MPI_Comm comm)
{
	return starpu_mpi_send_prio(data_handle, dest, data_tag, 0, comm);
}

int starpu_mpi_recv_prio(starpu_data_handle_t data_handle, int source, starpu_mpi_tag_t data_tag,
			 int prio, MPI_Comm comm, MPI_Status *status)
{
	return blocking_form(recv_form, "starpu_mpi_recv", data_handle, source, data_tag, prio,
			     comm, status);
}

int starpu_mpi_recv(starpu_data_handle_t data_handle, int source, starpu_mpi_tag_t data_tag,
		    MPI_Comm comm, MPI_Status *status)
{
	return starpu_mpi_recv_prio(data_handle, source, data_tag, 0, comm, status);
}

int starpu_mpi_isend_detached_prio(starpu_data_handle_t data_handle, int dest,
				   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				   void (*callback)(void *), void *arg)
{
	return send_form("starpu_mpi_isend_detached", data_handle, NULL, dest, data_tag, prio, comm,
			 ORR_P2P_DETACHED, callback, arg);
}

int starpu_mpi_isend_detached(starpu_data_handle_t data_handle, int dest, starpu_mpi_tag_t data_tag,
			      MPI_Comm comm, void (*callback)(void *), void *arg)
{
	return starpu_mpi_isend_detached_prio(data_handle, dest, data_tag, 0, comm, callback, arg);
}

int starpu_mpi_issend_detached_prio(starpu_data_handle_t data_handle, int dest,
				    starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				    void (*callback)(void *), void *arg)
{
	return send_form("starpu_mpi_issend_detached", data_handle, NULL, dest, data_tag, prio,
			 comm, ORR_P2P_DETACHED | ORR_P2P_SYNC, callback, arg);
}

int starpu_mpi_issend_detached(starpu_data_handle_t data_handle, int dest,
			       starpu_mpi_tag_t data_tag, MPI_Comm comm, void (*callback)(void *),
			       void *arg)
{
	return starpu_mpi_issend_detached_prio(data_handle, dest, data_tag, 0, comm, callback, arg);
}

int starpu_mpi_irecv_detached_prio(starpu_data_handle_t data_handle, int source,
				   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
				   void (*callback)(void *), void *arg)
{
	return recv_form("starpu_mpi_irecv_detached", data_handle, NULL, source, data_tag, prio,
			 comm, ORR_P2P_DETACHED, callback, arg);
}

int starpu_mpi_irecv_detached(starpu_data_handle_t data_handle, int source,
			      starpu_mpi_tag_t data_tag, MPI_Comm comm, void (*callback)(void *),
			      void *arg)
{
	return starpu_mpi_irecv_detached_prio(data_handle, source, data_tag, 0, comm, callback,
					      arg);
}

int starpu_mpi_irecv_detached_sequential_consistency(starpu_data_handle_t data_handle, int source,
						     starpu_mpi_tag_t data_tag, MPI_Comm comm,
						     void (*callback)(void *), void *arg,
						     int sequential_consistency)
{
	return recv_form(__func__, data_handle, NULL, source, data_tag, 0, comm,
			 ORR_P2P_DETACHED | (sequential_consistency ? 0 : ORR_P2P_UNORDERED),
			 callback, arg);
}
