/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions, the sets that a process is in, their groups and communicators.
 *
 * Invariant: what a session asks for comes from the registry in an elastic run; in other runs, from
 * the MPI if it has sessions (own.h). */
#include <stdlib.h>
#include <string.h>
#include "base/seam_dyn.h"
#include "dyn/client.h"
#include "dyn/own.h"

/* Functions that the headers of an MPI 4 declare are ours as well. */
#pragma GCC visibility push(default)

int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
	if (!orr_dyn_own_only() && !orr_dyn_client_begin())
		return MPI_ERR_OTHER;
	return orr_dyn_own.init(info, errhandler, session);
}

int MPI_Session_finalize(MPI_Session *session)
{
	int ret = orr_dyn_own_only() ? MPI_SUCCESS
				     : orr_dyn_check("MPI_Session_finalize", *session, "-");
	return ret ? ret : orr_dyn_own.finalize(session);
}

/* ---- sets ---- */

static int ask_psets(const char *function, MPI_Session session, struct orr_dyn_words *answer)
{
	struct orr_dyn_words request = orr_dyn_words_of("psets", NULL);
	int ret = orr_dyn_check(function, session, "-");
	if (!ret)
		return orr_dyn_ask(function, &request, answer);
	orr_dyn_words_free(&request);
	return ret;
}

int MPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npsets)
{
	const struct orr_dyn_own *own = orr_dyn_own_only();
	struct orr_dyn_words answer = { 0 };
	if (own)
		return own->get_num_psets(session, info, npsets);
	int ret = ask_psets("MPI_Session_get_num_psets", session, &answer);
	if (!ret)
		*npsets = answer.n - 1;
	orr_dyn_words_free(&answer);
	return ret;
}

int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *length, char *name)
{
	const struct orr_dyn_own *own = orr_dyn_own_only();
	struct orr_dyn_words answer = { 0 };
	if (own)
		return own->get_nth_pset(session, info, n, length, name);
	int ret = ask_psets("MPI_Session_get_nth_pset", session, &answer);
	if (ret)
		return ret;
	if (n < 0 || n >= answer.n - 1) {
		orr_sys_dyn_error(
			"MPI_Session_get_nth_pset: there are %d process sets, and none has the number %d",
			answer.n - 1, n);
		ret = MPI_ERR_ARG;
	} else {
		const char *found = orr_dyn_word(&answer, n + 1);
		int room = *length;
		*length = (int) strlen(found) + 1;
		if (room > 0) {
			strncpy(name, found, (size_t) room - 1);
			name[room - 1] = 0;
		}
	}
	orr_dyn_words_free(&answer);
	return ret;
}

int MPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
	static const char *const keys[] = { "mpi_dyn", "mpi_included", "mpi_primary" };
	static const char function[] = "MPI_Session_get_pset_info";
	const struct orr_dyn_own *own = orr_dyn_own_only();
	struct orr_dyn_words answer = { 0 }, request;
	if (own)
		return own->get_pset_info(session, pset_name, info);
	int ret = orr_dyn_check(function, session, pset_name);
	if (ret)
		return ret;
	request = orr_dyn_words_of("info", pset_name, NULL);
	ret = orr_dyn_ask(function, &request, &answer);
	if (ret)
		return ret;
	struct orr_dyn_words pairs = orr_dyn_words_of("mpi_size", orr_dyn_word(&answer, 1), NULL);
	for (int i = 0; i < 3; i++) {
		orr_dyn_words_add(&pairs, keys[i]);
		orr_dyn_words_add(&pairs, orr_dyn_number(&answer, i + 2) ? "True" : "False");
	}
	ret = orr_dyn_info_new(&pairs, 0, info);
	orr_dyn_words_free(&pairs);
	orr_dyn_words_free(&answer);
	return ret;
}

/* ---- groups and communicators ---- */

int MPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *group)
{
	static const char function[] = "MPI_Group_from_session_pset";
	const struct orr_dyn_own *own = orr_dyn_own_only();
	struct orr_dyn_words answer = { 0 }, request;
	if (own)
		return own->group(session, pset_name, group);
	int ret = orr_dyn_check(function, session, pset_name);
	if (ret)
		return ret;
	request = orr_dyn_words_of("members", pset_name, NULL);
	ret = orr_dyn_ask(function, &request, &answer);
	if (ret)
		return ret;
	int n = answer.n - 1, *uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids));
	for (int i = 0; i < n; i++)
		uids[i] = (int) orr_dyn_number(&answer, i + 1);
	ret = orr_sys_dyn_group(uids, n, group);
	free(uids);
	orr_dyn_words_free(&answer);
	return ret;
}

int MPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
			       MPI_Errhandler errhandler, MPI_Comm *comm)
{
	static const char function[] = "MPI_Comm_create_from_group";
	const struct orr_dyn_own *own = orr_dyn_own_only();
	struct orr_dyn_words answer = { 0 };
	int *uids = NULL;
	if (own)
		return own->comm(group, stringtag, info, errhandler, comm);
	int n = orr_dyn_client() ? orr_sys_dyn_uids(group, &uids) : -1;
	if (n < 0) {
		orr_sys_dyn_error(
			"%s: a process of the group does not belong to this run, or there is no session",
			function);
		return MPI_ERR_GROUP;
	}
	struct orr_dyn_words request = orr_dyn_words_of("join", stringtag ? stringtag : "", NULL);
	for (int i = 0; i < n; i++)
		orr_dyn_words_number(&request, uids[i]);
	int ret = orr_dyn_ask(function, &request, &answer);
	if (!ret)
		ret = orr_sys_dyn_comm(&answer, uids, n, comm);
	orr_dyn_words_free(&answer);
	free(uids);
	return ret;
}

#pragma GCC visibility pop
