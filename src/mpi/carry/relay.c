/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Relays: a rank that sends one value along a tree, or passes on what it receives (relay.h says how
 * a route looks).
 *
 * An eager payload travels behind the route, and is passed on before it is delivered. Of a larger
 * one the envelope goes down the whole tree at once; its pieces go straight into the datum if the
 * receive is posted, the datum available and contiguous, else into a buffer, and from there to the
 * children, each piece to all of them before the next. A few bytes are under way at a time, so that
 * the first child has its piece early and the network is not shared among all children.
 *
 * A relay that still passes on a value which its receive already has reads the datum beside the
 * tasks of the program: it shares the access.
 *
 * At the origin, a tree of whole messages stays open: a child gets its part of the ranks that are
 * left when its turn is next, so that ranks which the program names meanwhile join those that are
 * left (coop.c).
 *
 * Invariant: by the engine's owner; mpi->counts.nrelays counts the relays with messages under way,
 * without which the process may not end. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/log.h"
#include "base/seam_memory.h"
#include "mpi/carry/late.h"
#include "mpi/carry/limits.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/relay.h"
#include "mpi/carry/mpi_transfer.h"
#include "mpi/carry/datatype.h"
#include "mpi/carry/mpi_flight.h"
#include "mpi/carry/stats.h"
#include "mpi/carry/peer.h"
#include "mpi/carry/request.h"
#include "mpi/carry/shape.h"

#define WINDOW_IN 4 /* pieces that are received at a time: more than leave, so that none waits */

struct orr_mpi_child {
	struct orr_mpi_peer *peer;
	int32_t rank, data_tag;
};

struct orr_mpi_relay {
	struct orr_mpi_envelope env;
	int origin, via;             /* via: -1 at the origin */
	struct orr_mpi_req *req;     /* the receive that the payload comes for, until it has it */
	struct orr_mpi_early *early; /* or the message that waits for one */
	struct orr_mpi_req *sends;   /* at the origin: they end with the relay */
	/* Fields that each piece looks at are together. */
	char *ptr; /* the payload */
	size_t piece;
	uint32_t npieces, posted, arrived; /* received in order */
	uint32_t landed;                   /* bits: of those after `arrived` */
	uint32_t next_piece, next_child; /* to leave; child nchildren: the next piece to child 0 */
	size_t bytes_out;                /* pieces under way */
	uint32_t nflights;
	uint32_t arity;
	uint32_t rest_from, rest_to;
	uint32_t nchildren;
	uint8_t is_shared, direct; /* direct: the payload is in the datum */
	uint8_t taken;             /* nobody else reads buf */
	uint8_t is_leaving;        /* at the origin */
	struct orr_mpi_child *child;
	uint32_t child_cap, rest_cap;
	struct orr_mpi_hop *rest;           /* the ranks that no child has yet */
	uint8_t is_open;                    /* others may join them */
	void *buf;                          /* the payload if it is the relay's */
	struct orr_mpi_relay *next_leaving; /* mpi->late.leaving, if is_leaving */
	struct orr_acquire shared;          /* its access, if is_shared */
};

static struct orr_mpi_req *req_of(struct orr_mpi_link *l)
{
	return l ? (struct orr_mpi_req *) ((char *) l - offsetof(struct orr_mpi_req, link)) : NULL;
}

size_t orr_mpi_relay_piece_bytes(const struct orr_mpi_relay *r, uint32_t piece)
{
	size_t from = piece * r->piece;

	orr_assert(piece < r->npieces);
	return r->env.size - from < r->piece ? r->env.size - from : r->piece;
}

static struct orr_mpi_relay *relay_new(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
				       const struct orr_mpi_route *route, int via)
{
	struct orr_mpi_relay *r = calloc(1, sizeof(*r));

	if (!r)
		orr_fatal("out of memory for a message to pass on");
	r->env = *env;
	r->origin = route->origin;
	r->via = via;
	r->arity = route->arity;
	r->piece = route->piece;
	r->npieces = env->flags & ORR_MPI_EAGER
			     ? 0
			     : (uint32_t) ((env->size + route->piece - 1) / route->piece);
	mpi->counts.nrelays++;
	return r;
}

/* ---- the end ---- */

/* The first n pieces have left for all children. */
static int have_left(const struct orr_mpi_relay *r, uint32_t n)
{
	orr_assert(r->next_child <= r->nchildren && r->next_piece <= r->arrived);
	return !r->nchildren || r->next_piece + (r->next_child == r->nchildren) == n;
}

static int all_left(const struct orr_mpi_relay *r)
{
	return !r->nflights && r->rest_from == r->rest_to && have_left(r, r->npieces);
}

static void complete_sends(struct orr_mpi *mpi, struct orr_mpi_relay *r)
{
	struct orr_mpi_req *req = r->sends;

	orr_mpi_send_ends(&mpi->limits, r->env.size);
	r->sends = NULL;
	while (req) {
		struct orr_mpi_req *next = req_of(req->link.next);
		req->link.next = NULL;
		orr_mpi_complete(mpi, req);
		req = next;
	}
}

/* The value has left; the relay is not found any more. */
static void end_leaving(struct orr_mpi *mpi, struct orr_mpi_relay *r)
{
	struct orr_mpi_relay **at = &mpi->late.leaving;

	while (*at != r)
		at = &(*at)->next_leaving;
	*at = r->next_leaving;
	orr_mpi_late_left(mpi, r->sends);
}

/* Frees the relay once everything left and nobody else reads its buffer. */
static void relay_check_end(struct orr_mpi *mpi, struct orr_mpi_relay *r)
{
	if (r->arrived < r->npieces || !all_left(r) || !r->taken)
		return;
	if (r->is_shared)
		orr_acquire_release(&r->shared);
	if (r->buf)
		orr_mpi_free_buffer(r->buf, r->env.size);
	if (r->is_leaving)
		end_leaving(mpi, r);
	if (r->sends)
		complete_sends(mpi, r);
	free(r->child);
	free(r->rest);
	free(r);
}

/* Nothing more is under way, even if the buffer still waits for its receive. */
static void relay_check_calm(struct orr_mpi *mpi, const struct orr_mpi_relay *r)
{
	if (r->arrived == r->npieces && all_left(r)) {
		orr_assert(mpi->counts.nrelays > 0);
		mpi->counts.nrelays--;
	}
}

void orr_mpi_relay_taken(struct orr_mpi *mpi, struct orr_mpi_relay *r)
{
	orr_assert(!r->taken && r->arrived == r->npieces);
	r->taken = 1;
	relay_check_end(mpi, r);
}

/* ---- passing on ---- */

static struct orr_mpi_child *child_new(struct orr_mpi_relay *r)
{
	if (r->nchildren == r->child_cap) {
		r->child_cap = r->child_cap ? 2 * r->child_cap : 4;
		r->child = realloc(r->child, r->child_cap * sizeof(*r->child));
		if (!r->child)
			orr_fatal("out of memory for a message to pass on");
	}
	return &r->child[r->nchildren++];
}

/* Sends the envelope, and an eager payload, to the ranks of hops, the first of which is the child
 * and passes it on to the others. */
static void send_route(struct orr_mpi *mpi, struct orr_mpi_relay *r, const struct orr_mpi_hop *hops,
		       uint32_t n, const char *payload)
{
	struct orr_mpi_envelope env = r->env;
	struct orr_mpi_route route = { .origin = r->origin,
				       .n = (uint16_t) n,
				       .arity = (uint16_t) r->arity,
				       .piece = r->piece };
	struct orr_mpi_child *child = child_new(r);
	size_t eager = env.flags & ORR_MPI_EAGER ? (size_t) env.size : 0;
	size_t head = sizeof(env) + sizeof(route) + n * sizeof(*hops);
	char *message = malloc(head + eager);

	if (!message)
		orr_fatal("out of memory for an envelope");
	orr_assert(n <= mpi->set.max_route);
	*child = (struct orr_mpi_child){ .peer = orr_mpi_peer_of(mpi, hops->rank),
					 .rank = hops->rank };
	if (!(env.flags & ORR_MPI_EAGER))
		child->data_tag = orr_mpi_next_data_tags(mpi, r->npieces);
	env.data_tag = child->data_tag;
	env.seq = hops->seq;
	env.flags |= ORR_MPI_ROUTED;
	memcpy(message, &env, sizeof(env));
	memcpy(message + sizeof(env), &route, sizeof(route));
	memcpy(message + sizeof(env) + sizeof(route), hops, n * sizeof(*hops));
	if (eager)
		orr_sys_memcpy(mpi->proc, message + head, payload, eager);
	orr_mpi_count(mpi, child->peer, env.size, ORR_MPI_COUNT_HOP);
	orr_mpi_trace_message(mpi, ORR_TRACE_SEND, ORR_TRACE_RELAYED, &env, child->rank,
			      (uint32_t) r->origin);
	mpi->counts.nsent++;
	struct orr_parcel *f = orr_mpi_fly_relay(mpi, ORR_FLIGHT_ROUTE_OUT, r, 0, message);
	orr_mpi_active_begin(mpi, f, child->peer);
	r->nflights++;
	struct orr_layout row;
	mpi->transport->send(mpi->proc, f, message, orr_layout_row(&row, head + eager), child->rank,
			     mpi->set.comm_tag, 0);
}

static void send_routes(struct orr_mpi *mpi, struct orr_mpi_relay *r,
			const struct orr_mpi_hop *hops, uint32_t n, const char *payload)
{
	for (uint32_t left = orr_mpi_nchildren(n, r->arity); left; left--) {
		uint32_t below = orr_mpi_split(n, r->arity, left);
		send_route(mpi, r, hops, below, payload);
		hops += below;
		n -= below;
	}
	orr_assert(n == 0);
}

/* The next child of an open relay, with its part of the ranks that are left. */
static void begin_child(struct orr_mpi *mpi, struct orr_mpi_relay *r)
{
	uint32_t below = orr_mpi_split(r->rest_to - r->rest_from, r->arity, 1);
	uint32_t from = r->rest_from;

	r->rest_from += below;
	send_route(mpi, r, r->rest + from, below, NULL);
}

static void send_piece(struct orr_mpi *mpi, struct orr_mpi_relay *r, uint32_t piece,
		       const struct orr_mpi_child *child)
{
	size_t bytes = orr_mpi_relay_piece_bytes(r, piece);
	struct orr_layout row;
	struct orr_parcel *f = orr_mpi_fly_relay(mpi, ORR_FLIGHT_PIECE_OUT, r, piece, NULL);

	orr_mpi_active_begin(mpi, f, child->peer);
	r->nflights++;
	r->bytes_out += bytes;
	mpi->transport->send(mpi->proc, f, r->ptr + piece * r->piece, orr_layout_row(&row, bytes),
			     child->rank, orr_mpi_data_tag(mpi, child->data_tag, piece), 0);
}

/* Passes on what is here, as far as the window allows. */
static void pump(struct orr_mpi *mpi, struct orr_mpi_relay *r)
{
	size_t window;

	if (have_left(r, r->arrived) && r->rest_from == r->rest_to)
		return;
	window = r->npieces > 1 ? orr_mpi_pieces_out(r->arity) * r->piece
				: orr_mpi_window(&mpi->network);
	for (;;) {
		if (r->rest_from < r->rest_to && !r->next_piece && r->next_child == r->nchildren)
			begin_child(mpi, r);
		if (have_left(r, r->arrived))
			return;
		if (r->next_child == r->nchildren) {
			r->next_piece++;
			r->next_child = 0;
		}
		size_t bytes = orr_mpi_relay_piece_bytes(r, r->next_piece);
		if (r->bytes_out && r->bytes_out + bytes > window)
			return;
		send_piece(mpi, r, r->next_piece, &r->child[r->next_child++]);
	}
}

/* ---- receiving ---- */

static void post_pieces(struct orr_mpi *mpi, struct orr_mpi_relay *r)
{
	while (r->posted < r->npieces && r->posted < r->arrived + WINDOW_IN) {
		uint32_t piece = r->posted++;
		size_t bytes = orr_mpi_relay_piece_bytes(r, piece);
		struct orr_layout row;
		struct orr_parcel *f = orr_mpi_fly_relay(mpi, ORR_FLIGHT_PIECE_IN, r, piece, NULL);

		mpi->transport->receive(mpi->proc, f, r->ptr + piece * r->piece,
					orr_layout_row(&row, bytes), r->via,
					orr_mpi_data_tag(mpi, r->env.data_tag, piece));
	}
}

/* The whole payload is here: the receive gets it. */
static void deliver(struct orr_mpi *mpi, struct orr_mpi_relay *r)
{
	struct orr_mpi_req *req = r->req;

	r->req = NULL;
	if (r->early) {
		orr_mpi_payload_here(mpi, r->early);
		return;
	}
	if (!r->direct)
		orr_mpi_deliver(mpi, req, &r->env, r->origin, r->buf, 0);
	else {
		if (!all_left(r)) {
			orr_acquire_share(&r->shared, &req->acquire);
			r->is_shared = 1;
		}
		orr_mpi_complete(mpi, req);
	}
	orr_mpi_relay_taken(mpi, r);
}

static void piece_in(struct orr_mpi *mpi, struct orr_mpi_relay *r, uint32_t piece)
{
	r->landed |= 1U << (piece - r->arrived);
	while (r->landed & 1) {
		r->landed >>= 1;
		r->arrived++;
	}
	post_pieces(mpi, r);
	pump(mpi, r);
	if (r->arrived < r->npieces)
		return;
	relay_check_calm(mpi, r);
	deliver(mpi, r);
}

/* The place where the payload goes: straight into the datum if it can. */
static void receive_into(struct orr_mpi *mpi, struct orr_mpi_relay *r)
{
	struct orr_mpi_payload p = { .form = ORR_FORM_PACKED };

	if (r->req) {
		starpu_data_handle_t h = r->req->acquire.access.handle;

		__builtin_prefetch(&h->main);
		__builtin_prefetch(orr_handle_iface(h));
		orr_assert(r->req->where == ORR_MPI_FETCHING && r->req->granted);
		orr_mpi_describe_receive(mpi, r->req, &r->env, r->origin, &p);
		ORR_ATOMIC_STORE_RELAXED(&r->req->where, ORR_MPI_FLYING);
		r->req->via = r->via;
		orr_mpi_payload_done(&p);
	}
	r->direct = p.form == ORR_FORM_CONTIGUOUS && !p.copied &&
		    r->req->acquire.access.node == STARPU_MAIN_RAM;
	r->ptr = p.ptr;
	if (!r->direct)
		r->ptr = r->buf = orr_mpi_buffer(r->env.size);
	if (r->early) {
		orr_lock(&mpi->lock);
		r->early->buf = r->buf;
		r->early->relay = r;
		r->early->state = ORR_EARLY_LOADING;
		orr_unlock(&mpi->lock);
	}
}

/* An eager payload: the children have it already. */
static void eager_in(struct orr_mpi *mpi, const struct orr_mpi_envelope *env, int origin, int via,
		     const char *payload)
{
	struct orr_mpi_early *e = NULL;
	struct orr_mpi_req *req = orr_mpi_take(mpi, env, origin, &e);

	if (req) {
		req->via = via;
		orr_mpi_deliver(mpi, req, env, origin, (void *) payload, 0);
		return;
	}
	e->via = via;
	e->buf = orr_mpi_buffer(env->size);
	orr_sys_memcpy(mpi->proc, e->buf, payload, env->size);
	orr_mpi_payload_here(mpi, e);
}

/* The plan of a reduction: what the receive gets is the route itself. */
static void plan_in(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
		    const struct orr_mpi_route *route, const struct orr_mpi_hop *hops, int via)
{
	struct orr_mpi_envelope here = *env;

	here.size = sizeof(struct orr_mpi_redux_plan) + route->n * sizeof(*hops);
	struct orr_mpi_redux_plan *plan = malloc(here.size);
	if (!plan)
		orr_fatal("out of memory for the plan of a reduction");
	*plan = (struct orr_mpi_redux_plan){ .via = via, .route = *route };
	memcpy(plan->hops, hops, route->n * sizeof(*hops));
	eager_in(mpi, &here, route->origin, via, (const char *) plan);
	free(plan);
}

static void send_plan(struct orr_mpi *mpi, const struct orr_mpi_req *req,
		      const struct orr_mpi_envelope *env, struct orr_mpi_route *route,
		      struct orr_mpi_hop *hops)
{
	for (uint32_t i = 0; i < route->n; i++) {
		hops[i].seq = orr_mpi_peer_of(mpi, hops[i].rank)->nto++;
		orr_mpi_trace_request(mpi, ORR_TRACE_ROUTE, 0, req, hops[i].rank, hops[i].seq);
	}
	struct orr_mpi_relay *r = relay_new(mpi, env, route, -1);
	r->taken = 1;
	send_routes(mpi, r, hops, route->n, NULL);
}

void orr_mpi_relay_send_plan(struct orr_mpi *mpi, struct orr_mpi_req *req)
{
	struct orr_mpi_plan_out *plan = req->arg;
	struct orr_mpi_envelope env = { .tag = req->tag,
					.context = req->context,
					.flags = ORR_MPI_EAGER | ORR_MPI_PLAN };

	send_plan(mpi, req, &env, &plan->route, plan->hops);
	free(plan);
	orr_mpi_trace_request(mpi, ORR_TRACE_SENT, 0, req, req->peer, 0);
	orr_mpi_req_free(mpi, req);
	if (ORR_ATOMIC_ADD(&mpi->ndetached, -1) == 0)
		orr_waitq_wake(&mpi->done);
}

void orr_mpi_relay_in(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
		      const struct orr_mpi_route *route, const struct orr_mpi_hop *hops,
		      const char *payload, int via)
{
	struct orr_mpi_relay *r = NULL;
	int eager = !!(env->flags & ORR_MPI_EAGER);

	orr_mpi_assert_owner(mpi);
	if (!eager || route->n > 1) {
		r = relay_new(mpi, env, route, via);
		r->taken = (uint8_t) eager;
		send_routes(mpi, r, hops + 1, route->n - 1, payload);
	}
	if (env->flags & ORR_MPI_PLAN) {
		plan_in(mpi, env, route, hops, via);
		return;
	}
	if (eager) {
		eager_in(mpi, env, route->origin, via, payload);
		return;
	}
	r->req = orr_mpi_take(mpi, env, route->origin, &r->early);
	if (r->early)
		r->early->via = via;
	receive_into(mpi, r);
	post_pieces(mpi, r);
}

/* ---- beginning ---- */

/* Puts the payload where pieces, or the envelope, can be sent from. */
static void gather(struct orr_mpi *mpi, struct orr_mpi_relay *r, struct orr_mpi_payload *p)
{
	if (p->copied && !(r->env.flags & ORR_MPI_EAGER))
		orr_mpi_spend_copy(p->layout.size);
	if (p->form == ORR_FORM_CONTIGUOUS || p->form == ORR_FORM_EMPTY) {
		r->ptr = p->ptr;
	} else if (p->form == ORR_FORM_PACKED) {
		r->ptr = r->buf = p->ptr;
	} else {
		r->ptr = r->buf = orr_mpi_buffer(p->layout.size);
		orr_mpi_gather(mpi, p, r->buf);
	}
	orr_mpi_payload_done(p);
}

/* Numbers the sends, which end with the relay, and appends their receivers. */
static void enter_sends(struct orr_mpi *mpi, struct orr_mpi_relay *r, struct orr_mpi_req *sends,
			uint32_t n)
{
	struct orr_mpi_req *last = r->sends;

	if (r->rest_to + n > r->rest_cap) {
		r->rest_cap = r->rest_to + n;
		r->rest = realloc(r->rest, r->rest_cap * sizeof(*r->rest));
		if (!r->rest)
			orr_fatal("out of memory for the route of a message");
	}
	for (struct orr_mpi_req *req = sends; req; req = req_of(req->link.next)) {
		struct orr_mpi_peer *peer = orr_mpi_peer_of(mpi, req->peer);
		struct orr_mpi_hop hop = { .rank = req->peer, .seq = peer->nto++ };
		orr_assert(req->where == ORR_MPI_READY && req->granted && !req->sync);
		ORR_ATOMIC_STORE_RELAXED(&req->where, ORR_MPI_FLYING);
		req->size = r->env.size;
		orr_mpi_trace(mpi, "start", req);
		orr_mpi_count(mpi, peer, r->env.size, ORR_MPI_COUNT_LOGICAL);
		orr_mpi_trace_request(mpi, ORR_TRACE_ROUTE, 0, req, req->peer, hop.seq);
		r->rest[r->rest_to++] = hop;
	}
	while (last && last->link.next)
		last = req_of(last->link.next);
	if (last)
		last->link.next = &sends->link;
	else
		r->sends = sends;
}

void orr_mpi_relay_begin(struct orr_mpi *mpi, struct orr_mpi_req *sends, uint32_t n,
			 const struct orr_mpi_plan *plan)
{
	struct orr_mpi_payload p;

	if (orr_mpi_payload(mpi, sends->acquire.access.handle, STARPU_MAIN_RAM, 1, 0, &p))
		orr_sys_mpi_abort(mpi->proc);
	int eager = p.layout.size < orr_mpi_relay_eager(mpi) || !p.layout.size;
	struct orr_mpi_envelope env = { .tag = sends->tag,
					.size = p.layout.size,
					.context = sends->context,
					.flags = eager ? ORR_MPI_EAGER : 0 };
	/* The size that the plan is for may differ from that of a packed value. */
	size_t piece = plan->piece && plan->piece < p.layout.size ? plan->piece : p.layout.size;
	struct orr_mpi_route route = { .origin = mpi->rank,
				       .arity = (uint16_t) plan->arity,
				       .piece = piece ? piece : 1 };
	struct orr_mpi_relay *r = relay_new(mpi, &env, &route, -1);
	r->taken = 1;
	r->arrived = r->posted = r->npieces;
	orr_mpi_send_begins(&mpi->limits, p.layout.size);
	gather(mpi, r, &p);
	enter_sends(mpi, r, sends, n);
	if (!eager) {
		r->is_leaving = 1;
		r->next_leaving = mpi->late.leaving;
		mpi->late.leaving = r;
	}
	r->is_open = r->npieces == 1;
	if (!r->is_open) {
		r->rest_from = r->rest_to;
		send_routes(mpi, r, r->rest, n, r->ptr);
	}
	pump(mpi, r);
}

struct orr_mpi_relay *orr_mpi_relay_of(const struct orr_mpi *mpi, const struct orr_mpi_req *req)
{
	struct orr_mpi_relay *r = mpi->late.leaving;

	while (r && !orr_mpi_mates(mpi, r->sends, req))
		r = r->next_leaving;
	return r;
}

static int is_left(const struct orr_mpi_relay *r, int rank)
{
	for (uint32_t i = r->rest_from; i < r->rest_to; i++)
		if (r->rest[i].rank == rank)
			return 1;
	return 0;
}

int orr_mpi_relay_join(struct orr_mpi *mpi, struct orr_mpi_relay *r, struct orr_mpi_req *sends,
		       uint32_t n)
{
	orr_mpi_assert_owner(mpi);
	orr_assert(r->is_leaving && !all_left(r));
	if (!r->is_open || r->rest_to - r->rest_from + n > mpi->set.max_route)
		return 0;
	for (struct orr_mpi_req *req = sends; req; req = req_of(req->link.next))
		if (is_left(r, req->peer))
			return 0;
	enter_sends(mpi, r, sends, n);
	pump(mpi, r);
	return 1;
}

/* ---- completions ---- */

static void out_done(struct orr_mpi *mpi, struct orr_mpi_relay *r)
{
	orr_assert(r->nflights > 0);
	r->nflights--;
	pump(mpi, r);
	relay_check_calm(mpi, r);
	relay_check_end(mpi, r);
}

void orr_mpi_relay_flight_done(struct orr_mpi *mpi, const struct orr_mpi_flight *f)
{
	struct orr_mpi_relay *r = f->relay;

	orr_mpi_assert_owner(mpi);
	if (f->kind == ORR_FLIGHT_PIECE_IN) {
		piece_in(mpi, r, f->piece);
		return;
	}
	if (f->kind == ORR_FLIGHT_PIECE_OUT)
		r->bytes_out -= orr_mpi_relay_piece_bytes(r, f->piece);
	else
		free(f->buf);
	out_done(mpi, r);
}
