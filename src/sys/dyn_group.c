/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups with processes that this one is not connected to yet. MPI cannot have them, so a group of
 * this process alone stands in for each, and the functions of MPI that groups are used with look it
 * up here. In C and in Fortran.
 *
 * Invariant: a stand-in is in the list from its making to MPI_Group_free(). */
#include <stdlib.h>
#include <string.h>
#include "base/seam_dyn.h"
#include "dyn/words.h"
#include "dyn_real.h"

#pragma GCC visibility push(default)

struct stand_in {
	struct stand_in *next;
	MPI_Group group;
	int *uids, n;
};

static struct stand_in *stand_ins;

static struct stand_in *find(MPI_Group group)
{
	struct stand_in *s = stand_ins;
	while (s && s->group != group)
		s = s->next;
	return s;
}

__attribute__((visibility("hidden"))) int orr_dyn_stand_in(const int *uids, int n, MPI_Group *group)
{
	MPI_Group self;
	struct stand_in *s = orr_dyn_memory(NULL, sizeof(*s));
	int zero = 0, ret = PMPI_Comm_group(MPI_COMM_SELF, &self);
	if (!ret) {
		ret = PMPI_Group_incl(self, 1, &zero, &s->group);
		PMPI_Group_free(&self);
	}
	if (ret) {
		free(s);
		return ret;
	}
	s->n = n;
	s->uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids));
	memcpy(s->uids, uids, (size_t) n * sizeof(*uids));
	s->next = stand_ins;
	stand_ins = s;
	*group = s->group;
	return MPI_SUCCESS;
}

__attribute__((visibility("hidden"))) int orr_dyn_stand_in_uids(MPI_Group group, const int **uids)
{
	const struct stand_in *s = find(group);
	if (!s)
		return -1;
	*uids = s->uids;
	return s->n;
}

static int place_of(const int *uids, int n, int uid)
{
	for (int i = 0; i < n; i++)
		if (uids[i] == uid)
			return i;
	return MPI_UNDEFINED;
}

/* ---- what groups are asked ---- */

int MPI_Group_size(MPI_Group group, int *size)
{
	const struct stand_in *s = find(group);
	if (!s)
		return PMPI_Group_size(group, size);
	*size = s->n;
	return MPI_SUCCESS;
}

int MPI_Group_rank(MPI_Group group, int *rank)
{
	const struct stand_in *s = find(group);
	if (!s)
		return PMPI_Group_rank(group, rank);
	*rank = place_of(s->uids, s->n, orr_dyn_uid());
	return MPI_SUCCESS;
}

int MPI_Group_free(MPI_Group *group)
{
	struct stand_in **at = &stand_ins, *s;
	while (*at && (*at)->group != *group)
		at = &(*at)->next;
	s = *at;
	if (s) {
		*at = s->next;
		free(s->uids);
		free(s);
	}
	return PMPI_Group_free(group);
}

int MPI_Group_translate_ranks(MPI_Group from, int n, const int *ranks, MPI_Group to, int *out)
{
	int *a = NULL, *b = NULL, na, nb, ret = MPI_SUCCESS;
	if (!find(from) && !find(to))
		return PMPI_Group_translate_ranks(from, n, ranks, to, out);
	na = orr_sys_dyn_uids(from, &a);
	nb = orr_sys_dyn_uids(to, &b);
	for (int i = 0; i < n && !ret; i++) {
		if (ranks[i] >= 0 && ranks[i] < na)
			out[i] = place_of(b, nb, a[ranks[i]]);
		else if (ranks[i] == MPI_PROC_NULL)
			out[i] = MPI_PROC_NULL;
		else
			ret = MPI_ERR_RANK;
	}
	free(a);
	free(b);
	return ret;
}

int MPI_Group_compare(MPI_Group one, MPI_Group other, int *result)
{
	int *a = NULL, *b = NULL, na, nb, found = 0;
	if (!find(one) && !find(other))
		return PMPI_Group_compare(one, other, result);
	na = orr_sys_dyn_uids(one, &a);
	nb = orr_sys_dyn_uids(other, &b);
	for (int i = 0; i < na && na == nb; i++)
		found += place_of(b, nb, a[i]) != MPI_UNDEFINED;
	*result = MPI_UNEQUAL;
	if (na >= 0 && na == nb && found == na)
		*result = na && memcmp(a, b, (size_t) na * sizeof(*a)) ? MPI_SIMILAR : MPI_IDENT;
	free(a);
	free(b);
	return MPI_SUCCESS;
}

/* ---- what only groups of connected processes can do ---- */

static int refuse(const char *function)
{
	orr_sys_dyn_error(
		"%s: the group has processes that this one is not connected to; MPI_Comm_create_from_group() connects them, and the group of its communicator knows them",
		function);
	return MPI_ERR_GROUP;
}

int MPI_Group_incl(MPI_Group group, int n, const int *ranks, MPI_Group *out)
{
	return find(group) ? refuse("MPI_Group_incl") : PMPI_Group_incl(group, n, ranks, out);
}

int MPI_Group_excl(MPI_Group group, int n, const int *ranks, MPI_Group *out)
{
	return find(group) ? refuse("MPI_Group_excl") : PMPI_Group_excl(group, n, ranks, out);
}

int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *out)
{
	return find(group) ? refuse("MPI_Group_range_incl")
			   : PMPI_Group_range_incl(group, n, ranges, out);
}

int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *out)
{
	return find(group) ? refuse("MPI_Group_range_excl")
			   : PMPI_Group_range_excl(group, n, ranges, out);
}

int MPI_Group_union(MPI_Group a, MPI_Group b, MPI_Group *out)
{
	return find(a) || find(b) ? refuse("MPI_Group_union") : PMPI_Group_union(a, b, out);
}

int MPI_Group_intersection(MPI_Group a, MPI_Group b, MPI_Group *out)
{
	return find(a) || find(b) ? refuse("MPI_Group_intersection")
				  : PMPI_Group_intersection(a, b, out);
}

int MPI_Group_difference(MPI_Group a, MPI_Group b, MPI_Group *out)
{
	return find(a) || find(b) ? refuse("MPI_Group_difference")
				  : PMPI_Group_difference(a, b, out);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *out)
{
	return find(group) ? refuse("MPI_Comm_create") : PMPI_Comm_create(comm, group, out);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *out)
{
	return find(group) ? refuse("MPI_Comm_create_group")
			   : PMPI_Comm_create_group(comm, group, tag, out);
}

#pragma GCC visibility pop
