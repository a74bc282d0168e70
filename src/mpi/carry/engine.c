/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The progression engine: takes in requests whose data became available, starts the most urgent
 * ones, takes in envelopes, completes messages.
 *
 * Where threads may drive, the owner never sleeps: a thread that has nothing to do gives the engine
 * back first and then rests (rest.c). The dedicated thread only guarantees progress when nobody
 * waits: it polls while something is expected and dozes otherwise; while other threads drive it
 * does not poll at all. Elsewhere the engine's actor blocks until a message, a completion or the
 * bell.
 *
 * Invariant: a request pushed to the inbox is seen by the present owner before it leaves
 * (orr_mpi_unown), or by the pusher itself, or by the dedicated thread, which is rung unless it is
 * awake. No assertion can say so: it is a promise about the future. */
#include "mpi/carry/fake_rank.h"
#include "mpi/carry/late.h"
#include "mpi/carry/limits.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/relay.h"
#include "mpi/carry/mpi_stall.h"
#include "mpi/carry/stuck.h"
#include "mpi/carry/engine_work.h"
#include "mpi/carry/coop.h"
#include "mpi/carry/mpi_transfer.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/engine.h"
#include "mpi/carry/mpi_flight.h"
#include "mpi/carry/order.h"
#include "mpi/carry/request.h"
#include "mpi/carry/rest.h"
#include "mpi/carry/peer.h"
#include "mpi/carry/ready.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/log.h"
#include "base/patience.h"
#include "base/upcalls.h"
#include "core/worker/core.h"
#include "base/park.h"
#include "core/worker/poll_hook.h"
#include "core/worker/worker.h"

#define COMPLETIONS_PER_TURN 32

/* ---- messages in the hands of the transport ---- */

static void take_envelope(struct orr_mpi *mpi, const struct orr_landing *l)
{
	struct orr_mpi_envelope env;

	orr_assertf(l->source != mpi->rank, "a message to this rank itself went through MPI");
	if (l->bytes < sizeof(env))
		orr_fatal("a message of %zu bytes from rank %d is no envelope", l->bytes,
			  l->source);
	memcpy(&env, l->envelope, sizeof(env));
	if (__builtin_expect(env.flags & (ORR_MPI_ASK | ORR_MPI_TELL), 0))
		orr_mpi_stall_in(mpi, l->envelope, l->bytes, l->source);
	else if (__builtin_expect(env.flags & ORR_MPI_STUCK, 0))
		orr_mpi_stuck_in(mpi, l->envelope, l->bytes, l->source);
	else
		orr_mpi_message_in(mpi, l->envelope, l->bytes, l->source);
	mpi->transport->listen(mpi->proc);
}

/* Bytes of payload that a message brought here. */
static size_t flight_payload(const struct orr_mpi_flight *f)
{
	switch (f->kind) {
	case ORR_FLIGHT_DATA_IN: return f->req->size;
	case ORR_FLIGHT_EARLY_IN: return f->early->env.size;
	case ORR_FLIGHT_PIECE_IN: return orr_mpi_relay_piece_bytes(f->relay, f->piece);
	default: return 0;
	}
}

/* A message completed. */
static void flight_done(struct orr_mpi *mpi, struct orr_mpi_flight *f)
{
	switch (f->kind) {
	case ORR_FLIGHT_OUT:
	case ORR_FLIGHT_DATA_IN:
	case ORR_FLIGHT_EARLY_IN: orr_mpi_transfer_done(mpi, f); break;
	case ORR_FLIGHT_ROUTE_OUT:
	case ORR_FLIGHT_PIECE_OUT:
	case ORR_FLIGHT_PIECE_IN: orr_mpi_relay_flight_done(mpi, f); break;
	case ORR_FLIGHT_ASIDE_OUT: free(f->buf); break;
	}
}

static void engine_land(struct orr_mpi *mpi, const struct orr_landing *l)
{
	struct orr_mpi_flight *f = (struct orr_mpi_flight *) l->flight;

	orr_sys_charge(orr_thread_self(), ORR_COST_MESSAGE);
	if (!f) {
		take_envelope(mpi, l);
		return;
	}
	orr_assert(mpi->flights.n > 0);
	ORR_ATOMIC_STORE_RELAXED(&mpi->flights.n, mpi->flights.n - 1);
	size_t bytes = flight_payload(f);
	if (bytes)
		orr_sys_mpi_received(mpi->proc, bytes);
	flight_done(mpi, f);
	orr_mpi_fly_end(mpi, f);
}

/* ---- one turn ---- */

static struct orr_mpi_req *link_req(struct orr_mpi_link *l)
{
	return l ? (struct orr_mpi_req *) ((char *) l - offsetof(struct orr_mpi_req, link)) : NULL;
}

/* Takes the sends off the list that carry the value of its first one. Returns the most urgent of
 * them, and the others linked to it. */
static struct orr_mpi_req *take_mates(const struct orr_mpi *mpi, struct orr_mpi_req **list)
{
	struct orr_mpi_req *first = *list, *req;

	*list = link_req(first->link.next);
	first->link.next = NULL;
	while ((req = *list) && orr_mpi_mates(mpi, first, req)) {
		*list = link_req(req->link.next);
		if (orr_mpi_ready_before(req, first)) {
			req->link.next = &first->link;
			first = req;
		} else {
			req->link.next = first->link.next;
			first->link.next = &req->link;
		}
	}
	return first;
}

/* Takes in what other threads pushed, in their order. */
static int take_inbox(struct orr_mpi *mpi)
{
	struct orr_mpi_req *newest, *oldest = NULL;
	int n = 0;

	orr_mpi_assert_owner(mpi);
	if (!ORR_ATOMIC_LOAD_RELAXED(&mpi->engine.inbox))
		return 0;
	for (newest = ORR_ATOMIC_XCHG(&mpi->engine.inbox, NULL); newest; n++) {
		struct orr_mpi_req *older = link_req(newest->link.next);
		newest->link.next = oldest ? &oldest->link : NULL;
		oldest = newest;
		newest = older;
	}
	while (oldest) {
		struct orr_mpi_req *req = oldest;
		orr_assertf(req->kind != ORR_MPI_FREE, "a request in the inbox was freed");
		if (req->kind == ORR_MPI_SEND) {
			req = take_mates(mpi, &oldest);
			if (!orr_mpi_late_expects(mpi, req))
				orr_mpi_ready_push(mpi, req);
			continue;
		}
		oldest = link_req(req->link.next);
		req->link.next = NULL;
		if (req->kind == ORR_MPI_SEND_PLAN)
			orr_mpi_relay_send_plan(mpi, req);
		else if (mpi->fake) {
			orr_mpi_alone_received(mpi, req);
			orr_mpi_complete(mpi, req);
		} else
			orr_mpi_recv_early(mpi, req);
	}
	return n;
}

/* Tells the trace why sends stay ready. */
static void tell_held(struct orr_mpi *mpi)
{
	enum orr_trace_hold hold = 0;

	if (mpi->ready.n)
		hold = orr_mpi_may_send(&mpi->limits, mpi->ready.heap[0])
			       ? ORR_HOLD_TURN
			       : orr_mpi_send_limit(&mpi->limits);
	orr_mpi_trace_ready_held(mpi, hold);
}

static int start_ready(struct orr_mpi *mpi)
{
	int n = 0;

	while (orr_mpi_may_send(&mpi->limits, mpi->ready.n ? mpi->ready.heap[0] : NULL) &&
	       (!mpi->ready.max || n < mpi->ready.max)) {
		orr_mpi_coop_start(mpi, orr_mpi_ready_pop(mpi));
		n++;
	}
	if (orr_mpi_is_traced(mpi))
		tell_held(mpi);
	return n;
}

/* Takes in what is new, and starts what may start. */
static int start_new(struct orr_mpi *mpi)
{
	struct orr_mpi_req *late;
	int n = take_inbox(mpi);

	while ((mpi->late.groups || ORR_ATOMIC_LOAD_RELAXED(&mpi->late.hurry)) &&
	       (late = orr_mpi_late_due(mpi)))
		orr_mpi_ready_push(mpi, late);
	return n + start_ready(mpi);
}

/* A turn has nothing to take in or to start, and no trace asks why sends stay. */
static inline int is_nothing_new(const struct orr_mpi *mpi)
{
	return !ORR_ATOMIC_LOAD_RELAXED(&mpi->engine.inbox) && !mpi->ready.n && !mpi->late.groups &&
	       !ORR_ATOMIC_LOAD_RELAXED(&mpi->late.hurry) && !orr_mpi_is_traced(mpi);
}

static enum orr_transport_event next_event(struct orr_mpi *mpi, int wait, struct orr_landing *l)
{
	enum orr_transport_event event = wait ? mpi->transport->wait(mpi->proc, l)
					      : mpi->transport->test(mpi->proc, l);

	if (mpi->may_drive && (event == ORR_TRANSPORT_LANDED || event == ORR_TRANSPORT_FLOWING))
		orr_mpi_noticed(mpi);
	ORR_ATOMIC_STORE_RELAXED(&mpi->engine.flowing, event == ORR_TRANSPORT_FLOWING);
	return event;
}

/* A send is ready, and may start. */
static int is_sending(const struct orr_mpi *mpi)
{
	return orr_mpi_may_send(&mpi->limits, mpi->ready.n ? mpi->ready.heap[0] : NULL);
}

/* A turn; block: it waits for something, which it does only where threads may not drive. Compiled
 * for each value: an engine that blocks has two short turns for each message. */
static inline __attribute__((always_inline)) int progress(struct orr_mpi *mpi, const int block)
{
	struct orr_landing l;

	orr_assert_no_lock();
	orr_assert(!block || !mpi->may_drive);
	int resumes = mpi->engine.in_recess, n = 0;
	enum orr_transport_event event;

	if (!resumes) { /* else the turn begins when its wait is over */
		orr_mpi_turn_begin(mpi);
		n = block && is_nothing_new(mpi) ? 0 : start_new(mpi);
	}
	mpi->engine.in_recess = 0;
	mpi->trace.turn.n = (uint64_t) n;
	if (mpi->fake) {
		orr_mpi_turn_end(mpi);
		return n;
	}
	for (int landed = 0; landed < COMPLETIONS_PER_TURN; landed++) {
		int wait = block && !landed && !is_sending(mpi) &&
			   !ORR_ATOMIC_LOAD(&mpi->engine.inbox);

		if (wait)
			orr_mpi_turn_end(mpi);
		event = next_event(mpi, wait || resumes, &l);
		if (event == ORR_TRANSPORT_RECESS) {
			mpi->engine.in_recess = 1;
			return n;
		}
		if (wait || resumes)
			orr_mpi_turn_begin(mpi);
		resumes = 0;
		if (event != ORR_TRANSPORT_LANDED)
			break;
		engine_land(mpi, &l);
		n++;
		mpi->trace.turn.n++;
		if (block && !is_sending(mpi))
			break;
	}
	int loaded = mpi->counts.ndeferred ? orr_mpi_early_load(mpi) : 0;

	mpi->trace.turn.n += (uint64_t) loaded;
	orr_mpi_turn_end(mpi);
	return n + loaded;
}

int orr_mpi_progress(struct orr_mpi *mpi)
{
	return progress(mpi, 0);
}

/* The same as a turn of the owner, outside of orr_mpi_progress: a receive whose message is there is
 * completed here, and calls the program back. */
static void start_new_turn(struct orr_mpi *mpi)
{
	orr_mpi_turn_begin(mpi);
	mpi->trace.turn.n = (uint64_t) start_new(mpi);
	orr_mpi_turn_end(mpi);
}

static void disown(struct orr_mpi *mpi)
{
	orr_mpi_assert_owner(mpi);
	ORR_ATOMIC_STORE(&mpi->engine.owner, NULL);
}

void orr_mpi_unown(struct orr_mpi *mpi)
{
	disown(mpi);
	ORR_ATOMIC_FENCE();
	while (ORR_ATOMIC_LOAD(&mpi->engine.inbox) && orr_mpi_own(mpi)) {
		start_new_turn(mpi);
		disown(mpi);
		ORR_ATOMIC_FENCE();
	}
}

void orr_mpi_submit(struct orr_mpi *mpi, struct orr_mpi_req *req, int will_drive)
{
	orr_mpi_submit_list(mpi, req, req, will_drive);
}

/* Requests were put into the inbox: starts them here, or rings for a thread that does. */
static void start_or_ring(struct orr_mpi *mpi, int sending, int will_drive)
{
	if (!mpi->may_drive) {
		orr_mpi_ring(mpi);
		return;
	}
	if (will_drive)
		return;
	/* Start it here and now rather than wait for another thread to be scheduled; callbacks and
	 * completions are the engine's. */
	if (mpi->fake || sending) {
		if (orr_mpi_own(mpi)) {
			start_new_turn(mpi);
			orr_mpi_unown(mpi);
		}
	}
	if (!mpi->fake && !ORR_ATOMIC_LOAD_RELAXED(&mpi->engine.drivers))
		orr_mpi_expect(mpi);
}

void orr_mpi_submit_list(struct orr_mpi *mpi, struct orr_mpi_req *newest,
			 struct orr_mpi_req *oldest, int will_drive)
{
	struct orr_mpi_req *top = ORR_ATOMIC_LOAD_RELAXED(&mpi->engine.inbox);
	int sending = newest->kind != ORR_MPI_RECV;

	orr_assert(newest->kind != ORR_MPI_FREE && newest->granted);
	orr_assert(newest->where != ORR_MPI_DONE);
	/* Once in the inbox, requests may be completed and freed at any time; the layer itself
	 * waits for this thread. */
	ORR_ATOMIC_ADD(&mpi->engine.nsubmitting, 1);
	do
		oldest->link.next = top ? &top->link : NULL;
	while (!ORR_ATOMIC_CAS(&mpi->engine.inbox, &top, newest));
	start_or_ring(mpi, sending, will_drive);
	ORR_ATOMIC_ADD(&mpi->engine.nsubmitting, -1);
}

/* ---- workers ---- */

/* Called by a worker between two tasks, or before it sleeps (idle), in a process without a core for
 * a thread that only polls. This costs less than switching to such a thread, and no message waits
 * longer than a kernel lasts. But the next task does not wait while a long message is copied: the
 * worker rings for another thread, which a kernel on a device, or another core, may leave time. */
static void engine_poll_hook(struct orr_process *proc, int idle)
{
	struct orr_mpi *mpi = proc->mpi;

	if (!orr_mpi_busy(mpi))
		return;
	int64_t now = (int64_t) orr_sys_now_us();
	if (!idle && (double) (now - ORR_ATOMIC_LOAD_RELAXED(&mpi->engine.polled_us)) <
			     ORR_PATIENCE_WORKER_US)
		return;
	/* A sleeping worker stops polling, so let another thread poll at once. */
	ORR_ATOMIC_STORE_RELAXED(&mpi->engine.polled_us, idle ? 0 : now);
	if ((idle || !ORR_ATOMIC_LOAD_RELAXED(&mpi->engine.flowing)) && orr_mpi_own(mpi)) {
		orr_mpi_progress(mpi);
		orr_mpi_unown(mpi);
	}
	if (idle || ORR_ATOMIC_LOAD_RELAXED(&mpi->engine.flowing))
		orr_mpi_ring(mpi);
}

/* ---- the engine's own thread ---- */

static void poll_loop(struct orr_mpi *mpi)
{
	while (!ORR_ATOMIC_LOAD(&mpi->engine.stopping)) {
		int n = 0;
		if (!ORR_ATOMIC_LOAD(&mpi->engine.drivers) && orr_mpi_own(mpi)) {
			n = orr_mpi_progress(mpi);
			if (!n)
				orr_mpi_stall_watch(mpi);
			orr_mpi_unown(mpi);
		}
		n += orr_mpi_work(mpi, !ORR_ATOMIC_LOAD(&mpi->engine.drivers) && orr_mpi_busy(mpi));
		if (n || orr_mpi_work_sleeps(mpi))
			continue;
		orr_mpi_rest(mpi, ORR_ATOMIC_LOAD(&mpi->engine.drivers) ? ORR_MPI_DRIVEN
				  : orr_mpi_busy(mpi)                   ? ORR_MPI_EXPECTING
									: ORR_MPI_IDLE);
		orr_mpi_work_wakes(mpi);
	}
}

/* An engine whose actor executes tasks does these first. Returns 1 if there was something. */
static int work_first(struct orr_mpi *mpi)
{
	int n = orr_mpi_progress(mpi);

	n += orr_mpi_work(mpi, orr_mpi_busy(mpi));
	return n || orr_mpi_work_sleeps(mpi);
}

/* Nothing is new: the next turn waits at once, and what the engine was charged is spent meanwhile.
 */
static int can_only_wait(const struct orr_mpi *mpi)
{
	return !mpi->work.group && !mpi->late.groups && !is_sending(mpi) &&
	       !ORR_ATOMIC_LOAD(&mpi->engine.inbox) && !ORR_ATOMIC_LOAD(&mpi->engine.stopping);
}

/* Returns 1 when it is in a recess (base/seam.h), 0 when the engine is to stop. */
static int block_loop(struct orr_mpi *mpi)
{
	while (mpi->engine.in_recess || !ORR_ATOMIC_LOAD(&mpi->engine.stopping)) {
		if (!mpi->work.group || mpi->engine.in_recess || !work_first(mpi)) {
			progress(mpi, 1);
			if (mpi->engine.in_recess)
				return 1;
			orr_mpi_work_wakes(mpi);
		}
		if (!can_only_wait(mpi) && orr_sys_settle_recess(orr_thread_self()))
			return 1;
	}
	return 0;
}

static void engine_begin(struct orr_mpi *mpi)
{
	struct orr_transport_limits limits;
	int own = orr_mpi_own(mpi);
	size_t most = orr_mpi_message_max(mpi);

	if (most < ORR_MPI_ASIDE_MAX)
		most = ORR_MPI_ASIDE_MAX;

	(void) own;
	orr_assert(own); /* nobody else drives yet */
	mpi->engine.self = orr_thread_self();
	mpi->trace.turns_since_us = orr_sys_now_us();
	orr_sys_mpi_engine_enter(mpi->proc);
	orr_mpi_rest_begin(mpi);
	if (mpi->transport->open(mpi->proc, mpi->set.comm_tag, most, &limits))
		orr_fatal("out of memory for the MPI layer");
	orr_assert(limits.may_drive == mpi->may_drive);
	mpi->set.data_tags = limits.payload_tags;
	if (mpi->may_drive)
		orr_mpi_unown(mpi);
	orr_mpi_work_begin(mpi);
	ORR_ATOMIC_STORE(&mpi->engine.running, 1);
	orr_waitq_wake(&mpi->done);
}

static void engine_end(struct orr_mpi *mpi)
{
	orr_mpi_work_end(mpi);
	while (mpi->may_drive && !orr_mpi_own(mpi))
		orr_mpi_rest(mpi, ORR_MPI_EXPECTING);
	mpi->transport->close(mpi->proc);
	orr_sys_mpi_engine_leave(mpi->proc);
	disown(mpi);
}

static void *engine_main(void *arg)
{
	struct orr_mpi *mpi = arg;

	if (!mpi->engine.running)
		engine_begin(mpi);
	if (mpi->may_drive)
		poll_loop(mpi);
	else if (block_loop(mpi))
		return ORR_RECESS;
	engine_end(mpi);
	return NULL;
}

static int engine_is_running(struct orr_mpi *mpi)
{
	return ORR_ATOMIC_LOAD(&mpi->engine.running);
}

/* The unit that the thread is bound to, -1: none. */
static int engine_unit(const struct orr_mpi *mpi)
{
	const struct orr_config *cfg = mpi->proc->cfg;

	if (cfg->mpi_nobind || cfg->mpi_thread_cpuid >= 0)
		return cfg->mpi_nobind ? -1 : cfg->mpi_thread_cpuid;
	if (mpi->work.drivers && starpu_cpu_worker_get_count() > mpi->work.cpu)
		return starpu_worker_get_bindid(
			starpu_worker_get_by_type(STARPU_CPU_WORKER, (int) mpi->work.cpu));
	return orr_worker_engine_unit(mpi->proc);
}

int orr_mpi_engine_start(struct orr_mpi *mpi)
{
	if (mpi->fake)
		return 0;
	mpi->engine.workers_poll = mpi->proc->cfg->mpi_workers_look < 0
					   ? orr_sys_cores(mpi->proc) <= mpi->proc->core->nworkers
					   : mpi->proc->cfg->mpi_workers_look;
	orr_mpi_stuck_begin(mpi);
	mpi->engine.thread = orr_sys_thread_start(mpi->proc, ORR_ROLE_ENGINE, "mpi",
						  engine_unit(mpi), engine_main, mpi);
	if (!mpi->engine.thread) {
		orr_error("cannot start the MPI progression thread: %s", strerror(errno));
		orr_mpi_stuck_end(mpi);
		return -EAGAIN;
	}
	while (!engine_is_running(mpi)) {
		unsigned key = orr_waitq_prepare(&mpi->done);
		if (engine_is_running(mpi))
			orr_waitq_cancel(&mpi->done);
		else
			orr_waitq_wait(&mpi->done, key, -1);
	}
	if (mpi->may_drive && mpi->engine.workers_poll)
		orr_poll_hook_set(mpi->proc, engine_poll_hook);
	return 0;
}

void orr_mpi_engine_stop(struct orr_mpi *mpi)
{
	if (!mpi->fake) {
		orr_poll_hook_set(mpi->proc, NULL);
		ORR_ATOMIC_STORE(&mpi->engine.stopping, 1);
		orr_mpi_ring(mpi);
		orr_sys_thread_join(mpi->engine.thread);
		ORR_ATOMIC_STORE(&mpi->engine.stopping, 0);
		ORR_ATOMIC_STORE(&mpi->engine.running, 0);
	}
	orr_mpi_trace_turns_end(mpi);
	orr_mpi_stuck_end(mpi);
	for (struct orr_mpi_flight *f; (f = mpi->flights.free);) {
		mpi->flights.free = f->next;
		free(f);
	}
	orr_mpi_ready_exit(mpi);
}
