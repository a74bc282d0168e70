/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Helpers for OpenCL kernels and data interfaces; empty unless the library was built with OpenCL.
 * A simulated run has no OpenCL device: programs are loaded for none, and functions that need one
 * give an error that says so.
 *
 * Invariant: devices are numbered as by starpu_worker_get_devid(); programs and kernels are kept
 * per device.
 */
#ifndef STARPU_OPENCL_H
#define STARPU_OPENCL_H

#include <starpu_config.h>

#ifdef STARPU_USE_OPENCL
#include <stddef.h>
#include <stdint.h>
#include <CL/cl.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- Errors -------------------------------------------------------------------------- */

/* Text of an error: a constant string. Print it with its place (msg may be NULL); print and abort.
 */
const char *starpu_opencl_error_string(cl_int status);
void starpu_opencl_display_error(const char *func, const char *file, int line, const char *msg,
				 cl_int status);
void starpu_opencl_report_error(const char *func, const char *file, int line, const char *msg,
				cl_int status) STARPU_ATTRIBUTE_NORETURN;
#define STARPU_OPENCL_DISPLAY_ERROR(status) \
	starpu_opencl_display_error(__starpu_func__, __FILE__, __LINE__, NULL, (status))
#define STARPU_OPENCL_REPORT_ERROR(status) \
	starpu_opencl_report_error(__starpu_func__, __FILE__, __LINE__, NULL, (status))
#define STARPU_OPENCL_REPORT_ERROR_WITH_MSG(msg, status) \
	starpu_opencl_report_error(__starpu_func__, __FILE__, __LINE__, (msg), (status))

/* --- Devices ------------------------------------------------------------------------- */

/* Context, device and queue of a device, or of the calling worker. */
void starpu_opencl_get_context(int devid, cl_context *context);
void starpu_opencl_get_device(int devid, cl_device_id *device);
void starpu_opencl_get_queue(int devid, cl_command_queue *queue);
void starpu_opencl_get_current_context(cl_context *context);
void starpu_opencl_get_current_queue(cl_command_queue *queue);

/* --- Programs and kernels ------------------------------------------------------------ */

/* One program, compiled for each device; owned by the caller, loaded and unloaded below. */
struct starpu_opencl_program {
	cl_program programs[STARPU_MAXOPENCLDEVS];
};

/* Find and read a source file into buffers of the caller, or into malloc()ed ones that the caller
 * frees. */
void starpu_opencl_load_program_source(const char *source_file_name, char *located_file_name,
				       char *located_dir_name, char *opencl_program_source);
void starpu_opencl_load_program_source_malloc(const char *source_file_name,
					      char **located_file_name, char **located_dir_name,
					      char **opencl_program_source);
/* Compile for all devices and store the binaries; load a stored one. EXIT_SUCCESS or EXIT_FAILURE.
 */
int starpu_opencl_compile_opencl_from_file(const char *source_file_name, const char *build_options);
int starpu_opencl_compile_opencl_from_string(const char *opencl_program_source,
					     const char *file_name, const char *build_options);
int starpu_opencl_load_binary_opencl(const char *kernel_id,
				     struct starpu_opencl_program *opencl_programs);
/* Compile and load for all devices; build_options may be NULL. CL_SUCCESS, or prints the
 * compiler's output and aborts. Unload it after the last use by a kernel. */
int starpu_opencl_load_opencl_from_file(const char *source_file_name,
					struct starpu_opencl_program *opencl_programs,
					const char *build_options);
int starpu_opencl_load_opencl_from_string(const char *opencl_program_source,
					  struct starpu_opencl_program *opencl_programs,
					  const char *build_options);
int starpu_opencl_unload_opencl(struct starpu_opencl_program *opencl_programs);
/* A kernel of a loaded program and the queue of a device; release the kernel at the end of its
 * execution. */
int starpu_opencl_load_kernel(cl_kernel *kernel, cl_command_queue *queue,
			      struct starpu_opencl_program *opencl_programs,
			      const char *kernel_name, int devid);
int starpu_opencl_release_kernel(cl_kernel kernel);
/* Set arguments given as (int size, void *value)* 0; returns how many were set, with the error of
 * the next in *err. */
int starpu_opencl_set_kernel_args(cl_int *err, cl_kernel *kernel, ...);
/* Adds the time of a finished kernel, in nanoseconds, to used_cycles of the calling worker's
 * profile. 0. */
int starpu_opencl_collect_stats(cl_event event);

/* --- Memory -------------------------------------------------------------------------- */

cl_int starpu_opencl_allocate_memory(int devid, cl_mem *addr, size_t size, cl_mem_flags flags);
/* Copy; with an event it is asynchronous if possible and *ret is -EAGAIN, else done and *ret is 0.
 * ret may be NULL. An event that a copy method leaves where the runtime gave it a place for one is
 * the runtime's; any other is the caller's to release. Copies to a device end in the order of their
 * starts, and so do copies from it. */
cl_int starpu_opencl_copy_ram_to_opencl(void *ptr, unsigned src_node, cl_mem buffer,
					unsigned dst_node, size_t size, size_t offset,
					cl_event *event, int *ret);
cl_int starpu_opencl_copy_opencl_to_ram(cl_mem buffer, unsigned src_node, void *ptr,
					unsigned dst_node, size_t size, size_t offset,
					cl_event *event, int *ret);
cl_int starpu_opencl_copy_opencl_to_opencl(cl_mem src, unsigned src_node, size_t src_offset,
					   cl_mem dst, unsigned dst_node, size_t dst_offset,
					   size_t size, cl_event *event, int *ret);
cl_int starpu_opencl_copy_async_sync(uintptr_t src, size_t src_offset, unsigned src_node,
				     uintptr_t dst, size_t dst_offset, unsigned dst_node,
				     size_t size, cl_event *event);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
#endif
