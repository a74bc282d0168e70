/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of built-in interfaces beyond their public methods, and the copy of a replicate of
 * any interface.
 *
 * A handle of a built-in interface keeps an interface structure only for the memory nodes that it
 * is used on. The structure of another node starts as a bitwise copy of main memory's, which
 * orr_iface_detach then makes independent. Meta-data (handbook 27.9.6) exist in the n-dimensional
 * interface alone: nn and ldn, two arrays from malloc per structure, owned by that structure.
 *
 * Invariant: no two structures share meta-data; between detach (or register, or a filter) and
 * free_meta a structure owns its own. */
#ifndef ORR_DATA_IFACE_H
#define ORR_DATA_IFACE_H

#include "base/process.h"
#include "data/memnode.h"

/* The built-in interface whose structures these methods work on: its own table, or a copy of it
 * that the program changed, perhaps with a number of its own. STARPU_UNKNOWN_INTERFACE_ID: none. */
enum starpu_data_interface_id orr_iface_id(const struct starpu_data_interface_ops *ops);
/* True if there is one (then the functions below marked [built-in] apply). */
int orr_iface_builtin(const struct starpu_data_interface_ops *ops);
/* The methods of the built-in interface of that number, NULL when there is none. */
struct starpu_data_interface_ops *orr_iface_ops(enum starpu_data_interface_id id);
/* Its name for messages, never NULL. */
const char *orr_iface_name(const struct starpu_data_interface_ops *ops);

/* [built-in] Takes a bitwise copy of another replicate's structure and makes it that of a node
 * without buffer: data pointers 0, leading dimensions those of a fresh allocation, meta-data of its
 * own. Allocates meta-data without looking at what the pointers held: call it once per copy. Aborts
 * after a message when memory is exhausted. */
void orr_iface_detach(struct starpu_data_interface_ops *ops, void *interface);
/* [built-in] Frees the structure's meta-data and clears their pointers; harmless when there are
 * none. Main memory's are freed by unregister_data_handle too. Call it, too, on the child_interface
 * that a filter filled, unless that structure lives on as a replicate's. */
void orr_iface_free_meta(struct starpu_data_interface_ops *ops, void *interface);

/* [built-in] Whether there is a buffer behind the structure (sizes 0 included). */
int orr_iface_has_buffer(struct starpu_data_interface_ops *ops, void *interface);

/* [built-in] Sizes may change in tasks (27.1). Gives dst the shape of src. Call it before dst is
 * allocated or written; the copy methods do it themselves. Without a buffer, dst also takes over
 * the allocation size. Returns 0, or -ENOSPC with dst untouched when dst has a buffer that cannot
 * hold the new shape: free it and call again. */
int orr_iface_follow(struct starpu_data_interface_ops *ops, void *dst, void *src);

/* Copies a replicate onto an allocated one: with the method for this pair of memory kinds,
 * any_to_any failing that. Returns 0, -EAGAIN (under way on chan), -ENOTSUP when the interface has
 * no method for the pair, or another negative errno. Adds to chan->bytes what went through
 * starpu_interface_copy and its kin: when it stays 0 the interface moved the data by its own means.
 */
int orr_iface_copy(struct starpu_data_interface_ops *ops, void *src, unsigned src_node, void *dst,
		   unsigned dst_node, struct orr_copy_channel *chan);
/* Where orr_iface_copy has no method for the pair: packs the value of src, whose structure on
 * src_node is src_iface, and unpacks it into dst. Both memories must be addressable. [waits]
 * Without locks; the caller holds both data. Returns 0, -ENOTSUP after a message if there is no
 * such way, -ENOSPC as orr_iface_follow, or another negative errno. */
int orr_iface_copy_packed(starpu_data_handle_t src, unsigned src_node, starpu_data_handle_t dst,
			  unsigned dst_node, void *src_iface, void *dst_iface);
/* True if orr_iface_copy has a method for the pair of memory nodes. */
int orr_iface_has_method(struct starpu_data_interface_ops *ops, unsigned src_node,
			 unsigned dst_node);
/* True if orr_iface_copy has a method for the pair and the interface's can_copy agrees; else go
 * through main memory. */
int orr_iface_can_copy(struct starpu_data_interface_ops *ops, void *src, unsigned src_node,
		       void *dst, unsigned dst_node, unsigned handling_node);

/* Multiformat (27.10). A replicate stores the format of its node's kind; a copy between kinds
 * leaves the data in the source's format in a staging buffer beside it, and a codelet run on the
 * destination converts. */
/* The codelet that makes node kind `to`'s format out of `from`'s, NULL when the formats are the
 * same. */
struct starpu_codelet *orr_iface_mf_codelet(void *interface, enum starpu_node_kind from,
					    enum starpu_node_kind to);
/* True if two nodes store different formats. */
int orr_iface_mf_differ(unsigned node, unsigned other);
/* Allocates dst's staging buffer for the format of src_node's kind, if missing. Bytes allocated, or
 * -ENOMEM. The copy does it itself. */
starpu_ssize_t orr_iface_mf_stage(void *interface, unsigned node, unsigned src_node);
/* Frees the structure's staging buffers, once converted. */
void orr_iface_mf_unstage(void *interface, unsigned node);

#endif
