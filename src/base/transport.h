/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A transport carries the engine's messages between the processes of a program. Each world has one
 * or more: MPI, UCX and the memory of a host in the real one (src/sys/mpi_real.c, mpi_ucx.c,
 * mpi_shm.c), SMPI (sim/sys/net/sim_mpi.c) and messages that are events of the simulation
 * (sim/sys/net/sim_native.c) in the simulated one.
 *
 * There are two kinds of messages. An envelope is short, and the receiver takes it whenever it
 * comes: each open transport listens for envelopes of all ranks. A payload has a tag that is unique
 * among what is under way between two ranks, and goes straight into the buffer that the receiver
 * posts for it. Envelopes from one rank to another arrive in the order in which they were sent.
 *
 * The tags of functions are those of base/seam_mpi.h.
 *
 * Invariant: the transport owns a flight from the moment that it is posted until it is reported;
 * buffers of flights stay where they are as long. Only the engine's owner calls what is tagged
 * [owner]. */
#ifndef ORR_BASE_TRANSPORT_H
#define ORR_BASE_TRANSPORT_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/mpi_layout.h"
#include "base/process.h"

/* The number of the layout of all that ranks say to each other: envelopes, routes, offers, and
 * plans. Whoever changes one of them raises it; ranks with different numbers do not begin together
 * (src/sys/mpi_build.c). */
#define ORR_TRANSPORT_LAYOUT 1

/* A message in the hands of a transport. The engine embeds it in what it knows about the message.
 */
struct orr_parcel {
	union {                      /* what the transport finds it by */
		int slot;            /* its place in a set (below) */
		MPI_Request request; /* of a message that is sent ahead */
		void *own;
	};
};

/* Results of `test` and `wait`. */
enum orr_transport_event {
	ORR_TRANSPORT_NOTHING, /* nothing happened */
	ORR_TRANSPORT_LANDED,  /* a message, see struct orr_landing */
	ORR_TRANSPORT_BELL,    /* somebody rang: see `wake` */
	ORR_TRANSPORT_FLOWING, /* no message is complete, but a part of a long one was moved: test
				  again soon */
	ORR_TRANSPORT_RECESS   /* of `wait` only: it goes on, see there */
};

struct orr_landing {
	struct orr_parcel *flight; /* it is complete, and the engine's again; NULL: an envelope */
	const char *envelope;      /* it stays until `listen` */
	size_t bytes;              /* of the envelope, with what follows it */
	int source;                /* the rank that sent it */
};

/* The abilities of a transport; constant while it is open. */
struct orr_transport_limits {
	int may_drive;    /* any thread may own the engine and drive it by `test`; else the engine's
			     own thread owns it for ever, and uses `wait` */
	int payload_tags; /* tags from 0 up to this one may name payloads */
};

struct orr_transport {
	const char *name;

	/* [owner] [waits] Begins to listen for envelopes of at most that many bytes, which travel
	 * with that tag; fills *limits. Returns 0 or -ENOMEM. */
	int (*open)(struct orr_process *proc, int tag, size_t most,
		    struct orr_transport_limits *limits);
	/* [owner] [waits] Cancels what listens; no flight is under way. */
	void (*close)(struct orr_process *proc);

	/* [owner] [waits] Posts what lies at buf as the layout says, which the transport copies if
	 * it needs it later. synchronous: complete only after the receiver has posted its part.
	 * Envelopes are rows and have the tag that was given to `open`. */
	void (*send)(struct orr_process *proc, struct orr_parcel *f, const void *buf,
		     const struct orr_layout *l, int dest, int tag, int synchronous);
	/* [owner] [waits] Posts an envelope whose payload follows. It is never reported: its owner
	 * calls send_ahead_end once after that payload was reported, and frees buf then. */
	void (*send_ahead)(struct orr_process *proc, struct orr_parcel *f, const void *buf,
			   int count, int dest, int tag);
	void (*send_ahead_end)(struct orr_process *proc, struct orr_parcel *f);
	/* [owner] [waits] Posts the receive of a payload. */
	void (*receive)(struct orr_process *proc, struct orr_parcel *f, void *buf,
			const struct orr_layout *l, int source, int tag);
	/* [owner] [waits] The envelope that was reported last is done with: listens for the next
	 * one. */
	void (*listen)(struct orr_process *proc);
	/* [owner] Reports one event and does not wait for it. */
	enum orr_transport_event (*test)(struct orr_process *proc, struct orr_landing *l);
	/* [owner] [waits] The same, but waits for one; it may return ORR_TRANSPORT_NOTHING early.
	 * Only if threads may not drive. ORR_TRANSPORT_RECESS: the function of the engine's thread
	 * must return ORR_RECESS now (base/seam.h), and call `wait` first of all when it is called
	 * again. */
	enum orr_transport_event (*wait)(struct orr_process *proc, struct orr_landing *l);
	/* [any] [waits] Rings the bell: ends the present call of `wait`, or the next one. Without
	 * effect while the transport is closed. Cheap when the engine is awake. */
	void (*wake)(struct orr_process *proc);
};

/* ---- requests of MPI, dense, and their flights ---- */

/* The receive of envelopes is in slot 0. */
struct orr_parcel_set {
	MPI_Request *requests;
	struct orr_parcel **flights;
	int n, cap;
};

/* The place for the request of a new flight. NULL without memory. */
static inline MPI_Request *orr_parcel_add(struct orr_parcel_set *s, struct orr_parcel *f)
{
	if (s->n + 1 >= s->cap) { /* one place stays free for the owner of the set */
		int cap = s->cap ? 2 * s->cap : 16;
		s->requests = realloc(s->requests, (size_t) cap * sizeof(MPI_Request));
		s->flights = realloc(s->flights, (size_t) cap * sizeof(struct orr_parcel *));
		if (!s->requests || !s->flights)
			return NULL;
		s->cap = cap;
	}
	if (f)
		f->slot = s->n;
	s->requests[s->n] = MPI_REQUEST_NULL;
	s->flights[s->n] = f;
	return &s->requests[s->n++];
}

/* The flight of that slot, which is not in the set any more. */
static inline struct orr_parcel *orr_parcel_take(struct orr_parcel_set *s, int slot)
{
	struct orr_parcel *f = s->flights[slot];
	int last = s->n - 1;

	orr_assert(slot > 0 && slot <= last && f->slot == slot);
	s->n = last;
	s->requests[slot] = s->requests[last];
	s->flights[slot] = s->flights[last];
	s->flights[slot]->slot = slot;
	return f;
}

static inline void orr_parcel_free(struct orr_parcel_set *s)
{
	free(s->requests);
	free(s->flights);
	memset(s, 0, sizeof(*s));
}

#endif
