/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls of the executable orrery-sim-launcher into liborrery-sim: the launcher itself, and what
 * takes the place of some calls of the program. The executable holds only interpose*.c, because the
 * loader looks there first; all else is in the library, whose other internal names are hidden. It
 * gets these functions by the table of table.h.
 *
 * Invariant: for the executable of the same build and for wrapped.c, not for programs. */
#ifndef ORR_LAUNCHER_CALLS_H
#define ORR_LAUNCHER_CALLS_H

#include <sys/time.h>
#include <time.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>

struct orr_sim_actor;

/* The member of its communicators that the caller is for SMPI. */
struct orr_sim_member {
	sg_actor_t actor;
	long pid;
	sg_host_t host;
};
/* The questions of SMPI. */
enum orr_sim_asks { ORR_SIM_ASKS_ACTOR, ORR_SIM_ASKS_PID, ORR_SIM_ASKS_HOST };

#pragma GCC visibility push(default)

/* The launcher's main(). */
int orrery_sim_main(int argc, char **argv);
/* Becomes `orrery sim`, for the program for the simulated world that this process was started with.
 */
int orrery_sim_alone(int argc, char **argv) __attribute__((noreturn));
/* exit(), quick_exit(), _exit(): ends the rank. */
void orrery_sim_exit(int status) __attribute__((noreturn));
void orrery_sim_quick_exit(int status) __attribute__((noreturn));
void orrery_sim_exit_now(int status) __attribute__((noreturn));
/* MPI_Abort(): ends the simulation. */
void orrery_sim_abort(int code) __attribute__((noreturn));
/* clock_gettime(), gettimeofday() and time(): virtual time since the start of the simulation, all
 * clocks the same. */
int orrery_sim_clock_gettime(clockid_t clock, struct timespec *t);
int orrery_sim_gettimeofday(struct timeval *t);
/* starpu_timing_now(). */
double orrery_sim_now_us(void);
time_t orrery_sim_time(time_t *t);
/* CommImpl::isend(): own(result, message), and a message that may travel before its receive is
 * posted leaves. */
void *orrery_sim_isend(void *result, void *message, void *(*own)(void *, void *) );
/* CommImpl::start(), and the function that ends a message: own(message), and those who want to know
 * are told. */
void *orrery_sim_comm_start(void *message, void *(*own)(void *) );
void orrery_sim_comm_end(void *message, void (*own)(void *));
/* An actor sets something of SimGrid's: runs the function object of C++ that does so. */
void orrery_sim_access(const void *code);
/* Comm::init_smp(), get_intra_comm() and get_leaders_map() of a communicator that flat.cpp treats:
 * 0 or NULL: SMPI's own. */
int orrery_sim_flat_nodes(void *comm);
void *orrery_sim_flat_node(const void *comm);
int *orrery_sim_flat_firsts(const void *comm);
/* True if the communicator has one rank. */
int orrery_sim_is_single(void *comm);
/* MPI_Init(). */
int orrery_sim_init(int *argc, char ***argv);
/* A call of the program asks SMPI for more bytes than its sizes count: ends the simulation. */
void orrery_sim_too_large(const char *call, double bytes) __attribute__((noreturn));
/* After MPI_Test() or one of its relatives returned ret, having found something (flag) or not: lets
 * virtual time go by. Returns ret. */
int orrery_sim_polled(int ret, int flag);
/* After a call of MPI that may have sent returned ret: the caller spends the time that it took to
 * copy what it sent into buffers (early.cpp). Returns ret. */
int orrery_sim_sent(int ret);

/* The rank whose getpid() is that, or -1; the rank that runs. */
int orrery_sim_rank_of_pid(int pid);
int orrery_sim_my_rank(void);
int orrery_sim_getpid(void);
/* The most main memory that the runtime of the rank has had at a time. */
long orrery_sim_memory_kib(void);
/* alarm() and setitimer(): SIGALRM after first_us of virtual time, and then every interval_us. 0:
 * never. */
void orrery_sim_alarm(double first_us, double interval_us);
/* Returns how long it has to go, 0: none was set; *interval_us: how long the next ones have. */
double orrery_sim_alarm_left(double *interval_us);
/* A signal that the program handles comes: what the runtime is doing is told, once. */
void orrery_sim_tell_handled(int sig);
/* The default action of raise(): ends the rank, or returns 0. */
int orrery_sim_default_signal(int sig);
/* kill() of the own process: the signal is for the rank's main thread. */
int orrery_sim_signal_send(int sig);
/* The caller waits until a signal of the rank comes, or that long (us < 0: no limit). */
void orrery_sim_signal_wait(double us);
/* A signal has come that stays pending; a handler has run, for that thread (NULL: the caller). */
void orrery_sim_signal_came(void);
void orrery_sim_signal_handled(struct orr_sim_actor *to, int restarts);
/* The number of times that a handler has run for the caller, and those that were set without
 * SA_RESTART. */
unsigned orrery_sim_handled(void);
unsigned orrery_sim_handled_to_end(void);
/* True if this process simulates, and is no child of one that does. */
int orrery_sim_is_simulator(void);
/* Sleeps so many microseconds. A thread of the program, which a kernel or callback is not, wakes
 * when a handler has run for it. Returns what is left then, or 0. */
double orrery_sim_sleep(double us);
/* True in the main thread of a rank. */
int orrery_sim_is_main(void);
/* SimGrid looks for the actor that runs, while orrery_sim_asked, or in another thread. */
void orrery_sim_who(void);
/* SMPI does. Returns whether the caller is another member for it than itself. */
int orrery_sim_member(enum orr_sim_asks what, struct orr_sim_member *m);
/* Only without private names of SimGrid (public/mpi.c). The caller is about to call that function
 * of MPI: returns the function to call instead of SMPI's, or NULL, and *who for the end of the
 * call. */
void *orrery_sim_mpi_begin(const char *name, void **who);
void orrery_sim_mpi_end(void *who);
/* A descriptor of a file with the content of /proc/self/cmdline, or -1. */
int orrery_sim_command_line(void);

#pragma GCC visibility pop
#endif
