/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Common to the files of the stub of the CUDA runtime (see cudart.h).
 *
 * Invariant: addresses of devices do not overlap, so a pointer tells its device. */
#ifndef CUDART_OWN_H
#define CUDART_OWN_H

#include "cudart.h"

#include <pthread.h>

#define STUB_DEVICES 4
#define STUB_FAILS 8

struct block {
	struct block *next;
	size_t at, size;
};

struct device {
	char *pointers; /* what programs see */
	char *bytes;    /* the same memory, to be read and written */
	size_t size;
	struct block *blocks; /* allocated, by address */
	cudaError_t error;    /* for ever */
	struct CUstream_st *default_stream;
};

struct op {
	enum { OP_COPY, OP_KERNEL, OP_HOST, OP_EVENT, OP_WAIT } type;
	struct op *next;
	const char *src;
	char *dst;
	size_t size, count, ld_src, ld_dst;
	void (*f)(void *);
	void *arg, *own;
	struct CUevent_st *event;
	cudaError_t fails;
	int slow;
};

struct CUstream_st {
	struct CUstream_st *next;
	struct device *device;
	unsigned flags;
	struct op *first; /* the first is executed just now */
	int end;
	pthread_t thread;
	pthread_cond_t more;
};

struct CUevent_st {
	struct device *device;
	int pending, waiting, destroyed;
};

struct fail {
	char what[16];
	long at, seen;
	int ever_after;
};

struct stub {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int ndevices, busy, overlap;
	struct device device[STUB_DEVICES];
	struct CUstream_st *streams;
	struct fail fail[STUB_FAILS];
	unsigned nfails;
	double copy_mbs, kernel_us;
};

extern struct stub stub;

void stub_lock(void);
void stub_unlock(void);
/* Is this call to fail? Under the lock. */
int stub_fails(const char *what);
/* Remembers an error for cudaGetLastError. */
cudaError_t stub_note(cudaError_t err);
/* The calling thread's device. */
int stub_current(void);
/* A copy from or to main memory. Under the lock. */
void stub_pageable(const void *p, size_t size);
void stub_memory_begin(struct device *d, size_t size, int open);
/* Under the lock. */
struct CUstream_st *stub_stream(cudaStream_t stream);
void stub_enter(struct CUstream_st *s, const struct op *op);
/* Something was entered, and is waited for, perhaps; ends the critical section. */
cudaError_t stub_entered(struct CUstream_st *s, int wait);

#endif
