/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Start and end of the MPI layer.
 *
 * Order: MPI, then the core (which reads the configuration), then the engine; the end is the
 * reverse. What init did is undone by shutdown, what the program did itself is not. In an elastic
 * run MPI is up, and the core begins before the processes meet (meet.h), so that the others learn
 * of its failure while they can still do without this process.
 *
 * Invariant: proc->mpi is set exactly while the engine may be used. No message is exchanged to
 * start, unless traces are to have one clock. */
#include <config.h>
#include "mpi/carry/direct.h"
#include "mpi/carry/limits.h"
#include "mpi/run/meet.h"
#include "mpi/run/parts.h"
#include "mpi/run/resize.h"
#include "mpi/carry/layer.h"
#include "orrery.h"
#include "orrery_resize.h"
#include "mpi/carry/relay.h"
#include "mpi/carry/mpi_upcalls.h"
#include "mpi/carry/unmatched.h"
#include "mpi/carry/engine_work.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/engine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/config.h"
#include "base/log.h"
#include "base/map.h"
#include "base/upcalls.h"
#include "trace/trace.h"

/* The tag that the program sets before any context exists. Equal on all ranks by contract, so one
 * is enough for all of them. */
static int comm_tag = ORR_MPI_DEFAULT_TAG;

int starpu_mpi_get_communication_tag(void)
{
	struct orr_mpi *mpi = orr_self()->mpi;

	return mpi ? mpi->set.comm_tag : comm_tag;
}

void starpu_mpi_set_communication_tag(int tag)
{
	if (orr_self()->mpi)
		orr_warn(
			"starpu_mpi_set_communication_tag has no effect after starpu_mpi_init: call it before, on every rank");
	else if (tag < 0)
		orr_error("starpu_mpi_set_communication_tag: tag %d is negative", tag);
	else
		comm_tag = tag;
}

static void configure(struct orr_mpi *mpi)
{
	const struct orr_config *cfg = mpi->proc->cfg;

	mpi->set.comm_tag = comm_tag;
	mpi->set.cache = cfg->mpi_cache;
	mpi->set.eager_limit = cfg->mpi_eager_limit > 0 ? (size_t) cfg->mpi_eager_limit : 0;
	mpi->ready.max = cfg->mpi_nready_process;
	mpi->set.coop = cfg->mpi_coop_sends;
	mpi->set.pedantic = orr_config_long("ORRERY_MPI_PEDANTIC_ISEND", ORR_MPI_PEDANTIC_ISEND) >
			    0;
	mpi->redux.threshold = orr_config_long("STARPU_MPI_REDUX_ARITY_THRESHOLD", 1024);
	mpi->fake = cfg->mpi_fake_rank >= 0 || cfg->mpi_fake_size > 0;
	mpi->stats.counting = cfg->mpi_stats ? ORR_MPI_COUNTS_FOR_PROGRAM
					     : ORR_MPI_COUNTS_FOR_WORLD;
	mpi->stats.print = cfg->mpi_stats;
	mpi->stats.counts_time = cfg->mpi_stats_file || cfg->statistics || orrery_is_simulated();
	orr_mpi_limits_init(mpi);
	orr_mpi_direct_init(mpi);
}

/* Clocks are compared for a trace. */
static int compares_clocks(const struct orr_mpi *mpi)
{
	return mpi->proc->trace && !mpi->fake && mpi->size > 1 &&
	       orr_config_long("STARPU_MPI_TRACE_SYNC_CLOCKS", 1) > 0;
}

/* The trace has one clock, that of rank 0, and says which rank this is. */
static void place_in_trace(const struct orr_mpi *mpi)
{
	struct orr_trace_clock clock = { 0 };

	if (compares_clocks(mpi))
		clock.behind_us = orr_sys_mpi_clock_behind_us(mpi->proc, &clock.error_us);
	if (mpi->proc->trace)
		orr_trace_place(mpi->proc, &clock);
}

/* [waits] Compares the clocks once more, as they drift apart. */
static void end_in_trace(const struct orr_mpi *mpi)
{
	struct orr_trace_clock clock = { .at_end = 1 };

	if (!compares_clocks(mpi))
		return;
	clock.behind_us = orr_sys_mpi_clock_behind_us(mpi->proc, &clock.error_us);
	orr_trace_clock(mpi->proc, &clock);
}

/* Pretends to be one rank of many. */
static int configure_fake(struct orr_mpi *mpi, int *rank, int *size)
{
	const struct orr_config *cfg = mpi->proc->cfg;

	if (!mpi->fake)
		return 0;
	if (cfg->mpi_fake_size > 0)
		*size = cfg->mpi_fake_size;
	if (cfg->mpi_fake_rank >= 0)
		*rank = cfg->mpi_fake_rank;
	if (*rank < *size)
		return 0;
	orr_error(
		"STARPU_MPI_FAKE_RANK is %d, but there are only %d ranks: set STARPU_MPI_FAKE_SIZE to more than that",
		*rank, *size);
	return -EINVAL;
}

/* [waits] Two processes that play one rank measure it twice: the second one says so. */
static void check_fakes(struct orr_process *proc)
{
	const struct orr_config *cfg = proc->cfg;
	int fake = cfg->mpi_fake_size > 0 ? cfg->mpi_fake_rank : -1, place, other;

	if (orr_sys_mpi_elastic())
		return;
	other = orr_sys_mpi_same_fake(proc, fake, &place);
	if (other >= 0)
		orr_warn(
			"processes %d and %d of this run both play rank %d of %d, and measure the same: start one process, or give each a STARPU_MPI_FAKE_RANK of its own",
			other, place, fake, cfg->mpi_fake_size);
}

static void release(struct orr_mpi *mpi)
{
	free(mpi->trace.turns);
	free(mpi);
}

static int make(struct orr_process *proc, MPI_Comm comm, int rank, int size, double begun_us,
		struct orr_mpi **out)
{
	struct orr_mpi *mpi = aligned_alloc(_Alignof(struct orr_mpi), sizeof(*mpi));

	if (!mpi) {
		orr_error("out of memory for the MPI layer");
		return -ENOMEM;
	}
	*mpi = (struct orr_mpi){ .proc = proc,
				 .life.count = 1,
				 .start_us = fmin(begun_us, orr_sys_now_us()) };
	orr_lock_init(&mpi->comms.lock, ORR_RANK_MPI_COMM);
	orr_lock_init(&mpi->lock, ORR_RANK_MPI);
	orr_lock_init(&mpi->data.lock, ORR_RANK_MPI_DATA);
	configure(mpi);
	int ret = configure_fake(mpi, &rank, &size);
	if (!ret && proc->trace && !(mpi->trace.turns = calloc(4, sizeof(*mpi->trace.turns)))) {
		orr_error("out of memory for the trace");
		ret = -ENOMEM;
	}
	if (!ret) {
		mpi->rank = proc->mpi_rank = rank;
		mpi->size = proc->mpi_size = size;
		mpi->transport = orr_sys_mpi_transport(proc);
		mpi->set.max_route = orr_mpi_route_max(size);
		mpi->may_drive = mpi->fake || orr_sys_mpi_may_drive(proc);
		ret = orr_mpi_parts_begin(mpi, orr_mpi_parts, orr_mpi_nparts,
					  &(struct orr_mpi_change){ .comm = comm });
	}
	if (ret)
		release(mpi);
	else
		*out = mpi;
	return ret;
}

/* [waits] A worker may have put the last request into the inbox, and not have noticed that it is
 * over. */
static void await_submissions(struct orr_mpi *mpi)
{
	while (ORR_ATOMIC_LOAD(&mpi->engine.nsubmitting))
		orr_sys_sleep_us(50);
}

static void unmake(struct orr_mpi *mpi)
{
	await_submissions(mpi);
	orr_assertf(!mpi->ndetached, "%d detached requests are left", mpi->ndetached);
	orr_mpi_parts_end(mpi, orr_mpi_parts, orr_mpi_nparts);
	release(mpi);
}

static void set_layer(struct orr_process *proc, struct orr_mpi *mpi)
{
	proc->mpi_up = mpi ? &orr_mpi_upcalls : NULL;
	ORR_ATOMIC_STORE(&proc->mpi, mpi);
}

/* Is the process a master or a slave, or would starpu_init(conf) make it one? */
static int is_master_slave(const struct orr_process *proc, int with_core,
			   const struct starpu_conf *conf)
{
	return proc->slaves || (with_core && (orr_config_long("STARPU_NMPI_MS", 0) > 0 ||
					      (conf && conf->nmpi_ms > 0)));
}

/* 0, or -errno after a message if the layer cannot begin. */
static int check_init(const struct orr_process *proc, int with_core, const struct starpu_conf *conf)
{
	if (!with_core && proc->state != ORR_PROCESS_UP) {
		orr_error(
			"starpu_mpi_init needs starpu_init() before it; or call starpu_mpi_init_conf(), which does both");
		return -ENODEV;
	}
	if (is_master_slave(proc, with_core, conf)) {
		orr_error(
			"starpu_mpi_init: the master-slave mode (STARPU_NMPI_MS, the field nmpi_ms) and starpu_mpi exclude each other; unset it, or leave the distribution to it and call starpu_init alone");
		return -EINVAL;
	}
	return 0;
}

/* The core, if the layer began it. */
struct core_start {
	int up;
	struct starpu_driver
		*drivers; /* owned: what it was told not to start; NULL: nothing of ours */
	unsigned cpu;
};

static void end_core(struct core_start *c)
{
	if (c->up)
		starpu_shutdown();
	free(c->drivers);
	*c = (struct core_start){ 0 };
}

static int begin_core(struct core_start *c, struct starpu_conf *conf)
{
	struct starpu_conf *own = NULL;
	int ret = orr_mpi_work_reserve(conf, &own, &c->cpu);

	if (own)
		c->drivers = own->not_launched_drivers;
	if (!ret)
		ret = starpu_init(own ? own : conf);
	free(own);
	c->up = !ret;
	if (ret)
		end_core(c);
	return ret;
}

/* [waits] The processes of the communicator agree that they begin, in an elastic run. */
static int meet(struct orr_process *proc, MPI_Comm comm, int with_core, struct starpu_conf *conf,
		struct core_start *core, double *begun_us)
{
	int ret = check_init(proc, with_core, conf);

	if (!ret && with_core && orr_mpi_meets(comm)) {
		MPI_Comm_rank(comm, &proc->mpi_rank);
		MPI_Comm_size(comm, &proc->mpi_size);
		ret = begin_core(core, conf);
	}
	ret = orr_mpi_meet_beginning(proc, comm, ret, begun_us);
	if (ret)
		end_core(core);
	return ret;
}

/* with_core: call starpu_init(conf). */
static int init(int *argc, char ***argv, int initialize, MPI_Comm comm, int with_core,
		struct starpu_conf *conf)
{
	struct orr_process *proc = orr_self();
	struct orr_mpi *mpi = NULL;
	struct core_start core = { 0 };
	int rank = 0, size = 1, ret;
	double begun_us;

	if (proc->mpi) {
		proc->mpi->life.count++;
		return 0;
	}
	ret = meet(proc, comm, with_core, conf, &core, &begun_us);
	if (ret)
		return ret;
	ret = orr_sys_mpi_init(proc, argc, argv, initialize, comm, &rank, &size);
	if (ret)
		goto no_mpi;
	proc->mpi_rank = rank;
	proc->mpi_size = size;
	if (with_core && !core.up)
		ret = begin_core(&core, conf);
	if (ret)
		goto no_core;
	check_fakes(proc);
	ret = orr_sys_mpi_prepare_stats(proc);
	if (ret)
		goto no_core;
	ret = make(proc, comm, rank, size, begun_us, &mpi);
	if (ret)
		goto no_core;
	mpi->life.owns_core = with_core;
	mpi->work.cpu = core.cpu;
	mpi->work.drivers = core.drivers;
	place_in_trace(mpi);
	set_layer(proc, mpi);
	ret = orr_mpi_engine_start(mpi);
	if (!ret) {
		orr_sys_live_layer(proc, 1);
		return 0;
	}
	set_layer(proc, NULL);
	unmake(mpi);
no_core:
	if (begun_us < INFINITY)
		orr_fatal("starpu_mpi_init: this process cannot go on, and the others rely on it");
	end_core(&core);
	orr_sys_mpi_exit(proc);
	return ret;
no_mpi:
	end_core(&core);
	return ret;
}

int starpu_mpi_init_conf(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm,
			 struct starpu_conf *conf)
{
	return init(argc, argv, initialize_mpi, comm, 1, conf);
}

int starpu_mpi_init_comm(int *argc, char ***argv, int initialize_mpi, MPI_Comm comm)
{
	return init(argc, argv, initialize_mpi, comm, 0, NULL);
}

int starpu_mpi_init(int *argc, char ***argv, int initialize_mpi)
{
	return init(argc, argv, initialize_mpi, MPI_COMM_WORLD, 0, NULL);
}

int starpu_mpi_initialize(void)
{
	return init(NULL, NULL, 0, MPI_COMM_WORLD, 0, NULL);
}

int starpu_mpi_initialize_extended(int *rank, int *world_size)
{
	int ret = init(NULL, NULL, 1, MPI_COMM_WORLD, 0, NULL);

	if (!ret) {
		*rank = orr_self()->mpi_rank;
		*world_size = orr_self()->mpi_size;
	}
	return ret;
}

/* [waits] All ranks are done with inserting, for now. */
static int finish_insertions(struct orr_mpi *mpi)
{
	return orr_mpi_parts_finish(mpi, orr_mpi_parts, orr_mpi_nparts);
}

/* [waits] Stops the engine when nothing is under way between the ranks. */
static void stand_still(struct orr_mpi *mpi)
{
	if (mpi->fake)
		starpu_mpi_wait_for_all(mpi->comms.all[0]->comm);
	/* Nobody stops before all have what was sent to them. */
	else if (!orr_mpi_settle(mpi))
		orr_mpi_report_unmatched(mpi);
	orr_mpi_engine_stop(mpi);
}

/* ---- going on with another communicator ---- */

/* [waits] All ranks refuse if one of them does: 0, its own reason, or one of others. */
static int agree_on_switch(struct orr_mpi *mpi, int ret)
{
	static const int reasons[] = { -EBUSY, -EINVAL, -ENOTSUP, -ENOMEM, -EIO };
	enum { N = sizeof(reasons) / sizeof(*reasons) };
	uint64_t mine[N], all[N];
	int reason = 0;

	if (mpi->fake)
		return ret;
	while (reason < N - 1 && ret != reasons[reason])
		reason++; /* the last one stands for others */
	for (int i = 0; i < N; i++)
		mine[i] = ret && i == reason;
	if (orr_mpi_sum(mpi, mine, all, N))
		return -EIO;
	for (int i = 0; i < N && !ret; i++) {
		if (!all[i])
			continue;
		orr_error(
			"orrery_resize_switch: the communicator cannot change, because %d of %d ranks refuse (%s); see their messages",
			(int) all[i], mpi->size, strerror(-reasons[i]));
		ret = reasons[i];
	}
	return ret;
}

/* [waits] All ranks are done with inserting, and agree with each other and with the new processes
 * of the communicator. Everything that may be refused is refused here, so that new processes learn
 * of it. */
static int meet_for_switch(struct orr_mpi *mpi, MPI_Comm comm)
{
	struct orr_mpi_change to = { .comm = comm };
	int ret = finish_insertions(mpi),
	    refused = orr_mpi_parts_may_switch(mpi, orr_mpi_parts, orr_mpi_nparts, &to);

	ret = agree_on_switch(mpi, ret ? ret : refused);
	if (mpi->fake || comm == MPI_COMM_NULL || !orr_mpi_comms_has_new(mpi, comm))
		return ret;
	return orr_mpi_meet_staying(mpi, comm, ret);
}

/* [waits] Goes on with the communicator, like init() with a new one. */
static int enter(struct orr_mpi *mpi, MPI_Comm comm)
{
	struct orr_process *proc = mpi->proc;
	int *places = orr_mpi_comms_places(mpi, comm);
	struct orr_mpi_change to = { .comm = comm, .places = places };

	if (places)
		orr_mpi_parts_renumber(mpi, orr_mpi_parts, orr_mpi_nparts, &to);
	int ret = orr_sys_mpi_init(proc, NULL, NULL, 0, comm, &mpi->rank, &mpi->size);
	if (ret) {
		free(places);
		return ret;
	}
	proc->mpi_rank = mpi->rank;
	proc->mpi_size = mpi->size;
	mpi->transport = orr_sys_mpi_transport(proc);
	mpi->set.max_route = orr_mpi_route_max(mpi->size);
	orr_mpi_parts_enter(mpi, orr_mpi_parts, orr_mpi_nparts, &to);
	free(places);
	place_in_trace(mpi);
	return orr_mpi_engine_start(mpi);
}

int orrery_resize_switch(MPI_Comm comm)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	int ret = mpi ? orr_mpi_check_blocking(__func__) : -ENODEV;

	if (ret)
		return ret;
	double since_us = orr_trace_wait_begin(mpi->proc);
	struct orr_resize_sizes before = orr_mpi_resize_sizes(mpi);
	ret = meet_for_switch(mpi, comm);
	if (ret)
		return ret;
	orr_mpi_parts_pause(mpi, orr_mpi_parts, orr_mpi_nparts);
	stand_still(mpi);
	orr_mpi_parts_leave(mpi, orr_mpi_parts, orr_mpi_nparts,
			    &(struct orr_mpi_change){ .comm = comm });
	orr_sys_mpi_leave(mpi->proc);
	mpi->life.left = comm == MPI_COMM_NULL;
	if (!mpi->life.left && enter(mpi, comm))
		orr_fatal("orrery_resize_switch: this rank cannot go on with the new communicator");
	orr_mpi_resize_trace(mpi, since_us, before);
	return 0;
}

int starpu_mpi_shutdown_comm(MPI_Comm comm)
{
	struct orr_process *proc = orr_self();
	struct orr_mpi *mpi = orr_mpi_get("starpu_mpi_shutdown");

	(void) comm;
	if (!mpi)
		return -ENODEV;
	if (--mpi->life.count)
		return 0;
	int ret = orr_mpi_check_blocking("starpu_mpi_shutdown");
	if (!ret && !mpi->life.left)
		ret = finish_insertions(mpi);
	if (ret) {
		mpi->life.count++;
		return ret;
	}
	orr_mpi_parts_pause(mpi, orr_mpi_parts, orr_mpi_nparts);
	if (!mpi->life.left) {
		stand_still(mpi);
		end_in_trace(mpi);
	}
	orr_sys_live_layer(proc, 0);
	orr_mpi_parts_stop(mpi, orr_mpi_parts, orr_mpi_nparts);
	set_layer(proc, NULL);
	struct starpu_driver *drivers = mpi->work.drivers;
	int core = mpi->life.owns_core;
	unmake(mpi);
	if (core)
		starpu_shutdown();
	free(drivers);
	orr_sys_mpi_exit(proc);
	return 0;
}

int starpu_mpi_shutdown(void)
{
	struct orr_mpi *mpi = orr_self()->mpi;

	return starpu_mpi_shutdown_comm(mpi ? mpi->comms.all[0]->comm : MPI_COMM_WORLD);
}

int starpu_mpi_get_thread_cpuid(void)
{
	const struct orr_config *cfg = orr_self()->cfg;

	return cfg->mpi_nobind ? -1 : cfg->mpi_thread_cpuid;
}
