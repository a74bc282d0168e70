/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The MPI layer for Fortran, whose communicators are integers. Names and arguments are those of the
 * module fstarpu_mpi_mod; the functions of starpu_mpi.h that need no translation are bound there
 * directly.
 *
 * Invariant: nothing happens here but the translation of arguments. */
#include "mpi/bindings/mpi_fortran.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/auto/mpi_insert.h"
#include "base/log.h"

/* ---- start ---- */

struct fstarpu_mpi_argcv {
	int argc, initialize_mpi, has_comm;
	MPI_Comm comm;
	char **argv; /* MPI may replace it */
	int ncopies;
	char **own; /* what argv was, then the ncopies strings once more: all that is freed */
};

struct fstarpu_mpi_argcv *fstarpu_mpi_argcv_alloc(int argc, int initialize_mpi, int comm_present,
						  int comm)
{
	struct fstarpu_mpi_argcv *a = calloc(1, sizeof(*a));
	size_t n = (size_t) argc + 1;
	char **argv = calloc(2 * n + 1, sizeof(*argv));

	if (!a || !argv)
		orr_fatal("out of memory for the arguments of fstarpu_mpi_init");
	a->argc = argc + 1;
	a->argv = a->own = argv;
	a->ncopies = argc + 1;
	a->initialize_mpi = initialize_mpi;
	a->has_comm = comm_present;
	if (comm_present)
		a->comm = MPI_Comm_f2c(comm);
	return a;
}

/* Argument i, 0 for the program's name: the l characters at s. */
void fstarpu_mpi_argcv_set_arg(struct fstarpu_mpi_argcv *argcv, int i, int l, const char *s)
{
	char *copy = strndup(s, (size_t) l);

	if (!copy)
		orr_fatal("out of memory for an argument of %d characters", l);
	argcv->argv[i] = argcv->own[argcv->ncopies + 1 + i] = copy;
}

/* MPI may have replaced the array or moved strings within it. */
void fstarpu_mpi_argcv_free(struct fstarpu_mpi_argcv *argcv)
{
	for (int i = 0; i < argcv->ncopies; i++)
		free(argcv->own[argcv->ncopies + 1 + i]);
	free(argcv->own);
	free(argcv);
}

int fstarpu_mpi_init_c(struct fstarpu_mpi_argcv *argcv)
{
	if (argcv->has_comm)
		return starpu_mpi_init_comm(&argcv->argc, &argcv->argv, argcv->initialize_mpi,
					    argcv->comm);
	return starpu_mpi_init(&argcv->argc, &argcv->argv, argcv->initialize_mpi);
}

int fstarpu_mpi_world_comm(void)
{
	return (int) MPI_Comm_c2f(MPI_COMM_WORLD);
}

/* ---- requests and statuses ---- */

starpu_mpi_req *fstarpu_mpi_req_alloc(void)
{
	return calloc(1, sizeof(starpu_mpi_req));
}

void fstarpu_mpi_req_free(starpu_mpi_req *req)
{
	free(req);
}

MPI_Status *fstarpu_mpi_status_alloc(void)
{
	return calloc(1, sizeof(MPI_Status));
}

void fstarpu_mpi_status_free(MPI_Status *st)
{
	free(st);
}

/* ---- insertion: the array holds the communicator's address, the codelet, and the rest ---- */

static MPI_Comm comm_of(void **arglist)
{
	return MPI_Comm_f2c(*(MPI_Fint *) arglist[0]);
}

static void fortran_check(int ret, const char *what)
{
	if (ret)
		orr_fatal("%s failed: %s", what, strerror(-ret));
}

void fstarpu_mpi_task_insert(void **arglist)
{
	fortran_check(orr_mpi_insert_list(comm_of(arglist), arglist[1], arglist + 2),
		      "fstarpu_mpi_task_insert");
}

struct starpu_task *fstarpu_mpi_task_build(void **arglist)
{
	return orr_mpi_build_list(comm_of(arglist), arglist[1], arglist + 2);
}

void fstarpu_mpi_task_post_build(void **arglist)
{
	fortran_check(orr_mpi_post_build_list(comm_of(arglist), arglist[1], arglist + 2),
		      "fstarpu_mpi_task_post_build");
}

/* ---- ownership, tags, policies ---- */

void fstarpu_mpi_data_register(starpu_data_handle_t dh, starpu_mpi_tag_t tag, int rank)
{
	starpu_mpi_data_register(dh, tag, rank);
}

void fstarpu_mpi_data_set_rank(starpu_data_handle_t dh, int rank)
{
	starpu_mpi_data_set_rank(dh, rank);
}

int fstarpu_mpi_get_communication_tag(void)
{
	return starpu_mpi_get_communication_tag();
}

void fstarpu_mpi_set_communication_tag(starpu_mpi_tag_t tag)
{
	starpu_mpi_set_communication_tag((int) tag);
}

int fstarpu_mpi_node_selection_unregister_policy(void *policy)
{
	return starpu_mpi_node_selection_unregister_policy((int) (intptr_t) policy);
}

int fstarpu_mpi_data_selection_get_current_policy(void)
{
	return starpu_mpi_node_selection_get_current_policy();
}

int fstarpu_mpi_data_selection_set_current_policy(void *policy)
{
	return starpu_mpi_node_selection_set_current_policy((int) (intptr_t) policy);
}

/* ---- with a communicator or a tag of a task ---- */

int fstarpu_mpi_isend(starpu_data_handle_t dh, starpu_mpi_req *mpi_req, int dst,
		      starpu_mpi_tag_t data_tag, int mpi_comm)
{
	return starpu_mpi_isend(dh, mpi_req, dst, data_tag, MPI_Comm_f2c(mpi_comm));
}

int fstarpu_mpi_isend_prio(starpu_data_handle_t dh, starpu_mpi_req *mpi_req, int dst,
			   starpu_mpi_tag_t data_tag, int prio, int mpi_comm)
{
	return starpu_mpi_isend_prio(dh, mpi_req, dst, data_tag, prio, MPI_Comm_f2c(mpi_comm));
}

int fstarpu_mpi_irecv(starpu_data_handle_t dh, starpu_mpi_req *mpi_req, int src,
		      starpu_mpi_tag_t data_tag, int mpi_comm)
{
	return starpu_mpi_irecv(dh, mpi_req, src, data_tag, MPI_Comm_f2c(mpi_comm));
}

int fstarpu_mpi_send(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag, int mpi_comm)
{
	return starpu_mpi_send(dh, dst, data_tag, MPI_Comm_f2c(mpi_comm));
}

int fstarpu_mpi_send_prio(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag, int prio,
			  int mpi_comm)
{
	return starpu_mpi_send_prio(dh, dst, data_tag, prio, MPI_Comm_f2c(mpi_comm));
}

int fstarpu_mpi_recv(starpu_data_handle_t dh, int src, starpu_mpi_tag_t data_tag, int mpi_comm,
		     MPI_Status *mpi_status)
{
	return starpu_mpi_recv(dh, src, data_tag, MPI_Comm_f2c(mpi_comm), mpi_status);
}

int fstarpu_mpi_isend_detached(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag,
			       int mpi_comm, void (*callback)(void *), void *arg)
{
	return starpu_mpi_isend_detached(dh, dst, data_tag, MPI_Comm_f2c(mpi_comm), callback, arg);
}

int fstarpu_mpi_isend_detached_prio(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag,
				    int prio, int mpi_comm, void (*callback)(void *), void *arg)
{
	return starpu_mpi_isend_detached_prio(dh, dst, data_tag, prio, MPI_Comm_f2c(mpi_comm),
					      callback, arg);
}

int fstarpu_mpi_recv_detached(starpu_data_handle_t dh, int src, starpu_mpi_tag_t data_tag,
			      int mpi_comm, void (*callback)(void *), void *arg)
{
	return starpu_mpi_irecv_detached(dh, src, data_tag, MPI_Comm_f2c(mpi_comm), callback, arg);
}

int fstarpu_mpi_issend(starpu_data_handle_t dh, starpu_mpi_req *mpi_req, int dst,
		       starpu_mpi_tag_t data_tag, int mpi_comm)
{
	return starpu_mpi_issend(dh, mpi_req, dst, data_tag, MPI_Comm_f2c(mpi_comm));
}

int fstarpu_mpi_issend_prio(starpu_data_handle_t dh, starpu_mpi_req *mpi_req, int dst,
			    starpu_mpi_tag_t data_tag, int prio, int mpi_comm)
{
	return starpu_mpi_issend_prio(dh, mpi_req, dst, data_tag, prio, MPI_Comm_f2c(mpi_comm));
}

int fstarpu_mpi_issend_detached(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag,
				int mpi_comm, void (*callback)(void *), void *arg)
{
	return starpu_mpi_issend_detached(dh, dst, data_tag, MPI_Comm_f2c(mpi_comm), callback, arg);
}

int fstarpu_mpi_issend_detached_prio(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag,
				     int prio, int mpi_comm, void (*callback)(void *), void *arg)
{
	return starpu_mpi_issend_detached_prio(dh, dst, data_tag, prio, MPI_Comm_f2c(mpi_comm),
					       callback, arg);
}

int fstarpu_mpi_barrier(int mpi_comm)
{
	return starpu_mpi_barrier(MPI_Comm_f2c(mpi_comm));
}

int fstarpu_mpi_recv_detached_sequential_consistency(starpu_data_handle_t dh, int src,
						     starpu_mpi_tag_t data_tag, int mpi_comm,
						     void (*callback)(void *), void *arg,
						     int seq_const)
{
	return starpu_mpi_irecv_detached_sequential_consistency(
		dh, src, data_tag, MPI_Comm_f2c(mpi_comm), callback, arg, seq_const);
}

void fstarpu_mpi_get_data_on_node(int mpi_comm, starpu_data_handle_t dh, int node)
{
	starpu_mpi_get_data_on_node(MPI_Comm_f2c(mpi_comm), dh, node);
}

void fstarpu_mpi_get_data_on_node_detached(int mpi_comm, starpu_data_handle_t dh, int node,
					   void (*callback)(void *), void *arg)
{
	starpu_mpi_get_data_on_node_detached(MPI_Comm_f2c(mpi_comm), dh, node, callback, arg);
}

void fstarpu_mpi_redux_data(int mpi_comm, starpu_data_handle_t dh)
{
	starpu_mpi_redux_data(MPI_Comm_f2c(mpi_comm), dh);
}

void fstarpu_mpi_redux_data_prio(int mpi_comm, starpu_data_handle_t dh, int prio)
{
	starpu_mpi_redux_data_prio(MPI_Comm_f2c(mpi_comm), dh, prio);
}

void fstarpu_mpi_redux_data_tree(int mpi_comm, starpu_data_handle_t dh, int arity)
{
	starpu_mpi_redux_data_tree(MPI_Comm_f2c(mpi_comm), dh, arity);
}

void fstarpu_mpi_redux_data_prio_tree(int mpi_comm, starpu_data_handle_t dh, int prio, int arity)
{
	starpu_mpi_redux_data_prio_tree(MPI_Comm_f2c(mpi_comm), dh, prio, arity);
}

int fstarpu_mpi_scatter_detached(starpu_data_handle_t *dhs, int cnt, int root, int mpi_comm,
				 void (*scallback)(void *), void *sarg, void (*rcallback)(void *),
				 void *rarg)
{
	return starpu_mpi_scatter_detached(dhs, cnt, root, MPI_Comm_f2c(mpi_comm), scallback, sarg,
					   rcallback, rarg);
}

int fstarpu_mpi_gather_detached(starpu_data_handle_t *dhs, int cnt, int root, int mpi_comm,
				void (*scallback)(void *), void *sarg, void (*rcallback)(void *),
				void *rarg)
{
	return starpu_mpi_gather_detached(dhs, cnt, root, MPI_Comm_f2c(mpi_comm), scallback, sarg,
					  rcallback, rarg);
}

int fstarpu_mpi_isend_detached_unlock_tag(starpu_data_handle_t dh, int dst,
					  starpu_mpi_tag_t data_tag, int mpi_comm,
					  const starpu_tag_t *starpu_tag)
{
	return starpu_mpi_isend_detached_unlock_tag(dh, dst, data_tag, MPI_Comm_f2c(mpi_comm),
						    *starpu_tag);
}

int fstarpu_mpi_isend_detached_unlock_tag_prio(starpu_data_handle_t dh, int dst,
					       starpu_mpi_tag_t data_tag, int prio, int mpi_comm,
					       const starpu_tag_t *starpu_tag)
{
	return starpu_mpi_isend_detached_unlock_tag_prio(dh, dst, data_tag, prio,
							 MPI_Comm_f2c(mpi_comm), *starpu_tag);
}

int fstarpu_mpi_recv_detached_unlock_tag(starpu_data_handle_t dh, int src,
					 starpu_mpi_tag_t data_tag, int mpi_comm,
					 const starpu_tag_t *starpu_tag)
{
	return starpu_mpi_irecv_detached_unlock_tag(dh, src, data_tag, MPI_Comm_f2c(mpi_comm),
						    *starpu_tag);
}

int fstarpu_mpi_isend_array_detached_unlock_tag(int array_size, starpu_data_handle_t *dhs,
						int *dsts, starpu_mpi_tag_t *data_tags,
						const int *mpi_comms,
						const starpu_tag_t *starpu_tag)
{
	MPI_Comm comms[array_size > 0 ? array_size : 1];

	for (int i = 0; i < array_size; i++)
		comms[i] = MPI_Comm_f2c(mpi_comms[i]);
	return starpu_mpi_isend_array_detached_unlock_tag((unsigned) array_size, dhs, dsts,
							  data_tags, comms, *starpu_tag);
}

int fstarpu_mpi_isend_array_detached_unlock_tag_prio(int array_size, starpu_data_handle_t *dhs,
						     int *dsts, starpu_mpi_tag_t *data_tags,
						     int *prio, const int *mpi_comms,
						     const starpu_tag_t *starpu_tag)
{
	MPI_Comm comms[array_size > 0 ? array_size : 1];

	for (int i = 0; i < array_size; i++)
		comms[i] = MPI_Comm_f2c(mpi_comms[i]);
	return starpu_mpi_isend_array_detached_unlock_tag_prio((unsigned) array_size, dhs, dsts,
							       data_tags, prio, comms, *starpu_tag);
}

int fstarpu_mpi_recv_array_detached_unlock_tag(int array_size, starpu_data_handle_t *dhs, int *srcs,
					       starpu_mpi_tag_t *data_tags, const int *mpi_comms,
					       const starpu_tag_t *starpu_tag)
{
	MPI_Comm comms[array_size > 0 ? array_size : 1];

	for (int i = 0; i < array_size; i++)
		comms[i] = MPI_Comm_f2c(mpi_comms[i]);
	return starpu_mpi_irecv_array_detached_unlock_tag((unsigned) array_size, dhs, srcs,
							  data_tags, comms, *starpu_tag);
}

void fstarpu_mpi_cache_flush(int mpi_comm, starpu_data_handle_t dh)
{
	starpu_mpi_cache_flush(MPI_Comm_f2c(mpi_comm), dh);
}

void fstarpu_mpi_cache_flush_all_data(int mpi_comm)
{
	starpu_mpi_cache_flush_all_data(MPI_Comm_f2c(mpi_comm));
}

int fstarpu_mpi_comm_size(int mpi_comm, int *sz)
{
	return starpu_mpi_comm_size(MPI_Comm_f2c(mpi_comm), sz);
}

int fstarpu_mpi_comm_rank(int mpi_comm, int *rank)
{
	return starpu_mpi_comm_rank(MPI_Comm_f2c(mpi_comm), rank);
}

void fstarpu_mpi_data_register_comm(starpu_data_handle_t dh, starpu_mpi_tag_t tag, int rank,
				    int mpi_comm)
{
	starpu_mpi_data_register_comm(dh, tag, rank, MPI_Comm_f2c(mpi_comm));
}

void fstarpu_mpi_data_set_rank_comm(starpu_data_handle_t dh, int rank, int mpi_comm)
{
	starpu_mpi_data_set_rank_comm(dh, rank, MPI_Comm_f2c(mpi_comm));
}

void fstarpu_mpi_data_migrate(int mpi_comm, starpu_data_handle_t dh, int rank)
{
	starpu_mpi_data_migrate(MPI_Comm_f2c(mpi_comm), dh, rank);
}

int fstarpu_mpi_wait_for_all(int mpi_comm)
{
	return starpu_mpi_wait_for_all(MPI_Comm_f2c(mpi_comm));
}
