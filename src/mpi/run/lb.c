/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load balancing between ranks, policy `heat`: at the beginning of an iteration, a rank gives units
 * of data to neighbours that need less time, as long as that makes the longer one of the two times
 * shorter.
 *
 * The time that a rank needs for an iteration is predicted: the tasks that it inserted in the last
 * one, times the mean time of the tasks that it completed lately, over its workers. So tasks that
 * are inserted ahead need not be over. A task counts for the first datum that it writes.
 *
 * All ranks learn the times by one sum of a vector with places for each of them, and the new owners
 * by a second and a third one, which only take place if times differ enough. The giver changes the
 * owner at once, the others when they hear of it; that is the same place among their insertions.
 *
 * Invariant: whether a sum takes place follows from earlier sums alone, so all ranks take part. */
#include "mpi/run/lb.h"
#include "starpu_mpi_lb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/map.h"
#include "core/task/task_count.h"
#include "mpi/carry/unmatched.h"

#define UNKNOWN_NS ((uint64_t) 1 << 62) /* tasks, but none is over yet */
#define SHARE 20 /* without a threshold of its own, a twentieth of the time makes a difference */

/* A datum with its new owner. */
struct move {
	int64_t tag;
	int from, to;
};

struct orr_lb {
	struct starpu_mpi_lb_conf conf;
	unsigned depth;              /* of iterations */
	uint64_t busy_ns, completed; /* of all workers, at the last one */
	double task_ns;              /* mean time of a task here, 0: not known yet */
	uint64_t *loads;             /* 2 for each rank: time of an iteration, of a task; in ns */
	struct move *moves;          /* of this point */
	unsigned nmoves, cap;
	uint64_t ngiven, ntaken;
};

/* ---- the load of this rank ---- */

static void snapshot(struct orr_mpi *mpi, uint64_t *busy_ns, uint64_t *completed)
{
	const struct orr_core *core = mpi->proc->core;

	*busy_ns = *completed = 0;
	for (unsigned i = 0; i < core->nworkers; i++) {
		*busy_ns += ORR_ATOMIC_LOAD_RELAXED(&core->workers[i].busy_ns);
		*completed += ORR_ATOMIC_LOAD_RELAXED(&core->workers[i].ncompleted);
	}
}

/* [waits] Lets this rank insert about one iteration ahead, so that times are those of lately. */
static void throttle(struct orr_mpi *mpi)
{
	const struct orr_config *cfg = mpi->proc->cfg;
	uint64_t most = cfg->lb_sleep ? (uint64_t) cfg->lb_sleep : mpi->heat.ntasks;

	if (orr_task_npending(mpi->proc) <= most)
		return;
	double left = (double) most * (cfg->lb_wakeup < 1 ? cfg->lb_wakeup : 1);
	starpu_task_wait_for_n_submitted(left > 0 ? (unsigned) left : 0);
}

/* Tasks that were completed since the last point tell what one takes; older ones count half. */
static void measure(struct orr_mpi *mpi)
{
	struct orr_lb *lb = mpi->guests.lb;
	uint64_t busy_ns, completed;

	snapshot(mpi, &busy_ns, &completed);
	if (completed > lb->completed) {
		double now = (double) (busy_ns - lb->busy_ns) /
			     (double) (completed - lb->completed);
		lb->task_ns = lb->task_ns > 0 ? (lb->task_ns + now) / 2 : now;
	}
	lb->busy_ns = busy_ns;
	lb->completed = completed;
}

/* [waits] Fills in lb->loads. */
static void exchange_loads(struct orr_mpi *mpi)
{
	struct orr_lb *lb = mpi->guests.lb;
	uint64_t *mine = calloc(2 * (size_t) mpi->size, sizeof(*mine));

	if (!mine)
		orr_fatal("out of memory for load balancing between %d ranks", mpi->size);
	double task_ns = lb->task_ns / mpi->proc->core->nworkers;
	mine[2 * mpi->rank] = mpi->heat.ntasks && !(task_ns > 0)
				      ? UNKNOWN_NS
				      : (uint64_t) ((double) mpi->heat.ntasks * task_ns);
	mine[2 * mpi->rank + 1] = (uint64_t) task_ns;
	if (orr_mpi_sum(mpi, mine, lb->loads, 2 * mpi->size))
		orr_sys_mpi_abort(mpi->proc);
	free(mine);
}

/* A rank must need so much longer before it gives something. */
static uint64_t threshold(const struct orr_mpi *mpi, uint64_t load)
{
	double us = mpi->proc->cfg->lb_time_us;

	return us >= 0 ? (uint64_t) (us * 1e3) : load / SHARE;
}

/* True if any rank may give something; the same answer on all. */
static int uneven(const struct orr_mpi *mpi)
{
	const uint64_t *loads = mpi->guests.lb->loads;
	uint64_t least = loads[0], most = loads[0];

	for (int rank = 0; rank < mpi->size; rank++) {
		if (loads[2 * rank] == UNKNOWN_NS)
			return 0;
		least = loads[2 * rank] < least ? loads[2 * rank] : least;
		most = loads[2 * rank] > most ? loads[2 * rank] : most;
	}
	return most - least > threshold(mpi, most);
}

/* ---- giving ---- */

static void add_move(struct orr_lb *lb, struct move m)
{
	if (lb->nmoves == lb->cap) {
		lb->cap = lb->cap ? 2 * lb->cap : 16;
		lb->moves = realloc(lb->moves, lb->cap * sizeof(*lb->moves));
		if (!lb->moves)
			orr_fatal("out of memory for the data that load balancing moves");
	}
	lb->moves[lb->nmoves++] = m;
}

/* Tasks of the last iteration that wrote the unit; -1 after a message if the unit cannot go. */
static int64_t unit_tasks(struct orr_mpi *mpi, starpu_data_handle_t *v, int n, int to)
{
	int64_t tasks = 0;

	for (int i = 0; i < n; i++) {
		struct orr_mpi_ext *ext = v[i] ? orr_mpi_ext(v[i]) : NULL;
		if (!ext || v[i]->mpi_rank != mpi->rank || v[i]->mpi_comm || v[i]->mpi_tag < 0) {
			orr_error(
				"load balancing: rank %d offers data %s to rank %d, but does not own it, or it has no tag; get_data_unit_to_migrate() gives data of this rank",
				mpi->rank, v[i] ? orr_handle_name(v[i]) : "NULL", to);
			return -1;
		}
		tasks += ext->lb_interval == mpi->heat.interval ? ext->lb_tasks : 0;
	}
	return tasks;
}

/* Gives one unit if that is worth it. Returns whether it was. */
static int give_unit(struct orr_mpi *mpi, int to)
{
	struct orr_lb *lb = mpi->guests.lb;
	uint64_t *mine = &lb->loads[2 * mpi->rank], *other = &lb->loads[2 * to];
	starpu_data_handle_t *v = NULL;
	int n = 0, worth = 0;

	lb->conf.get_data_unit_to_migrate(&v, &n, to);
	int64_t tasks = n > 0 ? unit_tasks(mpi, v, n, to) : 0;
	if (tasks > 0) {
		uint64_t less = (uint64_t) tasks * mine[1],
			 more = (uint64_t) tasks * (other[1] ? other[1] : mine[1]);
		worth = other[0] + more + threshold(mpi, mine[0]) / 2 < mine[0];
		if (worth) {
			mine[0] -= less < mine[0] ? less : mine[0];
			other[0] += more;
		}
	}
	for (int i = 0; worth && i < n; i++) {
		add_move(lb, (struct move){ v[i]->mpi_tag, mpi->rank, to });
		starpu_mpi_data_migrate(mpi->comms.all[0]->comm, v[i], to);
		lb->ngiven++;
	}
	free(v);
	return worth;
}

/* The neighbour that needs the least time, if this rank needs more than the threshold longer. */
static int neediest(const struct orr_mpi *mpi, const int *v, int n, const char *done)
{
	const uint64_t *loads = mpi->guests.lb->loads;
	uint64_t mine = loads[2 * mpi->rank];
	int best = -1;

	for (int i = 0; i < n; i++) {
		if (done[i] || loads[2 * v[i]] + threshold(mpi, mine) >= mine)
			continue;
		if (best < 0 || loads[2 * v[i]] < loads[2 * v[best]])
			best = i;
	}
	return best;
}

/* Drops numbers that are no rank, after a message, and this rank. Returns how many stay. */
static int valid_neighbours(const struct orr_mpi *mpi, int *v, int n)
{
	int k = 0;

	for (int i = 0; i < n; i++)
		if (v[i] < 0 || v[i] >= mpi->size)
			orr_error("load balancing: get_neighbors() names rank %d of %d", v[i],
				  mpi->size);
		else if (v[i] != mpi->rank)
			v[k++] = v[i];
	return k;
}

static void give(struct orr_mpi *mpi)
{
	int *v = NULL, n = 0, at;

	mpi->guests.lb->conf.get_neighbors(&v, &n);
	n = v && n > 0 ? valid_neighbours(mpi, v, n) : 0;
	char *done = calloc((size_t) n + 1, 1);
	if (!done)
		orr_fatal("out of memory for %d neighbours", n);
	while ((at = neediest(mpi, v, n, done)) >= 0)
		done[at] = !give_unit(mpi, v[at]);
	free(done);
	free(v);
}

/* ---- hearing of it ---- */

/* [waits] The number of moves of all ranks; *first: those of lower ranks. */
static unsigned count_moves(struct orr_mpi *mpi, unsigned *first)
{
	uint64_t *mine = calloc(2 * (size_t) mpi->size, sizeof(*mine)), *all = mine + mpi->size;
	unsigned n = 0;

	if (!mine)
		orr_fatal("out of memory for load balancing between %d ranks", mpi->size);
	mine[mpi->rank] = mpi->guests.lb->nmoves;
	if (orr_mpi_sum(mpi, mine, all, mpi->size))
		orr_sys_mpi_abort(mpi->proc);
	for (int rank = 0; rank < mpi->size; rank++) {
		if (rank == mpi->rank)
			*first = n;
		n += (unsigned) all[rank];
	}
	free(mine);
	return n;
}

static void hear_move(struct orr_mpi *mpi, struct move m)
{
	if (m.from == mpi->rank)
		return;
	starpu_data_handle_t h = orr_map_find(&mpi->data.tags, (uint64_t) m.tag);
	if (!h || h->mpi_comm) {
		if (m.to != mpi->rank)
			return; /* this rank has nothing to do with it */
		orr_error(
			"load balancing: rank %d gives the data of tag %" PRId64
			" to rank %d, which has not registered it; register data on all ranks that they may move to",
			m.from, m.tag, m.to);
		orr_sys_mpi_abort(mpi->proc);
		return;
	}
	mpi->guests.lb->ntaken += m.to == mpi->rank;
	starpu_mpi_data_migrate(mpi->comms.all[0]->comm, h, m.to);
}

/* [waits] All ranks learn the new owners. */
static void announce(struct orr_mpi *mpi)
{
	struct orr_lb *lb = mpi->guests.lb;
	unsigned first = 0, total = count_moves(mpi, &first);

	if (!total)
		return;
	uint64_t *mine = calloc(4 * (size_t) total, sizeof(*mine)), *all = mine + 2 * total;
	if (!mine)
		orr_fatal("out of memory for %u data that load balancing moves", total);
	for (unsigned i = 0; i < lb->nmoves; i++) {
		mine[2 * (first + i)] = (uint64_t) lb->moves[i].tag;
		mine[2 * (first + i) + 1] = (uint64_t) (uint32_t) lb->moves[i].from << 32 |
					    (uint32_t) lb->moves[i].to;
	}
	if (orr_mpi_sum(mpi, mine, all, (int) (2 * total)))
		orr_sys_mpi_abort(mpi->proc);
	for (unsigned i = 0; i < total; i++)
		hear_move(mpi, (struct move){ (int64_t) all[2 * i], (int) (all[2 * i + 1] >> 32),
					      (int) (all[2 * i + 1] & UINT32_MAX) });
	free(mine);
}

/* ---- the point ---- */

/* [waits] */
static void balance(struct orr_mpi *mpi)
{
	struct orr_lb *lb = mpi->guests.lb;

	throttle(mpi);
	measure(mpi);
	exchange_loads(mpi);
	lb->nmoves = 0;
	if (uneven(mpi)) {
		give(mpi);
		announce(mpi);
	}
	mpi->heat.ntasks = 0;
	mpi->heat.interval++;
}

static void iteration(struct orr_mpi *mpi, int begins)
{
	struct orr_lb *lb = mpi->guests.lb;

	if (orr_thread_self()->task)
		return;
	if (!begins)
		lb->depth -= lb->depth > 0;
	else if (!lb->depth++)
		balance(mpi);
}

/* ---- start and end ---- */

/* The name of the policy that is asked for, or NULL. */
static const char *chosen(const struct orr_mpi *mpi, const char *name)
{
	if (mpi->proc->cfg->mpi_lb)
		name = mpi->proc->cfg->mpi_lb;
	return name && *name ? name : NULL;
}

static int refused(const struct orr_mpi *mpi, const char *name,
		   const struct starpu_mpi_lb_conf *itf)
{
	if (strcmp(name, "heat")) {
		orr_error(
			"load balancing: there is no policy '%s', only 'heat'; see starpu_mpi_lb_init() and STARPU_MPI_LB",
			name);
	} else if (!itf || !itf->get_neighbors || !itf->get_data_unit_to_migrate) {
		orr_error(
			"starpu_mpi_lb_init: policy '%s' needs both functions, get_neighbors and get_data_unit_to_migrate",
			name);
	} else if (mpi->data.nregistered) {
		orr_error(
			"starpu_mpi_lb_init: data are registered already; call it before starpu_mpi_data_register(), so that each rank can find the data that others give away");
	} else if (mpi->guests.lb) {
		orr_error(
			"starpu_mpi_lb_init: a policy runs already; call starpu_mpi_lb_shutdown() first");
	} else
		return 0;
	return -EINVAL;
}

void starpu_mpi_lb_init(const char *lb_policy_name, struct starpu_mpi_lb_conf *itf)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	const char *name = mpi ? chosen(mpi, lb_policy_name) : NULL;

	if (!name || refused(mpi, name, itf) || orr_mpi_check_blocking(__func__) || mpi->fake)
		return;
	struct orr_lb *lb = calloc(1, sizeof(*lb));
	uint64_t *loads = calloc(2 * (size_t) mpi->size, sizeof(*loads));
	if (!lb || !loads)
		orr_fatal("out of memory for load balancing between %d ranks", mpi->size);
	*lb = (struct orr_lb){ .conf = *itf, .loads = loads };
	mpi->heat = (struct orr_mpi_heat){ .counts = 1, .interval = 1 };
	/* A kernel that runs now was not timed when it began. */
	starpu_task_wait_for_all();
	mpi->proc->perf_timing = 1;
	snapshot(mpi, &lb->busy_ns, &lb->completed);
	mpi->guests.lb = lb;
	mpi->guests.iteration = iteration;
}

void orr_mpi_lb_exit(struct orr_mpi *mpi)
{
	struct orr_lb *lb = mpi->guests.lb;

	if (!lb)
		return;
	if (mpi->stats.print)
		printf("[starpu_mpi_lb][%d] %" PRIu64 " data given to other ranks, %" PRIu64
		       " taken from them\n",
		       mpi->rank, lb->ngiven, lb->ntaken);
	mpi->guests.lb = NULL;
	mpi->heat.counts = 0;
	mpi->guests.iteration = NULL;
	free(lb->loads);
	free(lb->moves);
	free(lb);
}

void starpu_mpi_lb_shutdown(void)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (mpi)
		orr_mpi_lb_exit(mpi);
}
