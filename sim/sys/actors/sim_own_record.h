/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state that a process has for itself, as the record of a rank (sim_own.h).
 *
 * Invariant: stated in sim_own.h. */
#ifndef ORR_SIM_OWN_RECORD_H
#define ORR_SIM_OWN_RECORD_H

#include <locale.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define ORR_SIM_NSIGNALS 65
/* A signal in a set. The C library has room for 1,024 in one. */
#define ORR_SIM_SIGNAL(sig) ((uint64_t) 1 << ((sig) -1))

struct orr_sim_actor;
struct orr_sim_streams;

/* A context of SimGrid, and the actor that runs in it; NULL: nobody does just now. */
struct orr_sim_context {
	uint64_t key; /* 0: it has not begun */
	struct orr_sim_actor *actor;
};

/* A function that the end of a rank calls. */
struct orr_sim_exit {
	struct orr_sim_exit *next;
	void (*f)(int status, void *arg);
	void *arg;
	int quick; /* by quick_exit() only */
};

/* State of the C library that few programs ask for. */
struct orr_sim_rare {
	/* random numbers; the C library's own beginning where not seeded */
	struct random_data random;
	char random_state[128];
	struct drand48_data drand48;
	/* results that stay in place until the next call */
	char tmpnam[32], ctime[64];
	struct tm tm;
};

struct orr_sim_own {
	/* what is exchanged: first, because each change of ranks looks at it */
	char **environment; /* as `environ`, once the rank has one of its own */
	int has_environment;
	int optind, opterr, optopt;
	char *optarg;
	int folder;      /* descriptor of the working directory, -1: the launcher's */
	int mask;        /* umask(), -1: the launcher's */
	locale_t locale; /* of setlocale(), NULL: "C" */
	struct orr_sim_streams
		*streams; /* of C++, NULL: as the library made them (sim_streams.h) */
	size_t line_length, line_room;
	char *line;       /* what standard output got since the last newline, while others run */
	char **allocated; /* the last environment that setenv() and its relatives made, or NULL */
	struct orr_sim_rare *rare; /* made when asked for (interpose_own.c) */
	char *strtok_at;
	/* signals: NULL: all have their default */
	struct sigaction *actions;
	uint64_t blocked, pending; /* ORR_SIM_SIGNAL of each */
	uint64_t told;             /* that were handled, see ending.c */
	/* of the next raise(), which forgets them: the thread that the signal is for, NULL: the
	 * caller; what a timer sends with it, or NULL */
	struct orr_sim_actor *to;
	const union sigval *sent;
	/* The number of times that a handler has run which interrupts all threads: the main one has
	 * left them. The second number is that of handlers without SA_RESTART. */
	unsigned handled[2];
	double alarm_us, alarm_interval_us; /* when SIGALRM comes, 0: not; and then again */
	unsigned alarms;                    /* how often that was set */
	struct orr_sim_exit *exits;
	int ending; /* its exit functions run */
};

#endif
