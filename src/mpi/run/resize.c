/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Changes of the number of ranks in use: data that follow a distribution get the owners that it
 * gives for the new number, and move to them.
 *
 * All owners are found before the first one changes, so that a mistake leaves all ranks as they
 * were. A move is a detached message of low priority between data that the tasks before and after
 * it use in their order, so nothing waits for it but those. The cache notes it on both sides, as
 * the value of a datum that was read; then ranks that are no longer in use drop what they have
 * received, and owners forget that these had it.
 *
 * The ranks agree on demands (orrery_resize_point) by a sum to which rank 0 contributes what it was
 * asked for. The sum of one point is over at the next one, which begins another.
 *
 * Invariant: between calls, the datum at place i of the table has ext->follows == i + 1, all ranks
 * have the same number in use, and a sum is under way on all ranks or on none. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "mpi/run/distribution.h"
#include "mpi/auto/mpi_insert.h"
#include "mpi/run/resize.h"
#include "mpi/carry/unmatched.h"
#include "mpi/auto/cache.h"
#include "mpi/carry/attach.h"
#include "mpi/auto/mpi_redux.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/message_trace.h"
#include "base/assert.h"
#include "base/log.h"

#define MOVE_PRIO INT32_MIN /* below messages of tasks */

struct follower {
	starpu_data_handle_t handle;
	orrery_distribution_t distribution;
	int64_t index;
	int owner; /* the next one, while a resize finds them */
};

struct orr_resize {
	int size; /* ranks in use */
	struct follower *v;
	uint32_t n, cap;
	int32_t asked; /* atomic, on rank 0: ranks that somebody asks for, 0: nobody does */
	uint64_t mine, agreed;
	int agreeing; /* a sum is under way: */
	MPI_Request sum;
	const struct orr_resize_hooks *hooks; /* NULL: no process set is followed */
	struct orrery_resize_stats stats;
	int at_point; /* the change that is under way is a part of what a point does */
};

/* In a sum, beside the number: the process set is to change. */
#define SET_CHANGES (1ull << 32)

/* The state of resizes, made at its first use, by any thread; NULL when memory is exhausted. */
static struct orr_resize *resize_of(struct orr_mpi *mpi)
{
	struct orr_resize *r = ORR_ATOMIC_LOAD(&mpi->guests.resize), *none = NULL;

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->size = mpi->size;
	if (ORR_ATOMIC_CAS(&mpi->guests.resize, &none, r))
		return r;
	free(r);
	return none;
}

/* The layer and *r if the communicator is the runtime's, else NULL; *err says why. */
static struct orr_mpi *resize_get(MPI_Comm comm, const char *who, struct orr_resize **r, int *err)
{
	struct orr_mpi *mpi = orr_mpi_get(who);
	struct orr_mpi_comm *c = mpi ? orr_mpi_comm_of(mpi, comm) : NULL;

	*err = mpi ? -EINVAL : -ENODEV;
	if (!c)
		return NULL;
	if (c->index) {
		orr_error(
			"%s: the communicator is not the one that the runtime was started with; name that one",
			who);
		return NULL;
	}
	*r = resize_of(mpi);
	if (*r)
		return mpi;
	orr_error("%s: out of memory", who);
	*err = -ENOMEM;
	return NULL;
}

/* ---- data that follow ---- */

/* The datum of these attributes is being unregistered. */
static void unfollow(struct orr_mpi *mpi, struct orr_mpi_ext *ext)
{
	struct orr_resize *r = mpi->guests.resize;
	uint32_t place = ext->follows - 1;

	orr_assert_locked(&mpi->data.lock);
	orr_assert(r && place < r->n);
	ext->follows = 0;
	r->v[place] = r->v[--r->n];
	if (place < r->n)
		orr_mpi_ext(r->v[place].handle)->follows = place + 1;
}

/* 0, or -EINVAL after a message. */
static int check_follower(starpu_data_handle_t h, const struct orrery_distribution *d,
			  int64_t index)
{
	if (!h || !d) {
		orr_error(
			"orrery_resize_follow: the %s is NULL; register data that follow on all ranks",
			h ? "distribution" : "handle");
		return -EINVAL;
	}
	if (index < 0 || index >= orr_distribution_n(d)) {
		orr_error("orrery_resize_follow: data %s cannot be datum %" PRId64
			  " of a distribution for %" PRId64 " data",
			  orr_handle_name(h), index, orr_distribution_n(d));
		return -EINVAL;
	}
	if (h->mpi_rank < 0 || h->mpi_comm) {
		orr_error(
			"orrery_resize_follow: data %s is not owned by one rank of the runtime's communicator; "
			"register it with the owner that orrery_distribution_owner() gives",
			orr_handle_name(h));
		return -EINVAL;
	}
	return orr_mpi_check_tag(h, "orrery_resize_follow");
}

/* Room for one more. */
static int grow(struct orr_resize *r)
{
	if (r->n < r->cap)
		return 0;
	uint32_t cap = r->cap ? 2 * r->cap : 64;
	struct follower *v = realloc(r->v, cap * sizeof(*v));
	if (!v) {
		orr_error("orrery_resize_follow: out of memory for %u data", cap);
		return -ENOMEM;
	}
	r->v = v;
	r->cap = cap;
	return 0;
}

int orrery_resize_follow(MPI_Comm comm, starpu_data_handle_t handle,
			 orrery_distribution_t distribution, int64_t index)
{
	struct orr_resize *r;
	int ret;
	struct orr_mpi *mpi = resize_get(comm, __func__, &r, &ret);

	if (!mpi)
		return ret;
	ret = check_follower(handle, distribution, index);
	if (!ret)
		ret = grow(r);
	struct orr_mpi_ext *ext = ret ? NULL : orr_mpi_attach(mpi, handle);
	if (!ext)
		return ret ? ret : -ENOMEM;
	orr_lock(&mpi->data.lock);
	mpi->guests.unfollow = unfollow;
	if (!ext->follows)
		ext->follows = ++r->n;
	r->v[ext->follows - 1] = (struct follower){ .handle = handle,
						    .distribution = distribution,
						    .index = index };
	orr_unlock(&mpi->data.lock);
	return 0;
}

/* ---- changing the number ---- */

/* at: the rank that is to have a number; NULL: it has it. */
static int find_owners(struct orr_resize *r, int n, const int *at)
{
	for (uint32_t i = 0; i < r->n; i++) {
		struct follower *f = &r->v[i];
		f->owner = orrery_distribution_owner(f->distribution, f->index, n);
		if (f->owner < 0)
			return f->owner;
		if (at)
			f->owner = at[f->owner];
		if (f->handle->mpi_rank < 0) {
			orr_error(
				"orrery_resize: data %s follows a distribution, but no single rank owns it any more; "
				"do not set it to rank %d",
				orr_handle_name(f->handle), (int) f->handle->mpi_rank);
			return -EINVAL;
		}
	}
	return 0;
}

/* Counts a move, before it begins. */
static void count_move(struct orr_mpi *mpi, const struct follower *f)
{
	struct orrery_resize_stats *s = &mpi->guests.resize->stats;
	const struct orr_mpi_ext *ext = orr_mpi_ext(f->handle);

	s->taken += f->owner == mpi->rank;
	if (f->handle->mpi_rank != mpi->rank)
		return;
	s->given++;
	if (!orr_mpi_ranks_has(ext->sent, ext->nsent, f->owner)) {
		s->sent++;
		s->sent_bytes += starpu_data_get_size(f->handle);
	}
}

static int move(struct orr_mpi *mpi, const struct follower *f)
{
	struct orr_mpi_comm *c = mpi->comms.all[0];
	int ret = orr_mpi_redux_flush(mpi, c, f->handle, MOVE_PRIO, 0);

	if (ret || f->handle->mpi_rank == f->owner)
		return ret;
	count_move(mpi, f);
	return orr_mpi_migrate(mpi, c, f->handle, f->owner, MOVE_PRIO);
}

static int resize(struct orr_mpi *mpi, struct orr_resize *r, int n, const int *at)
{
	int ret = find_owners(r, n, at);

	for (uint32_t i = 0; i < r->n && !ret; i++) {
		/* Other ranks may have succeeded, so there is no way back. */
		if (move(mpi, &r->v[i]))
			orr_sys_mpi_abort(mpi->proc);
		if (n < r->size && !at) /* else the switch does so, which comes next */
			orr_mpi_cache_release(mpi, r->v[i].handle, n);
	}
	if (ret)
		return ret;
	r->stats.resizes += n != r->size;
	r->size = n;
	return 0;
}

/* 0, or -EINVAL after a message. */
static int check_size(const struct orr_mpi *mpi, int n, const char *who)
{
	if (n >= 1 && n <= mpi->size)
		return 0;
	orr_error("%s: %d ranks cannot be in use: the communicator has %d, and one is the least",
		  who, n, mpi->size);
	return -EINVAL;
}

int orrery_resize(MPI_Comm comm, int n)
{
	struct orr_resize *r;
	int ret;
	struct orr_mpi *mpi = resize_get(comm, __func__, &r, &ret);

	if (!mpi)
		return ret;
	ret = check_size(mpi, n, __func__);
	if (ret)
		return ret;
	double since_us = orr_trace_wait_begin(mpi->proc);
	struct orr_resize_sizes before = orr_mpi_resize_sizes(mpi);
	ret = resize(mpi, r, n, NULL);
	orr_mpi_resize_trace(mpi, since_us, before);
	return ret;
}

struct orr_resize_sizes orr_mpi_resize_sizes(const struct orr_mpi *mpi)
{
	return (struct orr_resize_sizes){
		.all = mpi->life.left ? 0 : mpi->size,
		.used = mpi->guests.resize ? mpi->guests.resize->size : mpi->size,
	};
}

void orr_mpi_resize_trace(struct orr_mpi *mpi, double since_us, struct orr_resize_sizes before)
{
	const struct orr_resize *r = mpi->guests.resize;
	struct orr_resize_sizes now = orr_mpi_resize_sizes(mpi);

	if (r && r->at_point)
		return;
	if (now.all != before.all)
		orr_mpi_trace_change(mpi, ORR_CHANGE_RESIZE, since_us, 0, (uint64_t) before.all,
				     (uint64_t) now.all);
	else if (now.used != before.used)
		orr_mpi_trace_change(mpi, ORR_CHANGE_USE, since_us, 0, (uint64_t) before.used,
				     (uint64_t) now.used);
}

void orr_mpi_resize_join(struct orr_mpi *mpi, int size)
{
	orr_assert(!mpi->guests.resize->n && size >= 1 && size <= mpi->size);
	mpi->guests.resize->size = size;
}

int orr_mpi_resize_leave(struct orr_mpi *mpi, const int *places, int n)
{
	int *at = malloc((size_t) mpi->size * sizeof(*at));

	if (!at) /* other ranks begin to move */
		orr_fatal("orrery_resize_point: out of memory for the numbers of ranks");
	for (int rank = 0; rank < mpi->size; rank++)
		if (places[rank] >= 0)
			at[places[rank]] = rank;
	int ret = resize(mpi, mpi->guests.resize, n, at);
	free(at);
	return ret;
}

int orrery_resize_size(MPI_Comm comm)
{
	struct orr_resize *r;
	int ret;

	return resize_get(comm, __func__, &r, &ret) ? r->size : ret;
}

/* ---- demands ---- */

int orrery_resize_ask(MPI_Comm comm, int n)
{
	struct orr_resize *r;
	int ret;
	struct orr_mpi *mpi = resize_get(comm, __func__, &r, &ret);

	if (!mpi)
		return ret;
	if (mpi->rank) {
		orr_error(
			"orrery_resize_ask: rank %d asks for %d ranks, but only rank 0 may: let it ask",
			mpi->rank, n);
		return -EINVAL;
	}
	ret = check_size(mpi, n, __func__);
	if (!ret)
		ORR_ATOMIC_STORE(&r->asked, n);
	return ret;
}

/* [waits] The sum that the ranks agreed on since the last point, 0: none. */
static uint64_t agreed(struct orr_mpi *mpi, struct orr_resize *r)
{
	if (!r->agreeing)
		return 0;
	orr_mpi_sum_finish(mpi, &r->sum);
	r->agreeing = 0;
	return r->agreed;
}

static int agree(struct orr_mpi *mpi, struct orr_resize *r)
{
	r->mine = (uint64_t) ORR_ATOMIC_XCHG(&r->asked, 0);
	if (r->hooks && !mpi->rank && r->hooks->wants(mpi, r->hooks->arg))
		r->mine |= SET_CHANGES;
	int ret = orr_mpi_sum_start(mpi, &r->mine, &r->agreed, 1, &r->sum);
	r->agreeing = !ret;
	return ret;
}

int orrery_resize_point(MPI_Comm comm)
{
	struct orr_resize *r;
	int ret;
	struct orr_mpi *mpi = resize_get(comm, __func__, &r, &ret);

	if (!mpi)
		return ret;
	ret = orr_mpi_check_blocking(__func__);
	if (ret)
		return ret;
	uint64_t sum = mpi->fake ? (uint64_t) ORR_ATOMIC_XCHG(&r->asked, 0) : agreed(mpi, r);
	int n = (int) (sum & (SET_CHANGES - 1));
	double since_us = orr_trace_wait_begin(mpi->proc);
	struct orr_resize_sizes before = orr_mpi_resize_sizes(mpi);
	r->at_point = 1;
	if (n && n != r->size)
		ret = resize(mpi, r, n, NULL);
	int left = r->hooks ? r->hooks->point(mpi, r->hooks->arg, (sum & SET_CHANGES) != 0) : 0;
	r->at_point = 0;
	orr_mpi_resize_trace(mpi, since_us, before);
	if (left)
		return left > 0 ? 0 : left;
	if (!mpi->fake && agree(mpi, r))
		return -EIO;
	return ret ? ret : r->size;
}

int orrery_resize_get_stats(struct orrery_resize_stats *stats)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return -ENODEV;
	*stats = mpi->guests.resize ? mpi->guests.resize->stats : (struct orrery_resize_stats){ 0 };
	return 0;
}

int orr_mpi_resize_hook(struct orr_mpi *mpi, const struct orr_resize_hooks *hooks)
{
	struct orr_resize *r = resize_of(mpi);

	if (r) {
		r->hooks = hooks;
		return 0;
	}
	orr_error("orrery_elastic_start: out of memory");
	return -ENOMEM;
}

const struct orr_resize_hooks *orr_mpi_resize_hooks(const struct orr_mpi *mpi)
{
	return mpi->guests.resize ? mpi->guests.resize->hooks : NULL;
}

int orr_mpi_resize_begin(struct orr_mpi *mpi)
{
	if (resize_of(mpi))
		return 0;
	orr_error("orrery_resize_switch: out of memory");
	return -ENOMEM;
}

void orr_mpi_resize_pause(struct orr_mpi *mpi)
{
	if (mpi->guests.resize)
		agreed(mpi, mpi->guests.resize);
}

void orr_mpi_resize_switch(struct orr_mpi *mpi)
{
	struct orr_resize *r = mpi->guests.resize;

	ORR_ATOMIC_STORE(&r->asked, 0);
	r->size = r->size < mpi->size ? r->size : mpi->size;
	for (unsigned i = 0; i < mpi->data.nattached; i++)
		orr_mpi_cache_release(mpi, mpi->data.attached[i], mpi->size);
}

void orr_mpi_resize_exit(struct orr_mpi *mpi)
{
	struct orr_resize *r = mpi->guests.resize;

	if (!r)
		return;
	orr_lock(&mpi->data.lock);
	for (uint32_t i = 0; i < r->n; i++)
		orr_mpi_ext(r->v[i].handle)->follows = 0;
	mpi->guests.resize = NULL;
	orr_unlock(&mpi->data.lock);
	free(r->v);
	free(r);
}
