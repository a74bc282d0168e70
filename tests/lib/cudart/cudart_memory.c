/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory of the stub of the CUDA runtime, and copies (see cudart.h).
 *
 * Invariant: each byte of a copy is in one allocation of a device, or in main memory. */
#include "cudart_own.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT 256
#define GARBAGE 0xa5

void stub_memory_begin(struct device *d, size_t size, int open)
{
	int fd = memfd_create("device", MFD_CLOEXEC);

	d->size = size;
	if (fd < 0 || ftruncate(fd, (off_t) size))
		abort();
	d->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	d->pointers = mmap(NULL, size, open ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_SHARED, fd,
			   0);
	close(fd);
	if (d->bytes == MAP_FAILED || d->pointers == MAP_FAILED)
		abort();
}

static struct device *device_of(const void *p)
{
	for (int i = 0; i < stub.ndevices; i++) {
		struct device *d = &stub.device[i];

		if ((const char *) p >= d->pointers && (const char *) p < d->pointers + d->size)
			return d;
	}
	return NULL;
}

/* The place of size bytes at p; NULL: not within an allocation of that device. */
static char *locate(const struct device *d, const void *p, size_t size)
{
	size_t at = (size_t) ((const char *) p - d->pointers);

	for (const struct block *b = d->blocks; b; b = b->next)
		if (at >= b->at && at + size <= b->at + b->size)
			return d->bytes + at;
	return NULL;
}

void *stub_memory(const void *p, size_t size)
{
	stub_lock();
	struct device *d = device_of(p);
	void *bytes = d ? locate(d, p, size) : NULL;

	stub_unlock();
	if (!bytes) {
		fprintf(stderr, "cudart: %zu bytes at %p are in no allocation\n", size, p);
		abort();
	}
	return bytes;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
	stub_lock();
	const struct device *d = &stub.device[stub_current()];

	*available = *total = d->size;
	for (const struct block *b = d->blocks; b; b = b->next)
		*available -= b->size;
	stub_unlock();
	return cudaSuccess;
}

/* The first gap that is large enough; NULL: there is none. */
static struct block *place(struct device *d, size_t size)
{
	struct block **p = &d->blocks, *b;
	size_t at = 0;

	for (; *p && (*p)->at - at < size; p = &(*p)->next)
		at = ((*p)->at + (*p)->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (at + size > d->size)
		return NULL;
	b = malloc(sizeof(*b));
	*b = (struct block){ .next = *p, .at = at, .size = size };
	*p = b;
	return b;
}

cudaError_t cudaMalloc(void **p, size_t size)
{
	stub_lock();
	struct device *d = &stub.device[stub_current()];
	cudaError_t err = d->error;
	struct block *b = err || stub_fails("malloc") ? NULL : place(d, size);

	if (b) {
		memset(d->bytes + b->at, GARBAGE, size < 4096 ? size : 4096);
		*p = d->pointers + b->at;
	} else if (!err) {
		err = cudaErrorMemoryAllocation;
	}
	stub_unlock();
	return stub_note(err);
}

cudaError_t cudaFree(void *p)
{
	stub_lock();
	struct device *d = device_of(p);
	struct block **q = d ? &d->blocks : NULL, *b = NULL;

	while (q && *q && d->pointers + (*q)->at != p)
		q = &(*q)->next;
	if (q && (b = *q))
		*q = b->next;
	cudaError_t err = d ? d->error : cudaSuccess;

	if (!b && p)
		err = cudaErrorInvalidValue;
	stub_unlock();
	free(b);
	return stub_note(err);
}

/* ---- copies ---- */

/* The place of rows that one end of a copy has, on a device or in main memory. */
static char *resolve(const void *p, size_t size, int on_device)
{
	const struct device *d = device_of(p);

	if (!d != !on_device)
		return NULL;
	return d ? locate(d, p, size) : (char *) (uintptr_t) p;
}

static cudaError_t enter_copy(const struct op *rows, enum cudaMemcpyKind kind, cudaStream_t stream,
			      int wait)
{
	stub_lock();
	struct CUstream_st *s = stub_stream(stream);
	struct op op = *rows;
	size_t src_size = (op.count - 1) * op.ld_src + op.size,
	       dst_size = (op.count - 1) * op.ld_dst + op.size;

	op.type = OP_COPY;
	op.src = resolve(op.src, src_size,
			 kind == cudaMemcpyDefault ? device_of(op.src) != NULL
						   : kind == cudaMemcpyDeviceToHost ||
							     kind == cudaMemcpyDeviceToDevice);
	op.dst = resolve(op.dst, dst_size,
			 kind == cudaMemcpyDefault ? device_of(op.dst) != NULL
						   : kind == cudaMemcpyHostToDevice ||
							     kind == cudaMemcpyDeviceToDevice);
	if (!op.src || !op.dst || stub_fails("copy")) {
		stub_unlock();
		return stub_note(cudaErrorInvalidValue);
	}
	if (!device_of(rows->src) && src_size >= 4096)
		stub_pageable(rows->src, src_size);
	if (!device_of(rows->dst) && dst_size >= 4096)
		stub_pageable(rows->dst, dst_size);
	op.slow = stub_fails("slow");
	op.fails = stub_fails("lost") ? cudaErrorUnknown : cudaSuccess;
	stub_enter(s, &op);
	return stub_entered(s, wait);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind,
			    cudaStream_t stream)
{
	return enter_copy(&(struct op){ .dst = dst, .src = src, .size = size, .count = 1 }, kind,
			  stream, 0);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind)
{
	return enter_copy(&(struct op){ .dst = dst, .src = src, .size = size, .count = 1 }, kind,
			  NULL, 1);
}

struct fill {
	char *dst;
	int value;
	size_t size;
};

static void fill(void *arg)
{
	const struct fill *f = arg;

	memset(f->dst, f->value, f->size);
}

/* A kernel, as in the real runtime. */
cudaError_t cudaMemsetAsync(void *dst, int value, size_t size, cudaStream_t stream)
{
	struct fill f = { .dst = stub_memory(dst, size), .value = value, .size = size };

	return stub_launch(fill, &f, sizeof(f), stream);
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
			      size_t width, size_t height, enum cudaMemcpyKind kind,
			      cudaStream_t stream)
{
	if (width > dpitch || width > spitch || !height)
		return stub_note(cudaErrorInvalidValue);
	return enter_copy(&(struct op){ .dst = dst,
					.src = src,
					.size = width,
					.count = height,
					.ld_src = spitch,
					.ld_dst = dpitch },
			  kind, stream, 0);
}

/* Is p on that device? */
static int is_on(const void *p, int device)
{
	return device >= 0 && device < stub.ndevices && device_of(p) == &stub.device[device];
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dstDevice, const void *src, int srcDevice,
				size_t size, cudaStream_t stream)
{
	if (!is_on(dst, dstDevice) || !is_on(src, srcDevice))
		return stub_note(cudaErrorInvalidValue);
	return cudaMemcpyAsync(dst, src, size, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
	if (!is_on(p->dstPtr.ptr, p->dstDevice) || !is_on(p->srcPtr.ptr, p->srcDevice) ||
	    p->extent.depth != 1)
		return stub_note(cudaErrorInvalidValue);
	return cudaMemcpy2DAsync(p->dstPtr.ptr, p->dstPtr.pitch, p->srcPtr.ptr, p->srcPtr.pitch,
				 p->extent.width, p->extent.height, cudaMemcpyDeviceToDevice,
				 stream);
}
