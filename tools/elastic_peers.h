/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The connections of the registry of an elastic run: strangers, processes and their threads, and
 * resource managers (elastic_manager.h).
 *
 * Whoever connects is a stranger until it has said the run's key: it gets a small buffer and a
 * short time, and when there are many of them the oldest one goes. Together they get a small share
 * of the time, except while processes are expected. A peer, too, has a budget of requests, of bytes
 * that it sends and of bytes that wait for it.
 *
 * Invariant: nothing here waits; what others send costs memory and time within these limits. */
#ifndef ORR_TOOLS_ELASTIC_PEERS_H
#define ORR_TOOLS_ELASTIC_PEERS_H

#include <sys/types.h>
#include "dyn/registry.h"
#include "dyn/script.h"
#include "elastic_stream.h"

enum orr_peer_role {
	ORR_PEER_STRANGER,
	ORR_PEER_EARLY,
	ORR_PEER_PROCESS,
	ORR_PEER_THREAD,
	ORR_PEER_MANAGER
};

struct orr_peer {
	struct orr_stream s;
	enum orr_peer_role role;
	int uid, start; /* which start its process is of, 0: of the first ones */
	long pid;       /* of its process, as that says */
	int here;       /* its process is on this machine */
	char *host;     /* of its process */
	double since_s; /* when it connected */
	int npending;   /* requests without an answer */
	int grants;     /* a manager that says what room there is */
	int broken;     /* to be closed: it does not read its answers, or is gone */
	int status, said_bye;
	double gone_s;  /* when its process ended, 0: not; the registry learns of it a little later
			 */
	char line[256]; /* of a manager */
	size_t length;
};

/* A request under way. The registry knows it by a number of ours that no other has. */
struct orr_ticket {
	int peer; /* -1: free */
	unsigned ours, theirs;
};

struct orr_peers {
	struct orr_dyn_registry *registry;
	struct orr_peer *v; /* fd -1: free */
	int n;
	struct orr_ticket *tickets;
	int ntickets;
	unsigned last_ticket;
	int door, manager_door; /* -1: none */
	double closed_until_s;  /* the door, and to strangers */
	struct orr_dyn_script script;
	int next_event;
	double start_s;
	char key[33];
	int status;  /* of the first process that failed */
	int stop;    /* the run cannot go on */
	int finish;  /* mpirun has lost processes: 1: it has to be ended, 2: its status does not
			count */
	int arrived; /* a process of the run has called MPI_Session_init() */
	void (*end_process)(pid_t pid);           /* of a host that failed */
	void (*say)(void *arg, const char *line); /* one line for people; arg: these peers */
};

double orr_peers_now_s(void);
/* The registry's answer to a request. arg: the peers. */
void orr_peers_reply(void *arg, int uid, unsigned ticket, const struct orr_dyn_words *answer);
/* A new connection. Returns its place. */
int orr_peers_new(struct orr_peers *p, int fd, enum orr_peer_role role);
int orr_peers_is_open(const struct orr_peer *c);
/* One line for people. */
void __attribute__((format(printf, 2, 3))) orr_peers_say(struct orr_peers *p, const char *fmt, ...);
/* Ends a connection, and forgets what it asked. */
void orr_peers_end(struct orr_peers *p, int at);
/* Takes what has come on a connection that says words, and serves some of it. */
void orr_peers_serve(struct orr_peers *p, int at);
/* Waits until somebody wants something, or a moment, and serves all. */
void orr_peers_serve_all(struct orr_peers *p);
/* Ends connections that do not say the key in time or do not take their answers, and tells the
 * registry of processes that ended. */
void orr_peers_tidy(struct orr_peers *p);
/* Without descriptors, the oldest stranger gives up one, or the door is closed for a moment. */
void orr_peers_no_descriptors(struct orr_peers *p);
/* Closes all connections. The registry stays. */
void orr_peers_close(struct orr_peers *p);

#endif
