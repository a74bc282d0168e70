/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The contents of a performance model in memory: allocation, search, names (see model_data.h). */
#include "perf/model_data.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perf/arch.h"

struct orr_model_data *orr_model_data_new(void)
{
	return calloc(1, sizeof(struct orr_model_data));
}

static void impl_free(struct orr_model_impl *i)
{
	for (unsigned e = 0; e < i->nentries; e++)
		free(i->entries[e]);
	free(i->entries);
	free(i->reg.coeff);
	free(i->rows);
}

static void comb_free(struct orr_model_comb *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->nimpls; i++)
		impl_free(&c->impls[i]);
	free(c->impls);
	free(c->devices);
	free(c);
}

void orr_model_data_free(struct orr_model_data *d)
{
	if (!d)
		return;
	for (unsigned i = 0; i < d->ncombs; i++)
		comb_free(d->combs[i]);
	free(d->combs);
	free(d);
}

struct orr_model_comb *orr_model_comb_find(const struct orr_model_data *d, int ndevices,
					   const struct starpu_perfmodel_device *devices)
{
	for (unsigned i = 0; i < d->ncombs; i++) {
		if (orr_arch_same_devices(d->combs[i]->ndevices, d->combs[i]->devices, ndevices,
					  devices))
			return d->combs[i];
	}
	return NULL;
}

/* Makes room for one more element in an array of pointers. */
static int grow(void ***v, unsigned n, unsigned *capacity)
{
	if (n < *capacity)
		return 0;
	unsigned c = *capacity ? *capacity * 2 : 4;
	void **w = realloc(*v, c * sizeof(*w));
	if (!w)
		return -ENOMEM;
	*v = w;
	*capacity = c;
	return 0;
}

struct orr_model_comb *orr_model_comb_make(struct orr_model_data *d, int ndevices,
					   const struct starpu_perfmodel_device *devices)
{
	struct orr_model_comb *c = orr_model_comb_find(d, ndevices, devices);
	if (c)
		return c;
	if (grow((void ***) &d->combs, d->ncombs, &d->capacity))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->devices = calloc((size_t) ndevices, sizeof(*devices));
	if (!c->devices) {
		free(c);
		return NULL;
	}
	memcpy(c->devices, devices, (size_t) ndevices * sizeof(*devices));
	c->ndevices = ndevices;
	d->combs[d->ncombs++] = c;
	return c;
}

struct orr_model_impl *orr_model_impl_make(struct orr_model_comb *c, unsigned nimpl)
{
	if (nimpl < c->nimpls)
		return &c->impls[nimpl];
	struct orr_model_impl *v = realloc(c->impls, (nimpl + 1) * sizeof(*v));
	if (!v)
		return NULL;
	c->impls = v;
	for (; c->nimpls <= nimpl; c->nimpls++) {
		struct orr_model_impl *i = &v[c->nimpls];
		memset(i, 0, sizeof(*i));
		i->reg.alpha = i->reg.beta = i->reg.a = i->reg.b = i->reg.c = NAN;
	}
	return &v[nimpl];
}

struct orr_model_entry *orr_model_entry_find(const struct orr_model_impl *i, uint32_t footprint)
{
	for (unsigned e = 0; e < i->nentries; e++) {
		if (i->entries[e]->pub.footprint == footprint)
			return i->entries[e];
	}
	return NULL;
}

struct orr_model_entry *orr_model_entry_make(struct orr_model_impl *i, uint32_t footprint)
{
	struct orr_model_entry *e = orr_model_entry_find(i, footprint);
	return e ? e : orr_model_entry_append(i, footprint);
}

struct orr_model_entry *orr_model_entry_append(struct orr_model_impl *i, uint32_t footprint)
{
	if (grow((void ***) &i->entries, i->nentries, &i->capacity))
		return NULL;
	struct orr_model_entry *e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->pub.footprint = footprint;
	i->entries[i->nentries++] = e;
	return e;
}
