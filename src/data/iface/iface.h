/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of built-in interfaces beyond their public methods.
 *
 * This folder stands below the rest of the data layer: it knows a handle as data/datum/datum.h has
 * it, and asks for anything else by the public functions, as the interface of a program does.
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

/* The built-in interface whose structures these methods work on: its own table, or a copy of it
 * that the program changed, perhaps with a number of its own. STARPU_UNKNOWN_INTERFACE_ID: none. */
enum starpu_data_interface_id orr_iface_id(const struct starpu_data_interface_ops *ops);
/* True if there is one (then the functions below marked [built-in] apply). */
int orr_iface_builtin(const struct starpu_data_interface_ops *ops);
/* The methods of the built-in interface of that number, NULL when there is none. */
struct starpu_data_interface_ops *orr_iface_ops(enum starpu_data_interface_id id);

/* [built-in] Takes a bitwise copy of another replicate's structure and makes it that of a node
 * without buffer: data pointers 0, leading dimensions those of a fresh allocation, meta-data of its
 * own. Allocates meta-data without looking at what the pointers held: call it once per copy. Aborts
 * after a message when memory is exhausted. */
void orr_iface_detach(struct starpu_data_interface_ops *ops, void *interface);
/* [built-in] Frees the structure's meta-data and clears their pointers; harmless when there are
 * none. Main memory's are freed by unregister_data_handle too. Call it, too, on the child_interface
 * that a filter filled, unless that structure lives on as a replicate's. */
void orr_iface_free_meta(struct starpu_data_interface_ops *ops, void *interface);

/* [built-in] Sizes may change in tasks (27.1). Gives dst the shape of src. Call it before dst is
 * allocated or written; the copy methods do it themselves. Without a buffer, dst also takes over
 * the allocation size. Returns 0, or -ENOSPC with dst untouched when dst has a buffer that cannot
 * hold the new shape: free it and call again. */
int orr_iface_follow(struct starpu_data_interface_ops *ops, void *dst, void *src);

/* Main memory's structure; ends the program when the handle has another interface than `id`, for
 * the accessor `caller`. */
void *orr_iface_main(starpu_data_handle_t handle, enum starpu_data_interface_id id,
		     const char *caller);
/* Defines a public function that returns a field of main memory's structure, for interface NAME. */
#define ORR_IFACE_GETTER(NAME, ID, TYPE, FUNCTION, FIELD) \
	TYPE FUNCTION(starpu_data_handle_t handle) \
	{ \
		struct starpu_##NAME##_interface *i = orr_iface_main(handle, ID, __func__); \
\
		return i->FIELD; \
	} \
	TYPE FUNCTION(starpu_data_handle_t handle) /* takes the semicolon */

/* Ends the program unless home_node is -1 or an existing memory node. */
void orr_iface_check_home(int home_node, const char *name);

#endif
