/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The index of a loaded model (see model_index.h). */
#include "perf/model_index.h"

#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"

static struct orr_model_index *index_new(struct orr_model *m, unsigned used)
{
	unsigned size = 16;
	while (size < 2 * used + 2)
		size *= 2;
	struct orr_model_index *x = calloc(1, sizeof(*x) + size * sizeof(x->slots[0]));
	if (!x)
		return NULL;
	x->mask = size - 1;
	x->ncombs = m->data->ncombs;
	x->units = calloc(x->ncombs + 1, sizeof(*x->units));
	if (!x->units) {
		free(x);
		return NULL;
	}
	for (unsigned i = 0; i < x->ncombs; i++) {
		const struct orr_model_comb *c = m->data->combs[i];
		if (c->ndevices == 1 && (int) c->devices[0].type < STARPU_NARCH)
			x->units[i] = orr_model_index_unit((int) c->devices[0].type,
							   c->devices[0].devid,
							   c->devices[0].ncores);
	}
	return x;
}

/* Stores the slot at the place of its key, or at the first free one. */
static void index_store(struct orr_model_index *x, struct orr_model_slot *s)
{
	unsigned h = orr_model_index_hash(s->key);
	while (x->slots[h & x->mask] && x->slots[h & x->mask]->key != s->key)
		h++;
	orr_assert(x->used < x->mask); /* a search ends at a free place */
	x->used += !x->slots[h & x->mask];
	ORR_ATOMIC_STORE(&x->slots[h & x->mask], s);
}

static int index_rebuild(struct orr_model *m, unsigned more)
{
	struct orr_model_index *old = m->index, *x = index_new(m, (old ? old->used : 0) + more);
	if (!x)
		return -ENOMEM;
	for (unsigned i = 0; old && i <= old->mask; i++) {
		if (old->slots[i])
			index_store(x, old->slots[i]);
	}
	orr_assert(!old || (x->mask >= old->mask && x->used == old->used));
	x->older = old;
	ORR_ATOMIC_STORE(&m->index, x);
	return 0;
}

int orr_model_index_combs(struct orr_model *m)
{
	return m->index && m->index->ncombs == m->data->ncombs ? 0 : index_rebuild(m, 0);
}

int orr_model_index_put(struct orr_model *m, uint64_t key, struct orr_model_entry *entry, double us,
			double deviation, enum orr_perf_source source)
{
	if (m->index->used * 2 >= m->index->mask && index_rebuild(m, m->index->used))
		return -ENOMEM;
	orr_assert(entry || (us > 0 && source != ORR_PERF_UNKNOWN));
	struct orr_model_slot *s = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct orr_model_slot){ .key = key,
				      .entry = entry,
				      .us = us,
				      .deviation = deviation,
				      .source = source,
				      .next_owned = m->owned };
	m->owned = s;
	index_store(m->index, s);
	return 0;
}

int orr_model_index_find(const struct orr_model_index *x, int type, int devid, int ncores)
{
	uint32_t want = orr_model_index_unit(type, devid, ncores);
	for (unsigned i = 0; i < x->ncombs; i++) {
		if (x->units[i] == want)
			return (int) i;
	}
	int best = -1;
	for (unsigned i = 0; i < x->ncombs; i++) {
		if (x->units[i] && (x->units[i] & 0xff000fffu) == (want & 0xff000fffu) &&
		    (best < 0 || x->units[i] < x->units[best]))
			best = (int) i;
	}
	return best;
}

int orr_model_index_all(struct orr_model *m)
{
	unsigned n = 0;
	struct orr_model_data *d = m->data;
	for (unsigned c = 0; c < d->ncombs; c++) {
		for (unsigned i = 0; i < d->combs[c]->nimpls; i++)
			n += d->combs[c]->impls[i].nentries;
	}
	if (index_rebuild(m, n))
		return -ENOMEM;
	for (unsigned c = 0; c < d->ncombs; c++) {
		for (unsigned i = 0; i < d->combs[c]->nimpls; i++) {
			struct orr_model_impl *impl = &d->combs[c]->impls[i];
			for (unsigned e = 0; e < impl->nentries; e++) {
				struct orr_model_entry *entry = impl->entries[e];
				if (orr_model_index_put(
					    m, orr_model_index_key(c, i, entry->pub.footprint),
					    entry, 0, 0, ORR_PERF_CALIBRATED))
					return -ENOMEM;
			}
		}
	}
	return 0;
}

void orr_model_index_free(struct orr_model *m)
{
	for (struct orr_model_index *x = m->index, *older; x; x = older) {
		older = x->older;
		free(x->units);
		free(x);
	}
	for (struct orr_model_slot *s = m->owned, *next; s; s = next) {
		next = s->next_owned;
		free(s);
	}
}
