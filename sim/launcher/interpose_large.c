/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program's own MPI and sizes: SMPI 3.32 counts the bytes of a message and of a datatype in an
 * int. Beyond INT_MAX it silently copies other bytes, reports another count, and takes another
 * time. So calls with more bytes than that are refused here, before SMPI sees them. A collective
 * operation may move more than INT_MAX bytes in total; the limit holds for the part of a rank.
 *
 * At their end, these calls spend the time of the copies of what they sent (orrery_sim_sent()).
 *
 * Invariant: no state; a call that is not refused is SMPI's own. Parameters that mean nothing on
 * this rank, or beside MPI_IN_PLACE, are not read. */
#include <limits.h>
#include <stdlib.h>
#include <smpi/smpi.h>
#include "interpose.h"

/* The address of a function or constant of SMPI, looked for once. */
#define SMPI_OWN(name) \
	({ \
		static void *own; \
		if (!own) \
			own = interpose_smpi(#name); \
		(__typeof__(&(name))) own; \
	})

static double size_of(MPI_Datatype type)
{
	int size = 0;
	if (type != (MPI_Datatype) SMPI_OWN(smpi_MPI_DATATYPE_NULL))
		SMPI_OWN(PMPI_Type_size)(type, &size);
	return size;
}

static void large_check(const char *call, double bytes)
{
	if (__builtin_expect(bytes > INT_MAX, 0))
		orrery_sim_too_large(call, bytes);
}

/* ---- messages ---- */

/* The part of a rank in a collective operation, unless it lies in place. */
static void check_part(const char *call, const void *buf, int count, MPI_Datatype type)
{
	if (buf != MPI_IN_PLACE)
		large_check(call, count * size_of(type));
}

/* A function whose parameters `count` and `type` say how much it moves. */
#define MOVES(name, parameters, arguments) \
	int MPI_##name parameters \
	{ \
		large_check("MPI_" #name, count *size_of(type)); \
		return orrery_sim_sent(SMPI_OWN(PMPI_##name) arguments); \
	}

/* A blocking function, and the one that has a request behind the same parameters. KIND: MOVES, or
 * one of its relatives below. */
#define WORDS(...) __VA_ARGS__
#define BOTH(KIND, name, iname, parameters, arguments) \
	KIND(name, (WORDS parameters), (WORDS arguments)) \
	KIND(iname, (WORDS parameters, MPI_Request * request), (WORDS arguments, request))

#define MESSAGE (const void *buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm)
#define SENDS(name, iname) \
	BOTH(MOVES, name, iname, MESSAGE, (buf, count, type, peer, tag, comm)) \
	MOVES(name##_init, (WORDS MESSAGE, MPI_Request * request), \
	      (buf, count, type, peer, tag, comm, request))

SENDS(Send, Isend)
SENDS(Bsend, Ibsend)
SENDS(Ssend, Issend)
SENDS(Rsend, Irsend)
MOVES(Recv,
      (void *buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
       MPI_Status *status),
      (buf, count, type, peer, tag, comm, status))
MOVES(Irecv,
      (void *buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
       MPI_Request *request),
      (buf, count, type, peer, tag, comm, request))
MOVES(Recv_init,
      (void *buf, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
       MPI_Request *request),
      (buf, count, type, peer, tag, comm, request))
MOVES(Sendrecv_replace,
      (void *buf, int count, MPI_Datatype type, int dest, int tag, int source, int got,
       MPI_Comm comm, MPI_Status *status),
      (buf, count, type, dest, tag, source, got, comm, status))
BOTH(MOVES, Bcast, Ibcast, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm),
     (buf, count, type, root, comm))
BOTH(MOVES, Reduce, Ireduce,
     (const void *buf, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
     (buf, out, count, type, op, root, comm))

#define REDUCES(name, iname) \
	BOTH(MOVES, name, iname, \
	     (const void *buf, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
	     (buf, out, count, type, op, comm))

REDUCES(Allreduce, Iallreduce)
REDUCES(Scan, Iscan)
REDUCES(Exscan, Iexscan)
REDUCES(Reduce_scatter_block, Ireduce_scatter_block)
MOVES(Pack,
      (const void *buf, int count, MPI_Datatype type, void *out, int room, int *position,
       MPI_Comm comm),
      (buf, count, type, out, room, position, comm))
MOVES(Unpack,
      (const void *buf, int room, int *position, void *out, int count, MPI_Datatype type,
       MPI_Comm comm),
      (buf, room, position, out, count, type, comm))
MOVES(Put,
      (const void *buf, int count, MPI_Datatype type, int peer, MPI_Aint at, int nout,
       MPI_Datatype tout, MPI_Win win),
      (buf, count, type, peer, at, nout, tout, win))
MOVES(Get,
      (void *buf, int count, MPI_Datatype type, int peer, MPI_Aint at, int nout, MPI_Datatype tout,
       MPI_Win win),
      (buf, count, type, peer, at, nout, tout, win))
MOVES(Accumulate,
      (const void *buf, int count, MPI_Datatype type, int peer, MPI_Aint at, int nout,
       MPI_Datatype tout, MPI_Op op, MPI_Win win),
      (buf, count, type, peer, at, nout, tout, op, win))

int MPI_Sendrecv(const void *buf, int count, MPI_Datatype type, int dest, int tag, void *in,
		 int nin, MPI_Datatype tin, int source, int tag_in, MPI_Comm comm,
		 MPI_Status *status)
{
	large_check("MPI_Sendrecv", count * size_of(type));
	large_check("MPI_Sendrecv", nin * size_of(tin));
	return orrery_sim_sent(SMPI_OWN(PMPI_Sendrecv)(buf, count, type, dest, tag, in, nin, tin,
						       source, tag_in, comm, status));
}

/* The messages of these were checked when they were described. */
int MPI_Start(MPI_Request *request)
{
	return orrery_sim_sent(SMPI_OWN(PMPI_Start)(request));
}

int MPI_Startall(int n, MPI_Request *requests)
{
	return orrery_sim_sent(SMPI_OWN(PMPI_Startall)(n, requests));
}

/* ---- collective operations with two buffers ---- */

/* The part that this rank sends. */
#define SENDS_PART(name, parameters, arguments) \
	int MPI_##name parameters \
	{ \
		check_part("MPI_" #name, buf, count, type); \
		return orrery_sim_sent(SMPI_OWN(PMPI_##name) arguments); \
	}

/* The part that this rank receives; the others are the root's only. */
#define RECEIVES_PART(name, parameters, arguments) \
	int MPI_##name parameters \
	{ \
		check_part("MPI_" #name, out, nout, tout); \
		return orrery_sim_sent(SMPI_OWN(PMPI_##name) arguments); \
	}

BOTH(SENDS_PART, Gather, Igather,
     (const void *buf, int count, MPI_Datatype type, void *out, int nout, MPI_Datatype tout,
      int root, MPI_Comm comm),
     (buf, count, type, out, nout, tout, root, comm))
BOTH(RECEIVES_PART, Scatter, Iscatter,
     (const void *buf, int count, MPI_Datatype type, void *out, int nout, MPI_Datatype tout,
      int root, MPI_Comm comm),
     (buf, count, type, out, nout, tout, root, comm))
BOTH(SENDS_PART, Allgather, Iallgather,
     (const void *buf, int count, MPI_Datatype type, void *out, int nout, MPI_Datatype tout,
      MPI_Comm comm),
     (buf, count, type, out, nout, tout, comm))
BOTH(SENDS_PART, Alltoall, Ialltoall,
     (const void *buf, int count, MPI_Datatype type, void *out, int nout, MPI_Datatype tout,
      MPI_Comm comm),
     (buf, count, type, out, nout, tout, comm))
BOTH(SENDS_PART, Gatherv, Igatherv,
     (const void *buf, int count, MPI_Datatype type, void *out, const int *nout, const int *at,
      MPI_Datatype tout, int root, MPI_Comm comm),
     (buf, count, type, out, nout, at, tout, root, comm))
BOTH(RECEIVES_PART, Scatterv, Iscatterv,
     (const void *buf, const int *counts, const int *at, MPI_Datatype type, void *out, int nout,
      MPI_Datatype tout, int root, MPI_Comm comm),
     (buf, counts, at, type, out, nout, tout, root, comm))
BOTH(SENDS_PART, Allgatherv, Iallgatherv,
     (const void *buf, int count, MPI_Datatype type, void *out, const int *nout, const int *at,
      MPI_Datatype tout, MPI_Comm comm),
     (buf, count, type, out, nout, at, tout, comm))

/* The parts with a count for each rank. */
static void check_counts(const char *call, const void *buf, const int *counts, MPI_Datatype type,
			 const MPI_Datatype *types, MPI_Comm comm)
{
	int n = 0;
	if (buf == MPI_IN_PLACE)
		return;
	SMPI_OWN(PMPI_Comm_size)(comm, &n);
	for (int i = 0; i < n; i++)
		large_check(call, counts[i] * size_of(types ? types[i] : type));
}

#define COUNTS(name, parameters, arguments) \
	int MPI_##name parameters \
	{ \
		check_counts("MPI_" #name, buf, counts, type, NULL, comm); \
		return orrery_sim_sent(SMPI_OWN(PMPI_##name) arguments); \
	}

/* A reduction in place has its counts, too. */
#define REDUCES_COUNTS(name, parameters, arguments) \
	int MPI_##name parameters \
	{ \
		check_counts("MPI_" #name, out, counts, type, NULL, comm); \
		return orrery_sim_sent(SMPI_OWN(PMPI_##name) arguments); \
	}

#define COUNTS_AND_TYPES(name, parameters, arguments) \
	int MPI_##name parameters \
	{ \
		check_counts("MPI_" #name, buf, counts, NULL, types, comm); \
		return orrery_sim_sent(SMPI_OWN(PMPI_##name) arguments); \
	}

BOTH(COUNTS, Alltoallv, Ialltoallv,
     (const void *buf, const int *counts, const int *at, MPI_Datatype type, void *out,
      const int *nout, const int *to, MPI_Datatype tout, MPI_Comm comm),
     (buf, counts, at, type, out, nout, to, tout, comm))
BOTH(REDUCES_COUNTS, Reduce_scatter, Ireduce_scatter,
     (const void *buf, void *out, const int *counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (buf, out, counts, type, op, comm))
BOTH(COUNTS_AND_TYPES, Alltoallw, Ialltoallw,
     (const void *buf, const int *counts, const int *at, const MPI_Datatype *types, void *out,
      const int *nout, const int *to, const MPI_Datatype *tout, MPI_Comm comm),
     (buf, counts, at, types, out, nout, to, tout, comm))

/* ---- datatypes ---- */

int MPI_Type_contiguous(int n, MPI_Datatype of, MPI_Datatype *type)
{
	large_check("MPI_Type_contiguous", n * size_of(of));
	return SMPI_OWN(PMPI_Type_contiguous)(n, of, type);
}

/* The way from the first item to the last is an int, too. */
int MPI_Type_vector(int n, int block, int stride, MPI_Datatype of, MPI_Datatype *type)
{
	large_check("MPI_Type_vector", (double) n * block * size_of(of));
	large_check("MPI_Type_vector", abs(stride) * (n - 1.) * size_of(of));
	return SMPI_OWN(PMPI_Type_vector)(n, block, stride, of, type);
}

int MPI_Type_create_hvector(int n, int block, MPI_Aint stride, MPI_Datatype of, MPI_Datatype *type)
{
	large_check("MPI_Type_create_hvector", (double) n * block * size_of(of));
	return SMPI_OWN(PMPI_Type_create_hvector)(n, block, stride, of, type);
}

int MPI_Type_hvector(int n, int block, MPI_Aint stride, MPI_Datatype of, MPI_Datatype *type)
{
	large_check("MPI_Type_hvector", (double) n * block * size_of(of));
	return SMPI_OWN(PMPI_Type_hvector)(n, block, stride, of, type);
}

static double sum(int n, const int *lengths)
{
	double items = 0;
	for (int i = 0; i < n; i++)
		items += lengths[i];
	return items;
}

int MPI_Type_indexed(int n, const int *lengths, const int *at, MPI_Datatype of, MPI_Datatype *type)
{
	large_check("MPI_Type_indexed", sum(n, lengths) * size_of(of));
	return SMPI_OWN(PMPI_Type_indexed)(n, lengths, at, of, type);
}

int MPI_Type_create_indexed_block(int n, int block, const int *at, MPI_Datatype of,
				  MPI_Datatype *type)
{
	large_check("MPI_Type_create_indexed_block", (double) n * block * size_of(of));
	return SMPI_OWN(PMPI_Type_create_indexed_block)(n, block, at, of, type);
}

int MPI_Type_create_hindexed(int n, const int *lengths, const MPI_Aint *at, MPI_Datatype of,
			     MPI_Datatype *type)
{
	large_check("MPI_Type_create_hindexed", sum(n, lengths) * size_of(of));
	return SMPI_OWN(PMPI_Type_create_hindexed)(n, lengths, at, of, type);
}

int MPI_Type_create_hindexed_block(int n, int block, const MPI_Aint *at, MPI_Datatype of,
				   MPI_Datatype *type)
{
	large_check("MPI_Type_create_hindexed_block", (double) n * block * size_of(of));
	return SMPI_OWN(PMPI_Type_create_hindexed_block)(n, block, at, of, type);
}

int MPI_Type_create_struct(int n, const int *lengths, const MPI_Aint *at, const MPI_Datatype *of,
			   MPI_Datatype *type)
{
	double bytes = 0;
	for (int i = 0; i < n; i++)
		bytes += lengths[i] * size_of(of[i]);
	large_check("MPI_Type_create_struct", bytes);
	return SMPI_OWN(PMPI_Type_create_struct)(n, lengths, at, of, type);
}

int MPI_Type_create_subarray(int ndims, const int *sizes, const int *parts, const int *starts,
			     int order, MPI_Datatype of, MPI_Datatype *type)
{
	double bytes = size_of(of);
	for (int i = 0; i < ndims; i++)
		bytes *= parts[i];
	large_check("MPI_Type_create_subarray", bytes);
	return SMPI_OWN(PMPI_Type_create_subarray)(ndims, sizes, parts, starts, order, of, type);
}
