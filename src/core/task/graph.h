/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The graph of submitted tasks, recorded on request: for lower bounds (core/front/bound.c) and for
 * policies that want to see it whole.
 *
 * Recorded are tasks with their expected times on each kind of unit, dependencies that follow from
 * data under sequential consistency, and those that the program declares between tasks (not those
 * of tags, nor the program's own acquisitions: a bound stays a bound).
 *
 * Invariant: tasks that expect the same on all kinds share a type; edges lead between recorded
 * tasks. Under graph->lock. */
#ifndef ORR_CORE_GRAPH_H
#define ORR_CORE_GRAPH_H

#include "base/graph_view.h"
#include "core/worker/core.h"

struct orr_graph_kind { /* units that models do not distinguish */
	enum starpu_worker_archtype arch;
	int devid;
	unsigned nworkers;
};

struct orr_graph_type {
	struct starpu_codelet *cl;
	const char *name; /* owned */
	uint32_t footprint;
	double *us;     /* by kind: INFINITY cannot, NAN unknown */
	uint64_t count; /* used by the bounds */
};

struct orr_graph_node {
	uint32_t type; /* + 1; 0: a message, or somebody depends on it and it was not submitted
			  itself */
	int32_t prio;
	uint64_t job;
};

struct orr_graph {
	orr_lock_t lock;
	int deps;        /* atomic: dependencies are recorded */
	int bound;       /* atomic: between starpu_bound_start and _stop */
	unsigned policy; /* atomic: contexts whose policy needs it */
	int kept; /* from the start of the runtime to its end, for the world: times that the world
		     would charge by default count */
	uint32_t base;      /* records below are of an earlier graph */
	uint32_t mark, end; /* the nodes that bounds are about */
	struct orr_graph_kind *kind;
	unsigned nkinds;
	struct orr_graph_type *type;
	uint32_t ntypes, type_cap;
	struct orr_graph_node *node;
	uint32_t nnodes, node_cap;
	struct orr_graph_edge *edge;
	uint64_t nedges, edge_cap;
	struct orr_graph_message
		*message; /* in the order in which they were posted; of kept graphs */
	uint32_t nmessages, message_cap;
	struct orr_graph_datum *data; /* hash table of the data in use */
	uint32_t ndata, data_cap;
};

/* A new graph in place of the last one, which nobody may be using. NULL when memory is exhausted.
 */
struct orr_graph *orr_graph_start(struct orr_process *proc, int deps);
/* Recording, with dependencies, for the policy of one more context, or one fewer. 0 or -ENOMEM. */
int orr_graph_join(struct orr_process *proc);
void orr_graph_leave(struct orr_process *proc);
void orr_graph_free(struct orr_process *proc);
/* Starts recording everything until the runtime stops, and nobody frees it: it belongs to the world
 * (orr_sys_process_exit finds it in proc->core->graph). 0 or -ENOMEM after a message. */
int orr_graph_keep(struct orr_process *proc);
/* Called by the core while proc->core->graph exists: a task is submitted, t will depend on dep, a
 * handle ends. */
void orr_graph_submit(struct orr_process *proc, struct orr_task *t, int nodeps);
void orr_graph_depend(struct orr_process *proc, struct orr_task *dep, struct orr_task *t);
void orr_graph_forget(struct orr_process *proc, starpu_data_handle_t h);
/* Called by the MPI layer while proc->core->graph exists: a send or receive of h is posted.
 * ordered: in the order of submission. */
void orr_graph_message(struct orr_process *proc, starpu_data_handle_t h, int ordered,
		       const struct orr_graph_message *m);
/* The shortest time of a type over all kinds; 0 when unknown. */
double orr_graph_shortest(const struct orr_graph *g, uint32_t type);
/* levels[i]: the longest path of shortest times from node i to an end of the graph, i included.
 * Edges of nodes before `from` are left out. Returns the longest of all, or -1 when memory is
 * exhausted. */
double orr_graph_levels(const struct orr_graph *g, uint32_t from, uint32_t end, double *levels);
#endif
