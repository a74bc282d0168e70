/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory and copies of a real run: the C library's.
 *
 * Invariant: what is allocated here is freed here; payloads always exist, and a copy is over when it returns. */
#include "sys/real.h"

#include <stdlib.h>
#include <string.h>

static void *allocate(size_t size, size_t align)
{
	void *ptr;

	if (align < 64)
		align = 64;
	return posix_memalign(&ptr, align, size ? size : 1) ? NULL : ptr;
}

void *orr_sys_mem_alloc(struct orr_node *node, size_t size, size_t align)
{
	(void) node;
	return allocate(size, align);
}

void orr_sys_mem_free(struct orr_node *node, void *ptr, size_t size)
{
	(void) node;
	(void) size;
	free(ptr);
}

void orr_sys_mem_bind(struct orr_node *node, void *ptr, size_t size, int numa)
{
	orr_real_bind_memory(node, ptr, size, numa);
}

void *orr_sys_user_alloc(struct orr_node *node, size_t size, size_t align)
{
	(void) node;
	return allocate(size, align);
}

void orr_sys_user_free(struct orr_node *node, void *ptr, size_t size)
{
	(void) node;
	(void) size;
	free(ptr);
}

int orr_sys_has_payload(struct orr_node *node)
{
	(void) node;
	return 1;
}

void orr_sys_memcpy(struct orr_node *node, void *dst, const void *src, size_t size)
{
	(void) node;
	if (size)
		memcpy(dst, src, size);
}

/* Drivers find the devices of a real machine. */
int orr_sys_devices(struct orr_node *node, struct orr_device *v, unsigned max, long ncuda, long nopencl)
{
	(void) node;
	(void) v;
	(void) max;
	(void) ncuda;
	(void) nopencl;
	return 0;
}

void orr_sys_device_alloc_charge(struct orr_node *node, unsigned memnode)
{
	(void) node;
	(void) memnode;
}

double orr_sys_copy_end_us(struct orr_node *node, unsigned src, unsigned dst, size_t size)
{
	(void) node;
	(void) src;
	(void) dst;
	(void) size;
	return 0;
}
