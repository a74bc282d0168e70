/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trees of processing units, for policies that look for a neighbour: a unit's nearest relatives
 * come first.
 *
 * A program may make trees of its own, or walk through the machine's (starpu_workers_get_tree()).
 * Nothing here is locked: whoever makes a tree has it for itself until it is complete. */
#ifndef STARPU_TREE_H
#define STARPU_TREE_H

#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct starpu_tree {
	struct starpu_tree *nodes;  /* its children, an array; NULL if there are none */
	struct starpu_tree *father; /* NULL in the root */
	int arity;                  /* number of children */
	int id;                     /* of a unit: its number */
	int level;                  /* 0 in the root, one more in each generation */
	int is_pu;                  /* 1: a processing unit, which has no children */
};

/* Gives father `arity` children, all zero, in father->nodes. starpu_tree_insert() fills them in.
 * The children that it had are freed. Without memory father has no children, and arity 0. */
void starpu_tree_prepare_children(unsigned arity, struct starpu_tree *father);
/* Fills in a node, which is one of father's children, or a root (father NULL) in memory of the
 * caller's. A child becomes a processing unit (is_pu 1) or gets children of its own next. */
void starpu_tree_insert(struct starpu_tree *tree, int id, int level, int is_pu, int arity,
			struct starpu_tree *father);
/* The unit of that number in the tree, or NULL. */
struct starpu_tree *starpu_tree_get(struct starpu_tree *tree, int id);
/* The unit that is nearest to `node`, other than node itself: in the smallest subtree around it,
 * and the first there. visited and present have an entry for each number of a unit in the tree:
 * only units are returned for which present is not 0 and visited is 0, and visited of the one
 * returned becomes 1. NULL: there is none any more. */
struct starpu_tree *starpu_tree_get_neighbour(struct starpu_tree *tree, struct starpu_tree *node,
					      char *visited, char *present);
/* Sets visited to 0 for each unit of the tree. */
void starpu_tree_reset_visited(struct starpu_tree *tree, char *visited);
/* Frees all that is below the node. The node's own memory is its maker's, or its father's. */
void starpu_tree_free(struct starpu_tree *tree);

/* The machine: below the root its memory nodes, below each of them the units that workers of CPUs
 * are bound to. The number of a unit is that of starpu_worker_get_bindid(). The runtime owns the
 * tree until starpu_shutdown(). NULL: the runtime is down, no worker is bound to a unit, or memory
 * is exhausted. */
struct starpu_tree *starpu_workers_get_tree(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
