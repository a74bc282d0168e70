/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Partitioning: a datum as pieces, each with a handle of its own, and back
 * (handbook 27.5, 27.8).
 *
 * Invariant: at any point of the submission order either a datum or its pieces
 * may be written, never both; pieces of one active partition do not overlap,
 * except for shadows, which are read-only.
 */
#ifndef STARPU_DATA_FILTERS_H
#define STARPU_DATA_FILTERS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_data_interfaces.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The way to cut a datum. Only read during the call that receives it, so it may live on the stack.
 */
struct starpu_data_filter {
	/* Describe piece `id` of `nparts` of the father: fill child_interface, id field included.
	 * Called for each node, with pointers zero where the father has no buffer. */
	void (*filter_func)(void *father_interface, void *child_interface,
			    struct starpu_data_filter *f, unsigned id, unsigned nparts);
	/* Number of pieces; get_nchildren, when set, is asked instead. */
	unsigned nchildren;
	unsigned (*get_nchildren)(struct starpu_data_filter *f,
				  starpu_data_handle_t initial_handle);
	/* Interface of piece `id`; the father's when NULL. */
	struct starpu_data_interface_ops *(*get_child_ops)(struct starpu_data_filter *f,
							   unsigned id);
	/* For filter_func. */
	unsigned filter_arg;
	void *filter_arg_ptr;
};

/* --- Synchronous partitioning -------------------------------------------------------- */

/* Blocking: wait for the tasks on the datum and cut it. Do not use the datum itself until it is
 * unpartitioned. */
void starpu_data_partition(starpu_data_handle_t initial_handle, struct starpu_data_filter *f);
/* Blocking: wait for the tasks on the pieces, gather them on `gathering_node`, free the pieces'
 * handles. */
void starpu_data_unpartition(starpu_data_handle_t root_data, unsigned gathering_node);
/* Cut recursively: first filter on the data, second on its pieces, and so on. */
void starpu_data_map_filters(starpu_data_handle_t root_data, unsigned nfilters, ...);
void starpu_data_vmap_filters(starpu_data_handle_t root_data, unsigned nfilters, va_list pa);
void starpu_data_map_filters_parray(starpu_data_handle_t root_data, int nfilters,
				    struct starpu_data_filter **filters);
void starpu_data_map_filters_array(starpu_data_handle_t root_data, int nfilters,
				   struct starpu_data_filter *filters);

/* Number of pieces of a datum; 0 when it is not cut. */
int starpu_data_get_nb_children(starpu_data_handle_t handle);
/* Piece i. It belongs to the father: do not unregister it. */
starpu_data_handle_t starpu_data_get_child(starpu_data_handle_t handle, unsigned i);
/* Piece at the given indices (unsigned), one per level, `depth` of them. */
starpu_data_handle_t starpu_data_get_sub_data(starpu_data_handle_t root_data, unsigned depth, ...);
starpu_data_handle_t starpu_data_vget_sub_data(starpu_data_handle_t root_data, unsigned depth,
					       va_list pa);

/* --- Asynchronous partitioning ------------------------------------------------------- */

/*
 * Create the handles of the pieces, in children[] (room for all of them; the
 * array stays the caller's), without cutting yet. A data may have several
 * plans, and pieces may have plans of their own. Tasks may use the data or any
 * pieces: the runtime then submits the switches below by itself, unless the
 * access has STARPU_NOPLAN.
 */
void starpu_data_partition_plan(starpu_data_handle_t initial_handle, struct starpu_data_filter *f,
				starpu_data_handle_t *children);
/* After the last use of a plan: wait for its tasks, gather (on node, main memory by default), free
 * the pieces' handles. Blocking. */
void starpu_data_partition_clean(starpu_data_handle_t root_data, unsigned nparts,
				 starpu_data_handle_t *children);
void starpu_data_partition_clean_node(starpu_data_handle_t root_data, unsigned nparts,
				      starpu_data_handle_t *children, int gather_node);

/*
 * Switches between a datum and the pieces of a plan, as steps of the submission
 * order; they return at once. children[] and nparts are those of the plan.
 * Readonly: data and pieces (also of several plans) may all be read. A
 * gathering_node of -1 leaves the place to the runtime.
 */
void starpu_data_partition_submit(starpu_data_handle_t initial_handle, unsigned nparts,
				  starpu_data_handle_t *children);
void starpu_data_partition_readonly_submit(starpu_data_handle_t initial_handle, unsigned nparts,
					   starpu_data_handle_t *children);
/* From read-only to read-write pieces and back; the other plans must be unpartitioned first. */
void starpu_data_partition_readwrite_upgrade_submit(starpu_data_handle_t initial_handle,
						    unsigned nparts,
						    starpu_data_handle_t *children);
void starpu_data_partition_readonly_downgrade_submit(starpu_data_handle_t initial_handle,
						     unsigned nparts,
						     starpu_data_handle_t *children);
void starpu_data_unpartition_submit(starpu_data_handle_t initial_handle, unsigned nparts,
				    starpu_data_handle_t *children, int gathering_node);
/* The data may be read again, the pieces too. */
void starpu_data_unpartition_readonly_submit(starpu_data_handle_t initial_handle, unsigned nparts,
					     starpu_data_handle_t *children, int gathering_node);

/* Same; sequential_consistency 0: do not wait for tasks submitted earlier.
 * callback_func(callback_arg) runs at the end. */
void starpu_data_partition_submit_sequential_consistency(starpu_data_handle_t initial_handle,
							 unsigned nparts,
							 starpu_data_handle_t *children,
							 int sequential_consistency);
void starpu_data_partition_readonly_submit_sequential_consistency(
	starpu_data_handle_t initial_handle, unsigned nparts, starpu_data_handle_t *children,
	int sequential_consistency);
void starpu_data_unpartition_submit_sequential_consistency(starpu_data_handle_t initial_handle,
							   unsigned nparts,
							   starpu_data_handle_t *children,
							   int gathering_node,
							   int sequential_consistency);
void starpu_data_unpartition_submit_sequential_consistency_cb(
	starpu_data_handle_t initial_handle, unsigned nparts, starpu_data_handle_t *children,
	int gathering_node, int sequential_consistency, void (*callback_func)(void *),
	void *callback_arg);

/* --- Predefined filters: values for filter_func -------------------------------------- */

/*
 * Common rules. Cutting n elements into nparts gives n / nparts each, one more
 * for the first n % nparts pieces. _shadow: neighbouring pieces overlap by
 * filter_arg_ptr elements, cast from uintptr_t, on each side; the father
 * includes that border, and the pieces must only be read. pick: piece id is the
 * slice or element at pos + id, pos being filter_arg_ptr cast from uintptr_t;
 * pick_variable of two or more dimensions takes an array of uint32_t positions
 * in filter_arg_ptr. A pick needs the get_child_ops of the same name.
 */

/*
 * Vector. divide_in_2: filter_arg elements, then the rest. list, list_long: filter_arg_ptr is an
 * array of nparts lengths (uint32_t / long) that add up to nx.
 */
void starpu_vector_filter_block(void *father_interface, void *child_interface,
				struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_vector_filter_block_shadow(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_vector_filter_divide_in_2(void *father_interface, void *child_interface,
				      struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_vector_filter_pick_variable(void *father_interface, void *child_interface,
					struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_vector_filter_list(void *father_interface, void *child_interface,
			       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_vector_filter_list_long(void *father_interface, void *child_interface,
				    struct starpu_data_filter *f, unsigned id, unsigned nparts);

/* Matrix: block cuts x, vertical_block cuts y; pick_vector_y gives column number pos + id. */
void starpu_matrix_filter_block(void *father_interface, void *child_interface,
				struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_matrix_filter_block_shadow(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_matrix_filter_vertical_block(void *father_interface, void *child_interface,
					 struct starpu_data_filter *f, unsigned id,
					 unsigned nparts);
void starpu_matrix_filter_vertical_block_shadow(void *father_interface, void *child_interface,
						struct starpu_data_filter *f, unsigned id,
						unsigned nparts);
void starpu_matrix_filter_pick_vector_y(void *father_interface, void *child_interface,
					struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_matrix_filter_pick_variable(void *father_interface, void *child_interface,
					struct starpu_data_filter *f, unsigned id, unsigned nparts);

/* Block: block cuts x, vertical_block y, depth_block z; pick_matrix_D gives the slice at pos + id
 * of dimension D. */
void starpu_block_filter_block(void *father_interface, void *child_interface,
			       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_block_filter_block_shadow(void *father_interface, void *child_interface,
				      struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_block_filter_vertical_block(void *father_interface, void *child_interface,
					struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_block_filter_vertical_block_shadow(void *father_interface, void *child_interface,
					       struct starpu_data_filter *f, unsigned id,
					       unsigned nparts);
void starpu_block_filter_depth_block(void *father_interface, void *child_interface,
				     struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_block_filter_depth_block_shadow(void *father_interface, void *child_interface,
					    struct starpu_data_filter *f, unsigned id,
					    unsigned nparts);
void starpu_block_filter_pick_matrix_y(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_block_filter_pick_variable(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_block_filter_pick_matrix_z(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);

/* Tensor: block cuts x, vertical_block y, depth_block z, time_block t; pick_block_D as above. */
void starpu_tensor_filter_block(void *father_interface, void *child_interface,
				struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_tensor_filter_block_shadow(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_tensor_filter_vertical_block(void *father_interface, void *child_interface,
					 struct starpu_data_filter *f, unsigned id,
					 unsigned nparts);
void starpu_tensor_filter_vertical_block_shadow(void *father_interface, void *child_interface,
						struct starpu_data_filter *f, unsigned id,
						unsigned nparts);
void starpu_tensor_filter_depth_block(void *father_interface, void *child_interface,
				      struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_tensor_filter_depth_block_shadow(void *father_interface, void *child_interface,
					     struct starpu_data_filter *f, unsigned id,
					     unsigned nparts);
void starpu_tensor_filter_time_block(void *father_interface, void *child_interface,
				     struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_tensor_filter_time_block_shadow(void *father_interface, void *child_interface,
					    struct starpu_data_filter *f, unsigned id,
					    unsigned nparts);
void starpu_tensor_filter_pick_block_z(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_tensor_filter_pick_variable(void *father_interface, void *child_interface,
					struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_tensor_filter_pick_block_t(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_tensor_filter_pick_block_y(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);

/*
 * N-dimensional: filter_arg is the dimension to cut or to pick from. to_X changes the interface of
 * a datum that has X's number of dimensions: one child, or nparts cut along filter_arg. pick_ndim
 * and Nd_pick_X drop the dimension filter_arg.
 */
void starpu_ndim_filter_block(void *father_interface, void *child_interface,
			      struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_block_shadow(void *father_interface, void *child_interface,
				     struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_to_tensor(void *father_interface, void *child_interface,
				  struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_to_block(void *father_interface, void *child_interface,
				 struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_to_matrix(void *father_interface, void *child_interface,
				  struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_to_vector(void *father_interface, void *child_interface,
				  struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_to_variable(void *father_interface, void *child_interface,
				    struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_pick_ndim(void *father_interface, void *child_interface,
				  struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_5d_pick_tensor(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_4d_pick_block(void *father_interface, void *child_interface,
				      struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_3d_pick_matrix(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_2d_pick_vector(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_ndim_filter_1d_pick_variable(void *father_interface, void *child_interface,
					 struct starpu_data_filter *f, unsigned id,
					 unsigned nparts);
void starpu_ndim_filter_pick_variable(void *father_interface, void *child_interface,
				      struct starpu_data_filter *f, unsigned id, unsigned nparts);

/* CSR: groups of rows. */
void starpu_csr_filter_vertical_block(void *father_interface, void *child_interface,
				      struct starpu_data_filter *f, unsigned id, unsigned nparts);

/* BCSR: single blocks (each child a matrix; needs the two companions below) / groups of block rows.
 */
void starpu_bcsr_filter_canonical_block(void *father_interface, void *child_interface,
					struct starpu_data_filter *f, unsigned id, unsigned nparts);
void starpu_bcsr_filter_vertical_block(void *father_interface, void *child_interface,
				       struct starpu_data_filter *f, unsigned id, unsigned nparts);

/* --- Companions: values for get_nchildren and get_child_ops -------------------------- */

unsigned starpu_bcsr_filter_canonical_block_get_nchildren(struct starpu_data_filter *f,
							  starpu_data_handle_t handle);
struct starpu_data_interface_ops *starpu_bcsr_filter_canonical_block_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_matrix_filter_pick_vector_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_matrix_filter_pick_variable_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_vector_filter_pick_variable_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_block_filter_pick_matrix_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_block_filter_pick_variable_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_tensor_filter_pick_block_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_tensor_filter_pick_variable_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_ndim_filter_pick_tensor_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_ndim_filter_pick_block_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_ndim_filter_pick_matrix_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_ndim_filter_pick_vector_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_ndim_filter_pick_variable_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_ndim_filter_to_tensor_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_ndim_filter_to_block_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_ndim_filter_to_matrix_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_ndim_filter_to_vector_child_ops(
	struct starpu_data_filter *f, unsigned child);
struct starpu_data_interface_ops *starpu_ndim_filter_to_variable_child_ops(
	struct starpu_data_filter *f, unsigned child);

/*
 * For filters: size (in elements) and offset (in bytes, `blocksize` elements of
 * elemsize bytes per step) of piece `id` when n is cut into nparts as above.
 */
void starpu_filter_nparts_compute_chunk_size_and_offset(unsigned n, unsigned nparts,
							size_t elemsize, unsigned id,
							unsigned blocksize, unsigned *chunk_size,
							size_t *offset);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
