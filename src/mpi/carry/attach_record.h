/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attributes of data that take part in automatic communications.
 *
 * Invariant: a handle is in data.attached, and in data.tags if it has a tag, exactly while it has
 * ORR_MPI_ATTACHED. */
#ifndef ORR_MPI_ATTACH_RECORD_H
#define ORR_MPI_ATTACH_RECORD_H

#include "base/map.h"
#include "data/handle.h"

struct orr_mpi_req;
struct orr_mpi_datatype;

/* handle->mpi_flags */
#define ORR_MPI_RECEIVED 1 /* this rank, not the owner, holds the current value */
#define ORR_MPI_ATTACHED 2 /* mpi_ext exists: in the lists of attach.c */
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

/* handle->mpi_ext: exists once a datum took part in an automatic communication. */
struct orr_mpi_ext {
	uint32_t index : 31; /* in mpi->data.attached */
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

struct orr_mpi_data {
	orr_lock_t lock;                /* of what follows */
	starpu_data_handle_t *attached; /* handles with an mpi_ext */
	unsigned nattached, attached_cap;
	uint64_t nregistered;         /* data that were ever registered */
	struct orr_map tags;          /* of those, by tag */
	struct orr_mpi_range *ranges; /* of tags, allocated ones, sorted */
	unsigned nranges;
};

static inline struct orr_mpi_ext *orr_mpi_ext(starpu_data_handle_t h) /* NULL when it has none */
{
	return ORR_ATOMIC_LOAD(&h->mpi_flags) & ORR_MPI_ATTACHED ? h->mpi_ext : NULL;
}

#endif
