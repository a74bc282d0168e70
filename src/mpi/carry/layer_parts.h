/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of each module of the MPI layer in the layer's struct (layer.h), by module.
 *
 * Invariant: a struct of this file is used by the module that it names, and by those that its
 * comment names; others ask that module. */
#ifndef ORR_MPI_LAYER_PARTS_H
#define ORR_MPI_LAYER_PARTS_H

#include "starpu_mpi.h"
#include "base/map.h"
#include "base/seam_mpi.h"

struct orr_detector;
struct orr_mpi_early;
struct orr_mpi_group;
struct orr_mpi_held;
struct orr_mpi_relay;
struct orr_mpi_req;

/* Posting and matching (match.c). */
struct orr_mpi_match {
	struct orr_map posted;              /* struct orr_mpi_link of requests */
	struct orr_map earlies;             /* struct orr_mpi_link of messages without request */
	struct orr_mpi_early *first, *last; /* all messages that came early, by arrival */
	uint32_t nposted;                   /* atomic: receives without message */
};

struct orr_mpi_datatype {
	int id; /* of the interface */
	starpu_mpi_datatype_allocate_func_t allocate;
	starpu_mpi_datatype_node_allocate_func_t node_allocate;
	starpu_mpi_datatype_free_func_t free;
};

/* The datatypes of interfaces. */
struct orr_mpi_types {
	struct orr_mpi_datatype *list;
	unsigned n;
};

/* A rank that messages went to or came from. */
struct orr_mpi_peer {
	uint64_t key; /* the peer */
	/* Messages to processes of that rank in this communicator, and in earlier ones: */
	struct orr_mpi_peer_stats stats, before;
	uint64_t program_bytes; /* of all these, sent while the program had statistics enabled */
	/* Atomic, the engine's owner's: of its messages that arrived here. What stats has of them
	 * is 0, so that none waits for a lock. */
	uint64_t received_messages, received_bytes;
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

/* Under mpi->lock. */
struct orr_mpi_stats {
	struct orr_map peers;      /* struct orr_mpi_peer; the engine's owner enters them */
	struct orr_mpi_peer *last; /* the engine's owner's: the one that was asked for, or NULL */
	int counting;              /* atomic: enum orr_mpi_counting */
	int print;                 /* at the end */
	int counts_time;           /* somebody wants to know how long pairs are active */
};

/* Between threads and the engine. */
struct orr_mpi_engine {
	struct orr_mpi_req *inbox; /* atomic stack */
	uint32_t nsubmitting;      /* atomic: threads that are putting something into it */
	struct orr_thread *owner;  /* atomic: who drives the engine just now, NULL: nobody */
	int32_t drivers;           /* atomic: threads that wait and may drive */
	int32_t stopping, running; /* atomic */
	int in_recess;             /* the function of the engine's thread returned in a wait */
	int flowing;               /* atomic: the last poll saw a part of a long message, so more
				      of it is there to be moved */
	struct orr_thread *self;   /* in the engine's thread: once it runs */
	int64_t polled_us;         /* atomic: when a worker polled last; 0: none does just now */
	int workers_poll; /* between tasks: there is no core for a thread that only polls */
	orr_sys_thread_t *thread;
};

/* Sends that wait to start. By the engine's owner. */
struct orr_mpi_ready {
	struct orr_mpi_req **heap; /* most urgent first */
	unsigned n;                /* read by others as a hint, hence written atomically */
	unsigned cap;
	int max; /* started in one turn, at most; 0: no limit */
};

/* Counts that tell whether anything is under way (unmatched.c, stuck.c). */
struct orr_mpi_counts {
	uint64_t nsent, nreceived; /* envelopes to and from other processes */
	uint64_t ncollectives;     /* that began over the world, but in a simulated run */
	uint64_t ninserted;        /* tasks, on whatever rank they execute */
	uint64_t nown;             /* of these, that this rank executes */
	uint32_t nrelays;          /* relays with messages under way */
	uint32_t ndeferred;        /* early messages that stay at their senders for now */
	uint32_t nannounced;       /* atomic: data whose announced sends are not all there */
};

/* The pauses of threads that may drive. */
struct orr_mpi_rest {
	orr_waitq_t bell;   /* threads that rest sleep on it */
	int64_t stirred_ns; /* atomic: when something happened last */
	double spin_us;     /* for so long a thread spins before it yields */
	int64_t yield_ns; /* atomic: for so long it yields before it sleeps, see base/patience.h */
	int32_t dozing;   /* atomic: the dedicated thread sleeps for long */
};

/* Sends that come later than others of their value (late.c). */
struct orr_mpi_late {
	starpu_data_handle_t only;     /* whose sends left since none was under way; NULL: several
					  data's */
	struct orr_mpi_group *groups;  /* sends that it keeps; atomic, as a hint */
	struct orr_mpi_relay *leaving; /* relays with a payload that began here */
	struct orr_mpi_req *lone;      /* and sends under way without one, by link.next, that others
					  of their value may wait for */
	int hurry;                     /* atomic: a thread waits: none of them waits for others */
};

/* Limits of what may be under way (limits.c). */
struct orr_mpi_limits {
	int max_sends;         /* 0: no limit */
	size_t max_send_bytes; /* likewise */
	int throttle;          /* atomic: receives wait for main memory */
	int early_at_once;     /* early messages get their buffers without delay */
	/* the engine's owner's: */
	int nsends;        /* in flight, those that count against max_sends */
	size_t send_bytes; /* their payloads */
};

/* The worker that the engine's thread steps. The engine's thread's. */
struct orr_mpi_work {
	struct orr_group *group;
	struct orr_thread *thread;
	struct starpu_driver *drivers; /* owned: what the core was told, NULL: no worker */
	unsigned cpu;
	unsigned calls_between, tasks_in_row, npolls;
	int rung; /* atomic: the worker may have something to do */
};

/* The choice of the rank that executes a task (placement.c). */
struct orr_mpi_placement {
	starpu_mpi_select_node_policy_func_t *policies; /* [0] unused: the built-in one */
	unsigned npolicies;
	int policy; /* the current one */
};

/* Reductions over ranks (mpi_redux.c). */
struct orr_mpi_redux {
	long threshold;     /* bytes; reductions go along a tree from here on; negative: never */
	unsigned nreduxing; /* attached handles with ORR_MPI_REDUXING */
	uint32_t nrounds;   /* atomic: reductions along trees that this rank, the owner, began */
};

/* The tasks of this rank in an interval of load balancing (mpi/auto/heat.h). */
struct orr_mpi_heat {
	int counts;        /* load balancing wants to know */
	uint32_t interval; /* counts the points at which data may move */
	uint64_t ntasks;   /* inserted since the last one, executed here */
};

/* Signs of life (mpi/run/heartbeat.h). */
struct orr_mpi_heartbeat {
	orr_sys_thread_t *thread; /* NULL: there are none */
	struct orr_detector *detector;
	int stopping; /* atomic */
};

/* Sums of the progression since somebody looked for the first time (orrery top). Atomic. */
struct orr_mpi_turn_sums {
	int on;                              /* somebody has looked */
	int64_t since_ns;                    /* when that was */
	int64_t asleep_ns, turn_ns, call_ns; /* since when its thread sleeps, is in a turn, in a
						callback; 0: it is not */
	uint64_t ns[4];                      /* by kind of turn; 0: messages, by other threads */
	uint64_t callbacks_ns;               /* of ns[ORR_TURN_MESSAGES] */
	uint64_t things;
};

/* Short turns of the progression that are one event of the trace. */
struct orr_mpi_turns {
	double since_us,
		until_us; /* the first one began; those that begin later are not among them */
	double us, callbacks_us;
	uint64_t n, nturns;
};

struct orr_mpi_turn_trace {
	struct { /* what the trace is to say of this turn */
		double since_us, callbacks_us;
		uint64_t n;
	} turn;
	uint8_t held; /* enum orr_trace_hold: what the trace says of ready sends; 0: nothing */
	struct orr_mpi_turn_sums sums;
	struct orr_mpi_turns *turns; /* four of those that are not recorded yet, where there was a
					trace when the layer began; else NULL */
	double turns_since_us;
};

#endif
