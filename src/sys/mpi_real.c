/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI seam over a real MPI (contract: base/seam_mpi.h): a private duplicate of the program's
 * communicator, polling that backs off from spinning to sleeping, and the end of the program when
 * something is wrong.
 *
 * How long a pause lasts follows how long nothing has happened: spinning, then yielding, then
 * sleeping for an eighth of that time; at most 1 ms while something is expected and 10 ms when not,
 * always interruptible by the bell. So a late message costs at most an eighth of what it was late,
 * and an idle process uses no measurable CPU time.
 *
 * Invariant: nobody sleeps inside MPI: all waiting is MPI_Testany and pauses. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include "base/numbers.h"
#include "mpi/mpi.h"
#include "base/log.h"

#define YIELD_US 100.0
#define SHORTEST_US 50.0
#define LONGEST_EXPECTING_US 1000.0
#define LONGEST_IDLE_US 10000.0
#define DOZE_US 200.0
/* While workers look between tasks, this is often enough for others: on a core that is not theirs
 * each look delays a kernel. */
#define PATROL_US 1000.0
/* A look that took this long has copied parts of a long message: MPI tells of its end only, but it
 * flows while we look often. */
#define FLOWING_US 4.0

/* A real process has one MPI, as it has one context (orr_the_process). */
static struct orr_real_mpi {
	MPI_Comm comm, given;
	int finalize; /* we initialised MPI */
	int provided; /* thread level */
	int active;
	int at_exit; /* the handler is installed */
	int rank, size;
	double event_us; /* when something happened last; raced on harmlessly, hence atomic */
	double spin_us, start_us;
	orr_waitq_t bell;
} real;

static double event_time(void)
{
	double t;

	__atomic_load(&real.event_us, &t, __ATOMIC_RELAXED);
	return t;
}

static void set_event_time(double t)
{
	__atomic_store(&real.event_us, &t, __ATOMIC_RELAXED);
}

static void on_exit_too_early(void)
{
	int finalized = 0;

	if (!real.active)
		return;
	MPI_Finalized(&finalized);
	if (finalized)
		return;
	fflush(stdout);
	fprintf(stderr,
		"[orrery] rank %d exits without starpu_mpi_shutdown: the others would wait for it for ever, so the program is ended; "
		"call starpu_mpi_shutdown() on every rank\n",
		real.rank);
	MPI_Abort(real.comm, 1);
}

/* Makes sure that MPI runs with enough thread support. */
static int start_mpi(int *argc, char ***argv, int initialize)
{
	int initialized = 0;

	MPI_Initialized(&initialized);
	if (!initialized && !initialize) {
		orr_error(
			"MPI is not initialised: call MPI_Init_thread() first, or let the runtime do it (initialize_mpi = 1)");
		return -EINVAL;
	}
	if (!initialized) {
		if (MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &real.provided) !=
		    MPI_SUCCESS) {
			orr_error("MPI_Init_thread failed");
			return -EIO;
		}
		real.finalize = 1;
	} else
		MPI_Query_thread(&real.provided);
	if (real.provided < MPI_THREAD_SERIALIZED) {
		orr_error(
			"MPI was initialised with thread level %s: the progression engine is a thread of its own; "
			"call MPI_Init_thread() with MPI_THREAD_MULTIPLE (MPI_THREAD_SERIALIZED if the program itself does not communicate)",
			real.provided == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE"
							   : "MPI_THREAD_FUNNELED");
		return -EINVAL;
	}
	return 0;
}

int orr_sys_mpi_init(struct orr_process *proc, int *argc, char ***argv, int initialize,
		     MPI_Comm comm, int *rank, int *size)
{
	int ret = start_mpi(argc, argv, initialize);

	(void) proc;
	if (ret)
		return ret;
	real.given = comm;
	MPI_Comm_dup(comm, &real.comm);
	MPI_Comm_rank(real.comm, &real.rank);
	MPI_Comm_size(real.comm, &real.size);
	*rank = real.rank;
	*size = real.size;
	real.start_us = orr_sys_now_us();
	orr_waitq_init(&real.bell);
	real.active = 1;
	if (!real.at_exit)
		real.at_exit = !atexit(on_exit_too_early);
	return 0;
}

void orr_sys_mpi_exit(struct orr_process *proc)
{
	(void) proc;
	real.active = 0;
	MPI_Comm_free(&real.comm);
	orr_waitq_destroy(&real.bell);
	if (real.finalize)
		MPI_Finalize();
	real.finalize = 0;
}

int orr_sys_mpi_thread_multiple(struct orr_process *proc)
{
	(void) proc;
	return real.provided == MPI_THREAD_MULTIPLE;
}

MPI_Comm orr_sys_mpi_comm(struct orr_process *proc)
{
	(void) proc;
	return real.comm;
}

void orr_sys_mpi_engine_enter(struct orr_process *proc)
{
	prctl(PR_SET_TIMERSLACK, 1000UL);
	real.spin_us = orr_sys_spin_us(proc);
	set_event_time(orr_sys_now_us());
}

void orr_sys_mpi_engine_leave(struct orr_process *proc)
{
	(void) proc;
}

int orr_sys_mpi_may_drive(struct orr_process *proc)
{
	(void) proc;
	return 1;
}

int orr_sys_mpi_isend(struct orr_process *proc, const void *buf, int count, MPI_Datatype type,
		      int dest, int tag, int synchronous, MPI_Request *req)
{
	(void) proc;
	return synchronous ? MPI_Issend(buf, count, type, dest, tag, real.comm, req)
			   : MPI_Isend(buf, count, type, dest, tag, real.comm, req);
}

/* Sleeps on the bell, unless there is something to do (or, when idle, to expect) after all. Returns
 * -1 when it rang. */
static int doze(struct orr_process *proc, double us, int idle)
{
	struct orr_mpi *mpi = proc->mpi;
	unsigned key = orr_waitq_prepare(&real.bell);

	if (us >= DOZE_US)
		ORR_ATOMIC_STORE(&mpi->dozing, 1);
	ORR_ATOMIC_FENCE();
	if (ORR_ATOMIC_LOAD(&mpi->stopping) || (idle == 1 && orr_mpi_busy(mpi)) ||
	    (idle != 2 && ORR_ATOMIC_LOAD(&mpi->inbox))) {
		orr_waitq_cancel(&real.bell);
		return -1;
	}
	if (orr_waitq_wait(&real.bell, key, us))
		return -2;
	set_event_time(orr_sys_now_us());
	return -1;
}

/* idle: 0 something is expected, 1 nothing is, 2 somebody else looks. */
static int rest(struct orr_process *proc, int idle)
{
	double now_us = orr_sys_now_us(), nothing_us = now_us - event_time();

	if (!idle && proc->mpi->workers_look && ORR_ATOMIC_LOAD_RELAXED(&proc->mpi->looked_us) > 0)
		return doze(proc, PATROL_US, idle);
	if (idle == 2) /* who drives rings when it stops */
		return doze(proc, LONGEST_IDLE_US, idle);
	if (nothing_us < real.spin_us) {
		for (int i = 0; i < 8; i++)
			orr_sys_relax();
		return -2;
	}
	if (nothing_us < real.spin_us + YIELD_US) {
		sched_yield();
		return -2;
	}
	double us = nothing_us / 8, longest = idle ? LONGEST_IDLE_US : LONGEST_EXPECTING_US;
	return doze(proc, us < SHORTEST_US ? SHORTEST_US : us > longest ? longest : us, idle);
}

int orr_sys_mpi_wait(struct orr_process *proc, MPI_Request *reqs, int n, int block, int idle,
		     MPI_Status *status)
{
	if (n > 0) {
		int slot = MPI_UNDEFINED, found = 0;
		double before = n > 1 ? orr_sys_now_us() : 0;
		MPI_Testany(n, reqs, &slot, &found, status);
		if (found && slot != MPI_UNDEFINED) {
			set_event_time(orr_sys_now_us());
			return slot;
		}
		if (n > 1) {
			double after = orr_sys_now_us();
			if (after - before > FLOWING_US)
				set_event_time(after);
		}
	}
	if (block)
		return rest(proc, idle);
	if (!n) /* somebody begins to wait: something is about to happen */
		set_event_time(orr_sys_now_us());
	return -2;
}

void orr_sys_mpi_received(struct orr_process *proc, size_t bytes)
{
	(void) proc;
	(void) bytes;
}

void orr_sys_mpi_ring(struct orr_process *proc)
{
	(void) proc;
	orr_waitq_wake(&real.bell);
}

/* ---- barrier: polled, so that the engine goes on and an oversubscribed machine is not kept busy
 * ---- */

static int barrier_over(struct orr_mpi *mpi, void *arg)
{
	int done = 0, multiple = real.provided == MPI_THREAD_MULTIPLE;

	if (!multiple && !orr_mpi_own(mpi))
		return 0;
	MPI_Test(arg, &done, MPI_STATUS_IGNORE);
	if (!multiple)
		orr_mpi_unown(mpi);
	return done;
}

int orr_sys_mpi_barrier(struct orr_process *proc, MPI_Comm comm)
{
	struct orr_mpi *mpi = proc->mpi;
	MPI_Request req;
	int ret;

	while (!orr_mpi_own(mpi))
		orr_sys_relax();
	ret = MPI_Ibarrier(comm, &req);
	orr_mpi_unown(mpi);
	if (ret != MPI_SUCCESS) {
		orr_error("MPI_Ibarrier failed");
		return -EIO;
	}
	orr_mpi_wait_until(mpi, barrier_over, &req);
	return 0;
}

/* ---- statistics ---- */

static void write_stats(const char *path, const struct orr_mpi_peer_stats *all, const int *counts,
			double makespan_us)
{
	ORR_PLAIN_NUMBERS;
	FILE *f = fopen(path, "w");

	if (!f) {
		orr_error(
			"cannot write communication statistics to '%s' (ORRERY_MPI_STATS_FILE): %s",
			path, strerror(errno));
		return;
	}
	fprintf(f,
		"# orrery stats: nodes=%d makespan_s=%.6f\nsrc,dst,bytes,messages,first_s,last_s\n",
		real.size, makespan_us * 1e-6);
	for (int src = 0; src < real.size; src++)
		for (int left = counts[src] / (int) sizeof(*all); left; left--, all++)
			fprintf(f, "%d,%d,%llu,%llu,%.6f,%.6f\n", src, all->peer,
				(unsigned long long) all->bytes, (unsigned long long) all->messages,
				all->first_us * 1e-6, all->last_us * 1e-6);
	fclose(f);
}

void orr_sys_mpi_report_stats(struct orr_process *proc, const struct orr_mpi_peer_stats *peers,
			      unsigned n, uint64_t tasks)
{
	int mine = (int) (n * sizeof(*peers)), total = 0, *counts = NULL, *starts = NULL;
	double span = orr_sys_now_us() - real.start_us, makespan = span;
	struct orr_mpi_peer_stats *all = NULL;

	(void) tasks;
	if (!proc->cfg.mpi_stats_file || (proc->mpi && proc->mpi->fake))
		return;
	if (real.rank == 0) {
		counts = calloc(2 * (size_t) real.size, sizeof(*counts));
		if (!counts)
			orr_fatal("out of memory for the statistics");
		starts = counts + real.size;
	}
	MPI_Reduce(&span, &makespan, 1, MPI_DOUBLE, MPI_MAX, 0, real.comm);
	MPI_Gather(&mine, 1, MPI_INT, counts, 1, MPI_INT, 0, real.comm);
	for (int i = 0; counts && i < real.size; i++) {
		starts[i] = total;
		total += counts[i];
	}
	if (counts && !(all = malloc(total ? (size_t) total : 1)))
		orr_fatal("out of memory for the statistics");
	MPI_Gatherv(peers, mine, MPI_BYTE, all, counts, starts, MPI_BYTE, 0, real.comm);
	if (counts)
		write_stats(proc->cfg.mpi_stats_file, all, counts, makespan);
	free(all);
	free(counts);
}

void orr_sys_mpi_abort(struct orr_process *proc)
{
	(void) proc;
	real.active = 0;
	fflush(stdout);
	fflush(stderr);
	MPI_Abort(real.comm, 1);
	abort();
}
