/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data for Fortran: what kernels read from their buffers, filters, and arrays of handles.
 *
 * Invariant: buffers are counted from 0, as in C. */
#include "fortran/fortran.h"

#include <stdlib.h>
#include <string.h>

#include "starpu.h"
#include "base/log.h"

static void *zeroed(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		orr_fatal("out of memory: %zu bytes for a structure of the Fortran interface",
			  n * size);
	return p;
}

/* ---- buffers of kernels ---- */

#define GET_PTR(kind, KIND) \
	void *fstarpu_##kind##_get_ptr(void **buffers, int i) \
	{ \
		return (void *) STARPU_##KIND##_GET_PTR(buffers[i]); \
	}
#define GET_INT(kind, KIND, field, FIELD) \
	int fstarpu_##kind##_get_##field(void **buffers, int i) \
	{ \
		return (int) STARPU_##KIND##_GET_##FIELD(buffers[i]); \
	}

GET_PTR(tensor, TENSOR)
GET_INT(tensor, TENSOR, ldy, LDY)
GET_INT(tensor, TENSOR, ldz, LDZ)
GET_INT(tensor, TENSOR, ldt, LDT)
GET_INT(tensor, TENSOR, nx, NX)
GET_INT(tensor, TENSOR, ny, NY)
GET_INT(tensor, TENSOR, nz, NZ)
GET_INT(tensor, TENSOR, nt, NT)
GET_PTR(block, BLOCK)
GET_INT(block, BLOCK, ldy, LDY)
GET_INT(block, BLOCK, ldz, LDZ)
GET_INT(block, BLOCK, nx, NX)
GET_INT(block, BLOCK, ny, NY)
GET_INT(block, BLOCK, nz, NZ)
GET_PTR(matrix, MATRIX)
GET_INT(matrix, MATRIX, ld, LD)
GET_INT(matrix, MATRIX, nx, NX)
GET_INT(matrix, MATRIX, ny, NY)
GET_PTR(vector, VECTOR)
GET_INT(vector, VECTOR, nx, NX)
GET_PTR(variable, VARIABLE)

/* ---- buffers that the program gives: Fortran passes the handle by reference ---- */

void fstarpu_tensor_ptr_register(starpu_data_handle_t *dh, int node, void *ptr, void *dev_handle,
				 size_t offset, int ldy, int ldz, int ldt)
{
	starpu_tensor_ptr_register(*dh, (unsigned) node, (uintptr_t) ptr, (uintptr_t) dev_handle,
				   offset, (uint32_t) ldy, (uint32_t) ldz, (uint32_t) ldt);
}

void fstarpu_block_ptr_register(starpu_data_handle_t *dh, int node, void *ptr, void *dev_handle,
				size_t offset, int ldy, int ldz)
{
	starpu_block_ptr_register(*dh, (unsigned) node, (uintptr_t) ptr, (uintptr_t) dev_handle,
				  offset, (uint32_t) ldy, (uint32_t) ldz);
}

void fstarpu_matrix_ptr_register(starpu_data_handle_t *dh, int node, void *ptr, void *dev_handle,
				 size_t offset, int ld)
{
	starpu_matrix_ptr_register(*dh, (unsigned) node, (uintptr_t) ptr, (uintptr_t) dev_handle,
				   offset, (uint32_t) ld);
}

void fstarpu_vector_ptr_register(starpu_data_handle_t *dh, int node, void *ptr, void *dev_handle,
				 size_t offset)
{
	starpu_vector_ptr_register(*dh, (unsigned) node, (uintptr_t) ptr, (uintptr_t) dev_handle,
				   offset);
}

void fstarpu_variable_ptr_register(starpu_data_handle_t *dh, int node, void *ptr, void *dev_handle,
				   size_t offset)
{
	starpu_variable_ptr_register(*dh, (unsigned) node, (uintptr_t) ptr, (uintptr_t) dev_handle,
				     offset);
}

void fstarpu_data_assign_arbiter(starpu_data_handle_t *dh, starpu_arbiter_t arbiter)
{
	starpu_data_assign_arbiter(*dh, arbiter);
}

/* ---- acquisition, statistics ---- */

void fstarpu_data_acquire(starpu_data_handle_t dh, void *mode)
{
	int ret = starpu_data_acquire(dh, (enum starpu_data_access_mode)(intptr_t) mode);

	if (ret)
		orr_fatal("fstarpu_data_acquire failed: %s", strerror(-ret));
}

void fstarpu_display_memory_stats(void)
{
	starpu_data_display_memory_stats();
}

/* ---- filters ---- */

struct starpu_data_filter *fstarpu_data_filter_allocate(void)
{
	return zeroed(1, sizeof(struct starpu_data_filter));
}

void fstarpu_data_filter_free(struct starpu_data_filter *filter)
{
	free(filter);
}

#define ALLOC_FILTER(name) \
	struct starpu_data_filter *fstarpu_df_alloc_##name(void) \
	{ \
		struct starpu_data_filter *filter = fstarpu_data_filter_allocate(); \
		filter->filter_func = starpu_##name; \
		return filter; \
	}

ALLOC_FILTER(bcsr_filter_canonical_block)
ALLOC_FILTER(csr_filter_vertical_block)
ALLOC_FILTER(matrix_filter_block)
ALLOC_FILTER(matrix_filter_block_shadow)
ALLOC_FILTER(matrix_filter_vertical_block)
ALLOC_FILTER(matrix_filter_vertical_block_shadow)
ALLOC_FILTER(vector_filter_block)
ALLOC_FILTER(vector_filter_block_shadow)
ALLOC_FILTER(vector_filter_list)
ALLOC_FILTER(vector_filter_divide_in_2)
ALLOC_FILTER(block_filter_block)
ALLOC_FILTER(block_filter_block_shadow)
ALLOC_FILTER(block_filter_vertical_block)
ALLOC_FILTER(block_filter_vertical_block_shadow)

void fstarpu_data_filter_set_filter_func(struct starpu_data_filter *filter,
					 void (*f_ptr)(void *, void *, struct starpu_data_filter *,
						       unsigned, unsigned))
{
	filter->filter_func = f_ptr;
}

void fstarpu_data_filter_set_nchildren(struct starpu_data_filter *filter, int nchildren)
{
	filter->nchildren = (unsigned) nchildren;
}

void fstarpu_data_filter_set_get_nchildren_func(struct starpu_data_filter *filter,
						unsigned (*f_ptr)(struct starpu_data_filter *,
								  starpu_data_handle_t))
{
	filter->get_nchildren = f_ptr;
}

void fstarpu_data_filter_set_get_child_ops_func(
	struct starpu_data_filter *filter,
	struct starpu_data_interface_ops *(*f_ptr)(struct starpu_data_filter *, unsigned) )
{
	filter->get_child_ops = f_ptr;
}

void fstarpu_data_filter_set_filter_arg(struct starpu_data_filter *filter, int filter_arg)
{
	filter->filter_arg = (unsigned) filter_arg;
}

void fstarpu_data_filter_set_filter_arg_ptr(struct starpu_data_filter *filter, void *filter_arg_ptr)
{
	filter->filter_arg_ptr = filter_arg_ptr;
}

void fstarpu_data_map_filters(starpu_data_handle_t root_dh, int nfilters,
			      struct starpu_data_filter **filters)
{
	starpu_data_map_filters_parray(root_dh, nfilters, filters);
}

starpu_data_handle_t fstarpu_data_get_sub_data(starpu_data_handle_t root_dh, int depth,
					       const int *indices)
{
	for (int i = 0; i < depth; i++)
		root_dh = starpu_data_get_child(root_dh, (unsigned) indices[i]);
	return root_dh;
}

/* ---- arrays of handles, and of handles with modes ---- */

starpu_data_handle_t *fstarpu_data_handle_array_alloc(int nb)
{
	return zeroed((size_t) nb, sizeof(starpu_data_handle_t));
}

void fstarpu_data_handle_array_free(starpu_data_handle_t *handles)
{
	free(handles);
}

void fstarpu_data_handle_array_set(starpu_data_handle_t *handles, int i,
				   starpu_data_handle_t handle)
{
	handles[i] = handle;
}

struct starpu_data_descr *fstarpu_data_descr_array_alloc(int nb)
{
	return zeroed((size_t) nb, sizeof(struct starpu_data_descr));
}

struct starpu_data_descr *fstarpu_data_descr_alloc(void)
{
	return fstarpu_data_descr_array_alloc(1);
}

void fstarpu_data_descr_array_free(struct starpu_data_descr *descrs)
{
	free(descrs);
}

void fstarpu_data_descrg_free(struct starpu_data_descr *descr)
{
	free(descr);
}

void fstarpu_data_descr_array_set(struct starpu_data_descr *descrs, int i,
				  starpu_data_handle_t handle, void *mode)
{
	descrs[i].handle = handle;
	descrs[i].mode = (enum starpu_data_access_mode)(intptr_t) mode;
}

void fstarpu_data_descr_set(struct starpu_data_descr *descr, starpu_data_handle_t handle,
			    void *mode)
{
	fstarpu_data_descr_array_set(descr, 0, handle, mode);
}
