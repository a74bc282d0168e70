/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trees of processing units (starpu_tree.h), and the machine's.
 *
 * Invariant: a node's children are an array that the node owns; each of them names it as father. */
#include "core/worker/unit_tree.h"

#include <stdlib.h>

#include "base/log.h"
#include "core/worker/core.h"
#include "starpu_tree.h"

/* ---- trees ---- */

void starpu_tree_free(struct starpu_tree *tree)
{
	for (int i = 0; i < tree->arity && tree->nodes; i++)
		starpu_tree_free(&tree->nodes[i]);
	free(tree->nodes);
	tree->nodes = NULL;
	tree->arity = 0;
}

void starpu_tree_prepare_children(unsigned arity, struct starpu_tree *father)
{
	/* starpu_tree_insert() has set the arity of children that do not exist yet. */
	if (father->nodes)
		starpu_tree_free(father);
	father->nodes = arity ? calloc(arity, sizeof(*father->nodes)) : NULL;
	father->arity = father->nodes ? (int) arity : 0;
	for (int i = 0; i < father->arity; i++)
		father->nodes[i].father = father;
}

void starpu_tree_insert(struct starpu_tree *tree, int id, int level, int is_pu, int arity,
			struct starpu_tree *father)
{
	*tree = (struct starpu_tree){
		.father = father, .arity = arity, .id = id, .level = level, .is_pu = is_pu
	};
}

/* The next unit below the node, in order, for which `fits` says yes; `not` is left out. */
static struct starpu_tree *first_unit(struct starpu_tree *tree, const struct starpu_tree * not,
				      int (*fits)(const struct starpu_tree *, void *), void *arg)
{
	struct starpu_tree *found = NULL;

	if (tree == not )
		return NULL;
	if (tree->is_pu)
		return fits(tree, arg) ? tree : NULL;
	for (int i = 0; i < tree->arity && tree->nodes && !found; i++)
		found = first_unit(&tree->nodes[i], not, fits, arg);
	return found;
}

static int has_id(const struct starpu_tree *unit, void *arg)
{
	return unit->id == *(int *) arg;
}

struct starpu_tree *starpu_tree_get(struct starpu_tree *tree, int id)
{
	return first_unit(tree, NULL, has_id, &id);
}

struct marks {
	char *visited, *present;
};

static int is_new(const struct starpu_tree *unit, void *arg)
{
	const struct marks *m = arg;

	return m->present[unit->id] && !m->visited[unit->id];
}

struct starpu_tree *starpu_tree_get_neighbour(struct starpu_tree *tree, struct starpu_tree *node,
					      char *visited, char *present)
{
	struct marks m = { visited, present };

	/* The units below `node` count as its neighbourhood, too, when it is no unit. */
	for (struct starpu_tree *from = node; from; from = from->father) {
		struct starpu_tree *found = first_unit(from, node->is_pu ? node : NULL, is_new, &m);

		if (found) {
			visited[found->id] = 1;
			return found;
		}
		if (from == tree)
			break;
	}
	return NULL;
}

void starpu_tree_reset_visited(struct starpu_tree *tree, char *visited)
{
	if (tree->is_pu)
		visited[tree->id] = 0;
	for (int i = 0; i < tree->arity && tree->nodes; i++)
		starpu_tree_reset_visited(&tree->nodes[i], visited);
}

/* ---- the machine ---- */

/* Is worker i the first one that is bound to its unit, on that memory node? */
static int is_first_on_unit(const struct orr_core *core, unsigned i, unsigned memnode)
{
	const struct orr_worker *w = &core->workers[i];

	if (w->arch != STARPU_CPU_WORKER || w->bindid < 0 || w->memnode != memnode)
		return 0;
	for (unsigned k = 0; k < i; k++)
		if (core->workers[k].arch == STARPU_CPU_WORKER &&
		    core->workers[k].bindid == w->bindid)
			return 0;
	return 1;
}

static unsigned count_units(const struct orr_core *core, unsigned memnode)
{
	unsigned n = 0;

	for (unsigned i = 0; i < core->nworkers; i++)
		n += (unsigned) is_first_on_unit(core, i, memnode);
	return n;
}

static int add_units(const struct orr_core *core, struct starpu_tree *below, unsigned memnode)
{
	unsigned n = count_units(core, memnode), k = 0;

	starpu_tree_prepare_children(n, below);
	if (n && !below->nodes)
		return -1;
	for (unsigned i = 0; i < core->nworkers; i++)
		if (is_first_on_unit(core, i, memnode))
			starpu_tree_insert(&below->nodes[k++], core->workers[i].bindid, 2, 1, 0,
					   below);
	orr_assert(k == n);
	return 0;
}

static void free_machine(struct starpu_tree *root)
{
	if (root)
		starpu_tree_free(root);
	free(root);
}

static struct starpu_tree *make_machine(struct orr_process *proc)
{
	struct starpu_tree *root = calloc(1, sizeof(*root));
	unsigned n = 0, nodes = proc->topo.nnuma;

	for (unsigned i = 0; i < nodes; i++)
		n += count_units(proc->core, i);
	if (!root || !n) {
		free(root);
		return NULL;
	}
	starpu_tree_prepare_children(nodes, root);
	int failed = !root->nodes;

	orr_assertf(n <= proc->core->nworkers, "%u units for %u workers", n, proc->core->nworkers);
	for (unsigned i = 0; i < nodes && !failed; i++) {
		starpu_tree_insert(&root->nodes[i], (int) i, 1, 0, 0, root);
		failed = add_units(proc->core, &root->nodes[i], i);
	}
	if (!failed)
		return root;
	orr_error("starpu_workers_get_tree: out of memory");
	free_machine(root);
	return NULL;
}

struct starpu_tree *starpu_workers_get_tree(void)
{
	struct orr_process *proc = orr_self();
	struct starpu_tree *none = NULL, *tree;

	if (proc->state == ORR_PROCESS_DOWN)
		return NULL;
	tree = ORR_ATOMIC_LOAD(&proc->core->unit_tree);
	if (tree)
		return tree;
	tree = make_machine(proc);
	if (tree && !ORR_ATOMIC_CAS(&proc->core->unit_tree, &none, tree)) {
		free_machine(tree); /* another thread was faster */
		tree = none;
	}
	return tree;
}

void orr_unit_tree_exit(struct orr_process *proc)
{
	free_machine(proc->core->unit_tree);
	proc->core->unit_tree = NULL;
}
