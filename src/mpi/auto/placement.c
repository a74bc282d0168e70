/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of the rank that executes a task.
 *
 * In this order: the node or the datum that the program names; the only owner of what is written; a
 * policy. The built-in policy takes the rank for which the fewest bytes move between ranks.
 *
 * Invariant: the answer follows from the arguments, the registered owners and sizes alone, so it is
 * the same on every rank that knows the data. */
#include <errno.h>
#include <stdlib.h>
#include "mpi/carry/layer.h"
#include "mpi/auto/placement.h"
#include "base/log.h"
#include "data/data.h"

#define WRITES(mode) ((mode) &STARPU_W)

static const char *name_of(const struct starpu_codelet *cl)
{
	return cl && cl->name ? cl->name : "unnamed";
}

static int not_registered(struct starpu_codelet *cl, starpu_data_handle_t h)
{
	orr_error(
		"task '%s': data %s has no owner; call starpu_mpi_data_register() before inserting tasks that use it",
		name_of(cl), orr_handle_name(h));
	return -EINVAL;
}

/* The owner of a datum that the task accesses, -1 when it has none or is not known here. */
static int owner_of(const struct starpu_data_descr *d)
{
	return d->handle && d->mode & (STARPU_RW | STARPU_REDUX | STARPU_MPI_REDUX)
		       ? d->handle->mpi_rank
		       : -1;
}

/* Bytes that need not move if the task executes on this rank: what it owns, once if the task reads
 * it and once more if the task writes it. */
static size_t bytes_kept(int rank, const struct starpu_data_descr *d, unsigned n)
{
	size_t bytes = 0;

	for (unsigned i = 0; i < n; i++)
		if (owner_of(&d[i]) == rank) {
			int times = !!(d[i].mode & STARPU_R) + !!(d[i].mode & STARPU_W);
			bytes += (times ? (size_t) times : 1) * starpu_data_get_size(d[i].handle);
		}
	return bytes;
}

/* The rank for which the task moves the fewest bytes between ranks: a rank receives what it reads
 * and does not own, and sends back what it writes and does not own (handbook 14.8). Only ranks that
 * own some of the data can be best; of equal ones the lowest is. -1 when no datum has an owner. */
static int fewest_bytes(const struct starpu_data_descr *d, unsigned n)
{
	size_t best_bytes = 0;
	int best = -1;

	for (unsigned i = 0; i < n; i++) {
		int rank = owner_of(&d[i]);
		if (rank < 0 || rank == best)
			continue;
		size_t bytes = bytes_kept(rank, d, n);
		if (best < 0 || bytes > best_bytes || (bytes == best_bytes && rank < best)) {
			best = rank;
			best_bytes = bytes;
		}
	}
	return best;
}

/* A datum of the task is a NULL handle on this rank, so only the ranks that know all its owners can
 * choose. A rank that owns some of the data is one of those: it must not guess. */
static int placed_elsewhere(const struct orr_mpi_comm *c, const struct starpu_data_descr *d,
			    unsigned n, struct starpu_codelet *cl, int *xrank)
{
	for (unsigned i = 0; i < n; i++)
		if (owner_of(&d[i]) == c->rank) {
			orr_error(
				"task '%s' uses data %s, owned by rank %d, and a NULL handle whose owner is not known here: no choice of node; "
				"add STARPU_EXECUTE_ON_NODE or register the data on all ranks that insert the task",
				name_of(cl), orr_handle_name(d[i].handle), c->rank);
			return -EINVAL;
		}
	*xrank = ORR_MPI_ELSEWHERE;
	return 0;
}

static int by_policy(struct orr_mpi *mpi, const struct orr_mpi_comm *c, int policy,
		     const struct starpu_data_descr *d, unsigned n, struct starpu_codelet *cl,
		     int *xrank)
{
	if (policy == STARPU_MPI_NODE_SELECTION_CURRENT_POLICY)
		policy = mpi->placement.policy;
	if (policy == STARPU_MPI_NODE_SELECTION_MOST_R_DATA) {
		for (unsigned i = 0; i < n; i++)
			if (!d[i].handle && !(d[i].mode & STARPU_SCRATCH))
				return placed_elsewhere(c, d, n, cl, xrank);
		*xrank = fewest_bytes(d, n);
		if (*xrank < 0) {
			orr_error(
				"task '%s' has no data with an owner: no choice of node; add STARPU_EXECUTE_ON_NODE",
				name_of(cl));
			return -EINVAL;
		}
		return 0;
	}
	if (policy < 0 || (unsigned) policy >= mpi->placement.npolicies ||
	    !mpi->placement.policies[policy]) {
		orr_error(
			"task '%s': node selection policy %d does not exist; use what starpu_mpi_node_selection_register_policy() returned",
			name_of(cl), policy);
		return -EINVAL;
	}
	*xrank = mpi->placement.policies[policy](c->rank, c->size, (struct starpu_data_descr *) d,
						 (int) n);
	if (*xrank >= 0 && *xrank < c->size)
		return 0;
	orr_error("task '%s': node selection policy %d chose rank %d of %d", name_of(cl), policy,
		  *xrank, c->size);
	return -EINVAL;
}

static int on_node(const struct orr_mpi_comm *c, const struct orr_mpi_choice *choice,
		   struct starpu_codelet *cl, int *xrank)
{
	if (choice->node >= 0) {
		*xrank = choice->node;
		if (*xrank < c->size)
			return 0;
		orr_error("task '%s': STARPU_EXECUTE_ON_NODE names rank %d, but there are %d",
			  name_of(cl), *xrank, c->size);
		return -EINVAL;
	}
	*xrank = choice->data ? choice->data->mpi_rank : ORR_MPI_ELSEWHERE;
	return choice->data && *xrank == -1 ? not_registered(cl, choice->data) : 0;
}

int orr_mpi_place(struct orr_mpi *mpi, const struct orr_mpi_comm *c,
		  const struct orr_mpi_choice *choice, const struct starpu_data_descr *d,
		  unsigned n, struct starpu_codelet *cl, int *xrank)
{
	starpu_data_handle_t first = NULL, pernode = NULL;
	int unknown = 0, several = 0;

	if (choice->node >= 0 || choice->has_data)
		return on_node(c, choice, cl, xrank);
	if (choice->policy == STARPU_MPI_NODE_SELECTION_CURRENT_POLICY || choice->policy == 0)
		for (unsigned i = 0; i < n; i++) {
			starpu_data_handle_t h = d[i].handle;
			if (!WRITES(d[i].mode))
				continue;
			if (!h)
				unknown = 1;
			else if (h->mpi_rank == -1)
				return not_registered(cl, h);
			else if (h->mpi_rank == STARPU_MPI_PER_NODE)
				pernode = h;
			else if (!first)
				first = h;
			else if (h->mpi_rank != first->mpi_rank)
				several = 1;
		}
	if (several || (!first && !pernode && !unknown) || (choice->policy > 0))
		return by_policy(mpi, c, choice->policy, d, n, cl, xrank);
	if (first && unknown) {
		orr_error(
			"task '%s' writes data %s, owned by rank %d, and a NULL handle whose owner is not known here: no choice of node; "
			"add STARPU_EXECUTE_ON_NODE or register the data on all ranks that insert the task",
			name_of(cl), orr_handle_name(first), (int) first->mpi_rank);
		return -EINVAL;
	}
	*xrank = first ? first->mpi_rank : pernode ? STARPU_MPI_PER_NODE : ORR_MPI_ELSEWHERE;
	return 0;
}

void orr_mpi_placement_exit(struct orr_mpi *mpi)
{
	free(mpi->placement.policies);
}

int starpu_mpi_node_selection_register_policy(starpu_mpi_select_node_policy_func_t policy_func)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return -ENODEV;
	unsigned n = mpi->placement.npolicies ? mpi->placement.npolicies : 1;
	starpu_mpi_select_node_policy_func_t *policies = realloc(mpi->placement.policies,
								 (n + 1) * sizeof(*policies));
	if (!policies)
		return -ENOMEM;
	policies[0] = NULL;
	policies[n] = policy_func;
	mpi->placement.policies = policies;
	mpi->placement.npolicies = n + 1;
	return (int) n;
}

static int exists(struct orr_mpi *mpi, int policy, const char *who)
{
	if (policy == STARPU_MPI_NODE_SELECTION_MOST_R_DATA ||
	    (policy > 0 && (unsigned) policy < mpi->placement.npolicies &&
	     mpi->placement.policies[policy]))
		return 1;
	orr_error("%s: node selection policy %d does not exist", who, policy);
	return 0;
}

int starpu_mpi_node_selection_unregister_policy(int policy)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return -ENODEV;
	if (policy <= 0 || !exists(mpi, policy, __func__))
		return -EINVAL;
	mpi->placement.policies[policy] = NULL;
	if (mpi->placement.policy == policy)
		mpi->placement.policy = STARPU_MPI_NODE_SELECTION_MOST_R_DATA;
	return 0;
}

int starpu_mpi_node_selection_set_current_policy(int policy)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	if (!mpi)
		return -ENODEV;
	if (!exists(mpi, policy, __func__))
		return -EINVAL;
	mpi->placement.policy = policy;
	return 0;
}

int starpu_mpi_node_selection_get_current_policy(void)
{
	struct orr_mpi *mpi = orr_mpi_get(__func__);

	return mpi ? mpi->placement.policy : -ENODEV;
}
