/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the MPI layer (see parts.h): what each does is in its own module, when it does so
 * is here. */
#include "mpi/run/parts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "mpi/auto/check_inserts.h"
#include "mpi/auto/mpi_redux.h"
#include "mpi/auto/placement.h"
#include "mpi/carry/attach.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/fake_rank.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/match.h"
#include "mpi/carry/mpi_stall.h"
#include "mpi/carry/mpi_transfer.h"
#include "mpi/carry/order.h"
#include "mpi/carry/request.h"
#include "mpi/carry/rest.h"
#include "mpi/carry/stats.h"
#include "mpi/run/heartbeat.h"
#include "mpi/run/lb.h"
#include "mpi/run/resize.h"

/* The communicator cannot change while the program uses that. */
static int in_use(const char *what)
{
	orr_error("orrery_resize_switch: the communicator cannot change while %s is in use", what);
	return -ENOTSUP;
}

/* ---- waiting ---- */

static int begin_waiting(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	orr_waitq_init(&mpi->done);
	orr_mpi_rest_init(mpi);
	return 0;
}

static void end_waiting(struct orr_mpi *mpi)
{
	orr_waitq_destroy(&mpi->done);
	orr_mpi_rest_exit(mpi);
}

/* ---- matching ---- */

static int begin_matching(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	orr_mpi_match_init(mpi);
	return 0;
}

static void end_matching(struct orr_mpi *mpi)
{
	orr_mpi_early_exit(mpi);
	orr_mpi_match_exit(mpi);
}

/* ---- comparing insertions ---- */

static int begin_check(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	orr_mpi_check_init(mpi);
	return 0;
}

static int finish_check(struct orr_mpi *mpi)
{
	if (mpi->check)
		orr_mpi_check_compare(mpi);
	return 0;
}

/* Other ranks compare from here on. */
static void enter_check(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	if (!mpi->check)
		return;
	orr_mpi_check_exit(mpi);
	orr_mpi_check_init(mpi);
}

/* ---- the order of messages, and their peers ---- */

static int begin_order(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	orr_map_init(&mpi->stats.peers, offsetof(struct orr_mpi_peer, key));
	return 0;
}

static void enter_order(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	orr_mpi_order_switch(mpi);
}

/* ---- data ---- */

static void end_types(struct orr_mpi *mpi)
{
	free(mpi->types.list);
}

static int begin_data(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	orr_mpi_data_init(mpi);
	return 0;
}

static void end_data(struct orr_mpi *mpi)
{
	orr_mpi_data_exit(mpi);
	free(mpi->data.ranges);
}

static void renumber_data(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	orr_mpi_data_renumber(mpi, to->places);
}

/* ---- communicators ---- */

static int begin_comms(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	return orr_mpi_comms_init(mpi, to->comm);
}

static int may_switch_comms(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	if (to->comm == MPI_COMM_NULL)
		return orr_mpi_check_unowned(mpi, NULL);
	return orr_mpi_comms_check_switch(mpi, to->comm, orr_mpi_resize_hooks(mpi) != NULL);
}

static void enter_comms(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	orr_mpi_comms_switch(mpi, to->comm);
}

/* ---- reductions ---- */

static int finish_reductions(struct orr_mpi *mpi)
{
	return orr_mpi_redux_flush_all(mpi, mpi->comms.all[0]);
}

/* ---- the worker that the engine steps ---- */

static int may_switch_work(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	return mpi->work.drivers ? in_use("STARPU_MPI_DRIVER_CALL_FREQUENCY") : 0;
}

/* ---- statistics ---- */

static void leave_stats(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	orr_mpi_stats_switch(mpi, to->comm);
}

/* ---- load balancing ---- */

static int may_switch_lb(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	return mpi->guests.lb ? in_use("load balancing (starpu_mpi_lb_init())") : 0;
}

/* ---- resizing ---- */

static int may_switch_resize(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	return orr_mpi_resize_begin(mpi) ? -ENOMEM : 0;
}

static void enter_resize(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	orr_mpi_resize_switch(mpi);
}

/* ---- checkpoints ---- */

static int may_switch_checkpoints(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	return mpi->guests.checkpoints ? in_use("checkpoints (starpu_mpi_checkpoint_init())") : 0;
}

/* ---- a fake rank ---- */

static int begin_fake(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	return mpi->fake ? orr_mpi_alone_init(mpi) : 0;
}

static int may_switch_fake(struct orr_mpi *mpi, const struct orr_mpi_change *to)
{
	(void) to;
	return mpi->fake ? in_use("STARPU_MPI_FAKE_SIZE") : 0;
}

/* ---- the table ---- */

const struct orr_mpi_part orr_mpi_parts[] = {
	{ .name = "types of data", .end = end_types },
	{ .name = "waiting", .begin = begin_waiting, .end = end_waiting },
	{ .name = "requests", .end = orr_mpi_reqs_exit },
	{ .name = "matching", .begin = begin_matching, .end = end_matching },
	{ .name = "stalls", .end = orr_mpi_stall_exit },
	{ .name = "comparison of insertions",
	  .begin = begin_check,
	  .end = orr_mpi_check_exit,
	  .finish = finish_check,
	  .enter = enter_check },
	{ .name = "order of messages",
	  .begin = begin_order,
	  .end = orr_mpi_order_exit,
	  .enter = enter_order },
	{ .name = "placement", .end = orr_mpi_placement_exit },
	{ .name = "data", .begin = begin_data, .end = end_data, .renumber = renumber_data },
	{ .name = "communicators",
	  .begin = begin_comms,
	  .end = orr_mpi_comms_exit,
	  .may_switch = may_switch_comms,
	  .enter = enter_comms },
	{ .name = "reductions", .finish = finish_reductions },
	{ .name = "worker of the engine", .may_switch = may_switch_work },
	{ .name = "statistics", .leave = leave_stats, .stop = orr_mpi_stats_report },
	{ .name = "load balancing", .may_switch = may_switch_lb, .stop = orr_mpi_lb_exit },
	{ .name = "resizing",
	  .may_switch = may_switch_resize,
	  .pause = orr_mpi_resize_pause,
	  .enter = enter_resize,
	  .stop = orr_mpi_resize_exit },
	{ .name = "checkpoints", .may_switch = may_switch_checkpoints },
	{ .name = "fake rank",
	  .begin = begin_fake,
	  .end = orr_mpi_alone_exit,
	  .may_switch = may_switch_fake },
	{ .name = "heartbeat",
	  .begin = orr_mpi_heartbeat_begin,
	  .end = orr_mpi_heartbeat_end,
	  .leave = orr_mpi_heartbeat_leave,
	  .enter = orr_mpi_heartbeat_enter,
	  .stop = orr_mpi_heartbeat_end },
};

const unsigned orr_mpi_nparts = sizeof(orr_mpi_parts) / sizeof(orr_mpi_parts[0]);
