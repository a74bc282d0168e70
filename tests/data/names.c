/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Everything that programs may name of data: functions are there to be linked with, structures have
 * their fields, macros are macros.
 *
 * Invariant: compiling and linking is the test; what the functions do is tested elsewhere in this
 * folder. */
#include <starpu.h>

#include <stddef.h>
#include <stdio.h>

#pragma GCC diagnostic ignored \
	"-Wdeprecated-declarations" /* starpu_free, which programs still call */

#ifndef STARPU_VARIABLE_GET_PTR
#error "STARPU_VARIABLE_GET_PTR is missing"
#endif
#ifndef STARPU_VECTOR_GET_PTR
#error "STARPU_VECTOR_GET_PTR is missing"
#endif
#ifndef STARPU_VECTOR_GET_DEV_HANDLE
#error "STARPU_VECTOR_GET_DEV_HANDLE is missing"
#endif
#ifndef STARPU_VECTOR_GET_OFFSET
#error "STARPU_VECTOR_GET_OFFSET is missing"
#endif
#ifndef STARPU_VECTOR_GET_NX
#error "STARPU_VECTOR_GET_NX is missing"
#endif
#ifndef STARPU_VECTOR_GET_ELEMSIZE
#error "STARPU_VECTOR_GET_ELEMSIZE is missing"
#endif
#ifndef STARPU_MATRIX_GET_PTR
#error "STARPU_MATRIX_GET_PTR is missing"
#endif
#ifndef STARPU_MATRIX_GET_DEV_HANDLE
#error "STARPU_MATRIX_GET_DEV_HANDLE is missing"
#endif
#ifndef STARPU_MATRIX_GET_NX
#error "STARPU_MATRIX_GET_NX is missing"
#endif
#ifndef STARPU_MATRIX_GET_NY
#error "STARPU_MATRIX_GET_NY is missing"
#endif
#ifndef STARPU_MATRIX_GET_LD
#error "STARPU_MATRIX_GET_LD is missing"
#endif
#ifndef STARPU_MATRIX_SET_NX
#error "STARPU_MATRIX_SET_NX is missing"
#endif
#ifndef STARPU_MATRIX_SET_NY
#error "STARPU_MATRIX_SET_NY is missing"
#endif
#ifndef STARPU_MATRIX_SET_LD
#error "STARPU_MATRIX_SET_LD is missing"
#endif
#ifndef STARPU_BLOCK_GET_PTR
#error "STARPU_BLOCK_GET_PTR is missing"
#endif
#ifndef STARPU_BLOCK_GET_DEV_HANDLE
#error "STARPU_BLOCK_GET_DEV_HANDLE is missing"
#endif
#ifndef STARPU_BLOCK_GET_NX
#error "STARPU_BLOCK_GET_NX is missing"
#endif
#ifndef STARPU_BLOCK_GET_NY
#error "STARPU_BLOCK_GET_NY is missing"
#endif
#ifndef STARPU_BLOCK_GET_NZ
#error "STARPU_BLOCK_GET_NZ is missing"
#endif
#ifndef STARPU_BLOCK_GET_LDY
#error "STARPU_BLOCK_GET_LDY is missing"
#endif
#ifndef STARPU_BLOCK_GET_LDZ
#error "STARPU_BLOCK_GET_LDZ is missing"
#endif
#ifndef STARPU_TENSOR_GET_PTR
#error "STARPU_TENSOR_GET_PTR is missing"
#endif
#ifndef STARPU_TENSOR_GET_DEV_HANDLE
#error "STARPU_TENSOR_GET_DEV_HANDLE is missing"
#endif
#ifndef STARPU_TENSOR_GET_NX
#error "STARPU_TENSOR_GET_NX is missing"
#endif
#ifndef STARPU_TENSOR_GET_NY
#error "STARPU_TENSOR_GET_NY is missing"
#endif
#ifndef STARPU_TENSOR_GET_NZ
#error "STARPU_TENSOR_GET_NZ is missing"
#endif
#ifndef STARPU_TENSOR_GET_NT
#error "STARPU_TENSOR_GET_NT is missing"
#endif
#ifndef STARPU_TENSOR_GET_LDY
#error "STARPU_TENSOR_GET_LDY is missing"
#endif
#ifndef STARPU_TENSOR_GET_LDZ
#error "STARPU_TENSOR_GET_LDZ is missing"
#endif
#ifndef STARPU_TENSOR_GET_LDT
#error "STARPU_TENSOR_GET_LDT is missing"
#endif
#ifndef STARPU_NDIM_GET_PTR
#error "STARPU_NDIM_GET_PTR is missing"
#endif
#ifndef STARPU_NDIM_GET_DEV_HANDLE
#error "STARPU_NDIM_GET_DEV_HANDLE is missing"
#endif
#ifndef STARPU_NDIM_GET_NN
#error "STARPU_NDIM_GET_NN is missing"
#endif
#ifndef STARPU_NDIM_GET_LDN
#error "STARPU_NDIM_GET_LDN is missing"
#endif
#ifndef STARPU_CSR_GET_NNZ
#error "STARPU_CSR_GET_NNZ is missing"
#endif
#ifndef STARPU_CSR_GET_NZVAL
#error "STARPU_CSR_GET_NZVAL is missing"
#endif
#ifndef STARPU_BCSR_GET_NNZ
#error "STARPU_BCSR_GET_NNZ is missing"
#endif
#ifndef STARPU_BCSR_GET_NROW
#error "STARPU_BCSR_GET_NROW is missing"
#endif
#ifndef STARPU_BCSR_GET_NZVAL
#error "STARPU_BCSR_GET_NZVAL is missing"
#endif
#ifndef STARPU_BCSR_GET_COLIND
#error "STARPU_BCSR_GET_COLIND is missing"
#endif
#ifndef STARPU_BCSR_GET_RAM_COLIND
#error "STARPU_BCSR_GET_RAM_COLIND is missing"
#endif
#ifndef STARPU_BCSR_GET_ROWPTR
#error "STARPU_BCSR_GET_ROWPTR is missing"
#endif
#ifndef STARPU_BCSR_GET_RAM_ROWPTR
#error "STARPU_BCSR_GET_RAM_ROWPTR is missing"
#endif
#ifndef STARPU_BCSR_GET_FIRSTENTRY
#error "STARPU_BCSR_GET_FIRSTENTRY is missing"
#endif
#ifndef STARPU_BCSR_GET_R
#error "STARPU_BCSR_GET_R is missing"
#endif
#ifndef STARPU_BCSR_GET_C
#error "STARPU_BCSR_GET_C is missing"
#endif
#ifndef STARPU_BCSR_GET_ELEMSIZE
#error "STARPU_BCSR_GET_ELEMSIZE is missing"
#endif
#ifndef STARPU_COO_GET_VALUES
#error "STARPU_COO_GET_VALUES is missing"
#endif
#ifndef STARPU_COO_GET_NVALUES
#error "STARPU_COO_GET_NVALUES is missing"
#endif
#ifndef STARPU_MULTIFORMAT_GET_CPU_PTR
#error "STARPU_MULTIFORMAT_GET_CPU_PTR is missing"
#endif
#ifndef STARPU_MULTIFORMAT_GET_CUDA_PTR
#error "STARPU_MULTIFORMAT_GET_CUDA_PTR is missing"
#endif
#ifndef STARPU_MULTIFORMAT_GET_OPENCL_PTR
#error "STARPU_MULTIFORMAT_GET_OPENCL_PTR is missing"
#endif
#ifndef STARPU_MULTIFORMAT_GET_NX
#error "STARPU_MULTIFORMAT_GET_NX is missing"
#endif
#ifndef STARPU_DATA_ACQUIRE_CB
#error "STARPU_DATA_ACQUIRE_CB is missing"
#endif
#ifndef STARPU_MALLOC_PINNED
#error "STARPU_MALLOC_PINNED is missing"
#endif
#ifndef STARPU_MALLOC_COUNT
#error "STARPU_MALLOC_COUNT is missing"
#endif
#ifndef STARPU_MALLOC_NORECLAIM
#error "STARPU_MALLOC_NORECLAIM is missing"
#endif
#ifndef STARPU_MEMORY_OVERFLOW
#error "STARPU_MEMORY_OVERFLOW is missing"
#endif
#ifndef STARPU_MALLOC_SIMULATION_FOLDED
#error "STARPU_MALLOC_SIMULATION_FOLDED is missing"
#endif

#define F(name) \
	{ \
#name, (void (*)(void))(name) \
	}

static const struct {
	const char *name;
	void (*function)(void);
} functions[] = {
	F(starpu_data_set_name),
	F(starpu_data_set_coordinates),
	F(starpu_data_unregister),
	F(starpu_data_unregister_no_coherency),
	F(starpu_data_unregister_submit),
	F(starpu_data_deinitialize),
	F(starpu_data_deinitialize_submit),
	F(starpu_data_invalidate),
	F(starpu_data_invalidate_submit),
	F(starpu_data_set_wt_mask),
	F(starpu_data_set_sequential_consistency_flag),
	F(starpu_data_set_default_sequential_consistency_flag),
	F(starpu_data_query_status2),
	F(starpu_data_query_status),
	F(starpu_data_test_if_allocated_on_node),
	F(starpu_data_test_if_mapped_on_node),
	F(starpu_data_set_user_data),
	F(starpu_data_get_user_data),
	F(starpu_data_set_sched_data),
	F(starpu_data_get_sched_data),
	F(starpu_data_register),
	F(starpu_data_register_same),
	F(starpu_data_handle_to_pointer),
	F(starpu_data_get_local_ptr),
	F(starpu_data_get_interface_on_node),
	F(starpu_data_pack_node),
	F(starpu_data_pack),
	F(starpu_data_peek_node),
	F(starpu_data_peek),
	F(starpu_data_unpack_node),
	F(starpu_data_unpack),
	F(starpu_data_get_size),
	F(starpu_data_get_alloc_size),
	F(starpu_data_get_max_size),
	F(starpu_data_get_home_node),
	F(starpu_data_print),
	F(starpu_data_interface_get_next_id),
	F(starpu_interface_copy),
	F(starpu_interface_copy2d),
	F(starpu_interface_copy3d),
	F(starpu_interface_copy4d),
	F(starpu_interface_copynd),
	F(starpu_interface_start_driver_copy_async),
	F(starpu_interface_end_driver_copy_async),
	F(starpu_interface_data_copy),
	F(starpu_variable_data_register),
	F(starpu_variable_get_elemsize),
	F(starpu_variable_get_local_ptr),
	F(starpu_vector_data_register),
	F(starpu_vector_data_register_allocsize),
	F(starpu_vector_ptr_register),
	F(starpu_vector_get_nx),
	F(starpu_vector_get_elemsize),
	F(starpu_vector_get_local_ptr),
	F(starpu_matrix_data_register),
	F(starpu_matrix_data_register_allocsize),
	F(starpu_matrix_get_nx),
	F(starpu_matrix_get_ny),
	F(starpu_matrix_get_local_ld),
	F(starpu_matrix_get_local_ptr),
	F(starpu_matrix_get_elemsize),
	F(starpu_block_data_register),
	F(starpu_block_get_nx),
	F(starpu_block_get_ny),
	F(starpu_block_get_nz),
	F(starpu_block_get_local_ldy),
	F(starpu_block_get_local_ldz),
	F(starpu_block_get_local_ptr),
	F(starpu_block_get_elemsize),
	F(starpu_tensor_data_register),
	F(starpu_ndim_data_register),
	F(starpu_csr_data_register),
	F(starpu_csr_get_nnz),
	F(starpu_csr_get_nrow),
	F(starpu_csr_get_firstentry),
	F(starpu_csr_get_local_nzval),
	F(starpu_csr_get_local_colind),
	F(starpu_csr_get_local_rowptr),
	F(starpu_csr_get_elemsize),
	F(starpu_bcsr_data_register),
	F(starpu_bcsr_get_nnz),
	F(starpu_bcsr_get_nrow),
	F(starpu_bcsr_get_firstentry),
	F(starpu_bcsr_get_local_nzval),
	F(starpu_bcsr_get_local_colind),
	F(starpu_bcsr_get_local_rowptr),
	F(starpu_bcsr_get_r),
	F(starpu_bcsr_get_c),
	F(starpu_bcsr_get_elemsize),
	F(starpu_coo_data_register),
	F(starpu_void_data_register),
	F(starpu_multiformat_data_register),
	F(starpu_data_partition),
	F(starpu_data_unpartition),
	F(starpu_data_get_nb_children),
	F(starpu_data_get_sub_data),
	F(starpu_data_map_filters),
	F(starpu_data_partition_plan),
	F(starpu_data_partition_submit),
	F(starpu_data_unpartition_submit),
	F(starpu_data_partition_clean),
	F(starpu_data_partition_clean_node),
	F(starpu_bcsr_filter_vertical_block),
	F(starpu_matrix_filter_block),
	F(starpu_matrix_filter_vertical_block),
	F(starpu_vector_filter_block),
	F(starpu_vector_filter_divide_in_2),
	F(starpu_vector_filter_pick_variable),
	F(starpu_vector_filter_pick_variable_child_ops),
	F(starpu_filter_nparts_compute_chunk_size_and_offset),
	F(starpu_data_acquire),
	F(starpu_data_acquire_on_node),
	F(starpu_data_acquire_cb),
	F(starpu_data_acquire_on_node_cb),
	F(starpu_data_acquire_cb_sequential_consistency),
	F(starpu_data_acquire_on_node_cb_sequential_consistency),
	F(starpu_data_acquire_try),
	F(starpu_data_acquire_on_node_try),
	F(starpu_data_release),
	F(starpu_data_release_on_node),
	F(starpu_data_release_to),
	F(starpu_data_release_to_on_node),
	F(starpu_data_request_allocation),
	F(starpu_data_fetch_on_node),
	F(starpu_data_prefetch_on_node),
	F(starpu_data_prefetch_on_node_prio),
	F(starpu_data_idle_prefetch_on_node),
	F(starpu_data_idle_prefetch_on_node_prio),
	F(starpu_data_wont_use),
	F(starpu_data_evict_from_node),
	F(starpu_memchunk_tidy),
	F(starpu_data_can_evict),
	F(starpu_data_cpy),
	F(starpu_data_cpy_priority),
	F(starpu_data_dup_ro),
	F(starpu_malloc_set_align),
	F(starpu_malloc),
	F(starpu_free),
	F(starpu_malloc_flags),
	F(starpu_free_flags),
	F(starpu_free_noflag),
	F(starpu_malloc_set_hooks),
	F(starpu_memory_pin),
	F(starpu_memory_unpin),
	F(starpu_memory_get_available),
	F(starpu_memory_get_used),
	F(starpu_memory_get_total_all_nodes),
	F(starpu_memory_get_available_all_nodes),
	F(starpu_memory_get_used_all_nodes),
	F(starpu_malloc_on_node),
	F(starpu_malloc_on_node_flags),
	F(starpu_free_on_node),
	F(starpu_free_on_node_flags),
	F(starpu_disk_close),
	F(starpu_disk_open),
	F(starpu_disk_register),
	F(starpu_data_set_reduction_methods),
	F(starpu_data_set_reduction_methods_with_args),
	F(starpu_arbiter_create),
	F(starpu_data_assign_arbiter),
	F(starpu_arbiter_destroy),
};

#define O(type, field) offsetof(struct type, field)

static const size_t fields[] = {
	O(starpu_data_interface_ops, register_data_handle),
	O(starpu_data_interface_ops, unregister_data_handle),
	O(starpu_data_interface_ops, allocate_data_on_node),
	O(starpu_data_interface_ops, free_data_on_node),
	O(starpu_data_interface_ops, cache_data_on_node),
	O(starpu_data_interface_ops, reuse_data_on_node),
	O(starpu_data_interface_ops, copy_methods),
	O(starpu_data_interface_ops, to_pointer),
	O(starpu_data_interface_ops, get_size),
	O(starpu_data_interface_ops, get_alloc_size),
	O(starpu_data_interface_ops, get_max_size),
	O(starpu_data_interface_ops, footprint),
	O(starpu_data_interface_ops, alloc_footprint),
	O(starpu_data_interface_ops, compare),
	O(starpu_data_interface_ops, alloc_compare),
	O(starpu_data_interface_ops, display),
	O(starpu_data_interface_ops, describe),
	O(starpu_data_interface_ops, interfaceid),
	O(starpu_data_interface_ops, interface_size),
	O(starpu_data_interface_ops, dontcache),
	O(starpu_data_interface_ops, pack_data),
	O(starpu_data_interface_ops, peek_data),
	O(starpu_data_interface_ops, unpack_data),
	O(starpu_data_copy_methods, ram_to_ram),
	O(starpu_data_copy_methods, cuda_to_cuda),
	O(starpu_data_copy_methods, ram_to_cuda_async),
	O(starpu_data_copy_methods, cuda_to_ram_async),
	O(starpu_data_copy_methods, cuda_to_cuda_async),
	O(starpu_data_copy_methods, ram_to_opencl_async),
	O(starpu_data_copy_methods, opencl_to_ram_async),
	O(starpu_data_copy_methods, any_to_any),
	O(starpu_variable_interface, ptr),
	O(starpu_variable_interface, dev_handle),
	O(starpu_variable_interface, offset),
	O(starpu_vector_interface, id),
	O(starpu_vector_interface, ptr),
	O(starpu_vector_interface, dev_handle),
	O(starpu_vector_interface, offset),
	O(starpu_vector_interface, nx),
	O(starpu_vector_interface, elemsize),
	O(starpu_vector_interface, allocsize),
	O(starpu_matrix_interface, ptr),
	O(starpu_matrix_interface, dev_handle),
	O(starpu_matrix_interface, offset),
	O(starpu_matrix_interface, nx),
	O(starpu_matrix_interface, ny),
	O(starpu_matrix_interface, ld),
	O(starpu_block_interface, ptr),
	O(starpu_block_interface, dev_handle),
	O(starpu_block_interface, offset),
	O(starpu_block_interface, nx),
	O(starpu_block_interface, ny),
	O(starpu_block_interface, nz),
	O(starpu_block_interface, ldy),
	O(starpu_block_interface, ldz),
	O(starpu_tensor_interface, ptr),
	O(starpu_tensor_interface, dev_handle),
	O(starpu_tensor_interface, offset),
	O(starpu_tensor_interface, nx),
	O(starpu_tensor_interface, ny),
	O(starpu_tensor_interface, nz),
	O(starpu_tensor_interface, nt),
	O(starpu_tensor_interface, ldy),
	O(starpu_tensor_interface, ldz),
	O(starpu_tensor_interface, ldt),
	O(starpu_ndim_interface, ptr),
	O(starpu_ndim_interface, dev_handle),
	O(starpu_ndim_interface, offset),
	O(starpu_ndim_interface, allocsize),
	O(starpu_ndim_interface, nn),
	O(starpu_ndim_interface, ldn),
	O(starpu_csr_interface, nnz),
	O(starpu_csr_interface, nzval),
	O(starpu_csr_interface, colind),
	O(starpu_csr_interface, rowptr),
	O(starpu_bcsr_interface, nnz),
	O(starpu_bcsr_interface, nrow),
	O(starpu_bcsr_interface, nzval),
	O(starpu_bcsr_interface, colind),
	O(starpu_bcsr_interface, rowptr),
	O(starpu_bcsr_interface, firstentry),
	O(starpu_bcsr_interface, r),
	O(starpu_bcsr_interface, c),
	O(starpu_bcsr_interface, elemsize),
	O(starpu_multiformat_data_interface_ops, cpu_elemsize),
	O(starpu_multiformat_data_interface_ops, opencl_elemsize),
	O(starpu_multiformat_data_interface_ops, cpu_to_opencl_cl),
	O(starpu_multiformat_data_interface_ops, opencl_to_cpu_cl),
	O(starpu_multiformat_data_interface_ops, cuda_elemsize),
	O(starpu_multiformat_data_interface_ops, cpu_to_cuda_cl),
	O(starpu_multiformat_data_interface_ops, cuda_to_cpu_cl),
	O(starpu_data_filter, filter_func),
	O(starpu_data_filter, nchildren),
	O(starpu_data_filter, get_child_ops),
	O(starpu_data_filter, filter_arg),
	O(starpu_data_filter, filter_arg_ptr),
};

static const int values[] = {
	STARPU_R,
	STARPU_W,
	STARPU_RW,
	STARPU_SCRATCH,
	STARPU_REDUX,
	STARPU_COMMUTE,
	STARPU_SSEND,
	STARPU_LOCALITY,
	STARPU_MPI_REDUX,
	STARPU_NOPLAN,
	STARPU_UNMAP,
	STARPU_NOFOOTPRINT,
	STARPU_NONE,
	STARPU_ACCESS_MODE_MAX,
	STARPU_UNKNOWN_INTERFACE_ID,
	STARPU_MATRIX_INTERFACE_ID,
	STARPU_BLOCK_INTERFACE_ID,
	STARPU_VECTOR_INTERFACE_ID,
	STARPU_CSR_INTERFACE_ID,
	STARPU_BCSR_INTERFACE_ID,
	STARPU_VARIABLE_INTERFACE_ID,
	STARPU_VOID_INTERFACE_ID,
	STARPU_MULTIFORMAT_INTERFACE_ID,
	STARPU_COO_INTERFACE_ID,
	STARPU_TENSOR_INTERFACE_ID,
	STARPU_NDIM_INTERFACE_ID,
	STARPU_MAX_INTERFACE_ID,
};

static const void *const objects[] = {
	&starpu_disk_unistd_ops,
};

static const size_t types[] = {
	sizeof(starpu_data_handle_t),
	sizeof(starpu_malloc_hook),
	sizeof(starpu_free_hook),
	sizeof(starpu_arbiter_t),
};

int main(void)
{
	size_t i, k, n = sizeof(functions) / sizeof(*functions);
	int wrong = 0;

	/* Two names of one function: one of them is not what it says. */
	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			if (functions[i].function == functions[k].function) {
				fprintf(stderr, "%s and %s are the same\n", functions[i].name,
					functions[k].name);
				wrong = 1;
			}
	return wrong || !objects[0] || !types[0] ||
	       fields[0] > sizeof(struct starpu_data_interface_ops) || values[0] != 1;
}
