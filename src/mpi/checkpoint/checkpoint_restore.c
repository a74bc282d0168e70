/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Restart: all ranks agree on the last checkpoint that is complete, and take their data back from
 * it. A rank whose files are gone, or damaged, gets its data from its backup ranks.
 *
 * A datum may have had another owner when it was saved than it has now. So the ranks tell each
 * other who has a record of each entry, and who needs it. Only when each of them knows that all it
 * needs is there, and whole, is anything changed.
 *
 * Invariant: either all ranks restore the same instance, or none restores any, and then no datum
 * and no variable of the program has changed. */
#include "mpi/checkpoint/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/seam_memory.h"
#include "core/task/task_count.h"
#include "mpi/carry/unmatched.h"
#include "mpi/carry/p2p.h"
#include "mpi/carry/message_trace.h"
#include "mpi/carry/mpi_wait.h"

/* Of an entry that is a datum: ranks, or -1. */
struct way {
	int owner;  /* who needs it: its owner of now */
	int source; /* who owned it when it was saved */
	int holder; /* who has the record and gives it */
};

struct restart {
	struct _starpu_mpi_checkpoint_template *t;
	uint64_t *last; /* of each rank: the last instance of which it has a file, 0: none */
	int unfinished; /* a rank was there before and has no file: no instance was complete */
	int damaged, foreign; /* ranks that have such files */
	uint32_t number;      /* the instance to restore */
	struct orr_cp_index file;
	struct way *ways; /* of each entry */
};

static int has_lost(const struct restart *r, int rank)
{
	return rank >= 0 && !r->last[rank];
}

/* ---- who has what ---- */

/* The answer of each rank for each entry, so that the sum tells who spoke and how many did. */
enum { OWNS, SAVED, KEEPS, KEPT_FROM, NSAYS };

static uint64_t word_of(int rank)
{
	return (uint64_t) 1 << 32 | (uint64_t) rank;
}

/* The rank, or -1 if nobody spoke; *many: more than one did. */
static int rank_of(uint64_t sum, int *many)
{
	*many |= sum >> 32 > 1;
	return sum >> 32 == 1 ? (int) (uint32_t) sum : -1;
}

static void say(const struct restart *r, uint64_t *mine)
{
	int me = r->t->mpi->rank;

	for (unsigned k = 0; k < r->t->n; k++) {
		const struct orr_cp_entry *e = &r->t->v[k];
		if (!e->is_value && e->handle && e->handle->mpi_rank == me)
			mine[NSAYS * k + OWNS] = word_of(me);
	}
	for (uint32_t i = 0; i < r->file.n; i++) {
		const struct orr_cp_record *record = &r->file.v[i].record;
		uint64_t *entry = &mine[NSAYS * (size_t) record->k];
		if (record->k >= r->t->n || r->t->v[record->k].is_value)
			continue;
		if (record->source == (uint32_t) me) {
			entry[SAVED] = word_of(me);
		} else {
			entry[KEEPS] = word_of(me);
			entry[KEPT_FROM] = word_of((int) record->source);
		}
	}
}

/* [waits] Fills in r->ways. 0 or -errno. */
static int find_ways(struct restart *r)
{
	size_t n = NSAYS * (size_t) r->t->n;
	uint64_t *mine = calloc(n + 1, sizeof(*mine)), *all = calloc(n + 1, sizeof(*all));
	int ret = -ENOMEM, many = 0;

	r->ways = calloc((size_t) r->t->n + 1, sizeof(*r->ways));
	if (mine && all && r->ways) {
		say(r, mine);
		ret = orr_mpi_sum(r->t->mpi, mine, all, (int) n);
	}
	for (unsigned k = 0; k < r->t->n && !ret; k++) {
		const uint64_t *entry = &all[NSAYS * (size_t) k];
		struct way *way = &r->ways[k];
		way->owner = rank_of(entry[OWNS], &many);
		way->holder = way->source = rank_of(entry[SAVED], &many);
		if (way->holder < 0) {
			way->holder = rank_of(entry[KEEPS], &many);
			way->source = rank_of(entry[KEPT_FROM], &many);
		}
		/* Nobody has payloads: owners need nothing. */
		if (!orr_sys_has_payload(r->t->mpi->proc))
			way->holder = way->source = way->owner;
	}
	free(mine);
	free(all);
	return ret;
}

/* ---- is all of it there? ---- */

static int is_per_node(const struct orr_cp_entry *e)
{
	return e->handle && e->handle->mpi_rank == STARPU_MPI_PER_NODE;
}

static int has_record(const struct restart *r, unsigned k, int source)
{
	return !orr_sys_has_payload(r->t->mpi->proc) ||
	       orr_cp_file_place(&r->file, k, source) != NULL;
}

static int say_lost(const struct restart *r, int backup)
{
	orr_error(
		"rank %d has lost its files of checkpoints, and its backup rank %d as well: remove %s to start anew",
		r->t->mpi->rank, backup, r->t->mpi->guests.checkpoints->dir);
	return -ENODATA;
}

static int say_missing(const struct restart *r, unsigned k, int source)
{
	orr_error("rank %d: checkpoint %" PRIu32 " in %s does not hold entry %u of rank %d",
		  r->t->mpi->rank, r->number, r->t->mpi->guests.checkpoints->dir, k, source);
	return -EIO;
}

static int check_datum(const struct restart *r, unsigned k)
{
	const struct orr_cp_entry *e = &r->t->v[k];
	const struct way *way = &r->ways[k];
	int me = r->t->mpi->rank;

	if (is_per_node(e))
		return has_record(r, k, me) ? 0
		       : has_lost(r, me)    ? say_lost(r, me)
					    : say_missing(r, k, me);
	if (way->owner == me && way->holder < 0)
		return has_lost(r, me) ? say_lost(r, e->backup) : say_missing(r, k, me);
	if (way->owner >= 0 && way->owner != me && way->holder == me && !e->handle) {
		orr_error(
			"rank %d saved entry %u and has to give it to rank %d, but does not know the datum: register it here, too",
			me, k, way->owner);
		return -EINVAL;
	}
	return 0;
}

static int check_value(const struct restart *r, unsigned k)
{
	const struct orr_cp_entry *e = &r->t->v[k];
	int me = r->t->mpi->rank;

	for (int i = 0; i < e->nfrom; i++)
		if (has_lost(r, e->from[i]) && !has_lost(r, me) &&
		    !orr_cp_file_place(&r->file, k, e->from[i]))
			return say_missing(r, k, e->from[i]);
	if (has_lost(r, me))
		return has_lost(r, e->backup) ? say_lost(r, e->backup) : 0;
	const struct orr_cp_place *p = orr_cp_file_place(&r->file, k, me);
	return p && p->record.size == e->size ? 0 : say_missing(r, k, me);
}

/* 0, or -errno after a message: something that this rank needs, or has to give, is not there. */
static int check_all(const struct restart *r)
{
	struct _starpu_mpi_checkpoint_template *t = r->t;
	int ret = 0;

	if (has_lost(r, t->mpi->rank) && !orr_sys_has_payload(t->mpi->proc)) {
		orr_error(
			"rank %d has lost its files of checkpoints; backup ranks have no values where kernels are skipped",
			t->mpi->rank);
		return -ENODATA;
	}
	for (unsigned k = 0; k < t->n && !ret; k++)
		ret = t->v[k].is_value ? check_value(r, k) : check_datum(r, k);
	return ret;
}

/* [waits] The verdict of all ranks. */
static int agree_on(struct restart *r, int ret)
{
	uint64_t mine[2] = { ret != 0, ret == -ENODATA }, all[2];
	int failed = orr_mpi_sum(r->t->mpi, mine, all, 2);

	return failed ? failed : all[1] ? -ENODATA : all[0] ? (ret ? ret : -EIO) : 0;
}

/* [waits] Opens the file of this rank, and finds out whether all ranks can restore. */
static int restore_check(struct restart *r)
{
	struct _starpu_mpi_checkpoint_template *t = r->t;
	int ret = has_lost(r, t->mpi->rank) ? 0 : orr_cp_file_open(t, r->number, &r->file);

	ret = agree_on(r, ret);
	if (!ret)
		ret = find_ways(r);
	if (!ret)
		ret = agree_on(r, check_all(r));
	return ret;
}

/* ---- taking it back ---- */

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
	void *data = orr_cp_file_get(r->t, &r->file, k, source, &size);
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

/* Sends another rank what this rank has of it. */
static int give(struct restart *r, unsigned k, int source, int owner, starpu_data_handle_t copy)
{
	struct orr_mpi *mpi = r->t->mpi;
	int ret = load_datum(r, k, source, copy);

	return ret ? ret
		   : orr_mpi_isend(mpi, &mpi->guests.checkpoints->comm, copy, owner,
				   orr_cp_tag(r->t, ORR_CP_TAG_ENTRIES + k), 0, ORR_P2P_DETACHED,
				   NULL, NULL, NULL);
}

static int restore_take(struct restart *r, unsigned k, int backup, starpu_data_handle_t h)
{
	struct orr_mpi *mpi = r->t->mpi;

	return orr_mpi_irecv(mpi, &mpi->guests.checkpoints->comm, h, backup,
			     orr_cp_tag(r->t, ORR_CP_TAG_ENTRIES + k), 0, ORR_P2P_DETACHED, NULL,
			     NULL, NULL);
}

/* Gives the new owner a datum that this rank owned, or kept, when it was saved. */
static int hand_over(struct restart *r, unsigned k, struct orr_cp_entry *e)
{
	const struct way *way = &r->ways[k];
	starpu_data_handle_t h;

	if (e->copies)
		return give(r, k, way->source, way->owner, e->copies[0]);
	starpu_data_register_same(&h, e->handle);
	int ret = give(r, k, way->source, way->owner, h);
	starpu_data_unregister_submit(h);
	return ret;
}

static int restore_datum(struct restart *r, unsigned k, struct orr_cp_entry *e)
{
	int me = r->t->mpi->rank;
	const struct way *way = &r->ways[k];

	if (is_per_node(e))
		return load_datum(r, k, me, e->handle);
	if (way->owner == me)
		return way->holder == me ? load_datum(r, k, way->source, e->handle)
					 : restore_take(r, k, way->holder, e->handle);
	return way->owner >= 0 && way->holder == me ? hand_over(r, k, e) : 0;
}

/* Values are the program's variables, which exist even where payloads do not. */
static int load_value(struct restart *r, unsigned k, struct orr_cp_entry *e)
{
	size_t size;
	void *data = orr_cp_file_get(r->t, &r->file, k, r->t->mpi->rank, &size);

	if (data && size == e->size)
		memcpy(e->ptr, data, size);
	free(data);
	return data && size == e->size ? 0 : -EIO;
}

static int take_value(struct restart *r, unsigned k, struct orr_cp_entry *e)
{
	starpu_data_handle_t h;

	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) e->ptr, e->size);
	int ret = restore_take(r, k, e->backup, h);
	starpu_data_unregister(h);
	return ret;
}

static int restore_value(struct restart *r, unsigned k, struct orr_cp_entry *e)
{
	int ret = 0;

	for (int i = 0; i < e->nfrom && !ret; i++)
		if (has_lost(r, e->from[i]))
			ret = give(r, k, e->from[i], e->from[i], e->copies[i]);
	if (ret)
		return ret;
	return has_lost(r, r->t->mpi->rank) ? take_value(r, k, e) : load_value(r, k, e);
}

static int restore_all(struct restart *r)
{
	struct _starpu_mpi_checkpoint_template *t = r->t;
	int ret = 0;

	for (unsigned k = 0; k < t->n && !ret; k++)
		ret = t->v[k].is_value ? restore_value(r, k, &t->v[k])
				       : restore_datum(r, k, &t->v[k]);
	if (ret)
		return ret;
	orr_mpi_wait_detached(t->mpi, "starpu_mpi_checkpoint_restart");
	return orr_mpi_barrier(t->mpi, t->mpi->comms.all[0]->comm);
}

/* [waits] Learns of the files of all ranks. A rank without files, but with the mark of an earlier
 * run, has not lost them: it was killed before its part of the first checkpoint was saved. One with
 * damaged files counts as if it had lost them, but nobody starts anew without them. */
static int learn(struct restart *r, const struct orr_cp_found *found)
{
	struct orr_mpi *mpi = r->t->mpi;
	uint64_t *mine = calloc((size_t) mpi->size + 3, sizeof(*mine)),
		 *after = r->last + mpi->size;

	if (!mine)
		return -ENOMEM;
	mine[mpi->rank] = found->damaged ? 0 : found->last;
	mine[mpi->size] = !found->seen && orr_cp_file_marked(r->t);
	mine[mpi->size + 1] = found->damaged != 0;
	mine[mpi->size + 2] = found->foreign != 0;
	int ret = orr_mpi_sum(mpi, mine, r->last, mpi->size + 3);
	r->unfinished = after[0] != 0;
	r->damaged = after[1] != 0;
	r->foreign = after[2] != 0;
	free(mine);
	return ret;
}

/* [waits] Agrees on the instance, 0: the program starts anew. 0, or -errno after a message. */
static int agree(struct restart *r, struct orr_cp_found *found)
{
	struct _starpu_mpi_checkpoint_template *t = r->t;
	struct orr_mpi *mpi = t->mpi;

	if (orr_cp_file_find(t, found))
		found->damaged = 1;
	int ret = learn(r, found);
	if (ret || r->foreign)
		return ret ? ret : -EINVAL;
	for (int rank = 0; rank < mpi->size; rank++)
		if (r->last[rank] && (!r->number || r->last[rank] < r->number))
			r->number = (uint32_t) r->last[rank];
	if (r->unfinished)
		r->number = 0;
	if (!r->number && r->damaged) {
		orr_error(
			"rank %d: files of checkpoints in %s are damaged, and no complete one is left: remove the folder to start anew",
			mpi->rank, t->mpi->guests.checkpoints->dir);
		return -EIO;
	}
	if (found->damaged)
		orr_warn("rank %d goes on with what its backup ranks have of checkpoint %" PRIu32,
			 mpi->rank, r->number);
	return 0;
}

/* [waits] Files of other instances than the one to restore are of no use: later ones are not
 * complete. All leave their marks before one of them saves anything. */
static int tidy(struct restart *r, const struct orr_cp_found *found)
{
	struct _starpu_mpi_checkpoint_template *t = r->t;

	if (found->last > r->number)
		orr_cp_file_remove(t, r->number ? r->number + 1 : found->first, found->last);
	if (r->number && found->first && found->first < r->number)
		orr_cp_file_remove(t, found->first, r->number - 1);
	/* A rank that goes on from a file needs no mark: if the file goes, it is lost. */
	return agree_on(r, r->number ? 0 : orr_cp_file_mark(t));
}

static int restore(struct restart *r)
{
	struct orr_cp_found found;
	int ret = agree(r, &found);

	if (!ret && r->number)
		ret = restore_check(r);
	if (!ret)
		ret = tidy(r, &found);
	return !ret && r->number ? restore_all(r) : ret;
}

/* The bytes of the values in a file. */
static uint64_t bytes_of(const struct orr_cp_index *file)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; file->fd >= 0 && i < file->n; i++)
		bytes += file->v[i].record.size;
	return bytes;
}

int orrery_mpi_restore(starpu_mpi_checkpoint_template_t cp_template)
{
	struct orr_checkpoints *cp = orr_cp_get(__func__);
	struct restart r = { .t = cp_template, .file = { .fd = -1 } };

	if (!cp || orr_mpi_check_blocking(__func__))
		return -EINVAL;
	if (!r.t->frozen || r.t->submitted) {
		orr_error(
			"orrery_mpi_restore: call it once, between starpu_mpi_checkpoint_template_freeze() and the first checkpoint");
		return -EINVAL;
	}
	if (!cp->dir || r.t->mpi->fake)
		return 0;
	double since_us = orr_trace_wait_begin(r.t->mpi->proc);
	r.last = calloc((size_t) r.t->mpi->size + 3, sizeof(*r.last));
	int ret = r.last ? restore(&r) : -ENOMEM;
	uint64_t bytes = bytes_of(&r.file);
	orr_cp_file_close(&r.file);
	free(r.ways);
	free(r.last);
	if (ret)
		return ret;
	if (r.number)
		orr_mpi_trace_change(r.t->mpi, ORR_CHANGE_RESTORE, since_us, r.number, bytes, 0);
	r.t->submitted = r.t->complete = r.number;
	r.t->removed = r.number ? r.number - 1 : 0;
	return (int) r.number;
}
