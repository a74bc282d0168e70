/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data of tasks (see task_data.h).
 *
 * Invariant: the data layer knows tasks only as owners of accesses. */
#include "core/flow/task_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/flow/task_state.h"
#include "core/task/task.h"
#include "data/handle.h"

/* ---- tasks as owners ---- */

static void task_turn(struct orr_owner *o)
{
	orr_task_release(orr_task_of_owner(o));
}

static void task_held(struct orr_owner *o)
{
	orr_task_held(orr_task_of_owner(o));
}

static void task_proceed(struct orr_owner *o)
{
	orr_task_proceed(orr_task_of_owner(o));
}

static const char *task_name(const struct orr_owner *o)
{
	return orr_task_name(orr_task_of_owner(o)->pub);
}

const struct orr_owner_ops orr_task_owner_ops = {
	.turn = task_turn,
	.held = task_held,
	.proceed = task_proceed,
	.name = task_name,
};

struct orr_task *orr_task_data_owner(struct orr_owner *o)
{
	return o->ops == &orr_task_owner_ops ? orr_task_of_owner(o) : NULL;
}

static int reserve_interfaces(struct starpu_task *pub, unsigned n)
{
	void **interfaces = realloc(pub->dyn_interfaces, n * sizeof(*interfaces));

	if (!interfaces)
		return -ENOMEM;
	memset(interfaces, 0, n * sizeof(*interfaces));
	pub->dyn_interfaces = interfaces;
	return 0;
}

int orr_task_data_reserve_many(struct orr_task *t, unsigned n)
{
	orr_assert(n > ORR_TASK_INLINE && t->owner.naccess == n);
	t->owner.access = orr_task_alloc_accesses(orr_self(), n);
	if (t->owner.access && (n <= STARPU_NMAXBUFS || reserve_interfaces(t->pub, n) == 0))
		return 0;
	orr_task_free_accesses(t);
	t->owner.naccess = 0;
	orr_error("task %s: out of memory for its %u data", orr_task_name(t->pub), n);
	return -ENOMEM;
}

/* Is access i under sequential consistency? */
static int is_sequential(const struct starpu_task *pub, starpu_data_handle_t h, unsigned i)
{
	if (!pub->sequential_consistency)
		return 0;
	if (pub->handles_sequential_consistency && !pub->handles_sequential_consistency[i])
		return 0;
	return h->sequential;
}

void orr_task_data_submit(struct orr_task *t, int nodeps)
{
	orr_assert(t->owner.ops == &orr_task_owner_ops && t->owner.access);
	orr_assertf(t->owner.naccess == orr_task_nbuffers(t->pub),
		    "task %s has %u accesses for %u data", orr_task_name(t->pub), t->owner.naccess,
		    orr_task_nbuffers(t->pub));
	for (unsigned i = 0; i < t->owner.naccess; i++) {
		struct orr_access *a = &t->owner.access[i];
		starpu_data_handle_t h = orr_task_handle(t->pub, i);
		unsigned mode = orr_task_mode(t->pub, i);

		if (mode & STARPU_MPI_REDUX)
			mode |= STARPU_RW | STARPU_COMMUTE;
		memset(a, 0, sizeof(*a));
		a->handle = h;
		a->owner = &t->owner;
		a->mode = (uint16_t) mode;
		a->node = -1;
		a->ordered = (mode & (STARPU_R | STARPU_W | STARPU_REDUX)) && !nodeps &&
			     is_sequential(t->pub, h, i);
	}
	orr_access_submit(&t->owner);
}
