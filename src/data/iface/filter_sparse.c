/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Predefined filters of CSR and BCSR data: groups of (block) rows, and the single blocks of BCSR.
 *
 * They read the row pointers in main memory (ram_rowptr), wherever the piece will lie.
 *
 * Invariant: a piece's rowptr points into its father's and has one entry more than the piece has
 * rows; firstentry = rowptr[0], so that entry k of the whole is entry k - firstentry of the piece.
 */
#include "data/iface/filter_dense.h"
#include "base/log.h"
#include "base/seam_memory.h"

#include <string.h>

/* Rows [row, row + nrow) and the entries [entry, entry + nnz) of the father, relative to its own.
 */
struct rows {
	uint32_t row, nrow, entry, nnz;
};

static uint32_t share(uint32_t n, unsigned nparts, unsigned id)
{
	size_t start = n;

	if (id < nparts)
		starpu_filter_nparts_compute_chunk_size_and_offset(n, nparts, 1, id, 1, NULL,
								   &start);
	return (uint32_t) start;
}

static struct rows cut_rows(const char *name, const uint32_t *rowptr, uint32_t nrow, uint32_t nnz,
			    uint32_t firstentry, unsigned id, unsigned nparts)
{
	struct rows r;

	if (nparts > nrow)
		orr_fatal("%s: %u rows cannot be cut into %u pieces; use at most %u", name, nrow,
			  nparts, nrow);
	r.row = share(nrow, nparts, id);
	r.nrow = share(nrow, nparts, id + 1) - r.row;
	if (rowptr && rowptr[r.row] >= firstentry && rowptr[r.row] <= rowptr[r.row + r.nrow] &&
	    rowptr[r.row + r.nrow] - firstentry <= nnz) {
		r.entry = rowptr[r.row] - firstentry;
		r.nnz = rowptr[r.row + r.nrow] - rowptr[r.row];
		return r;
	}
	if (orr_sys_has_payload(orr_self()))
		orr_fatal(
			"%s: the row pointers of rows %u to %u are %s; the filter needs them in main memory",
			name, r.row, r.row + r.nrow,
			rowptr ? "inconsistent with nnz and firstentry" : "not there");
	/* A run without payload stores no row pointers: an even share of the entries stands for the
	 * real one. */
	r.entry = share(nnz, nparts, id);
	uint32_t end = share(nnz, nparts, id + 1);
	r.nnz = end - r.entry;
	return r;
}

static uint32_t *advance(uint32_t *p, uint32_t n)
{
	return p ? p + n : NULL;
}

void starpu_csr_filter_vertical_block(void *father_interface, void *child_interface,
				      struct starpu_data_filter *f, unsigned id, unsigned nparts)
{
	struct starpu_csr_interface *father = father_interface, *child = child_interface;
	const uint32_t *rowptr = father->ram_rowptr;

	(void) f;
	orr_filter_check_father(STARPU_CSR_INTERFACE_ID, father);
	struct rows r = cut_rows(__func__, rowptr, father->nrow, father->nnz, father->firstentry,
				 id, nparts);
	*child = (struct starpu_csr_interface){
		.id = STARPU_CSR_INTERFACE_ID,
		.nnz = r.nnz,
		.nrow = r.nrow,
		.nzval = father->nzval ? father->nzval + r.entry * father->elemsize : 0,
		.colind = advance(father->colind, r.entry),
		.rowptr = advance(father->rowptr, r.row),
		.ram_colind = advance(father->ram_colind, r.entry),
		.ram_rowptr = advance(father->ram_rowptr, r.row),
		.firstentry = father->firstentry + r.entry,
		.elemsize = father->elemsize,
	};
}

void starpu_bcsr_filter_vertical_block(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts)
{
	struct starpu_bcsr_interface *father = father_interface, *child = child_interface;
	const uint32_t *rowptr = father->ram_rowptr;
	size_t block = (size_t) father->r * father->c * father->elemsize;
	struct rows r;

	(void) f;
	orr_filter_check_father(STARPU_BCSR_INTERFACE_ID, father);
	r = cut_rows(__func__, rowptr, father->nrow, father->nnz, father->firstentry, id, nparts);
	*child = (struct starpu_bcsr_interface){
		.id = STARPU_BCSR_INTERFACE_ID,
		.nnz = r.nnz,
		.nrow = r.nrow,
		.nzval = father->nzval ? father->nzval + r.entry * block : 0,
		.colind = advance(father->colind, r.entry),
		.rowptr = advance(father->rowptr, r.row),
		.ram_colind = advance(father->ram_colind, r.entry),
		.ram_rowptr = advance(father->ram_rowptr, r.row),
		.firstentry = father->firstentry + r.entry,
		.r = father->r,
		.c = father->c,
		.elemsize = father->elemsize,
	};
}

/* Block number id as a matrix: blocks are stored row by row, so x runs along the c columns and y
 * along the r rows. */
void starpu_bcsr_filter_canonical_block(void *father_interface, void *child_interface,
					struct starpu_data_filter *f, unsigned id, unsigned nparts)
{
	struct starpu_bcsr_interface *father = father_interface;
	uint32_t nn[2] = { father->c, father->r }, ld[2] = { 1, father->c };
	size_t offset = (size_t) id * father->r * father->c * father->elemsize;

	(void) f;
	orr_filter_check_father(STARPU_BCSR_INTERFACE_ID, father);
	if (nparts > father->nnz || id >= father->nnz)
		orr_fatal(
			"%s: there are %u blocks, %u pieces were asked for; set get_nchildren to starpu_bcsr_filter_canonical_block_get_nchildren",
			__func__, father->nnz, nparts);
	orr_dense_fill(STARPU_MATRIX_INTERFACE_ID, child_interface, father->elemsize, 2, nn, ld,
		       father->nzval ? father->nzval + offset : 0, father->nzval,
		       father->nzval ? offset : 0);
}

unsigned starpu_bcsr_filter_canonical_block_get_nchildren(struct starpu_data_filter *f,
							  starpu_data_handle_t handle)
{
	(void) f;
	return starpu_bcsr_get_nnz(handle);
}

struct starpu_data_interface_ops *starpu_bcsr_filter_canonical_block_child_ops(
	struct starpu_data_filter *f, unsigned child)
{
	(void) f;
	(void) child;
	return &starpu_interface_matrix_ops;
}
