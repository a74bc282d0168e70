/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Communicators of the program: for each, the translation of its ranks to the engine's world and a
 * matching context.
 *
 * No message is ever sent on them (starpu_mpi_barrier aside). The context must be equal on all
 * members without talking: it is a hash of the group's ranks in the world, 0 for the world itself;
 * starpu_mpi_comm_register, which all members call in the same order, tells communicators of the
 * same group apart. An attribute on each communicator tells us when the program frees it, so that a
 * handle that MPI uses again is not taken for the old one.
 *
 * Invariant: an entry is never moved nor freed before shutdown (data keep its index); dead entries
 * match no communicator. */
#include <errno.h>
#include <stdlib.h>
#include "mpi/carry/layer.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/attach.h"
#include "base/assert.h"
#include "base/log.h"

static int on_free(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
	struct orr_mpi_comm *c = attribute;

	(void) comm;
	(void) keyval;
	(void) extra;
	ORR_ATOMIC_STORE(&c->dead, 1);
	c->comm = MPI_COMM_NULL;
	if (ORR_ATOMIC_LOAD(&c->mpi->comms.last) == c)
		ORR_ATOMIC_STORE(&c->mpi->comms.last, c->mpi->comms.all[0]);
	return MPI_SUCCESS;
}

/* Adds an entry; under comm_lock. */
static struct orr_mpi_comm *add(struct orr_mpi *mpi, MPI_Comm comm)
{
	struct orr_mpi_comm **comms = mpi->comms.all;

	orr_assert_locked(&mpi->comms.lock);
	if (!(mpi->comms.n & (mpi->comms.n - 1)))
		comms = realloc(mpi->comms.all,
				(mpi->comms.n ? 2 * mpi->comms.n : 1) * sizeof(*comms));
	if (!comms)
		return NULL;
	mpi->comms.all = comms;
	struct orr_mpi_comm *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->comm = comm;
	c->mpi = mpi;
	c->index = (uint16_t) mpi->comms.n;
	comms[mpi->comms.n++] = c;
	return c;
}

int orr_mpi_comms_init(struct orr_mpi *mpi, MPI_Comm comm)
{
	orr_lock(&mpi->comms.lock);
	struct orr_mpi_comm *c = add(mpi, comm);
	orr_unlock(&mpi->comms.lock);

	if (!c) {
		orr_error("out of memory for the table of communicators");
		return -ENOMEM;
	}
	c->rank = mpi->proc->mpi_rank;
	c->size = mpi->proc->mpi_size;
	mpi->comms.last = c;
	mpi->comms.keyval = MPI_KEYVAL_INVALID;
	return 0;
}

void orr_mpi_comms_exit(struct orr_mpi *mpi)
{
	for (unsigned i = 0; i < mpi->comms.n; i++) {
		struct orr_mpi_comm *c = mpi->comms.all[i];
		if (c->attribute && !c->dead)
			MPI_Comm_delete_attr(c->comm, mpi->comms.keyval);
		free(c->to_world);
		free(c);
	}
	free(mpi->comms.all);
	mpi->comms.all = NULL;
	mpi->comms.n = 0;
	if (mpi->comms.keyval != MPI_KEYVAL_INVALID)
		MPI_Comm_free_keyval(&mpi->comms.keyval);
}

/* Ranks of the group in the engine's world; to_world stays NULL when they are the same. -EINVAL
 * when it has other processes. */
static int translate(struct orr_mpi *mpi, struct orr_mpi_comm *c)
{
	MPI_Group world, group;
	int *in = malloc(2 * (size_t) c->size * sizeof(*in)), *out = in + c->size,
	    same = c->size == mpi->size, ret = 0;
	uint64_t hash = 0x6f7272657279ULL;

	if (!in)
		return -ENOMEM;
	for (int i = 0; i < c->size; i++)
		in[i] = i;
	MPI_Comm_group(mpi->comms.all[0]->comm, &world);
	MPI_Comm_group(c->comm, &group);
	MPI_Group_translate_ranks(group, c->size, in, world, out);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	for (int i = 0; i < c->size; i++) {
		if (out[i] == MPI_UNDEFINED) {
			orr_error(
				"a communicator holds a process that is not in the one given to starpu_mpi_init_conf: "
				"name that one or a part of it, or initialise with a communicator that holds all ranks");
			ret = -EINVAL;
			break;
		}
		same &= out[i] == i;
		hash = orr_mix64(hash ^ (uint64_t) (unsigned) out[i]);
	}
	if (!ret && !same) {
		c->to_world = malloc((size_t) c->size * sizeof(*c->to_world));
		if (!c->to_world)
			ret = -ENOMEM;
		for (int i = 0; !ret && i < c->size; i++)
			c->to_world[i] = out[i];
	}
	c->group_hash = same ? 0 : (uint32_t) (hash >> 32) | 1;
	c->context = c->group_hash;
	free(in);
	return ret;
}

/* 1 after a message. */
static int refuse_null(MPI_Comm comm, const char *who)
{
	if (comm != MPI_COMM_NULL)
		return 0;
	orr_error(
		"%s%sthe communicator is MPI_COMM_NULL: this rank is not a member and must not make the call",
		who ? who : "", who ? ": " : "");
	return 1;
}

struct orr_mpi_comm *orr_mpi_comm_enter(struct orr_mpi *mpi, MPI_Comm comm)
{
	struct orr_mpi_comm *c = NULL;

	if (mpi->fake)
		return mpi->comms.all[0];
	if (refuse_null(comm, NULL))
		return NULL;
	orr_lock(&mpi->comms.lock);
	for (unsigned i = 0; i < mpi->comms.n && !c; i++)
		if (!mpi->comms.all[i]->dead && mpi->comms.all[i]->comm == comm)
			c = mpi->comms.all[i];
	if (!c && mpi->comms.n < UINT16_MAX) {
		if (mpi->comms.keyval == MPI_KEYVAL_INVALID)
			MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &mpi->comms.keyval,
					       NULL);
		c = add(mpi, comm);
		if (c) {
			MPI_Comm_size(comm, &c->size);
			MPI_Comm_rank(comm, &c->rank);
			if (translate(mpi, c)) {
				c->dead = 1;
				c = NULL;
			} else
				c->attribute = MPI_Comm_set_attr(comm, mpi->comms.keyval, c) ==
					       MPI_SUCCESS;
		} else
			orr_error("out of memory for the table of communicators");
	}
	orr_assert(!c || (mpi->comms.all[c->index] == c && c->comm == comm && !c->dead));
	orr_unlock(&mpi->comms.lock);
	if (c)
		ORR_ATOMIC_STORE(&mpi->comms.last, c);
	return c;
}

/* The ranks that those of the layer's communicator have in another one, -1: none; to be freed. NULL
 * when memory is exhausted. */
static int *places_in(const struct orr_mpi *mpi, MPI_Comm comm)
{
	int n = mpi->size, *places = malloc(2 * (size_t) n * sizeof(*places));
	MPI_Group old, new;

	if (!places)
		return NULL;
	for (int i = 0; i < n; i++)
		places[n + i] = i;
	MPI_Comm_group(mpi->comms.all[0]->comm, &old);
	MPI_Comm_group(comm, &new);
	MPI_Group_translate_ranks(old, n, places + n, new, places);
	MPI_Group_free(&old);
	MPI_Group_free(&new);
	for (int i = 0; i < n; i++)
		if (places[i] == MPI_UNDEFINED)
			places[i] = -1;
	return places;
}

int orr_mpi_comms_check_switch(struct orr_mpi *mpi, MPI_Comm comm, int renumber)
{
	int size, ret = 0;

	for (unsigned i = 1; i < mpi->comms.n; i++)
		if (!mpi->comms.all[i]->dead) {
			orr_error(
				"orrery_resize_switch: messages have used another communicator, which has ranks of the old one: free it before");
			return -EINVAL;
		}
	MPI_Comm_size(comm, &size);
	int n = size < mpi->size ? size : mpi->size, *places = places_in(mpi, comm);
	if (!places)
		return -ENOMEM;
	for (int i = 0; i < n && !ret && !renumber; i++)
		if (places[i] != i) {
			orr_error(
				"orrery_resize_switch: rank %d of the new communicator is another process than before: "
				"processes come behind the others, and leave from the end",
				i);
			ret = -EINVAL;
		}
	if (!ret)
		ret = orr_mpi_check_unowned(mpi, places);
	free(places);
	return ret;
}

int *orr_mpi_comms_places(const struct orr_mpi *mpi, MPI_Comm comm)
{
	int *places = places_in(mpi, comm), size, same = 1;

	if (!places)
		orr_fatal("out of memory for the numbers of ranks");
	MPI_Comm_size(comm, &size);
	for (int i = 0; i < mpi->size; i++)
		same &= places[i] == (i < size ? i : -1);
	if (!same)
		return places;
	free(places);
	return NULL;
}

int orr_mpi_comms_has_new(const struct orr_mpi *mpi, MPI_Comm comm)
{
	MPI_Group old, new;
	int size, rank, place = 0;

	MPI_Comm_size(comm, &size);
	MPI_Comm_group(mpi->comms.all[0]->comm, &old);
	MPI_Comm_group(comm, &new);
	for (rank = size - 1; rank >= 0 && place != MPI_UNDEFINED; rank--)
		MPI_Group_translate_ranks(new, 1, &rank, old, &place);
	MPI_Group_free(&old);
	MPI_Group_free(&new);
	return place == MPI_UNDEFINED;
}

void orr_mpi_comms_switch(struct orr_mpi *mpi, MPI_Comm comm)
{
	struct orr_mpi_comm *c = mpi->comms.all[0];

	orr_lock(&mpi->comms.lock);
	c->comm = comm;
	c->rank = mpi->rank;
	c->size = mpi->size;
	mpi->comms.last = c;
	orr_unlock(&mpi->comms.lock);
}

int orr_mpi_from_world(const struct orr_mpi_comm *c, int world)
{
	if (!c->to_world)
		return world;
	for (int i = 0; i < c->size; i++)
		if (c->to_world[i] == world)
			return i;
	return -1;
}

int starpu_mpi_comm_register(MPI_Comm comm)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);
	struct orr_mpi_comm *c = mpi ? orr_mpi_comm_of(mpi, comm) : NULL;
	uint32_t earlier = 0;

	if (!c)
		return -EINVAL;
	orr_assert(c->index < mpi->comms.n && c->mpi == mpi);
	if (c->index == 0 || c->context != c->group_hash)
		return 0;
	orr_lock(&mpi->comms.lock);
	for (unsigned i = 1; i < mpi->comms.n; i++)
		earlier += mpi->comms.all[i]->group_hash == c->group_hash &&
			   mpi->comms.all[i]->context != c->group_hash;
	c->context = (uint32_t) orr_mix64(((uint64_t) c->group_hash << 32) + earlier + 1) | 1;
	orr_unlock(&mpi->comms.lock);
	return 0;
}

/* Any communicator may be asked about, also one that cannot carry messages of the layer. */

int starpu_mpi_comm_size(MPI_Comm comm, int *size)
{
	struct orr_mpi *mpi = orr_self()->mpi;

	if (mpi && mpi->fake)
		*size = mpi->comms.all[0]->size;
	else
		return refuse_null(comm, __func__) ? -EINVAL : MPI_Comm_size(comm, size);
	return 0;
}

int starpu_mpi_comm_rank(MPI_Comm comm, int *rank)
{
	struct orr_mpi *mpi = orr_self()->mpi;

	if (mpi && mpi->fake)
		*rank = mpi->comms.all[0]->rank;
	else
		return refuse_null(comm, __func__) ? -EINVAL : MPI_Comm_rank(comm, rank);
	return 0;
}

int starpu_mpi_world_size(void)
{
	return orr_self()->mpi_size;
}

int starpu_mpi_world_rank(void)
{
	return orr_self()->mpi_rank;
}

int starpu_mpi_comm_get_attr(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
	/* Programs choose their tags before they start the layer, so this needs none. */
	static const int64_t tag_ub = INT64_MAX;

	(void) comm;
	*flag = keyval == STARPU_MPI_TAG_UB;
	if (*flag)
		*(const int64_t **) attribute_val = &tag_ub;
	return 0;
}
