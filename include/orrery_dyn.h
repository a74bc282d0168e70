/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Process sets that grow and shrink: MPI sessions as far as such programs need them, and version
 * v2a of the interface for dynamic process sets. doc/dynamic.md explains both by an example.
 *
 * A program that includes only mpi.h gets this header from `orrery cc --elastic`; it runs under
 * `orrery run --elastic` or `orrery sim --elastic`. The library (orrery-dyn) does not need the task
 * runtime.
 *
 * All functions return MPI_SUCCESS or an error class of MPI, after a message on standard error that
 * names the mistake. Outputs are written on success only. Any thread may call them; those marked
 * [primary] are for one process of the set, those marked [all of SET] are collective over that set:
 * all of its processes call them in the same order, with the same arguments.
 *
 * Process sets have names: mpi://WORLD is the set of the processes that were started together with
 * the caller, mpi://SELF the caller alone. The others got their names from operations. */
#ifndef ORRERY_DYN_H
#define ORRERY_DYN_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* An MPI of version 4 has sessions itself, and its own are used. So has Open MPI 5, which says that
 * it is of version 3.1. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define ORRERY_DYN_MPI_SESSIONS 1
#else
#define ORRERY_DYN_MPI_SESSIONS 0
#endif

#if !ORRERY_DYN_MPI_SESSIONS
/* ---- sessions ---- */

typedef struct orrery_dyn_session *MPI_Session;
#define MPI_SESSION_NULL ((MPI_Session) 0)
#define MPI_MAX_PSET_NAME_LEN 512
#ifndef MPI_MAX_STRINGTAG_LEN
#define MPI_MAX_STRINGTAG_LEN 1024
#endif

/* Begins a session; MPI is initialised if it was not. info, errhandler: not used. In a process that
 * was started by an operation, returns when all that were started with it are there.
 * MPI_ERR_OTHER: the process does not belong to an elastic run. */
int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session);
/* Ends it and sets *session to MPI_SESSION_NULL. A process may end then, whatever others do. */
int MPI_Session_finalize(MPI_Session *session);
/* The number of process sets with the caller in them, and the name of number n, from 0. *length is
 * the room in name with the final 0, at least MPI_MAX_PSET_NAME_LEN for all names; 0: only returns
 * in *length what is needed. */
int MPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npsets);
int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *length, char *name);
/* The description of a set, in a new info object that the caller frees: mpi_size; mpi_dyn: its
 * processes were added to a run; mpi_included: the caller is in it; mpi_primary: the caller is the
 * one that asks for operations. But for the size, values are True or False. */
int MPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info);
/* The group of a set, which the caller frees. Until a communicator was made for it, a group with
 * processes that the caller is not connected to knows its size, the caller's rank in it, and how to
 * be compared and translated; other functions refuse it. */
int MPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *group);
/* [all of the group] A communicator for the group; processes that do not know each other are
 * connected. info, errhandler: not used. MPI_Comm_free() and MPI_Comm_disconnect() free it, each
 * process by itself. */
int MPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
			       MPI_Errhandler errhandler, MPI_Comm *comm);
/* The number of a session in Fortran, and back. */
MPI_Fint MPI_Session_c2f(MPI_Session session);
MPI_Session MPI_Session_f2c(MPI_Fint session);
#endif

/* ---- operations on process sets ---- */

enum {
	MPI_PSETOP_NULL = 0,
	MPI_PSETOP_ADD = 1,          /* new processes: [new] */
	MPI_PSETOP_SUB = 2,          /* processes leave: [leaving] */
	MPI_PSETOP_REPLACE = 3,      /* both: [leaving, new, the set that results] */
	MPI_PSETOP_MALLEABLE = 4,    /* the resource manager may grow and shrink the set: [] */
	MPI_PSETOP_GROW = 5,         /* ADD and UNION: [new, the set that results] */
	MPI_PSETOP_SHRINK = 6,       /* SUB and DIFFERENCE: [leaving, the set that results] */
	MPI_PSETOP_UNION = 7,        /* the first set, then what is new in the others: [union] */
	MPI_PSETOP_DIFFERENCE = 8,   /* the first set without the others: [difference] */
	MPI_PSETOP_INTERSECTION = 9, /* what is in all of them: [intersection] */
	MPI_PSETOP_SPLIT = 10        /* parts of the first set: one set for each size */
};

/* [primary] Asks for an operation on the sets. What it makes stands in brackets above. Keys of
 * info: mpi_num_procs_add (ADD, GROW, REPLACE), mpi_num_procs_sub (SUB, SHRINK, REPLACE): a number
 * of processes; those that leave are the last of the set. mpi_part_sizes (SPLIT): sizes with
 * commas, whose sum is the set's.
 *
 * *noutput 0: *output_sets becomes an array of names that the caller frees, with each name.
 * Otherwise the caller names the outputs itself, in *output_sets. *noutput becomes their number.
 *
 * The first six change resources. One change is pending at a time, until
 * MPI_Session_dyn_finalize_psetop(); a second one, or one for which there are no resources, is
 * refused: MPI_SUCCESS with *op MPI_PSETOP_NULL and *noutput 0. ADD, GROW and REPLACE return when
 * the new processes are in MPI_Session_init(). MPI_ERR_ARG: a set does not exist, or a key is
 * missing. */
int MPI_Session_dyn_v2a_psetop(MPI_Session session, int *op, char **input_sets, int ninput,
			       char ***output_sets, int *noutput, MPI_Info info);
/* [all of coll_pset] Whether a change of resources that involves input_pset is pending, as its
 * input or as an output: *type is its operation, *output_psets an array of names that the caller
 * frees, with each name. Otherwise *type is MPI_PSETOP_NULL and *noutput 0. If input_pset is
 * malleable, what the resource manager asks for begins here. */
int MPI_Session_dyn_v2a_query_psetop(MPI_Session session, char *coll_pset, char *input_pset,
				     int *type, char ***output_psets, int *noutput);
/* [primary] The change that involves the set is complete for the application: another one may be
 * asked for. Processes that leave do not count as resources from here on. MPI_ERR_ARG: none is
 * pending. */
int MPI_Session_dyn_finalize_psetop(MPI_Session session, char *pset_name);

/* ---- dictionaries of process sets ---- */

/* [primary] Publishes the keys and values of info for the set. */
int MPI_Session_set_pset_data(MPI_Session session, const char *pset_name, MPI_Info info);
/* [all of coll_pset_name] Looks keys up that were published for pset_name: all processes get the
 * same values, in a new info object that the caller frees. wait: until all keys are there;
 * otherwise keys that are missing are left out. */
int MPI_Session_get_pset_data(MPI_Session session, char *coll_pset_name, char *pset_name,
			      char **keys, int nkeys, int wait, MPI_Info *info_used);

/* ---- the same without blocking ----
 * Arguments must stay until the request is complete; outputs are written then. With an MPI of a
 * thread level below MPI_THREAD_MULTIPLE, the request is complete at once. A missing session or
 * name is an error of the call; other errors are those of the function that completes the request,
 * which MPI's default error handler makes fatal. */

int MPI_Session_dyn_v2a_psetop_nb(MPI_Session session, int *op, char **input_sets, int ninput,
				  char ***output_sets, int *noutput, MPI_Info info,
				  MPI_Request *request);
int MPI_Session_dyn_v2a_query_psetop_nb(MPI_Session session, char *coll_pset, char *input_pset,
					int *type, char ***output_psets, int *noutput,
					MPI_Request *request);
int MPI_Session_get_pset_data_nb(MPI_Session session, char *coll_pset_name, char *pset_name,
				 char **keys, int nkeys, int wait, MPI_Info *info_used,
				 MPI_Request *request);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
