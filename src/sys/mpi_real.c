/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI half of the seam over a real MPI (contract: base/seam_mpi.h): a private duplicate of the
 * program's communicator, and the end of the program when something is wrong.
 *
 * Invariant: no thread sleeps inside MPI: requests are only tested. Whoever waits polls again and
 * again, and rests in between (mpi/carry/rest.c). */
#include "sys/mpi_transports.h"
#include "sys/mpi_report.h"
#include "sys/mpi_threads.h"
#include "sys/dyn_real.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/about.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/numbers.h"

/* A poll that takes this long has copied a part of a long message. MPI reports the end of a message
 * only, and copies while it is polled. */
#define FLOWING_US 4.0

/* A real process has one MPI, as it has one context (orr_the_process). */
static struct orr_real_mpi {
	MPI_Comm comm;
	MPI_Comm all; /* what ends when the run is aborted */
	int finalize; /* we initialised MPI */
	int provided; /* thread level */
	int started;  /* between orr_sys_mpi_init and orr_sys_mpi_exit */
	int active;   /* the same, but not between two communicators */
	int at_exit;  /* the handler is installed */
	int rank, size;
	double start_us;
	struct orr_parcel_set set;      /* what the transport carries */
	struct orr_parcel_set given_up; /* what it carried to a lost rank when it was closed */
	char *envelope;                 /* the one that comes next ... */
	size_t most;                    /* ... has at most that many bytes */
	int tag;
	double messages, bytes; /* sent to other ranks so far */
	double logical_messages, logical_bytes;
} real;

/* True if exit() was called from within MPI: another rank has ended the program, and MPICH is told
 * so while it looks for messages. It would wait for itself in MPI_Abort(). An MPI that is linked
 * into the program cannot be told from it: then nobody knows. */
static int mpi_exits(void)
{
	struct dl_find_object mpi, caller;
	void *frames[64];
	int n = backtrace(frames, sizeof(frames) / sizeof(frames[0]));

	if (_dl_find_object(dlsym(RTLD_DEFAULT, "PMPI_Abort"), &mpi) || !*mpi.dlfo_link_map->l_name)
		return 0;
	for (int i = 0; i < n; i++)
		if (!_dl_find_object(frames[i], &caller) &&
		    caller.dlfo_link_map == mpi.dlfo_link_map)
			return 1;
	return 0;
}

/* MPICH 4.0's launcher ends the ranks before it has read what they wrote last: it comes first here.
 */
static void await_launcher(void)
{
	struct stat st;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		for (int unread, ms = 0; ms < 1000 && !fstat(fd, &st) && S_ISFIFO(st.st_mode) &&
					 !ioctl(fd, FIONREAD, &unread) && unread > 0;
		     ms++)
			usleep(1000);
}

static void on_exit_too_early(int status, void *arg)
{
	int finalized = 0;

	(void) arg;
	if (!real.active || mpi_exits())
		return;
	MPI_Finalized(&finalized);
	if (finalized)
		return;
	fflush(stdout);
	fprintf(stderr,
		"[orrery] rank %d exits without %s: the others would wait for it for ever, so the program is ended; "
		"call it on every rank\n",
		real.rank, orr_self()->slaves ? "starpu_shutdown()" : "starpu_mpi_shutdown()");
	await_launcher();
	MPI_Abort(real.all, status ? status : 1);
}

/* Ends all ranks, unless MPI is over. */
static void end_all_ranks(void)
{
	int finalized = 0;

	if (!real.active)
		return;
	real.active = 0;
	MPI_Finalized(&finalized);
	if (finalized)
		return;
	await_launcher();
	MPI_Abort(real.all, 1);
}

/* Makes sure that MPI runs with enough thread support. */
static int start_mpi(const struct orr_process *proc, int *argc, char ***argv, int initialize)
{
	int initialized = 0;

	MPI_Initialized(&initialized);
	if (!initialized && !initialize) {
		orr_error(
			"MPI is not initialised: call MPI_Init_thread() first, or let the runtime do it (initialize_mpi = 1)");
		return -EINVAL;
	}
	if (!initialized) {
		orr_real_mpi_threads_begin(proc);
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

static void on_broken_pipe(int sig)
{
	(void) sig;
}

/* A write to a rank that is lost fails with EPIPE, which MPI reports, and does not end this rank as
 * if it were the lost one. A handler that does nothing is not inherited by programs that this one
 * starts. A program that has its own keeps it. */
static void outlive_peers(int on)
{
	struct sigaction now,
		action = { .sa_handler = on ? on_broken_pipe : SIG_DFL, .sa_flags = SA_RESTART };

	if (!sigaction(SIGPIPE, NULL, &now) && !(now.sa_flags & SA_SIGINFO) &&
	    now.sa_handler == (on ? SIG_DFL : on_broken_pipe))
		sigaction(SIGPIPE, &action, NULL);
}

/* MPICH 4.2 keeps the status of an abort for its launcher only where MPI_COMM_WORLD is aborted: a
 * run that aborts a copy of it ends with 0 now and then. */
static MPI_Comm comm_to_abort(MPI_Comm comm)
{
	int same = MPI_UNEQUAL;

	MPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
	return same == MPI_IDENT || same == MPI_CONGRUENT ? MPI_COMM_WORLD : comm;
}

int orr_sys_mpi_init(struct orr_process *proc, int *argc, char ***argv, int initialize,
		     MPI_Comm comm, int *rank, int *size)
{
	orr_assert_no_lock();

	int ret = start_mpi(proc, argc, argv, initialize);

	if (ret)
		return ret;
	MPI_Comm_dup(comm, &real.comm);
	real.all = comm_to_abort(real.comm);
	MPI_Comm_rank(real.comm, &real.rank);
	MPI_Comm_size(real.comm, &real.size);
	if (real.size > 1)
		outlive_peers(1);
	orr_real_check_build(real.comm, real.all, real.rank, real.size);
	ret = orr_real_transports_init(real.comm, real.rank, real.size);
	if (ret) {
		MPI_Comm_free(&real.comm);
		if (real.finalize)
			MPI_Finalize();
		real.finalize = 0;
		return ret;
	}
	*rank = real.rank;
	*size = real.size;
	if (!real.started) {
		orr_real_mpi_threads_end();
		real.start_us = orr_sys_now_us();
	}
	real.started = 1;
	real.active = 1;
	orr_real_on_abort(end_all_ranks);
	if (!real.at_exit)
		real.at_exit = !on_exit(on_exit_too_early, NULL);
	return 0;
}

void orr_sys_mpi_leave(struct orr_process *proc)
{
	(void) proc;
	orr_assert_no_lock();
	real.active = 0;
	orr_real_on_abort(NULL);
	orr_real_transports_exit(real.comm);
	MPI_Comm_free(&real.comm);
}

void orr_sys_mpi_exit(struct orr_process *proc)
{
	if (real.active)
		orr_sys_mpi_leave(proc);
	if (real.finalize)
		MPI_Finalize();
	real.finalize = real.started = 0;
	outlive_peers(0);
}

int orr_sys_mpi_elastic(void)
{
	return orr_dyn_registry() != NULL;
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
	(void) proc;
	prctl(PR_SET_TIMERSLACK, 1000UL);
}

void orr_sys_mpi_engine_leave(struct orr_process *proc)
{
	(void) proc;
}

int orr_sys_mpi_process_of(struct orr_process *proc, int rank)
{
	(void) proc;
	return rank;
}

struct orr_process *orr_sys_mpi_process_at(struct orr_process *proc, int rank)
{
	(void) proc;
	(void) rank;
	return NULL;
}

void orr_sys_mpi_wake_later(struct orr_process *proc, double us)
{
	(void) proc;
	(void) us;
}

void orr_sys_mpi_engine_computes(struct orr_process *proc)
{
	(void) proc;
}

/* Only their proportions count. A process that has to share its cores takes long to notice a
 * message. */
void orr_sys_mpi_network(struct orr_process *proc, struct orr_mpi_network *net)
{
	(void) proc;
	*net = (struct orr_mpi_network){ .latency_us = 10,
					 .bytes_per_us = 12.5e3,
					 .overhead_us = 3 };
}

int orr_sys_mpi_may_drive(struct orr_process *proc)
{
	(void) proc;
	return 1;
}

/* ---- the transport ---- */

static void post_envelope(void)
{
	MPI_Irecv(real.envelope, (int) real.most, MPI_BYTE, MPI_ANY_SOURCE, real.tag, real.comm,
		  &real.set.requests[0]);
}

static int transport_open(struct orr_process *proc, int tag, size_t most,
			  struct orr_transport_limits *limits)
{
	void *value;
	int found = 0;

	(void) proc;
	real.envelope = malloc(most);
	if (!real.envelope || !orr_parcel_add(&real.set, NULL))
		return -ENOMEM;
	real.tag = tag;
	real.most = most;
	*limits = (struct orr_transport_limits){ .may_drive = 1, .payload_tags = 32767 };
	MPI_Comm_get_attr(real.comm, MPI_TAG_UB, &value, &found);
	if (found && *(int *) value > 0 && *(int *) value < INT32_MAX)
		limits->payload_tags = *(int *) value;
	post_envelope();
	return 0;
}

static void transport_close(struct orr_process *proc)
{
	(void) proc;
	MPI_Cancel(&real.set.requests[0]);
	MPI_Wait(&real.set.requests[0], MPI_STATUS_IGNORE);
	/* MPI may still read what was sent to a rank that is lost. */
	if (real.set.n > 1) {
		real.given_up = real.set;
		memset(&real.set, 0, sizeof(real.set));
	}
	orr_parcel_free(&real.set);
	free(real.envelope);
	real.envelope = NULL;
}

static MPI_Request *fly(struct orr_parcel *f)
{
	MPI_Request *request = orr_parcel_add(&real.set, f);

	if (!request)
		orr_fatal("out of memory for %d messages in flight", real.set.n);
	return request;
}

static void transport_send(struct orr_process *proc, struct orr_parcel *f, const void *buf,
			   const struct orr_layout *l, int dest, int tag, int synchronous)
{
	MPI_Datatype type;
	int count, temporary = orr_layout_type(l, &type, &count);

	(void) proc;
	orr_assert_no_lock();
	if (synchronous)
		MPI_Issend(buf, count, type, dest, tag, real.comm, fly(f));
	else
		MPI_Isend(buf, count, type, dest, tag, real.comm, fly(f));
	if (temporary)
		MPI_Type_free(&type);
}

static void transport_send_ahead(struct orr_process *proc, struct orr_parcel *f, const void *buf,
				 int count, int dest, int tag)
{
	(void) proc;
	orr_assert_no_lock();
	MPI_Isend(buf, count, MPI_BYTE, dest, tag, real.comm, &f->request);
}

/* The payload left, so that its envelope, which the receiver needed first, did too: this does not
 * wait. */
static void transport_send_ahead_end(struct orr_process *proc, struct orr_parcel *f)
{
	(void) proc;
	MPI_Wait(&f->request, MPI_STATUS_IGNORE);
}

static void transport_receive(struct orr_process *proc, struct orr_parcel *f, void *buf,
			      const struct orr_layout *l, int source, int tag)
{
	MPI_Datatype type;
	int count, temporary = orr_layout_type(l, &type, &count);

	(void) proc;
	MPI_Irecv(buf, count, type, source, tag, real.comm, fly(f));
	if (temporary)
		MPI_Type_free(&type);
}

static void transport_listen(struct orr_process *proc)
{
	(void) proc;
	orr_assert(real.set.requests[0] == MPI_REQUEST_NULL);
	post_envelope();
}

static enum orr_transport_event landed(int slot, const MPI_Status *status, struct orr_landing *l)
{
	l->flight = slot ? orr_parcel_take(&real.set, slot) : NULL;
	if (!slot) {
		int bytes;

		MPI_Get_count(status, MPI_BYTE, &bytes);
		l->envelope = real.envelope;
		l->bytes = (size_t) bytes;
		l->source = status->MPI_SOURCE;
	}
	return ORR_TRANSPORT_LANDED;
}

static enum orr_transport_event transport_test(struct orr_process *proc, struct orr_landing *l)
{
	MPI_Status status;
	int n = real.set.n, slot = MPI_UNDEFINED, found = 0;
	double before_us = n > 1 ? orr_sys_now_us() : 0;

	(void) proc;
	MPI_Testany(n, real.set.requests, &slot, &found, &status);
	if (found && slot != MPI_UNDEFINED)
		return landed(slot, &status, l);
	/* A single request is the receive of envelopes, which are short. */
	return n > 1 && orr_sys_now_us() - before_us > FLOWING_US ? ORR_TRANSPORT_FLOWING
								  : ORR_TRANSPORT_NOTHING;
}

static enum orr_transport_event transport_wait(struct orr_process *proc, struct orr_landing *l)
{
	orr_assertf(0, "nobody blocks inside MPI where threads may drive");
	return transport_test(proc, l);
}

/* Nobody blocks inside MPI: threads that rest have a bell of their own. */
static void transport_wake(struct orr_process *proc)
{
	(void) proc;
	orr_assert_no_lock(); /* the simulated world may wait here */
}

int orr_real_mpi_envelope_tag(void)
{
	return real.tag;
}

const struct orr_transport *orr_real_mpi_transport(void)
{
	static const struct orr_transport mpi = {
		.name = "mpi",
		.open = transport_open,
		.close = transport_close,
		.send = transport_send,
		.send_ahead = transport_send_ahead,
		.send_ahead_end = transport_send_ahead_end,
		.receive = transport_receive,
		.listen = transport_listen,
		.test = transport_test,
		.wait = transport_wait,
		.wake = transport_wake,
	};

	return &mpi;
}

void orr_sys_mpi_received(struct orr_process *proc, size_t bytes)
{
	(void) proc;
	(void) bytes;
	orr_assert_no_lock(); /* the simulated world waits here */
}

void orr_sys_mpi_sent_to_itself(struct orr_process *proc, size_t bytes)
{
	(void) proc;
	(void) bytes;
	orr_assert_no_lock(); /* the simulated world waits here */
}

/* ---- devices ---- */

/* Open MPI's, and that of some other MPIs, as mpi-ext.h declares it; NULL: the library has none. */
int MPIX_Query_cuda_support(void) __attribute__((weak));

/* Fake devices have host memory, which any MPI reaches. UCX is not asked for memory of devices, and
 * MPI's messages are not looked for where UCX reaches all ranks. */
int orr_sys_mpi_reaches_devices(struct orr_process *proc)
{
	if (orr_real_ucx_transport())
		return 0;
	return proc->cuda ? MPIX_Query_cuda_support && MPIX_Query_cuda_support() == 1
			  : proc->cfg->fake_devices > 0;
}

const struct orr_transport *orr_sys_mpi_device_transport(struct orr_process *proc)
{
	(void) proc;
	return orr_real_mpi_transport();
}

/* ---- collectives ---- */

int orr_sys_mpi_barrier_start(struct orr_process *proc, MPI_Comm comm, MPI_Request *req)
{
	(void) proc;
	orr_assert_no_lock();
	if (MPI_Ibarrier(comm, req) == MPI_SUCCESS)
		return 0;
	orr_error("MPI_Ibarrier failed");
	return -EIO;
}

int orr_sys_mpi_sum_start(struct orr_process *proc, MPI_Comm comm, const uint64_t *mine,
			  uint64_t *sums, int n, MPI_Request *req)
{
	(void) proc;
	if (MPI_Iallreduce(mine, sums, n, MPI_UINT64_T, MPI_SUM, comm, req) == MPI_SUCCESS)
		return 0;
	orr_error("MPI_Iallreduce failed");
	return -EIO;
}

int orr_sys_mpi_collective_test(struct orr_process *proc, MPI_Request *req)
{
	int over = 0;

	(void) proc;
	MPI_Test(req, &over, MPI_STATUS_IGNORE);
	return over;
}

/* ---- fake ranks ---- */

int orr_sys_mpi_same_fake(struct orr_process *proc, int fake, int *place)
{
	int most, first = -1, n = 0;

	(void) proc;
	*place = real.rank;
	MPI_Allreduce(&fake, &most, 1, MPI_INT, MPI_MAX, real.comm);
	int *all = most >= 0 ? malloc((size_t) real.size * sizeof(*all)) : NULL;
	if (most >= 0 && !all)
		orr_fatal("out of memory for the numbers of ranks");
	if (!all)
		return -1;
	MPI_Allgather(&fake, 1, MPI_INT, all, 1, MPI_INT, real.comm);
	for (int i = 0; i < real.rank && fake >= 0; i++)
		if (all[i] == fake && !n++)
			first = i;
	free(all);
	return n == 1 ? first : -1;
}

/* ---- statistics ---- */

int orr_sys_mpi_prepare_stats(struct orr_process *proc)
{
	orr_assert_no_lock();
	if (!proc->cfg->mpi_stats_file || orr_sys_mpi_elastic())
		return 0;
	return orr_real_stats_prepare(real.comm, proc->cfg->mpi_stats_file);
}

static void add_sent(const struct orr_mpi_peer_stats *peers, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		real.messages += (double) peers[i].messages;
		real.bytes += (double) peers[i].bytes;
		real.logical_messages += (double) peers[i].logical_messages;
		real.logical_bytes += (double) peers[i].logical_bytes;
	}
}

/* "Open MPI v4.1.4" or "MPICH 4.0.2", and the transports that the user named. */
static void name_network(char *text, size_t size)
{
	static const char mpich[] = "MPICH Version:";
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	const char *transports = getenv("ORRERY_TRANSPORT"), *name = "", *number = version;
	int n = 0;

	MPI_Get_library_version(version, &n);
	version[strcspn(version, ",\n")] = '\0';
	if (!strncmp(version, mpich, sizeof(mpich) - 1)) {
		name = "MPICH ";
		number += sizeof(mpich) - 1;
		number += strspn(number, " \t");
	}
	snprintf(text, size, "%s%.60s, transports %.40s", name, number,
		 transports && *transports ? transports : "auto");
}

/* [waits] Collective: rank 0 learns what all ranks did. */
static void gather_totals(struct orr_process *proc)
{
	struct orr_run_totals t;
	struct orrery_worker_times *times = &t.work.times;

	orr_real_run_own(proc, &t);
	double most[] = { t.makespan_s, t.peak_rss_bytes, t.work.timed };
	double sums[] = {
		real.messages,         real.bytes,           (double) t.work.tasks,
		t.work.nworkers,       t.work.joules,        times->kernels_us,
		times->messages_us,    times->submission_us, times->foreign_us,
		times->idle_us,        times->data_us,       times->runtime_us,
		real.logical_messages, real.logical_bytes,   t.work.waited_s,
	};
	enum { NMOST = sizeof(most) / sizeof(most[0]), NSUMS = sizeof(sums) / sizeof(sums[0]) };
	double all_most[NMOST], all[NSUMS];
	MPI_Reduce(most, all_most, NMOST, MPI_DOUBLE, MPI_MAX, 0, real.comm);
	MPI_Reduce(sums, all, NSUMS, MPI_DOUBLE, MPI_SUM, 0, real.comm);
	if (real.rank) {
		orr_real_run_all(NULL);
		return;
	}
	t.nodes = (unsigned) real.size;
	t.makespan_s = all_most[0];
	t.peak_rss_bytes = all_most[1];
	t.work.timed = all_most[2] > 0;
	t.messages = all[0];
	t.bytes = all[1];
	t.logical_messages = all[12];
	t.logical_bytes = all[13];
	t.work.tasks = (uint64_t) all[2];
	t.work.nworkers = (unsigned) all[3];
	t.work.joules = all[4];
	t.work.waited_s = all[14];
	*times = (struct orrery_worker_times){ .kernels_us = all[5],
					       .messages_us = all[6],
					       .submission_us = all[7],
					       .foreign_us = all[8],
					       .idle_us = all[9],
					       .data_us = all[10],
					       .runtime_us = all[11] };
	name_network(t.network, sizeof(t.network));
	orr_real_run_all(&t);
}

void orr_sys_mpi_keep_stats(struct orr_process *proc, MPI_Comm next,
			    const struct orr_mpi_peer_stats *peers, unsigned n)
{
	orr_assert_no_lock();
	add_sent(peers, n);
	if (proc->cfg->mpi_stats_file)
		orr_real_stats_keep(real.comm, next, peers, n);
}

void orr_sys_mpi_report_stats(struct orr_process *proc, const struct orr_mpi_peer_stats *peers,
			      unsigned n, int left)
{
	orr_assert_no_lock();
	if (proc->cfg->mpi_fake_rank >= 0) {
		if (proc->cfg->mpi_stats_file)
			orr_real_stats_write_fake(real.comm, proc->cfg->mpi_stats_file,
						  proc->cfg->mpi_fake_rank,
						  proc->cfg->mpi_fake_size, peers, n,
						  orr_sys_now_us() - real.start_us);
		return;
	}
	if (!left) {
		add_sent(peers, n);
		gather_totals(proc);
	}
	if (proc->cfg->mpi_stats_file && !left)
		orr_real_stats_write(real.comm, proc->cfg->mpi_stats_file, peers, n,
				     orr_sys_now_us() - real.start_us);
}

void orr_sys_mpi_abort(struct orr_process *proc)
{
	(void) proc;
	orr_sys_abort();
}
