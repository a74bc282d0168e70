/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interfaces between the files of the launcher. The launcher reads its options, loads platform
 * and program, creates the actors of the ranks and lets SimGrid run until the last rank's program
 * has ended.
 *
 * Invariant: every mistake of the user's is found before the first actor runs and ends in
 * launcher_fail: one message, status 1. */
#ifndef ORR_LAUNCHER_H
#define ORR_LAUNCHER_H

#include "glue.h"
#include "actors/sim_actor.h"
#include "actors/sim_rank.h"

struct image;

struct launcher_options {
	int n;                    /* hosts in use; of an elastic run at most */
	int max;                  /* --max, 0: not given */
	const char *platform;     /* NULL: the default cluster */
	const char *like;         /* a network of networks.def for that, or NULL */
	const char *machine;      /* NULL: each host's property, else "default" */
	const char *machine_path; /* colon-separated, or NULL */
	int cpus;                 /* 0: the machine's */
	long stack_kib;           /* of main, 0: chosen by the number of ranks */
	double memory_mib;        /* the most that the simulation may take, 0: not given */
	double noise_factor;      /* of --noise, negative: not given */
	int seed_given;
	int mpich;         /* --collectives */
	int network_given; /* --network */
	const char **cfg;  /* SimGrid settings, ncfg of them */
	int ncfg;
	char **program; /* program and its arguments */
	int nprogram;
};

/* ---- options.c ---- */

/* Fills o and the settings of orr_sim; does not return when there is nothing to run. */
void launcher_options_read(struct launcher_options *o, int argc, char **argv);
/* Takes the model of the network that the platform asks for by that name, or NULL, unless the user
 * chose one. */
void launcher_options_network(const struct launcher_options *o, const char *name);
/* True if the user gave this cost (enum orr_cost), which then replaces each machine's measurement.
 */
int launcher_cost_given(int cost);
/* The whole number in a variable of the environment; `without` when it is not set. */
double launcher_variable_whole(const char *name, double least, double most, double without);

/* ---- timers.c ---- */

/* Something may have made a file ready, or interrupted a wait: those who wait for files look again.
 */
void launcher_timers_changed(void);
/* True if the process has children: they may make a file ready in real time. */
int launcher_has_children(void);
/* Waits for the file as poll() with these events, at most that long (us < 0: no limit). Returns a
 * positive number, 0 after that time, or -1 with errno EINTR: a handler that was set without
 * SA_RESTART has run, or any one while there is a limit. */
int launcher_wait_file(int fd, short events, double us);
/* Sends the rank of the caller a signal: for that thread, with that value or NULL. */
int launcher_signal(struct orr_sim_actor *to, int sig, const union sigval *sent);

/* ---- sockets.c ---- */

/* True if an actor runs, and the file is a socket. */
int launcher_is_socket(int fd);
/* The calls of the program. */
ssize_t __wrap_recv(int fd, void *buffer, size_t size, int flags);
ssize_t __wrap_send(int fd, const void *buffer, size_t size, int flags);

/* ---- noise.c ---- */

/* Completes the settings of variability. */
void launcher_noise_read(const struct launcher_options *o);
/* The factor by which everything that the rank computes takes longer. */
double launcher_noise_slowness(int rank);

/* ---- program.c ---- */

/* Reads the program and checks that it is one for the simulated world. */
void launcher_program_check(const char *path);
/* The number of maps of memory that the loader makes for a copy of it. */
long launcher_program_maps(void);
/* Loads a copy of that program for the rank of the calling main actor. Returns its main function.
 */
int (*launcher_program_load(struct orr_sim_rank *r))(int, char **);

/* Opens a file for a copy of an object and sets its path: in memory, below /proc/PID/ and that
 * folder with that number, or in the folder `keep`, by name and number of the rank's copy.
 * Returns -1 and sets errno. */
int launcher_copy_open(char *path, size_t room, const char *folder, int number, const char *keep,
		       int copy, const char *name);
/* Writes it; -1: errno. */
int launcher_copy_write(int fd, const char *p, size_t size);

/* ---- libraries.c ---- */

/* The program, as that object, was loaded for the first rank: finds its libraries. whole: copies
 * keep what debuggers read. */
void launcher_libraries_find(struct orr_sim_rank *r, void *object, const char *program, int whole);
/* Makes copies of them for another rank. Returns the program for that rank, NULL if nothing is
 * copied: it is as in its file. */
struct image *launcher_libraries_copy(const char *keep, int copy);
/* The rank's program was loaded, as that copy. */
void launcher_libraries_loaded(struct orr_sim_rank *r, int copy, int whole);

/* ---- scope.c ---- */

/* Hides from programs what liborrery-sim and SimGrid need. Called before the first is loaded. */
void launcher_scope_narrow(void);

/* ---- calls.c ---- */

/* The program of the rank has ended, which the others are told. */
void launcher_rank_ended(struct orr_sim_rank *r, int status);

/* ---- exits.c ---- */

/* Calls what the program of the rank wants to be called at its end. quick: for quick_exit(). */
void launcher_exits_run(struct orr_sim_rank *r, int status, int quick);
/* Unloads the program of a process that leaves an elastic run, if that was put off. Called by its
 * main actor when it has left the program for good. */
void launcher_exits_unload(struct orr_sim_rank *r);

/* ---- fail.c ---- */

/* Sets the failure of a node, if the environment asks for one. Called before the first actor runs.
 */
void launcher_fail_start(int nodes);

/* ---- fit.c ---- */

/* Reads the beginning of a file of the system into a text of that size, at most size - 1 bytes.
 * Returns 0, and an empty text, if there is none. For any thread; allocates nothing. */
int launcher_read_text(const char *path, char *text, size_t size);

/* Ends the run if its ranks alone do not fit into memory. */
void launcher_fit_check(const struct launcher_options *o);
/* True if the stacks may have pages that guard their ends, which are maps of memory. */
int launcher_fit_guards(int n);
/* Ends the run if it has taken more memory than it may. For the thread of the watch. */
void launcher_fit_look(void);

/* ---- live.c ---- */

/* Opens the run to questions of people, unless ORRERY_TOP=0 forbids them. */
void launcher_live_start(void);
/* [the watch's thread] Takes a question, hands the answer on when it is there. */
void launcher_live_look(void);
/* [the actors' thread] Answers, if somebody asks. */
void launcher_live_attend(void);

/* ---- watch.c ---- */

/* Starts the watch on programs that never wait. Called by the thread that runs all actors. */
void launcher_watch_start(void);

/* ---- member.c ---- */

/* Refuses that function of MPI where its caller is in a region of several threads of OpenMP. */
void launcher_region_check(const char *call);

/* ---- machines.c ---- */

/* Finds the machine of each rank. */
void launcher_machines_find(const struct launcher_options *o);

/* ---- ending.c, more in glue.h ---- */

/* Installs the handlers of signals, after SimGrid has installed its own. */
void launcher_ending_init(void);
/* Writes the report and ends the process with that status. */
void launcher_finish(int status) __attribute__((noreturn));

#endif
