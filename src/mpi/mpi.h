/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI layer from the inside: requests, the progression engine, and what each file offers the
 * others.
 *
 * Who runs the engine: one party at a time, its owner (orr_mpi_own). Where threads that wait may
 * drive (orr_sys_mpi_may_drive), that is the thread that made itself its owner: the dedicated
 * thread, a waiting thread, or a thread that just made a request ready; nobody sleeps while owning
 * it. Elsewhere it is always the engine's actor, which blocks in the `wait` of its transport.
 *
 * Life of a request: FETCHING (its datum is not available yet) -> a send: READY, FLYING, DONE; a
 * receive: POSTED from the beginning until an envelope matches (so receives match in the order in
 * which they were posted), then FLYING, DONE.
 *
 * Invariant: `lock` protects what posting and matching share (the two maps, granted, early);
 * everything below "the owner's" is touched by the engine's owner only (orr_mpi_assert_owner);
 * nothing here is sized by the number of ranks but the tables of ranks of communicators that are
 * not the world's, and what rank 0 of a real run knows of ranks that have waited for long
 * (stuck.c), which no assertion can see: it is a matter of what fields there are. */
#ifndef ORR_MPI_MPI_H
#define ORR_MPI_MPI_H

#include <stdio.h>
#include "starpu_mpi.h"
#include "base/map.h"
#include "core/core.h"
#include "data/access.h"
#include "data/handle.h"
#include "base/mpi_layout.h"
#include "base/seam_mpi.h"
#include "base/assert.h"

#define ORR_MPI_ANY (-1)       /* a source: any rank */
#define ORR_MPI_DEFAULT_TAG 42 /* MPI tag of envelopes unless the program sets another */

/* handle->mpi_flags */
#define ORR_MPI_RECEIVED 1 /* this rank, not the owner, holds the current value */
#define ORR_MPI_ATTACHED 2 /* mpi_ext exists: in the lists of data.c */
#define ORR_MPI_REDUXING \
	4 /* contributions of this rank, or (owner) of others, are not combined yet */
#define ORR_MPI_MIGRATED 8 /* this rank gave the datum to another owner */
#define ORR_MPI_STALE 16   /* ... and somebody has written it since then, so home is out of date */
#define ORR_MPI_ANNOUNCED 32 /* the program said once how many sends to expect */

/* Sets and clears flags of a handle; by one thread at a time, while the engine looks: what it finds
 * behind a flag was written before. */
static inline void orr_mpi_flags(starpu_data_handle_t h, unsigned set, unsigned clear)
{
	ORR_ATOMIC_STORE(&h->mpi_flags, (uint16_t) ((h->mpi_flags | set) & ~clear));
}

/* The part of a message that travels first. Of ranks, MPI knows the sender; the one that began to
 * send what others pass on is in the route (relay.h), which follows the envelope. */
struct orr_mpi_envelope {
	int64_t tag;      /* the program's */
	uint64_t size;    /* of the payload, bytes */
	uint32_t context; /* of the communicator */
	int32_t data_tag; /* MPI tag of the message with the payload, when not eager */
	uint32_t flags;
	uint32_t seq; /* number of the message between these two ranks; they match in this order */
};
_Static_assert(sizeof(struct orr_mpi_envelope) == 32 && ORR_TRANSPORT_LAYOUT == 1,
	       "another layout of envelopes has another ORR_TRANSPORT_LAYOUT");
#define ORR_MPI_EAGER 1  /* the payload follows in the same message */
#define ORR_MPI_SYNC 2   /* the sender waits until a receive has matched */
#define ORR_MPI_ROUTED 4 /* a route follows: who began, and to whom the receiver passes it on */
/* 8: below; 16 and 32: stall.h; 128: stuck.h */
#define ORR_MPI_OF_DEVICE 64 /* the payload comes from the memory of a device */

/* Entries with one key in a map, first in first out: the first is in the map and knows the last. */
struct orr_mpi_link {
	uint64_t key;
	struct orr_mpi_link *next, *tail;
};

#define ORR_MPI_PLAN 8 /* routed: the route is the tree of a reduction (redux.c) */

enum orr_mpi_kind {
	ORR_MPI_FREE,
	ORR_MPI_SEND,
	ORR_MPI_RECV,
	ORR_MPI_SEND_PLAN /* no datum: arg tells how a reduction goes */
};
enum orr_mpi_where {
	ORR_MPI_FETCHING,
	ORR_MPI_POSTED,
	ORR_MPI_READY,
	ORR_MPI_FLYING,
	ORR_MPI_DONE
};

struct orr_mpi_req {
	struct orr_acquire acquire; /* the datum: acquire.access.handle */
	struct orr_mpi_link link;   /* receives that are posted; next: inbox and free list */
	int64_t tag;
	uint64_t seq; /* order of submission */
	void (*callback)(void *);
	void *arg;
	struct orr_mpi_early *early; /* the message that matched before the datum was available */
	void *buf;                   /* packed payload, to be unpacked or freed at the end */
	void *envelope; /* on its way ahead of the payload: no one waits for it, it ends before the
			   payload does */
	struct orr_parcel envelope_out;
	size_t size; /* of the payload, once known */
	uint32_t context;
	int32_t peer; /* rank in the engine's world, or ORR_MPI_ANY until matched */
	int32_t via;  /* a receive: the rank that the message came from, another than peer if it
			 was passed on */
	int32_t peer_rank; /* rank as the program named it */
	int32_t prio;
	uint16_t comm; /* index in mpi->comms */
	uint8_t kind, where;
	uint8_t nflight;  /* messages not complete */
	uint8_t detached; /* apart from the bits, which others write while it is read */
	uint8_t sync : 1;
	uint8_t granted : 1;   /* the datum is available (under mpi->lock for receives) */
	uint8_t plan : 1;      /* a receive without datum: of the plan of a reduction */
	uint8_t submitted : 1; /* a receive in the inbox, or on its way there: only who takes it out
				  goes on with it (likewise) */
	uint8_t grows : 1;     /* a send of an insertion, whose datum was there: others of it may
				  follow */
	uint8_t waited : 1;    /* a send: late.c has kept it long enough */
	uint8_t lone : 1;      /* a send: in mpi->lone */
	uint8_t done;          /* atomic */
};

/* A message that arrived before its receive, or before the datum to receive was available. */
struct orr_mpi_early {
	struct orr_mpi_link link;          /* while no request has matched */
	struct orr_mpi_req *req;           /* the request that matched, or NULL */
	struct orr_mpi_req *sender;        /* a synchronous send of this process to itself */
	struct orr_mpi_early *prev, *next; /* mpi->early_first: all of them, by arrival */
	struct orr_mpi_envelope env;
	int32_t source, via; /* who began to send it, and who passed it on, often the same */
	struct orr_mpi_relay *relay; /* that passes it on from buf and frees buf, or NULL */
	enum {
		ORR_EARLY_REMOTE,
		ORR_EARLY_LOADING,
		ORR_EARLY_HERE
	} state;   /* where the payload is */
	void *buf; /* from starpu_malloc_on_node_flags(0, env.size, 0) */
	double arrival_us;
	uint8_t waits;    /* REMOTE, and counted in ndeferred */
	uint8_t reserved; /* main memory for it is reserved (limits.h) */
};

struct orr_mpi_comm {
	MPI_Comm comm;
	int rank, size; /* as the program sees them */
	uint32_t context;
	int32_t *to_world; /* NULL: ranks are those of the engine's world */
	uint16_t index;
	uint8_t dead;      /* the program freed it */
	uint8_t attribute; /* we hung an attribute on it */
	uint32_t group_hash;
	struct orr_mpi *mpi;
};

/* A message in the hands of the transport, or on the free list. */
struct orr_mpi_flight {
	struct orr_parcel flight; /* first */
	enum {
		ORR_FLIGHT_OUT,
		ORR_FLIGHT_DATA_IN,
		ORR_FLIGHT_EARLY_IN,
		ORR_FLIGHT_ROUTE_OUT, /* an envelope with its route, and payload when eager */
		ORR_FLIGHT_PIECE_OUT,
		ORR_FLIGHT_PIECE_IN,
		ORR_FLIGHT_ASIDE_OUT /* of stall.c or stuck.c: buf is freed, and that is all */
	} kind;
	uint32_t piece; /* its number */
	struct orr_mpi_req *req;
	union {
		struct orr_mpi_early *early;
		struct orr_mpi_relay *relay; /* of the last three */
	};
	void *buf;               /* envelope to free at the end */
	struct orr_mpi_peer *to; /* the pair is active meanwhile; NULL: this counts for none */
	struct orr_mpi_flight *next;
};

/* A rank that messages went to or came from. */
struct orr_mpi_peer {
	uint64_t key; /* the peer */
	/* Messages to processes of that rank in this communicator, and in earlier ones: */
	struct orr_mpi_peer_stats stats, before;
	uint64_t program_bytes; /* of all these, sent while the program had statistics enabled */
	/* the engine's owner's: */
	uint32_t nactive;       /* flights to it */
	double active_since_us; /* since when there are some */
	uint32_t nto, nfrom;    /* messages to it, and messages of it that were matched or kept */
	struct orr_mpi_held *held; /* of those that overtook others, by number */
};

/* The counts of the statistics; stats.c. */
enum orr_mpi_counting {
	ORR_MPI_COUNTS_NOTHING,
	ORR_MPI_COUNTS_FOR_WORLD,
	ORR_MPI_COUNTS_FOR_PROGRAM
};

struct orr_mpi_datatype {
	int id; /* of the interface */
	starpu_mpi_datatype_allocate_func_t allocate;
	starpu_mpi_datatype_node_allocate_func_t node_allocate;
	starpu_mpi_datatype_free_func_t free;
};

/* handle->mpi_ext: exists once a datum took part in an automatic communication. */
struct orr_mpi_ext {
	uint32_t index : 31; /* in mpi->attached */
	uint32_t in_tags : 1;
	uint32_t nsent, sent_cap;
	uint32_t follows; /* resize.c: its place among the data that follow, from 1; 0: it does not
			   */
	int32_t *sent;    /* owner: ranks that hold the value, sorted */
	uint32_t nredux, redux_cap;
	int32_t *redux; /* ranks that contributed, sorted; on a contributor: itself */
	struct orr_mpi_datatype *type;  /* registered for this handle, or NULL */
	uint32_t lb_interval, lb_tasks; /* lb.c: tasks that wrote it in that interval */
	/* under mpi->lock: sends that wait until as many are there as the program announced */
	uint32_t announced, nheld;
	struct orr_mpi_req *held; /* newest first */
};

struct orr_mpi_alone;

/* Short turns of the progression that are one event of the trace. */
struct orr_mpi_turns {
	double since_us, us, callbacks_us;
	uint64_t n, nturns;
};

struct orr_mpi {
	struct orr_process *proc;
	int rank, size;              /* in the engine's world */
	int left;                    /* switched to no communicator: only its end is to come */
	int fake;                    /* this process plays one rank of many: nothing is sent */
	struct orr_mpi_alone *alone; /* its account then (alone.h), else NULL */
	int may_drive;
	int workers_look; /* workers poll between tasks: there is no core for a thread that only
			     polls */
	int init_count;
	int starpu_owned; /* shut the core down at the end */
	int comm_tag;
	int cache; /* whether received values are kept */
	size_t eager_limit;
	int max_sends, max_ready; /* 0: no limit */
	size_t max_send_bytes;    /* likewise */
	int throttle;             /* atomic: receives wait for main memory (limits.h) */
	int early_at_once;        /* early messages get their buffers without delay */
	int pedantic;             /* nobody else uses a datum that is being sent */
	int direct;               /* messages may begin and end in the memory of devices */
	int coop;                 /* atomic: sends of one value to several ranks go along a tree */
	uint32_t max_route;       /* entries in a route, at most */
	struct orr_mpi_check *check; /* what was inserted, if ranks compare it */
	long redux_threshold; /* bytes; reductions go along a tree from here on; negative: never */
	double start_us;
	int data_tags; /* MPI tags up to this may name messages with payloads */
	const struct orr_transport *transport;
	orr_sys_thread_t *thread;
	struct orr_thread *self; /* in the engine's thread: once it runs */

	/* the worker that the engine's thread steps (work.h); the engine's thread's */
	struct starpu_driver *drivers_list; /* owned: what the core was told, NULL: no worker */
	unsigned lent_cpu;
	struct orr_group *lent;
	struct orr_thread *lent_to;
	unsigned calls_between, tasks_in_row, npolls;
	int work_rung; /* atomic: the worker may have something to do */

	/* communicators: comms[0] is the world's */
	orr_lock_t comm_lock;
	struct orr_mpi_comm **comms;
	unsigned ncomms;
	struct orr_mpi_comm *last_comm;
	int keyval;

	/* posting and matching */
	orr_lock_t lock __attribute__((aligned(64)));
	uint64_t seq;
	struct orr_map posted;  /* struct orr_mpi_link of requests */
	struct orr_map earlies; /* struct orr_mpi_link of messages without request */
	struct orr_mpi_early *early_first, *early_last;
	uint32_t nposted; /* atomic: receives without message */
	struct orr_mpi_req *free_reqs;
	struct orr_mpi_chunk *chunks;
	struct orr_map peers; /* struct orr_mpi_peer; the engine's owner enters them */
	int counting;         /* atomic: enum orr_mpi_counting */
	int print_stats;      /* at the end */
	int counts_time;      /* somebody wants to know how long pairs are active */

	/* between threads and the engine */
	struct orr_mpi_req *inbox __attribute__((aligned(64))); /* atomic stack */
	uint32_t nsubmitting;      /* atomic: threads that are putting something into it */
	struct orr_thread *owner;  /* atomic: who drives the engine just now, NULL: nobody */
	int32_t ndetached;         /* atomic: detached requests not complete */
	int32_t drivers;           /* atomic: threads that wait and may drive */
	uint32_t nannounced;       /* atomic: data whose announced sends are not all there */
	int32_t dozing;            /* atomic: the dedicated thread sleeps for long */
	int32_t stopping, running; /* atomic */
	int in_recess;             /* the function of the engine's thread returned in a wait */
	int64_t looked_us;         /* atomic: when a worker polled last; 0: none does just now */
	int flowing;               /* atomic: the last poll saw a part of a long message, so more
				      of it is there to be moved */
	orr_waitq_t done;          /* rung when a request that somebody may wait for is complete */

	/* rest.c: where threads may drive */
	orr_waitq_t bell;   /* threads that rest sleep on it */
	int64_t stirred_ns; /* atomic: when something happened last */
	double spin_us;     /* for so long a thread spins before it yields */
	int64_t yield_ns; /* atomic: for so long it yields before it sleeps, see base/patience.h */

	/* the owner's */
	struct orr_mpi_flight *free_flights __attribute__((aligned(64)));
	int nflying; /* this and nready are read by others as hints, hence written atomically */
	struct orr_mpi_network network; /* read at its first use */
	struct orr_mpi_relay *leaving;  /* late.c: relays with a payload that began here */
	struct orr_mpi_req *lone;       /* and sends under way without one, by link.next, that
					   others of their value may wait for */
	struct orr_mpi_group *groups;   /* sends that it keeps; atomic, as a hint */
	int hurry;                      /* atomic: a thread waits: none of them waits for others */
	struct orr_mpi_req **ready;     /* heap: most urgent first */
	unsigned nready, ready_cap;
	int nsends;        /* in flight, those that count against max_sends */
	size_t send_bytes; /* their payloads */
	uint32_t data_seq;
	uint64_t nsent, nreceived; /* envelopes to and from other processes */
	uint64_t ncollectives;     /* that began over the world, but in a simulated run */
	uint32_t nrelays;          /* relays with messages under way */
	uint32_t ndeferred;        /* early messages that stay at their senders for now */
	double event_us;           /* when something happened last (watchdog) */
	struct {                   /* what the trace is to say of this turn (message_trace.h) */
		double since_us, callbacks_us;
		uint64_t n;
	} turn;
	struct orr_mpi_turns turns[4]; /* that are not recorded yet (turn_trace.c) */
	double turns_since_us;

	/* data and placement */
	orr_lock_t data_lock __attribute__((aligned(64)));
	starpu_data_handle_t *attached; /* handles with an mpi_ext */
	unsigned nattached, attached_cap;
	uint64_t nregistered;    /* data that were ever registered */
	uint64_t ninserted;      /* tasks, on whatever rank they execute */
	struct orr_stall *stall; /* stall.c; the engine's owner's */
	struct orr_stuck *stuck; /* stuck.c; likewise. NULL: this rank does not look for that */
	struct orr_map tags;     /* of those, by tag */
	struct orr_mpi_datatype *types;
	unsigned ntypes;
	starpu_mpi_select_node_policy_func_t *policies; /* [0] unused: the built-in one */
	unsigned npolicies;
	int policy;
	unsigned nreduxing; /* attached handles with ORR_MPI_REDUXING */
	uint32_t nrounds;   /* atomic: reductions along trees that this rank, the owner, began */
	void (*pre_submit)(struct starpu_task *);
	struct orr_lb *lb; /* lb.c; NULL: data stay where they are */
	/* [waits] Load balancing's: the program begins or ends an iteration; NULL without it. */
	void (*iteration)(struct orr_mpi *mpi, int begins);
	struct orr_resize *resize; /* resize.c; NULL before the program uses it */
	/* Resizing's: the datum of these attributes, which follows, is being unregistered. Under
	 * data_lock. */
	void (*unfollow)(struct orr_mpi *mpi, struct orr_mpi_ext *ext);
	struct orr_checkpoints *checkpoints; /* checkpoint.h; NULL before they are started */
	struct orr_mpi_range *ranges;        /* of tags, allocated ones, sorted */
	unsigned nranges;
};

/* The layer of this process, or NULL after a message saying that it is not initialised (for what:
 * the caller's name). */
struct orr_mpi *orr_mpi_get(const char *who);
/* 0, or -EDEADLK after a message when called from a task or callback. */
int orr_mpi_check_blocking(const char *who);

/* comm.c */
int orr_mpi_comms_init(struct orr_mpi *mpi, MPI_Comm comm);
void orr_mpi_comms_exit(struct orr_mpi *mpi);
/* 0, or -errno after a message if the layer cannot go on with this communicator: its first ranks
 * are others than those of the world, and ranks may not get other numbers; the program has
 * communicators besides; or a rank that is not in it owns data. */
int orr_mpi_comms_check_switch(struct orr_mpi *mpi, MPI_Comm comm, int renumber);
/* The places that the ranks of the world get in the communicator, -1: none, to be freed; NULL: the
 * first ones keep theirs. */
int *orr_mpi_comms_places(const struct orr_mpi *mpi, MPI_Comm comm);
/* True if the communicator has processes that are not ranks of the world. */
int orr_mpi_comms_has_new(const struct orr_mpi *mpi, MPI_Comm comm);
/* The world is another one, of which rank and size are in mpi. */
void orr_mpi_comms_switch(struct orr_mpi *mpi, MPI_Comm comm);
/* The entry of a communicator, made at its first use; NULL after a message. */
struct orr_mpi_comm *orr_mpi_comm_enter(struct orr_mpi *mpi, MPI_Comm comm);
static inline struct orr_mpi_comm *orr_mpi_comm_of(struct orr_mpi *mpi, MPI_Comm comm)
{
	struct orr_mpi_comm *c = ORR_ATOMIC_LOAD(&mpi->last_comm);
	return c->comm == comm ? c : orr_mpi_comm_enter(mpi, comm);
}
static inline int orr_mpi_to_world(const struct orr_mpi_comm *c, int rank)
{
	orr_assertf(rank >= 0 && rank < c->size, "rank %d of %d", rank, c->size);
	return c->to_world ? c->to_world[rank] : rank;
}
/* A rank of the engine's world as the communicator numbers it; -1 when it is not in it. */
int orr_mpi_from_world(const struct orr_mpi_comm *c, int world);

/* request.c */
struct orr_mpi_req *orr_mpi_req_alloc(struct orr_mpi *mpi);
void orr_mpi_req_free(struct orr_mpi *mpi, struct orr_mpi_req *req);
void orr_mpi_reqs_exit(struct orr_mpi *mpi);
/* Calls f for every request in use; f may free it. By the engine's owner, while no other thread
 * makes requests. */
void orr_mpi_reqs_foreach(struct orr_mpi *mpi, void (*f)(struct orr_mpi_req *, void *), void *arg);
/* Diagnosis: pending requests of this process, at most max lines. Returns how many are pending. */
int orr_mpi_dump(struct orr_process *proc, FILE *f, unsigned max);
struct orr_mpi_wait;
/* Tells note() what the process waits for of others (base/upcalls.h). */
void orr_mpi_waits(struct orr_process *proc, void (*note)(const struct orr_mpi_wait *w, void *arg),
		   void *arg);

/* match.c: all under mpi->lock, but _exit */
void orr_mpi_match_init(struct orr_mpi *mpi);
void orr_mpi_match_exit(struct orr_mpi *mpi);
/* Enters a receive: attaches the first message that fits, or else posts it. 0 or -ENOMEM. */
int orr_mpi_match_post(struct orr_mpi *mpi, struct orr_mpi_req *req);
void orr_mpi_match_withdraw(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* Takes out the receive that the envelope from `source` matches, NULL when there is none. */
struct orr_mpi_req *orr_mpi_match_request(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
					  int source);
/* A new message without payload; matched with req, or waiting for one when req is NULL. NULL when
 * memory is exhausted. */
struct orr_mpi_early *orr_mpi_early_new(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
					int source, struct orr_mpi_req *req);
/* Forgets a message that a request took; its buffer is the caller's. */
void orr_mpi_early_free(struct orr_mpi *mpi, struct orr_mpi_early *e);

/* datatype.c: what a datum is for MPI */
enum orr_mpi_form {
	ORR_FORM_EMPTY,
	ORR_FORM_CONTIGUOUS,
	ORR_FORM_STRIDED,
	ORR_FORM_TYPED,
	ORR_FORM_PACKED
};
struct orr_mpi_payload {
	enum orr_mpi_form form;
	char *ptr;
	struct orr_layout layout;
	starpu_mpi_datatype_free_func_t free_type; /* TYPED */
};
/* dense.c: describes the replicate on a memory node if its interface is a dense one, of not too
 * many dimensions; else returns 0. */
int orr_mpi_describe_dense(starpu_data_handle_t h, unsigned node, struct orr_mpi_payload *p);
/* Describes the replicate on a memory node, which is dense unless it is main memory; sending: packs
 * it when that is its form (ptr is then a
 * buffer to free). expected: the size of the message when receiving, used for PACKED. 0 or -errno
 * after a message. */
int orr_mpi_payload(struct orr_mpi *mpi, starpu_data_handle_t h, unsigned node, int sending,
		    size_t expected, struct orr_mpi_payload *p);
/* Frees the datatype. */
void orr_mpi_payload_done(struct orr_mpi_payload *p);
/* Copies the payload to or from a contiguous buffer (not PACKED). */
void orr_mpi_gather(struct orr_mpi *mpi, const struct orr_mpi_payload *p, char *buf);
void orr_mpi_scatter(struct orr_mpi *mpi, const struct orr_mpi_payload *p, const char *buf);

/* flight.c; by the engine's owner */
/* A flight, which the caller posts. */
struct orr_parcel *orr_mpi_fly(struct orr_mpi *mpi, int kind, struct orr_mpi_req *req,
			       struct orr_mpi_early *early, void *buf);
/* A flight of a relay. */
struct orr_parcel *orr_mpi_fly_relay(struct orr_mpi *mpi, int kind, struct orr_mpi_relay *r,
				     uint32_t piece, void *buf);
/* A flight to the peer begins: the pair is active until orr_mpi_fly_end(). */
void orr_mpi_active_begin(struct orr_mpi *mpi, struct orr_parcel *parcel, struct orr_mpi_peer *p);
/* It was reported, and what it was for is done. */
void orr_mpi_fly_end(struct orr_mpi *mpi, struct orr_mpi_flight *f);

/* coop.c: sends of one value to several ranks */
/* Gives a send to the engine, or keeps it until the number of sends that the program announced is
 * there. Any thread. */
void orr_mpi_coop_submit(struct orr_mpi *mpi, struct orr_mpi_req *req, int will_drive);
/* Between begin and end, the sends that the calling thread grants are collected; at the end they go
 * to the engine together. Nests. */
void orr_mpi_burst_begin(struct orr_thread *self);
void orr_mpi_burst_end(struct orr_mpi *mpi, struct orr_thread *self);
/* Sends that wait for announced ones go on without them: the program waits. */
void orr_mpi_coop_flush(struct orr_mpi *mpi);
/* Starts a send, or sends of one value (linked by link.next) along a tree, or one by one where that
 * is as fast. By the engine's owner. */
void orr_mpi_coop_start(struct orr_mpi *mpi, struct orr_mpi_req *first);
/* Puts a granted send, or a list of mates that begins with it, among those that wait to start. By
 * the engine's owner. */
void orr_mpi_ready(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* The first one is to start before the second one. */
static inline int orr_mpi_ready_before(const struct orr_mpi_req *a, const struct orr_mpi_req *b)
{
	return a->prio != b->prio ? a->prio > b->prio : a->seq < b->seq;
}

/* late.c: true if both sends are of one value and the runtime may send it along a tree. */
int orr_mpi_coop_mates(const struct orr_mpi *mpi, const struct orr_mpi_req *a,
		       const struct orr_mpi_req *b);
/* shape.c: the network as this world knows it. By the engine's owner. */
const struct orr_mpi_network *orr_mpi_network(struct orr_mpi *mpi);

/* order.c: messages match in the order in which they were sent; by the engine's owner */
struct orr_mpi_peer *orr_mpi_peer_of(struct orr_mpi *mpi, int rank);
/* A message came: matches or keeps it as soon as all that were sent before it have come. */
void orr_mpi_message_in(struct orr_mpi *mpi, const char *message, int via);
void orr_mpi_order_exit(struct orr_mpi *mpi);
/* The engine stands still: messages are numbered from 0 again, ranks from mpi->size on do not
 * exist, but their statistics stay. */
void orr_mpi_order_switch(struct orr_mpi *mpi);

/* transfer.c: moving payloads; by the engine's owner */
void orr_mpi_send_start(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* It is an envelope's turn to be matched; its payload follows when eager. */
void orr_mpi_envelope_in(struct orr_mpi *mpi, const struct orr_mpi_envelope *env,
			 const char *payload, int source);
/* The datum of a receive that has an early message became available. */
void orr_mpi_recv_early(struct orr_mpi *mpi, struct orr_mpi_req *req);
/* Bytes of payload that a message brought here. */
size_t orr_mpi_flight_payload(const struct orr_mpi_flight *f);
/* A message completed. */
void orr_mpi_flight_done(struct orr_mpi *mpi, struct orr_mpi_flight *f);
/* Receives large early messages that nobody asked for in time. Returns how many were started. */
int orr_mpi_early_load(struct orr_mpi *mpi);
/* The request is complete: releases the datum, tells whoever waits. */
void orr_mpi_complete(struct orr_mpi *mpi, struct orr_mpi_req *req);
void *orr_mpi_buffer(size_t size);
/* The engine has ended: drops the messages that nobody asked for. */
void orr_mpi_early_exit(struct orr_mpi *mpi);

/* engine.c */
int orr_mpi_engine_start(struct orr_mpi *mpi);
void orr_mpi_engine_stop(struct orr_mpi *mpi);
/* Gives requests whose data are available to the engine, and sees to it that the engine takes them:
 * `newest`, linked by link.next down to `oldest`. Any thread. */
void orr_mpi_submit_list(struct orr_mpi *mpi, struct orr_mpi_req *newest,
			 struct orr_mpi_req *oldest, int will_drive);
void orr_mpi_submit(struct orr_mpi *mpi, struct orr_mpi_req *req, int will_drive);
/* True if a request or message of this process is under way, so that an arrival or a completion is
 * expected. A hint. */
int orr_mpi_busy(const struct orr_mpi *mpi);
static inline int orr_mpi_own(struct orr_mpi *mpi)
{
	struct orr_thread *nobody = NULL;

	return ORR_ATOMIC_CAS(&mpi->owner, &nobody, orr_thread_self());
}
/* The calling thread is the engine's owner. */
#define orr_mpi_assert_owner(mpi) orr_assert(ORR_ATOMIC_LOAD(&(mpi)->owner) == orr_thread_self())
/* Gives the engine back, and takes care of what came in meanwhile. */
void orr_mpi_unown(struct orr_mpi *mpi);
/* One turn, by the owner. block: wait for something (only where threads may not drive). Returns how
 * many things happened. */
int orr_mpi_progress(struct orr_mpi *mpi, int block);
/* [waits] Until cond(arg), driving the engine where that is allowed. cond is called with no lock
 * held. what: the call, for the message if cond never holds; NULL: it will, or that is not known.
 */
void orr_mpi_wait_until(struct orr_mpi *mpi, int (*cond)(struct orr_mpi *, void *), void *arg,
			const char *what);

/* Questions that the worlds may ask while proc->mpi is set. */
extern const struct orr_mpi_upcalls orr_mpi_upcalls;

/* rest.c */
/* The expectation of a thread that found nothing to do. */
enum orr_mpi_outlook {
	ORR_MPI_EXPECTING, /* messages or completions */
	ORR_MPI_IDLE,      /* nothing of this process is under way */
	ORR_MPI_DRIVEN     /* another thread drives the engine, and rings when it stops */
};
void orr_mpi_rest_init(struct orr_mpi *mpi);
void orr_mpi_rest_exit(struct orr_mpi *mpi);
/* The engine's thread begins to poll. */
void orr_mpi_rest_begin(struct orr_mpi *mpi);
/* Something happened, or is about to: pauses are short again. */
void orr_mpi_stir(struct orr_mpi *mpi);
/* By the owner: a message made headway. Learns from how long that took, and pauses are short again.
 */
void orr_mpi_noticed(struct orr_mpi *mpi);
/* [waits] One pause: spins, yields or sleeps, as the time since something happened demands. Not
 * while owning the engine. */
void orr_mpi_rest(struct orr_mpi *mpi, enum orr_mpi_outlook outlook);
/* Something is expected: the dedicated thread must not sleep for long. */
void orr_mpi_expect(struct orr_mpi *mpi);
/* Wakes the engine, and threads that rest. Any thread, with locks held or not. */
void orr_mpi_ring(struct orr_mpi *mpi);

/* p2p.c */
enum {
	ORR_P2P_SYNC = 1,
	ORR_P2P_DETACHED = 2,
	ORR_P2P_UNORDERED = 4,
	ORR_P2P_BLOCKING = 8,
	/* [waits] With STARPU_MPI_MEM_THROTTLE, until main memory has room for the datum. */
	ORR_P2P_THROTTLED = 16,
	/* A send of an insertion, which the next ones may repeat to other ranks. */
	ORR_P2P_GROWS = 32
};
int orr_mpi_isend(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h, int dest,
		  int64_t tag, int prio, int how, void (*callback)(void *), void *arg,
		  struct orr_mpi_req **out);
int orr_mpi_irecv(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h, int source,
		  int64_t tag, int prio, int how, void (*callback)(void *), void *arg,
		  struct orr_mpi_req **out);
/* Sends a plan, or awaits the one of the datum with that tag; arg is for the functions of redux.c.
 * h gives the request a name. 0 or -errno after a message. */
int orr_mpi_plan_send(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		      int64_t tag, void *arg);
int orr_mpi_plan_await(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		       int owner, int64_t tag, void *arg);
/* array.c: a batch of n detached messages with one callback for all of them */
struct orr_mpi_batch;
/* NULL after a message when memory is exhausted. */
struct orr_mpi_batch *orr_mpi_batch_new(unsigned n, void (*callback)(void *), void *arg);
/* The callback of each message; its argument is the batch. */
void orr_mpi_batch_complete(void *batch);
/* All messages but `missing` were submitted. The callback runs here if they are complete already,
 * or else later; the batch is gone for the caller. Returns ret. */
int orr_mpi_batch_submitted(struct orr_mpi_batch *batch, unsigned missing, int ret);

/* wait.c: [waits] for a request, fills status, frees it. what: see orr_mpi_wait_until(). */
void orr_mpi_finish(struct orr_mpi *mpi, struct orr_mpi_req *req, MPI_Status *status,
		    const char *what);
void orr_mpi_wait_detached(struct orr_mpi *mpi, const char *what);
/* [waits] for these and for all tasks, which may submit each other. */
void orr_mpi_wait_everything(struct orr_mpi *mpi, const char *what);
/* [waits] for all processes of the communicator. 0, or -EIO after a message. */
int orr_mpi_barrier(struct orr_mpi *mpi, MPI_Comm comm);
/* True if a collective that the seam started is over. */
int orr_mpi_collective_test(struct orr_mpi *mpi, void *request);

/* data.c */
static inline struct orr_mpi_ext *orr_mpi_ext(starpu_data_handle_t h) /* NULL when it has none */
{
	return ORR_ATOMIC_LOAD(&h->mpi_flags) & ORR_MPI_ATTACHED ? h->mpi_ext : NULL;
}
/* The attributes, made when missing; checks that no other datum has the tag. NULL after a message.
 */
struct orr_mpi_ext *orr_mpi_attach(struct orr_mpi *mpi, starpu_data_handle_t h);
void orr_mpi_data_init(struct orr_mpi *mpi);
void orr_mpi_data_exit(struct orr_mpi *mpi);
/* Sorted sets of ranks. insert: 1 when it was in, 0 when it is new, -ENOMEM. */
int orr_mpi_ranks_has(const int32_t *v, unsigned n, int rank);
int orr_mpi_ranks_insert(int32_t **v, uint32_t *n, uint32_t *cap, int rank);
/* 0 if messages can have the tag; -EINVAL after a message. */
int orr_mpi_check_tag(starpu_data_handle_t h, const char *what);
/* 0, or -EBUSY after a message if a rank owns a datum whose place is -1; places NULL: if this rank
 * owns one. */
int orr_mpi_check_unowned(struct orr_mpi *mpi, const int *places);
/* Call while no message is in flight. Renumbers everything kept per rank, and drops what is kept
 * about ranks that leave (-1). All data with an owner are attached, or in the slab. */
void orr_mpi_data_renumber(struct orr_mpi *mpi, const int *places);

/* cache.c */
int orr_mpi_sent_set(struct orr_mpi *mpi, starpu_data_handle_t h,
		     int dest); /* the former state, or -errno */
void orr_mpi_sent_clear(struct orr_mpi *mpi, starpu_data_handle_t h);
int orr_mpi_received_set(struct orr_mpi *mpi, starpu_data_handle_t h);
/* Forgets and frees the received value, after the tasks that use it. */
void orr_mpi_received_drop(struct orr_mpi *mpi, starpu_data_handle_t h);
/* No rank from n on has a received value of the datum, or may hold one of it (on the owner). */
void orr_mpi_cache_release(struct orr_mpi *mpi, starpu_data_handle_t h, int n);
/* Forgets the copy that this rank, not the owner, has just written, and frees it after the tasks
 * and messages that use it. */
void orr_mpi_written_drop(struct orr_mpi *mpi, starpu_data_handle_t h);
/* Forgets who holds the value (on the owner), or the received value (elsewhere). */
void orr_mpi_forget(struct orr_mpi *mpi, starpu_data_handle_t h, int me);
/* The same because a task of another rank writes the datum. */
void orr_mpi_overwritten(struct orr_mpi *mpi, starpu_data_handle_t h, int me);

/* placement.c */
void orr_mpi_placement_exit(struct orr_mpi *mpi);
/* The grounds on which a task's rank is chosen. */
struct orr_mpi_choice {
	int node;     /* EXECUTE_ON_NODE, -1 */
	int has_data; /* EXECUTE_ON_DATA was given: */
	starpu_data_handle_t data;
	int policy; /* STARPU_MPI_NODE_SELECTION_CURRENT_POLICY */
};
#define ORR_MPI_ELSEWHERE (-3) /* unknown here, but not this rank */
/* The executing rank, STARPU_MPI_PER_NODE for all, or ORR_MPI_ELSEWHERE. 0 or -EINVAL after a
 * message. */
int orr_mpi_place(struct orr_mpi *mpi, const struct orr_mpi_comm *c,
		  const struct orr_mpi_choice *choice, const struct starpu_data_descr *d,
		  unsigned n, struct starpu_codelet *cl, int *xrank);

/* redux.c */
int orr_mpi_redux_note(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
		       int xrank, int mpi_redux);
int orr_mpi_redux_flush(struct orr_mpi *mpi, struct orr_mpi_comm *c, starpu_data_handle_t h,
			int prio, unsigned arity);
int orr_mpi_redux_flush_all(struct orr_mpi *mpi, struct orr_mpi_comm *c);
/* By the engine's owner: sends the plan that a request carries, takes in one that came. */
void orr_mpi_redux_send_plan(struct orr_mpi *mpi, struct orr_mpi_req *req);
void orr_mpi_redux_planned(struct orr_mpi *mpi, struct orr_mpi_req *req, const void *plan);

/* stats.c */
/* Counts a message to the peer: that leaves for it (HOP), that is for it (LOGICAL), or both. */
enum { ORR_MPI_COUNT_HOP = 1, ORR_MPI_COUNT_LOGICAL = 2 };
void orr_mpi_count(struct orr_mpi *mpi, struct orr_mpi_peer *p, size_t bytes, unsigned what);

void orr_mpi_stats_report(struct orr_mpi *mpi);
/* [waits] The same before the layer goes on with another communicator, or without one. */
void orr_mpi_stats_switch(struct orr_mpi *mpi, MPI_Comm next);
void orr_mpi_trace(struct orr_mpi *mpi, const char *what, const struct orr_mpi_req *req);

#endif
