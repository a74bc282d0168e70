/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collections of workers: the sets that policies walk through.
 *
 * A list keeps the order in which workers were added. A tree is kept flattened, sorted by memory
 * node and unit, so that neighbours in the array are neighbours in the machine; a walk starts at
 * the calling worker and goes to ever more distant ones.
 *
 * One thread at a time changes a collection, and others may walk through it meanwhile: they may
 * miss or repeat a worker then, and get members, old or new, only.
 *
 * Invariant: workerids[0 .. nworkers) are the members, each once, and present[] says the same.
 * Parallel tasks are not its business (core/flow/parallel.h), so every member is unblocked and its
 * own master. */
#include "core/worker/core.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

static void init(struct starpu_worker_collection *c)
{
	c->workerids = calloc(STARPU_NMAXWORKERS, sizeof(int));
	if (!c->workerids)
		orr_fatal("not enough memory for a collection of workers");
	c->collection_private = NULL;
	c->nworkers = c->nunblocked_workers = c->nmasters = 0;
	/* Everybody is both: the one array serves all three. */
	c->unblocked_workers = c->masters = c->workerids;
	memset(c->present, 0, sizeof(c->present));
	memset(c->is_unblocked, 0, sizeof(c->is_unblocked));
	memset(c->is_master, 0, sizeof(c->is_master));
}

static void deinit(struct starpu_worker_collection *c)
{
	free(c->workerids);
	c->workerids = NULL;
	c->unblocked_workers = c->masters = NULL;
	c->nworkers = c->nunblocked_workers = c->nmasters = 0;
}

static int at(const struct starpu_worker_collection *c, unsigned i)
{
	return ORR_ATOMIC_LOAD_RELAXED(&c->workerids[i]);
}

static void put(struct starpu_worker_collection *c, unsigned i, int worker)
{
	ORR_ATOMIC_STORE_RELAXED(&c->workerids[i], worker);
}

static unsigned count(const struct starpu_worker_collection *c)
{
	return ORR_ATOMIC_LOAD(&c->nworkers);
}

/* The worker is a member, or not, and so many there are. */
static void note(struct starpu_worker_collection *c, int worker, char in, unsigned n)
{
	orr_assertf(n <= STARPU_NMAXWORKERS && !c->present[worker] == !!in,
		    "a collection of %u workers gets or loses worker %d twice", n, worker);
	ORR_ATOMIC_STORE_RELAXED(&c->present[worker], in);
	c->is_unblocked[worker] = c->is_master[worker] = in;
	c->nunblocked_workers = c->nmasters = n;
	ORR_ATOMIC_STORE(&c->nworkers, n);
}

static int insert_at(struct starpu_worker_collection *c, int worker, unsigned place)
{
	if (worker < 0 || worker >= STARPU_NMAXWORKERS || c->present[worker])
		return -1;
	orr_assert(place <= c->nworkers && c->nworkers < STARPU_NMAXWORKERS);
	for (unsigned i = c->nworkers; i > place; i--)
		put(c, i, at(c, i - 1));
	put(c, place, worker);
	note(c, worker, 1, c->nworkers + 1);
	return worker;
}

static int list_add(struct starpu_worker_collection *c, int worker)
{
	return insert_at(c, worker, c->nworkers);
}

/* True if worker a stands before b in the flattened tree. */
static int before(struct orr_process *proc, int a, int b)
{
	struct orr_worker *wa, *wb;

	if ((unsigned) a >= proc->core->nworkers || (unsigned) b >= proc->core->nworkers)
		return a < b;
	wa = &proc->core->workers[a];
	wb = &proc->core->workers[b];
	if (wa->memnode != wb->memnode)
		return wa->memnode < wb->memnode;
	if (wa->bindid != wb->bindid)
		return wa->bindid < wb->bindid;
	return a < b;
}

static int tree_add(struct starpu_worker_collection *c, int worker)
{
	struct orr_process *proc = orr_self();
	unsigned place = 0;

	while (place < c->nworkers && before(proc, c->workerids[place], worker))
		place++;
	orr_assertf(place == c->nworkers || !before(proc, c->workerids[place], worker),
		    "worker %d is put into a tree out of order", worker);
	return insert_at(c, worker, place);
}

static int remove_worker(struct starpu_worker_collection *c, int worker)
{
	unsigned i;

	if (worker < 0 || worker >= STARPU_NMAXWORKERS || !c->present[worker])
		return -1;
	for (i = 0; c->workerids[i] != worker; i++)
		orr_assertf(i + 1 < c->nworkers, "a collection lost its worker %d", worker);
	for (; i + 1 < c->nworkers; i++)
		put(c, i, at(c, i + 1));
	note(c, worker, 0, c->nworkers - 1);
	return worker;
}

static unsigned has_next(struct starpu_worker_collection *c, struct starpu_sched_ctx_iterator *it)
{
	return (unsigned) it->cursor < count(c);
}

/* The whole iterator is a page; only what is used is set. */
static void list_init_iterator(struct starpu_worker_collection *c,
			       struct starpu_sched_ctx_iterator *it)
{
	(void) c;
	it->cursor = 0;
	it->value = it->possible_value = NULL;
	it->possibly_parallel = -1;
}

static int list_get_next(struct starpu_worker_collection *c, struct starpu_sched_ctx_iterator *it)
{
	return at(c, (unsigned) it->cursor++);
}

static void tree_init_iterator(struct starpu_worker_collection *c,
			       struct starpu_sched_ctx_iterator *it)
{
	struct orr_worker *w = orr_thread_self()->worker;
	unsigned i = 0, n = count(c);

	list_init_iterator(c, it);
	while (w && i < n && at(c, i) != (int) w->id)
		i++;
	it->value = (void *) (uintptr_t) (w && i < n ? i : 0); /* where the walk starts */
}

/* The k-th nearest of n places to place p: alternating sides as long as both have some, then the
 * rest of the longer side. */
static unsigned kth_nearest(unsigned p, unsigned n, unsigned k)
{
	unsigned left = p, right = n - 1 - p, both = left < right ? left : right;

	orr_assert(p < n && k < n);

	if (k <= 2 * both)
		return k % 2 ? p + (k + 1) / 2 : p - k / 2;
	return left < right ? p + (k - both) : p - (k - both);
}

static int tree_get_next(struct starpu_worker_collection *c, struct starpu_sched_ctx_iterator *it)
{
	unsigned start = (unsigned) (uintptr_t) it->value, k = (unsigned) it->cursor++,
		 n = count(c);

	if (start >= n)
		start = 0; /* members left since the walk began */
	return k < n ? at(c, kth_nearest(start, n, k)) : at(c, 0);
}

static void list_init_parallel(struct starpu_worker_collection *c,
			       struct starpu_sched_ctx_iterator *it, struct starpu_task *task)
{
	(void) task;
	list_init_iterator(c, it);
}

static void tree_init_parallel(struct starpu_worker_collection *c,
			       struct starpu_sched_ctx_iterator *it, struct starpu_task *task)
{
	(void) task;
	tree_init_iterator(c, it);
}

struct starpu_worker_collection starpu_worker_list = {
	.type = STARPU_WORKER_LIST,
	.has_next = has_next,
	.get_next = list_get_next,
	.add = list_add,
	.remove = remove_worker,
	.init = init,
	.deinit = deinit,
	.init_iterator = list_init_iterator,
	.init_iterator_for_parallel_tasks = list_init_parallel,
};

struct starpu_worker_collection starpu_worker_tree = {
	.type = STARPU_WORKER_TREE,
	.has_next = has_next,
	.get_next = tree_get_next,
	.add = tree_add,
	.remove = remove_worker,
	.init = init,
	.deinit = deinit,
	.init_iterator = tree_init_iterator,
	.init_iterator_for_parallel_tasks = tree_init_parallel,
};
