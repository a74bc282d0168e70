/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exchange of what a thread of a rank has for itself (sim_private.h), and the functions of
 * starpu_thread.h about keys.
 *
 * Programs without variables of threads and OpenMP pay two comparisons for each change of actor and
 * each kernel.
 *
 * Invariant: stated in sim_private.h. */
#include "actors/sim_private.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include "starpu.h"
#include "actors/sim_actor_record.h"
#include "actors/sim_rank.h"
#include "base/assert.h"
#include "base/log.h"

/* Keys begin here, above those of the C library: a thread outside of the simulation that gets one
 * of ours finds no value. */
#define FIRST_KEY 0x10000u

/* The state of that worker, NULL without memory. */
static struct orr_sim_private *of_worker(struct orr_sim_rank *r, unsigned id)
{
	struct orr_sim_threads *t = &r->threads;
	if (id >= t->nworkers) {
		struct orr_sim_private **w = realloc(t->workers,
						     (id + 1) * sizeof(struct orr_sim_private *));
		if (!w)
			return NULL;
		memset(w + t->nworkers, 0, (id + 1 - t->nworkers) * sizeof(*w));
		t->workers = w;
		t->nworkers = id + 1;
	}
	if (!t->workers[id])
		t->workers[id] = calloc(1, sizeof(struct orr_sim_private));
	return t->workers[id];
}

static struct orr_sim_private *private_of(struct orr_sim_actor *a)
{
	struct orr_sim_private *p = NULL;
	if (a->in_kernel)
		p = of_worker(a->rank, (unsigned) a->in_kernel - 1);
	return p ? p : &a->own;
}

/* ---- variables of threads ---- */

/* The loader's function behind each access to such a variable; it makes them if need be. */
struct index {
	unsigned long module, offset;
};
void *__tls_get_addr(struct index *i);

static int find_segment(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct orr_sim_rank *r = arg;
	const struct link_map *map = r->object;
	(void) size;
	if (info->dlpi_addr != map->l_addr)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_TLS || !p->p_memsz)
			continue;
		r->threads.image = (const char *) info->dlpi_addr + p->p_vaddr;
		r->threads.nimage = p->p_filesz;
		r->threads.size = p->p_memsz;
	}
	return 1;
}

void orr_sim_variables_find(struct orr_sim_rank *r)
{
	size_t module = 0;
	orr_sim_openmp_find(&private_of(orr_sim_actor_self())->openmp);
	free(r->threads.destroy);
	free(r->threads.used);
	memset(&r->threads, 0, sizeof(r->threads));
	if (dlinfo(r->object, RTLD_DI_TLS_MODID, &module) || !module)
		return;
	dl_iterate_phdr(find_segment, r);
	if (!r->threads.size)
		return;
	struct index first = { module, 0 };
	r->threads.at = __tls_get_addr(&first);
	r->threads.owner = private_of(orr_sim_actor_self());
}

/* The values in place become the copy of their owner. False without memory. */
static int put_away(struct orr_sim_threads *t)
{
	struct orr_sim_private *p = t->owner;
	if (!p)
		return 1;
	if (!p->variables)
		p->variables = malloc(t->size);
	if (p->variables)
		memcpy(p->variables, t->at, t->size);
	return p->variables != NULL;
}

static void exchange(struct orr_sim_threads *t, struct orr_sim_private *p)
{
	if (!put_away(t))
		orr_fatal("out of memory for the variables of a thread (%zu bytes)", t->size);
	if (p->variables) {
		memcpy(t->at, p->variables, t->size);
	} else {
		memcpy(t->at, t->image, t->nimage);
		memset((char *) t->at + t->nimage, 0, t->size - t->nimage);
	}
	t->owner = p;
}

void orr_sim_private_enter(struct orr_sim_actor *a)
{
	struct orr_sim_threads *t = &a->rank->threads;
	if (!t->at && !orr_sim_openmp_found)
		return;
	struct orr_sim_private *p = private_of(a);
	if (orr_sim_openmp_found)
		orr_sim_openmp_enter(&p->openmp);
	if (t->at && t->owner != p)
		exchange(t, p);
	orr_assert(!t->at || t->owner == p);
}

/* ---- ends ---- */

static void call_destructors(struct orr_sim_threads *t, struct orr_sim_private *p)
{
	for (unsigned i = 0; i < p->nvalues; i++) {
		void *value = p->values[i];
		p->values[i] = NULL;
		if (value && t->used[i] && t->destroy[i])
			t->destroy[i](value);
	}
}

/* An object of C++ of a thread. */
struct orr_sim_object {
	struct orr_sim_object *next;
	void (*f)(void *);
	void *object;
};

int orr_sim_private_at_end(struct orr_sim_actor *a, void (*f)(void *), void *object)
{
	struct orr_sim_private *p = private_of(a);
	struct orr_sim_object *o = malloc(sizeof(*o));
	if (!o)
		return -1;
	*o = (struct orr_sim_object){ p->objects, f, object };
	p->objects = o;
	return 0;
}

/* Objects stand among the variables of threads: those of their thread are in place meanwhile. */
static void end_objects(struct orr_sim_threads *t, struct orr_sim_private *p)
{
	struct orr_sim_object *o;
	while ((o = p->objects)) {
		if (t->at && t->owner != p)
			exchange(t, p);
		p->objects = o->next;
		o->f(o->object);
		free(o);
	}
}

void orr_sim_private_exit(struct orr_sim_actor *a)
{
	end_objects(&a->rank->threads, private_of(a));
}

void orr_sim_private_end(struct orr_sim_rank *r, struct orr_sim_private *p)
{
	end_objects(&r->threads, p);
	call_destructors(&r->threads, p);
	if (r->threads.owner == p)
		r->threads.owner = NULL;
	orr_sim_openmp_end(&p->openmp);
	free(p->values);
	free(p->variables);
	free(p->processors);
	memset(p, 0, sizeof(*p));
}

void orr_sim_private_workers_end(struct orr_sim_rank *r)
{
	struct orr_sim_threads *t = &r->threads;
	for (unsigned i = 0; i < t->nworkers; i++) {
		if (!t->workers[i])
			continue;
		orr_sim_private_end(r, t->workers[i]);
		free(t->workers[i]);
	}
	free(t->workers);
	t->workers = NULL;
	t->nworkers = 0;
}

/* ---- keys ---- */

int starpu_pthread_key_create(starpu_pthread_key_t *key, void (*destr)(void *))
{
	struct orr_sim_threads *t = &orr_sim_actor_self()->rank->threads;
	void (**d)(void *) = realloc(t->destroy, (t->nkeys + 1) * sizeof(*d));
	if (!d)
		return ENOMEM;
	t->destroy = d;
	uint8_t *u = realloc(t->used, t->nkeys + 1);
	if (!u)
		return ENOMEM;
	t->used = u;
	t->destroy[t->nkeys] = destr;
	t->used[t->nkeys] = 1;
	*key = FIRST_KEY + t->nkeys++;
	return 0;
}

int starpu_pthread_key_delete(starpu_pthread_key_t key)
{
	struct orr_sim_threads *t = &orr_sim_actor_self()->rank->threads;
	if (key < FIRST_KEY || key - FIRST_KEY >= t->nkeys || !t->used[key - FIRST_KEY])
		return EINVAL;
	t->used[key - FIRST_KEY] = 0;
	return 0;
}

int starpu_pthread_setspecific(starpu_pthread_key_t key, const void *value)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	if (!a || key < FIRST_KEY || key - FIRST_KEY >= a->rank->threads.nkeys)
		return EINVAL;
	struct orr_sim_private *p = private_of(a);
	unsigned i = (unsigned) key - FIRST_KEY;
	if (i >= p->nvalues) {
		void **v = realloc(p->values, (i + 1) * sizeof(*v));
		if (!v)
			return ENOMEM;
		memset(v + p->nvalues, 0, (i + 1 - p->nvalues) * sizeof(*v));
		p->values = v;
		p->nvalues = i + 1;
	}
	p->values[i] = (void *) value;
	return 0;
}

void *starpu_pthread_getspecific(starpu_pthread_key_t key)
{
	struct orr_sim_actor *a = orr_sim_actor_self();
	struct orr_sim_private *p = a ? private_of(a) : NULL;
	return p && key >= FIRST_KEY && key - FIRST_KEY < p->nvalues ? p->values[key - FIRST_KEY]
								     : NULL;
}
