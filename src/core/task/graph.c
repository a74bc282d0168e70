/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording the graph of tasks (see graph.h).
 *
 * For each datum the current and the previous group of accesses are kept, a group being one writer,
 * or consecutive readers, or consecutive commuting or reducing tasks. Invariant: a task depends on
 * all members of the group before its own. */
#include "core/task/graph.h"
#include "data/handle.h"
#include "core/task/expect.h"
#include "core/task/footprint.h"
#include "base/log.h"
#include "core/worker/core.h"
#include "core/task/task.h"
#include "core/task/task_impl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct group {
	uint32_t *v, n, cap;
};

struct orr_graph_datum {
	starpu_data_handle_t h; /* NULL: free; GONE: was in use */
	unsigned class;         /* of cur */
	struct group prev, cur;
};

#define GONE ((starpu_data_handle_t) 1)

/* Makes room for one more element of an array. */
static void *room(void *v, uint64_t n, uint64_t *cap, size_t size)
{
	orr_assert(n <= *cap);
	if (n < *cap)
		return v;
	*cap = *cap ? 2 * *cap : 16;
	v = realloc(v, *cap * size);
	if (!v)
		orr_fatal("out of memory while recording the graph of tasks");
	return v;
}

#define ROOM(array, n, cap) \
	do { \
		uint64_t cap_ = (cap); \
		(array) = room((array), (n), &cap_, sizeof(*(array))); \
		(cap) = (__typeof__(cap)) cap_; \
	} while (0)

/* ---- start and end ---- */

static void find_kinds(struct orr_process *proc, struct orr_graph *g)
{
	unsigned k;

	g->kind = calloc(proc->core->nworkers + 1, sizeof(*g->kind));
	for (unsigned i = 0; i < proc->core->nworkers && g->kind; i++) {
		struct orr_worker *w = &proc->core->workers[i];

		for (k = 0; k < g->nkinds &&
			    (g->kind[k].arch != w->arch || g->kind[k].devid != w->perf_arch->devid);
		     k++)
			;
		if (k == g->nkinds)
			g->kind[g->nkinds++] = (struct orr_graph_kind){
				.arch = w->arch, .devid = w->perf_arch->devid
			};
		g->kind[k].nworkers++;
	}
}

struct orr_graph *orr_graph_start(struct orr_process *proc, int deps)
{
	uint32_t base = proc->core->graph ? proc->core->graph->base + proc->core->graph->nnodes : 0;
	struct orr_graph *g;

	if (proc->core->graph && proc->core->graph->kept)
		return proc->core->graph;
	orr_graph_free(proc);
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	orr_lock_init(&g->lock, ORR_RANK_GRAPH);
	g->deps = deps;
	g->base = base;
	find_kinds(proc, g);
	if (!g->kind) {
		free(g);
		return NULL;
	}
	ORR_ATOMIC_STORE(&proc->core->graph, g);
	return g;
}

/* Other threads may be submitting: a graph that is there is gone on with. */
int orr_graph_join(struct orr_process *proc)
{
	struct orr_graph *g = proc->core->graph ? proc->core->graph : orr_graph_start(proc, 1);

	if (!g)
		return -ENOMEM;
	orr_lock(&g->lock);
	ORR_ATOMIC_STORE_RELAXED(&g->deps, 1);
	ORR_ATOMIC_ADD(&g->policy, 1);
	orr_unlock(&g->lock);
	return 0;
}

void orr_graph_leave(struct orr_process *proc)
{
	orr_assertf(proc->core->graph && ORR_ATOMIC_LOAD(&proc->core->graph->policy) > 0,
		    "a policy leaves the graph and has not joined it");
	ORR_ATOMIC_ADD(&proc->core->graph->policy, (unsigned) -1);
}

int orr_graph_keep(struct orr_process *proc)
{
	struct orr_graph *g = proc->core->graph;

	if (g && g->kept)
		proc->core->graph = NULL; /* of an earlier run of the runtime: the world's */
	g = orr_graph_start(proc, 1);
	if (!g) {
		orr_error("out of memory for the graph of tasks");
		return -ENOMEM;
	}
	g->kept = 1;
	return 0;
}

void orr_graph_free(struct orr_process *proc)
{
	struct orr_graph *g = proc->core->graph;

	ORR_ATOMIC_STORE(&proc->core->graph, NULL);
	if (!g || g->kept)
		return; /* a kept one is the world's */
	for (uint32_t i = 0; i < g->ntypes; i++) {
		free(g->type[i].us);
		free((char *) g->type[i].name);
	}
	for (uint32_t i = 0; i < g->data_cap; i++) {
		free(g->data[i].prev.v);
		free(g->data[i].cur.v);
	}
	free(g->kind);
	free(g->type);
	free(g->node);
	free(g->edge);
	free(g->message);
	free(g->data);
	free(g);
}

/* ---- tasks ---- */

/* The place of a task in the graph, made when it has none. */
static uint32_t place(struct orr_graph *g, struct orr_task *t)
{
	orr_assert_locked(&g->lock);
	if (t->record <= g->base) {
		ROOM(g->node, g->nnodes, g->node_cap);
		g->node[g->nnodes] = (struct orr_graph_node){ 0 };
		t->record = g->base + ++g->nnodes;
	}
	orr_assertf(t->record - g->base <= g->nnodes, "task %s is node %u of %u",
		    orr_task_name(t->pub), t->record - g->base, g->nnodes);
	return t->record - g->base - 1;
}

/* The shortest expected time of the task on workers of a kind. */
static double on_kind(struct orr_process *proc, const struct orr_graph_kind *k,
		      struct starpu_task *task, int use_defaults)
{
	double best = INFINITY;
	int unknown = 0;

	for (unsigned w = 0; w < proc->core->nworkers; w++) {
		struct orr_worker *worker = &proc->core->workers[w];

		if (worker->arch != k->arch || worker->perf_arch->devid != k->devid)
			continue;
		for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
			double us;

			if (!orr_task_can_run(worker, task, i))
				continue;
			us = orr_expect_us(proc, worker->perf_arch, task, i, use_defaults, NULL);
			if (isnan(us))
				unknown = 1;
			else if (us < best)
				best = us;
		}
		if (best < INFINITY || unknown)
			break; /* the others of the kind are the same */
	}
	return best < INFINITY ? best : unknown ? NAN : INFINITY;
}

static int same_times(const double *a, const double *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!(a[i] == b[i] || (isnan(a[i]) && isnan(b[i]))))
			return 0;
	return 1;
}

/* Under the lock. us becomes the type's when it is new, else it is freed. */
static uint32_t type_of(struct orr_graph *g, struct starpu_task *task, uint32_t footprint,
			double *us)
{
	orr_assert_locked(&g->lock);
	for (uint32_t i = g->ntypes; i-- > 0;) {
		struct orr_graph_type *y = &g->type[i];

		if (y->cl == task->cl && y->footprint == footprint &&
		    same_times(y->us, us, g->nkinds)) {
			free(us);
			return i + 1;
		}
	}
	ROOM(g->type, g->ntypes, g->type_cap);
	g->type[g->ntypes] = (struct orr_graph_type){ .cl = task->cl,
						      .name = strdup(orr_task_name(task)),
						      .footprint = footprint,
						      .us = us };
	return ++g->ntypes;
}

static void edge(struct orr_graph *g, uint32_t from, uint32_t to)
{
	orr_assertf(from < g->nnodes && to < g->nnodes, "an edge leads from node %u to %u of %u",
		    from, to, g->nnodes);
	if (from == to)
		return;
	ROOM(g->edge, g->nedges, g->edge_cap);
	g->edge[g->nedges++] = (struct orr_graph_edge){ from, to };
}

static int recording(const struct orr_graph *g)
{
	return ORR_ATOMIC_LOAD_RELAXED(&g->bound) || ORR_ATOMIC_LOAD_RELAXED(&g->policy) || g->kept;
}

void orr_graph_depend(struct orr_process *proc, struct orr_task *dep, struct orr_task *t)
{
	struct orr_graph *g = ORR_ATOMIC_LOAD(&proc->core->graph);

	if (!ORR_ATOMIC_LOAD_RELAXED(&g->deps) || !recording(g))
		return;
	orr_lock(&g->lock);
	edge(g, place(g, dep), place(g, t));
	orr_unlock(&g->lock);
}

/* ---- data ---- */

static struct orr_graph_datum *slot(const struct orr_graph *g, starpu_data_handle_t h)
{
	orr_assertf(g->ndata < g->data_cap && !(g->data_cap & (g->data_cap - 1)),
		    "the table of data has %u of %u places in use", g->ndata, g->data_cap);

	uint32_t i = (uint32_t) (((uintptr_t) h >> 4) * 0x9e3779b97f4a7c15ULL >> 32) &
		     (g->data_cap - 1);

	while (g->data[i].h && g->data[i].h != h)
		i = (i + 1) & (g->data_cap - 1);
	return &g->data[i];
}

static void rehash(struct orr_graph *g)
{
	struct orr_graph_datum *old = g->data;
	uint32_t cap = g->data_cap, live = 0;

	for (uint32_t i = 0; i < cap; i++)
		live += old[i].h && old[i].h != GONE;
	g->data_cap = 64;
	while (g->data_cap < 4 * (live + 1))
		g->data_cap *= 2;
	g->data = calloc(g->data_cap, sizeof(*g->data));
	if (!g->data)
		orr_fatal("out of memory while recording the graph of tasks");
	g->ndata = live;
	for (uint32_t i = 0; i < cap; i++)
		if (old[i].h && old[i].h != GONE)
			*slot(g, old[i].h) = old[i];
	free(old);
}

static void join(struct orr_graph *g, struct orr_graph_datum *d, unsigned class, uint32_t me)
{
	if (!d->cur.n || class != d->class || class == ORR_CLASS_WRITE) {
		struct group old = d->prev;

		d->prev = d->cur;
		d->cur = old;
		d->cur.n = 0;
		d->class = class;
	}
	ROOM(d->cur.v, d->cur.n, d->cur.cap);
	d->cur.v[d->cur.n++] = me;
	for (uint32_t i = 0; i < d->prev.n; i++)
		edge(g, d->prev.v[i], me);
}

static void use(struct orr_graph *g, starpu_data_handle_t h, unsigned mode, uint32_t me)
{
	unsigned class = mode & STARPU_REDUX     ? ORR_CLASS_REDUX
			 : !(mode & STARPU_W)    ? ORR_CLASS_READ
			 : mode & STARPU_COMMUTE ? ORR_CLASS_COMMUTE
						 : ORR_CLASS_WRITE;
	struct orr_graph_datum *d;

	if (!(mode & (STARPU_RW | STARPU_REDUX)))
		return;
	if (2 * g->ndata >= g->data_cap)
		rehash(g);
	d = slot(g, h);
	if (!d->h) {
		d->h = h;
		g->ndata++;
	}
	join(g, d, class, me);
}

void orr_graph_forget(struct orr_process *proc, starpu_data_handle_t h)
{
	struct orr_graph *g = ORR_ATOMIC_LOAD(&proc->core->graph);
	struct orr_graph_datum *d;

	orr_lock(&g->lock);
	d = g->data_cap ? slot(g, h) : NULL;
	if (d && d->h) {
		free(d->prev.v);
		free(d->cur.v);
		*d = (struct orr_graph_datum){ .h = GONE };
	}
	orr_unlock(&g->lock);
}

void orr_graph_submit(struct orr_process *proc, struct orr_task *t, int nodeps)
{
	struct orr_graph *g = ORR_ATOMIC_LOAD(&proc->core->graph);
	struct starpu_task *task = t->pub;
	unsigned i, n = orr_task_nbuffers(task);
	uint32_t me, type, footprint = 0;
	double *us;

	if (!recording(g) || t->internal || !task->cl)
		return;
	us = malloc((g->nkinds + 1) * sizeof(*us));
	if (!us)
		orr_fatal("out of memory while recording the graph of tasks");
	for (i = 0; i < g->nkinds; i++)
		us[i] = t->where & STARPU_NOWHERE ? 0 : on_kind(proc, &g->kind[i], task, g->kept);
	footprint = orr_footprint_of_task(t);
	orr_lock(&g->lock);
	type = type_of(g, task, footprint, us);
	me = place(g, t);
	g->node[me] = (struct orr_graph_node){ .type = type,
					       .prio = task->priority,
					       .job = t->job_id };
	for (i = 0; i < n && g->deps && !nodeps && task->sequential_consistency; i++) {
		starpu_data_handle_t h = orr_task_handle(task, i);

		if (h->sequential && !(task->handles_sequential_consistency &&
				       !task->handles_sequential_consistency[i]))
			use(g, h, orr_task_mode(task, i), me);
	}
	orr_unlock(&g->lock);
}

void orr_graph_message(struct orr_process *proc, starpu_data_handle_t h, int ordered,
		       const struct orr_graph_message *m)
{
	struct orr_graph *g = ORR_ATOMIC_LOAD(&proc->core->graph);
	uint32_t me;

	if (!g->kept)
		return;
	orr_lock(&g->lock);
	ROOM(g->node, g->nnodes, g->node_cap);
	me = g->nnodes++;
	g->node[me] = (struct orr_graph_node){ 0 };
	ROOM(g->message, g->nmessages, g->message_cap);
	g->message[g->nmessages] = *m;
	g->message[g->nmessages++].node = me;
	if (ordered && h->sequential)
		use(g, h, m->receive ? STARPU_W : STARPU_R, me);
	orr_unlock(&g->lock);
}

/* ---- paths ---- */

double orr_graph_shortest(const struct orr_graph *g, uint32_t type)
{
	double best = INFINITY;

	for (unsigned k = 0; type && k < g->nkinds; k++) {
		if (isnan(g->type[type - 1].us[k]))
			return 0;
		best = fmin(best, g->type[type - 1].us[k]);
	}
	return best < INFINITY ? best : 0;
}

/* The edges inside of a range of nodes, by their ends: pred[off[i] .. off[i + 1]) of the i-th node
 * of the range. */
struct preds {
	uint32_t *off, *pos, *nsucc, *pred;
};

static int inside(const struct orr_graph_edge *e, uint32_t from, uint32_t end)
{
	return e->from >= from && e->from < end && e->to >= from && e->to < end;
}

static int sort_edges(const struct orr_graph *g, uint32_t from, uint32_t end, struct preds *p)
{
	size_t n = end - from;

	p->off = calloc(n + 1, sizeof(uint32_t));
	p->pos = calloc(n + 1, sizeof(uint32_t));
	p->nsucc = calloc(n + 1, sizeof(uint32_t));
	p->pred = malloc((g->nedges + 1) * sizeof(uint32_t));
	if (!p->off || !p->pos || !p->nsucc || !p->pred)
		return -1;
	for (uint64_t e = 0; e < g->nedges; e++)
		if (inside(&g->edge[e], from, end)) {
			p->nsucc[g->edge[e].from - from]++;
			p->off[g->edge[e].to - from + 1]++;
		}
	for (size_t i = 0; i < n; i++) {
		p->off[i + 1] += p->off[i];
		p->pos[i] = p->off[i];
	}
	for (uint64_t e = 0; e < g->nedges; e++)
		if (inside(&g->edge[e], from, end))
			p->pred[p->pos[g->edge[e].to - from]++] = g->edge[e].from - from;
	return 0;
}

/* A node's turn comes when its successors are done. A cycle, which the program would wait for for
 * ever, is left at its own times. */
static double walk(const struct orr_graph *g, uint32_t from, uint32_t end, struct preds *p,
		   uint32_t *queue, double *levels)
{
	uint32_t n = end - from, i, head = 0, tail = 0;
	double longest = 0;

	for (i = 0; i < n; i++) {
		levels[i] = 0;
		if (!p->nsucc[i])
			queue[tail++] = i;
	}
	for (; head < tail; head++) {
		i = queue[head];
		levels[i] += orr_graph_shortest(g, g->node[from + i].type);
		longest = fmax(longest, levels[i]);
		for (uint32_t k = p->off[i]; k < p->off[i + 1]; k++) {
			levels[p->pred[k]] = fmax(levels[p->pred[k]], levels[i]);
			if (!--p->nsucc[p->pred[k]])
				queue[tail++] = p->pred[k];
		}
	}
	return longest;
}

double orr_graph_levels(const struct orr_graph *g, uint32_t from, uint32_t end, double *levels)
{
	uint32_t *queue = malloc((end - from + 1) * sizeof(*queue));
	struct preds p = { 0 };
	double longest = sort_edges(g, from, end, &p) || !queue
				 ? -1
				 : walk(g, from, end, &p, queue, levels);

	free(p.off);
	free(p.pos);
	free(p.nsucc);
	free(p.pred);
	free(queue);
	return longest;
}
