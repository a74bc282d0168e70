/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state that a process of the system has for itself, kept once for each rank, because all ranks
 * share one process: the state behind functions of the C library (sim/launcher/interpose_own.c),
 * and what the system keeps for a process, which is exchanged when another rank's actor runs.
 *
 * Invariant: the system's and the C library's variables (environ, errno, optind, working directory,
 * mask of permissions, locale, streams of C++, the unfinished line of standard output) are those of
 * the rank whose actor ran last. */
#ifndef ORR_SIM_OWN_H
#define ORR_SIM_OWN_H

#include "actors/sim_own_record.h"

struct orr_sim_actor;
struct orr_sim_rank;

/* The program uses the C++ library: its streams are exchanged, too. */
extern int orr_sim_own_streams;

#pragma GCC visibility push(default)

/* Of the rank whose actor runs, or one for the time before and after. Never NULL. */
struct orr_sim_own *orrery_sim_own(void);
/* True if a rank's actor runs: else functions do what they do in any process. */
int orrery_sim_in_rank(void);
/* The absolute path of the program. */
const char *orrery_sim_program(void);
/* chdir(path), or fchdir(fd) if path is NULL, and umask(mask), for this rank. */
int orrery_sim_chdir(const char *path, int fd);
int orrery_sim_umask(int mask);
/* setlocale() of the rank. */
char *orrery_sim_setlocale(int category, const char *name);
/* Bits: 1 while a kernel that is a part of its driver runs; 2 if the program may have regions of
 * OpenMP. */
extern int orrery_sim_asked;
/* SimGrid gives the processor to the actor of that context. */
void orrery_sim_switched(void *context);

#pragma GCC visibility pop

/* The actor begins, in its own context; it ends. */
void orr_sim_own_enter(struct orr_sim_actor *a);
/* The running context is this one, in which actors run by turns. */
void orr_sim_own_know(struct orr_sim_context *c);
/* The actor (NULL: none) goes on in the context that runs. */
void orr_sim_own_become(struct orr_sim_actor *a);
void orr_sim_own_leave(struct orr_sim_actor *a);
/* The actor that runs, in its own thread of the system; NULL: none does. */
struct orr_sim_actor *orr_sim_own_running(void);
/* The same in another thread, as those of OpenMP are, which run while an actor does. */
struct orr_sim_actor *orr_sim_own_beside(void);
/* The actor gets the processor next: spares the search for its context. */
void orr_sim_own_expect(struct orr_sim_actor *a);
/* Another process begins on the rank: it has what a process has at its start. */
void orr_sim_own_renew(struct orr_sim_rank *r);
/* Writes the unfinished lines of all ranks to the buffer of standard output. */
void orr_sim_own_lines(void);
/* Ends the process, without calling anything. Other functions of the library must not call _exit(),
 * which is the rank's. */
void orr_sim_leave(int status) __attribute__((noreturn));

#endif
