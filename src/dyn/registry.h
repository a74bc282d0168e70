/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The registry of an elastic run: it knows its processes, their sets and dictionaries, the
 * resources that may be used, and the one change of resources that is pending. Both worlds have
 * one: a real run in a process of its own (tools/elastic.c), a simulated run in the simulator.
 *
 * Processes send requests, each with a ticket; the registry answers each once, at once or later. So
 * calls that are collective over a set need no messages between its processes.
 *
 * Requests and answers (words.h); every answer may be "error TEXT" instead:
 *   ready                          ok UID N PLACE DYNAMIC LINK, or leave: it is not wanted
 *   psetop OP N NAME... N SET... KEY VALUE...
 *                                  ok OP N NAME...; OP 0: refused; or spawn N: the process starts
 *                                  N others, and says spawned 1 or spawned 0, which has this answer
 *                                  (behind N the number of the start, and HOST:N,HOST:N: where)
 *   query COLL SET                 as psetop
 *   get COLL SET WAIT KEY...       ok KEY VALUE...
 *   set SET KEY VALUE...           ok
 *   finalize SET                   ok
 *   info SET                       ok SIZE DYNAMIC INCLUDED PRIMARY
 *   psets                          ok NAME...
 *   members SET                    ok UID...
 *   join TAG UID...                ok NUMBER PLAN... (links.h)
 *   port NUMBER PIECE TEXT         ok
 *   ask NUMBER PIECE               ok TEXT, when it is known
 *
 * A peer's words are checked here, whatever it knows to authenticate itself with: names, numbers
 * and counts that it cannot have are answered with an error, and what it makes the registry keep
 * has a limit.
 *
 * Invariant: at most one change is pending, and a process that runs gets one answer for each
 * request. */
#ifndef ORR_DYN_REGISTRY_H
#define ORR_DYN_REGISTRY_H

#include "dyn/words.h"

/* A number of processes that is above this one is a mistake. */
#define ORR_DYN_MOST_PROCS (1 << 20)

/* Hosts whose room the registry knows. */
#define ORR_DYN_MOST_HOSTS 65536

struct orr_dyn_registry;

/* The registry's requests to its world. */
struct orr_dyn_host {
	void *arg;
	void (*reply)(void *arg, int uid, unsigned ticket, const struct orr_dyn_words *answer);
	/* One line for people: what was refused, and why. */
	void (*say)(void *arg, const char *line);
	/* Seconds since the run began. */
	double (*now_s)(void *arg);
};

/* A run that begins with n processes and may use `pool`. */
struct orr_dyn_registry *orr_dyn_registry_new(const struct orr_dyn_host *host, int n, int pool);
void orr_dyn_registry_free(struct orr_dyn_registry *r);
/* A process that was expected is there: number `place` of those of that start (0: the first ones of
 * the run). Returns its uid, or -1: it is not wanted, and has to end. */
int orr_dyn_arrive(struct orr_dyn_registry *r, int start, int place, const char *where);
/* True if processes are expected that have not arrived. */
int orr_dyn_expecting(const struct orr_dyn_registry *r);
/* The same, those included with which the run begins. */
int orr_dyn_awaits(const struct orr_dyn_registry *r);
/* A process of that start has ended before it arrived. */
void orr_dyn_start_failed(struct orr_dyn_registry *r, int start);
void orr_dyn_request(struct orr_dyn_registry *r, int uid, unsigned ticket,
		     const struct orr_dyn_words *words);
/* Nobody waits for the answer to that request any more. */
void orr_dyn_forget(struct orr_dyn_registry *r, int uid, unsigned ticket);
/* True if there is such a process, and it runs. */
int orr_dyn_runs(const struct orr_dyn_registry *r, int uid);
/* A process has ended. Returns how the run goes on: without it, not at all because the process
 * failed while others need it, or not at all because it failed and was the last one. */
enum orr_dyn_end { ORR_DYN_GOES_ON, ORR_DYN_NEEDED, ORR_DYN_NONE_LEFT };
enum orr_dyn_end orr_dyn_gone(struct orr_dyn_registry *r, int uid, int failed);
/* The resource manager asks: grow N, shrink N, leave HOST, or pool N. 0, or -1 after saying why
 * not. */
int orr_dyn_demand(struct orr_dyn_registry *r, const struct orr_dyn_words *words);
/* The host has room for so many processes, 0: it must not be used any more. From the first such
 * call on, the registry says where processes begin, and a growth that lacks room waits for more of
 * it, or for orr_dyn_deny(). 0, or -1: what is said makes no sense. */
int orr_dyn_room(struct orr_dyn_registry *r, const char *host, int room);
/* Processes that a growth waits for because they lack room; 0: none. */
int orr_dyn_lacks(const struct orr_dyn_registry *r);
/* They get none, for that reason: the growth is refused. */
void orr_dyn_deny(struct orr_dyn_registry *r, const char *why);
/* Processes on that host that have not ended. */
int orr_dyn_on_host(const struct orr_dyn_registry *r, const char *host);
/* Pairs of a host and its room. */
const struct orr_dyn_words *orr_dyn_rooms(const struct orr_dyn_registry *r);
/* True if two names mean one host: they are equal, or one has a domain behind the other. */
int orr_dyn_same_host(const char *a, const char *b);
/* The host is not there any more: processes that are started from now on are turned away there. */
void orr_dyn_away(struct orr_dyn_registry *r, const char *name);
/* Processes that have not ended. */
int orr_dyn_registry_alive(const struct orr_dyn_registry *r);

#endif
