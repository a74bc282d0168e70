/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stub of the CUDA runtime: devices of host memory, streams that are threads.
 *
 * Pointers of a device lead nowhere, unless ORR_CUDART_OPEN is set: a copy that goes past CUDA
 * crashes. Copies have to stay within one allocation that was not freed.
 *
 *   ORR_CUDART_DEVICES    number of devices (1)
 *   ORR_CUDART_MEMORY     MiB of each (64)
 *   ORR_CUDART_OPEN=1     programs may compute on pointers of a device
 *   ORR_CUDART_COPY_MBS   bandwidth of each stream of copies (0: copies take no time)
 *   ORR_CUDART_KERNEL_US  time of a kernel (0)
 *   ORR_CUDART_FAIL       what:n, what fails when it is called for the n-th time, what:n+ ever
 *                         after; several with commas. driver, device: there is none; malloc: out of
 *                         memory; launch: the kernel fails, and the device from then on; lost: the
 *                         device is lost at that copy; copy: the copy is refused; peer: access to
 *                         another device is refused; slow: the copy takes 200 ms more; stream: a
 * stream cannot be created; pin: main memory cannot be page-locked; handle: one of a library cannot
 * be made
 *
 * Invariant: after an error in a stream of a device all calls to it return that error, and nothing
 * more is executed there. */
#ifndef CUDART_STUB_H
#define CUDART_STUB_H

#include <cuda_runtime_api.h>

#pragma GCC visibility push(default)
/* Enters a kernel: a thread of the stub calls f with a copy of size bytes at arg. */
cudaError_t stub_launch(void (*f)(void *arg), const void *arg, size_t size, cudaStream_t stream);
/* The place of size bytes of a device in main memory, for kernels. Ends the program if they are not
 * in one allocation. */
void *stub_memory(const void *p, size_t size);
/* A handle of cuBLAS, cuSPARSE or cuSOLVER. */
struct stub_handle {
	const char *kind;
	int device;
	cudaStream_t stream;
};
/* The number of them. */
int stub_nhandles(void);
/* Main memory that is page-locked, and what ever happened. */
struct stub_pinned {
	unsigned long nranges, bytes; /* now */
	unsigned long npins;          /* calls of cudaHostRegister that succeeded */
	unsigned long npageable;      /* copies of a page or more from or to other main memory */
};
void stub_pinned(struct stub_pinned *now);
/* Is all of it page-locked? Between the calls for the lock. */
int stub_is_pinned(const void *p, size_t size);
void stub_lock_for_test(void);
void stub_unlock_for_test(void);
/* The number of streams that executed something at once, at most, so far. */
int stub_overlap(void);
#pragma GCC visibility pop

#endif
