/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The border between the launcher's C and its C++ (glue.cpp, background.cpp), read by both, so that
 * the compiler checks both sides of each call.
 *
 * Invariant: only declarations that mean the same in both languages. */
#ifndef ORR_LAUNCHER_GLUE_H
#define ORR_LAUNCHER_GLUE_H

#include <stddef.h>
#include <simgrid/host.h>

#ifdef __cplusplus
extern "C" {
#endif

struct orr_sim_noise;

/* ---- glue.cpp ---- */

/* Creates SimGrid's engine, which installs handlers of signals. */
void launcher_engine_init(void);
/* Applies n settings of SimGrid or SMPI, texts KEY:VALUE. */
void launcher_engine_configure(const char *const *settings, int n);
/* Loads the file, or builds a cluster of n hosts if file is NULL, with a network like that, or
 * NULL. Returns the number of hosts. */
size_t launcher_platform_load(const char *file, const char *like, int n);
/* The host that the platform declares in place i. */
sg_host_t launcher_host(size_t i);
/* Starts SMPI on the platform; programs may choose their locale from here on. */
void launcher_smpi_start(void);
/* Runs the simulation until nothing else can happen. */
void launcher_run(void);

/* ---- world.cpp ---- */

/* Sets SMPI's variable MPI_COMM_WORLD to the world of that instance before any of its ranks calls
 * MPI_Init(). Call it before the first actor is started. */
void launcher_world_find(const char *instance);
/* [by the main actor of a rank] Returns when that has happened. */
void launcher_world_await(void);

/* ---- equal.cpp ---- */

/* From now on, messages of SimGrid's own model that share a link get equal parts of it. */
void launcher_share_equally(void);

/* ---- background.cpp ---- */

/* Puts load on the links of the platform, which must be complete; v must outlive the run. Returns
 * what to call at the start of messages that SimGrid does not see. */
void (*launcher_background_start(const struct orr_sim_noise *v))(void);

/* ---- loads.cpp ---- */

/* From now on, what links give in SimGrid's own model is told of (sim/sys/net/sim_load.h), where
 * messages of the runtime are in it. The platform must be complete. */
void launcher_loads_start(void);

/* ---- early.cpp ---- */

/* From now on, messages of the program's own MPI that their sender does not wait for travel before
 * their receive is posted. The platform must be complete. */
void launcher_early_start(void);
/* [before the first actor] Fails where SimGrid's description of a message is another than ours. */
void launcher_early_test(void);
/* The time that the running actor still copies what it sent, which it is told once. */
double launcher_early_owed_us(void);
/* A message has left so, or waits until it has arrived. */
int launcher_early_waits(void);

/* ---- machines.c ---- */

/* The time of a copy of so many bytes into a buffer of MPI, or out of it, on that host. */
double launcher_buffer_us(sg_host_t host, double bytes);

/* ---- ending.c ---- */

/* Ends the process with one message and status 1. */
void launcher_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* From this call until launcher_accepted(), SimGrid reads a setting or file of the user's, and an
 * abort of SimGrid ends in launcher_refused() with SimGrid's own complaint. The message names the
 * culprit and ends with the remedy; both texts must live until then. */
void launcher_judge(const char *culprit, const char *remedy);
void launcher_accepted(void);
/* Fails with a message of the culprit, the reason and the remedy. */
void launcher_refused(const char *reason) __attribute__((noreturn));
/* Ends a run in which no actor can continue: reports what each rank waits for. */
void launcher_deadlock(void) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
#endif
