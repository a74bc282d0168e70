/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The transport whose messages are events of the simulation (contract: base/transport.h): no
 * request of MPI, no actor but the two engines.
 *
 * An envelope leaves at once, with what it carries. So does a payload that MPI would send at once
 * (eager). A longer one leaves when both sides are posted: the receiver posts its side when the
 * envelope has come. At the end of a message each side that wants to know gets a note, and is woken
 * if it sleeps.
 *
 * A payload that leaves at once is copied into a buffer of MPI meanwhile: the engine goes on, and
 * the next one leaves, when that is done. A payload that comes before its receive is posted is
 * copied out of one. An engine copies one after the other. Copies of envelopes count nothing: they
 * are short, and near.
 *
 * At its end a payload is copied straight from the sender's rows to the receiver's, or kept for a
 * receive that is late. Datatypes of the program are packed when they are posted, and unpacked by
 * the engine that receives them.
 *
 * Invariant: a message is in the hands of the network (sim_network.h), or among those of its
 * receiver, or has notes; the last note that an engine takes frees it. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "net/sim_native.h"
#include "actors/sim_actor.h"
#include "net/sim_collective.h"
#include "net/sim_network.h"
#include "net/sim_network_glue.h"
#include "machine/sim_node.h"
#include "sim_clock.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/map.h"
#include "base/seam_memory.h"

#define RECENT 4  /* pairs that an endpoint finds without a search: the children in a tree */
#define DIRECT 16 /* payloads likewise: pieces of some values, whose tags follow each other */

struct message;

/* A note to an engine: its part of the message is complete. */
struct note {
	struct note *next;
	struct message *m;
	struct orr_parcel *flight; /* NULL: an envelope came */
};

/* One end of a payload. */
struct side {
	char *at;                  /* the bytes */
	struct orr_layout *layout; /* NULL: one row */
	char *packed;              /* in place of `at`, if the layout is a datatype */
};

struct message {
	struct orr_sim_flow flow; /* first */
	uint64_t key;             /* payload: of its sender and tag */
	struct note note[2];      /* of the receiver, of the sender */
	struct orr_sim_endpoint *from, *to;
	struct message *next; /* envelopes of the pair, in order */
	size_t bytes;
	struct side out, in; /* of a payload */
	int source;
	uint8_t nnotes; /* not taken yet */
	uint8_t is_envelope, has_arrived, is_sent, is_eager;
	uint8_t is_gone;                /* its sender knows that it is, before it has arrived */
	_Alignas(uint64_t) char text[]; /* the envelope */
};

struct orr_sim_endpoint {
	struct orr_sim_rank *rank;
	struct orr_sim_mpi *mpi; /* NULL: it does not listen yet */
	struct note *first, **end;
	struct orr_sim_pair *recent[RECENT]; /* pairs of which it was the source, by their dest */
	struct message *direct[DIRECT];      /* payloads of which one side is posted ... */
	struct orr_map payloads;             /* ... and others, whose place there was taken */
	struct message *taken;               /* the envelope that its engine has now */
	double copies_until_s;               /* its engine, between its buffers and those of MPI */
};

/* Payloads that were freed, by `next`; the last one is the next, as the cache still has it. */
static struct message *spare;

/* The ranks of one start of the MPI layer. */
struct orr_sim_world {
	struct orr_sim_world *next; /* of those that some ranks have not entered yet */
	int *members, n;            /* NULL: all ranks */
	int missing, inside;
	struct orr_sim_endpoint *at[];
};

/* ---- worlds: as the communicators of sim_mpi.c ---- */

static struct orr_sim_world *open_worlds;

static int same(const struct orr_sim_world *w, const struct orr_sim_mpi *m)
{
	if (!w->members || !m->members)
		return !w->members && !m->members;
	return w->n == m->nmembers &&
	       !memcmp(w->members, m->members, (size_t) w->n * sizeof(*w->members));
}

static struct orr_sim_world *world_new(const struct orr_sim_mpi *m)
{
	int n = m->members ? m->nmembers : orr_sim.nranks;
	struct orr_sim_world *w = calloc(1, sizeof(*w) + (size_t) n * sizeof(*w->at));
	if (!w)
		return NULL;
	w->n = w->missing = n;
	if (m->members) {
		w->members = malloc((size_t) n * sizeof(*w->members));
		if (!w->members) {
			free(w);
			return NULL;
		}
		memcpy(w->members, m->members, (size_t) n * sizeof(*w->members));
	}
	w->next = open_worlds;
	open_worlds = w;
	return w;
}

static struct orr_sim_world *world_enter(const struct orr_sim_mpi *m)
{
	struct orr_sim_world **at = &open_worlds, *w;
	while (*at && !same(*at, m))
		at = &(*at)->next;
	if (!*at && !world_new(m))
		return NULL;
	w = *at;
	if (!w) {
		at = &open_worlds;
		w = *at;
	}
	w->inside++;
	if (!--w->missing)
		*at = w->next;
	return w;
}

static void world_leave(struct orr_sim_world *w)
{
	if (--w->inside || w->missing)
		return;
	for (int i = 0; i < w->n; i++)
		free(w->at[i]);
	free(w->members);
	free(w);
	for (struct message *m; (m = spare);) {
		spare = m->next;
		free(m);
	}
}

/* The place where that rank finds its messages, whether it has come or not. */
static struct orr_sim_endpoint *endpoint_of(struct orr_sim_mpi *m, int rank)
{
	struct orr_sim_endpoint **at = &m->world->at[rank], *e = *at;
	if (e)
		return e;
	*at = e = calloc(1, sizeof(*e));
	if (!e)
		orr_fatal("out of memory for the messages of a node; simulate fewer nodes");
	e->rank = &orr_sim.ranks[orr_sim_mpi_member(m, rank)];
	e->end = &e->first;
	orr_map_init(&e->payloads, offsetof(struct message, key));
	return e;
}

static void native_enter(struct orr_process *proc)
{
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	m->world = world_enter(m);
	if (!m->world)
		orr_fatal("out of memory for the ranks of the MPI layer");
}

static void native_leave(struct orr_process *proc)
{
	world_leave(orr_sim_mpi_of(proc)->world);
}

/* ---- the end of a message ---- */

/* Something comes: the engine has its turn when what it was charged before is spent. */
static void wake(struct orr_sim_mpi *m, struct orr_sim_actor *engine)
{
	if (!m || !m->sleeping)
		return;
	m->sleeping = 0;
	orr_sim_unblock_at(engine, m->busy_until_s);
}

static void side_free(struct side *s)
{
	if (s->layout) {
		orr_layout_drop(s->layout);
		free(s->layout);
	}
	if (s->packed)
		free(s->packed);
}

static void message_free(struct message *m)
{
	side_free(&m->out);
	side_free(&m->in);
	if (m->is_envelope) {
		free(m);
		return;
	}
	m->next = spare;
	spare = m;
}

static void leave_note(struct orr_sim_endpoint *e, struct note *n)
{
	n->next = NULL;
	*e->end = n;
	e->end = &n->next;
	wake(e->mpi, e->rank->engine);
}

/* The rows of a side: what is packed is one. */
static const struct orr_layout *rows_of(const struct side *s, struct orr_layout *row, size_t bytes,
					char **at)
{
	*at = s->packed ? s->packed : s->at;
	return s->packed || !s->layout ? orr_layout_row(row, bytes) : s->layout;
}

static void copy_payload(const struct message *m)
{
	struct orr_layout in_row, out_row;
	char *in_at, *out_at;
	const struct orr_layout *in = rows_of(&m->in, &in_row, m->bytes, &in_at),
				*out = rows_of(&m->out, &out_row, m->bytes, &out_at);
	orr_layout_copy(NULL, in, in_at, out, out_at);
}

static void receive_end(struct message *m)
{
	if (!m->is_envelope && m->in.at && m->bytes && orr_sys_has_payload(NULL))
		copy_payload(m);
	leave_note(m->to, &m->note[0]);
}

static void hand_over(struct message *m)
{
	receive_end(m);
	if (m->note[1].flight && !m->is_gone)
		leave_note(m->from, &m->note[1]);
}

/* A payload is here before its receive: its sender may use the buffer again. */
static void keep_payload(struct message *m)
{
	if (m->is_gone)
		return;
	if (m->bytes && !m->out.packed && orr_sys_has_payload(NULL)) {
		struct orr_layout row;
		char *at, *kept = malloc(m->bytes);
		if (!kept)
			orr_fatal("out of memory for a message of %zu bytes", m->bytes);
		orr_layout_gather(NULL, rows_of(&m->out, &row, m->bytes, &at), m->out.at, kept);
		m->out.packed = kept;
	}
	if (m->note[1].flight)
		leave_note(m->from, &m->note[1]);
}

/* The connection has taken the whole message. */
static void taken_over(struct orr_sim_flow *f)
{
	struct message *m = (struct message *) f;
	if (m->is_envelope)
		leave_note(m->from, &m->note[1]);
	else
		keep_payload(m);
	m->is_gone = 1;
}

/* Envelopes of a pair are handed over in their order, whatever their sizes. */
static void arrived(struct orr_sim_flow *f)
{
	struct message *m = (struct message *) f, *first;
	if (!m->is_envelope) {
		if (m->note[0].flight)
			hand_over(m);
		else
			keep_payload(m);
		m->has_arrived = 1;
		return;
	}
	m->has_arrived = 1;
	while ((first = f->pair->first) && first->has_arrived) {
		f->pair->first = first->next;
		hand_over(first);
	}
}

/* ---- posting ---- */

static struct message *message_new(struct orr_process *proc, size_t room)
{
	struct message *m = room ? NULL : spare;
	if (m)
		spare = m->next;
	else
		m = malloc(sizeof(*m) + room);
	if (!m)
		orr_fatal("out of memory for a message; run fewer nodes or smaller data");
	memset(m, 0, sizeof(*m));
	m->source = proc->mpi_rank;
	m->flow.arrived = arrived;
	m->note[0].m = m->note[1].m = m;
	return m;
}

/* The pair of a sender and that rank. */
static struct orr_sim_pair *pair_of(struct orr_sim_endpoint *from, int dest)
{
	struct orr_sim_pair **recent = &from->recent[dest % RECENT];

	if (!*recent || (*recent)->dest != dest)
		*recent = orr_sim_network_pair(from->rank->rank, dest);
	return *recent;
}

static void start(struct message *m)
{
	m->nnotes = (uint8_t) (1 + (m->note[1].flight != NULL));
	m->flow.taken_over = m->note[1].flight ? taken_over : NULL;
	orr_sim_network_send(&m->flow, m->bytes);
}

static void post_envelope(struct orr_process *proc, struct orr_parcel *f, const void *buf,
			  size_t bytes, int dest)
{
	struct orr_sim_mpi *mpi = orr_sim_mpi_of(proc);
	struct message *m = message_new(proc, bytes), *last;
	m->is_envelope = 1;
	m->bytes = bytes;
	m->from = mpi->endpoint;
	m->to = endpoint_of(mpi, dest);
	m->note[1].flight = f;
	memcpy(m->text, buf, bytes);
	m->flow.pair = pair_of(m->from, m->to->rank->rank);
	start(m);
	struct orr_sim_pair *p = m->flow.pair;
	last = p->last;
	if (p->first)
		last->next = m;
	else
		p->first = m;
	p->last = m;
}

/* Fills one end of a payload. A datatype is converted to a row in a buffer, where payloads exist.
 */
static void side_set(struct orr_process *proc, struct side *s, void *at, const struct orr_layout *l)
{
	s->at = at;
	if (orr_layout_is_row(l) || !orr_sys_has_payload(proc))
		return;
	s->layout = malloc(sizeof(*s->layout));
	if (s->layout && l->type != MPI_DATATYPE_NULL)
		s->packed = malloc(l->size);
	if (!s->layout || (l->type != MPI_DATATYPE_NULL && !s->packed))
		orr_fatal("out of memory for a message of %zu bytes", l->size);
	orr_layout_keep(s->layout, l);
}

/* The other side of a payload, taken out of those of its receiver; or a new one, put there. */
static struct message *payload_of(struct orr_process *proc, struct orr_sim_endpoint *to, int source,
				  int tag)
{
	uint64_t key = (uint64_t) source << 32 | (uint32_t) tag;
	struct message **direct = &to->direct[((unsigned) source * 5 + (unsigned) tag) % DIRECT];
	struct message *m = *direct;
	if (m && m->key == key) {
		*direct = NULL;
		return m;
	}
	m = to->payloads.n ? orr_map_find(&to->payloads, key) : NULL;
	if (m) {
		orr_map_remove(&to->payloads, m);
		return m;
	}
	m = message_new(proc, 0);
	m->key = key;
	m->to = to;
	if (!*direct)
		*direct = m;
	else if (orr_map_insert(&to->payloads, m))
		orr_fatal("out of memory for a message; run fewer nodes or smaller data");
	return m;
}

/* ---- buffers of MPI ---- */

/* The engine, which is the caller, copies for so long. Returns when that is over. */
static double copies(struct orr_sim_endpoint *e, double us)
{
	orr_thread_self()->debt_us += us;
	return e->copies_until_s = fmax(e->copies_until_s, orr_sim_clock_s()) + us * 1e-6;
}

static void copied_before(struct orr_sim_event *e)
{
	start((struct message *) e);
}

/* The bytes leave as they are copied, so that this takes no longer than their way. */
static void start_eager(struct message *m)
{
	double us = orr_sim_buffer_us(m->from->rank, (double) m->bytes);
	double before_s = m->from->copies_until_s;
	if (us > 0)
		copies(m->from, fmin(us, 1e6 * orr_sim_network_alone_s(m->flow.pair, m->bytes)));
	if (before_s <= orr_sim_clock_s()) {
		start(m);
		return;
	}
	m->flow.event.fire = copied_before;
	orr_sim_event_set(&m->flow.event, before_s);
}

static void copied(struct orr_sim_event *e)
{
	receive_end((struct message *) e);
}

/* The receive of a payload that is here. */
static void fetch_payload(struct message *m)
{
	double us = orr_sim_buffer_us(m->to->rank, (double) m->bytes);
	m->flow.event.fire = copied;
	m->flow.event.anywhere = 1;
	orr_sim_event_set(&m->flow.event, copies(m->to, us));
}

/* ---- posting payloads ---- */

static void post_payload(struct orr_process *proc, struct orr_parcel *f, const void *buf,
			 const struct orr_layout *l, int dest, int tag, int synchronous)
{
	struct orr_sim_mpi *mpi = orr_sim_mpi_of(proc);
	struct message *m = payload_of(proc, endpoint_of(mpi, dest), proc->mpi_rank, tag);
	orr_assert(!m->is_sent);
	m->from = mpi->endpoint;
	m->bytes = l->size;
	side_set(proc, &m->out, (void *) buf, l);
	if (m->out.packed)
		orr_layout_gather(proc, l, buf, m->out.packed);
	m->note[1].flight = f;
	m->is_sent = 1;
	m->is_eager = !synchronous && m->bytes < orr_sim_glue_eager_bytes();
	m->flow.pair = pair_of(m->from, m->to->rank->rank);
	if (m->is_eager)
		start_eager(m);
	else if (m->note[0].flight)
		start(m);
}

static void spend_overhead(enum orr_sim_overhead kind, size_t bytes)
{
	double s = orr_sim_glue_overhead_s(kind, (double) bytes);
	if (s > 0)
		orr_sys_sleep_us(s * 1e6);
}

/* ---- the table ---- */

static int native_open(struct orr_process *proc, int tag, size_t most,
		       struct orr_transport_limits *limits)
{
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	(void) most;
	m->tag = tag;
	m->endpoint = endpoint_of(m, proc->mpi_rank);
	m->endpoint->mpi = m;
	*limits = (struct orr_transport_limits){ .payload_tags = INT_MAX - 1 };
	return 0;
}

static void native_close(struct orr_process *proc)
{
	struct orr_sim_endpoint *e = orr_sim_mpi_of(proc)->endpoint;
	e->mpi = NULL;
	orr_map_exit(&e->payloads);
	memset(e->direct, 0, sizeof(e->direct));
}

static void native_send(struct orr_process *proc, struct orr_parcel *f, const void *buf,
			const struct orr_layout *l, int dest, int tag, int synchronous)
{
	orr_assert_no_lock();
	orr_sim_yield();
	spend_overhead(ORR_SIM_SENDING, l->size);
	if (tag == orr_sim_mpi_of(proc)->tag)
		post_envelope(proc, f, buf, l->size, dest);
	else
		post_payload(proc, f, buf, l, dest, tag, synchronous);
}

static void native_send_ahead(struct orr_process *proc, struct orr_parcel *f, const void *buf,
			      int count, int dest, int tag)
{
	(void) f;
	(void) tag;
	orr_assert_no_lock();
	orr_sim_yield();
	spend_overhead(ORR_SIM_SENDING, (size_t) count);
	post_envelope(proc, NULL, buf, (size_t) count, dest);
}

/* The envelope was copied. */
static void native_send_ahead_end(struct orr_process *proc, struct orr_parcel *f)
{
	(void) proc;
	(void) f;
}

static void native_receive(struct orr_process *proc, struct orr_parcel *f, void *buf,
			   const struct orr_layout *l, int source, int tag)
{
	struct message *m = payload_of(proc, orr_sim_mpi_of(proc)->endpoint, source, tag);
	m->note[0].flight = f;
	side_set(proc, &m->in, buf, l);
	if (m->is_sent) {
		orr_assertf(m->bytes == l->size, "a message of %zu bytes, received as %zu",
			    m->bytes, l->size);
		if (m->has_arrived)
			fetch_payload(m);
		else if (!m->is_eager)
			start(m);
	}
}

static void native_listen(struct orr_process *proc)
{
	struct orr_sim_endpoint *e = orr_sim_mpi_of(proc)->endpoint;
	struct message *m = e->taken;
	orr_assert(m && m->nnotes > 0);
	e->taken = NULL;
	if (!--m->nnotes)
		message_free(m);
}

/* Tells the engine what the first note says. */
static enum orr_transport_event native_take(struct orr_sim_endpoint *e, struct orr_landing *l)
{
	struct note *n = e->first;
	struct message *m = n->m;
	e->first = n->next;
	if (!e->first)
		e->end = &e->first;
	l->flight = n->flight;
	l->envelope = m->text;
	l->bytes = m->bytes;
	l->source = m->source;
	if (n == &m->note[0]) {
		if (m->in.packed)
			orr_layout_scatter(NULL, m->in.layout, m->in.at, m->in.packed);
		spend_overhead(ORR_SIM_RECEIVING, m->bytes);
	}
	if (!l->flight)
		e->taken = m;
	else if (!--m->nnotes)
		message_free(m);
	return ORR_TRANSPORT_LANDED;
}

/* The next wait tells what has come, and spends the time that it takes; but an engine that executes
 * tasks looks between them. */
static enum orr_transport_event native_test(struct orr_process *proc, struct orr_landing *l)
{
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	if (m->computes && m->endpoint->first) {
		orr_sim_mpi_make_room(proc, 0);
		return native_take(m->endpoint, l);
	}
	return orr_sim_mpi_take_note(m) ? ORR_TRANSPORT_BELL : ORR_TRANSPORT_NOTHING;
}

static void begin_wait(struct orr_sim_mpi *m)
{
	m->busy_until_s = orr_sim_settle_ahead(orr_thread_self());
	orr_sim_yield();
	m->waits = 1;
	m->waits_since_us = orr_sys_now_us();
	if (m->busy_until_s > orr_sim_clock_s())
		m->waits_since_us = m->busy_until_s * 1e6;
}

/* Returns 0 when the wait is over: something has come, and what the engine was charged before is
 * spent. */
static int goes_on(struct orr_sim_mpi *m)
{
	m->sleeping = !m->endpoint->first && !m->rung;
	return m->sleeping || orr_sim_clock_s() < m->busy_until_s;
}

static enum orr_transport_event native_wait(struct orr_process *proc, struct orr_landing *l)
{
	struct orr_sim_rank *r = proc->sys;
	struct orr_sim_mpi *m = r->mpi;
	orr_assert_no_lock();
	if (!m->waits) {
		if (orr_sim_mpi_take_note(m))
			return ORR_TRANSPORT_BELL;
		begin_wait(m);
	}
	while (goes_on(m))
		if (orr_sim_block_recess(r->engine, m->sleeping ? -1 : m->busy_until_s))
			return ORR_TRANSPORT_RECESS;
	m->waits = 0;
	if (!m->endpoint->first && orr_sim_mpi_take_note(m))
		return ORR_TRANSPORT_BELL;
	orr_sim_mpi_make_room(proc, orr_sys_now_us() - m->waits_since_us);
	return native_take(m->endpoint, l);
}

static void native_wake(struct orr_process *proc)
{
	struct orr_sim_rank *r = proc->sys;
	struct orr_sim_mpi *m = r->mpi;
	orr_assert_no_lock();
	if (!m || !m->entered || orr_sim_actor_self() == r->engine)
		return;
	m->rung = 1;
	wake(m, r->engine);
}

/* Communicators of the program are SMPI's. */
static int native_sum(MPI_Comm comm, const uint64_t *mine, uint64_t *sums, int n)
{
	if (comm != MPI_COMM_WORLD)
		return orr_sim_smpi.sum(comm, mine, sums, n);
	return !orr_sim_collective_sum(mine, sums, n);
}

const struct orr_sim_carrier orr_sim_native = {
	.transport = {
		.name = "native",
		.open = native_open,
		.close = native_close,
		.send = native_send,
		.send_ahead = native_send_ahead,
		.send_ahead_end = native_send_ahead_end,
		.receive = native_receive,
		.listen = native_listen,
		.test = native_test,
		.wait = native_wait,
		.wake = native_wake,
	},
	.enter = native_enter,
	.leave = native_leave,
	.sum = native_sum,
};
