/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Task programs that grow and shrink while they run: the runtime moves data to the ranks that are
 * in use from now on, and tasks follow their data. doc/dynamic.md explains it by an example.
 *
 * A distribution gives the owner of each datum for any number of ranks. The program registers its
 * data on all ranks with the owners that the distribution gives, and says that they follow it. Then
 * orrery_resize() changes the number of ranks in use: ranks 0 to n-1 own all of these data, and the
 * others own and hold none of them. A rank that is not in use stays in the program: it goes on
 * inserting the same tasks as the others, executes none of those that write data that follow, and
 * may be used again. With orrery_resize_switch(), processes join and leave.
 *
 * Nothing waits for a resize. Each datum that gets another owner moves once, after the tasks that
 * use it and were inserted before; tasks that do not need it go on meanwhile. Tasks that were
 * inserted later and need it wait for it, and for nothing else.
 *
 * Invariant: all ranks change owners at the same place among their insertions.
 */
#ifndef ORRERY_RESIZE_H
#define ORRERY_RESIZE_H

#include <stddef.h>
#include <stdint.h>
#include <starpu_mpi.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- distributions ---- */

/* A rule by which data have owners. One thread at a time may use a distribution. */
typedef struct orrery_distribution *orrery_distribution_t;

/* The program's own rule: the rank, from 0 to nranks-1, that owns datum `index` while nranks ranks
 * are in use. It gives the same answer on all ranks and each time. */
typedef int (*orrery_owner_func_t)(int64_t index, int nranks, void *arg);

/* A distribution by the program's own rule. arg is passed to it and stays the program's. To be
 * freed by orrery_distribution_free(); NULL after a message if owner is NULL or memory is
 * exhausted. */
orrery_distribution_t orrery_distribution_function(orrery_owner_func_t owner, void *arg);

/* The distributions that are provided are for n data with indices from 0 to n-1. While `base` ranks
 * are in use, they are what their names say. Each further rank takes an equal part from each of the
 * others. If fewer ranks are in use, those that are left share the data of the others. So owners
 * follow from the number of ranks alone, no rank has more than its share of n data, rounded up, if
 * the parts at `base` ranks are that even, and a change between p ranks and q > p ranks moves only
 * the data that ranks p to q-1 own while q are in use: n * (q-p) / q of them, which is the minimum.
 *
 * They return NULL after a message if a number is wrong or memory is exhausted;
 * orrery_distribution_free() frees them. The owners for one number of ranks take 4 bytes for each
 * datum, twice. */

/* Rank r of `base` ranks owns the r-th part of the data, all parts of equal size but for one. A
 * further rank takes the end of each part. */
orrery_distribution_t orrery_distribution_block(int64_t n, int base);
/* Pieces of `piece` data in a row are dealt to `base` ranks in turn. A further rank takes data
 * that are spread evenly over what a rank has. */
orrery_distribution_t orrery_distribution_cyclic(int64_t n, int64_t piece, int base);
/* Two-dimensional block-cyclic: datum i * columns + j, of row i and column j, belongs to rank
 * (i % p) * q + j % q of base p * q. */
orrery_distribution_t orrery_distribution_cyclic_2d(int64_t rows, int64_t columns, int p, int q);
/* Datum i is vertex i of a graph and belongs to rank part[i] of `base` ranks, as a partitioner of
 * graphs said. Its neighbours are adjacent[first[i]] to adjacent[first[i+1]-1]. Then the data that
 * a further rank takes from a part are far from where the part begins, and most are neighbours.
 * first may be NULL: the order of indices counts instead. All arrays are copied. */
orrery_distribution_t orrery_distribution_graph(int64_t n, const int *part, int base,
						const int64_t *first, const int64_t *adjacent);

/* The owner of a datum while nranks ranks are in use: for starpu_mpi_data_register(). -EINVAL after
 * a message if there is no such datum, nranks is less than 1, or the program's own rule names a
 * rank that does not exist; -ENOMEM. */
int orrery_distribution_owner(orrery_distribution_t distribution, int64_t index, int nranks);
/* Frees it. No datum may follow it any more; NULL is allowed. */
void orrery_distribution_free(orrery_distribution_t distribution);

/* ---- changing the number of ranks in use ---- */

/* The functions below are for the thread that inserts tasks, between starpu_mpi_init_conf() and
 * starpu_mpi_shutdown(). All ranks call them with the same arguments at the same place among their
 * insertions. comm is the communicator that the runtime was started with. They return -ENODEV
 * without a started MPI layer, -EINVAL for another communicator. */

/* Says that `handle`, which is registered on all ranks with an owner and a tag, is datum `index` of
 * the distribution from now on, instead of another one that it followed. It follows until it is
 * unregistered; so the distribution lives until then. 0; -EINVAL after a message if the handle is
 * NULL, or has no owner or tag, or belongs to each rank (STARPU_MPI_PER_NODE); -ENOMEM. */
int orrery_resize_follow(MPI_Comm comm, starpu_data_handle_t handle,
			 orrery_distribution_t distribution, int64_t index);

/* From now on, n ranks are in use: each datum that follows gets the owner that its distribution
 * gives for n. If its present owner is another rank, the datum moves, unless the new owner has
 * received the value already. Contributions to reductions are combined first. Ranks from n on drop
 * the values of these data that they received. Never waits. Messages of a move have a lower
 * priority than those of tasks.
 *
 * The communication statistics count what moves as they count other messages. Load balancing
 * (starpu_mpi_lb.h) may change owners, too: a resize undoes what it did.
 *
 * 0; -EINVAL after a message if n is less than 1 or more than the communicator has, or if a
 * distribution has no owner for a datum: no owner changes then; -ENOMEM. */
int orrery_resize(MPI_Comm comm, int n);

/* The number of ranks in use: the communicator's before the first resize. */
int orrery_resize_size(MPI_Comm comm);

/* A safe point of the program, for instance between two iterations: if somebody asked for another
 * number of ranks, changes it like orrery_resize(). The ranks agree by a sum that one call begins
 * and the next one ends, so a demand is met two points after it was made at the latest, and no rank
 * waits for another one that is less than a point behind. [waits] for those that are further
 * behind.
 *
 * In a run that follows its process set (orrery_elastic_start()), processes join and leave here,
 * too.
 *
 * The number of ranks in use then; 0: this process leaves the run (orrery_elastic_start());
 * -errno as orrery_resize() returns it. A demand that cannot be met is dropped after a message, and
 * the number stays as it was; also one to take back a rank that owns data that do not follow
 * (orrery_resize_switch() returns -EBUSY then), whose data that follow come back to it. If the
 * ranks cannot go on with new processes (-EINVAL, -ENOTSUP), those end, and the run goes on. */
int orrery_resize_point(MPI_Comm comm);

/* Asks for n ranks at a later point. Only rank 0 may ask, at any time, in any thread; of several
 * demands between two points, the last one counts. 0; -EINVAL after a message on another rank, or
 * if n is less than 1 or more than the communicator has. */
int orrery_resize_ask(MPI_Comm comm, int n);

/* ---- more processes, and fewer ---- */

/* [waits] The runtime goes on with another communicator, which has more processes behind those that
 * are there, or lacks some from the end. All ranks of the old communicator call it at the same
 * place among their insertions: those that stay with the new one, those that leave with
 * MPI_COMM_NULL. Waits until all that was inserted is complete on all of them. Data keep their
 * owners, tags and copies, and the number of ranks in use stays, or becomes the new communicator's
 * if that is less. The program may free the old communicator then.
 *
 * Meanwhile a new process calls starpu_mpi_init_conf() with the new communicator. Others tell it
 * how many ranks are in use, and where the program is, for instance by MPI_Bcast(). It calls
 * orrery_resize() with that number first, registers its data like the others, and lets them follow;
 * then all ranks call orrery_resize() with a larger number. A process that leaves calls
 * starpu_mpi_shutdown(), and no other function of the MPI layer. In an elastic run
 * (doc/dynamic.md), both are communicators of process sets.
 *
 * If the ranks refuse, starpu_mpi_init_conf() returns -ECANCELED in the new processes, which have
 * nothing to do and end, or begin with another communicator. If a new process cannot begin, its
 * starpu_mpi_init_conf() returns why, and all others get -ECANCELED.
 *
 * 0, or -errno after a message, and nothing has changed. If one rank refuses, all do:
 * -EBUSY if a rank that leaves owns data: let them follow and call orrery_resize() before, or
 * unregister them. -EINVAL if ranks would become others, or if messages have used another
 * communicator that is not freed. -ENOTSUP while load balancing, checkpoints, a faked rank or
 * STARPU_MPI_DRIVER_CALL_FREQUENCY are in use. -ECANCELED if a new process cannot begin. -ENOMEM.
 * Without asking the others, so that they wait: -EDEADLK in a task or callback, -ENODEV. */
int orrery_resize_switch(MPI_Comm comm);

/* ---- runs that follow their process set ---- */

/* [waits] Begins an elastic run (`orrery run --elastic`, `orrery sim --elastic`) whose resize
 * points follow the resource manager, so that a task program need not know process sets: when it
 * gives processes, orrery_resize_point() grows the run; when it takes some back, the point shrinks
 * it. Processes start while tasks go on; all ranks are in use after a growth. Data that follow move
 * as orrery_resize() moves them. A program calls it instead of starpu_mpi_init_conf() and has no
 * session of its own for its main set. argc, argv and conf are passed on.
 *
 * *comm becomes the communicator of the processes of the run. Each change replaces it; so the
 * variable lives, and the program reads it anew after each point and keeps no copy. NULL: the
 * program does not want to know it.
 *
 * state, of `bytes` bytes, is what a new process must know to go on with the others, for instance
 * the number of the next iteration. It is read from rank 0 at the point where processes join, and
 * overwritten in these processes, which register their data and call the same point first:
 *
 *     int t = 0, joined = orrery_elastic_start(&argc, &argv, NULL, &comm, &t, sizeof(t));
 *     ...register data with owners for orrery_resize_size(comm) ranks, and let them follow...
 *     for (; t < steps && orrery_resize_point(comm) > 0; t++)
 *             ...insert the tasks of step t...
 *     ...unregister data...
 *     orrery_elastic_end();
 *
 * A process whose point returned 0 leaves: *comm is MPI_COMM_NULL, it owns nothing, and it is to
 * unregister its data and call orrery_elastic_end(). Which processes a host has that is taken back
 * is the resource manager's affair. If others than the last ranks leave, the last ones take their
 * places, so a process may have another rank after a point, which *comm knows; it asks for it anew.
 *
 * Returns 0 in a process that was there from the beginning, 1 in one that joined; -ECANCELED in one
 * that joined too late, or that the others refuse: it is to end, without a call of the runtime.
 * Otherwise -errno after a message: -ENODEV if the run is not elastic, -ENOSYS if the program was
 * not linked with orrery-dyn (`orrery cc --elastic`), -EBUSY if the MPI layer has been started,
 * -EIO after a failure of the process sets, or what starpu_mpi_init_conf() returns. */
int orrery_elastic_start(int *argc, char ***argv, struct starpu_conf *conf, MPI_Comm *comm,
			 void *state, size_t bytes);

/* [waits] Ends the runtime and the session of a run that orrery_elastic_start() began: all ranks
 * call it, and each process that leaves by itself. Processes that were being started for the run
 * end. MPI itself ends with the process, if nobody ends it before. 0; -ENODEV without
 * orrery_elastic_start(), -EDEADLK in a task or callback. */
int orrery_elastic_end(void);

/* Counts of the resizes of this rank since the MPI layer was started. */
struct orrery_resize_stats {
	uint64_t resizes;    /* changes of the number of ranks in use */
	uint64_t given;      /* data that got another owner than this rank */
	uint64_t taken;      /* data that got this rank as owner */
	uint64_t sent;       /* of those given, data whose value had to be sent */
	uint64_t sent_bytes; /* their payloads, without packing */
};

/* Fills in *stats. Needs no other rank. */
int orrery_resize_get_stats(struct orrery_resize_stats *stats);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
