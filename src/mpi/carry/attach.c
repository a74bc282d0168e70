/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Owners and tags of data, and the attributes of those that take part in automatic communications.
 *
 * Registration only writes the handle's own fields: a datum that this rank never communicates costs
 * nothing more. At its first automatic communication a datum is attached: it gets its attributes
 * (where it was sent, ...) and enters the lists below, and that is when two data with one tag are
 * found out.
 *
 * Invariant: a handle is in mpi->data.attached, and in mpi->data.tags if it has a tag, exactly
 * while it has ORR_MPI_ATTACHED. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "mpi/carry/layer.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/attach.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/map.h"
#include "base/slab.h"
#include "data/data.h"
#include "data/handle_trace.h"

/* ---- sets of ranks ---- */

static unsigned rank_slot(const int32_t *v, unsigned n, int rank)
{
	unsigned low = 0, high = n;

	while (low < high) {
		unsigned mid = (low + high) / 2;
		if (v[mid] < rank)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int orr_mpi_ranks_has(const int32_t *v, unsigned n, int rank)
{
	unsigned i = rank_slot(v, n, rank);

	return i < n && v[i] == rank;
}

int orr_mpi_ranks_insert(int32_t **v, uint32_t *n, uint32_t *cap, int rank)
{
	unsigned i = rank_slot(*v, *n, rank);

	if (i < *n && (*v)[i] == rank)
		return 1;
	if (*n == *cap) {
		uint32_t more = *cap ? 2 * *cap : 4;
		int32_t *bigger = realloc(*v, more * sizeof(**v));
		if (!bigger)
			return -ENOMEM;
		*v = bigger;
		*cap = more;
	}
	memmove(*v + i + 1, *v + i, (*n - i) * sizeof(**v));
	(*v)[i] = rank;
	++*n;
	orr_assert((i == 0 || (*v)[i - 1] < rank) && (i + 1 == *n || rank < (*v)[i + 1]));
	return 0;
}

/* ---- attachment ---- */

static void detach_tag(struct orr_mpi *mpi, starpu_data_handle_t h, struct orr_mpi_ext *ext)
{
	orr_assert_locked(&mpi->data.lock);
	orr_assert(!ext->in_tags || orr_map_find(&mpi->data.tags, (uint64_t) h->mpi_tag));
	if (ext->in_tags)
		orr_map_remove(&mpi->data.tags, h);
	ext->in_tags = 0;
}

/* Enters the tag; a second datum with it cannot be told from the first by the other ranks, so this
 * ends the program. */
static void attach_tag(struct orr_mpi *mpi, starpu_data_handle_t h, struct orr_mpi_ext *ext)
{
	uint32_t cursor = ORR_MAP_START;
	starpu_data_handle_t other;

	orr_assert_locked(&mpi->data.lock);
	orr_assert(!ext->in_tags);
	if (h->mpi_tag < 0)
		return;
	while ((other = orr_map_find_next(&mpi->data.tags, (uint64_t) h->mpi_tag, &cursor)))
		if (other->mpi_comm == h->mpi_comm) {
			orr_error(
				"two data have one tag: %s and %s are both registered with tag %" PRId64
				", so messages for one could reach the other; "
				"give each its own in starpu_mpi_data_register(), see starpu_mpi_tags_allocate()",
				orr_handle_name(other), orr_handle_name(h), h->mpi_tag);
			orr_sys_mpi_abort(mpi->proc);
		}
	if (orr_map_insert(&mpi->data.tags, h))
		orr_fatal("out of memory for the table of data tags");
	ext->in_tags = 1;
}

static void free_ext(struct orr_mpi_ext *ext)
{
	free(ext->sent);
	free(ext->redux);
	free(ext->type);
	free(ext);
}

/* Handbook 14.15: a datum goes back to its original owner, at least its value, before it is
 * unregistered. */
static void complain_of_stale_home(starpu_data_handle_t h)
{
	if (h->bring_home && h->home_node >= 0 && h->mpi_flags & ORR_MPI_STALE)
		orr_error(
			"%s is unregistered, but rank %d owns it and has written it since it left: the program's memory here keeps an old value; "
			"call starpu_mpi_data_migrate() or starpu_mpi_get_data_on_node() to bring the value home first",
			orr_handle_name(h), (int) h->mpi_rank);
}

/* The datum is being unregistered. */
static void detach(starpu_data_handle_t h)
{
	struct orr_mpi *mpi = orr_self()->mpi;
	struct orr_mpi_ext *ext = orr_mpi_ext(h);

	if (mpi)
		orr_mpi_holds_end(mpi, h);
	if (!ext)
		return;
	complain_of_stale_home(h);
	if (mpi) {
		orr_lock(&mpi->data.lock);
		if (ext->follows)
			mpi->guests.unfollow(mpi, ext);
		orr_assert(ext->index < mpi->data.nattached && mpi->data.attached[ext->index] == h);
		detach_tag(mpi, h, ext);
		starpu_data_handle_t last = mpi->data.attached[--mpi->data.nattached];
		mpi->data.attached[ext->index] = last;
		((struct orr_mpi_ext *) last->mpi_ext)->index = ext->index;
		if (h->mpi_flags & ORR_MPI_REDUXING) {
			orr_assert(mpi->redux.nreduxing > 0);
			mpi->redux.nreduxing--;
		}
		orr_assert(mpi->redux.nreduxing <= mpi->data.nattached);
		orr_unlock(&mpi->data.lock);
	}
	ORR_ATOMIC_STORE_RELAXED(&h->mpi_flags, 0);
	h->mpi_ext = NULL;
	free_ext(ext);
}

struct orr_mpi_ext *orr_mpi_attach(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	struct orr_mpi_ext *ext = orr_mpi_ext(h);

	if (ext)
		return ext;
	ext = calloc(1, sizeof(*ext));
	if (!ext) {
		orr_error("out of memory for the MPI attributes of data %s", orr_handle_name(h));
		return NULL;
	}
	orr_lock(&mpi->data.lock);
	orr_assertf(!(h->mpi_flags & ORR_MPI_ATTACHED), "two threads attach one datum");
	if (mpi->data.nattached == mpi->data.attached_cap) {
		mpi->data.attached_cap = mpi->data.attached_cap ? 2 * mpi->data.attached_cap : 16;
		mpi->data.attached = realloc(mpi->data.attached,
					     mpi->data.attached_cap * sizeof(*mpi->data.attached));
		if (!mpi->data.attached)
			orr_fatal("out of memory for the list of data");
	}
	ext->index = mpi->data.nattached;
	mpi->data.attached[mpi->data.nattached++] = h;
	h->mpi_ext = ext;
	attach_tag(mpi, h, ext);
	orr_mpi_flags(h, ORR_MPI_ATTACHED, 0);
	orr_unlock(&mpi->data.lock);
	return ext;
}

void orr_mpi_data_init(struct orr_mpi *mpi)
{
	orr_map_init(&mpi->data.tags, offsetof(struct _starpu_data_state, mpi_tag));
	mpi->proc->data->mpi_detach = detach;
}

void orr_mpi_data_exit(struct orr_mpi *mpi)
{
	for (unsigned i = 0; i < mpi->data.nattached; i++) {
		starpu_data_handle_t h = mpi->data.attached[i];
		orr_assert(orr_mpi_ext(h) && orr_mpi_ext(h)->index == i);
		free_ext(h->mpi_ext);
		h->mpi_ext = NULL;
		ORR_ATOMIC_STORE_RELAXED(&h->mpi_flags, 0);
	}
	free(mpi->data.attached);
	orr_map_exit(&mpi->data.tags);
}

int orr_mpi_check_tag(starpu_data_handle_t h, const char *what)
{
	if (h->mpi_tag >= 0)
		return 0;
	orr_error(
		"%s: data %s has to travel between ranks but has no tag: give it one with starpu_mpi_data_register()",
		what, orr_handle_name(h));
	return -EINVAL;
}

/* Calls f(datum, arg) for each datum that this process knows. Most handles are in the slab; the
 * others are attached if they were exchanged, or registered after the program began to use
 * resizing. */
static void each_datum(struct orr_mpi *mpi, void (*f)(void *handle, void *arg), void *arg)
{
	orr_slab_foreach(&mpi->proc->data->handle_slab, f, arg);
	for (unsigned i = 0; i < mpi->data.nattached; i++)
		if (!mpi->data.attached[i]->slab)
			f(mpi->data.attached[i], arg);
}

/* The ranks of now and their places, and a datum whose owner leaves. */
struct owned {
	int rank, size;
	const int *places;
	starpu_data_handle_t found;
};

/* The slab has what is left of earlier data, too. */
static int lives(const struct _starpu_data_state *h)
{
	return ORR_ATOMIC_LOAD_RELAXED(&h->alive) == ORR_HANDLE_ALIVE;
}

static void look_at(void *handle, void *search)
{
	starpu_data_handle_t h = handle;
	struct owned *s = search;

	if (!lives(h) || h->mpi_rank < 0 || h->mpi_rank >= s->size)
		return;
	if (s->places ? s->places[h->mpi_rank] < 0 : h->mpi_rank == s->rank)
		s->found = h;
}

int orr_mpi_check_unowned(struct orr_mpi *mpi, const int *places)
{
	struct owned s = { .rank = mpi->rank, .size = mpi->size, .places = places };

	each_datum(mpi, look_at, &s);
	if (!s.found)
		return 0;
	orr_error(
		"rank %d cannot leave, because it owns data %s: let them follow (orrery_resize_follow()) and use fewer ranks (orrery_resize()) before it leaves",
		(int) s.found->mpi_rank, orr_handle_name(s.found));
	return -EBUSY;
}

static int by_rank(const void *a, const void *b)
{
	int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;

	return (x > y) - (x < y);
}

static void renumber(void *handle, void *numbers)
{
	starpu_data_handle_t h = handle;
	struct orr_mpi_ext *ext = lives(h) ? orr_mpi_ext(h) : NULL;
	const struct owned *s = numbers;
	const int *to = s->places;
	uint32_t n = 0;

	if (lives(h) && !h->mpi_comm && h->mpi_rank >= 0 && h->mpi_rank < s->size) {
		h->mpi_rank = to[h->mpi_rank];
		orr_assertf(h->mpi_rank >= 0, "data %s has lost its owner", orr_handle_name(h));
	}
	if (!ext)
		return;
	orr_assertf(!ext->nredux, "a reduction of %s is under way", orr_handle_name(h));
	for (uint32_t i = 0; i < ext->nsent; i++)
		if (to[ext->sent[i]] >= 0)
			ext->sent[n++] = to[ext->sent[i]];
	ext->nsent = n;
	if (n)
		qsort(ext->sent, n, sizeof(*ext->sent), by_rank);
}

void orr_mpi_data_renumber(struct orr_mpi *mpi, const int *places)
{
	struct owned s = { .size = mpi->size, .places = places };

	each_datum(mpi, renumber, &s);
}

/* ---- public ---- */

void starpu_mpi_data_set_tag(starpu_data_handle_t handle, starpu_mpi_tag_t data_tag)
{
	struct orr_mpi *mpi = orr_self()->mpi;
	struct orr_mpi_ext *ext = orr_mpi_ext(handle);

	if (ext && mpi && handle->mpi_tag != data_tag) {
		orr_lock(&mpi->data.lock);
		detach_tag(mpi, handle, ext);
		handle->mpi_tag = data_tag;
		attach_tag(mpi, handle, ext);
		orr_unlock(&mpi->data.lock);
	}
	handle->mpi_tag = data_tag;
}

/* starpu_mpi_data_register() names MPI_COMM_WORLD for the program. */
static struct orr_mpi_comm *comm_of_owner(struct orr_mpi *mpi, MPI_Comm comm)
{
	return comm == MPI_COMM_WORLD ? mpi->comms.all[0] : orr_mpi_comm_of(mpi, comm);
}

void starpu_mpi_data_set_rank_comm(starpu_data_handle_t handle, int rank, MPI_Comm comm)
{
	struct orr_mpi *mpi = orr_self()->mpi;
	struct orr_mpi_comm *c = mpi ? comm_of_owner(mpi, comm) : NULL;
	int before = orr_mpi_holds_own(mpi, handle);

	if (rank < STARPU_MPI_PER_NODE || (c && rank >= c->size)) {
		orr_error("data %s cannot be owned by rank %d: the communicator has %d ranks",
			  orr_handle_name(handle), rank, c ? c->size : 0);
		orr_sys_mpi_abort(orr_self());
	}
	handle->mpi_rank = rank;
	if (c && c->index != handle->mpi_comm) {
		struct orr_mpi_ext *ext = orr_mpi_ext(handle);
		orr_lock(&mpi->data.lock);
		if (ext)
			detach_tag(mpi, handle, ext);
		handle->mpi_comm = c->index;
		if (ext)
			attach_tag(mpi, handle, ext);
		orr_unlock(&mpi->data.lock);
	}
	orr_mpi_holds_owner(mpi, handle, before);
}

void starpu_mpi_data_register_comm(starpu_data_handle_t data_handle, starpu_mpi_tag_t data_tag,
				   int rank, MPI_Comm comm)
{
	if (!data_handle) {
		orr_error(
			"starpu_mpi_data_register: the handle is NULL; skip data that this rank does not know");
		orr_sys_mpi_abort(orr_self());
	}
	starpu_mpi_data_set_rank_comm(data_handle, rank, comm);
	starpu_mpi_data_set_tag(data_handle, data_tag);
	orr_handle_record(data_handle, 0);
	struct orr_mpi *mpi = orr_self()->mpi;
	if (mpi) {
		mpi->data.nregistered++;
		/* Others name it by its tag when it gets another owner; a rank that leaves must
		 * find it. */
		if (__builtin_expect(mpi->guests.lb || (mpi->guests.resize && !data_handle->slab),
				     0) &&
		    data_tag >= 0 && rank >= 0 && !orr_mpi_attach(mpi, data_handle))
			orr_sys_mpi_abort(mpi->proc);
	}
}

int starpu_mpi_data_get_rank(starpu_data_handle_t handle)
{
	return handle->mpi_rank;
}

starpu_mpi_tag_t starpu_mpi_data_get_tag(starpu_data_handle_t handle)
{
	return handle->mpi_tag;
}

/* ---- ranges of tags: sorted, lowest free range first; the same calls give the same answers on
 * every rank ---- */

#define FIRST_TAG ((int64_t) 1 << 24) /* above what programs count by hand */

struct orr_mpi_range {
	int64_t start, n;
};

int64_t starpu_mpi_tags_allocate(int64_t nbtags)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	int64_t start = FIRST_TAG;
	unsigned i;

	if (!mpi || nbtags <= 0)
		return -1;
	for (i = 0; i < mpi->data.nranges && mpi->data.ranges[i].start - start < nbtags; i++)
		start = mpi->data.ranges[i].start + mpi->data.ranges[i].n;
	if (INT64_MAX - start < nbtags)
		return -1;
	struct orr_mpi_range *ranges = realloc(mpi->data.ranges,
					       (mpi->data.nranges + 1) * sizeof(*ranges));
	if (!ranges)
		return -1;
	mpi->data.ranges = ranges;
	memmove(ranges + i + 1, ranges + i, (mpi->data.nranges++ - i) * sizeof(*ranges));
	ranges[i] = (struct orr_mpi_range){ .start = start, .n = nbtags };
	orr_assert(i == 0 || ranges[i - 1].start + ranges[i - 1].n <= start);
	orr_assert(i + 1 == mpi->data.nranges || start + nbtags <= ranges[i + 1].start);
	return start;
}

void starpu_mpi_tags_free(int64_t mintag)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return;
	for (unsigned i = 0; i < mpi->data.nranges; i++)
		if (mpi->data.ranges[i].start == mintag) {
			memmove(mpi->data.ranges + i, mpi->data.ranges + i + 1,
				(--mpi->data.nranges - i) * sizeof(*mpi->data.ranges));
			return;
		}
	orr_error("starpu_mpi_tags_free: %" PRId64
		  " was not returned by starpu_mpi_tags_allocate(), or is free already",
		  mintag);
}
