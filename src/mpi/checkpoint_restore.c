/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Restart: all ranks agree on the last checkpoint that is complete, and take their data back from
 * it. A rank whose files are gone gets its data from its backup ranks.
 *
 * Invariant: either all ranks restore the same instance, or none restores any. */
#include "mpi/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "core/task_count.h"

struct restart {
	struct _starpu_mpi_checkpoint_template *t;
	uint64_t *last;  /* of each rank: the last instance of which it has a file, 0: none */
	int unfinished;  /* a rank was there before and has no file: no instance was complete */
	uint32_t number; /* the instance to restore */
	int fd;
};

/* [waits] The sum over all ranks of n numbers each. */
static int sum(struct orr_mpi *mpi, const uint64_t *mine, uint64_t *sums, int n)
{
	MPI_Request request;

	while (mpi->may_drive && !orr_mpi_own(mpi))
		orr_sys_relax();
	int ret = orr_sys_mpi_sum_start(mpi->proc, mpi->comms[0]->comm, mine, sums, n, &request);
	if (mpi->may_drive)
		orr_mpi_unown(mpi);
	if (!ret)
		orr_mpi_wait_until(mpi, orr_mpi_collective_test, &request);
	return ret;
}

static int has_lost(const struct restart *r, int rank)
{
	return rank >= 0 && !r->last[rank];
}

/* The owner of an entry, for a value this rank. */
static int owner_of(const struct restart *r, const struct orr_cp_entry *e)
{
	return e->is_value || !e->handle ? r->t->mpi->rank : e->handle->mpi_rank;
}

/* True if something of this rank is neither here nor on a backup rank. */
static int is_gone(const struct restart *r)
{
	int me = r->t->mpi->rank;

	if (has_lost(r, me) && !orr_sys_has_payload(r->t->mpi->proc)) {
		orr_error(
			"rank %d has lost its files of checkpoints; backup ranks have no values where kernels are skipped",
			me);
		return 1;
	}
	for (unsigned k = 0; has_lost(r, me) && k < r->t->n; k++) {
		const struct orr_cp_entry *e = &r->t->v[k];
		if ((e->is_value || e->handle) && owner_of(r, e) == me && has_lost(r, e->backup)) {
			orr_error(
				"rank %d has lost its files of checkpoints, and its backup rank %d as well: remove %s to start anew",
				me, e->backup, r->t->mpi->checkpoints->dir);
			return 1;
		}
	}
	return 0;
}

/* Puts a record of this rank's file into a datum; where no payload exists there is none. */
static int load_datum(struct restart *r, unsigned k, int source, starpu_data_handle_t h)
{
	size_t size;

	if (!orr_sys_has_payload(r->t->mpi->proc)) {
		int ret = starpu_data_acquire(h, STARPU_W);
		if (!ret)
			starpu_data_release(h);
		return ret;
	}
	void *data = orr_cp_file_get(r->t, r->fd, k, source, &size);
	if (!data)
		return -EIO;
	int ret = starpu_data_acquire(h, STARPU_W);
	if (!ret) {
		ret = starpu_data_peek(h, data, size);
		starpu_data_release(h);
	}
	if (ret)
		orr_error("rank %d: data %s does not take what was saved of it: %s",
			  r->t->mpi->rank, orr_handle_name(h), strerror(-ret));
	free(data);
	return ret;
}

/* Sends a lost rank what this rank kept for it. */
static int give(struct restart *r, unsigned k, int owner, starpu_data_handle_t copy)
{
	struct orr_mpi *mpi = r->t->mpi;
	int ret = load_datum(r, k, owner, copy);

	return ret ? ret
		   : orr_mpi_isend(mpi, &mpi->checkpoints->comm, copy, owner,
				   orr_cp_tag(r->t, ORR_CP_TAG_ENTRIES + k), 0, ORR_P2P_DETACHED,
				   NULL, NULL, NULL);
}

static int take(struct restart *r, unsigned k, int backup, starpu_data_handle_t h)
{
	struct orr_mpi *mpi = r->t->mpi;

	return orr_mpi_irecv(mpi, &mpi->checkpoints->comm, h, backup,
			     orr_cp_tag(r->t, ORR_CP_TAG_ENTRIES + k), 0, ORR_P2P_DETACHED, NULL,
			     NULL, NULL);
}

static int restore_datum(struct restart *r, unsigned k, struct orr_cp_entry *e)
{
	int me = r->t->mpi->rank, owner = owner_of(r, e);

	if (!e->handle || owner == -1)
		return 0;
	if (owner == me || owner == STARPU_MPI_PER_NODE)
		return has_lost(r, me) ? take(r, k, e->backup, e->handle)
				       : load_datum(r, k, me, e->handle);
	return e->backup == me && has_lost(r, owner) ? give(r, k, owner, e->copies[0]) : 0;
}

/* Values are the program's variables, which exist even where payloads do not. */
static int load_value(struct restart *r, unsigned k, struct orr_cp_entry *e)
{
	size_t size;
	void *data = orr_cp_file_get(r->t, r->fd, k, r->t->mpi->rank, &size);

	if (data && size == e->size)
		memcpy(e->ptr, data, size);
	free(data);
	return data && size == e->size ? 0 : -EIO;
}

static int take_value(struct restart *r, unsigned k, struct orr_cp_entry *e)
{
	starpu_data_handle_t h;

	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) e->ptr, e->size);
	int ret = take(r, k, e->backup, h);
	starpu_data_unregister(h);
	return ret;
}

static int restore_value(struct restart *r, unsigned k, struct orr_cp_entry *e)
{
	int ret = 0;

	for (int i = 0; i < e->nfrom && !ret; i++)
		if (has_lost(r, e->from[i]))
			ret = give(r, k, e->from[i], e->copies[i]);
	if (ret)
		return ret;
	return has_lost(r, r->t->mpi->rank) ? take_value(r, k, e) : load_value(r, k, e);
}

static int restore_all(struct restart *r)
{
	struct _starpu_mpi_checkpoint_template *t = r->t;
	int ret = 0;

	r->fd = has_lost(r, t->mpi->rank) ? -1 : orr_cp_file_open(t, r->number);
	for (unsigned k = 0; k < t->n && !ret; k++)
		ret = t->v[k].is_value ? restore_value(r, k, &t->v[k])
				       : restore_datum(r, k, &t->v[k]);
	if (r->fd >= 0)
		close(r->fd);
	if (ret)
		return ret;
	orr_mpi_wait_detached(t->mpi);
	return orr_mpi_barrier(t->mpi, t->mpi->comms[0]->comm);
}

/* [waits] Learns of the files of all ranks. A rank without files, but with the mark of an earlier
 * run, has not lost them: it was killed before its part of the first checkpoint was saved. */
static int learn(struct restart *r, uint32_t last, int seen)
{
	struct orr_mpi *mpi = r->t->mpi;
	uint64_t *mine = calloc((size_t) mpi->size + 1, sizeof(*mine));

	if (!mine)
		return -ENOMEM;
	mine[mpi->rank] = last;
	mine[mpi->size] = !seen && orr_cp_file_marked(r->t);
	int ret = sum(mpi, mine, r->last, mpi->size + 1);
	r->unfinished = r->last[mpi->size] != 0;
	free(mine);
	return ret ? ret : orr_cp_file_mark(r->t);
}

/* Agrees on the instance. 0, or -errno after a message. */
static int agree(struct restart *r)
{
	struct _starpu_mpi_checkpoint_template *t = r->t;
	struct orr_mpi *mpi = t->mpi;
	uint64_t mine, gone;
	uint32_t first, last;

	int seen = orr_cp_file_find(t, &first, &last), ret = learn(r, last, seen);
	if (ret)
		return ret;
	for (int rank = 0; rank < mpi->size; rank++)
		if (r->last[rank] && (!r->number || r->last[rank] < r->number))
			r->number = (uint32_t) r->last[rank];
	/* All have left their marks before one of them saves anything. */
	if (r->unfinished || !r->number) {
		orr_cp_file_remove(t, first, last);
		r->number = 0;
		return orr_mpi_barrier(mpi, mpi->comms[0]->comm);
	}
	mine = (uint64_t) is_gone(r);
	ret = sum(mpi, &mine, &gone, 1);
	if (!ret && gone)
		ret = -ENODATA;
	/* Later ones are not complete, earlier ones of no use. */
	if (!ret && last > r->number)
		orr_cp_file_remove(t, r->number + 1, last);
	if (!ret && first && first < r->number)
		orr_cp_file_remove(t, first, r->number - 1);
	return ret;
}

int orrery_mpi_restore(starpu_mpi_checkpoint_template_t cp_template)
{
	struct orr_checkpoints *cp = orr_cp_get(__func__);
	struct restart r = { .t = cp_template };

	if (!cp || orr_mpi_check_blocking(__func__))
		return -EINVAL;
	if (!r.t->frozen || r.t->submitted) {
		orr_error(
			"orrery_mpi_restore: call it once, between starpu_mpi_checkpoint_template_freeze() and the first checkpoint");
		return -EINVAL;
	}
	if (!cp->dir || r.t->mpi->fake)
		return 0;
	r.last = calloc((size_t) r.t->mpi->size + 1, sizeof(*r.last));
	int ret = r.last ? agree(&r) : -ENOMEM;
	if (!ret && r.number)
		ret = restore_all(&r);
	free(r.last);
	if (ret)
		return ret;
	r.t->submitted = r.t->complete = r.number;
	r.t->removed = r.number ? r.number - 1 : 0;
	return (int) r.number;
}
