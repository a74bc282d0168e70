/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels for devices whose memory has no pointers (ORRERY_FAKE_OPENCL): staged() copies the data
 * of a task out of the device, by dev_handle and offset as an OpenCL kernel has to, runs a function
 * of the CPU on the copies, and copies those back that it may write: others may read the same data
 * at the same time.
 *
 * Invariant: only elements move, never what lies between columns; ptr is not looked at. Public
 * interface only. */
#ifndef STAGED_H
#define STAGED_H

#include <starpu.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAGED_MAXDIM 8

/* The place of one array of a datum on the device. */
struct staged_array {
	uintptr_t handle;
	size_t offset, elemsize, ndim;
	uint32_t nn[STAGED_MAXDIM], ld[STAGED_MAXDIM];
	char *copy;
};

static inline void staged_check(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "staged kernel: %s\n", what);
		exit(1);
	}
}

static inline size_t staged_extent(const struct staged_array *a)
{
	size_t n = 1, d;

	for (d = 0; d < a->ndim; d++) {
		if (!a->nn[d])
			return 0;
		n += (size_t) (a->nn[d] - 1) * a->ld[d];
	}
	return n * a->elemsize;
}

static inline void staged_move(struct staged_array *a, unsigned node, int out)
{
	uintptr_t host = (uintptr_t) a->copy;
	int ret = out ? starpu_interface_copynd(a->handle, a->offset, node, host, 0,
						STARPU_MAIN_RAM, a->elemsize, a->ndim, a->nn, a->ld,
						a->ld, NULL)
		      : starpu_interface_copynd(host, 0, STARPU_MAIN_RAM, a->handle, a->offset,
						node, a->elemsize, a->ndim, a->nn, a->ld, a->ld,
						NULL);

	staged_check(ret == 0, "copy");
}

static inline void staged_dim(struct staged_array *a, uint32_t nn, uint32_t ld)
{
	a->nn[a->ndim] = nn;
	a->ld[a->ndim++] = ld;
}

static inline struct staged_array staged_line(uintptr_t handle, size_t offset, size_t elemsize,
					      uint32_t n)
{
	struct staged_array a = { .handle = handle, .offset = offset, .elemsize = elemsize };

	staged_dim(&a, n, 1);
	return a;
}

/* Dense interfaces begin alike but are told apart by their number. */
static inline struct staged_array staged_dense(void *i)
{
	struct staged_array a = { .ndim = 0 };
	size_t d;

	switch (*(enum starpu_data_interface_id *) i) {
	case STARPU_VARIABLE_INTERFACE_ID:
		a.handle = STARPU_VARIABLE_GET_DEV_HANDLE(i),
		a.offset = STARPU_VARIABLE_GET_OFFSET(i),
		a.elemsize = STARPU_VARIABLE_GET_ELEMSIZE(i);
		break;
	case STARPU_VECTOR_INTERFACE_ID:
		a.handle = STARPU_VECTOR_GET_DEV_HANDLE(i), a.offset = STARPU_VECTOR_GET_OFFSET(i),
		a.elemsize = STARPU_VECTOR_GET_ELEMSIZE(i);
		staged_dim(&a, STARPU_VECTOR_GET_NX(i), 1);
		break;
	case STARPU_MATRIX_INTERFACE_ID:
		a.handle = STARPU_MATRIX_GET_DEV_HANDLE(i), a.offset = STARPU_MATRIX_GET_OFFSET(i),
		a.elemsize = STARPU_MATRIX_GET_ELEMSIZE(i);
		staged_dim(&a, STARPU_MATRIX_GET_NX(i), 1);
		staged_dim(&a, STARPU_MATRIX_GET_NY(i), STARPU_MATRIX_GET_LD(i));
		break;
	case STARPU_BLOCK_INTERFACE_ID:
		a.handle = STARPU_BLOCK_GET_DEV_HANDLE(i), a.offset = STARPU_BLOCK_GET_OFFSET(i),
		a.elemsize = STARPU_BLOCK_GET_ELEMSIZE(i);
		staged_dim(&a, STARPU_BLOCK_GET_NX(i), 1);
		staged_dim(&a, STARPU_BLOCK_GET_NY(i), STARPU_BLOCK_GET_LDY(i));
		staged_dim(&a, STARPU_BLOCK_GET_NZ(i), STARPU_BLOCK_GET_LDZ(i));
		break;
	case STARPU_TENSOR_INTERFACE_ID:
		a.handle = STARPU_TENSOR_GET_DEV_HANDLE(i), a.offset = STARPU_TENSOR_GET_OFFSET(i),
		a.elemsize = STARPU_TENSOR_GET_ELEMSIZE(i);
		staged_dim(&a, STARPU_TENSOR_GET_NX(i), 1);
		staged_dim(&a, STARPU_TENSOR_GET_NY(i), STARPU_TENSOR_GET_LDY(i));
		staged_dim(&a, STARPU_TENSOR_GET_NZ(i), STARPU_TENSOR_GET_LDZ(i));
		staged_dim(&a, STARPU_TENSOR_GET_NT(i), STARPU_TENSOR_GET_LDT(i));
		break;
	case STARPU_NDIM_INTERFACE_ID:
		a.handle = STARPU_NDIM_GET_DEV_HANDLE(i), a.offset = STARPU_NDIM_GET_OFFSET(i),
		a.elemsize = STARPU_NDIM_GET_ELEMSIZE(i);
		for (d = 0; d < STARPU_NDIM_GET_NDIM(i); d++)
			staged_dim(&a, STARPU_NDIM_GET_NN(i)[d], STARPU_NDIM_GET_LDN(i)[d]);
		break;
	default: staged_check(0, "an interface that it does not know");
	}
	return a;
}

/* The arrays of any built-in interface; how many. */
static inline unsigned staged_arrays(void *i, struct staged_array a[3])
{
	struct starpu_csr_interface *csr = i;
	struct starpu_bcsr_interface *bcsr = i;
	struct starpu_coo_interface *coo = i;

	switch (*(enum starpu_data_interface_id *) i) {
	case STARPU_CSR_INTERFACE_ID:
		a[0] = staged_line(csr->nzval, 0, csr->elemsize, csr->nnz);
		a[1] = staged_line((uintptr_t) csr->colind, 0, sizeof(uint32_t), csr->nnz);
		a[2] = staged_line((uintptr_t) csr->rowptr, 0, sizeof(uint32_t), csr->nrow + 1);
		return 3;
	case STARPU_BCSR_INTERFACE_ID:
		a[0] = staged_line(bcsr->nzval, 0, bcsr->elemsize, bcsr->nnz * bcsr->r * bcsr->c);
		a[1] = staged_line((uintptr_t) bcsr->colind, 0, sizeof(uint32_t), bcsr->nnz);
		a[2] = staged_line((uintptr_t) bcsr->rowptr, 0, sizeof(uint32_t), bcsr->nrow + 1);
		return 3;
	case STARPU_COO_INTERFACE_ID:
		a[0] = staged_line(coo->values, 0, coo->elemsize, coo->n_values);
		a[1] = staged_line((uintptr_t) coo->columns, 0, sizeof(uint32_t), coo->n_values);
		a[2] = staged_line((uintptr_t) coo->rows, 0, sizeof(uint32_t), coo->n_values);
		return 3;
	default: a[0] = staged_dense(i); return 1;
	}
}

/* A structure like i about the copies. */
static inline void *staged_structure(void *i, const struct staged_array a[3])
{
	union staged_any {
		struct starpu_variable_interface variable;
		struct starpu_vector_interface vector;
		struct starpu_matrix_interface matrix;
		struct starpu_block_interface block;
		struct starpu_tensor_interface tensor;
		struct starpu_ndim_interface ndim;
		struct starpu_csr_interface csr;
		struct starpu_bcsr_interface bcsr;
		struct starpu_coo_interface coo;
	} *s = calloc(1, sizeof(*s));

#define STAGED_DENSE(field) \
	do { \
		s->field = *(__typeof__(s->field) *) i; \
		s->field.ptr = s->field.dev_handle = (uintptr_t) a[0].copy; \
		s->field.offset = 0; \
	} while (0)
	switch (*(enum starpu_data_interface_id *) i) {
	case STARPU_VARIABLE_INTERFACE_ID: STAGED_DENSE(variable); break;
	case STARPU_VECTOR_INTERFACE_ID: STAGED_DENSE(vector); break;
	case STARPU_MATRIX_INTERFACE_ID: STAGED_DENSE(matrix); break;
	case STARPU_BLOCK_INTERFACE_ID: STAGED_DENSE(block); break;
	case STARPU_TENSOR_INTERFACE_ID: STAGED_DENSE(tensor); break;
	case STARPU_NDIM_INTERFACE_ID: STAGED_DENSE(ndim); break;
	case STARPU_CSR_INTERFACE_ID:
		s->csr = *(struct starpu_csr_interface *) i;
		s->csr.nzval = (uintptr_t) a[0].copy,
		s->csr.colind = (uint32_t *) (void *) a[1].copy,
		s->csr.rowptr = (uint32_t *) (void *) a[2].copy;
		break;
	case STARPU_BCSR_INTERFACE_ID:
		s->bcsr = *(struct starpu_bcsr_interface *) i;
		s->bcsr.nzval = (uintptr_t) a[0].copy,
		s->bcsr.colind = (uint32_t *) (void *) a[1].copy,
		s->bcsr.rowptr = (uint32_t *) (void *) a[2].copy;
		break;
	case STARPU_COO_INTERFACE_ID:
		s->coo = *(struct starpu_coo_interface *) i;
		s->coo.values = (uintptr_t) a[0].copy,
		s->coo.columns = (uint32_t *) (void *) a[1].copy,
		s->coo.rows = (uint32_t *) (void *) a[2].copy;
		break;
	default: break;
	}
#undef STAGED_DENSE
	return s;
}

/* May the kernel change its datum i? One that runs outside of tasks makes a contribution to a
 * reduction. */
static inline int staged_writes(unsigned i)
{
	struct starpu_task *task = starpu_task_get_current();

	return !task ||
	       (STARPU_TASK_GET_MODE(task, i) & (STARPU_W | STARPU_SCRATCH | STARPU_REDUX)) != 0;
}

/* The place of datum i of the kernel: on the worker's node, unless the codelet wants it elsewhere.
 */
static inline unsigned staged_node(unsigned i, unsigned node)
{
	struct starpu_task *task = starpu_task_get_current();

	return task && task->cl->specific_nodes &&
			       STARPU_CODELET_GET_NODE(task->cl, i) == STARPU_SPECIFIC_NODE_CPU
		       ? STARPU_MAIN_RAM
		       : node;
}

/* Runs f on copies of the n data of the current task. */
static inline void staged(void (*f)(void **, void *), void *buffers[], unsigned n, void *arg)
{
	struct staged_array a[STARPU_NMAXBUFS][3];
	void *copies[STARPU_NMAXBUFS];
	unsigned narrays[STARPU_NMAXBUFS], i, k,
		node = starpu_worker_get_memory_node((unsigned) starpu_worker_get_id());

	for (i = 0; i < n; i++) {
		narrays[i] = staged_arrays(buffers[i], a[i]);
		for (k = 0; k < narrays[i]; k++) {
			a[i][k].copy = malloc(staged_extent(&a[i][k]) + 1);
			staged_move(&a[i][k], staged_node(i, node), 1);
		}
		copies[i] = staged_structure(buffers[i], a[i]);
	}
	f(copies, arg);
	for (i = 0; i < n; i++) {
		for (k = 0; k < narrays[i]; k++) {
			if (staged_writes(i))
				staged_move(&a[i][k], staged_node(i, node), 0);
			free(a[i][k].copy);
		}
		free(copies[i]);
	}
}

/* The function for OpenCL devices that belongs to a function of the CPU with n data. */
#define STAGED(name, cpu, n) \
	static void name(void *buffers[], void *arg) \
	{ \
		staged(cpu, buffers, n, arg); \
	}

#endif
