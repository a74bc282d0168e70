/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The link between the processes of a program without starpu_mpi (contract: base/link.h), over the
 * transports that the progression engine uses, too. Where the world lets threads poll, the link's
 * thread polls with the engine's patience; else it blocks in its transport.
 *
 * Invariant: a process has the engine (proc->mpi) or the link (proc->link), never both, so that
 * nobody else receives what comes for it. */
#include <config.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/link.h"
#include "base/log.h"
#include "base/park.h"
#include "base/patience.h"
#include "base/upcalls.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/message_trace.h"

/* Notes have this tag, payloads have those after it. */
#define NOTE_TAG 0
#define MOST_TAGS 30000

/* A letter in the hands of the transport. */
struct flight {
	struct orr_parcel parcel; /* first */
	struct orr_letter *letter;
};

struct orr_link {
	struct orr_process *proc;
	const struct orr_transport *transport;
	const struct orr_link_user *user;
	orr_sys_thread_t *thread;
	struct orr_letter *inbox; /* atomic: posted letters, newest first */
	unsigned running;         /* atomic: the thread has begun */
	unsigned closing;         /* atomic: it ends once all letters are done */
	unsigned nflying;         /* atomic: letters in the hands of the transport */
	int may_drive;            /* as the transport says */
	int in_recess;            /* of the transport's `wait` */
	orr_waitq_t bell;
	double stirred_us, yield_us; /* see base/patience.h */
};

/* ---- letters ---- */

static void fly(struct orr_link *link, struct orr_letter *l)
{
	const struct orr_transport *t = link->transport;
	const struct orr_rows *r = &l->rows;
	struct flight *f = malloc(sizeof(*f));
	int tag = l->kind == ORR_LETTER_NOTE ? NOTE_TAG : l->tag;
	struct orr_layout layout;

	if (!f)
		orr_fatal("out of memory for a message to another rank");
	orr_layout_repeat(orr_layout_row(&layout, r->size), r->count, r->stride);
	*f = (struct flight){ .letter = l };
	ORR_ATOMIC_ADD(&link->nflying, 1);
	if (l->kind == ORR_LETTER_IN)
		t->receive(link->proc, &f->parcel, (void *) r->at, &layout, l->peer, tag);
	else
		t->send(link->proc, &f->parcel, (const void *) r->at, &layout, l->peer, tag, 0);
}

/* Gives all posted letters to the transport, in their order. Returns how many there were. */
static unsigned post_all(struct orr_link *link)
{
	struct orr_letter *l = NULL, *newest, *next;
	unsigned n = 0;

	if (!ORR_ATOMIC_LOAD_RELAXED(&link->inbox))
		return 0;
	for (newest = ORR_ATOMIC_XCHG(&link->inbox, NULL); newest; newest = next) {
		next = newest->next;
		newest->next = l;
		l = newest;
	}
	for (; l; l = next, n++) {
		next = l->next;
		fly(link, l);
	}
	return n;
}

static void land(struct orr_link *link, const struct orr_landing *landing)
{
	struct flight *f = (struct flight *) landing->flight;

	orr_sys_charge(orr_thread_self(), ORR_COST_MESSAGE);
	if (!f) {
		link->user->note(link->proc, landing->source, landing->envelope);
		link->transport->listen(link->proc);
		return;
	}
	struct orr_letter *l = f->letter;
	orr_assert(link->nflying > 0);
	free(f);
	ORR_ATOMIC_ADD(&link->nflying, -1);
	l->done(link->proc, l);
}

/* ---- the thread ---- */

static int is_over(struct orr_link *link)
{
	return ORR_ATOMIC_LOAD(&link->closing) && !link->nflying && !ORR_ATOMIC_LOAD(&link->inbox);
}

/* The thread has polled in vain. It does not spin: when it begins, nobody knows yet how many cores
 * there are. */
static void rest(struct orr_link *link)
{
	double calm_us = orr_sys_now_us() - link->stirred_us,
	       longest_us = link->nflying ? ORR_PATIENCE_LONG_NAP_US : ORR_PATIENCE_IDLE_US;

	if (calm_us < link->yield_us) {
		orr_sys_yield();
	} else {
		unsigned key = orr_waitq_prepare(&link->bell);

		if (ORR_ATOMIC_LOAD(&link->inbox) || ORR_ATOMIC_LOAD(&link->closing))
			orr_waitq_cancel(&link->bell);
		else
			orr_waitq_wait(&link->bell, key, orr_patience_nap_us(calm_us, longest_us));
	}
}

static void stir(struct orr_link *link)
{
	double now_us = orr_sys_now_us();

	link->yield_us = orr_patience_learn(link->yield_us, now_us - link->stirred_us);
	link->stirred_us = now_us;
}

static void poll_loop(struct orr_link *link)
{
	struct orr_landing landing;

	while (!is_over(link)) {
		unsigned n = post_all(link);
		enum orr_transport_event e = link->transport->test(link->proc, &landing);

		if (e == ORR_TRANSPORT_LANDED)
			land(link, &landing);
		if (n || e != ORR_TRANSPORT_NOTHING)
			stir(link);
		else
			rest(link);
	}
}

/* Returns 1 when it is in a recess (base/seam.h), 0 when the link is closed. */
static int block_loop(struct orr_link *link)
{
	struct orr_landing landing;

	while (link->in_recess || !is_over(link)) {
		if (link->in_recess || !post_all(link)) {
			enum orr_transport_event e = link->transport->wait(link->proc, &landing);

			link->in_recess = e == ORR_TRANSPORT_RECESS;
			if (link->in_recess)
				return 1;
			if (e == ORR_TRANSPORT_LANDED)
				land(link, &landing);
		}
		if (orr_sys_settle_recess(orr_thread_self()))
			return 1;
	}
	return 0;
}

static void begin(struct orr_link *link)
{
	struct orr_transport_limits limits;

	orr_sys_mpi_engine_enter(link->proc);
	if (link->transport->open(link->proc, NOTE_TAG, link->user->longest, &limits))
		orr_fatal("out of memory for messages between ranks");
	orr_assert(limits.payload_tags >= MOST_TAGS);
	link->may_drive = limits.may_drive;
	link->stirred_us = orr_sys_now_us();
	link->yield_us = ORR_PATIENCE_YIELD_US;
	ORR_ATOMIC_STORE(&link->running, 1);
	orr_waitq_wake(&link->bell);
}

static void *thread_main(void *arg)
{
	struct orr_link *link = arg;

	if (!link->running)
		begin(link);
	if (link->may_drive)
		poll_loop(link);
	else if (block_loop(link))
		return ORR_RECESS;
	link->transport->close(link->proc);
	orr_sys_mpi_engine_leave(link->proc);
	return NULL;
}

/* ---- what the worlds may ask ---- */

static int link_expects(const struct orr_process *proc)
{
	return proc->link && proc->link->nflying;
}

static int link_workers_look(const struct orr_process *proc)
{
	(void) proc;
	return 0;
}

static int link_dump(struct orr_process *proc, FILE *f, unsigned max)
{
	unsigned n = proc->link ? proc->link->nflying : 0;

	if (n && max)
		fprintf(f, "  %u messages between master and slaves\n", n);
	return (int) n;
}

/* Messages of the link have no tags of the program. */
static void link_waits(struct orr_process *proc,
		       void (*note)(const struct orr_mpi_wait *w, void *arg), void *arg)
{
	(void) proc;
	(void) note;
	(void) arg;
}

/* A master and its slaves wait in silence. */
static void link_parked(struct orr_process *proc, const char *what)
{
	(void) proc;
	(void) what;
}

/* No message of the link is a datum's. */
static void link_burst_end(struct orr_process *proc, struct orr_thread *self)
{
	(void) proc;
	orr_assert(!self->burst);
}

static int link_drives(const struct orr_process *proc, const struct orr_thread *self)
{
	(void) proc;
	(void) self;
	return 0;
}

static void link_iteration(struct orr_process *proc, int begins)
{
	(void) proc;
	(void) begins;
}

/* Nothing is reserved. */
static int link_yield_memory(struct orr_process *proc)
{
	(void) proc;
	return 0;
}

/* The link counts nothing. */
static void link_tell(struct orr_process *proc, FILE *f, int all)
{
	(void) proc;
	(void) f;
	(void) all;
}

static const struct orr_mpi_upcalls link_upcalls = {
	.tell = link_tell,
	.parked = link_parked,
	.burst_end = link_burst_end,
	.expects = link_expects,
	.workers_look = link_workers_look,
	.dump = link_dump,
	.waits = link_waits,
	.drives = link_drives,
	.iteration = link_iteration,
	.yield_memory = link_yield_memory,
};

/* ---- the table ---- */

static int link_join(struct orr_process *proc, int *rank, int *size)
{
	orr_assert(!proc->mpi && !proc->link);
	return orr_sys_mpi_init(proc, NULL, NULL, 1, MPI_COMM_WORLD, rank, size);
}

static void link_leave(struct orr_process *proc)
{
	orr_sys_mpi_exit(proc);
}

static int link_open(struct orr_process *proc, const struct orr_link_user *user, int *tags)
{
	struct orr_link *link = calloc(1, sizeof(*link));

	if (!link)
		return -ENOMEM;
	*link = (struct orr_link){ .proc = proc,
				   .transport = orr_sys_mpi_transport(proc),
				   .user = user };
	orr_waitq_init(&link->bell);
	*tags = MOST_TAGS;
	proc->link = link;
	proc->mpi_up = &link_upcalls;
	link->thread = orr_sys_thread_start(proc, ORR_ROLE_ENGINE, "link", -1, thread_main, link);
	if (!link->thread) {
		orr_error("cannot start the thread for messages between master and slaves: %s",
			  strerror(errno));
		proc->mpi_up = NULL;
		proc->link = NULL;
		orr_waitq_destroy(&link->bell);
		free(link);
		return -EAGAIN;
	}
	ORR_WAIT_UNTIL(&link->bell, ORR_ATOMIC_LOAD(&link->running));
	return 0;
}

static void ring(struct orr_link *link)
{
	orr_waitq_wake(&link->bell);
	link->transport->wake(link->proc);
}

static void link_close(struct orr_process *proc)
{
	struct orr_link *link = proc->link;

	ORR_ATOMIC_STORE(&link->closing, 1);
	ring(link);
	orr_sys_thread_join(link->thread);
	orr_assert(!link->nflying && !link->inbox);
	proc->mpi_up = NULL;
	proc->link = NULL;
	orr_waitq_destroy(&link->bell);
	free(link);
}

static void link_post(struct orr_process *proc, struct orr_letter *l)
{
	struct orr_link *link = proc->link;
	struct orr_letter *first = ORR_ATOMIC_LOAD(&link->inbox);

	orr_assert(l->kind == ORR_LETTER_NOTE
			   ? l->rows.count == 1 && l->rows.size <= link->user->longest
			   : l->tag > NOTE_TAG && l->tag <= MOST_TAGS);
	do
		l->next = first;
	while (!ORR_ATOMIC_CAS(&link->inbox, &first, l));
	/* The thread itself looks again before it rests. */
	if (!first)
		ring(link);
}

static const struct orr_link_ops ops = {
	.join = link_join,
	.leave = link_leave,
	.open = link_open,
	.close = link_close,
	.post = link_post,
};

__attribute__((constructor)) static void make_known(void)
{
	orr_link_register(&ops);
}
