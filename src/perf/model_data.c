/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The contents of a performance model in memory: allocation, search, names. See model_file.h for
 * the invariant; parts are only ever added, and the address of an entry stays what it is until the
 * whole is freed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/core.h"
#include "perf/model_file.h"

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

static int same_devices(const struct orr_model_comb *c, int n,
			const struct starpu_perfmodel_device *v)
{
	if (c->ndevices != n)
		return 0;
	for (int i = 0; i < n; i++) {
		if (c->devices[i].type != v[i].type || c->devices[i].devid != v[i].devid ||
		    c->devices[i].ncores != v[i].ncores)
			return 0;
	}
	return 1;
}

struct orr_model_comb *orr_model_comb_find(const struct orr_model_data *d, int ndevices,
					   const struct starpu_perfmodel_device *devices)
{
	for (unsigned i = 0; i < d->ncombs; i++) {
		if (same_devices(d->combs[i], ndevices, devices))
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

void orr_model_arch_name(int ndevices, const struct starpu_perfmodel_device *devices, int nimpl,
			 char *buf, size_t maxlen)
{
	size_t n = 0;
	if (maxlen)
		buf[0] = 0;
	for (int i = 0; i < ndevices && n < maxlen; i++) {
		const struct starpu_perfmodel_device *d = &devices[i];
		n += (size_t) snprintf(buf + n, maxlen - n, "%s%s%d", i ? "_" : "",
				       starpu_perfmodel_get_archtype_name(d->type), d->devid);
		if (d->ncores > 1 && n < maxlen)
			n += (size_t) snprintf(buf + n, maxlen - n, "_cores%d", d->ncores);
	}
	if (nimpl >= 0 && n < maxlen)
		snprintf(buf + n, maxlen - n, "_impl%d", nimpl);
}

const char *starpu_perfmodel_get_archtype_name(enum starpu_worker_archtype archtype)
{
	switch (archtype) {
	case STARPU_CPU_WORKER: return "cpu";
	case STARPU_CUDA_WORKER: return "cuda";
	case STARPU_OPENCL_WORKER: return "opencl";
	case STARPU_MPI_MS_WORKER: return "mpi_ms";
	case STARPU_HIP_WORKER: return "hip";
	default: return "unknown";
	}
}
