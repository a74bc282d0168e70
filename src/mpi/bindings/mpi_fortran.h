/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The C half of the module fstarpu_mpi_mod: each function here does what the function of
 * starpu_mpi.h with the same name (without the f) does. mpi_comm is a communicator of Fortran, and
 * starpu_tag points to the tag.
 *
 * Invariant: what fstarpu_mpi_mod.f90 binds to a name that begins with f is declared here. */
#ifndef ORR_MPI_MPI_FORTRAN_H
#define ORR_MPI_MPI_FORTRAN_H

#include "orrery_resize.h"
#include "starpu_mpi.h"

#pragma GCC visibility push(default)

struct fstarpu_mpi_argcv;

/* fortran_resize.c, for orrery_resize_mod.f90 */
int orrery_fortran_resize_follow(int comm, starpu_data_handle_t handle,
				 orrery_distribution_t distribution, int64_t index);
int orrery_fortran_resize(int comm, int n);
int orrery_fortran_resize_size(int comm);
int orrery_fortran_resize_ask(int comm, int n);
int orrery_fortran_resize_switch(int comm);
int orrery_fortran_resize_point(int *comm);
int orrery_fortran_elastic_start(int *comm, void *state, size_t bytes);

/* mpi_fortran.c */
struct fstarpu_mpi_argcv *fstarpu_mpi_argcv_alloc(int argc, int initialize_mpi, int comm_present,
						  int comm);
void fstarpu_mpi_argcv_set_arg(struct fstarpu_mpi_argcv *argcv, int i, int l, const char *s);
void fstarpu_mpi_argcv_free(struct fstarpu_mpi_argcv *argcv);
int fstarpu_mpi_init_c(struct fstarpu_mpi_argcv *argcv);
int fstarpu_mpi_world_comm(void);
starpu_mpi_req *fstarpu_mpi_req_alloc(void);
void fstarpu_mpi_req_free(starpu_mpi_req *req);
MPI_Status *fstarpu_mpi_status_alloc(void);
void fstarpu_mpi_status_free(MPI_Status *st);
void fstarpu_mpi_task_insert(void **arglist);
struct starpu_task *fstarpu_mpi_task_build(void **arglist);
void fstarpu_mpi_task_post_build(void **arglist);
void fstarpu_mpi_data_register(starpu_data_handle_t dh, starpu_mpi_tag_t tag, int rank);
void fstarpu_mpi_data_set_rank(starpu_data_handle_t dh, int rank);
int fstarpu_mpi_get_communication_tag(void);
void fstarpu_mpi_set_communication_tag(starpu_mpi_tag_t tag);
int fstarpu_mpi_node_selection_unregister_policy(void *policy);
int fstarpu_mpi_data_selection_get_current_policy(void);
int fstarpu_mpi_data_selection_set_current_policy(void *policy);
int fstarpu_mpi_isend(starpu_data_handle_t dh, starpu_mpi_req *mpi_req, int dst,
		      starpu_mpi_tag_t data_tag, int mpi_comm);
int fstarpu_mpi_isend_prio(starpu_data_handle_t dh, starpu_mpi_req *mpi_req, int dst,
			   starpu_mpi_tag_t data_tag, int prio, int mpi_comm);
int fstarpu_mpi_irecv(starpu_data_handle_t dh, starpu_mpi_req *mpi_req, int src,
		      starpu_mpi_tag_t data_tag, int mpi_comm);
int fstarpu_mpi_send(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag, int mpi_comm);
int fstarpu_mpi_send_prio(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag, int prio,
			  int mpi_comm);
int fstarpu_mpi_recv(starpu_data_handle_t dh, int src, starpu_mpi_tag_t data_tag, int mpi_comm,
		     MPI_Status *mpi_status);
int fstarpu_mpi_isend_detached(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag,
			       int mpi_comm, void (*callback)(void *), void *arg);
int fstarpu_mpi_isend_detached_prio(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag,
				    int prio, int mpi_comm, void (*callback)(void *), void *arg);
int fstarpu_mpi_recv_detached(starpu_data_handle_t dh, int src, starpu_mpi_tag_t data_tag,
			      int mpi_comm, void (*callback)(void *), void *arg);
int fstarpu_mpi_issend(starpu_data_handle_t dh, starpu_mpi_req *mpi_req, int dst,
		       starpu_mpi_tag_t data_tag, int mpi_comm);
int fstarpu_mpi_issend_prio(starpu_data_handle_t dh, starpu_mpi_req *mpi_req, int dst,
			    starpu_mpi_tag_t data_tag, int prio, int mpi_comm);
int fstarpu_mpi_issend_detached(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag,
				int mpi_comm, void (*callback)(void *), void *arg);
int fstarpu_mpi_issend_detached_prio(starpu_data_handle_t dh, int dst, starpu_mpi_tag_t data_tag,
				     int prio, int mpi_comm, void (*callback)(void *), void *arg);
int fstarpu_mpi_barrier(int mpi_comm);
int fstarpu_mpi_recv_detached_sequential_consistency(starpu_data_handle_t dh, int src,
						     starpu_mpi_tag_t data_tag, int mpi_comm,
						     void (*callback)(void *), void *arg,
						     int seq_const);
void fstarpu_mpi_get_data_on_node(int mpi_comm, starpu_data_handle_t dh, int node);
void fstarpu_mpi_get_data_on_node_detached(int mpi_comm, starpu_data_handle_t dh, int node,
					   void (*callback)(void *), void *arg);
void fstarpu_mpi_redux_data(int mpi_comm, starpu_data_handle_t dh);
void fstarpu_mpi_redux_data_prio(int mpi_comm, starpu_data_handle_t dh, int prio);
void fstarpu_mpi_redux_data_tree(int mpi_comm, starpu_data_handle_t dh, int arity);
void fstarpu_mpi_redux_data_prio_tree(int mpi_comm, starpu_data_handle_t dh, int prio, int arity);
int fstarpu_mpi_scatter_detached(starpu_data_handle_t *dhs, int cnt, int root, int mpi_comm,
				 void (*scallback)(void *), void *sarg, void (*rcallback)(void *),
				 void *rarg);
int fstarpu_mpi_gather_detached(starpu_data_handle_t *dhs, int cnt, int root, int mpi_comm,
				void (*scallback)(void *), void *sarg, void (*rcallback)(void *),
				void *rarg);
int fstarpu_mpi_isend_detached_unlock_tag(starpu_data_handle_t dh, int dst,
					  starpu_mpi_tag_t data_tag, int mpi_comm,
					  const starpu_tag_t *starpu_tag);
int fstarpu_mpi_isend_detached_unlock_tag_prio(starpu_data_handle_t dh, int dst,
					       starpu_mpi_tag_t data_tag, int prio, int mpi_comm,
					       const starpu_tag_t *starpu_tag);
int fstarpu_mpi_recv_detached_unlock_tag(starpu_data_handle_t dh, int src,
					 starpu_mpi_tag_t data_tag, int mpi_comm,
					 const starpu_tag_t *starpu_tag);
int fstarpu_mpi_isend_array_detached_unlock_tag(int array_size, starpu_data_handle_t *dhs,
						int *dsts, starpu_mpi_tag_t *data_tags,
						const int *mpi_comms,
						const starpu_tag_t *starpu_tag);
int fstarpu_mpi_isend_array_detached_unlock_tag_prio(int array_size, starpu_data_handle_t *dhs,
						     int *dsts, starpu_mpi_tag_t *data_tags,
						     int *prio, const int *mpi_comms,
						     const starpu_tag_t *starpu_tag);
int fstarpu_mpi_recv_array_detached_unlock_tag(int array_size, starpu_data_handle_t *dhs, int *srcs,
					       starpu_mpi_tag_t *data_tags, const int *mpi_comms,
					       const starpu_tag_t *starpu_tag);
void fstarpu_mpi_cache_flush(int mpi_comm, starpu_data_handle_t dh);
void fstarpu_mpi_cache_flush_all_data(int mpi_comm);
int fstarpu_mpi_comm_size(int mpi_comm, int *sz);
int fstarpu_mpi_comm_rank(int mpi_comm, int *rank);
void fstarpu_mpi_data_register_comm(starpu_data_handle_t dh, starpu_mpi_tag_t tag, int rank,
				    int mpi_comm);
void fstarpu_mpi_data_set_rank_comm(starpu_data_handle_t dh, int rank, int mpi_comm);
void fstarpu_mpi_data_migrate(int mpi_comm, starpu_data_handle_t dh, int rank);
int fstarpu_mpi_wait_for_all(int mpi_comm);

#pragma GCC visibility pop
#endif
