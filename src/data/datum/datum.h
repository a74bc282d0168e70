/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data: handles and their replicates, how an interface reaches its structures, and how a message
 * names them. Below the interfaces, which know nothing else of handles.
 *
 * A handle owns one replicate per memory node that it was used on: main memory's stands in the
 * handle itself, others are linked. Replicates are in one of three states (MSI): invalid, shared,
 * or modified (the only valid one). Invariant: the memory of a handle does not depend on the number
 * of ranks, workers or memory nodes; a handle of a built-in interface that was never used takes at
 * most 192 bytes, MPI registration included (the sizes of n-dimensional data come on top).
 * tests/bench/handles.c measures that, instead of an assertion. Rare attributes live in struct
 * orr_data_ext, allocated when one is set. */
#ifndef ORR_DATA_DATUM_H
#define ORR_DATA_DATUM_H

#include "base/process.h"

enum orr_msi { ORR_INVALID, ORR_SHARED, ORR_MODIFIED };

/* Classes of granted access groups. */
enum orr_class {
	ORR_CLASS_NONE,
	ORR_CLASS_READ,
	ORR_CLASS_WRITE,
	ORR_CLASS_COMMUTE,
	ORR_CLASS_REDUX
};

/* Flags of a handle's busy_partition. CUT: as the whole; PIECE: as a piece; SYNC: cut by
 * starpu_data_partition. */
enum {
	ORR_VIEW_CUT_RW = 1,
	ORR_VIEW_CUT_RO = 2,
	ORR_VIEW_CUT_SYNC = 4,
	ORR_VIEW_PIECE_OFF = 8,
	ORR_VIEW_PIECE_RO = 16,
	ORR_VIEW_DUP_SOURCE = 32, /* has a duplicate that a write makes stale */
	ORR_VIEW_DUP = 64,        /* is a read-only duplicate */
};

/* Added to npins once the handle shall end with its last pin. */
#define ORR_PINS_LAST (1U << 31)

struct orr_partition;
struct orr_access;

struct orr_replicate {
	struct orr_replicate *next; /* the handle's next replicate */
	struct orr_repl_ext
		*ext;  /* device bookkeeping: LRU links, waiting transfers (data/transfer.c) */
	uint8_t state; /* enum orr_msi; an access that holds the datum may read it without the lock
			*/
	uint8_t memnode;
	uint8_t allocated;     /* there is a buffer */
	uint8_t mine : 1;      /* the buffer is the runtime's (else the program's) */
	uint8_t loading : 1;   /* a transfer to it is under way */
	uint8_t requested : 1; /* a prefetch to it is queued */
	uint8_t in_lru : 1;
	uint8_t mapped : 1; /* the buffer is main memory's (data/mapping.h) */
	uint8_t stale : 1;  /* the datum was written while a transfer to it was under way */
	uint32_t refcnt;    /* accesses and transfers that need it to stay */
};

/* Attributes that most handles never have. */
struct orr_data_ext {
	char *name;
	void *user_data, *sched_data;
	uint32_t wt_mask;
	int ncoords;
	int coords[5];
	struct starpu_codelet *redux_cl, *init_cl;
	void *redux_arg, *init_arg;
	struct orr_access *parked,
		*parked_last;    /* until this handle is released, first come first */
	struct orr_redux *redux; /* per-worker contributions in flight (data/redux.c) */
	struct starpu_arbiter *arbiter;
	struct orr_partition *partitions; /* plans (data/partition.h) */
	starpu_data_handle_t dup; /* read-only duplicate of the value of now (data/data_copy.c) */
	starpu_data_handle_t dup_of; /* of a duplicate: whose value it still holds, NULL when that
					was written since */
	unsigned dup_refs;           /* of a duplicate: how many times it was handed out */
	struct orr_user_acquire *acquires; /* by the program, not yet released (data/acquire.c) */
	void *wide_ifaces; /* user-defined interfaces: STARPU_MAXNODES structures (main memory's is
			      unused) */
	/* While a trace is recorded: of a datum without a tag that a task used, its number among
	 * those of the process; 0: none. */
	uint32_t used_as;
	unsigned ooc_off : 1;
	unsigned can_evict_off : 1;
};

/* Behind the interface of a handle, while a trace is recorded: causes (trace/format.h) that ended
 * the last access that wrote, and the last one since then, in data/access_trace.h's form; 0: the
 * program. */
struct orr_last_users {
	uint32_t wrote, read;
};

/* A handle's last_user: the worker with that number; 0 is nobody. Two whose numbers differ by 63
 * count as one, so that a cost may be too low. */
#define ORR_USER(worker) ((uint8_t) ((worker) % 63 + 1))

/* Values of a handle's `alive` that no memory is likely to hold by accident: it can be used; its
 * end was submitted. */
#define ORR_HANDLE_ALIVE 0xa7
#define ORR_HANDLE_LEAVING 0xd3

/* The order keeps what threads change apart in different lines of the cache: what a submission
 * looks at and changes comes first, the replicate of main memory, which workers count in, at least
 * 64 bytes behind it, and what hardly ever changes between them. */
struct _starpu_data_state {
	orr_lock_t lock;        /* protects everything below but mpi fields */
	uint8_t gclass;         /* class of the granted group */
	uint8_t sequential;     /* sequential consistency; may be read without the lock */
	uint8_t busy_partition; /* atomic: flags ORR_VIEW_*, as of the tasks submitted so far; 0: no
				   access needs a check */
	uint8_t alive;          /* atomic: ORR_HANDLE_*, anything else once it ended */
	uint32_t ngranted;      /* accesses that had their turn and did not end */
	uint32_t nheld;         /* accesses that hold it */
	struct orr_access *head, *tail; /* waiting accesses, first to be granted first; head:
					   atomic, and a hint without the lock */
	struct orr_data_ext *ext;
	/* A byte of their own: only the holder of the lock writes them. */
	uint8_t held_write : 1; /* its holder writes */
	uint8_t gave_back : 1;  /* memory was given back under the lock: its end tells */
	uint8_t last_user : 6;  /* a simulated run: worker whose task used it last, ORR_USER() */
	uint8_t : 0;
	/* Constant after registration, and read without the lock. */
	uint8_t wide : 1; /* user-defined interface: structures for all memory nodes from the start
			   */
	uint8_t slab : 1; /* from proc->data->handle_slab */
	uint8_t has_users : 1; /* there is room for its last users (struct orr_last_users) */
	uint8_t : 0;
	int8_t home_node;   /* -1: none, buffers are the runtime's */
	uint8_t bring_home; /* its end brings the value back to the home node; set by its
			       unregistration, without the lock */
	/* The MPI layer's, protected by its own rules, here and below. */
	uint16_t mpi_comm; /* index of the communicator in the MPI layer's table */
	uint16_t mpi_flags;
	int32_t mpi_rank; /* owner in the communicator mpi_comm, -1: unknown,
			     STARPU_MPI_PER_NODE */
	uint32_t npins;   /* atomic: users outside of its queue that keep it from ending, see
			     orr_handle_pin */
	struct orr_partition *piece_of; /* the plan that it is a piece of, NULL when it was
					   registered by the program */
	struct starpu_data_interface_ops *ops;
	int64_t mpi_tag;           /* -1: none */
	void *mpi_ext;             /* where it was sent, its datatype, ... */
	struct orr_replicate main; /* main memory's replicate; its interface follows the handle */
};
_Static_assert(offsetof(struct _starpu_data_state, main.state) >=
		       64 + offsetof(struct _starpu_data_state, ext) + sizeof(void *),
	       "submissions and workers share a line of the cache");

/* Returns 0 if the program may use h in a new access, or -EINVAL after a message that names the
 * call. Best effort: the memory of a handle that ended may belong to another one, and that of large
 * or user-defined interfaces went back to the system. */
int orr_handle_refuse(starpu_data_handle_t h, const char *what);
static inline int orr_handle_check(starpu_data_handle_t h, const char *what)
{
	return __builtin_expect(h && ORR_ATOMIC_LOAD_RELAXED(&h->alive) == ORR_HANDLE_ALIVE, 1)
		       ? 0
		       : orr_handle_refuse(h, what);
}
/* The same for calls that access nothing, such as queries: the end of h may have been submitted. */
static inline int orr_handle_known(starpu_data_handle_t h, const char *what)
{
	uint8_t alive = h ? ORR_ATOMIC_LOAD_RELAXED(&h->alive) : 0;

	return __builtin_expect(alive == ORR_HANDLE_ALIVE, 1) || alive == ORR_HANDLE_LEAVING
		       ? 0
		       : orr_handle_refuse(h, what);
}
/* orr_handle_known where a call has no way to fail: ends the program. */
void orr_handle_must_be_known(starpu_data_handle_t h, const char *what);
/* The same for one that most often is; returns it. */
static inline starpu_data_handle_t orr_handle_checked(starpu_data_handle_t h, const char *what)
{
	if (__builtin_expect(!h || ORR_ATOMIC_LOAD_RELAXED(&h->alive) != ORR_HANDLE_ALIVE, 0))
		orr_handle_must_be_known(h, what);
	return h;
}

/* The interface structure of main memory's replicate, and of any replicate of h. */
static inline void *orr_handle_iface(starpu_data_handle_t h)
{
	return h + 1;
}
/* Bytes of its interface, in a handle from the slab and in another one. */
#define ORR_SLAB_INTERFACE 64 /* larger ones do not live there */
static inline size_t orr_handle_iface_room(int slab, const struct starpu_data_interface_ops *ops)
{
	return slab ? ORR_SLAB_INTERFACE : (ops->interface_size + 7) & ~(size_t) 7;
}
/* NULL: it has none. */
static inline struct orr_last_users *orr_handle_users(starpu_data_handle_t h)
{
	return h->has_users ? (struct orr_last_users *) ((char *) (h + 1) +
							 orr_handle_iface_room(h->slab, h->ops))
			    : NULL;
}
static inline void *orr_replicate_iface(starpu_data_handle_t h, struct orr_replicate *r)
{
	if (r == &h->main)
		return h + 1;
	return h->wide ? (char *) h->ext->wide_ifaces + r->memnode * h->ops->interface_size
		       : (void *) (r + 1);
}

/* A name for messages, in one of a few rotating buffers of the calling thread: its name, else
 * interface and address. */
const char *orr_handle_name(starpu_data_handle_t h);
/* The name of an interface for messages, never NULL. */
const char *orr_interface_name(const struct starpu_data_interface_ops *ops);

#endif
