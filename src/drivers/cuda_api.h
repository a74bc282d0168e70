/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions of the CUDA runtime (libcudart) that the driver calls. They are found when the
 * program runs, so one build of this library works with and without CUDA, and with a stub in tests.
 *
 * Types are those of the C ABI: an error is an int, a stream and an event are pointers.
 *
 * Invariant: after orr_cu_load() succeeded each function of the table is there. */
#ifndef ORR_DRIVERS_CUDA_API_H
#define ORR_DRIVERS_CUDA_API_H

#include <stddef.h>

struct orr_config;

/* Errors that the driver tells apart. */
enum {
	ORR_CU_SUCCESS = 0,
	ORR_CU_NO_MEMORY = 2,
	ORR_CU_OLD_DRIVER = 35,
	ORR_CU_NO_DEVICE = 100,
	ORR_CU_NOT_READY = 600,
	ORR_CU_PEER_ENABLED = 704,
	ORR_CU_PINNED = 712
};

/* Kinds of copies. */
enum { ORR_CU_TO_DEVICE = 1, ORR_CU_TO_HOST = 2, ORR_CU_IN_DEVICE = 3 };

/* A flag of pinned memory. */
enum { ORR_CU_PIN_FOR_ALL = 1 };

/* Flags of streams and events. */
enum { ORR_CU_NON_BLOCKING = 1, ORR_CU_EVENT_SLEEPS = 1, ORR_CU_EVENT_UNTIMED = 2 };

/* cudaMemcpy3DPeerParms and its parts. */
struct orr_cu_pitched {
	void *ptr;
	size_t pitch, xsize, ysize;
};
struct orr_cu_peer_copy {
	void *src_array;
	size_t src_pos[3];
	struct orr_cu_pitched src;
	int src_device;
	void *dst_array;
	size_t dst_pos[3];
	struct orr_cu_pitched dst;
	int dst_device;
	size_t width, height, depth;
};

#define ORR_CU_FUNCTIONS(X) \
	X(runtime_version, "cudaRuntimeGetVersion", (int *version)) \
	X(device_count, "cudaGetDeviceCount", (int *n)) \
	X(set_device, "cudaSetDevice", (int device)) \
	X(get_device, "cudaGetDevice", (int *device)) \
	X(bus_id, "cudaDeviceGetPCIBusId", (char *text, int size, int device)) \
	X(mem_info, "cudaMemGetInfo", (size_t * available, size_t * total)) \
	X(mem_alloc, "cudaMalloc", (void **p, size_t size)) \
	X(mem_free, "cudaFree", (void *p)) \
	X(pin, "cudaHostRegister", (void *p, size_t size, unsigned flags)) \
	X(unpin, "cudaHostUnregister", (void *p)) \
	X(copy, "cudaMemcpyAsync", \
	  (void *dst, const void *src, size_t size, int kind, void *stream)) \
	X(copy2d, "cudaMemcpy2DAsync", \
	  (void *dst, size_t ld_dst, const void *src, size_t ld_src, size_t width, size_t height, \
	   int kind, void *stream)) \
	X(copy_peer, "cudaMemcpyPeerAsync", \
	  (void *dst, int dst_device, const void *src, int src_device, size_t size, void *stream)) \
	X(copy_peer_rows, "cudaMemcpy3DPeerAsync", \
	  (const struct orr_cu_peer_copy *copy, void *stream)) \
	X(can_access, "cudaDeviceCanAccessPeer", (int *can, int device, int peer)) \
	X(enable_access, "cudaDeviceEnablePeerAccess", (int peer, unsigned flags)) \
	X(stream_create, "cudaStreamCreateWithFlags", (void **stream, unsigned flags)) \
	X(stream_destroy, "cudaStreamDestroy", (void *stream)) \
	X(event_create, "cudaEventCreateWithFlags", (void **event, unsigned flags)) \
	X(event_destroy, "cudaEventDestroy", (void *event)) \
	X(event_record, "cudaEventRecord", (void *event, void *stream)) \
	X(stream_wait, "cudaStreamWaitEvent", (void *stream, void *event, unsigned flags)) \
	X(event_query, "cudaEventQuery", (void *event)) \
	X(event_wait, "cudaEventSynchronize", (void *event)) \
	X(call_host, "cudaLaunchHostFunc", (void *stream, void (*f)(void *), void *arg)) \
	X(last_error, "cudaGetLastError", (void) )

struct orr_cu_api {
	void *library;
	int version; /* 12040 */
	const char *(*text)(int err);
	int (*properties)(void *prop, int device); /* the names differ among versions */
#define X(FIELD, NAME, ARGS) int(*FIELD) ARGS;
	ORR_CU_FUNCTIONS(X)
#undef X
};

/* Finds the library and its functions. 0; or -ENOENT if there is no such library, and -ENODEV after
 * a message if it cannot be used. */
int orr_cu_load(const struct orr_config *cfg, struct orr_cu_api *api);

#endif
