/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operations on process sets, and their dictionaries.
 *
 * Invariant: outputs are written once the registry has answered with success, and not before. */
#include <stdlib.h>
#include <string.h>
#include "base/seam_dyn.h"
#include "dyn/client.h"
#include "dyn/operations.h"

_Static_assert((int) MPI_PSETOP_ADD == ORR_DYN_ADD && (int) MPI_PSETOP_SUB == ORR_DYN_SUB &&
		       (int) MPI_PSETOP_REPLACE == ORR_DYN_REPLACE &&
		       (int) MPI_PSETOP_MALLEABLE == ORR_DYN_MALLEABLE &&
		       (int) MPI_PSETOP_GROW == ORR_DYN_GROW &&
		       (int) MPI_PSETOP_SHRINK == ORR_DYN_SHRINK &&
		       (int) MPI_PSETOP_UNION == ORR_DYN_UNION &&
		       (int) MPI_PSETOP_DIFFERENCE == ORR_DYN_DIFFERENCE &&
		       (int) MPI_PSETOP_INTERSECTION == ORR_DYN_INTERSECTION &&
		       (int) MPI_PSETOP_SPLIT == ORR_DYN_SPLIT,
	       "the operations have two lists");

/* Asks; if the registry wants processes to be started, starts them and asks how that ended. */
static int ask_and_start(const char *function, struct orr_dyn_words *request,
			 struct orr_dyn_words *answer)
{
	int ret = orr_dyn_ask(function, request, answer);
	while (!ret && orr_dyn_word_is(answer, 0, "spawn")) {
		int started = !orr_sys_dyn_spawn((int) orr_dyn_number(answer, 1),
						 (int) orr_dyn_number(answer, 2),
						 answer->n > 3 ? answer->w[3] : NULL);
		struct orr_dyn_words more = orr_dyn_words_of("spawned", started ? "1" : "0", NULL);
		orr_dyn_words_free(answer);
		ret = orr_dyn_ask(function, &more, answer);
	}
	return ret;
}

/* The outputs of an answer, as copies that the caller frees. */
static char **copy_names(const struct orr_dyn_words *answer, int n)
{
	char **names = orr_dyn_memory(NULL, (size_t) n * sizeof(*names));
	for (int i = 0; i < n; i++) {
		const char *name = orr_dyn_word(answer, 3 + i);
		names[i] = strcpy(orr_dyn_memory(NULL, strlen(name) + 1), name);
	}
	return names;
}

static void write_outputs(struct orr_dyn_words *answer, int *op, char ***names, int *n, int named)
{
	*op = (int) orr_dyn_number(answer, 1);
	*n = (int) orr_dyn_number(answer, 2);
	if (!named)
		*names = *n ? copy_names(answer, *n) : NULL;
	orr_dyn_words_free(answer);
}

int MPI_Session_dyn_v2a_psetop(MPI_Session session, int *op, char **input_sets, int ninput,
			       char ***output_sets, int *noutput, MPI_Info info)
{
	static const char function[] = "MPI_Session_dyn_v2a_psetop";
	struct orr_dyn_words request = orr_dyn_words_of("psetop", NULL), answer = { 0 };
	int named = *noutput > 0, ret = orr_dyn_check(function, session, "-");
	orr_dyn_words_number(&request, *op);
	orr_dyn_words_number(&request, named ? *noutput : 0);
	for (int i = 0; named && i < *noutput; i++)
		orr_dyn_words_add(&request, (*output_sets)[i]);
	orr_dyn_words_number(&request, ninput);
	for (int i = 0; !ret && i < ninput; i++) {
		ret = orr_dyn_check(function, session, input_sets[i]);
		if (!ret)
			orr_dyn_words_add(&request, input_sets[i]);
	}
	orr_dyn_words_info(&request, info);
	if (!ret)
		ret = ask_and_start(function, &request, &answer);
	if (!ret)
		write_outputs(&answer, op, output_sets, noutput, named);
	orr_dyn_words_free(&request);
	return ret;
}

int MPI_Session_dyn_v2a_query_psetop(MPI_Session session, char *coll_pset, char *input_pset,
				     int *type, char ***output_psets, int *noutput)
{
	static const char function[] = "MPI_Session_dyn_v2a_query_psetop";
	struct orr_dyn_words answer = { 0 }, request;
	int ret = orr_dyn_check(function, session, coll_pset);
	if (!ret)
		ret = orr_dyn_check(function, session, input_pset);
	if (ret)
		return ret;
	request = orr_dyn_words_of("query", coll_pset, input_pset, NULL);
	ret = ask_and_start(function, &request, &answer);
	if (!ret)
		write_outputs(&answer, type, output_psets, noutput, 0);
	return ret;
}

int MPI_Session_dyn_finalize_psetop(MPI_Session session, char *pset_name)
{
	static const char function[] = "MPI_Session_dyn_finalize_psetop";
	struct orr_dyn_words answer = { 0 }, request;
	int ret = orr_dyn_check(function, session, pset_name);
	if (ret)
		return ret;
	request = orr_dyn_words_of("finalize", pset_name, NULL);
	ret = orr_dyn_ask(function, &request, &answer);
	orr_dyn_words_free(&answer);
	return ret;
}

/* ---- dictionaries ---- */

int MPI_Session_set_pset_data(MPI_Session session, const char *pset_name, MPI_Info info)
{
	static const char function[] = "MPI_Session_set_pset_data";
	struct orr_dyn_words answer = { 0 }, request;
	int ret = orr_dyn_check(function, session, pset_name);
	if (ret)
		return ret;
	request = orr_dyn_words_of("set", pset_name, NULL);
	orr_dyn_words_info(&request, info);
	ret = orr_dyn_ask(function, &request, &answer);
	orr_dyn_words_free(&answer);
	return ret;
}

int MPI_Session_get_pset_data(MPI_Session session, char *coll_pset_name, char *pset_name,
			      char **keys, int nkeys, int wait, MPI_Info *info_used)
{
	static const char function[] = "MPI_Session_get_pset_data";
	struct orr_dyn_words answer = { 0 }, request;
	int ret = orr_dyn_check(function, session, coll_pset_name);
	if (!ret)
		ret = orr_dyn_check(function, session, pset_name);
	if (ret)
		return ret;
	request = orr_dyn_words_of("get", coll_pset_name, pset_name, wait ? "1" : "0", NULL);
	for (int i = 0; i < nkeys; i++)
		orr_dyn_words_add(&request, keys[i]);
	ret = orr_dyn_ask(function, &request, &answer);
	if (!ret)
		ret = orr_dyn_info_new(&answer, 1, info_used);
	orr_dyn_words_free(&answer);
	return ret;
}
