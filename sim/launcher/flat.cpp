// SPDX-License-Identifier: LGPL-2.1-or-later
// Communicators of the program, as the collective operations see them that treat ranks of one node
// apart: each rank is a node of its own there.
//
// SMPI keeps one communicator of the node's ranks for all ranks together, and lets each rank
// replace that of the nodes' first ranks, which others still use: operations on a part of the ranks
// wait for ever then, or read what was freed. This takes the place of what SMPI finds out at the
// first such operation, which sends no messages either.
//
// Invariant: the first rank that needs them makes a communicator's nodes; all others find these.
#include "glue.h"
#include <cstring>
#include <new>
#include <unordered_map>
#include <vector>
#include "simgrid_private.h"
extern "C" {
#include "base/assert.h"
#include "calls.h"
}

using simgrid::smpi::Comm;

// A communicator of the same ranks, whose operations treat none apart.
static MPI_Comm part_of(MPI_Comm comm)
{
	MPI_Group group;
	void *room = ::operator new(ORR_SIMGRID_COMM_ROOM);
	std::memset(room, 0, ORR_SIMGRID_COMM_ROOM);
	PMPI_Comm_group(comm, &group);
	// The world is freed with the last of its ranks, before this one, which counts its group
	// for nothing.
	if (comm == MPI_COMM_WORLD)
		group->ref();
	return new (room) Comm(group, nullptr, true, MPI_UNDEFINED);
}

int orrery_sim_flat_nodes(void *comm)
{
	auto *mine = static_cast<Comm *>(comm);
	if (!comm)
		return 0;
	orr_assert(!mine->get_leaders_comm());
	mine->set_leaders_comm(part_of(mine));
	return 1;
}

void *orrery_sim_flat_node(const void *comm)
{
	static std::unordered_map<const void *, MPI_Comm> nodes; // by MPI_COMM_SELF
	if (!comm)
		return nullptr;
	MPI_Comm self = MPI_COMM_SELF, &node = nodes[self];
	if (!node)
		node = part_of(self);
	return node;
}

int orrery_sim_is_single(void *comm)
{
	int n;
	PMPI_Comm_size(static_cast<Comm *>(comm), &n);
	return n == 1;
}

int *orrery_sim_flat_firsts(const void *comm)
{
	static std::vector<int> firsts; // read at once
	MPI_Group group;
	int n;
	if (!comm)
		return nullptr;
	PMPI_Comm_group(static_cast<Comm *>(const_cast<void *>(comm)), &group);
	PMPI_Group_size(group, &n);
	firsts.resize(static_cast<size_t>(n));
	for (int i = 0; i < n; i++)
		firsts[static_cast<size_t>(i)] = static_cast<int>(group->actor(i));
	PMPI_Group_free(&group);
	return firsts.data();
}
