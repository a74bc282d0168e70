/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of built-in interfaces, and their functions beyond the public methods
 * (data/iface/iface.h).
 *
 * Invariant: the structures of a table of methods are those of a built-in interface exactly when
 * the interface registers handles by the built-in interface's method. */
#include "data/iface/iface_dense.h"
#include "data/iface/iface_parts.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct starpu_data_interface_ops *const builtin[STARPU_MAX_INTERFACE_ID] = {
	[STARPU_MATRIX_INTERFACE_ID] = &starpu_interface_matrix_ops,
	[STARPU_BLOCK_INTERFACE_ID] = &starpu_interface_block_ops,
	[STARPU_VECTOR_INTERFACE_ID] = &starpu_interface_vector_ops,
	[STARPU_CSR_INTERFACE_ID] = &starpu_interface_csr_ops,
	[STARPU_BCSR_INTERFACE_ID] = &starpu_interface_bcsr_ops,
	[STARPU_VARIABLE_INTERFACE_ID] = &starpu_interface_variable_ops,
	[STARPU_VOID_INTERFACE_ID] = &starpu_interface_void_ops,
	[STARPU_MULTIFORMAT_INTERFACE_ID] = &starpu_interface_multiformat_ops,
	[STARPU_COO_INTERFACE_ID] = &starpu_interface_coo_ops,
	[STARPU_TENSOR_INTERFACE_ID] = &starpu_interface_tensor_ops,
	[STARPU_NDIM_INTERFACE_ID] = &starpu_interface_ndim_ops,
};

enum family { DENSE, PARTS, MULTIFORMAT };

static enum family family_of(enum starpu_data_interface_id id)
{
	switch (id) {
	case STARPU_CSR_INTERFACE_ID:
	case STARPU_BCSR_INTERFACE_ID:
	case STARPU_COO_INTERFACE_ID:
	case STARPU_VOID_INTERFACE_ID: return PARTS;
	case STARPU_MULTIFORMAT_INTERFACE_ID: return MULTIFORMAT;
	default: return DENSE;
	}
}

struct starpu_data_interface_ops *orr_iface_ops(enum starpu_data_interface_id id)
{
	return (int) id >= 0 && id < STARPU_MAX_INTERFACE_ID ? builtin[id] : NULL;
}

/* A program copies a table of methods and changes some: what it leaves tells which one it was. The
 * number counts only as long as the registration is ours. */
static int is_variant(const struct starpu_data_interface_ops *ops,
		      const struct starpu_data_interface_ops *base)
{
	if (ops->register_data_handle != base->register_data_handle ||
	    ops->interface_size < base->interface_size)
		return 0;
	return ops->interfaceid == base->interfaceid ||
	       ops->allocate_data_on_node == base->allocate_data_on_node ||
	       ops->free_data_on_node == base->free_data_on_node ||
	       ops->to_pointer == base->to_pointer;
}

enum starpu_data_interface_id orr_iface_id(const struct starpu_data_interface_ops *ops)
{
	struct starpu_data_interface_ops *base = orr_iface_ops(ops->interfaceid);

	if (base && (base == ops || is_variant(ops, base)))
		return ops->interfaceid;
	for (int id = 0; id < STARPU_MAX_INTERFACE_ID; id++)
		if (builtin[id] && is_variant(ops, builtin[id]))
			return (enum starpu_data_interface_id) id;
	return STARPU_UNKNOWN_INTERFACE_ID;
}

int orr_iface_builtin(const struct starpu_data_interface_ops *ops)
{
	return orr_iface_id(ops) != STARPU_UNKNOWN_INTERFACE_ID;
}

void orr_iface_detach(struct starpu_data_interface_ops *ops, void *interface)
{
	struct starpu_multiformat_interface *m = interface;
	enum starpu_data_interface_id id = orr_iface_id(ops);

	switch (family_of(id)) {
	case DENSE: orr_dense_detach(id, interface); break;
	case PARTS: orr_parts_detach(id, interface); break;
	case MULTIFORMAT: m->cpu_ptr = m->cuda_ptr = m->opencl_ptr = NULL; break;
	}
}

void orr_iface_free_meta(struct starpu_data_interface_ops *ops, void *interface)
{
	struct starpu_ndim_interface *n = interface;

	if (orr_iface_id(ops) != STARPU_NDIM_INTERFACE_ID)
		return;
	free(n->nn);
	free(n->ldn);
	n->nn = n->ldn = NULL;
	n->ndim = 0;
}

int orr_iface_follow(struct starpu_data_interface_ops *ops, void *dst, void *src)
{
	enum starpu_data_interface_id id = orr_iface_id(ops);

	switch (family_of(id)) {
	case DENSE: return orr_dense_follow(id, dst, src);
	case PARTS: return orr_parts_follow(id, dst, src);
	default: return 0;
	}
}

void orr_iface_check_home(int home_node, const char *name)
{
	unsigned n = starpu_memory_nodes_get_count();

	if (orr_self()->state == ORR_PROCESS_DOWN)
		orr_fatal(
			"registration of %s data: the runtime is not started; call starpu_init first",
			name);
	if (home_node < -1 || (home_node >= 0 && (unsigned) home_node >= n))
		orr_fatal(
			"registration of %s data: there is no memory node %d; the home node is -1 (none) or below %u (starpu_memory_nodes_get_count)",
			name, home_node, n);
}

void *orr_iface_main(starpu_data_handle_t handle, enum starpu_data_interface_id id,
		     const char *caller)
{
	orr_handle_must_be_known(handle, caller);
	if (orr_iface_id(handle->ops) != id)
		orr_fatal("%s: %s is of the %s interface", caller, orr_handle_name(handle),
			  orr_interface_name(handle->ops));
	return orr_handle_iface(handle);
}
