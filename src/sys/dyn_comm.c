/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Communicators of processes that were started at different times, on Open MPI.
 *
 * The processes follow the plan of the registry (dyn/links.h): pieces of communicators that exist
 * are connected one after another, by a port whose name goes through the registry. What results is
 * kept as a link for the next time, so that a set that shrinks needs no connection at all.
 *
 * Measured (2 cores, 2 to 8 processes): MPI_Comm_spawn() of 2 takes 0.3 to 0.4 s, the connection of
 * two pieces 0.08 to 0.1 s.
 *
 * Invariant: nothing here is collective over processes that are not in the new communicator. */
#include <stdlib.h>
#include <string.h>
#include "base/assert.h"
#include "base/seam_dyn.h"
#include "dyn/words.h"
#include "dyn_real.h"

static struct {
	struct orr_dyn_known **links;
	int n;
} known;

struct orr_dyn_known *orr_dyn_known_by_number(int link)
{
	for (int i = 0; i < known.n; i++)
		if (known.links[i]->link == link)
			return known.links[i];
	return NULL;
}

int orr_dyn_known_rank(const struct orr_dyn_known *k, int uid)
{
	for (int i = 0; i < k->n; i++)
		if (k->uids[i] == uid)
			return i;
	return -1;
}

struct orr_dyn_known *orr_dyn_known_with(const int *uids, int n)
{
	for (int i = 0; i < known.n; i++) {
		int at = 0;
		while (at < n && orr_dyn_known_rank(known.links[i], uids[at]) >= 0)
			at++;
		if (at == n)
			return known.links[i];
	}
	return NULL;
}

void orr_dyn_known_add(int link, MPI_Comm comm, const int *uids, int n)
{
	struct orr_dyn_known *k = orr_dyn_memory(NULL, sizeof(*k));
	*k = (struct orr_dyn_known){ .link = link, .comm = comm, .n = n };
	k->uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids));
	memcpy(k->uids, uids, (size_t) n * sizeof(*uids));
	known.links = orr_dyn_memory(known.links, (size_t) (known.n + 1) * sizeof(*known.links));
	known.links[known.n++] = k;
}

void orr_dyn_known_free(int link)
{
	int at = 0;
	while (at < known.n && known.links[at]->link != link)
		at++;
	if (at == known.n)
		return; /* this process was not in it */
	struct orr_dyn_known *k = known.links[at];
	known.links[at] = known.links[--known.n];
	PMPI_Comm_free(&k->comm);
	free(k->uids);
	free(k);
}

void orr_sys_dyn_world(int link, const int *uids, int n)
{
	orr_dyn_known_add(link, MPI_COMM_WORLD, uids, n);
}

/* ---- groups ---- */

/* The ranks of these processes in the link, allocated. */
static int *ranks_in(const struct orr_dyn_known *k, const int *uids, int n)
{
	int *ranks = orr_dyn_memory(NULL, (size_t) n * sizeof(*ranks));
	for (int i = 0; i < n; i++)
		ranks[i] = orr_dyn_known_rank(k, uids[i]);
	return ranks;
}

static int group_of(const struct orr_dyn_known *k, const int *uids, int n, MPI_Group *group)
{
	MPI_Group all;
	int *ranks = ranks_in(k, uids, n), ret = PMPI_Comm_group(k->comm, &all);
	if (!ret) {
		ret = PMPI_Group_incl(all, n, ranks, group);
		PMPI_Group_free(&all);
	}
	free(ranks);
	return ret;
}

int orr_sys_dyn_group(const int *uids, int n, MPI_Group *group)
{
	const struct orr_dyn_known *k = n ? orr_dyn_known_with(uids, n) : NULL;
	if (!n) {
		*group = MPI_GROUP_EMPTY;
		return MPI_SUCCESS;
	}
	return k ? group_of(k, uids, n, group) : orr_dyn_stand_in(uids, n, group);
}

static int uids_in(const struct orr_dyn_known *k, MPI_Group group, int n, const int *ranks,
		   int *uids)
{
	MPI_Group all;
	PMPI_Comm_group(k->comm, &all);
	PMPI_Group_translate_ranks(group, n, (int *) ranks, all, uids);
	PMPI_Group_free(&all);
	for (int i = 0; i < n; i++) {
		if (uids[i] == MPI_UNDEFINED)
			return -1;
		uids[i] = k->uids[uids[i]];
	}
	return n;
}

int orr_dyn_known_uids(MPI_Group group, int **uids)
{
	int n, found = -1;
	PMPI_Group_size(group, &n);
	int *ranks = orr_dyn_memory(NULL, (size_t) n * sizeof(*ranks));
	*uids = orr_dyn_memory(NULL, (size_t) n * sizeof(**uids));
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	for (int i = 0; i < known.n && found < 0; i++)
		found = uids_in(known.links[i], group, n, ranks, *uids);
	free(ranks);
	if (found >= 0)
		return found;
	free(*uids);
	*uids = NULL;
	return -1;
}

int orr_sys_dyn_uids(MPI_Group group, int **uids)
{
	const int *stand_in;
	int n = orr_dyn_stand_in_uids(group, &stand_in);
	if (n < 0)
		return orr_dyn_known_uids(group, uids);
	*uids = orr_dyn_memory(NULL, (size_t) n * sizeof(**uids));
	memcpy(*uids, stand_in, (size_t) n * sizeof(**uids));
	return n;
}

/* ---- connecting ---- */

#define TAG 77

/* The part of a link that is in the piece, a communicator of its own; called by its processes. */
static int piece_comm(int link, const int *uids, int n, MPI_Comm *comm)
{
	const struct orr_dyn_known *k = orr_dyn_known_by_number(link);
	MPI_Group group;
	orr_assert(k);
	int ret = group_of(k, uids, n, &group);
	if (!ret) {
		ret = PMPI_Comm_create_group(k->comm, group, TAG, comm);
		PMPI_Group_free(&group);
	}
	return ret;
}

/* One number of the plan, or its text, goes through the registry under (number, piece). */
static void tell_port(long number, int piece, const char *port)
{
	struct orr_dyn_words words = orr_dyn_words_of("port", NULL), answer = { 0 };
	orr_dyn_words_number(&words, number);
	orr_dyn_words_number(&words, piece);
	orr_dyn_words_add(&words, port);
	orr_sys_dyn_call(&words, &answer);
	orr_dyn_words_free(&words);
	orr_dyn_words_free(&answer);
}

static void ask_port(long number, int piece, char port[MPI_MAX_PORT_NAME])
{
	struct orr_dyn_words words = orr_dyn_words_of("ask", NULL), answer = { 0 };
	orr_dyn_words_number(&words, number);
	orr_dyn_words_number(&words, piece);
	orr_sys_dyn_call(&words, &answer);
	strncpy(port, orr_dyn_word(&answer, 1), MPI_MAX_PORT_NAME - 1);
	port[MPI_MAX_PORT_NAME - 1] = 0;
	orr_dyn_words_free(&words);
	orr_dyn_words_free(&answer);
}

/* Replaces mine by a communicator with the processes of piece number `piece` behind those before;
 * late: this process is in that piece. */
static int connect_piece(long number, int piece, int late, MPI_Comm *mine)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm between, all;
	int rank, ret;
	PMPI_Comm_rank(*mine, &rank);
	if (late) {
		if (!rank)
			ask_port(number, piece, port);
		ret = PMPI_Comm_connect(port, MPI_INFO_NULL, 0, *mine, &between);
	} else {
		if (!rank && !(ret = PMPI_Open_port(MPI_INFO_NULL, port)))
			tell_port(number, piece, port);
		ret = PMPI_Comm_accept(port, MPI_INFO_NULL, 0, *mine, &between);
		if (!rank)
			PMPI_Close_port(port);
	}
	if (!ret)
		ret = PMPI_Intercomm_merge(between, late, &all);
	if (ret)
		return ret;
	PMPI_Comm_free(&between);
	PMPI_Comm_free(mine);
	*mine = all;
	return MPI_SUCCESS;
}

/* Follows the plan whose pieces begin at `at`. order gets the processes of the new link. */
static int follow(const struct orr_dyn_words *plan, int at, int npieces, int *order, MPI_Comm *mine)
{
	int n = 0, ret = MPI_SUCCESS;
	*mine = MPI_COMM_NULL;
	for (int piece = 0; piece < npieces && !ret; piece++) {
		int link = (int) orr_dyn_number(plan, at),
		    size = (int) orr_dyn_number(plan, at + 1);
		int late = 0;
		for (int i = 0; i < size; i++) {
			order[n + i] = (int) orr_dyn_number(plan, at + 2 + i);
			late |= order[n + i] == orr_dyn_uid();
		}
		if (late)
			ret = piece_comm(link, order + n, size, mine);
		if (!ret && piece && *mine != MPI_COMM_NULL)
			ret = connect_piece(orr_dyn_number(plan, 1), piece, late, mine);
		n += size;
		at += 2 + size;
	}
	return ret;
}

int orr_sys_dyn_comm(const struct orr_dyn_words *answer, const int *uids, int n, MPI_Comm *comm)
{
	int made = (int) orr_dyn_number(answer, 2), npieces = (int) orr_dyn_number(answer, 3),
	    at = 4;
	int *order = orr_dyn_memory(NULL, (size_t) n * sizeof(*order)), ret = MPI_SUCCESS;
	int link = (int) orr_dyn_number(answer, 4);
	if (npieces > 1) {
		MPI_Comm all;
		ret = follow(answer, at, npieces, order, &all);
		if (!ret)
			orr_dyn_known_add(made, all, order, n);
		link = made;
	}
	if (!ret)
		ret = piece_comm(link, uids, n, comm);
	free(order);
	at += 2 * npieces + n;
	for (int i = 0; !ret && i < orr_dyn_number(answer, at); i++)
		orr_dyn_known_free((int) orr_dyn_number(answer, at + 1 + i));
	return ret;
}
