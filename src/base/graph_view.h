/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recorded graph of tasks as the worlds see it: nodes by number, edges, messages.
 * core/task/graph.h records it.
 *
 * Invariant: edges and messages name nodes below nnodes. */
#ifndef ORR_BASE_GRAPH_VIEW_H
#define ORR_BASE_GRAPH_VIEW_H

#include <stdint.h>

struct orr_graph_edge {
	uint32_t from, to;
};

struct orr_graph_message { /* what a send of one process and a receive of another have in common */
	uint32_t node;
	uint32_t context; /* of the communicator */
	int32_t peer;     /* rank in the world; negative: any */
	int receive;
	int64_t tag;
};

struct orr_graph;

struct orr_graph_view {
	uint32_t nnodes, nmessages;
	uint64_t nedges;
	const struct orr_graph_edge *edge;
	const struct orr_graph_message *message; /* in the order in which they were posted */
};

#endif
