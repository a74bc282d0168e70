/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A loaded performance model.
 *
 * Models are shared by all processes that live in one process of the system (the ranks of a
 * simulated run). Readers find measurements without a lock through an index; writers hold the
 * model's lock, and replace the index when it must grow.
 *
 * Invariant: an index, a slot and an entry stay valid until the last user releases the model. */
#ifndef ORR_PERF_MODEL_H
#define ORR_PERF_MODEL_H

#include <sys/stat.h>

#include "base/seam.h"
#include "perf/model_data.h"
#include "base/source.h"

/* The knowledge of a model about one footprint: a line of its history, or a value derived from the
 * whole history. */
struct orr_model_slot {
	uint64_t key;
	struct orr_model_entry *entry; /* NULL: derived */
	double us, deviation;          /* of derived values */
	enum orr_perf_source source;
	struct orr_model_slot *next_owned;
};

struct orr_model_index {
	struct orr_model_index *older; /* kept for readers that still use it */
	unsigned mask, used;
	unsigned ncombs;
	uint32_t *units; /* combination -> orr_model_index_unit, 0 for several devices */
	struct orr_model_slot *slots[]; /* atomic */
};

struct orr_model {
	orr_lock_t lock; /* protects everything but the index's readers */
	char *key;       /* place, machine and symbol; NULL: private to one user */
	char *symbol, *machine;
	char path[256]; /* of the file that it was read from, truncated; or empty */
	unsigned refs;  /* protected by the lock of the list of models */
	struct orr_model *next;
	struct orr_model_data *data;
	struct orr_model_index *index; /* atomic */
	struct orr_model_slot *owned;
	unsigned learning; /* atomic: measurements arrive, so derived slots are out of date */
	unsigned dirty;    /* there is something to write */
	unsigned broken;   /* the file is malformed, and is not overwritten */
	unsigned noted;    /* atomic: the use of other footprints was reported */
	unsigned discard;  /* ignore the file of the identity below (STARPU_CALIBRATE=2) */
	dev_t old_dev;
	ino_t old_ino;
	struct timespec old_mtime;
};

#endif
