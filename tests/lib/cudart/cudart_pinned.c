/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Page-locked main memory of the stub of the CUDA runtime (see cudart.h). As in the real one,
 * ranges do not share pages.
 *
 * Invariant: no two ranges overlap. */
#include "cudart_own.h"

#include <stdint.h>
#include <stdlib.h>

#define PAGE 4096

struct pinned {
	struct pinned *next;
	uintptr_t addr, first, end; /* as given; the pages */
};

static struct pinned *ranges;
static unsigned long npins, npageable;

static struct pinned *overlapping(uintptr_t first, uintptr_t end)
{
	struct pinned *r = ranges;

	while (r && (r->end <= first || r->first >= end))
		r = r->next;
	return r;
}

cudaError_t cudaHostRegister(void *p, size_t size, unsigned flags)
{
	uintptr_t addr = (uintptr_t) p, first = addr / PAGE * PAGE,
		  end = (addr + size + PAGE - 1) / PAGE * PAGE;
	struct pinned *r = malloc(sizeof(*r));
	cudaError_t err = cudaSuccess;

	stub_lock();
	if (!size || flags != cudaHostRegisterPortable)
		err = cudaErrorInvalidValue;
	else if (stub_fails("pin"))
		err = cudaErrorMemoryAllocation;
	else if (overlapping(first, end))
		err = cudaErrorHostMemoryAlreadyRegistered;
	if (err == cudaSuccess) {
		*r = (struct pinned){ ranges, addr, first, end };
		ranges = r;
		npins++;
	} else {
		free(r);
	}
	stub_unlock();
	return stub_note(err);
}

cudaError_t cudaHostUnregister(void *p)
{
	struct pinned **at = &ranges, *r;

	stub_lock();
	while ((r = *at) && r->addr != (uintptr_t) p)
		at = &r->next;
	if (r)
		*at = r->next;
	stub_unlock();
	free(r);
	return stub_note(r ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

int stub_is_pinned(const void *p, size_t size)
{
	const struct pinned *r = overlapping((uintptr_t) p, (uintptr_t) p + size);

	return r && r->first <= (uintptr_t) p && (uintptr_t) p + size <= r->end;
}

void stub_pageable(const void *p, size_t size)
{
	npageable += !stub_is_pinned(p, size);
}

void stub_pinned(struct stub_pinned *now)
{
	stub_lock();
	*now = (struct stub_pinned){ .npins = npins, .npageable = npageable };
	for (const struct pinned *r = ranges; r; r = r->next) {
		now->nranges++;
		now->bytes += r->end - r->first;
	}
	stub_unlock();
}
