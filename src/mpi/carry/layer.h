/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI layer of a process: what its modules share. What a module keeps for itself stands in a
 * struct of its own header, which is embedded here by value.
 *
 * Invariant: `lock` protects what posting and matching share (the two maps, granted, early, the
 * requests, the statistics); everything below "the owner's" is touched by the engine's owner only
 * (orr_mpi_assert_owner); nothing here is sized by the number of ranks but the tables of ranks of
 * communicators that are not the world's, and what rank 0 of a real run knows of ranks that have
 * waited for long (stuck.c), which no assertion can see: it is a matter of what fields there are.
 */
#ifndef ORR_MPI_LAYER_H
#define ORR_MPI_LAYER_H

#include "base/assert.h"
#include "core/worker/core.h"
#include "mpi/carry/comm_record.h"
#include "mpi/carry/attach_record.h"
#include "mpi/carry/flight_record.h"
#include "mpi/carry/holds.h"
#include "mpi/carry/layer_parts.h"
#include "mpi/carry/request_record.h"

#define ORR_MPI_DEFAULT_TAG 42 /* MPI tag of envelopes unless the program sets another */

/* Settings of the program or the environment; they do not change while the engine runs. */
struct orr_mpi_settings {
	int comm_tag;
	int cache; /* whether received values are kept */
	size_t eager_limit;
	int pedantic;       /* nobody else uses a datum that is being sent */
	int direct;         /* messages may begin and end in the memory of devices */
	int coop;           /* atomic: sends of one value to several ranks go along a tree */
	uint32_t max_route; /* entries in a route, at most */
	int data_tags;      /* MPI tags up to this may name messages with payloads */
};

/* The number of times that the program began the layer, and what its end undoes. */
struct orr_mpi_life {
	int count;
	int owns_core; /* shut the core down at the end */
	int left;      /* switched to no communicator: only its end is to come */
};

/* The modules that look whether anything goes on. */
struct orr_mpi_watch {
	struct orr_stall *stall; /* mpi_stall.c; the engine's owner's */
	struct orr_stuck *stuck; /* stuck.c; likewise. NULL: this rank does not look for that */
	double event_us;         /* when something happened last (watchdog) */
};

/* Facilities above, NULL while the program does not use them. */
struct orr_mpi_guests {
	struct orr_lb *lb; /* lb.c; NULL: data stay where they are */
	/* [waits] Load balancing's: the program begins or ends an iteration; NULL without it. */
	void (*iteration)(struct orr_mpi *mpi, int begins);
	struct orr_resize *resize; /* resize.c */
	/* Resizing's: the datum of these attributes, which follows, is being unregistered. Under
	 * data.lock. */
	void (*unfollow)(struct orr_mpi *mpi, struct orr_mpi_ext *ext);
	struct orr_checkpoints *checkpoints; /* checkpoint.h */
};

struct orr_mpi {
	struct orr_process *proc;
	int rank, size; /* in the engine's world */
	int fake;       /* this process plays one rank of many: nothing is sent */
	int may_drive;
	double start_us;
	const struct orr_transport *transport;
	struct orr_mpi_work work; /* the engine's thread's */
	struct orr_mpi_settings set;
	struct orr_mpi_life life;
	struct orr_mpi_alone *alone; /* the account of a fake rank (fake_rank.h), else NULL */
	struct orr_mpi_check *check; /* what was inserted, if ranks compare it */
	struct orr_mpi_comms comms;

	/* posting and matching */
	orr_lock_t lock __attribute__((aligned(ORR_LINE)));
	struct orr_mpi_reqs reqs;
	struct orr_mpi_match match;
	struct orr_mpi_stats stats;

	/* between threads and the engine */
	struct orr_mpi_engine engine __attribute__((aligned(ORR_LINE)));
	int32_t ndetached; /* atomic: detached requests not complete */
	orr_waitq_t done;  /* rung when a request that somebody may wait for is complete */
	struct orr_mpi_rest rest;

	/* the owner's */
	struct orr_mpi_flights flights __attribute__((aligned(ORR_LINE)));
	struct orr_mpi_ready ready;
	struct orr_mpi_watch watch;
	struct orr_mpi_limits limits;
	struct orr_mpi_late late;
	struct orr_mpi_counts counts;
	struct orr_mpi_turn_trace trace;
	struct orr_mpi_network network; /* read at its first use */
	struct orr_mpi_heartbeat heartbeat;

	/* data and placement */
	struct orr_mpi_data data __attribute__((aligned(ORR_LINE)));
	struct orr_mpi_types types;
	struct orr_mpi_placement placement;
	struct orr_mpi_redux redux;
	struct orr_mpi_heat heat;
	struct orr_mpi_holds holds;
	void (*pre_submit)(struct starpu_task *);
	struct orr_mpi_guests guests;
};

/* The layer of this process, or NULL after a message saying that it is not initialised (for what:
 * the caller's name). */
struct orr_mpi *orr_mpi_get(const char *who);
/* 0, or -EDEADLK after a message when called from a task or callback. */
int orr_mpi_check_blocking(const char *who);

/* [any] The calling thread becomes the engine's owner, unless somebody is. */
static inline int orr_mpi_own(struct orr_mpi *mpi)
{
	struct orr_thread *nobody = NULL;

	return ORR_ATOMIC_CAS(&mpi->engine.owner, &nobody, orr_thread_self());
}
/* The calling thread is the engine's owner. */
#define orr_mpi_assert_owner(mpi) \
	orr_assert(ORR_ATOMIC_LOAD(&(mpi)->engine.owner) == orr_thread_self())

#endif
