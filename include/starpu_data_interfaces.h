/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Data interfaces: the shapes of data that the runtime can allocate, copy and
 * pack, and the methods by which a program adds its own (handbook 27.6 to 27.10).
 *
 * Invariant: an interface structure describes one replicate. All replicates of
 * a handle have the same shape; only pointers (ptr, dev_handle, offset) and
 * leading dimensions differ from one memory node to another.
 *
 * Layout: the first dimension, x, is contiguous. Element (x, y, z, t) lies at
 * ptr + (x + y*ldy + z*ldz + t*ldt) * elemsize, leading dimensions being counted
 * in elements (matrices: x is the row of a column-major matrix and ld is ldy).
 * ptr is dev_handle + offset where pointer arithmetic is possible; kernels on
 * devices where it is not use dev_handle and offset (27.7).
 *
 * *_data_register(): home_node is the memory node where the given buffer lies
 * (STARPU_MAIN_RAM for the program's own), or -1 with a zero pointer for data
 * that the runtime allocates at first use. The buffer stays the caller's and must
 * live until unregistration; arrays of dimensions are copied. *_get_local_*
 * describe the replicate in main memory, which the caller has acquired.
 */
#ifndef STARPU_DATA_INTERFACES_H
#define STARPU_DATA_INTERFACES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <starpu_config.h>
#include <starpu_data.h>

#ifdef STARPU_USE_CUDA
#include <cuda_runtime_api.h>
#endif
#ifdef STARPU_USE_OPENCL
#ifdef __APPLE__
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Stand for the SDKs' types, so that the structures below never change their layout. */
#ifdef STARPU_USE_CUDA
typedef cudaStream_t starpu_cudaStream_t;
#else
typedef void *starpu_cudaStream_t;
#endif
typedef void *starpu_hipStream_t;
#ifdef STARPU_USE_OPENCL
typedef cl_event starpu_cl_event_t;
#else
typedef void *starpu_cl_event_t;
#endif

struct starpu_multiformat_data_interface_ops;

/* === Defining an interface (27.9) ==================================================== */

enum starpu_data_interface_id {
	/* In a program's ops: the first registration replaces it by a fresh number. */
	STARPU_UNKNOWN_INTERFACE_ID = -1,
	STARPU_MATRIX_INTERFACE_ID = 0,
	STARPU_BLOCK_INTERFACE_ID = 1,
	STARPU_VECTOR_INTERFACE_ID = 2,
	STARPU_CSR_INTERFACE_ID = 3,
	STARPU_BCSR_INTERFACE_ID = 4,
	STARPU_VARIABLE_INTERFACE_ID = 5,
	STARPU_VOID_INTERFACE_ID = 6,
	STARPU_MULTIFORMAT_INTERFACE_ID = 7,
	STARPU_COO_INTERFACE_ID = 8,
	STARPU_TENSOR_INTERFACE_ID = 9,
	STARPU_NDIM_INTERFACE_ID = 10,
	STARPU_MAX_INTERFACE_ID = 11 /* first number for programs' interfaces */
};

/*
 * How to copy one replicate onto another; the destination is allocated. A
 * method returns 0 when the copy is complete, -EAGAIN when it was started and
 * will complete asynchronously, another negative errno on failure. Only
 * any_to_any is needed; a device-specific slot, where set, is preferred.
 */
struct starpu_data_copy_methods {
	/* Zero: this pair of nodes cannot be served directly by handling_node; the copy then goes
	 * through main memory. */
	int (*can_copy)(void *src_interface, unsigned src_node, void *dst_interface,
			unsigned dst_node, unsigned handling_node);

	/* Those with hip, max_fpga, mpi_ms or tcpip_ms in their names are never called: no memory
	 * of these kinds exists. The order is the one that lists of initialisers in C++ expect. */
	int (*ram_to_ram)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	int (*ram_to_cuda)(void *src_interface, unsigned src_node, void *dst_interface,
			   unsigned dst_node);
	int (*ram_to_hip)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	int (*ram_to_opencl)(void *src_interface, unsigned src_node, void *dst_interface,
			     unsigned dst_node);
	int (*ram_to_max_fpga)(void *src_interface, unsigned src_node, void *dst_interface,
			       unsigned dst_node);
	int (*cuda_to_ram)(void *src_interface, unsigned src_node, void *dst_interface,
			   unsigned dst_node);
	int (*cuda_to_cuda)(void *src_interface, unsigned src_node, void *dst_interface,
			    unsigned dst_node);
	int (*hip_to_ram)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	int (*hip_to_hip)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	int (*opencl_to_ram)(void *src_interface, unsigned src_node, void *dst_interface,
			     unsigned dst_node);
	int (*opencl_to_opencl)(void *src_interface, unsigned src_node, void *dst_interface,
				unsigned dst_node);
	int (*max_fpga_to_ram)(void *src_interface, unsigned src_node, void *dst_interface,
			       unsigned dst_node);

	int (*ram_to_cuda_async)(void *src_interface, unsigned src_node, void *dst_interface,
				 unsigned dst_node, starpu_cudaStream_t stream);
	int (*cuda_to_ram_async)(void *src_interface, unsigned src_node, void *dst_interface,
				 unsigned dst_node, starpu_cudaStream_t stream);
	int (*cuda_to_cuda_async)(void *src_interface, unsigned src_node, void *dst_interface,
				  unsigned dst_node, starpu_cudaStream_t stream);
	int (*ram_to_hip_async)(void *src_interface, unsigned src_node, void *dst_interface,
				unsigned dst_node, starpu_hipStream_t stream);
	int (*hip_to_ram_async)(void *src_interface, unsigned src_node, void *dst_interface,
				unsigned dst_node, starpu_hipStream_t stream);
	int (*hip_to_hip_async)(void *src_interface, unsigned src_node, void *dst_interface,
				unsigned dst_node, starpu_hipStream_t stream);
	int (*ram_to_opencl_async)(void *src_interface, unsigned src_node, void *dst_interface,
				   unsigned dst_node, starpu_cl_event_t *event);
	int (*opencl_to_ram_async)(void *src_interface, unsigned src_node, void *dst_interface,
				   unsigned dst_node, starpu_cl_event_t *event);
	int (*opencl_to_opencl_async)(void *src_interface, unsigned src_node, void *dst_interface,
				      unsigned dst_node, starpu_cl_event_t *event);
	int (*ram_to_max_fpga_async)(void *src_interface, unsigned src_node, void *dst_interface,
				     unsigned dst_node);
	int (*max_fpga_to_ram_async)(void *src_interface, unsigned src_node, void *dst_interface,
				     unsigned dst_node);

	/* Calls starpu_interface_copy() and its kin, passing async_data through. */
	int (*any_to_any)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node, void *async_data);

	/* Of older programs; never called. */
	int (*ram_to_mpi_ms)(void *src_interface, unsigned src_node, void *dst_interface,
			     unsigned dst_node);
	int (*mpi_ms_to_ram)(void *src_interface, unsigned src_node, void *dst_interface,
			     unsigned dst_node);
	int (*mpi_ms_to_mpi_ms)(void *src_interface, unsigned src_node, void *dst_interface,
				unsigned dst_node);
	int (*ram_to_mpi_ms_async)(void *src_interface, unsigned src_node, void *dst_interface,
				   unsigned dst_node, void *event);
	int (*mpi_ms_to_ram_async)(void *src_interface, unsigned src_node, void *dst_interface,
				   unsigned dst_node, void *event);
	int (*mpi_ms_to_mpi_ms_async)(void *src_interface, unsigned src_node, void *dst_interface,
				      unsigned dst_node, void *event);
	int (*ram_to_tcpip_ms)(void *src_interface, unsigned src_node, void *dst_interface,
			       unsigned dst_node);
	int (*tcpip_ms_to_ram)(void *src_interface, unsigned src_node, void *dst_interface,
			       unsigned dst_node);
	int (*tcpip_ms_to_tcpip_ms)(void *src_interface, unsigned src_node, void *dst_interface,
				    unsigned dst_node);
	int (*ram_to_tcpip_ms_async)(void *src_interface, unsigned src_node, void *dst_interface,
				     unsigned dst_node, void *event);
	int (*tcpip_ms_to_ram_async)(void *src_interface, unsigned src_node, void *dst_interface,
				     unsigned dst_node, void *event);
	int (*tcpip_ms_to_tcpip_ms_async)(void *src_interface, unsigned src_node,
					  void *dst_interface, unsigned dst_node, void *event);
};

/*
 * Methods of an interface. The structure stays the program's and must outlive
 * every handle that uses it. Needed: register_data_handle, allocate_data_on_node,
 * free_data_on_node, copy_methods, get_size, footprint, interfaceid,
 * interface_size. Methods may run in any thread, one at a time per handle; they
 * must not block nor call the blocking functions of starpu_data.h.
 */
struct starpu_data_interface_ops {
	/* Copy the description into the interface of every node, pointers only for home_node (-1:
	 * none). */
	void (*register_data_handle)(starpu_data_handle_t handle, int home_node,
				     void *data_interface);
	/* Free what register_data_handle allocated (meta-data, not the buffers). */
	void (*unregister_data_handle)(starpu_data_handle_t handle);
	/* Allocate with starpu_malloc_on_node() and store the pointers. Bytes allocated, or
	 * -ENOMEM. */
	starpu_ssize_t (*allocate_data_on_node)(void *data_interface, unsigned node);
	void (*free_data_on_node)(void *data_interface, unsigned node);
	/* Move buffers from src_interface to a cached description / from there to a handle's;
	 * memcpy when NULL. */
	void (*cache_data_on_node)(void *cached_interface, void *src_interface, unsigned node);
	void (*reuse_data_on_node)(void *dst_data_interface, const void *cached_interface,
				   unsigned node);
	/* Let dst reach src's buffer, which lies in main memory, instead of a copy / end that /
	 * make what was written through src visible in dst (either may be main memory). 0 or
	 * -errno; data are copied where map_data fails, or is NULL. Called only when enable_map of
	 * struct starpu_conf is set, and only for buffers of the program. The other two may be
	 * NULL. */
	int (*map_data)(void *src_interface, unsigned src_node, void *dst_interface,
			unsigned dst_node);
	int (*unmap_data)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	int (*update_map)(void *src_interface, unsigned src_node, void *dst_interface,
			  unsigned dst_node);
	/* Initialise a new interface structure, before register_data_handle. */
	void (*init)(void *data_interface);
	const struct starpu_data_copy_methods *copy_methods;
	/* Older and newer form of: the buffer's address on a node, NULL when it has none. */
	void *(*handle_to_pointer)(starpu_data_handle_t handle, unsigned node);
	void *(*to_pointer)(void *data_interface, unsigned node);
	/* Bytes in use / allocated (get_size when NULL) / that may ever be allocated. */
	size_t (*get_size)(starpu_data_handle_t handle);
	size_t (*get_alloc_size)(starpu_data_handle_t handle);
	size_t (*get_max_size)(starpu_data_handle_t handle);
	/* Hash of the shape, for performance models / of the allocation, for its cache (footprint
	 * when NULL). */
	uint32_t (*footprint)(starpu_data_handle_t handle);
	uint32_t (*alloc_footprint)(starpu_data_handle_t handle);
	/* Non-zero when the two have the same shape / the same allocation (compare when NULL). */
	int (*compare)(void *data_interface_a, void *data_interface_b);
	int (*alloc_compare)(void *data_interface_a, void *data_interface_b);
	/* Print the shape, for performance model tools / put a short text in buf and return as
	 * snprintf() does. */
	void (*display)(starpu_data_handle_t handle, FILE *f);
	starpu_ssize_t (*describe)(void *data_interface, char *buf, size_t size);
	enum starpu_data_interface_id interfaceid;
	size_t interface_size; /* sizeof the interface structure */
	char is_multiformat;   /* internal: get_mf_ops is set */
	char dontcache;        /* 1: never reuse allocations, sizes may change (27.1) */
	struct starpu_multiformat_data_interface_ops *(*get_mf_ops)(void *data_interface);
	/*
	 * Serialise: pack_data gives the size in *count and, when ptr is not NULL, a
	 * buffer from starpu_malloc_on_node_flags(node, *count, 0); peek_data reads
	 * such a buffer back; unpack_data also frees it. 0 or -errno.
	 */
	int (*pack_data)(starpu_data_handle_t handle, unsigned node, void **ptr,
			 starpu_ssize_t *count);
	int (*peek_data)(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count);
	int (*unpack_data)(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count);
	/* Same for the description itself. */
	int (*pack_meta)(void *data_interface, void **ptr, starpu_ssize_t *count);
	int (*unpack_meta)(void **data_interface, void *ptr, starpu_ssize_t *count);
	int (*free_meta)(void *data_interface);
	const char *name; /* for messages */
};

/* A number for a program's interface: the next one, from STARPU_MAX_INTERFACE_ID on. */
int starpu_data_interface_get_next_id(void);

/*
 * For copy methods: copy `size` bytes, or numblocks blocks of blocksize bytes
 * that are ld_* bytes apart, and so on up to n dimensions (copynd: nn and ldn in
 * elements, ndim entries each). 0: done; -EAGAIN: under way, and the runtime
 * learns of the end through async_data; with async_data NULL the copy is
 * synchronous.
 */
int starpu_interface_copy(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			  size_t dst_offset, unsigned dst_node, size_t size, void *async_data);
int starpu_interface_copy2d(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			    size_t dst_offset, unsigned dst_node, size_t blocksize,
			    size_t numblocks, size_t ld_src, size_t ld_dst, void *async_data);
int starpu_interface_copy3d(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			    size_t dst_offset, unsigned dst_node, size_t blocksize,
			    size_t numblocks1, size_t ld1_src, size_t ld1_dst, size_t numblocks2,
			    size_t ld2_src, size_t ld2_dst, void *async_data);
int starpu_interface_copy4d(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			    size_t dst_offset, unsigned dst_node, size_t blocksize,
			    size_t numblocks1, size_t ld1_src, size_t ld1_dst, size_t numblocks2,
			    size_t ld2_src, size_t ld2_dst, size_t numblocks3, size_t ld3_src,
			    size_t ld3_dst, void *async_data);
int starpu_interface_copynd(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			    size_t dst_offset, unsigned dst_node, size_t elemsize, size_t ndim,
			    uint32_t *nn, uint32_t *ldn_src, uint32_t *ldn_dst, void *async_data);

/*
 * For map methods (map_data and its relatives). map: the address by which units
 * of dst_node reach `size` bytes at src + src_offset in main memory (src_node);
 * *ret (may be NULL) is 0, or with 0 returned -EOPNOTSUPP where memory cannot be
 * mapped to dst_node (a method returns that, and data are copied), or -EINVAL
 * after a message. unmap: ends that. update_map: makes what was written through
 * one of the two visible to the other. They return 0, or -EINVAL after a message
 * when dst is no map of src. Fake and simulated CUDA devices can be mapped to;
 * fake OpenCL devices, disks and other NUMA nodes cannot. Any thread.
 */
uintptr_t starpu_interface_map(uintptr_t src, size_t src_offset, unsigned src_node,
			       unsigned dst_node, size_t size, int *ret);
int starpu_interface_unmap(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
			   unsigned dst_node, size_t size);
int starpu_interface_update_map(uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst,
				size_t dst_offset, unsigned dst_node, size_t size);

/* For copy methods that call a device's library themselves: record the submission (*start, µs), its
 * end, and the volume (bytes). */
void starpu_interface_start_driver_copy_async(unsigned src_node, unsigned dst_node, double *start);
void starpu_interface_end_driver_copy_async(unsigned src_node, unsigned dst_node, double start);
void starpu_interface_data_copy(unsigned src_node, unsigned dst_node, size_t size);

/* === Handles of any interface (27.6) ================================================= */

/* Register what data_interface (copied) describes. -1 and 0 pointers: no home node. */
void starpu_data_register(starpu_data_handle_t *handleptr, int home_node, void *data_interface,
			  struct starpu_data_interface_ops *ops);
/* Give a program's interface its number before any handle exists, e.g. to agree on it between
 * ranks. */
void starpu_data_register_ops(struct starpu_data_interface_ops *ops);
/* Tell that `node` holds a buffer, whose pointers are already in the node's interface; see
 * *_ptr_register(). */
void starpu_data_ptr_register(starpu_data_handle_t handle, unsigned node);
/* A new handle of the same interface and shape, without value nor home node. */
void starpu_data_register_same(starpu_data_handle_t *handledst, starpu_data_handle_t handlesrc);

/* Address of the buffer on `node` / on main memory, as the interface defines it; NULL when there is
 * none. */
void *starpu_data_handle_to_pointer(starpu_data_handle_t handle, unsigned node);
void *starpu_data_get_local_ptr(starpu_data_handle_t handle);
/* Interface structure of the replicate on that node; owned by the handle. It may move when the
 * handle is used: do not keep it. */
void *starpu_data_get_interface_on_node(starpu_data_handle_t handle, unsigned memory_node);
enum starpu_data_interface_id starpu_data_get_interface_id(starpu_data_handle_t handle);

/*
 * Serialise the replicate on a node (main memory without _node), which the
 * caller has acquired. pack stores in *ptr a new buffer of *count bytes, which
 * the caller frees by starpu_free_on_node_flags(node, ptr, count, 0), or, with
 * ptr NULL, only the size. unpack frees the buffer, peek does not. 0, or
 * -ENOTSUP: the interface cannot; -EINVAL: no buffer there, a count that does
 * not fit the shape, or a NULL pointer.
 */
int starpu_data_pack_node(starpu_data_handle_t handle, unsigned node, void **ptr,
			  starpu_ssize_t *count);
int starpu_data_pack(starpu_data_handle_t handle, void **ptr, starpu_ssize_t *count);
int starpu_data_peek_node(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count);
int starpu_data_peek(starpu_data_handle_t handle, void *ptr, size_t count);
int starpu_data_unpack_node(starpu_data_handle_t handle, unsigned node, void *ptr, size_t count);
int starpu_data_unpack(starpu_data_handle_t handle, void *ptr, size_t count);

/* Bytes: of the value, of its allocation, of the largest allocation (-1: unbounded). */
size_t starpu_data_get_size(starpu_data_handle_t handle);
size_t starpu_data_get_alloc_size(starpu_data_handle_t handle);
starpu_ssize_t starpu_data_get_max_size(starpu_data_handle_t handle);
/* Node where the data was registered, -1 when none. */
int starpu_data_get_home_node(starpu_data_handle_t handle);
/* One line about the replicate on `node`; stream NULL: standard error. */
void starpu_data_print(starpu_data_handle_t handle, unsigned node, FILE *stream);

/* === Predefined interfaces =========================================================== */

/*
 * For each: its structure; register; ptr_register (gives the handle a buffer of the
 * program on one more node; the program frees it after unregistration); get_*
 * (of a handle: the shape, and pointers and leading dimensions in main memory);
 * GET_* and SET_* (of the interface pointer that a kernel or a filter receives).
 * The SET_* must stay within the original allocation.
 */

/* One element of any size. */
struct starpu_variable_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	size_t elemsize; /* bytes */
};
extern struct starpu_data_interface_ops starpu_interface_variable_ops;

void starpu_variable_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr,
				   size_t size);
void starpu_variable_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				  uintptr_t dev_handle, size_t offset);
size_t starpu_variable_get_elemsize(starpu_data_handle_t handle);
uintptr_t starpu_variable_get_local_ptr(starpu_data_handle_t handle);

#define STARPU_VARIABLE_GET_PTR(interface) (((struct starpu_variable_interface *) (interface))->ptr)
#define STARPU_VARIABLE_GET_OFFSET(interface) \
	(((struct starpu_variable_interface *) (interface))->offset)
#define STARPU_VARIABLE_GET_ELEMSIZE(interface) \
	(((struct starpu_variable_interface *) (interface))->elemsize)
#define STARPU_VARIABLE_GET_DEV_HANDLE(interface) \
	(((struct starpu_variable_interface *) (interface))->dev_handle)

/* nx contiguous elements. */
struct starpu_vector_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	uint32_t nx;
	size_t elemsize;     /* bytes */
	uint32_t slice_base; /* index of the first element in the vector that filters divided */
	size_t allocsize;    /* bytes allocated, >= nx*elemsize (27.1) */
};
extern struct starpu_data_interface_ops starpu_interface_vector_ops;

void starpu_vector_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr,
				 uint32_t nx, size_t elemsize);
void starpu_vector_data_register_allocsize(starpu_data_handle_t *handle, int home_node,
					   uintptr_t ptr, uint32_t nx, size_t elemsize,
					   size_t allocsize);
void starpu_vector_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset);
uint32_t starpu_vector_get_nx(starpu_data_handle_t handle);
size_t starpu_vector_get_elemsize(starpu_data_handle_t handle);
size_t starpu_vector_get_allocsize(starpu_data_handle_t handle);
uintptr_t starpu_vector_get_local_ptr(starpu_data_handle_t handle);

#define STARPU_VECTOR_GET_PTR(interface) (((struct starpu_vector_interface *) (interface))->ptr)
#define STARPU_VECTOR_GET_DEV_HANDLE(interface) \
	(((struct starpu_vector_interface *) (interface))->dev_handle)
#define STARPU_VECTOR_GET_OFFSET(interface) \
	(((struct starpu_vector_interface *) (interface))->offset)
#define STARPU_VECTOR_GET_NX(interface) (((struct starpu_vector_interface *) (interface))->nx)
#define STARPU_VECTOR_GET_ELEMSIZE(interface) \
	(((struct starpu_vector_interface *) (interface))->elemsize)
#define STARPU_VECTOR_GET_ALLOCSIZE(interface) \
	(((struct starpu_vector_interface *) (interface))->allocsize)
#define STARPU_VECTOR_GET_SLICE_BASE(interface) \
	(((struct starpu_vector_interface *) (interface))->slice_base)
#define STARPU_VECTOR_SET_NX(interface, newnx) \
	do { \
		STARPU_VECTOR_GET_NX(interface) = (newnx); \
	} while (0)

/* nx by ny elements, nx contiguous; ld elements from one column to the next. */
struct starpu_matrix_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	uint32_t nx;
	uint32_t ny;
	uint32_t ld;
	size_t elemsize;  /* bytes */
	size_t allocsize; /* bytes allocated (27.1) */
};
extern struct starpu_data_interface_ops starpu_interface_matrix_ops;

void starpu_matrix_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr,
				 uint32_t ld, uint32_t nx, uint32_t ny, size_t elemsize);
void starpu_matrix_data_register_allocsize(starpu_data_handle_t *handle, int home_node,
					   uintptr_t ptr, uint32_t ld, uint32_t nx, uint32_t ny,
					   size_t elemsize, size_t allocsize);
void starpu_matrix_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset, uint32_t ld);
uint32_t starpu_matrix_get_nx(starpu_data_handle_t handle);
uint32_t starpu_matrix_get_ny(starpu_data_handle_t handle);
uint32_t starpu_matrix_get_local_ld(starpu_data_handle_t handle);
uintptr_t starpu_matrix_get_local_ptr(starpu_data_handle_t handle);
size_t starpu_matrix_get_elemsize(starpu_data_handle_t handle);
size_t starpu_matrix_get_allocsize(starpu_data_handle_t handle);

#define STARPU_MATRIX_GET_PTR(interface) (((struct starpu_matrix_interface *) (interface))->ptr)
#define STARPU_MATRIX_GET_DEV_HANDLE(interface) \
	(((struct starpu_matrix_interface *) (interface))->dev_handle)
#define STARPU_MATRIX_GET_OFFSET(interface) \
	(((struct starpu_matrix_interface *) (interface))->offset)
#define STARPU_MATRIX_GET_NX(interface) (((struct starpu_matrix_interface *) (interface))->nx)
#define STARPU_MATRIX_GET_NY(interface) (((struct starpu_matrix_interface *) (interface))->ny)
#define STARPU_MATRIX_GET_LD(interface) (((struct starpu_matrix_interface *) (interface))->ld)
#define STARPU_MATRIX_GET_ELEMSIZE(interface) \
	(((struct starpu_matrix_interface *) (interface))->elemsize)
#define STARPU_MATRIX_GET_ALLOCSIZE(interface) \
	(((struct starpu_matrix_interface *) (interface))->allocsize)
#define STARPU_MATRIX_SET_NX(interface, newnx) \
	do { \
		STARPU_MATRIX_GET_NX(interface) = (newnx); \
	} while (0)
#define STARPU_MATRIX_SET_NY(interface, newny) \
	do { \
		STARPU_MATRIX_GET_NY(interface) = (newny); \
	} while (0)
#define STARPU_MATRIX_SET_LD(interface, newld) \
	do { \
		STARPU_MATRIX_GET_LD(interface) = (newld); \
	} while (0)

/* nx by ny by nz elements. */
struct starpu_block_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	uint32_t nx;
	uint32_t ny;
	uint32_t nz;
	uint32_t ldy;
	uint32_t ldz;
	size_t elemsize; /* bytes */
};
extern struct starpu_data_interface_ops starpu_interface_block_ops;

void starpu_block_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr,
				uint32_t ldy, uint32_t ldz, uint32_t nx, uint32_t ny, uint32_t nz,
				size_t elemsize);
void starpu_block_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
			       uintptr_t dev_handle, size_t offset, uint32_t ldy, uint32_t ldz);
uint32_t starpu_block_get_nx(starpu_data_handle_t handle);
uint32_t starpu_block_get_ny(starpu_data_handle_t handle);
uint32_t starpu_block_get_nz(starpu_data_handle_t handle);
uint32_t starpu_block_get_local_ldy(starpu_data_handle_t handle);
uint32_t starpu_block_get_local_ldz(starpu_data_handle_t handle);
uintptr_t starpu_block_get_local_ptr(starpu_data_handle_t handle);
size_t starpu_block_get_elemsize(starpu_data_handle_t handle);

#define STARPU_BLOCK_GET_PTR(interface) (((struct starpu_block_interface *) (interface))->ptr)
#define STARPU_BLOCK_GET_DEV_HANDLE(interface) \
	(((struct starpu_block_interface *) (interface))->dev_handle)
#define STARPU_BLOCK_GET_OFFSET(interface) (((struct starpu_block_interface *) (interface))->offset)
#define STARPU_BLOCK_GET_NX(interface) (((struct starpu_block_interface *) (interface))->nx)
#define STARPU_BLOCK_GET_NY(interface) (((struct starpu_block_interface *) (interface))->ny)
#define STARPU_BLOCK_GET_NZ(interface) (((struct starpu_block_interface *) (interface))->nz)
#define STARPU_BLOCK_GET_LDY(interface) (((struct starpu_block_interface *) (interface))->ldy)
#define STARPU_BLOCK_GET_LDZ(interface) (((struct starpu_block_interface *) (interface))->ldz)
#define STARPU_BLOCK_GET_ELEMSIZE(interface) \
	(((struct starpu_block_interface *) (interface))->elemsize)

/* nx by ny by nz by nt elements. */
struct starpu_tensor_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	uint32_t nx;
	uint32_t ny;
	uint32_t nz;
	uint32_t nt;
	uint32_t ldy;
	uint32_t ldz;
	uint32_t ldt;
	size_t elemsize; /* bytes */
};
extern struct starpu_data_interface_ops starpu_interface_tensor_ops;

void starpu_tensor_data_register(starpu_data_handle_t *handle, int home_node, uintptr_t ptr,
				 uint32_t ldy, uint32_t ldz, uint32_t ldt, uint32_t nx, uint32_t ny,
				 uint32_t nz, uint32_t nt, size_t elemsize);
void starpu_tensor_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
				uintptr_t dev_handle, size_t offset, uint32_t ldy, uint32_t ldz,
				uint32_t ldt);
uint32_t starpu_tensor_get_nx(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_ny(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_nz(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_nt(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_local_ldy(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_local_ldz(starpu_data_handle_t handle);
uint32_t starpu_tensor_get_local_ldt(starpu_data_handle_t handle);
uintptr_t starpu_tensor_get_local_ptr(starpu_data_handle_t handle);
size_t starpu_tensor_get_elemsize(starpu_data_handle_t handle);

#define STARPU_TENSOR_GET_PTR(interface) (((struct starpu_tensor_interface *) (interface))->ptr)
#define STARPU_TENSOR_GET_DEV_HANDLE(interface) \
	(((struct starpu_tensor_interface *) (interface))->dev_handle)
#define STARPU_TENSOR_GET_OFFSET(interface) \
	(((struct starpu_tensor_interface *) (interface))->offset)
#define STARPU_TENSOR_GET_NX(interface) (((struct starpu_tensor_interface *) (interface))->nx)
#define STARPU_TENSOR_GET_NY(interface) (((struct starpu_tensor_interface *) (interface))->ny)
#define STARPU_TENSOR_GET_NZ(interface) (((struct starpu_tensor_interface *) (interface))->nz)
#define STARPU_TENSOR_GET_NT(interface) (((struct starpu_tensor_interface *) (interface))->nt)
#define STARPU_TENSOR_GET_LDY(interface) (((struct starpu_tensor_interface *) (interface))->ldy)
#define STARPU_TENSOR_GET_LDZ(interface) (((struct starpu_tensor_interface *) (interface))->ldz)
#define STARPU_TENSOR_GET_LDT(interface) (((struct starpu_tensor_interface *) (interface))->ldt)
#define STARPU_TENSOR_GET_ELEMSIZE(interface) \
	(((struct starpu_tensor_interface *) (interface))->elemsize)

/*
 * ndim dimensions: nn[i] elements, ldn[i] elements apart, ldn[0] = 1. nn and ldn are meta-data
 * owned by the handle (27.9.6); allocsize lets a cached allocation be freed without them.
 */
struct starpu_ndim_interface {
	enum starpu_data_interface_id id;
	uintptr_t ptr;
	uintptr_t dev_handle;
	size_t offset;
	size_t allocsize; /* bytes allocated */
	uint32_t *nn;
	uint32_t *ldn;
	size_t ndim;
	size_t elemsize; /* bytes */
};
extern struct starpu_data_interface_ops starpu_interface_ndim_ops;

void starpu_ndim_data_register(starpu_data_handle_t *handleptr, int home_node, uintptr_t ptr,
			       uint32_t *ldn, uint32_t *nn, size_t ndim, size_t elemsize);
uint32_t *starpu_ndim_get_nn(starpu_data_handle_t handle);
uint32_t *starpu_ndim_get_local_ldn(starpu_data_handle_t handle);
uintptr_t starpu_ndim_get_local_ptr(starpu_data_handle_t handle);
void starpu_ndim_ptr_register(starpu_data_handle_t handle, unsigned node, uintptr_t ptr,
			      uintptr_t dev_handle, size_t offset, uint32_t *ldn);
uint32_t starpu_ndim_get_ni(starpu_data_handle_t handle, size_t i);
uint32_t starpu_ndim_get_local_ldi(starpu_data_handle_t handle, size_t i);
size_t starpu_ndim_get_ndim(starpu_data_handle_t handle);
size_t starpu_ndim_get_elemsize(starpu_data_handle_t handle);

#define STARPU_NDIM_GET_PTR(interface) (((struct starpu_ndim_interface *) (interface))->ptr)
#define STARPU_NDIM_GET_DEV_HANDLE(interface) \
	(((struct starpu_ndim_interface *) (interface))->dev_handle)
#define STARPU_NDIM_GET_OFFSET(interface) (((struct starpu_ndim_interface *) (interface))->offset)
#define STARPU_NDIM_GET_NN(interface) (((struct starpu_ndim_interface *) (interface))->nn)
#define STARPU_NDIM_GET_LDN(interface) (((struct starpu_ndim_interface *) (interface))->ldn)
#define STARPU_NDIM_GET_NDIM(interface) (((struct starpu_ndim_interface *) (interface))->ndim)
#define STARPU_NDIM_GET_ELEMSIZE(interface) \
	(((struct starpu_ndim_interface *) (interface))->elemsize)

/*
 * Compressed rows: row i holds the entries [rowptr[i], rowptr[i+1]) - firstentry of nzval and
 * colind (nnz of each); rowptr has nrow + 1 entries. All three are data pointers and follow the
 * value to each node.
 */
struct starpu_csr_interface {
	enum starpu_data_interface_id id;
	uint32_t nnz;
	uint32_t nrow;
	uintptr_t nzval;
	uint32_t *colind;
	uint32_t *rowptr;
	uint32_t firstentry;  /* 0, or 1 in Fortran; the first entry of a child */
	uint32_t *ram_colind; /* the copies in main memory, for filters */
	uint32_t *ram_rowptr;
	size_t elemsize; /* bytes */
};
extern struct starpu_data_interface_ops starpu_interface_csr_ops;

void starpu_csr_data_register(starpu_data_handle_t *handle, int home_node, uint32_t nnz,
			      uint32_t nrow, uintptr_t nzval, uint32_t *colind, uint32_t *rowptr,
			      uint32_t firstentry, size_t elemsize);
uint32_t starpu_csr_get_nnz(starpu_data_handle_t handle);
uint32_t starpu_csr_get_nrow(starpu_data_handle_t handle);
uint32_t starpu_csr_get_firstentry(starpu_data_handle_t handle);
uintptr_t starpu_csr_get_local_nzval(starpu_data_handle_t handle);
uint32_t *starpu_csr_get_local_colind(starpu_data_handle_t handle);
uint32_t *starpu_csr_get_local_rowptr(starpu_data_handle_t handle);
size_t starpu_csr_get_elemsize(starpu_data_handle_t handle);

#define STARPU_CSR_GET_NNZ(interface) (((struct starpu_csr_interface *) (interface))->nnz)
#define STARPU_CSR_GET_NROW(interface) (((struct starpu_csr_interface *) (interface))->nrow)
#define STARPU_CSR_GET_NZVAL(interface) (((struct starpu_csr_interface *) (interface))->nzval)
#define STARPU_CSR_GET_COLIND(interface) (((struct starpu_csr_interface *) (interface))->colind)
#define STARPU_CSR_GET_RAM_COLIND(interface) \
	(((struct starpu_csr_interface *) (interface))->ram_colind)
#define STARPU_CSR_GET_ROWPTR(interface) (((struct starpu_csr_interface *) (interface))->rowptr)
#define STARPU_CSR_GET_RAM_ROWPTR(interface) \
	(((struct starpu_csr_interface *) (interface))->ram_rowptr)
#define STARPU_CSR_GET_FIRSTENTRY(interface) \
	(((struct starpu_csr_interface *) (interface))->firstentry)
#define STARPU_CSR_GET_ELEMSIZE(interface) (((struct starpu_csr_interface *) (interface))->elemsize)
#define STARPU_CSR_GET_NZVAL_DEV_HANDLE(interface) \
	(((struct starpu_csr_interface *) (interface))->nzval)
#define STARPU_CSR_GET_COLIND_DEV_HANDLE(interface) \
	(((struct starpu_csr_interface *) (interface))->colind)
#define STARPU_CSR_GET_ROWPTR_DEV_HANDLE(interface) \
	(((struct starpu_csr_interface *) (interface))->rowptr)
#define STARPU_CSR_GET_OFFSET 0 /* each array has an allocation of its own */

/*
 * Compressed rows of dense r by c blocks: as CSR, nnz and nrow counting blocks and block rows,
 * nzval holding nnz blocks of r*c elements.
 */
struct starpu_bcsr_interface {
	enum starpu_data_interface_id id;
	uint32_t nnz;
	uint32_t nrow;
	uintptr_t nzval;
	uint32_t *colind;
	uint32_t *rowptr;
	uint32_t firstentry;
	uint32_t *ram_colind;
	uint32_t *ram_rowptr;
	uint32_t r;      /* rows of a block */
	uint32_t c;      /* columns of a block */
	size_t elemsize; /* bytes */
};
extern struct starpu_data_interface_ops starpu_interface_bcsr_ops;

void starpu_bcsr_data_register(starpu_data_handle_t *handle, int home_node, uint32_t nnz,
			       uint32_t nrow, uintptr_t nzval, uint32_t *colind, uint32_t *rowptr,
			       uint32_t firstentry, uint32_t r, uint32_t c, size_t elemsize);
uint32_t starpu_bcsr_get_nnz(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_nrow(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_firstentry(starpu_data_handle_t handle);
uintptr_t starpu_bcsr_get_local_nzval(starpu_data_handle_t handle);
uint32_t *starpu_bcsr_get_local_colind(starpu_data_handle_t handle);
uint32_t *starpu_bcsr_get_local_rowptr(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_r(starpu_data_handle_t handle);
uint32_t starpu_bcsr_get_c(starpu_data_handle_t handle);
size_t starpu_bcsr_get_elemsize(starpu_data_handle_t handle);

#define STARPU_BCSR_GET_NNZ(interface) (((struct starpu_bcsr_interface *) (interface))->nnz)
#define STARPU_BCSR_GET_NROW(interface) (((struct starpu_bcsr_interface *) (interface))->nrow)
#define STARPU_BCSR_GET_NZVAL(interface) (((struct starpu_bcsr_interface *) (interface))->nzval)
#define STARPU_BCSR_GET_COLIND(interface) (((struct starpu_bcsr_interface *) (interface))->colind)
#define STARPU_BCSR_GET_RAM_COLIND(interface) \
	(((struct starpu_bcsr_interface *) (interface))->ram_colind)
#define STARPU_BCSR_GET_ROWPTR(interface) (((struct starpu_bcsr_interface *) (interface))->rowptr)
#define STARPU_BCSR_GET_RAM_ROWPTR(interface) \
	(((struct starpu_bcsr_interface *) (interface))->ram_rowptr)
#define STARPU_BCSR_GET_FIRSTENTRY(interface) \
	(((struct starpu_bcsr_interface *) (interface))->firstentry)
#define STARPU_BCSR_GET_R(interface) (((struct starpu_bcsr_interface *) (interface))->r)
#define STARPU_BCSR_GET_C(interface) (((struct starpu_bcsr_interface *) (interface))->c)
#define STARPU_BCSR_GET_ELEMSIZE(interface) \
	(((struct starpu_bcsr_interface *) (interface))->elemsize)
#define STARPU_BCSR_GET_NZVAL_DEV_HANDLE(interface) \
	(((struct starpu_bcsr_interface *) (interface))->nzval)
#define STARPU_BCSR_GET_COLIND_DEV_HANDLE(interface) \
	(((struct starpu_bcsr_interface *) (interface))->colind)
#define STARPU_BCSR_GET_ROWPTR_DEV_HANDLE(interface) \
	(((struct starpu_bcsr_interface *) (interface))->rowptr)
#define STARPU_BCSR_GET_OFFSET 0 /* each array has an allocation of its own */

/* Coordinates: n_values triplets (columns[i], rows[i], values[i]) of an nx by ny matrix; all three
 * are data pointers. */
struct starpu_coo_interface {
	enum starpu_data_interface_id id;
	uint32_t *columns;
	uint32_t *rows;
	uintptr_t values;
	uint32_t nx;
	uint32_t ny;
	uint32_t n_values;
	size_t elemsize; /* bytes */
};
extern struct starpu_data_interface_ops starpu_interface_coo_ops;

void starpu_coo_data_register(starpu_data_handle_t *handleptr, int home_node, uint32_t nx,
			      uint32_t ny, uint32_t n_values, uint32_t *columns, uint32_t *rows,
			      uintptr_t values, size_t elemsize);

#define STARPU_COO_GET_COLUMNS(interface) (((struct starpu_coo_interface *) (interface))->columns)
#define STARPU_COO_GET_ROWS(interface) (((struct starpu_coo_interface *) (interface))->rows)
#define STARPU_COO_GET_VALUES(interface) (((struct starpu_coo_interface *) (interface))->values)
#define STARPU_COO_GET_NX(interface) (((struct starpu_coo_interface *) (interface))->nx)
#define STARPU_COO_GET_NY(interface) (((struct starpu_coo_interface *) (interface))->ny)
#define STARPU_COO_GET_NVALUES(interface) (((struct starpu_coo_interface *) (interface))->n_values)
#define STARPU_COO_GET_ELEMSIZE(interface) (((struct starpu_coo_interface *) (interface))->elemsize)
#define STARPU_COO_GET_COLUMNS_DEV_HANDLE(interface) \
	(((struct starpu_coo_interface *) (interface))->columns)
#define STARPU_COO_GET_ROWS_DEV_HANDLE(interface) \
	(((struct starpu_coo_interface *) (interface))->rows)
#define STARPU_COO_GET_VALUES_DEV_HANDLE(interface) \
	(((struct starpu_coo_interface *) (interface))->values)
#define STARPU_COO_GET_OFFSET 0 /* each array has an allocation of its own */

/* No value at all: only dependencies. */
extern struct starpu_data_interface_ops starpu_interface_void_ops;
void starpu_void_data_register(starpu_data_handle_t *handle);

/*
 * Multiformat (27.10): one piece of data, laid out differently per kind of device.
 * The codelets have one RW buffer; X_to_cpu runs on a CPU worker, cpu_to_X on the
 * device. The program owns the structure, which must outlive the handle.
 */
struct starpu_multiformat_data_interface_ops {
	size_t cpu_elemsize; /* bytes per object in main memory */
	size_t opencl_elemsize;
	struct starpu_codelet *cpu_to_opencl_cl;
	struct starpu_codelet *opencl_to_cpu_cl;
	size_t cuda_elemsize;
	struct starpu_codelet *cpu_to_cuda_cl;
	struct starpu_codelet *cuda_to_cpu_cl;
};

/* nx objects; a pointer is meaningful on nodes of its kind only. */
struct starpu_multiformat_interface {
	enum starpu_data_interface_id id;
	void *cpu_ptr;
	void *cuda_ptr;
	void *opencl_ptr;
	uint32_t nx;
	struct starpu_multiformat_data_interface_ops *ops;
};
extern struct starpu_data_interface_ops starpu_interface_multiformat_ops;

void starpu_multiformat_data_register(starpu_data_handle_t *handle, int home_node, void *ptr,
				      uint32_t nobjects,
				      struct starpu_multiformat_data_interface_ops *format_ops);

#define STARPU_MULTIFORMAT_GET_CPU_PTR(interface) \
	(((struct starpu_multiformat_interface *) (interface))->cpu_ptr)
#define STARPU_MULTIFORMAT_GET_CUDA_PTR(interface) \
	(((struct starpu_multiformat_interface *) (interface))->cuda_ptr)
#define STARPU_MULTIFORMAT_GET_OPENCL_PTR(interface) \
	(((struct starpu_multiformat_interface *) (interface))->opencl_ptr)
#define STARPU_MULTIFORMAT_GET_NX(interface) \
	(((struct starpu_multiformat_interface *) (interface))->nx)

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
