/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests: sends and receives, what travels first of them, and messages that came before their
 * receive.
 *
 * Life of a request: FETCHING (its datum is not available yet) -> a send: READY, FLYING, DONE; a
 * receive: POSTED from the beginning until an envelope matches (so receives match in the order in
 * which they were posted), then FLYING, DONE.
 *
 * Invariant: a request is on the free list, or somebody answers for it: the data layer, the map of
 * posted receives, the inbox or the heap of the engine, a flight, or the program. */
#ifndef ORR_MPI_REQUEST_RECORD_H
#define ORR_MPI_REQUEST_RECORD_H

#include "base/seam_mpi.h"
#include "data/access.h"

struct orr_mpi_relay;

#define ORR_MPI_ANY (-1) /* a source: any rank */

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
/* 8: below; 16 and 32: mpi_stall.h; 128: stuck.h */
#define ORR_MPI_OF_DEVICE 64 /* the payload comes from the memory of a device */
#define ORR_MPI_PLAN 8       /* routed: the route is the tree of a reduction (mpi_redux.c) */

/* Entries with one key in a map, first in first out: the first is in the map and knows the last. */
struct orr_mpi_link {
	uint64_t key;
	struct orr_mpi_link *next, *tail;
};

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
	uint16_t comm;       /* index in mpi->comms.all */
	uint8_t kind, where; /* atomic: others read them (mpi_tell.c) */
	uint8_t nflight;     /* messages not complete */
	uint8_t detached;    /* apart from the bits, which others write while it is read */
	uint8_t sync : 1;
	uint8_t granted : 1;   /* the datum is available (under mpi->lock for receives) */
	uint8_t plan : 1;      /* a receive without datum: of the plan of a reduction */
	uint8_t submitted : 1; /* a receive in the inbox, or on its way there: only who takes it out
				  goes on with it (likewise) */
	uint8_t grows : 1;     /* a send of an insertion, whose datum was there: others of it may
				  follow */
	uint8_t waited : 1;    /* a send: late.c has kept it long enough */
	uint8_t lone : 1;      /* a send: in mpi->late.lone */
	uint8_t copied : 1;    /* a receive under way: see struct orr_mpi_payload */
	uint8_t done;          /* atomic */
};

/* A message that arrived before its receive, or before the datum to receive was available. */
struct orr_mpi_early {
	struct orr_mpi_link link;          /* while no request has matched */
	struct orr_mpi_req *req;           /* the request that matched, or NULL */
	struct orr_mpi_req *sender;        /* a synchronous send of this process to itself */
	struct orr_mpi_early *prev, *next; /* mpi->early_list: all of them, by arrival */
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

/* The requests of the layer. Under mpi->lock. */
struct orr_mpi_reqs {
	struct orr_mpi_req *free;
	struct orr_mpi_chunk *chunks;
	uint64_t seq;
};

#endif
