/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The seam between the runtime and the world it runs in.
 *
 * Everything that differs between a real and a simulated run is declared here and implemented
 * twice: in src/sys/ (threads, the machine's clock and memory) and in sim/sys/ (SimGrid actors,
 * virtual time, modelled machines). The rest of the runtime asks in which world it runs only for
 * what users are told and for what calibration needs (orr_sys_is_simulated). Kernels,
 * memory and the machine have headers of their own, seam_kernel.h, seam_memory.h and
 * seam_machine.h; so have messages and process sets, seam_mpi.h and seam_dyn.h. What a world asks
 * of the rest goes through base/upcalls.h.
 *
 * Each declaration has tags:
 *   [any]     any thread may call it
 *   [main]    the thread that starts or stops the runtime
 *   [worker]  the thread that steps the worker, or one that stands in for it
 *   [locked]  it may be called with locks held; debug builds refuse that of all others that wait
 *   [waits]   it may give the processor (in a simulated run, virtual time) to somebody else.
 *             Everything that may have changed meanwhile must be looked at again afterwards.
 *
 * Invariant: only what is tagged [waits] waits, and nothing is both [locked] and [waits]. */
#ifndef ORR_BASE_SEAM_H
#define ORR_BASE_SEAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/thread.h"

struct orr_process;
struct orr_worker;
struct orr_task;
struct orr_trace_file;

struct orr_run_work; /* base/about.h */

/* Virtual costs of the runtime itself, see orr_sys_charge(), in microseconds for each occurrence.
 */
enum orr_cost {
	ORR_COST_SUBMIT,   /* submitting a task: dependencies, queueing */
	ORR_COST_ACCESS,   /* what each of its data adds to that */
	ORR_COST_FOREIGN,  /* inserting a task in which this rank has no part */
	ORR_COST_COMPLETE, /* starting and completing a task on a worker */
	ORR_COST_DATUM,    /* what each of its data adds to that */
	ORR_COST_SCHED,    /* one scheduling decision */
	/* The time that ORR_COST_COMPLETE is longer after a kernel that uses 64 KiB, and after one
	 * that uses 1 MiB: what the runtime needs has left the caches (orr_sys_charge_reload). */
	ORR_COST_RELOAD,
	ORR_COST_RELOAD_LARGE,
	ORR_COST_MESSAGE,   /* handling one message in the progression engine */
	ORR_COST_INTERRUPT, /* a message, to the worker whose core it is handled on because no other
			       is free */
	ORR_COST_WAKE, /* a thread that wakes to look for messages, to the one that computes on its
			  core */
	ORR_COST_LOOK, /* a worker that looks after messages between two tasks */
	ORR_COST_PROFILE_SUBMIT, /* what profiling adds to submitting a task */
	ORR_COST_PROFILE,        /* what profiling adds to a task on a worker */
	/* The time that ORR_COST_COMPLETE and ORR_COST_PROFILE are longer where many workers share
	 * what the runtime counts and where it keeps tasks (orr_sys_workers_share), and
	 * ORR_COST_DATUM for a datum that another worker used last. */
	ORR_COST_SHARED,
	ORR_COST_SHARED_DATUM,
	ORR_COST_SHARED_PROFILE,
	ORR_COST_TURN,   /* the time that a thread which computes keeps a core from another one; no
			    occurrence is charged */
	ORR_COST_BUFFER, /* a copy of 1 MiB of a message into a buffer of MPI, or out of it */
	ORR_NCOSTS
};

/* clang-format off */
/* From the world's folder, by orr_sys_types.h:
 *
 * orr_sys_lock_t        [any] the primitive of orr_lock_t (base/lock.h, which the world includes
 *                       after it), with orr_sys_lock_init, orr_sys_lock, orr_sys_trylock (1: taken)
 *                       and orr_sys_unlock. At most 4 bytes; all-zero is unlocked. base/lockrank.h
 *                       says which locks may be held when another is taken. A real thread may
 *                       sleep for the length of another's critical section; a simulated one never
 *                       has to.
 * Atomics               [any] [locked]
 *   ORR_ATOMIC_ADD(p,v)             adds and returns the NEW value, a full barrier
 *   ORR_ATOMIC_ADD_RELAXED          likewise without ordering
 *   ORR_ATOMIC_OR/AND(p,v)          set and clear bits and return the NEW value, full barriers
 *   ORR_ATOMIC_FETCH_AND(p,v)       clears bits and returns the OLD value, a full barrier: whoever
 *                                   finds a bit set in it is the one thread that cleared the bit
 *   ORR_ATOMIC_LOAD/STORE           acquire/release
 *   ORR_ATOMIC_LOAD_RELAXED/STORE_RELAXED  without ordering
 *   ORR_ATOMIC_XCHG(p,v), ORR_ATOMIC_CAS(p,&old,new)  full barriers; CAS returns whether it stored,
 *                                   and else leaves the value that it found in old
 *   ORR_ATOMIC_FENCE()              full fence
 * struct orr_process *orr_self(void)
 *                       [any] [locked] the calling process's context, never NULL. Costs a load.
 * struct orr_thread *orr_thread_self(void)
 *                       [any] [locked] the calling thread, never NULL.
 * struct orr_thread *orr_thread_self_ahead(void)
 *                       [any] the same; a thread that has put sleeps off need not have them now.
 * double orr_sys_now_us(void)
 *                       [any] [locked] now in microseconds since an arbitrary origin: the monotonic
 *                       clock, or virtual time.
 * int64_t orr_sys_now_ns(void)
 *                       [any] [locked] the same in nanoseconds, for events: as cheap as can be. In a
 *                       real run it may be some nanoseconds off after orr_sys_now_ns_init().
 * int orr_sys_is_simulated(void)
 *                       [any] [locked] whether this is a simulated run: for what users are told, and
 *                       for what calibration may record; a constant.
 * orr_sys_relax()       [any] [locked] a pause in a spin loop; a no-op in a simulated run, where
 *                       nobody can spin for another.
 *
 * Virtual time that the runtime itself costs. There is one way: a thread is charged, and settles.
 * orr_sys_charge(struct orr_thread *, enum orr_cost)  [any] [locked] adds the cost to the debt of
 *                      the thread, which is the calling one. Nothing in a real run.
 * orr_sys_charge_times(struct orr_thread *, enum orr_cost, unsigned n)  the same n times.
 * ORR_SYS_CHARGES       0 in a real run: what is only needed to know costs need not be known.
 * orr_sys_charge_copy(struct orr_thread *, size_t bytes)  [any] [locked] likewise the time of a copy
 *                      of a message between buffers (ORR_COST_BUFFER).
 * orr_sys_reloads(struct orr_thread *)  [any] [locked] whether the next one charges anything.
 * orr_sys_charge_reload(struct orr_thread *, size_t bytes)  [any] [locked] likewise a part of
 *                      ORR_COST_RELOAD and ORR_COST_RELOAD_LARGE, for a kernel that uses so many.
 * orr_sys_settle(struct orr_thread *)  [any] [waits] spends the debt by sleeping once it exceeds a
 *                      quantum. The thread that steps workers carries its debt on instead: the next
 *                      kernel that it starts ends so much later (orr_sys_kernel_start,
 *                      orr_sys_kernel_settle). A no-op in a real run.
 * orr_sys_settle_later(struct orr_thread *)  [any] [waits] the same for a thread that has done
 *                      nothing that others see, and came by orr_thread_self_ahead(): the sleeps may
 *                      be put off until it asks who it is otherwise, or takes a lock. They follow
 *                      each other then as if each had come in its time.
 *
 * orr_waitq_t: an event count. A waiter does
 *      unsigned key = orr_waitq_prepare(&q);                                  [any] [locked]
 *      if (condition) orr_waitq_cancel(&q);                                   [any] [locked]
 *      else orr_waitq_wait(&q, key, timeout_us);                              [any] [waits]
 * in a loop; whoever makes the condition true calls orr_waitq_wake(&q) afterwards (full barrier
 * between the two is part of orr_waitq_wake). Waking costs a fence and a load when nobody waits.
 * timeout_us < 0: no limit. orr_waitq_wait returns 0 when woken (perhaps spuriously), 1 when the
 * time ran out. orr_waitq_wake [any] [waits] wakes all; orr_waitq_wake_fenced does the same where
 * the caller has already passed a full barrier. The woken may run first, and free q.
 * orr_waitq_init and orr_waitq_destroy: nobody else may know q.
 *
 * Recess. A thread of the runtime that has nothing to do needs no stack. So the function that was
 * given to orr_sys_thread_start may return ORR_RECESS while it waits: it is called again, in the
 * same thread and with the same argument, when the wait is over. It asks for that by one of
 *      orr_waitq_recess(&q, key, timeout_us)  as orr_waitq_wait                [any] [waits]
 *      orr_sys_settle_recess(thread)          as orr_sys_settle                [any] [waits]
 * which return 1 when the wait goes on, so that the function must return ORR_RECESS now, and wait
 * for nothing else before; or 0 when the wait is over already, as it always is in a real run. What
 * it needs to know afterwards stands in what its argument points to. A transport's `wait` does the
 * same (base/transport.h). */
/* clang-format on */
#define ORR_RECESS ((void *) -1)
#include "orr_sys_types.h"

/* ---- clock ---- */
/* [main] Prepares orr_sys_now_ns(), any number of times, and returns whether it is another clock
 * from then on. */
int orr_sys_now_ns_init(void);
/* [any] [locked] What must be added to orr_sys_now_us so that all ranks of one computer speak of
 * the same clock. */
double orr_sys_origin_us(void);
/* [any] [waits] Sleeps that long, in virtual time in a simulated run. A callback that a worker's
 * thread runs there goes on at once: the next kernel begins so much later. */
void orr_sys_sleep_us(double us);

/* ---- the process ---- */
/* [main] Fills in what the world decides about this process before starpu_init reads the
 * configuration (host name, rank if known). Returns 0, or -errno after a message. */
int orr_sys_process_init(struct orr_process *proc);
/* [main] The runtime has stopped. */
void orr_sys_process_exit(struct orr_process *proc);
/* [any] [locked] The name under which this machine's performance models are stored. Owned by the
 * process. */
const char *orr_sys_machine_name(struct orr_process *proc);
/* [any] Loads a shared object of the user's for good; its variables are this process's own. Asked
 * again it answers the same. NULL: *why tells. */
void *orr_sys_library_open(struct orr_process *proc, const char *path, const char **why);
/* [any] The address of a function of the program, or of a library that it is linked with, by its
 * name; NULL: the name is not visible. */
void *orr_sys_symbol(struct orr_process *proc, const char *name);
/* [main] Sees to it that a link is registered (base/link.h), if this world has one: 0, or -errno
 * after a message. */
int orr_sys_link_load(struct orr_process *proc);
/* [any] [locked] Ends the whole program, all its ranks included, after an error that the caller
 * already reported: flushes output and does not return. */
void orr_sys_abort(void) __attribute__((noreturn));
/* [any] The process is about to print this line of text. Processes of one run that say the same
 * speak once: returns the number of others that this one speaks for, or -1 if another one speaks,
 * and this one prints nothing. wait: the caller can wait a moment for others that will say the
 * same. */
int orr_sys_speak(struct orr_process *proc, const char *text, int wait);
/* [any] It has printed it. */
void orr_sys_spoken(struct orr_process *proc, const char *text);
/* [any] The program goes on, and ends with a status that is not 0, whatever main returns: something
 * that the user asked for is missing. The caller has reported it. */
void orr_sys_fail_at_end(struct orr_process *proc);
/* [main] The work of this process since the runtime started, for the summary and the report of the
 * run. A later call replaces it. */
void orr_sys_run_work(struct orr_process *proc, const struct orr_run_work *w);
/* [main] For how many seconds the threads of this process, until orr_sys_run_work(), could run and
 * got no core: other programs had them, or there are more threads than cores. 0 where nobody knows,
 * and in a simulated run, whose time stands still meanwhile. */
double orr_sys_run_waited_s(struct orr_process *proc);
/* [any] Describes the run in lines (base/about.h): the world, the machine, the command and so on.
 * size: at most ORR_ABOUT_SIZE is needed. */
void orr_sys_run_describe(struct orr_process *proc, char *text, size_t size);

/* ---- questions to a run that is under way (base/live.h) ---- */
/* [main] People may ask about this process from now on, until stop. Where that is impossible nobody
 * can ask. */
void orr_sys_live_start(struct orr_process *proc);
void orr_sys_live_stop(struct orr_process *proc);
/* [main] The MPI layer may be asked from now on; on == 0: no more, when the call returns. */
void orr_sys_live_layer(struct orr_process *proc, int on);

/* ---- ends of hope ---- */

/* [any] The time in microseconds after which a thread of the program that waits asks whether
 * anything can act at all; negative: never, because the world sees that by itself. */
double orr_sys_stall_us(const struct orr_process *proc);
/* [any] True if this process has no other threads than so many, none of another library or of the
 * program, and no timer runs. */
int orr_sys_only_threads(struct orr_process *proc, unsigned nthreads);

/* ---- signals ---- */

/* [main] While on (proc->catches), a signal that ends the program, or that it handles, is told with
 * the task of its thread before it takes its course; once for each of SIGSEGV, SIGBUS, SIGFPE,
 * SIGILL, SIGABRT, SIGTRAP and SIGINT. The program's own handlers run then, and are put back by the
 * call that switches it off. */
void orr_sys_catch_signals(struct orr_process *proc, int on);

/* ---- traces (trace/file.h) ---- */
/* [main] The list of files that this system process records into, which all its ranks share. */
struct orr_trace_file **orr_sys_trace_files(void);
/* [main] A name that all processes of this run share, and no other run on this computer has; "" if
 * this process is the only one of the system. */
void orr_sys_run_name(struct orr_process *proc, char *name, size_t size);
/* [main] How many processes the run begins with, as far as its launcher says. */
unsigned orr_sys_run_size(struct orr_process *proc);

/* ---- links of a simulated network; a real run knows none ---- */
/* A link of the platform, or one stretch of time of it. */
struct orr_wire {
	const char *name;
	double bytes_per_s;
	int64_t begin_ns, end_ns; /* of the run */
	int64_t busy_ns; /* sum of the times, each multiplied with the part of its bandwidth that
			    it gave then */
	int64_t full_ns; /* it gave all of it, or nearly */
	unsigned place;
};
/* [main] The loads of links are to be known from now on. */
void orr_sys_wires_watch(struct orr_process *proc);
/* [main] All links that messages went over, those that were full longest first, in an array that
 * the caller frees; how many there are. */
unsigned orr_sys_wires(struct orr_process *proc, struct orr_wire **wires);
/* [main] Stretch `i` of the run, of one of these links. 0: there is none. */
int orr_sys_wire_at(struct orr_process *proc, const struct orr_wire *wire, unsigned i,
		    struct orr_wire *out);

/* ---- threads ---- */
enum orr_role {
	ORR_ROLE_WORKERS,
	ORR_ROLE_ENGINE,
	ORR_ROLE_USER,
	ORR_ROLE_WATCH /* a real run only: no signal of the program is handled there */
};
typedef struct orr_sys_thread orr_sys_thread_t;
/* [any] [waits] Starts fn(arg) in a new thread of this process; in a simulated run the roles
 * WORKERS and ENGINE are the actors that the launcher made for this rank. cpu: the unit to bind to,
 * or -1. Returns NULL with errno set when impossible. fn may take a recess (see above). */
orr_sys_thread_t *orr_sys_thread_start(struct orr_process *proc, enum orr_role role,
				       const char *name, int cpu, void *(*fn)(void *), void *arg);
/* [any] [waits] A thread of the program looked for something in vain and is going to look again,
 * again and again: in a simulated run, time goes by, until until_us if something is known to
 * happen then, else (negative) for a moment. */
void orr_sys_polled(double until_us);
/* [any] [waits] Waits until thread t has ended, frees it, and returns what its function returned.
 */
void *orr_sys_thread_join(orr_sys_thread_t *t);
/* [any] [waits] Lets others use the core of the calling thread first. */
void orr_sys_yield(void);
/* [main] How many groups (threads) step nworkers workers: nworkers in a real run, 1 in a simulated
 * one. */
unsigned orr_sys_ngroups(unsigned nworkers);
/* [main] So many workers are going to execute tasks. With the chance of 1 - 1/nworkers, another one
 * changed last what one of them needs: in a simulated run such a part of ORR_COST_SHARED and
 * ORR_COST_SHARED_PROFILE is added to the costs of a task from here on. */
void orr_sys_workers_share(struct orr_process *proc, unsigned nworkers);
/* [main] So many workers are going to execute tasks. Each finds with the chance of 1 - 1/nworkers
 * that another one had a task's memory last: in a simulated run the costs of a task are so much
 * higher from here on (ORR_COST_SHARED). */
void orr_sys_workers_share(struct orr_process *proc, unsigned nworkers);
/* [any] [locked] How long a thread of this process may spin before it sleeps, in microseconds (0 in
 * a simulated run, and small when threads outnumber cores). */
double orr_sys_spin_us(struct orr_process *proc);
/* [any] [locked] How many cores this process may count as its own: its share where processes share
 * them. At least 1. */
unsigned orr_sys_cores(struct orr_process *proc);

/* ---- diagnosis ---- */
/* [any] Progress for a person at a terminal; rate-limited by the implementation. */
void orr_sys_progress(struct orr_process *proc);

#endif
