/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface in Fortran (fortran/elastic/mpi.f90): handles are integers, names are padded with
 * blanks, outputs are arrays that the caller has, and an error code is the last argument. Lengths
 * of texts follow the arguments, as gfortran and flang pass them.
 *
 * Invariant: what the caller gives is copied before the function in C is called. */
#include <stdlib.h>
#include <string.h>
#include "base/seam_dyn.h"
#include "dyn/client.h"

#pragma GCC visibility push(default)

/* A text of Fortran without its blanks at the end, allocated. It may end early, because SMPI ends
 * the values of MPI_Info_get() as C does. */
static char *text_in(const char *text, size_t length)
{
	length = strnlen(text, length);
	while (length && text[length - 1] == ' ')
		length--;
	char *copy = orr_dyn_memory(NULL, length + 1);
	if (length)
		memcpy(copy, text, length);
	copy[length] = 0;
	return copy;
}

/* 0, or an error after a message: the text does not fit. */
static int text_out(const char *function, const char *from, char *text, size_t length)
{
	size_t n = strlen(from);
	if (n > length) {
		orr_sys_dyn_error(
			"%s: the name %s does not fit into %zu characters; use MPI_MAX_PSET_NAME_LEN",
			function, from, length);
		return MPI_ERR_ARG;
	}
	memcpy(text, from, n);
	memset(text + n, ' ', length - n);
	return MPI_SUCCESS;
}

static char **texts_in(const char *texts, int n, size_t length)
{
	char **copies = orr_dyn_memory(NULL, (size_t) (n > 0 ? n : 0) * sizeof(*copies));
	for (int i = 0; i < n; i++)
		copies[i] = text_in(texts + (size_t) i * length, length);
	return copies;
}

static void texts_free(char **texts, int n)
{
	for (int i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

/* The outputs of an operation, for which the caller has room for *n. */
static int outputs_out(const char *function, char **names, int found, char *out, MPI_Fint *n,
		       size_t length)
{
	int ret = MPI_SUCCESS;
	if (found > *n) {
		orr_sys_dyn_error("%s: the operation has %d outputs, and there is room for %d",
				  function, found, (int) *n);
		ret = MPI_ERR_ARG;
	}
	for (int i = 0; i < found && !ret; i++)
		ret = text_out(function, names[i], out + (size_t) i * length, length);
	if (!ret)
		*n = found;
	texts_free(names, found);
	return ret;
}

/* ---- sessions ---- */

void mpi_session_init_(MPI_Fint *info, MPI_Fint *errhandler, MPI_Fint *session, MPI_Fint *ierror);
void mpi_session_init_(MPI_Fint *info, MPI_Fint *errhandler, MPI_Fint *session, MPI_Fint *ierror)
{
	MPI_Session s;
	(void) info;
	(void) errhandler;
	*ierror = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
	if (!*ierror)
		*session = MPI_Session_c2f(s);
}

void mpi_session_finalize_(MPI_Fint *session, MPI_Fint *ierror);
void mpi_session_finalize_(MPI_Fint *session, MPI_Fint *ierror)
{
	MPI_Session s = MPI_Session_f2c(*session);
	*ierror = MPI_Session_finalize(&s);
	if (!*ierror)
		*session = 0;
}

void mpi_session_get_num_psets_(MPI_Fint *session, MPI_Fint *info, MPI_Fint *n, MPI_Fint *ierror);
void mpi_session_get_num_psets_(MPI_Fint *session, MPI_Fint *info, MPI_Fint *n, MPI_Fint *ierror)
{
	int found;
	(void) info;
	*ierror = MPI_Session_get_num_psets(MPI_Session_f2c(*session), MPI_INFO_NULL, &found);
	if (!*ierror)
		*n = found;
}

void mpi_session_get_nth_pset_(MPI_Fint *session, MPI_Fint *info, MPI_Fint *n, MPI_Fint *length,
			       char *name, MPI_Fint *ierror, size_t name_length);
void mpi_session_get_nth_pset_(MPI_Fint *session, MPI_Fint *info, MPI_Fint *n, MPI_Fint *length,
			       char *name, MPI_Fint *ierror, size_t name_length)
{
	char text[MPI_MAX_PSET_NAME_LEN];
	int room = sizeof(text), asked = *length;
	(void) info;
	*ierror = MPI_Session_get_nth_pset(MPI_Session_f2c(*session), MPI_INFO_NULL, *n, &room,
					   text);
	if (!*ierror && asked > 0)
		*ierror = text_out("MPI_Session_get_nth_pset", text, name, name_length);
	if (!*ierror)
		*length = room - 1;
}

void mpi_session_get_pset_info_(MPI_Fint *session, char *name, MPI_Fint *info, MPI_Fint *ierror,
				size_t length);
void mpi_session_get_pset_info_(MPI_Fint *session, char *name, MPI_Fint *info, MPI_Fint *ierror,
				size_t length)
{
	char *set = text_in(name, length);
	MPI_Info made;
	*ierror = MPI_Session_get_pset_info(MPI_Session_f2c(*session), set, &made);
	if (!*ierror)
		*info = PMPI_Info_c2f(made);
	free(set);
}

void mpi_group_from_session_pset_(MPI_Fint *session, char *name, MPI_Fint *group, MPI_Fint *ierror,
				  size_t length);
void mpi_group_from_session_pset_(MPI_Fint *session, char *name, MPI_Fint *group, MPI_Fint *ierror,
				  size_t length)
{
	char *set = text_in(name, length);
	MPI_Group made;
	*ierror = MPI_Group_from_session_pset(MPI_Session_f2c(*session), set, &made);
	if (!*ierror)
		*group = PMPI_Group_c2f(made);
	free(set);
}

void mpi_comm_create_from_group_(MPI_Fint *group, char *tag, MPI_Fint *info, MPI_Fint *errhandler,
				 MPI_Fint *comm, MPI_Fint *ierror, size_t length);
void mpi_comm_create_from_group_(MPI_Fint *group, char *tag, MPI_Fint *info, MPI_Fint *errhandler,
				 MPI_Fint *comm, MPI_Fint *ierror, size_t length)
{
	char *text = text_in(tag, length);
	MPI_Comm made;
	(void) info;
	(void) errhandler;
	*ierror = MPI_Comm_create_from_group(PMPI_Group_f2c(*group), text, MPI_INFO_NULL,
					     MPI_ERRORS_RETURN, &made);
	if (!*ierror)
		*comm = PMPI_Comm_c2f(made);
	free(text);
}

/* ---- operations ---- */

void mpi_session_dyn_v2a_psetop_(MPI_Fint *session, MPI_Fint *op, char *input, MPI_Fint *ninput,
				 char *output, MPI_Fint *noutput, MPI_Fint *info, MPI_Fint *ierror,
				 size_t input_length, size_t output_length);
void mpi_session_dyn_v2a_psetop_(MPI_Fint *session, MPI_Fint *op, char *input, MPI_Fint *ninput,
				 char *output, MPI_Fint *noutput, MPI_Fint *info, MPI_Fint *ierror,
				 size_t input_length, size_t output_length)
{
	char **sets = texts_in(input, *ninput, input_length), **names = NULL;
	int type = *op, found = 0;
	*ierror = MPI_Session_dyn_v2a_psetop(MPI_Session_f2c(*session), &type, sets, *ninput,
					     &names, &found, PMPI_Info_f2c(*info));
	if (!*ierror)
		*ierror = outputs_out("MPI_Session_dyn_v2a_psetop", names, found, output, noutput,
				      output_length);
	if (!*ierror)
		*op = type;
	texts_free(sets, *ninput);
}

void mpi_session_dyn_v2a_query_psetop_(MPI_Fint *session, char *coll, char *input, MPI_Fint *type,
				       char *output, MPI_Fint *noutput, MPI_Fint *ierror,
				       size_t coll_length, size_t input_length,
				       size_t output_length);
void mpi_session_dyn_v2a_query_psetop_(MPI_Fint *session, char *coll, char *input, MPI_Fint *type,
				       char *output, MPI_Fint *noutput, MPI_Fint *ierror,
				       size_t coll_length, size_t input_length,
				       size_t output_length)
{
	char *all = text_in(coll, coll_length), *set = text_in(input, input_length), **names = NULL;
	int found = 0, op;
	*ierror = MPI_Session_dyn_v2a_query_psetop(MPI_Session_f2c(*session), all, set, &op, &names,
						   &found);
	if (!*ierror)
		*ierror = outputs_out("MPI_Session_dyn_v2a_query_psetop", names, found, output,
				      noutput, output_length);
	if (!*ierror)
		*type = op;
	free(all);
	free(set);
}

void mpi_session_dyn_finalize_psetop_(MPI_Fint *session, char *name, MPI_Fint *ierror,
				      size_t length);
void mpi_session_dyn_finalize_psetop_(MPI_Fint *session, char *name, MPI_Fint *ierror,
				      size_t length)
{
	char *set = text_in(name, length);
	*ierror = MPI_Session_dyn_finalize_psetop(MPI_Session_f2c(*session), set);
	free(set);
}

/* ---- dictionaries ---- */

void mpi_session_set_pset_data_(MPI_Fint *session, char *name, MPI_Fint *info, MPI_Fint *ierror,
				size_t length);
void mpi_session_set_pset_data_(MPI_Fint *session, char *name, MPI_Fint *info, MPI_Fint *ierror,
				size_t length)
{
	char *set = text_in(name, length);
	*ierror = MPI_Session_set_pset_data(MPI_Session_f2c(*session), set, PMPI_Info_f2c(*info));
	free(set);
}

/* The set whose dictionary it is stands before the set that calls, unlike in C. */
void mpi_session_get_pset_data_(MPI_Fint *session, char *name, char *coll, char *keys,
				MPI_Fint *nkeys, MPI_Fint *wait, MPI_Fint *info, MPI_Fint *ierror,
				size_t name_length, size_t coll_length, size_t key_length);
void mpi_session_get_pset_data_(MPI_Fint *session, char *name, char *coll, char *keys,
				MPI_Fint *nkeys, MPI_Fint *wait, MPI_Fint *info, MPI_Fint *ierror,
				size_t name_length, size_t coll_length, size_t key_length)
{
	char *all = text_in(coll, coll_length), *set = text_in(name, name_length);
	char **list = texts_in(keys, *nkeys, key_length);
	MPI_Info made;
	*ierror = MPI_Session_get_pset_data(MPI_Session_f2c(*session), all, set, list, *nkeys,
					    *wait, &made);
	if (!*ierror)
		*info = PMPI_Info_c2f(made);
	texts_free(list, *nkeys);
	free(all);
	free(set);
}

#pragma GCC visibility pop
