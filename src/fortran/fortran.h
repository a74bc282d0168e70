/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The C half of the module fstarpu_mod: each function here is bound there by its own name, and does
 * what the function of C with the same name (without the f) does, as its header documents. Fortran
 * passes handles, functions and constants as pointers.
 *
 * Invariant: what fstarpu_mod.f90 binds to a name that begins with f is declared here. */
#ifndef ORR_FORTRAN_FORTRAN_H
#define ORR_FORTRAN_FORTRAN_H

#include "starpu.h"

#pragma GCC visibility push(default)

/* codelet.c */
struct starpu_conf *fstarpu_conf_allocate(void);
void fstarpu_conf_free(struct starpu_conf *conf);
void fstarpu_conf_set_sched_policy_name(struct starpu_conf *conf, const char *policy_name);
void fstarpu_conf_set_min_prio(struct starpu_conf *conf, int min_prio);
void fstarpu_conf_set_max_prio(struct starpu_conf *conf, int max_prio);
void fstarpu_conf_set_ncpu(struct starpu_conf *conf, int ncpu);
void fstarpu_conf_set_ncuda(struct starpu_conf *conf, int ncuda);
void fstarpu_conf_set_nopencl(struct starpu_conf *conf, int nopencl);
struct starpu_codelet *fstarpu_codelet_allocate(void);
void fstarpu_codelet_free(struct starpu_codelet *cl);
void fstarpu_codelet_set_name(struct starpu_codelet *cl, const char *cl_name);
void fstarpu_codelet_set_color(struct starpu_codelet *cl, int cl_color);
void fstarpu_codelet_set_model(struct starpu_codelet *cl, struct starpu_perfmodel *cl_perfmodel);
void fstarpu_codelet_set_energy_model(struct starpu_codelet *cl,
				      struct starpu_perfmodel *cl_perfmodel);
void fstarpu_codelet_add_cpu_func(struct starpu_codelet *cl, starpu_cpu_func_t f_ptr);
void fstarpu_codelet_add_cuda_func(struct starpu_codelet *cl, starpu_cuda_func_t f_ptr);
void fstarpu_codelet_add_cuda_flags(struct starpu_codelet *cl, void *flags);
void fstarpu_codelet_add_opencl_func(struct starpu_codelet *cl, starpu_opencl_func_t f_ptr);
void fstarpu_codelet_add_opencl_flags(struct starpu_codelet *cl, void *flags);
void fstarpu_codelet_add_buffer(struct starpu_codelet *cl, void *mode);
void fstarpu_codelet_set_variable_nbuffers(struct starpu_codelet *cl);
void fstarpu_codelet_set_nbuffers(struct starpu_codelet *cl, int nbuffers);
void fstarpu_codelet_set_flags(struct starpu_codelet *cl, void *flags);
void fstarpu_codelet_set_where(struct starpu_codelet *cl, void *where);
void fstarpu_codelet_set_type(struct starpu_codelet *cl, void *type_constant);
void fstarpu_codelet_set_max_parallelism(struct starpu_codelet *cl, int max_parallelism);
struct starpu_perfmodel *fstarpu_perfmodel_allocate(void);
void fstarpu_perfmodel_free(struct starpu_perfmodel *model);
void fstarpu_perfmodel_set_symbol(struct starpu_perfmodel *model, const char *model_symbol);
void fstarpu_perfmodel_set_type(struct starpu_perfmodel *model, void *type);

/* constant.c */
void *fstarpu_get_constant(const char *s);

/* data.c */
void fstarpu_tensor_ptr_register(starpu_data_handle_t *dh, int node, void *ptr, void *dev_handle,
				 size_t offset, int ldy, int ldz, int ldt);
void fstarpu_block_ptr_register(starpu_data_handle_t *dh, int node, void *ptr, void *dev_handle,
				size_t offset, int ldy, int ldz);
void fstarpu_matrix_ptr_register(starpu_data_handle_t *dh, int node, void *ptr, void *dev_handle,
				 size_t offset, int ld);
void fstarpu_vector_ptr_register(starpu_data_handle_t *dh, int node, void *ptr, void *dev_handle,
				 size_t offset);
void fstarpu_variable_ptr_register(starpu_data_handle_t *dh, int node, void *ptr, void *dev_handle,
				   size_t offset);
void fstarpu_data_assign_arbiter(starpu_data_handle_t *dh, starpu_arbiter_t arbiter);
void fstarpu_data_acquire(starpu_data_handle_t dh, void *mode);
void fstarpu_display_memory_stats(void);
struct starpu_data_filter *fstarpu_data_filter_allocate(void);
void fstarpu_data_filter_free(struct starpu_data_filter *filter);
void fstarpu_data_filter_set_filter_func(struct starpu_data_filter *filter,
					 void (*f_ptr)(void *, void *, struct starpu_data_filter *,
						       unsigned, unsigned));
void fstarpu_data_filter_set_nchildren(struct starpu_data_filter *filter, int nchildren);
void fstarpu_data_filter_set_get_nchildren_func(struct starpu_data_filter *filter,
						unsigned (*f_ptr)(struct starpu_data_filter *,
								  starpu_data_handle_t));
void fstarpu_data_filter_set_get_child_ops_func(
	struct starpu_data_filter *filter,
	struct starpu_data_interface_ops *(*f_ptr)(struct starpu_data_filter *, unsigned) );
void fstarpu_data_filter_set_filter_arg(struct starpu_data_filter *filter, int filter_arg);
void fstarpu_data_filter_set_filter_arg_ptr(struct starpu_data_filter *filter,
					    void *filter_arg_ptr);
void fstarpu_data_map_filters(starpu_data_handle_t root_dh, int nfilters,
			      struct starpu_data_filter **filters);
starpu_data_handle_t fstarpu_data_get_sub_data(starpu_data_handle_t root_dh, int depth,
					       const int *indices);
starpu_data_handle_t *fstarpu_data_handle_array_alloc(int nb);
void fstarpu_data_handle_array_free(starpu_data_handle_t *handles);
void fstarpu_data_handle_array_set(starpu_data_handle_t *handles, int i,
				   starpu_data_handle_t handle);
struct starpu_data_descr *fstarpu_data_descr_array_alloc(int nb);
struct starpu_data_descr *fstarpu_data_descr_alloc(void);
void fstarpu_data_descr_array_free(struct starpu_data_descr *descrs);
void fstarpu_data_descrg_free(struct starpu_data_descr *descr);
void fstarpu_data_descr_array_set(struct starpu_data_descr *descrs, int i,
				  starpu_data_handle_t handle, void *mode);
void fstarpu_data_descr_set(struct starpu_data_descr *descr, starpu_data_handle_t handle,
			    void *mode);
void *fstarpu_tensor_get_ptr(void **buffers, int i);
void *fstarpu_block_get_ptr(void **buffers, int i);
void *fstarpu_matrix_get_ptr(void **buffers, int i);
void *fstarpu_vector_get_ptr(void **buffers, int i);
void *fstarpu_variable_get_ptr(void **buffers, int i);
int fstarpu_tensor_get_ldy(void **buffers, int i);
int fstarpu_tensor_get_ldz(void **buffers, int i);
int fstarpu_tensor_get_ldt(void **buffers, int i);
int fstarpu_tensor_get_nx(void **buffers, int i);
int fstarpu_tensor_get_ny(void **buffers, int i);
int fstarpu_tensor_get_nz(void **buffers, int i);
int fstarpu_tensor_get_nt(void **buffers, int i);
int fstarpu_block_get_ldy(void **buffers, int i);
int fstarpu_block_get_ldz(void **buffers, int i);
int fstarpu_block_get_nx(void **buffers, int i);
int fstarpu_block_get_ny(void **buffers, int i);
int fstarpu_block_get_nz(void **buffers, int i);
int fstarpu_matrix_get_ld(void **buffers, int i);
int fstarpu_matrix_get_nx(void **buffers, int i);
int fstarpu_matrix_get_ny(void **buffers, int i);
int fstarpu_vector_get_nx(void **buffers, int i);
struct starpu_data_filter *fstarpu_df_alloc_bcsr_filter_canonical_block(void);
struct starpu_data_filter *fstarpu_df_alloc_csr_filter_vertical_block(void);
struct starpu_data_filter *fstarpu_df_alloc_matrix_filter_block(void);
struct starpu_data_filter *fstarpu_df_alloc_matrix_filter_block_shadow(void);
struct starpu_data_filter *fstarpu_df_alloc_matrix_filter_vertical_block(void);
struct starpu_data_filter *fstarpu_df_alloc_matrix_filter_vertical_block_shadow(void);
struct starpu_data_filter *fstarpu_df_alloc_vector_filter_block(void);
struct starpu_data_filter *fstarpu_df_alloc_vector_filter_block_shadow(void);
struct starpu_data_filter *fstarpu_df_alloc_vector_filter_list(void);
struct starpu_data_filter *fstarpu_df_alloc_vector_filter_divide_in_2(void);
struct starpu_data_filter *fstarpu_df_alloc_block_filter_block(void);
struct starpu_data_filter *fstarpu_df_alloc_block_filter_block_shadow(void);
struct starpu_data_filter *fstarpu_df_alloc_block_filter_vertical_block(void);
struct starpu_data_filter *fstarpu_df_alloc_block_filter_vertical_block_shadow(void);

/* task.c */
struct starpu_task *fstarpu_task_create_sync(starpu_data_handle_t handle, void *mode);
void fstarpu_tag_declare_deps_array(int id, int ndeps, starpu_tag_t *tag_array);
void fstarpu_task_declare_deps(struct starpu_task *task, int ndeps, struct starpu_task *root_task);
void fstarpu_task_set_destroy(struct starpu_task *task);
void fstarpu_create_sync_task(int sync_tag, int ndeps, starpu_tag_t *tag_array,
			      void (*callback)(void *), void *callback_arg);
void fstarpu_trace_user_event(long code);
void fstarpu_task_insert(void **arglist);
void fstarpu_unpack_arg(void *cl_arg, void **bufferlist);

/* worker.c */
void fstarpu_topology_print(void);
int fstarpu_worker_is_blocked(int id);
void *fstarpu_worker_get_type(int id);
int fstarpu_worker_get_count_by_type(void *typeid);
int fstarpu_worker_get_ids_by_type(void *typeid, int *workerids, int maxsize);
int fstarpu_worker_get_by_type(void *typeid, int num);
int fstarpu_worker_get_by_devid(void *typeid, int devid);
void fstarpu_worker_get_type_as_string(void *typeid, char *dst, size_t maxlen);
void fstarpu_sched_ctx_display_workers(int ctx);
void *fstarpu_cuda_get_local_stream(void);
int fstarpu_sched_ctx_create(int *workers_array, int nworkers, const char *ctx_name,
			     void **arglist);
void fstarpu_sched_ctx_call_pushed_task_cb(int workerid, int sched_ctx_id);

#pragma GCC visibility pop
#endif
