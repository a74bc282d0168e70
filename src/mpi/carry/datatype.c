/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The form of a datum for MPI: contiguous bytes, bytes with strides, a datatype of the program, or
 * something that must be packed.
 *
 * The dense interfaces travel in place (no copy), whatever their leading dimensions; a datatype
 * registered for the handle or its interface comes first, packing last. When payloads do not exist
 * (kernels skipped in a simulated run) everything travels as that many bytes of whatever lies
 * there.
 *
 * Invariant: sender and receiver agree on the order of bytes but not on the form: a vector may be
 * received into a matrix. (What each side asserts is that the form and the number of bytes fit.) */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "mpi/carry/layer.h"
#include "mpi/carry/comm.h"
#include "mpi/carry/attach.h"
#include "mpi/carry/datatype.h"
#include "data/handle_contents.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/seam_memory.h"

static struct orr_mpi_datatype *type_of_interface(struct orr_mpi *mpi, int id)
{
	for (unsigned i = 0; i < mpi->types.n; i++)
		if (mpi->types.list[i].id == id && mpi->types.list[i].free)
			return &mpi->types.list[i];
	return NULL;
}

/* A datatype that the program registered; 0 when there is none for this datum. */
static int describe_typed(struct orr_mpi *mpi, starpu_data_handle_t h, struct orr_mpi_payload *p)
{
	struct orr_layout *l = &p->layout;
	struct orr_mpi_ext *ext = orr_mpi_ext(h);
	struct orr_mpi_datatype *t = ext && ext->type ? ext->type
				     : mpi->types.n   ? type_of_interface(mpi, h->ops->interfaceid)
						      : NULL;
	MPI_Count size, low, extent;

	if (!t || (t->node_allocate ? t->node_allocate(h, STARPU_MAIN_RAM, &l->type)
				    : t->allocate(h, &l->type)))
		return 0;
	MPI_Type_size_x(l->type, &size);
	l->size = (size_t) size;
	l->ndim = 0;
	p->free_type = t->free;
	p->ptr = starpu_data_handle_to_pointer(h, STARPU_MAIN_RAM);
	p->form = size ? ORR_FORM_TYPED : ORR_FORM_EMPTY;
	MPI_Type_get_true_extent_x(l->type, &low, &extent);
	p->copied = extent > size;
	return 1;
}

static int describe_packed(starpu_data_handle_t h, int sending, size_t expected,
			   struct orr_mpi_payload *p)
{
	starpu_ssize_t count = -1;
	void *ptr = NULL;

	p->form = ORR_FORM_PACKED;
	p->copied = 1;
	orr_layout_row(&p->layout, expected);
	if (!sending)
		return 0;
	int ret = orr_handle_pack(h, STARPU_MAIN_RAM, &ptr, &count);
	if (ret < 0 || count < 0) {
		orr_error(
			"data %s cannot be sent: its interface has no pack_data and no MPI datatype; define the one or register the other "
			"(starpu_mpi_interface_datatype_register)",
			orr_handle_name(h));
		return ret < 0 ? ret : -EINVAL;
	}
	p->ptr = ptr;
	orr_layout_row(&p->layout, (size_t) count);
	return 0;
}

int orr_mpi_payload(struct orr_mpi *mpi, starpu_data_handle_t h, unsigned node, int sending,
		    size_t expected, struct orr_mpi_payload *p)
{
	p->ptr = NULL;
	p->free_type = NULL;
	p->copied = 0;
	if (node == STARPU_MAIN_RAM &&
	    (mpi->types.n || ORR_ATOMIC_LOAD_RELAXED(&h->mpi_flags) & ORR_MPI_ATTACHED) &&
	    describe_typed(mpi, h, p))
		return 0;
	if (!orr_mpi_describe_dense(h, node, p))
		return describe_packed(h, sending, expected, p);
	p->copied = p->form == ORR_FORM_STRIDED;
	if (p->copied && !orr_sys_has_payload(mpi->proc))
		p->form = ORR_FORM_CONTIGUOUS;
	return 0;
}

void orr_mpi_payload_done(struct orr_mpi_payload *p)
{
	if (p->free_type)
		p->free_type(&p->layout.type);
	p->free_type = NULL;
}

void orr_mpi_gather(struct orr_mpi *mpi, const struct orr_mpi_payload *p, char *buf)
{
	orr_assertf(p->form != ORR_FORM_PACKED, "what is packed already is gathered");
	orr_layout_gather(mpi->proc, &p->layout, p->ptr, buf);
}

void orr_mpi_scatter(struct orr_mpi *mpi, const struct orr_mpi_payload *p, const char *buf)
{
	orr_assertf(p->form != ORR_FORM_PACKED, "what is to be unpacked is scattered");
	orr_layout_scatter(mpi->proc, &p->layout, p->ptr, buf);
}

/* ---- registration ---- */

static int register_interface(int id, const struct orr_mpi_datatype *t)
{
	struct orr_mpi *mpi = orr_mpi_get("starpu_mpi_interface_datatype_register");

	if (!mpi)
		return -ENODEV;
	for (unsigned i = 0; i < mpi->types.n; i++)
		if (mpi->types.list[i].id == id) {
			mpi->types.list[i] = *t;
			return 0;
		}
	struct orr_mpi_datatype *types = realloc(mpi->types.list,
						 (mpi->types.n + 1) * sizeof(*types));
	if (!types)
		return -ENOMEM;
	mpi->types.list = types;
	types[mpi->types.n] = *t;
	ORR_ATOMIC_STORE(&mpi->types.n, mpi->types.n + 1);
	return 0;
}

static int register_handle(starpu_data_handle_t handle, const struct orr_mpi_datatype *t)
{
	struct orr_mpi *mpi = orr_mpi_get("starpu_mpi_datatype_register");
	struct orr_mpi_ext *ext = mpi ? orr_mpi_attach(mpi, handle) : NULL;

	if (!ext)
		return -ENODEV;
	if (!ext->type)
		ext->type = malloc(sizeof(*ext->type));
	if (!ext->type) {
		orr_error("out of memory for the datatype of data %s", orr_handle_name(handle));
		return -ENOMEM;
	}
	*ext->type = *t;
	return 0;
}

int starpu_mpi_interface_datatype_register(
	enum starpu_data_interface_id id,
	starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func)
{
	return register_interface(id,
				  &(struct orr_mpi_datatype){ .id = id,
							      .allocate = allocate_datatype_func,
							      .free = free_datatype_func });
}

int starpu_mpi_interface_datatype_node_register(
	enum starpu_data_interface_id id,
	starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func)
{
	return register_interface(
		id, &(struct orr_mpi_datatype){ .id = id,
						.node_allocate = allocate_datatype_func,
						.free = free_datatype_func });
}

int starpu_mpi_interface_datatype_unregister(enum starpu_data_interface_id id)
{
	return register_interface(id, &(struct orr_mpi_datatype){ .id = id });
}

int starpu_mpi_datatype_register(starpu_data_handle_t handle,
				 starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
				 starpu_mpi_datatype_free_func_t free_datatype_func)
{
	return register_handle(handle,
			       &(struct orr_mpi_datatype){ .allocate = allocate_datatype_func,
							   .free = free_datatype_func });
}

int starpu_mpi_datatype_node_register(
	starpu_data_handle_t handle,
	starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
	starpu_mpi_datatype_free_func_t free_datatype_func)
{
	return register_handle(handle,
			       &(struct orr_mpi_datatype){ .node_allocate = allocate_datatype_func,
							   .free = free_datatype_func });
}

int starpu_mpi_datatype_unregister(starpu_data_handle_t handle)
{
	struct orr_mpi_ext *ext = orr_mpi_ext(handle);

	if (ext) {
		free(ext->type);
		ext->type = NULL;
	}
	return 0;
}
