/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI half of the seam (contract: base/seam_mpi.h) on SMPI.
 *
 * The engine blocks in MPI_Waitany on its requests and its doorbell (actors/sim_bell.h), which it
 * listens to from its first sleep on.
 *
 * Messages are sent as MPI would (MPI_Isend): short ones leave before their receive is posted, else
 * those of a burst would go one by one. SMPI keeps all of these in one list that it searches
 * linearly.
 *
 * Requests are completed by MPI_Waitany and MPI_Wait only: SimGrid 3.32 forgets to take what
 * MPI_Test* completes off the list of the actor's activities, which is searched at each completion
 * (half of the time at 256 ranks).
 *
 * Each start of the MPI layer has a communicator of its own, as the real world does by duplicating
 * the program's: the ranks of the program's communicator are the ranks in it, and a message of this
 * start is never received by a rank that still ends the start before. No
 * message is needed to make it.
 *
 * Invariant: a ring that comes while the engine is awake is noted in `rung` for its next wait. */
#include <limits.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "net/sim_mpi.h"
#include "actors/sim_actor.h"
#include "actors/sim_glue.h"
#include "machine/sim_cores.h"
#include "machine/sim_node.h"
#include "net/sim_network.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/patience.h"
#include "base/seam_memory.h"
#include "base/upcalls.h"

static struct orr_sim_rank *rank_of(struct orr_process *proc)
{
	return proc->sys;
}

/* ---- the program's side ---- */

/* SMPI without smpirun leaves MPI_COMM_WORLD a placeholder that every call translates, except the
 * matching of receives from MPI_ANY_SOURCE, which crashes. So whoever initialises MPI for a program
 * sets it to the program's world, one object for all ranks; engines use theirs by name. */
int orr_sim_mpi_init_program(int *argc, char ***argv)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	MPI_Comm placeholder = MPI_COMM_WORLD;
	int ret = PMPI_Init(argc, argv);
	if (ret == MPI_SUCCESS && MPI_COMM_WORLD == placeholder && a->rank->main == a)
		MPI_COMM_WORLD = orr_sim_glue_world();
	a->mpi = 1;
	return ret;
}

/* MPI_Init is a barrier of the instance: engines and drivers pass it at the start, not when they
 * are first needed. */
void orr_sim_mpi_init_actor(struct orr_sim_actor *a)
{
	ORR_SIM_AS_ITSELF;
	PMPI_Init(NULL, NULL);
	a->mpi = 1;
}

/* The numbers of these processes in the world of engines: those of the hosts in an elastic run,
 * else those of the program's world. 0, or -1. */
static int find_places(MPI_Group group, int *ranks, int size, int *places)
{
	MPI_Group world;
	if (orr_sim.hosts_of)
		return orr_sim.hosts_of(group, size, places);
	for (int i = 0; i < size; i++)
		ranks[i] = i;
	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Group_translate_ranks(group, size, ranks, world, places);
	PMPI_Group_free(&world);
	return 0;
}

/* The places of the program's communicator, unless they are its ranks. */
static int find_members(struct orr_sim_mpi *m, MPI_Comm comm, int size)
{
	MPI_Group group;
	int *ranks = NULL, same = size == orr_sim.nranks;
	free(m->members);
	m->members = NULL;
	if (comm == MPI_COMM_WORLD && !orr_sim.hosts_of)
		return 0;
	m->members = malloc(2 * (size_t) size * sizeof(*ranks));
	if (!m->members)
		return -ENOMEM;
	ranks = m->members + size;
	PMPI_Comm_group(comm, &group);
	int ret = find_places(group, ranks, size, m->members);
	PMPI_Group_free(&group);
	if (ret)
		return -EINVAL;
	for (int i = 0; i < size; i++)
		same &= m->members[i] == i;
	m->nmembers = size;
	if (same) {
		free(m->members);
		m->members = NULL;
	}
	return 0;
}

static void mpi_free(struct orr_sim_rank *r)
{
	if (r->mpi) {
		orr_sim_event_cancel(&r->mpi->alarm);
		free(r->mpi->members);
	}
	free(r->mpi);
	r->mpi = NULL;
	r->bell = NULL;
}

int orr_sys_mpi_init(struct orr_process *proc, int *argc, char ***argv, int initialize,
		     MPI_Comm comm, int *rank, int *size)
{
	struct orr_sim_rank *r = rank_of(proc);
	struct orr_sim_actor *a = orr_sim_actor_self();
	int done = 0, joins = !r->mpi && r->start;
	PMPI_Initialized(&done);
	if (!r->mpi && !(r->mpi = calloc(1, sizeof(*r->mpi))))
		return -ENOMEM;
	r->bell = &r->mpi->bell;
	r->bell->request = MPI_REQUEST_NULL;
	r->mpi->yield_us = ORR_PATIENCE_YIELD_US;
	if (!done && !initialize) {
		orr_error(
			"starpu_mpi_init: MPI is not initialised; call MPI_Init_thread first, or let starpu_mpi_init do it (initialize_mpi = 1)");
		mpi_free(r);
		return -EINVAL;
	}
	if (!done) {
		if (comm == MPI_COMM_WORLD)
			comm = MPI_COMM_NULL;
		orr_sim_mpi_init_program(argc, argv);
		if (comm == MPI_COMM_NULL)
			comm = MPI_COMM_WORLD;
		r->mpi->initialized_here = 1;
	}
	a->mpi = 1;
	PMPI_Comm_rank(comm, rank);
	PMPI_Comm_size(comm, size);
	int ret = find_members(r->mpi, comm, *size);
	if (ret) {
		if (ret == -ENOMEM)
			orr_error("out of memory for a communicator of %d ranks", *size);
		else
			orr_error(
				"starpu_mpi_init: a process of the communicator has ended; make another one");
		mpi_free(r);
	} else {
		r->mpi->active = 1;
		if (joins)
			orr_sys_sleep_us(orr_sim.begin_us);
	}
	return ret;
}

/* The places of ranks stay known for the statistics. */
void orr_sys_mpi_leave(struct orr_process *proc)
{
	struct orr_sim_mpi *m = rank_of(proc)->mpi;
	orr_sys_sleep_us(orr_sim.switch_us);
	orr_sim_event_cancel(&m->alarm);
	*m = (struct orr_sim_mpi){ .members = m->members,
				   .nmembers = m->nmembers,
				   .initialized_here = m->initialized_here };
}

void orr_sys_mpi_exit(struct orr_process *proc)
{
	struct orr_sim_rank *r = rank_of(proc);
	int finalize = r->mpi && r->mpi->initialized_here;
	mpi_free(r);
	if (finalize)
		PMPI_Finalize();
}

double orr_sys_mpi_clock_behind_us(struct orr_process *proc, double *error_us)
{
	(void) proc;
	*error_us = 0;
	return 0;
}

int orr_sys_mpi_elastic(void)
{
	return orr_sim.hosts_of != NULL;
}

int orr_sys_mpi_thread_multiple(struct orr_process *proc)
{
	(void) proc;
	return 1;
}

static void ring_now(struct orr_sim_event *e)
{
	struct orr_sim_mpi *m = (struct orr_sim_mpi *) e;
	orr_sim.carrier->transport.wake(m->proc);
}

/* The engine compares times by the clock, which rounding may leave a little behind. */
void orr_sys_mpi_wake_later(struct orr_process *proc, double us)
{
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	double date_s = orr_sim_clock_s() + us * 1e-6 + 1e-9;
	if (m->alarm.number && m->alarm.date_s <= date_s)
		return;
	m->proc = proc;
	m->alarm.fire = ring_now;
	orr_sim_event_set(&m->alarm, date_s);
}

void orr_sys_mpi_engine_computes(struct orr_process *proc)
{
	orr_sim_mpi_of(proc)->computes = 1;
}

void (*orr_sim_mpi_route)(int source, int dest, struct orr_sim_route *route);
double (*orr_sim_mpi_to_itself_s)(int rank, size_t bytes);
double (*orr_sim_mpi_owed_us)(void);

#define PROBES 4 /* ranks to which the routes are looked at */

void orr_sys_mpi_network(struct orr_process *proc, struct orr_mpi_network *net)
{
	const struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	int me = proc->mpi_rank, size = proc->mpi_size;
	double latency_s = 0, least = 1e300, overhead_s = 0;
	for (int i = 0; i < PROBES; i++) {
		int far = size > 1 ? 1 + (int) ((int64_t) i * (size - 2) / (PROBES - 1)) : 0;
		struct orr_sim_route route;
		orr_sim_mpi_route(orr_sim_mpi_member(m, me),
				  orr_sim_mpi_member(m, (me + far) % size), &route);
		latency_s += route.latency_s / PROBES;
		least = fmin(least, route.bytes_per_s);
		overhead_s = fmax(overhead_s, route.overhead_s);
	}
	/* Nothing is free. */
	net->latency_us = fmax(1e6 * latency_s, 1e-3);
	net->bytes_per_us = 1e-6 * least;
	net->overhead_us = fmax(1e6 * overhead_s + proc->costs[ORR_COST_MESSAGE], 1e-3);
	double copy_us = orr_sim_buffer_us(rank_of(proc), 1);
	net->copy_bytes_per_us = copy_us > 0 ? 1 / copy_us : 0;
}

int orr_sys_mpi_may_drive(struct orr_process *proc)
{
	(void) proc;
	return 0;
}

/* A simulation sees by itself when nothing can act any more. */
int orr_sys_mpi_threads(struct orr_process *proc)
{
	(void) proc;
	return -1;
}

static int smpi_sum(MPI_Comm comm, const uint64_t *mine, uint64_t *sums, int n)
{
	if (!n)
		return PMPI_Barrier(comm) == MPI_SUCCESS;
	return PMPI_Allreduce(mine, sums, n, MPI_UINT64_T, MPI_SUM, comm) == MPI_SUCCESS;
}

int orr_sys_mpi_barrier_start(struct orr_process *proc, MPI_Comm comm, MPI_Request *req)
{
	(void) proc;
	*req = MPI_REQUEST_NULL;
	orr_assert_no_lock();
	if (orr_sim.carrier->sum(comm, NULL, NULL, 0))
		return 0;
	orr_error("MPI_Barrier failed");
	return -EIO;
}

int orr_sys_mpi_sum_start(struct orr_process *proc, MPI_Comm comm, const uint64_t *mine,
			  uint64_t *sums, int n, MPI_Request *req)
{
	(void) proc;
	*req = MPI_REQUEST_NULL;
	orr_assert_no_lock();
	if (orr_sim.carrier->sum(comm, mine, sums, n))
		return 0;
	orr_error("MPI_Allreduce failed");
	return -EIO;
}

int orr_sys_mpi_collective_test(struct orr_process *proc, MPI_Request *req)
{
	(void) proc;
	return *req == MPI_REQUEST_NULL;
}

void orr_sys_mpi_abort(struct orr_process *proc)
{
	(void) proc;
	orr_sys_abort();
}

/* ---- communicators of engines: one for each start of the layer, shared by its ranks ---- */

/* SMPI's own calls agree on the number of a communicator by a broadcast, which takes virtual time
 * and runs the algorithm that the user chose for the program's messages. Here the first rank that
 * comes makes it, and the others find it. Of each set of ranks at most one is open, because a start
 * ends together (orr_mpi_settle) before any of its ranks enters the next one of the same set. */

/* SMPI numbers its own from 0 on. */
#define FIRST_ID (1 << 30)

struct open_comm {
	struct open_comm *next;
	int *members, n; /* NULL: all ranks */
	int missing;     /* ranks that have not entered it */
	MPI_Comm comm;
};

static struct {
	struct open_comm *open;
	int nmade;
} comms;

static int same(const struct open_comm *c, const int *members, int n)
{
	if (!members || !c->members)
		return !members && !c->members;
	return c->n == n && !memcmp(c->members, members, (size_t) n * sizeof(*members));
}

static struct open_comm *make(const int *members, int n)
{
	struct open_comm *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->n = c->missing = members ? n : orr_sim.nranks;
	if (members && (c->members = malloc((size_t) n * sizeof(*members))))
		memcpy(c->members, members, (size_t) n * sizeof(*members));
	if (!members || c->members)
		c->comm = orr_sim_glue_comm_new(orr_sim_glue_world(), members, n,
						FIRST_ID + comms.nmade++);
	if (c->comm == MPI_COMM_NULL) {
		free(c->members);
		free(c);
		return NULL;
	}
	c->next = comms.open;
	comms.open = c;
	return c;
}

static MPI_Comm comm_enter(const int *members, int n)
{
	struct open_comm **at = &comms.open, *c;
	while (*at && !same(*at, members, n))
		at = &(*at)->next;
	if (*at)
		orr_sim_glue_comm_share((*at)->comm);
	else if (make(members, n))
		at = &comms.open;
	else
		return MPI_COMM_NULL;
	c = *at;
	MPI_Comm comm = c->comm;
	orr_assert(c->missing > 0);
	if (!--c->missing) {
		*at = c->next;
		free(c->members);
		free(c);
	}
	return comm;
}

/* ---- the engine's side ---- */

MPI_Comm orr_sys_mpi_comm(struct orr_process *proc)
{
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);

	/* SMPI makes it when it is asked for, with a table as long as the ranks before this one. */
	if (!m->comm)
		m->comm = MPI_COMM_SELF;
	return m->comm;
}

static void smpi_enter(struct orr_process *proc)
{
	ORR_SIM_AS_ITSELF;
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	m->comm = comm_enter(m->members, m->nmembers);
	if (m->comm == MPI_COMM_NULL)
		orr_fatal("out of memory for the communicator of the MPI layer");
	m->bell.comm = MPI_COMM_SELF;
}

void orr_sys_mpi_engine_enter(struct orr_process *proc)
{
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	orr_assert(!m->entered);
	orr_sim.carrier->enter(proc);
	m->entered = 1;
}

/* Takes the ring that is in flight, so that its message is not left behind. */
static void take_ring(struct orr_sim_mpi *m)
{
	orr_sim_bell_listen(&m->bell);
	PMPI_Wait(&m->bell.request, MPI_STATUS_IGNORE);
	m->bell.ringing = 0;
}

static void smpi_leave(struct orr_process *proc)
{
	ORR_SIM_AS_ITSELF;
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	if (m->bell.ringing) {
		take_ring(m);
	} else if (m->bell.request != MPI_REQUEST_NULL) {
		PMPI_Cancel(&m->bell.request);
		PMPI_Request_free(&m->bell.request);
	}
	orr_sim_glue_comm_leave(m->comm);
}

void orr_sys_mpi_engine_leave(struct orr_process *proc)
{
	orr_sim.carrier->leave(proc);
	orr_sim_mpi_of(proc)->entered = 0;
}

int orr_sys_mpi_process_of(struct orr_process *proc, int rank)
{
	const struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	return m ? orr_sim_mpi_member(m, rank) : rank;
}

struct orr_process *orr_sys_mpi_process_at(struct orr_process *proc, int rank)
{
	int at = orr_sys_mpi_process_of(proc, rank);
	if (at < 0 || at >= orr_sim.nranks || orr_sim.ranks[at].ended)
		return NULL;
	return orr_sim.ranks[at].proc;
}

/* The time from which on workers look between kernels again: they looked when the last message was
 * handled, or since then in vain, each time after the interval. */
static double looks_us(const struct orr_process *proc, double now_us)
{
	const struct orr_sim_rank *r = proc->sys;
	double since_us = now_us - r->looked_us;
	return proc->costs[ORR_COST_LOOK] > 0 && since_us < ORR_PATIENCE_WORKER_US
		       ? r->looked_us + ORR_PATIENCE_WORKER_US
		       : now_us;
}

/* The time when the real engine would notice a message that comes now while no core is free, by the
 * law of base/patience.h: a worker notices it after its kernel where workers poll, or a patrol does
 * so earlier; else a thread notices it that wakes from its nap. On average the patrol, or the end
 * of the nap, is half an interval away. */
static double notice_us(struct orr_process *proc, const struct orr_sim_mpi *m)
{
	double now_us = orr_sys_now_us(), late_us = now_us - m->event_us, end_us = INFINITY;
	double nap_us = now_us + orr_patience_nap_us(late_us, ORR_PATIENCE_LONG_NAP_US) / 2;
	if (proc->mpi_up->workers_look(proc))
		end_us = proc->core_up->first_end_us(proc);
	/* A worker that has looked just now does not look again at once. No patrol comes while the
	 * program has the core. */
	if (!isinf(end_us))
		return fmin(fmax(end_us, looks_us(proc, now_us)),
			    fmax(now_us, rank_of(proc)->turn.until_us) +
				    ORR_PATIENCE_PATROL_US / 2);
	return late_us > m->yield_us ? nap_us : now_us;
}

/* The engine wakes and waits for the core that the program has, until its turn ends or it computes
 * no more. */
static void wait_for_core(const struct orr_sim_rank *r)
{
	double us = orr_sim_cores_wait_us(r), until_us = orr_sys_now_us() + us;

	while (us > 0) {
		orr_sys_sleep_us(fmin(us, ORR_PATIENCE_NAP_US));
		us = fmin(orr_sim_cores_wait_us(r), until_us - orr_sys_now_us());
	}
}

/* A message is handled. With a core of its own most messages find the engine awake; without, the
 * worker makes room, once for all messages that are there. */
void orr_sim_mpi_make_room(struct orr_process *proc, double asleep_us)
{
	struct orr_sim_rank *r = rank_of(proc);
	struct orr_sim_mpi *m = r->mpi;
	if (asleep_us > 0 && orr_sim_cores_full(r) && proc->costs[ORR_COST_INTERRUPT] > 0) {
		orr_sim_cores_steal(r, proc->costs[ORR_COST_INTERRUPT]);
		orr_sys_sleep_us(notice_us(proc, m) - orr_sys_now_us());
	} else if (asleep_us > 0) {
		wait_for_core(r);
	}
	double now_us = orr_sys_now_us();
	m->yield_us = orr_patience_learn(m->yield_us, now_us - m->event_us);
	m->event_us = now_us;
}

/* A worker that computes receives between two kernels, which delays the next of them; else the
 * engine does it, beside others' kernels. */
void orr_sys_mpi_received(struct orr_process *proc, size_t bytes)
{
	struct orr_sim_rank *r = rank_of(proc);
	size_t fresh = bytes < r->untouched ? bytes : r->untouched;
	double touch_us = (double) fresh * r->touch_us, copy_us = (double) bytes * r->copy_us;
	orr_assert_no_lock();
	r->untouched -= fresh;
	/* The time on the way has the copy in it. */
	if (r->nrunning && orr_sim_cores_full(r)) {
		orr_sim_cores_steal(r, copy_us + touch_us);
		orr_sys_sleep_us(touch_us);
	} else if (touch_us > 0 || copy_us > r->way_us * (double) bytes) {
		orr_sim_cores_receive(r, touch_us + fmax(copy_us - r->way_us * (double) bytes, 0));
	}
}

/* The engine copies it, as long as the network would have it. */
void orr_sys_mpi_sent_to_itself(struct orr_process *proc, size_t bytes)
{
	struct orr_sim_rank *r = rank_of(proc);
	double us = 1e6 * orr_sim_mpi_to_itself_s(r->rank, bytes);
	orr_assert_no_lock();
	if (us < 0)
		us = (double) bytes / ORR_SIM_COPY_MBS;
	orr_sim_cores_steal(r, us);
	orr_sys_sleep_us(us);
}

/* ---- the transport ---- */

static void post_envelope(struct orr_sim_mpi *m)
{
	PMPI_Irecv(m->envelope, (int) m->most, MPI_BYTE, MPI_ANY_SOURCE, m->tag, m->comm,
		   &m->set.requests[0]);
}

static int transport_open(struct orr_process *proc, int tag, size_t most,
			  struct orr_transport_limits *limits)
{
	ORR_SIM_AS_ITSELF;
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	m->envelope = malloc(most);
	if (!m->envelope || !orr_parcel_add(&m->set, NULL))
		return -ENOMEM;
	m->tag = tag;
	m->most = most;
	*limits = (struct orr_transport_limits){ .payload_tags = 1000000 };
	post_envelope(m);
	return 0;
}

static void transport_close(struct orr_process *proc)
{
	ORR_SIM_AS_ITSELF;
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	PMPI_Cancel(&m->set.requests[0]);
	PMPI_Request_free(&m->set.requests[0]);
	orr_parcel_free(&m->set);
	free(m->envelope);
	m->envelope = NULL;
}

/* The size of a datatype is an int in SMPI. Where no payload exists, its gaps do not either, and a
 * large one is so many chunks, the last one full. */
static int layout_type(struct orr_process *proc, const struct orr_layout *l, MPI_Datatype *type,
		       int *count)
{
	const size_t chunk = (size_t) 1 << 20;
	struct orr_layout row;
	if (l->size > INT_MAX && orr_sys_has_payload(proc))
		orr_fatal(
			"--network smpi carries at most %d bytes in a message while kernels run, and this one has %zu; "
			"use another model of the network, or --kernels skip",
			INT_MAX, l->size);
	if (orr_sys_has_payload(proc))
		return orr_layout_type(l, type, count);
	if (l->size <= INT_MAX)
		return orr_layout_type(orr_layout_row(&row, l->size), type, count);
	PMPI_Type_contiguous((int) chunk, MPI_BYTE, type);
	PMPI_Type_commit(type);
	*count = (int) ((l->size + chunk - 1) / chunk);
	return 1;
}

static MPI_Request *fly(struct orr_sim_mpi *m, struct orr_parcel *f)
{
	MPI_Request *request = orr_parcel_add(&m->set, f);
	if (!request)
		orr_fatal("out of memory for %d pending requests; run fewer nodes or smaller data",
			  m->set.n);
	return request;
}

/* The engine copies a payload that it sends into a buffer of MPI. Copies of envelopes count
 * nothing. */
static void spend_copies(int is_payload)
{
	struct orr_thread *t = orr_thread_self();
	double us = orr_sim_mpi_owed_us();
	t->debt_us += is_payload ? fmax(us, 0) : 0;
	orr_sys_settle(t);
}

static void transport_send(struct orr_process *proc, struct orr_parcel *f, const void *buf,
			   const struct orr_layout *l, int dest, int tag, int synchronous)
{
	ORR_SIM_AS_ITSELF;
	MPI_Datatype type;
	int count, temporary = layout_type(proc, l, &type, &count);
	orr_assert_no_lock();
	MPI_Request *request = fly(orr_sim_mpi_of(proc), f);
	orr_sim_yield();
	if (synchronous)
		PMPI_Issend(buf, count, type, dest, tag, orr_sim_mpi_of(proc)->comm, request);
	else
		PMPI_Isend(buf, count, type, dest, tag, orr_sim_mpi_of(proc)->comm, request);
	if (temporary)
		PMPI_Type_free(&type);
	spend_copies(tag != orr_sim_mpi_of(proc)->tag);
}

static void transport_send_ahead(struct orr_process *proc, struct orr_parcel *f, const void *buf,
				 int count, int dest, int tag)
{
	ORR_SIM_AS_ITSELF;
	orr_assert_no_lock();
	orr_sim_yield();
	PMPI_Isend(buf, count, MPI_BYTE, dest, tag, orr_sim_mpi_of(proc)->comm, &f->request);
	spend_copies(0);
}

static void transport_send_ahead_end(struct orr_process *proc, struct orr_parcel *f)
{
	ORR_SIM_AS_ITSELF;
	(void) proc;
	PMPI_Wait(&f->request, MPI_STATUS_IGNORE);
}

static void transport_receive(struct orr_process *proc, struct orr_parcel *f, void *buf,
			      const struct orr_layout *l, int source, int tag)
{
	ORR_SIM_AS_ITSELF;
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	MPI_Datatype type;
	int count, temporary = layout_type(proc, l, &type, &count);
	PMPI_Irecv(buf, count, type, source, tag, m->comm, fly(m, f));
	if (temporary)
		PMPI_Type_free(&type);
}

static void transport_listen(struct orr_process *proc)
{
	ORR_SIM_AS_ITSELF;
	post_envelope(orr_sim_mpi_of(proc));
}

/* Does not ask SMPI: a request that is complete ends the next wait at once. */
static enum orr_transport_event transport_test(struct orr_process *proc, struct orr_landing *l)
{
	(void) l;
	return orr_sim_mpi_take_note(orr_sim_mpi_of(proc)) ? ORR_TRANSPORT_BELL
							   : ORR_TRANSPORT_NOTHING;
}

/* Waits for a request or the bell, which is behind them. Returns the place of what is complete. */
static int wait_any(struct orr_sim_mpi *m, MPI_Status *status)
{
	int index = MPI_UNDEFINED, n = m->set.n;
	m->set.requests[n] = m->bell.request;
	orr_assert(m->bell.request != MPI_REQUEST_NULL && !m->bell.sleeping && !m->rung);
	m->bell.sleeping = 1;
	orr_sim_yield();
	PMPI_Waitany(n + 1, m->set.requests, &index, status);
	m->bell.sleeping = 0;
	m->bell.request = m->set.requests[n];
	return index;
}

static enum orr_transport_event landed(struct orr_sim_mpi *m, int slot, const MPI_Status *status,
				       struct orr_landing *l)
{
	l->flight = slot ? orr_parcel_take(&m->set, slot) : NULL;
	if (!slot) {
		int bytes;

		PMPI_Get_count(status, MPI_BYTE, &bytes);
		l->envelope = m->envelope;
		l->bytes = (size_t) bytes;
		l->source = status->MPI_SOURCE;
	}
	return ORR_TRANSPORT_LANDED;
}

static enum orr_transport_event transport_wait(struct orr_process *proc, struct orr_landing *l)
{
	ORR_SIM_AS_ITSELF;
	struct orr_sim_mpi *m = orr_sim_mpi_of(proc);
	MPI_Status status;
	orr_assert_no_lock();
	if (orr_sim_mpi_take_note(m))
		return ORR_TRANSPORT_BELL;
	orr_sys_settle(orr_thread_self());
	orr_sim_bell_listen(&m->bell);
	orr_sim_yield();
	/* Both may have given the processor away to an actor that rang. */
	if (orr_sim_mpi_take_note(m))
		return ORR_TRANSPORT_BELL;
	double before_us = orr_sys_now_us();
	int index = wait_any(m, &status);
	if (index == m->set.n) {
		orr_assert(m->bell.ringing);
		m->bell.ringing = 0;
		m->rung = 0;
		return ORR_TRANSPORT_BELL;
	}
	if (index == MPI_UNDEFINED)
		return ORR_TRANSPORT_NOTHING;
	orr_sim_mpi_make_room(proc, orr_sys_now_us() - before_us);
	return landed(m, index, &status, l);
}

/* ---- ringing ---- */

static void transport_wake(struct orr_process *proc)
{
	struct orr_sim_rank *r = rank_of(proc);
	struct orr_sim_mpi *m = r->mpi;
	struct orr_sim_actor *a = orr_sim_actor_self();
	orr_assert_no_lock();
	if (!m || !m->entered || a == r->engine)
		return;
	if (!m->bell.sleeping) {
		m->rung = 1;
		return;
	}
	if (m->bell.ringing)
		return;
	if (a && a->rank == r && a->can_ring) {
		orr_sim_bell_ring(a);
		return;
	}
	struct orr_sim_actor *deputy = r->driver;
	deputy->ring_request = 1;
	orr_sim_unblock(deputy);
}

const struct orr_sim_carrier orr_sim_smpi = {
	.transport = {
		.name = "smpi",
		.open = transport_open,
		.close = transport_close,
		.send = transport_send,
		.send_ahead = transport_send_ahead,
		.send_ahead_end = transport_send_ahead_end,
		.receive = transport_receive,
		.listen = transport_listen,
		.test = transport_test,
		.wait = transport_wait,
		.wake = transport_wake,
	},
	.enter = smpi_enter,
	.leave = smpi_leave,
	.sum = smpi_sum,
};

/* The memory of simulated devices is the simulation's. */
int orr_sys_mpi_reaches_devices(struct orr_process *proc)
{
	(void) proc;
	return 1;
}

const struct orr_transport *orr_sys_mpi_device_transport(struct orr_process *proc)
{
	return orr_sys_mpi_transport(proc);
}

const struct orr_transport *orr_sys_mpi_transport(struct orr_process *proc)
{
	(void) proc;
	return &orr_sim.carrier->transport;
}
