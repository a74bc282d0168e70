/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trees of processing units: neighbours come nearest first, each once, and only those that are
 * present; the machine's tree has the unit of each bound worker. */
#include "core_test.h"

#include <starpu_tree.h>
#include <string.h>

#define NODES 3
#define UNITS 4

/* Units 0 to 11, four on each of three nodes. */
static void make(struct starpu_tree *root)
{
	starpu_tree_insert(root, -1, 0, 0, NODES, NULL);
	starpu_tree_prepare_children(NODES, root);
	CHECK_IS(root->arity, NODES);
	for (int i = 0; i < NODES; i++) {
		struct starpu_tree *node = &root->nodes[i];

		starpu_tree_insert(node, i, 1, 0, UNITS, root);
		starpu_tree_prepare_children(UNITS, node);
		for (int k = 0; k < UNITS; k++)
			starpu_tree_insert(&node->nodes[k], i * UNITS + k, 2, 1, 0, node);
	}
}

static void check_neighbours(struct starpu_tree *root)
{
	static const int order[] = { 4, 7, 0, 1, 2, 3, 8, 9, 10, 11 };
	char visited[NODES * UNITS], present[NODES * UNITS];
	struct starpu_tree *here = starpu_tree_get(root, 5);

	CHECK(here && here->id == 5 && here->is_pu && here->father == &root->nodes[1]);
	CHECK(!starpu_tree_get(root, 12) && !starpu_tree_get(&root->nodes[0], 5));
	memset(visited, 1, sizeof(visited));
	memset(present, 1, sizeof(present));
	present[6] = 0;
	CHECK(!starpu_tree_get_neighbour(root, here, visited, present));
	starpu_tree_reset_visited(root, visited);
	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		struct starpu_tree *unit = starpu_tree_get_neighbour(root, here, visited, present);

		CHECK(unit && unit->id == order[i] && visited[order[i]]);
	}
	CHECK(!starpu_tree_get_neighbour(root, here, visited, present));
	/* Inside of a part, nothing else is found. */
	starpu_tree_reset_visited(root, visited);
	for (int i = 0; i < 2; i++)
		CHECK(starpu_tree_get_neighbour(&root->nodes[1], here, visited, present));
	CHECK(!starpu_tree_get_neighbour(&root->nodes[1], here, visited, present));
}

static void check_machine(void)
{
	struct starpu_tree *root = starpu_workers_get_tree();
	int bound = 0;

	CHECK(starpu_workers_get_tree() == root);
	for (unsigned i = 0; i < starpu_worker_get_count(); i++) {
		int id = starpu_worker_get_bindid((int) i);

		if (id < 0)
			continue;
		bound = 1;
		CHECK(root && starpu_tree_get(root, id) && starpu_tree_get(root, id)->level == 2);
	}
	CHECK(bound == (root != NULL));
}

int main(void)
{
	struct starpu_tree root;

	CHECK(!starpu_workers_get_tree());
	make(&root);
	check_neighbours(&root);
	starpu_tree_free(&root);
	CHECK(!root.nodes && !root.arity);
	if (test_skips(starpu_init(NULL)))
		return 77;
	check_machine();
	starpu_shutdown();
	return 0;
}
