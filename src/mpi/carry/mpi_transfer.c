/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moving payloads: what the engine's owner does when a send is ready, an envelope comes, a datum
 * becomes available, or MPI has completed a message.
 *
 * A payload below the eager limit travels behind its envelope in one message; any other in a second
 * message, sent at the same time, whose MPI tag is unique between the pair. Payloads go straight
 * from and to the datum's buffer. When no receive was posted, or its datum is still in use, the
 * payload goes to a buffer: at once when it is small or the waiting sender could hold others up,
 * after a moment when it is large (the receive is usually about to be posted), never before the
 * receive when the send is synchronous.
 *
 * Invariant: every function here is called by the engine's owner, or when the engine has ended;
 * messages without receive are freed here only (orr_mpi_early_free has no other caller). limits.c
 * says which payloads wait. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mpi/carry/direct.h"
#include "mpi/carry/late.h"
#include "mpi/carry/limits.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/relay.h"
#include "mpi/carry/mpi_transfer.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/datatype.h"
#include "mpi/carry/mpi_flight.h"
#include "mpi/carry/match.h"
#include "mpi/carry/request.h"
#include "mpi/carry/stats.h"
#include "mpi/carry/peer.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/seam_memory.h"
#include "base/world.h"
#include "data/access.h"
#include "data/handle_contents.h"

void orr_mpi_spend_copy(size_t bytes)
{
	orr_sys_charge_copy(orr_thread_self(), bytes);
	orr_sys_settle(orr_thread_self());
}

void *orr_mpi_buffer(size_t size)
{
	void *buf = (void *) starpu_malloc_on_node_flags(STARPU_MAIN_RAM, size ? size : 1, 0);

	if (!buf)
		orr_fatal("out of memory for a message of %zu bytes", size);
	return buf;
}

void orr_mpi_free_buffer(void *buf, size_t size)
{
	starpu_free_on_node_flags(STARPU_MAIN_RAM, (uintptr_t) buf, size ? size : 1, 0);
}

static starpu_data_handle_t handle_of(const struct orr_mpi_req *req)
{
	return req->acquire.access.handle;
}

static unsigned node_of(const struct orr_mpi_req *req)
{
	return (unsigned) req->acquire.access.node;
}

/* ---- the end of a request ---- */

void orr_mpi_complete(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	void (*callback)(void *) = req->callback;
	void *arg = req->arg;
	int detached = req->detached;
	uint32_t seq = (uint32_t) req->seq;

	orr_mpi_assert_owner(mpi);
	orr_assert_no_lock(); /* callbacks of the program follow */
	orr_assert(req->kind != ORR_MPI_FREE && req->where != ORR_MPI_DONE && req->granted);
	orr_assert(!req->nflight && !req->envelope && !req->buf && !req->early);
	if (req->kind == ORR_MPI_RECV && !req->plan && req->peer >= 0)
		orr_mpi_count_received(mpi, orr_mpi_peer_of(mpi, req->peer), req->size);
	orr_mpi_trace(mpi, "done", req);
	orr_mpi_trace_request(mpi, req->kind == ORR_MPI_RECV ? ORR_TRACE_RECV : ORR_TRACE_SENT, 0,
			      req, req->kind == ORR_MPI_RECV ? req->via : req->peer, 0);
	ORR_ATOMIC_STORE_RELAXED(&req->where, ORR_MPI_DONE);
	struct orr_thread *self = orr_thread_self();
	uint64_t cause = self->cause;
	self->cause = ORR_CAUSE_MESSAGE | (uint32_t) req->seq;
	orr_acquire_release(&req->acquire);
	mpi->watch.event_us = 0;
	if (detached)
		orr_mpi_req_free(mpi, req);
	if (callback) {
		int timed = orr_mpi_is_timed(mpi);
		double since_us = timed ? orr_mpi_turn_us() : 0;

		if (timed && self == mpi->engine.self)
			ORR_ATOMIC_STORE_RELAXED(&mpi->trace.sums.call_ns,
						 (int64_t) (since_us * 1e3));
		callback(arg);
		if (timed)
			orr_mpi_trace_callback(mpi, since_us, seq);
	}
	self->cause = cause;
	if (!detached) {
		ORR_ATOMIC_STORE(&req->done, 1);
		orr_waitq_wake(&mpi->done);
	} else if (ORR_ATOMIC_ADD(&mpi->ndetached, -1) == 0)
		orr_waitq_wake_fenced(&mpi->done);
}

static void size_mismatch(struct orr_mpi *mpi, struct orr_mpi_req *req, int source, size_t mine,
			  size_t theirs)
{
	char tag[32] = ""; /* the name has the tag of the datum */

	if (req->tag != handle_of(req)->mpi_tag)
		snprintf(tag, sizeof(tag), " (tag %" PRId64 ")", req->tag);
	orr_error(
		"rank %d receives data %s%s from rank %d: the data here has %zu bytes, the message has %zu; "
		"register it with the same shape on both ranks, or use another tag",
		mpi->rank, orr_handle_name(handle_of(req)), tag, source, mine, theirs);
	orr_sys_mpi_abort(mpi->proc);
}

/* Describes the datum to receive into and checks its size. */
void orr_mpi_describe_receive(struct orr_mpi *mpi, struct orr_mpi_req *req,
			      const struct orr_mpi_envelope *env, int source,
			      struct orr_mpi_payload *p)
{
	req->size = env->size;
	if (req->peer == ORR_MPI_ANY)
		req->peer = source;
	orr_mpi_trace_request(mpi, ORR_TRACE_MATCH, orr_mpi_trace_flags(env->flags), req, source,
			      env->seq);
	if (orr_mpi_payload(mpi, handle_of(req), node_of(req), 0, env->size, p))
		orr_sys_mpi_abort(mpi->proc);
	if (p->form != ORR_FORM_PACKED && p->layout.size != env->size)
		size_mismatch(mpi, req, source, p->layout.size, env->size);
}

/* Unpacks what came for a datum; the interface's method frees the buffer. */
static void unpack(struct orr_mpi_req *req, void *buf, size_t size)
{
	int ret = orr_handle_unpack(handle_of(req), STARPU_MAIN_RAM, buf, size);

	if (ret)
		orr_error("data %s was received, and cannot be unpacked: its interface says %s; "
			  "its value is undefined",
			  orr_handle_name(handle_of(req)), strerror(ret < 0 ? -ret : ret));
}

/* The plan of a reduction is here, which a request without datum awaits (relay.h). */
static void plan_here(struct orr_mpi *mpi, struct orr_mpi_req *req,
		      const struct orr_mpi_envelope *env, int source, const void *plan)
{
	struct orr_mpi_plan_awaited *awaited = req->arg;

	awaited->plan = malloc(env->size);
	if (!awaited->plan)
		orr_fatal("out of memory for the plan of a reduction");
	memcpy(awaited->plan, plan, env->size);
	req->size = env->size;
	orr_mpi_trace_request(mpi, ORR_TRACE_MATCH, orr_mpi_trace_flags(env->flags), req, source,
			      env->seq);
	orr_mpi_complete(mpi, req);
}

/* True if the processor copies it apart from its message: MPI packs into its own buffer, and copies
 * what it sends at once into that anyway. */
static int is_copied_apart(const struct orr_mpi_payload *p, int sync)
{
	return p->copied &&
	       (p->form == ORR_FORM_PACKED || sync || p->layout.size >= ORR_MPI_AT_ONCE);
}

/* Puts a payload that lies in a buffer into the datum; takes the buffer when `owned`. */
void orr_mpi_deliver(struct orr_mpi *mpi, struct orr_mpi_req *req,
		     const struct orr_mpi_envelope *env, int source, void *buf, int owned)
{
	struct orr_mpi_payload p;
	size_t size = env->size;
	/* Bytes that came in an envelope just now are near, and a message to oneself has its copies
	 * in it. */
	int far = source != mpi->rank && (owned || !(env->flags & ORR_MPI_EAGER));

	if (req->plan) {
		plan_here(mpi, req, env, source, buf);
		if (owned)
			orr_mpi_free_buffer(buf, size);
		return;
	}
	orr_mpi_describe_receive(mpi, req, env, source, &p);
	if (p.form == ORR_FORM_PACKED) {
		if (!owned) {
			void *copy = orr_mpi_buffer(size);
			orr_sys_memcpy(mpi->proc, copy, buf, size);
			buf = copy;
		}
		unpack(req, buf, size);
		if (far)
			orr_mpi_spend_copy(owned ? size : 2 * size);
	} else {
		if (node_of(req) != STARPU_MAIN_RAM)
			orr_mpi_direct_put(mpi, handle_of(req), node_of(req), buf);
		else {
			orr_mpi_scatter(mpi, &p, buf);
			if (far)
				orr_mpi_spend_copy(size);
		}
		orr_mpi_payload_done(&p);
		if (owned)
			orr_mpi_free_buffer(buf, size);
	}
	orr_mpi_complete(mpi, req);
}

/* ---- receiving ---- */

static void post_receive(struct orr_mpi *mpi, int kind, struct orr_mpi_req *req,
			 struct orr_mpi_early *e, void *ptr, const struct orr_layout *l, int source,
			 const struct orr_mpi_envelope *env)
{
	struct orr_parcel *f = orr_mpi_fly(mpi, kind, req, e, NULL);

	orr_assert(source >= 0 && source < mpi->size && source != mpi->rank);
	orr_mpi_carrier(mpi, env->flags)->receive(mpi->proc, f, ptr, l, source, env->data_tag);
}

/* Posts the receive of the second message, straight into the datum. */
static void start_data_receive(struct orr_mpi *mpi, struct orr_mpi_req *req,
			       const struct orr_mpi_envelope *env, int source)
{
	struct orr_mpi_payload p;

	orr_assert(req->kind == ORR_MPI_RECV && req->where == ORR_MPI_FETCHING && req->granted);
	orr_assert(!req->buf && !req->nflight);
	orr_mpi_describe_receive(mpi, req, env, source, &p);
	if (p.form == ORR_FORM_PACKED ||
	    (node_of(req) != STARPU_MAIN_RAM && !orr_mpi_direct_receives(mpi, env->flags)))
		p.ptr = req->buf = orr_mpi_buffer(p.layout.size);
	req->copied = is_copied_apart(&p, !!(env->flags & ORR_MPI_SYNC));
	ORR_ATOMIC_STORE_RELAXED(&req->where, ORR_MPI_FLYING);
	req->nflight = 1;
	post_receive(mpi, ORR_FLIGHT_DATA_IN, req, NULL, p.ptr, &p.layout, source, env);
	orr_mpi_payload_done(&p);
}

/* Posts the receive of the second message into a buffer, for a receive to come. */
static void start_early_receive(struct orr_mpi *mpi, struct orr_mpi_early *e)
{
	struct orr_layout row;

	orr_lock(&mpi->lock);
	orr_assert(e->state == ORR_EARLY_REMOTE && !e->buf);
	e->state = ORR_EARLY_LOADING;
	orr_unlock(&mpi->lock);
	e->buf = orr_mpi_buffer(e->env.size);
	post_receive(mpi, ORR_FLIGHT_EARLY_IN, NULL, e, e->buf, orr_layout_row(&row, e->env.size),
		     e->source, &e->env);
}

/* Enters a message; returns the receive that takes it now, or NULL after keeping it as *kept. */
struct orr_mpi_req *orr_mpi_take(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
				 int source, struct orr_mpi_early **kept)
{
	orr_lock(&mpi->lock);
	struct orr_mpi_req *req = orr_mpi_match_request(mpi, env, source);
	uint64_t number = req ? req->seq : 0;
	int granted = req && req->granted;
	if (!granted)
		*kept = orr_mpi_early_new(mpi, env, source, req);
	orr_unlock(&mpi->lock);
	orr_mpi_trace_message(mpi, ORR_TRACE_ENVELOPE, 0, env, source, number);
	if (granted)
		return req;
	if (!*kept)
		orr_fatal("out of memory for messages that no receive was posted for");
	return NULL;
}

/* The payload of an early message is here now: finishes its request when the datum is available too
 * and the inbox does not bring it. */
void orr_mpi_payload_here(struct orr_mpi *mpi, struct orr_mpi_early *e)
{
	orr_lock(&mpi->lock);
	orr_assert(e->state != ORR_EARLY_HERE);
	e->state = ORR_EARLY_HERE;
	int take = e->req && e->req->granted && !e->req->submitted;
	orr_unlock(&mpi->lock);
	if (take)
		orr_mpi_recv_early(mpi, e->req);
}

/* Tells the trace that the message stays at its sender, or does so no more. That it waits a moment
 * for its receive is no hold. */
static void tell_stays(struct orr_mpi *mpi, const struct orr_mpi_envelope *env, int source,
		       int goes_on)
{
	if (ORR_ATOMIC_LOAD_RELAXED(&mpi->limits.throttle))
		orr_mpi_trace_message_held(mpi, ORR_HOLD_MEMORY | goes_on, source, env->seq);
}

void orr_mpi_envelope_in(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
			 const char *payload, int source)
{
	struct orr_mpi_early *e = NULL;

	orr_mpi_assert_owner(mpi);
	struct orr_mpi_req *req = orr_mpi_take(mpi, env, source, &e);
	orr_assert(!req == !!e);
	if (req)
		req->via = source;
	else
		e->via = source;
	if (req && env->flags & ORR_MPI_EAGER)
		orr_mpi_deliver(mpi, req, env, source, (void *) payload, 0);
	else if (req)
		start_data_receive(mpi, req, env, source);
	else if (env->flags & ORR_MPI_EAGER) {
		e->buf = orr_mpi_buffer(env->size);
		orr_sys_memcpy(mpi->proc, e->buf, payload, env->size);
		orr_mpi_payload_here(mpi, e);
	} else if (!(env->flags & ORR_MPI_SYNC)) {
		if (orr_mpi_early_stays(mpi, e)) {
			e->waits = 1;
			mpi->counts.ndeferred++;
			tell_stays(mpi, &e->env, e->source, 0);
		} else
			start_early_receive(mpi, e);
	} else
		orr_mpi_payload_here(mpi, e);
}

int orr_mpi_early_load(struct orr_mpi *mpi)
{
	struct orr_mpi_early *e, *next;
	int started = 0;

	for (e = mpi->match.first; e && mpi->counts.ndeferred; e = next) {
		next = e->next;
		if (!e->waits || orr_mpi_early_stays(mpi, e))
			continue;
		orr_assert(mpi->counts.ndeferred > 0);
		e->waits = 0;
		mpi->counts.ndeferred--;
		tell_stays(mpi, &e->env, e->source, ORR_TRACE_GOES_ON);
		start_early_receive(mpi, e);
		started++;
	}
	return started;
}

void orr_mpi_recv_early(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	struct orr_mpi_early *e, copy;

	orr_mpi_assert_owner(mpi);
	orr_assert(req->kind == ORR_MPI_RECV && req->granted);
	orr_lock(&mpi->lock);
	req->submitted = 0;
	e = req->early;
	if (!e || e->state == ORR_EARLY_LOADING) {
		orr_unlock(&mpi->lock);
		return;
	}
	copy = *e;
	req->early = NULL;
	orr_mpi_early_free(mpi, e);
	orr_unlock(&mpi->lock);
	orr_assert(copy.req == req && (!copy.buf || copy.state == ORR_EARLY_HERE));
	if (copy.waits) {
		orr_assert(mpi->counts.ndeferred > 0);
		mpi->counts.ndeferred--;
		tell_stays(mpi, &copy.env, copy.source, ORR_TRACE_GOES_ON);
	}
	req->via = copy.via;
	if (copy.relay) {
		orr_mpi_deliver(mpi, req, &copy.env, copy.source, copy.buf, 0);
		orr_mpi_relay_taken(mpi, copy.relay);
	} else if (copy.buf)
		orr_mpi_deliver(mpi, req, &copy.env, copy.source, copy.buf, 1);
	else
		start_data_receive(mpi, req, &copy.env, copy.source);
	orr_mpi_early_unreserve(&copy);
	if (copy.sender)
		orr_mpi_complete(mpi, copy.sender);
}

void orr_mpi_early_exit(struct orr_mpi *mpi)
{
	struct orr_mpi_early *e;

	while ((e = mpi->match.first)) {
		orr_assertf(!e->req && e->state != ORR_EARLY_LOADING,
			    "a message is under way while all is at rest");
		mpi->match.first = e->next;
		if (e->relay)
			orr_mpi_relay_taken(mpi, e->relay);
		else if (e->buf)
			orr_mpi_free_buffer(e->buf, e->env.size);
		orr_mpi_early_unreserve(e);
		free(e);
	}
}

/* ---- sending ---- */

/* To this very process: the payload goes through a buffer, without MPI. */
static void send_to_self(struct orr_mpi *mpi, struct orr_mpi_req *req, struct orr_mpi_payload *p,
			 const struct orr_mpi_envelope *env)
{
	struct orr_mpi_early *e = NULL;
	void *buf = p->ptr;

	if (p->form != ORR_FORM_PACKED) {
		buf = orr_mpi_buffer(p->layout.size);
		orr_mpi_gather(mpi, p, buf);
	}
	orr_mpi_payload_done(p);
	orr_sys_mpi_sent_to_itself(mpi->proc, p->layout.size);
	struct orr_mpi_req *receive = orr_mpi_take(mpi, env, mpi->rank, &e);
	*(receive ? &receive->via : &e->via) = mpi->rank;
	if (receive)
		orr_mpi_deliver(mpi, receive, env, mpi->rank, buf, 1);
	else {
		e->buf = buf;
		e->sender = req->sync ? req : NULL;
		orr_mpi_payload_here(mpi, e);
		if (req->sync)
			return;
	}
	orr_mpi_complete(mpi, req);
}

int orr_mpi_next_data_tags(struct orr_mpi *mpi, uint32_t n)
{
	uint32_t limit = (uint32_t) mpi->set.data_tags, first = mpi->flights.data_seq % limit;

	orr_assert(n < limit);
	if (first + n > limit) {
		mpi->flights.data_seq += limit - first;
		first = 0;
	}
	mpi->flights.data_seq += n;
	return (int) first;
}

int orr_mpi_data_tag(const struct orr_mpi *mpi, int first, uint32_t i)
{
	int tag = first + (int) i;

	if (tag >= mpi->set.comm_tag)
		tag++;
	orr_assert(tag != mpi->set.comm_tag && tag <= mpi->set.data_tags);
	return tag;
}

static void fly_out(struct orr_mpi *mpi, struct orr_mpi_req *req, uint32_t flags, void *envelope,
		    const void *ptr, const struct orr_layout *l, int tag, int sync)
{
	struct orr_parcel *f = orr_mpi_fly(mpi, ORR_FLIGHT_OUT, req, NULL, envelope);

	orr_mpi_active_begin(mpi, f, orr_mpi_peer_of(mpi, req->peer));
	req->nflight++;
	orr_mpi_carrier(mpi, flags)->send(mpi->proc, f, ptr, l, req->peer, tag, sync);
}

/* The payload as a message of its own. */
static void send_data(struct orr_mpi *mpi, struct orr_mpi_req *req, struct orr_mpi_payload *p,
		      uint32_t flags, int tag)
{
	if (p->form == ORR_FORM_PACKED)
		req->buf = p->ptr;
	if (is_copied_apart(p, req->sync))
		orr_mpi_spend_copy(p->layout.size);
	fly_out(mpi, req, flags, NULL, p->ptr, &p->layout, tag, req->sync);
	orr_mpi_payload_done(p);
}

void orr_mpi_send_start(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	struct orr_mpi_payload p;

	orr_mpi_assert_owner(mpi);
	orr_assert(req->kind == ORR_MPI_SEND && req->where == ORR_MPI_READY && req->granted);
	if (mpi->fake) {
		req->size = starpu_data_get_size(handle_of(req));
		orr_mpi_trace(mpi, "start", req);
		orr_mpi_count(mpi, orr_mpi_peer_of(mpi, req->peer), req->size,
			      ORR_MPI_COUNT_HOP | ORR_MPI_COUNT_LOGICAL);
		orr_mpi_complete(mpi, req);
		return;
	}
	if (orr_mpi_payload(mpi, handle_of(req), node_of(req), 1, 0, &p))
		orr_sys_mpi_abort(mpi->proc);
	req->size = p.layout.size;
	orr_mpi_trace(mpi, "start", req);
	struct orr_mpi_peer *peer = orr_mpi_peer_of(mpi, req->peer);
	orr_mpi_count(mpi, peer, p.layout.size, ORR_MPI_COUNT_HOP | ORR_MPI_COUNT_LOGICAL);
	int eager = !req->sync && p.form != ORR_FORM_TYPED &&
		    (p.layout.size < mpi->set.eager_limit || !p.layout.size);
	struct orr_mpi_envelope env = { .tag = req->tag,
					.size = p.layout.size,
					.context = req->context,
					.flags = (eager ? ORR_MPI_EAGER : 0) |
						 (req->sync ? ORR_MPI_SYNC : 0) |
						 (node_of(req) ? ORR_MPI_OF_DEVICE : 0) };
	if (req->peer == mpi->rank) {
		env.seq = (uint32_t) req->seq; /* for the trace only */
		orr_mpi_trace_message(mpi, ORR_TRACE_SEND, 0, &env, req->peer, req->seq);
		send_to_self(mpi, req, &p, &env);
		return;
	}
	size_t bytes = sizeof(env) + (eager ? p.layout.size : 0);
	char *message = malloc(bytes);
	if (!message)
		orr_fatal("out of memory for an envelope");
	ORR_ATOMIC_STORE_RELAXED(&req->where, ORR_MPI_FLYING);
	req->nflight = 0;
	if (!req->sync)
		orr_mpi_send_begins(&mpi->limits, p.layout.size);
	mpi->counts.nsent++;
	env.seq = peer->nto++;
	orr_mpi_trace_message(mpi, ORR_TRACE_SEND, 0, &env, req->peer, req->seq);
	if (!eager)
		env.data_tag = orr_mpi_data_tag(mpi, orr_mpi_next_data_tags(mpi, 1), 0);
	memcpy(message, &env, sizeof(env));
	if (eager && p.form == ORR_FORM_PACKED) {
		orr_sys_memcpy(mpi->proc, message + sizeof(env), p.ptr, p.layout.size);
		orr_mpi_free_buffer(p.ptr, p.layout.size);
	} else if (eager)
		orr_mpi_gather(mpi, &p, message + sizeof(env));
	if (eager) {
		struct orr_layout row;
		fly_out(mpi, req, 0, message, message, orr_layout_row(&row, bytes),
			mpi->set.comm_tag, 0);
		return;
	}
	req->envelope = message;
	mpi->transport->send_ahead(mpi->proc, &req->envelope_out, message, (int) bytes, req->peer,
				   mpi->set.comm_tag);
	send_data(mpi, req, &p, env.flags, env.data_tag);
	orr_mpi_late_leaves(mpi, req);
}

/* ---- completions ---- */

static void end_envelope(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	if (!req->envelope)
		return;
	mpi->transport->send_ahead_end(mpi->proc, &req->envelope_out);
	free(req->envelope);
	req->envelope = NULL;
}

static void sent(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	orr_assert(req->kind == ORR_MPI_SEND && req->where == ORR_MPI_FLYING && req->nflight > 0);
	if (--req->nflight)
		return;
	if (req->lone)
		orr_mpi_late_left(mpi, req);
	if (!req->sync)
		orr_mpi_send_ends(&mpi->limits, req->size);
	if (req->buf) {
		orr_mpi_free_buffer(req->buf, req->size);
		req->buf = NULL;
	}
	orr_mpi_complete(mpi, req);
}

static void received(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	orr_assert(req->kind == ORR_MPI_RECV && req->where == ORR_MPI_FLYING && req->nflight == 1);
	req->nflight = 0;
	if (req->buf && node_of(req) != STARPU_MAIN_RAM) {
		orr_mpi_direct_put(mpi, handle_of(req), node_of(req), req->buf);
		orr_mpi_free_buffer(req->buf, req->size);
	} else if (req->buf) {
		unpack(req, req->buf, req->size);
	}
	req->buf = NULL;
	if (req->copied)
		orr_mpi_spend_copy(req->size);
	orr_mpi_complete(mpi, req);
}

void orr_mpi_transfer_done(struct orr_mpi *mpi, struct orr_mpi_flight *f)
{
	switch (f->kind) {
	case ORR_FLIGHT_OUT:
		free(f->buf);
		end_envelope(mpi, f->req);
		sent(mpi, f->req);
		break;
	case ORR_FLIGHT_DATA_IN: received(mpi, f->req); break;
	case ORR_FLIGHT_EARLY_IN: orr_mpi_payload_here(mpi, f->early); break;
	default: orr_assertf(0, "a flight of kind %d is not one of transfers", (int) f->kind);
	}
}
