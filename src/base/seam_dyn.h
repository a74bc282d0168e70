/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The seam for process sets that grow and shrink: what the interface (src/dyn) asks of its world.
 * Implemented in src/sys/dyn_*.c (Open MPI, sockets) and sim/sys/run/sim_dyn.c (SMPI).
 *
 *   [waits]  may give the processor away.
 *
 * Invariant: processes are named by their uids (dyn/sets.h) in both worlds. */
#ifndef ORR_BASE_SEAM_DYN_H
#define ORR_BASE_SEAM_DYN_H

#include <mpi.h>

struct orr_dyn_words;

/* True if the process belongs to an elastic run. */
int orr_sys_dyn_on(void);
/* The place where the calling process keeps its part of the interface; NULL until it began. */
void **orr_sys_dyn_slot(void);
/* [waits] Initialises MPI if the program has not done so, and makes the process known to the
 * registry. 0, or -1 after a message. */
int orr_sys_dyn_enter(void);
/* [waits] Sends a request to the registry and fills in its answer. */
void orr_sys_dyn_call(const struct orr_dyn_words *request, struct orr_dyn_words *answer);
/* [waits] Starts n processes of this program, which say that they are of that start of the
 * registry's; hosts: where, as HOST:N,HOST:N, or NULL. 0, or -1 after a message. */
int orr_sys_dyn_spawn(int n, int start, const char *hosts);
/* The world of this process is that link (dyn/links.h), with these processes. */
void orr_sys_dyn_world(int link, const int *uids, int n);
/* The group of these processes: 0, or an error class of MPI. */
int orr_sys_dyn_group(const int *uids, int n, MPI_Group *group);
/* The processes of a group, allocated, and their number; -1: one of them is not known. */
int orr_sys_dyn_uids(MPI_Group group, int **uids);
/* [waits] A communicator of these processes by that plan, which all of them got: answer.w[1] is its
 * number, the plan follows. 0, or an error class of MPI. */
int orr_sys_dyn_comm(const struct orr_dyn_words *answer, const int *uids, int n, MPI_Comm *comm);
/* Calls f(arg) in a thread of its own. 0, or -1: there cannot be one. */
int orr_sys_dyn_thread(void (*f)(void *), void *arg);
/* Ends a process that is not wanted after all. */
void orr_sys_dyn_leave(void) __attribute__((noreturn));
/* A message to people, one line. */
void orr_sys_dyn_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
