/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The archs of a process (see arch_table.h), and the functions of starpu_perfmodel.h about them. */
#include "perf/arch_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "perf/perf.h"

/* ---- workers ---- */

int orr_arch_table_set_workers(struct orr_process *proc, unsigned n)
{
	struct orr_perf *p = orr_perf_get(proc);

	if (!p)
		return -ENOMEM;
	free(p->archs.worker);
	p->archs.worker = calloc(n + 1, sizeof(*p->archs.worker));
	p->archs.nworkers = p->archs.worker ? n : 0;
	return p->archs.worker ? 0 : -ENOMEM;
}

const struct orr_arch *orr_arch_table_set_worker(struct orr_process *proc, unsigned id,
						 enum starpu_worker_archtype type, int devid)
{
	struct orr_perf *p = proc->perf;

	orr_assert(id < p->archs.nworkers);
	p->archs.worker[id] = (struct orr_arch){
		.type = type,
		.devid = orr_arch_is_homogeneous(proc->cfg, type) ? 0 : devid,
		.ncores = 1,
	};
	return &p->archs.worker[id];
}

unsigned orr_arch_table_worker(struct orr_process *proc, const struct orr_arch *a)
{
	const struct orr_perf *p = orr_perf_get(proc);

	if (!p)
		return 0;

	const struct orr_arch_table *t = &p->archs;
	int alike = a->type == STARPU_CPU_WORKER ||
		    orr_arch_is_homogeneous(orr_perf_cfg(p), a->type);

	if (a >= t->worker && a < t->worker + t->nworkers)
		return (unsigned) (a - t->worker);
	for (unsigned i = 0; i < t->nworkers; i++)
		if (t->worker[i].type == a->type && (alike || t->worker[i].devid == a->devid))
			return i;
	return 0;
}

/* The workers' archs for the program, under the lock. 0 or -1 if memory is exhausted. */
static int make_worker_pub(struct orr_perf *p)
{
	struct orr_arch_table *t = &p->archs;
	struct starpu_perfmodel_arch *v = calloc(t->nworkers, sizeof(*v));
	struct starpu_perfmodel_device *d = calloc(t->nworkers, sizeof(*d));

	orr_assert_locked(&p->lock);
	orr_assert(!t->worker_pub);
	if (!v || !d) {
		free(v);
		free(d);
		return -1;
	}
	for (unsigned i = 0; i < t->nworkers; i++) {
		d[i] = orr_arch_device(orr_perf_cfg(p), &t->worker[i]);
		v[i] = (struct starpu_perfmodel_arch){ .ndevices = 1, .devices = &d[i] };
	}
	t->worker_pub = v;
	return 0;
}

struct starpu_perfmodel_arch *starpu_worker_get_perf_archtype(int workerid, unsigned sched_ctx_id)
{
	struct orr_perf *p = orr_perf_get(orr_self());
	struct starpu_perfmodel_arch *a = NULL;

	(void) sched_ctx_id;
	if (!p || workerid < 0 || (unsigned) workerid >= p->archs.nworkers)
		return NULL;
	orr_lock(&p->lock);
	if (p->archs.worker_pub || !make_worker_pub(p))
		a = &p->archs.worker_pub[workerid];
	orr_unlock(&p->lock);
	return a;
}

/* ---- combinations ---- */

static int comb_find(const struct orr_arch_table *t, int n, const struct starpu_perfmodel_device *v)
{
	for (unsigned c = 0; c < t->ncombs; c++)
		if (orr_arch_same_devices(t->comb[c]->ndevices, t->comb[c]->devices, n, v))
			return (int) c;
	return -1;
}

static int comb_add(struct orr_arch_table *t, int n, const struct starpu_perfmodel_device *v)
{
	struct starpu_perfmodel_arch **comb = realloc(t->comb, (t->ncombs + 1) * sizeof(*comb));

	orr_assert(comb_find(t, n, v) < 0);
	if (!comb)
		return -1;
	t->comb = comb;

	struct starpu_perfmodel_arch *a = malloc(sizeof(*a));
	struct starpu_perfmodel_device *d = malloc((size_t) n * sizeof(*d));

	if (!a || !d) {
		free(a);
		free(d);
		return -1;
	}
	memcpy(d, v, (size_t) n * sizeof(*d));
	*a = (struct starpu_perfmodel_arch){ .ndevices = n, .devices = d };
	comb[t->ncombs] = a;
	return (int) t->ncombs++;
}

/* Returns with the lock held, or NULL. The archs of the workers are the first combinations, unless
 * the program added others before starpu_init. */
static struct orr_perf *lock_combs(void)
{
	struct orr_perf *p = orr_perf_get(orr_self());

	if (!p)
		return NULL;
	orr_lock(&p->lock);
	if (p->archs.ncombs)
		return p;
	for (unsigned i = 0; i < p->archs.nworkers; i++) {
		struct starpu_perfmodel_device d = orr_arch_device(orr_perf_cfg(p),
								   &p->archs.worker[i]);

		if (comb_find(&p->archs, 1, &d) < 0)
			comb_add(&p->archs, 1, &d);
	}
	return p;
}

int starpu_perfmodel_get_narch_combs(void)
{
	struct orr_perf *p = lock_combs();

	if (!p)
		return 0;

	int n = (int) p->archs.ncombs;

	orr_unlock(&p->lock);
	return n;
}

int starpu_perfmodel_arch_comb_get(int ndevices, struct starpu_perfmodel_device *devices)
{
	struct orr_perf *p = lock_combs();

	if (!p)
		return -1;

	int c = comb_find(&p->archs, ndevices, devices);

	orr_unlock(&p->lock);
	return c;
}

int starpu_perfmodel_arch_comb_add(int ndevices, struct starpu_perfmodel_device *devices)
{
	struct orr_perf *p = ndevices > 0 ? lock_combs() : NULL;

	if (!p)
		return -1;

	int c = comb_find(&p->archs, ndevices, devices);

	if (c < 0)
		c = comb_add(&p->archs, ndevices, devices);
	orr_unlock(&p->lock);
	return c;
}

struct starpu_perfmodel_arch *starpu_perfmodel_arch_comb_fetch(int comb)
{
	struct orr_perf *p = lock_combs();
	struct starpu_perfmodel_arch *a = NULL;

	if (!p)
		return NULL;
	if (comb >= 0 && (unsigned) comb < p->archs.ncombs)
		a = p->archs.comb[comb];
	orr_unlock(&p->lock);
	return a;
}

void orr_arch_table_free(struct orr_arch_table *t)
{
	for (unsigned i = 0; i < t->ncombs; i++) {
		free(t->comb[i]->devices);
		free(t->comb[i]);
	}
	free(t->comb);
	if (t->worker_pub)
		free(t->worker_pub[0].devices);
	free(t->worker_pub);
	free(t->worker);
	*t = (struct orr_arch_table){ 0 };
}
