/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies of a replicate of any interface to another memory node, by the interface's methods.
 *
 * Invariant: a copy is counted on its channel when a back end has accepted it, never twice. */
#ifndef ORR_DATA_COPY_METHOD_H
#define ORR_DATA_COPY_METHOD_H

#include "base/process.h"

struct orr_copy_channel;

/* Copies a replicate onto an allocated one: with the method for this pair of memory kinds,
 * any_to_any failing that. Returns 0, -EAGAIN (under way on chan), -ENOTSUP when the interface has
 * no method for the pair, or another negative errno. Adds to chan->bytes what went through
 * starpu_interface_copy and its kin: when it stays 0 the interface moved the data by its own means.
 */
int orr_copy_by_method(struct starpu_data_interface_ops *ops, void *src, unsigned src_node,
		       void *dst, unsigned dst_node, struct orr_copy_channel *chan);
/* The way that is left if orr_copy_by_method has no method for the pair: packs the value of src,
 * whose structure on src_node is src_iface, and unpacks it into dst. Both memories must be
 * addressable. [waits] Without locks; the caller holds both data. Returns 0, -ENOTSUP after a
 * message if there is no such way, -ENOSPC as orr_iface_follow, or another negative errno. */
int orr_copy_packed(starpu_data_handle_t src, unsigned src_node, starpu_data_handle_t dst,
		    unsigned dst_node, void *src_iface, void *dst_iface);
/* True if orr_copy_by_method has a method for the pair of memory nodes. */
int orr_copy_has_method(struct starpu_data_interface_ops *ops, unsigned src_node,
			unsigned dst_node);
/* True if orr_copy_by_method has a method for the pair and the interface's can_copy agrees; else go
 * through main memory. */
int orr_copy_is_possible(struct starpu_data_interface_ops *ops, void *src, unsigned src_node,
			 void *dst, unsigned dst_node, unsigned handling_node);

#endif
