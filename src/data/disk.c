/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Disks as memory nodes: registration, and the memory node on top of a back end's operations (starpu_disk.h).
 *
 * Invariant: an address on a disk is the object that the back end's alloc or open returned; copies go to or from main memory only. */
#include "data/disk.h"
#include "data/memory.h"
#include "drivers/memnode.h"
#include "starpu_disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct disk {
	struct starpu_disk_ops *ops;
	void *base;
};

static struct disk *disk_of(struct orr_node *node, unsigned memnode) { return node->memnodes[memnode].ops_arg; }

static uintptr_t disk_alloc(struct orr_node *node, unsigned memnode, size_t size, int flags)
{
	struct disk *d = disk_of(node, memnode);

	(void) flags;
	return (uintptr_t) d->ops->alloc(d->base, size);
}

static void disk_release(struct orr_node *node, unsigned memnode, uintptr_t addr, size_t size, int flags)
{
	struct disk *d = disk_of(node, memnode);

	(void) flags;
	d->ops->free(d->base, (void *) addr, size);
}

static int disk_copy(struct orr_node *node, uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst, size_t dst_offset, unsigned dst_node,
		     size_t size, struct orr_copy_channel *chan)
{
	int from_disk = node->memnodes[src_node].kind == STARPU_DISK_RAM;
	struct disk *d = disk_of(node, from_disk ? src_node : dst_node);

	(void) chan;
	if (!orr_sys_has_payload(node))
		return 0;
	if (from_disk && node->memnodes[dst_node].kind == STARPU_DISK_RAM)
		return -ENOTSUP;
	if (from_disk)
		return d->ops->read(d->base, (void *) src, (char *) dst + dst_offset, (off_t) src_offset, size);
	return d->ops->write(d->base, (void *) dst, (const char *) src + src_offset, (off_t) dst_offset, size);
}

static int disk_copy2d(struct orr_node *node, uintptr_t src, size_t src_offset, unsigned src_node, uintptr_t dst, size_t dst_offset,
		       unsigned dst_node, size_t blocksize, size_t numblocks, size_t ld_src, size_t ld_dst, struct orr_copy_channel *chan)
{
	size_t i;

	for (i = 0; i < numblocks; i++) {
		int ret = disk_copy(node, src, src_offset + i * ld_src, src_node, dst, dst_offset + i * ld_dst, dst_node, blocksize, chan);

		if (ret)
			return ret;
	}
	return 0;
}

static int disk_test(struct orr_node *node, struct orr_copy_channel *chan)
{
	(void) node;
	(void) chan;
	return 1;
}

static const struct orr_memnode_ops disk_memory = {
	.name = "disk",
	.addressable = 0,
	.alloc = disk_alloc,
	.release = disk_release,
	.copy = disk_copy,
	.copy2d = disk_copy2d,
	.test = disk_test,
};

/* ---- registration ---- */

static int count_disks(const struct orr_node *node)
{
	unsigned i;
	int n = 0;

	for (i = 0; i < node->nmemnodes; i++)
		n += node->memnodes[i].kind == STARPU_DISK_RAM;
	return n;
}

static int add_disk(struct orr_node *node, struct starpu_disk_ops *func, void *parameter, starpu_ssize_t size)
{
	struct disk *d = malloc(sizeof(*d));
	int ret;

	if (!d)
		return -ENOMEM;
	d->ops = func;
	d->base = func->plug(parameter, size);
	if (!d->base) {
		free(d);
		return -ENOENT;
	}
	orr_lock(&node->lock);
	ret = orr_memory_add_node(node, STARPU_DISK_RAM, count_disks(node), &disk_memory, d, size > 0 ? (size_t) size : 0);
	orr_unlock(&node->lock);
	if (ret < 0) {
		orr_error("a disk cannot be registered: there are %d memory nodes already", STARPU_MAXNODES);
		func->unplug(d->base);
		free(d);
	}
	return ret;
}

int starpu_disk_register(struct starpu_disk_ops *func, void *parameter, starpu_ssize_t size)
{
	if (size >= 0 && size < STARPU_DISK_SIZE_MIN) {
		orr_error("starpu_disk_register: %zd bytes are too few, give at least %d (STARPU_DISK_SIZE_MIN) or -1 for no limit", (ssize_t) size,
			  STARPU_DISK_SIZE_MIN);
		return -EINVAL;
	}
	return add_disk(orr_self(), func, parameter, size);
}

static struct disk *check_disk(unsigned memnode, const char *what)
{
	struct orr_node *node = orr_self();

	if (memnode < node->nmemnodes && node->memnodes[memnode].kind == STARPU_DISK_RAM)
		return disk_of(node, memnode);
	orr_error("%s: memory node %u is not a disk; give what starpu_disk_register returned", what, memnode);
	return NULL;
}

void *starpu_disk_open(unsigned node, void *pos, size_t size)
{
	struct disk *d = check_disk(node, "starpu_disk_open");

	return d ? d->ops->open(d->base, pos, size) : NULL;
}

void starpu_disk_close(unsigned node, void *obj, size_t size)
{
	struct disk *d = check_disk(node, "starpu_disk_close");

	if (d)
		d->ops->close(d->base, obj, size);
}

/* ---- the disk that main memory overflows to ---- */

int orr_disk_swap_init(struct orr_node *node)
{
	static const struct { const char *name; struct starpu_disk_ops *ops; } backends[] = {
		{ "unistd", &starpu_disk_unistd_ops },
		{ "stdio", &starpu_disk_stdio_ops },
		{ "unistd_o_direct", &starpu_disk_unistd_o_direct_ops },
	};
	const char *name = node->cfg.disk_swap_backend ? node->cfg.disk_swap_backend : "unistd";
	unsigned i;
	int ret;

	if (!node->cfg.disk_swap)
		return 0;
	for (i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		if (!strcmp(backends[i].name, name))
			break;
	if (i == sizeof(backends) / sizeof(backends[0])) {
		orr_error("STARPU_DISK_SWAP_BACKEND=%s: it takes unistd, stdio or unistd_o_direct", name);
		return -EINVAL;
	}
	ret = add_disk(node, backends[i].ops, node->cfg.disk_swap, node->cfg.disk_swap_size ? (starpu_ssize_t) node->cfg.disk_swap_size : -1);
	if (ret < 0) {
		orr_error("STARPU_DISK_SWAP=%s: the folder cannot be used (%s)", node->cfg.disk_swap, strerror(-ret));
		return ret;
	}
	node->swap_node = ret;
	return 0;
}

void orr_disk_exit(struct orr_node *node)
{
	unsigned i;

	for (i = 0; i < node->nmemnodes; i++) {
		struct disk *d;

		if (node->memnodes[i].kind != STARPU_DISK_RAM)
			continue;
		d = disk_of(node, i);
		d->ops->unplug(d->base);
		free(d);
		node->memnodes[i].ops_arg = NULL;
	}
}
