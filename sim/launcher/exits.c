/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The end of a rank's program: what it gave to atexit() and its relatives, and the destructors of
 * its copy, run in the actor that ends it, as part of that rank.
 *
 * Invariant: each function runs once, also if one of them calls exit() again. The copy stays
 * loaded: threads and kernels of the rank may still run its code. That of an elastic process is
 * unloaded when nothing of it is on the main actor's stack any more. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include "launcher.h"
#include "run/sim_dyn.h"
#include "actors/sim_private.h"

#undef free

/* The destructors of a shared object, last first. */
static void run_destructors(const struct link_map *map)
{
	ElfW(Addr) array = 0, last = 0;
	size_t bytes = 0;
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_FINI_ARRAY)
			array = map->l_addr + d->d_un.d_ptr;
		else if (d->d_tag == DT_FINI_ARRAYSZ)
			bytes = d->d_un.d_val;
		else if (d->d_tag == DT_FINI)
			last = map->l_addr + d->d_un.d_ptr;
	}
	for (size_t i = bytes / sizeof(array); array && i > 0; i--)
		((void (**)(void)) array)[i - 1]();
	if (last)
		((void (*)(void)) last)();
}

void launcher_exits_run(struct orr_sim_rank *r, int status, int quick)
{
	struct orr_sim_exit *e;
	if (r->own.ending && quick)
		return;
	if (!quick && orr_sim_actor_self())
		orr_sim_private_exit(orr_sim_actor_self());
	while ((e = r->own.exits)) {
		r->own.exits = e->next;
		if (e->quick == quick)
			e->f(status, e->arg);
		free(e);
	}
	if (quick || r->own.ending)
		return;
	r->own.ending = 1;
	if (r->exit_functions)
		r->exit_functions();
	if (orr_sim_dyn.on && !r->runtime_up && r->object && orr_sim_actor_self() == r->main) {
		r->unload = 1; /* which calls the destructors */
		return;
	}
	if (r->object)
		run_destructors(r->object);
	for (int i = 0; r->objects && r->objects[i]; i++)
		run_destructors(r->objects[i]);
}

void launcher_exits_unload(struct orr_sim_rank *r)
{
	void *object = r->object;
	if (!r->unload)
		return;
	orr_assert(orr_sim_actor_self() == r->main);
	r->unload = 0;
	r->object = NULL;
	dlclose(object);
}
