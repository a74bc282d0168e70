/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process's part of an elastic run, and its requests to the registry.
 *
 * Invariant: the client exists from the first session of a process to the end of the process. */
#ifndef ORR_DYN_CLIENT_H
#define ORR_DYN_CLIENT_H

#include "orrery_dyn.h"
#include "dyn/words.h"

struct orrery_dyn_session {
	int number; /* in Fortran */
};

struct orr_dyn_client {
	int uid, dynamic;
	struct orrery_dyn_session **sessions; /* by number - 1; NULL where one ended */
	int nsessions;
};

/* The client of this process, NULL without a session. */
struct orr_dyn_client *orr_dyn_client(void);
/* [waits] The same; begins it. NULL after a message. */
struct orr_dyn_client *orr_dyn_client_begin(void);
/* [waits] Asks the registry and ends the request. Returns MPI_SUCCESS, or MPI_ERR_ARG after the
 * message that the registry answered, which names the function. */
int orr_dyn_ask(const char *function, struct orr_dyn_words *request, struct orr_dyn_words *answer);
/* MPI_SUCCESS, or an error after a message: the session is none, or the name of a set is NULL. */
int orr_dyn_check(const char *function, MPI_Session session, const char *set);
/* Appends the keys and values of an info object, which may be MPI_INFO_NULL. */
void orr_dyn_words_info(struct orr_dyn_words *words, MPI_Info info);
/* A new info object with the keys and values that begin at that place. */
int orr_dyn_info_new(const struct orr_dyn_words *words, int place, MPI_Info *info);

#endif
