/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The seam between the runtime and the world it runs in.
 *
 * Everything that differs between a real and a simulated run is declared here and implemented
 * twice: in src/sys/ (threads, the machine's clock and memory) and in sim/sys/ (SimGrid actors,
 * virtual time, modelled machines). The rest of the runtime asks in which world it runs only for
 * what users are told and for what calibration needs (orr_sys_is_simulated). What a world asks of
 * the rest goes through base/upcalls.h.
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

#include "base/lockrank.h"

struct orr_process;
struct orr_worker;
struct orr_task;
struct orr_owner;
struct orr_kernel;
struct orr_copy;
struct orr_world_device;
struct starpu_codelet;
struct _starpu_data_state;
struct orr_trace_file;
struct orr_trace_stream;

/* A thread (of a real run) or an actor (of a simulated run), as the runtime sees it. One exists per
 * thread that ever called us. */
struct orr_thread {
	struct orr_process *proc;  /* the process that it belongs to */
	struct orr_worker *worker; /* the worker that it steps just now, NULL outside of kernels and
				      driver code */
	unsigned memnode;          /* the memory of that worker; main memory without one */
	struct orr_task *task;     /* the task whose kernel or callback runs in it, or NULL */
	void *acquisition; /* by the program, whose callback runs in it (data/acquire.c), or NULL */
	unsigned ctx;      /* the scheduling context that the program chose for it + 1, 0: none */
	unsigned idle_ctx; /* while it steps a worker: the one of the thread without worker */
	struct orr_owner *later, *later_last; /* owners of data that this thread lets proceed when
						 the one that proceeds now has done so */
	int proceeding;                       /* an owner proceeds in it (data/access.h) */
	uint16_t bursts; /* nested: it grants data to several users, sends among them */
	void *burst;     /* sends granted meanwhile, newest first, see orr_mpi_upcalls.burst_end */
	uint8_t under_datum;  /* a buffer is being allocated or freed under a datum's lock: nothing
				 may be evicted and nobody woken now */
	uint8_t gave_back;    /* memory was given back meanwhile (data/memory.c) */
	uint8_t searching;    /* nested: it searches for memory (data/search.h) */
	uint8_t starved;      /* it retries a request that is counted as waiting for memory */
	unsigned trace_epoch; /* of the run that `trace` belongs to */
	struct orr_trace_stream *trace; /* the events that it records (trace/trace.h), or NULL */
	uint64_t cause; /* what ended, and lets others go on in this thread just now (ORR_CAUSE_*
			   in trace/trace.h); 0: the program does */
	double debt_us; /* virtual time charged but not yet spent (always 0 in a real run) */
	void *sys;      /* the world's own part */
	struct orr_magazine { /* free objects kept by this thread, see base/slab.h */
		void *list;
		unsigned n, epoch;
	} mag[4];
#ifdef ORR_DEBUG
	struct orr_held held; /* see base/lock.c */
#endif
};

struct orr_run_work; /* base/about.h */

/* Virtual costs of the runtime itself, see orr_sys_charge(), in microseconds for each occurrence.
 */
enum orr_cost {
	ORR_COST_SUBMIT,    /* submitting a task: dependencies, queueing */
	ORR_COST_ACCESS,    /* what each of its data adds to that */
	ORR_COST_FOREIGN,   /* inserting a task in which this rank has no part */
	ORR_COST_COMPLETE,  /* starting and completing a task on a worker */
	ORR_COST_DATUM,     /* what each of its data adds to that */
	ORR_COST_SCHED,     /* one scheduling decision */
	ORR_COST_MESSAGE,   /* handling one message in the progression engine */
	ORR_COST_INTERRUPT, /* a message, to the worker whose core it is handled on because no other
			       is free */
	ORR_COST_WAKE, /* a thread that wakes to look for messages, to the one that computes on its
			  core */
	ORR_COST_LOOK, /* a worker that looks after messages between two tasks */
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
 * orr_sys_relax()       [any] [locked] a pause in a spin loop; a no-op in a simulated run, where
 *                       nobody can spin for another.
 *
 * Virtual time that the runtime itself costs. There is one way: a thread is charged, and settles.
 * orr_sys_charge(struct orr_thread *, enum orr_cost)  [any] [locked] adds the cost to the debt of
 *                      the thread, which is the calling one. Nothing in a real run.
 * orr_sys_charge_times(struct orr_thread *, enum orr_cost, unsigned n)  the same n times.
 * orr_sys_settle(struct orr_thread *)  [any] [waits] spends the debt by sleeping once it exceeds a
 *                      quantum. The thread that steps workers carries its debt on instead: the next
 *                      kernel that it starts ends so much later (orr_sys_kernel_start,
 *                      orr_sys_kernel_settle). A no-op in a real run.
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
/* [any] [locked] Now in microseconds since an arbitrary origin: the monotonic clock, or virtual
 * time. */
double orr_sys_now_us(void);
/* [any] [locked] What must be added to orr_sys_now_us so that all ranks of one computer speak of
 * the same clock. */
double orr_sys_origin_us(void);
/* [any] [waits] Sleeps that long, in virtual time in a simulated run. A callback that a worker's
 * thread runs there goes on at once: the next kernel begins so much later. */
void orr_sys_sleep_us(double us);

/* ---- the process ---- */
/* [any] [locked] Whether this is a simulated run: for what users are told, and for what calibration
 * may record. */
int orr_sys_is_simulated(void);
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

/* ---- the machine ---- */
/* [main] Describes the machine: fills in proc->topo. Returns 0 or -errno after a message. */
int orr_sys_topology_init(struct orr_process *proc);
void orr_sys_topology_exit(struct orr_process *proc);
/* [any] Binds the calling thread to these units; to one hardware thread if it is one unit. Units
 * that do not exist are left out. Returns 0, -EINVAL if none exists, -ENOSYS where nothing can be
 * bound (a simulated run, the topology of another machine), or -errno of the system. */
int orr_sys_bind(struct orr_process *proc, const int *units, unsigned n);
/* [main] The units, at most max of those that this process may use, that are beside the device with
 * that number on the PCI bus ("0000:3b:00.0", "": not known). Returns how many; 0: nobody knows. */
unsigned orr_sys_units_beside(struct orr_process *proc, const char *bus_id, int *units,
			      unsigned max);
/* Parts of the machine that contain each other: packages, caches, units. Valid until
 * orr_sys_topology_exit. [any] [locked] The whole machine, or NULL where nobody knows; the i-th
 * part below a part, or NULL; the number of the unit that a part is, or -1. */
struct orr_part;
const struct orr_part *orr_sys_part_root(struct orr_process *proc);
const struct orr_part *orr_sys_part_child(const struct orr_part *part, unsigned i);
int orr_sys_part_unit(struct orr_process *proc, const struct orr_part *part);
/* The worlds also define the public functions that speak of hwloc or of the system's numbers:
 * starpu_get_hwloc_topology, starpu_worker_get_hwloc_cpuset, starpu_cpu_os_index. */

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
/* [any] [locked] How long a thread of this process may spin before it sleeps, in microseconds (0 in
 * a simulated run, and small when threads outnumber cores). */
double orr_sys_spin_us(struct orr_process *proc);
/* [any] [locked] How many cores this process may count as its own: its share where processes share
 * them. At least 1. */
unsigned orr_sys_cores(struct orr_process *proc);

/* ---- kernel execution (base/world.h) ---- */
/* [worker] Starts func(buffers, cl_arg) as kernel k; NULL: its functions are called elsewhere, or
 * nowhere. Returns 0 when the kernel has run to its end, or 1 when it ends later: k->end_us is
 * when, or INFINITY while func waits (orr_core_upcalls.ends); orr_sys_kernel_end is called then.
 * Runs the kernel, skips it, or injects its measured time, as the run asks. While models are
 * calibrated on cores that other threads want too, k->own_us tells what the kernel took without the
 * turns of those; else it is 0, and the time from the task's start to its end counts. In a
 * simulated run, the debt of the calling thread comes before the kernel. func may wait. */
int orr_sys_kernel_start(struct orr_process *proc, struct orr_kernel *k,
			 void (*func)(void **, void *), void **buffers, void *cl_arg);
/* [worker] Spends the debt of the calling thread after a kernel that ends later: it ends so much
 * later still. */
void orr_sys_kernel_settle(struct orr_thread *self, struct orr_kernel *k);
/* [any] Does this world call the functions of the codelet (NULL: of none)? For kernels that are
 * called elsewhere than in orr_sys_kernel_start, which then only tells the time. */
int orr_sys_kernel_runs(struct orr_process *proc, const struct starpu_codelet *cl);
/* [worker] [waits] Called once when the kernel is over. */
void orr_sys_kernel_end(struct orr_process *proc, struct orr_kernel *k);
/* [any] A kernel that is no task's makes the value of h on memory node memnode: it converts
 * multiformat data that a copy brought there, or gives data their initial value. Calls
 * func(buffers, arg), a function of codelet cl for that kind of memory, or not, as the run asks;
 * func is NULL where only time passes, and may wait. Returns how many microseconds more the data
 * then take to be usable, 0 in a real run. */
double orr_sys_convert_us(struct orr_process *proc, struct _starpu_data_state *h, unsigned memnode,
			  struct starpu_codelet *cl, void (*func)(void **, void *), void **buffers,
			  void *arg);

/* ---- memory and copies ---- */
/* [any] [locked] Buffers of main memory that only kernels and transfers touch. In a simulated run
 * that skips kernels no payload is stored. The result is aligned to `align` bytes (a power of two,
 * >= 64). NULL when memory is exhausted. */
void *orr_sys_mem_alloc(struct orr_process *proc, size_t size, size_t align);
/* [any] [locked] Frees one. size as given to orr_sys_mem_alloc; ptr may be NULL. */
void orr_sys_mem_free(struct orr_process *proc, void *ptr, size_t size);
/* [any] [locked] The program has limited its memory: from now on, until the runtime stops, freed
 * blocks make room at once, instead of being kept for the next one of their size. */
void orr_sys_mem_keep_none(struct orr_process *proc);
/* [any] [locked] Has the pages of a block (whole pages) lie on NUMA node `numa` of proc->topo,
 * beside the devices (ORR_NUMA_OF_DEVICES) if orr_sys_units_beside found all of them beside the
 * same memory, or anywhere again (ORR_NUMA_ANY). Where that is not possible nothing happens: it
 * only costs speed. */
enum { ORR_NUMA_ANY = -1, ORR_NUMA_OF_DEVICES = -2 };
void orr_sys_mem_bind(struct orr_process *proc, void *ptr, size_t size, int numa);
/* [any] [locked] Memory that the program itself touches (starpu_malloc): zero-cost folded memory
 * when kernels are skipped. */
void *orr_sys_user_alloc(struct orr_process *proc, size_t size, size_t align);
void orr_sys_user_free(struct orr_process *proc, void *ptr, size_t size);
/* [any] [locked] Memory for many small objects of the runtime itself (base/slab.h): `bytes`, a
 * multiple of 64, aligned to 64. NULL when memory is exhausted. */
void *orr_sys_chunk_alloc(size_t bytes);
void orr_sys_chunk_free(void *chunk, size_t bytes);
/* [any] [locked] Whether payloads exist at all: 0 when kernels are skipped in a simulated run.
 * Callers then copy, pack and compare nothing. */
int orr_sys_has_payload(struct orr_process *proc);
/* [any] [locked] memcpy of a payload between two buffers of main memory (nothing when payloads do
 * not exist). */
void orr_sys_memcpy(struct orr_process *proc, void *dst, const void *src, size_t size);
/* [any] Cost in virtual time of a copy that starts now: the instant at which it is over, as far as
 * is known; a value not after now means that it is over already (always so in a real run, where the
 * copy itself took the time). *number is not 0 if copies that start later may delay it: then
 * _copy_end_us tells at that instant whether it is over, and else until when to wait. Who does not
 * wait for it need not ask. */
double orr_sys_copy_start(struct orr_process *proc, const struct orr_copy *c, uint64_t *number);
double orr_sys_copy_end_us(struct orr_process *proc, uint64_t number);

/* ---- devices ---- */
/* [main] Fills v with at most max devices that this world adds to those that drivers find: those of
 * the simulated machine, CUDA before OpenCL; a real run has none. At most ncuda and nopencl of
 * these kinds (negative: as many as there are). Sets proc->stand_in and proc->machine. The number
 * of devices, or -errno after a message. */
int orr_sys_devices(struct orr_process *proc, struct orr_world_device *v, unsigned max, long ncuda,
		    long nopencl);
/* [main] Whether drivers may use the devices of this machine: not in a simulated run. */
int orr_sys_drives_devices(void);
/* [any] [locked] A buffer was allocated on a device made of host memory: in a simulated run copies
 * to it wait for as long as that takes. */
void orr_sys_device_alloc_charge(struct orr_process *proc, unsigned memnode);
/* [any] [locked] Main memory was pinned for a device made of host memory: in a simulated run the
 * calling thread is charged the time that this takes. */
void orr_sys_pin_charge(struct orr_process *proc, size_t size);

/* ---- energy ---- */
#define ORR_ENERGY_COUNTERS 16
/* A counter of energy; it starts anew from 0 after range (0: it never does). Microjoules. */
struct orr_energy_counter {
	uint64_t uj, range;
};
/* [any] Reads the counters that together tell what the units of a type use (worker -1: all of the
 * type). joules: what the runtime knows of their use since it started, for worlds without counters.
 * How many there are, or -errno after a message: -ENODEV when nothing measures that. */
int orr_sys_energy_read(struct orr_process *proc, int arch, int worker, double joules,
			struct orr_energy_counter v[ORR_ENERGY_COUNTERS]);

/* ---- diagnosis ---- */
/* [any] Progress for a person at a terminal; rate-limited by the implementation. */
void orr_sys_progress(struct orr_process *proc);

#endif
