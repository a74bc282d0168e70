/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The process's end of the way to the registry.
 *
 * Invariant: see client.h. */
#include "dyn/client.h"

#include <stdlib.h>
#include <string.h>
#include "base/seam_dyn.h"
#include "dyn/own.h"

struct orr_dyn_client *orr_dyn_client(void)
{
	return *orr_sys_dyn_slot();
}

/* The world of this process, whose members others need as well. */
static void learn_world(int link)
{
	struct orr_dyn_words request = orr_dyn_words_of("members", "mpi://WORLD", NULL),
			     answer = { 0 };
	orr_sys_dyn_call(&request, &answer);
	int n = answer.n - 1, *uids = orr_dyn_memory(NULL, (size_t) n * sizeof(*uids));
	for (int i = 0; i < n; i++)
		uids[i] = (int) orr_dyn_number(&answer, i + 1);
	orr_sys_dyn_world(link, uids, n);
	free(uids);
	orr_dyn_words_free(&request);
	orr_dyn_words_free(&answer);
}

struct orr_dyn_client *orr_dyn_client_begin(void)
{
	struct orr_dyn_words request, answer = { 0 };
	if (orr_dyn_client())
		return orr_dyn_client();
	if (orr_sys_dyn_enter())
		return NULL;
	request = orr_dyn_words_of("ready", NULL);
	orr_sys_dyn_call(&request, &answer);
	orr_dyn_words_free(&request);
	if (!orr_dyn_word_is(&answer, 0, "ok"))
		orr_sys_dyn_leave();
	struct orr_dyn_client *c = orr_dyn_memory(NULL, sizeof(*c));
	*c = (struct orr_dyn_client){ .uid = (int) orr_dyn_number(&answer, 1),
				      .dynamic = (int) orr_dyn_number(&answer, 4) };
	*orr_sys_dyn_slot() = c;
	learn_world((int) orr_dyn_number(&answer, 5));
	orr_dyn_words_free(&answer);
	return c;
}

int orr_dyn_ask(const char *function, struct orr_dyn_words *request, struct orr_dyn_words *answer)
{
	orr_sys_dyn_call(request, answer);
	orr_dyn_words_free(request);
	if (!orr_dyn_word_is(answer, 0, "error"))
		return MPI_SUCCESS;
	orr_sys_dyn_error("%s: %s", function, orr_dyn_word(answer, 1));
	orr_dyn_words_free(answer);
	return MPI_ERR_ARG;
}

int orr_dyn_check(const char *function, MPI_Session session, const char *set)
{
	if (orr_dyn_own_only()) {
		orr_sys_dyn_error(
			"%s: the program does not run elastically; start it with `orrery run --elastic`",
			function);
		return MPI_ERR_OTHER;
	}
	if (session == MPI_SESSION_NULL || !orr_dyn_client()) {
		orr_sys_dyn_error("%s: there is no session; MPI_Session_init() begins one",
				  function);
		return MPI_ERR_ARG;
	}
	if (set && *set)
		return MPI_SUCCESS;
	orr_sys_dyn_error("%s: the name of a process set is missing", function);
	return MPI_ERR_ARG;
}

void orr_dyn_words_info(struct orr_dyn_words *words, MPI_Info info)
{
	int n = 0, length, flag;
	char key[MPI_MAX_INFO_KEY + 1];
	if (info != MPI_INFO_NULL)
		PMPI_Info_get_nkeys(info, &n);
	for (int i = 0; i < n; i++) {
		PMPI_Info_get_nthkey(info, i, key);
		PMPI_Info_get_valuelen(info, key, &length, &flag);
		char *value = orr_dyn_memory(NULL, (size_t) length + 1);
		PMPI_Info_get(info, key, length, value, &flag);
		value[length] = 0;
		orr_dyn_words_add(words, key);
		orr_dyn_words_add(words, value);
		free(value);
	}
}

int orr_dyn_info_new(const struct orr_dyn_words *words, int place, MPI_Info *info)
{
	MPI_Info made;
	int ret = PMPI_Info_create(&made);
	for (int i = place; !ret && i + 1 < words->n; i += 2)
		ret = PMPI_Info_set(made, words->w[i], words->w[i + 1]);
	if (!ret)
		*info = made;
	return ret;
}
