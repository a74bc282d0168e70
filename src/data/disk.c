/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Disks as memory nodes: registration, and the memory node on top of a back end's operations
 * (starpu_disk.h).
 *
 * Invariant: an address on a disk is the object that the back end's alloc or open returned; copies
 * go to or from main memory only. Where payloads do not exist no back end is called: the disk
 * itself stands for each of its objects. */
#include "data/disk.h"
#include "data/data.h"
#include "data/memnode.h"
#include "starpu_disk.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/seam_memory.h"
#include "data/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIRECT_ALIGN 4096 /* buffers that lie so need no copy on their way past the page cache */

/* An object that starpu_disk_open returned. */
struct opened {
	struct opened *next;
	void *obj;
	size_t size;
};

struct disk {
	struct starpu_disk_ops *ops;
	void *base;
	orr_lock_t lock; /* protects the list */
	struct opened *opened;
	int full;      /* atomic: it had no room, and nothing could be written since */
	int told_full; /* atomic: this was said, once */
};

static struct disk *disk_of(struct orr_process *proc, unsigned memnode)
{
	return proc->data->memnodes[memnode]->ops_arg;
}

void orr_disk_tell_full(struct orr_process *proc, unsigned memnode, size_t size)
{
	struct disk *d = disk_of(proc, memnode);
	struct orr_memnode *m = proc->data->memnodes[memnode];

	ORR_ATOMIC_STORE(&d->full, 1);
	if (ORR_ATOMIC_XCHG(&d->told_full, 1))
		return;
	if (m->total)
		orr_error(
			"memory node %u (a disk) is full: %zu of %zu bytes are in use, %zu more are needed; register it with a larger size "
			"(STARPU_DISK_SWAP_SIZE), or register another disk",
			memnode, starpu_memory_get_used(memnode), m->total, size);
	else
		orr_error(
			"memory node %u (a disk) is full: its back end has no room for %zu bytes besides the %zu in use; make room in its file "
			"system, or register another disk",
			memnode, size, starpu_memory_get_used(memnode));
}

int orr_disk_is_full(struct orr_process *proc, unsigned memnode)
{
	return ORR_ATOMIC_LOAD_RELAXED(&disk_of(proc, memnode)->full);
}

static uintptr_t disk_alloc(struct orr_process *proc, unsigned memnode, size_t size, int flags)
{
	struct disk *d = disk_of(proc, memnode);

	(void) flags;
	if (!orr_sys_has_payload(proc))
		return (uintptr_t) d;
	errno = 0;
	void *obj = d->ops->alloc(d->base, size);
	if (obj)
		return (uintptr_t) obj;
	if (!errno || errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
		orr_disk_tell_full(proc, memnode, size);
	else
		orr_error("memory node %u (a disk): no object of %zu bytes can be made there: %s",
			  memnode, size, strerror(errno));
	return 0;
}

static void disk_release(struct orr_process *proc, unsigned memnode, uintptr_t addr, size_t size,
			 int flags)
{
	struct disk *d = disk_of(proc, memnode);

	(void) flags;
	if (orr_sys_has_payload(proc))
		d->ops->free(d->base, (void *) addr, size);
}

static int disk_copy(struct orr_process *proc, uintptr_t src, size_t src_offset, unsigned src_node,
		     uintptr_t dst, size_t dst_offset, unsigned dst_node, size_t size,
		     struct orr_copy_channel *chan)
{
	int from_disk = proc->data->memnodes[src_node]->kind == STARPU_DISK_RAM;
	struct disk *d = disk_of(proc, from_disk ? src_node : dst_node);

	(void) chan;
	if (!orr_sys_has_payload(proc))
		return 0;
	if (from_disk && proc->data->memnodes[dst_node]->kind == STARPU_DISK_RAM)
		return -ENOTSUP;
	if (from_disk)
		return d->ops->read(d->base, (void *) src, (char *) dst + dst_offset,
				    (off_t) src_offset, size);
	int ret = d->ops->write(d->base, (void *) dst, (const char *) src + src_offset,
				(off_t) dst_offset, size);
	if (ret == -ENOSPC)
		orr_disk_tell_full(proc, dst_node, size);
	else if (!ret && ORR_ATOMIC_LOAD_RELAXED(&d->full))
		ORR_ATOMIC_STORE(&d->full, 0);
	return ret;
}

static int disk_copy2d(struct orr_process *proc, uintptr_t src, size_t src_offset,
		       unsigned src_node, uintptr_t dst, size_t dst_offset, unsigned dst_node,
		       size_t blocksize, size_t numblocks, size_t ld_src, size_t ld_dst,
		       struct orr_copy_channel *chan)
{
	for (size_t i = 0; i < numblocks; i++) {
		int ret = disk_copy(proc, src, src_offset + i * ld_src, src_node, dst,
				    dst_offset + i * ld_dst, dst_node, blocksize, chan);

		if (ret)
			return ret;
	}
	return 0;
}

static int disk_test(struct orr_process *proc, struct orr_copy_channel *chan)
{
	(void) proc;
	(void) chan;
	return 1;
}

/* ---- data that are packed ---- */

static int write_packed(struct orr_process *proc, struct disk *d, starpu_data_handle_t h,
			unsigned from, unsigned disk, void *obj)
{
	starpu_ssize_t size = 0;
	void *ptr = NULL;
	int ret = h->ops->pack_data(h, from, &ptr, &size);

	if (ret || !ptr || size < 0)
		return ret ? ret : -ENOMEM;
	ret = d->ops->full_write(d->base, obj, ptr, (size_t) size);
	if (ret == -ENOSPC)
		orr_disk_tell_full(proc, disk, (size_t) size);
	starpu_free_on_node_flags(from, (uintptr_t) ptr, (size_t) size, 0);
	return ret;
}

static int read_packed(struct disk *d, starpu_data_handle_t h, unsigned to, void *obj)
{
	void *ptr = NULL;
	size_t size = 0;
	int ret = d->ops->full_read(d->base, obj, &ptr, &size, to);

	if (ret)
		return ret;
	if (h->ops->unpack_data) /* frees ptr */
		return h->ops->unpack_data(h, to, ptr, size);
	ret = h->ops->peek_data(h, to, ptr, size);
	starpu_free_on_node_flags(to, (uintptr_t) ptr, size, 0);
	return ret;
}

int orr_disk_copy_packed(struct orr_process *proc, starpu_data_handle_t h, unsigned src_node,
			 unsigned dst_node)
{
	int from_disk = proc->data->memnodes[src_node]->kind == STARPU_DISK_RAM;
	unsigned disk = from_disk ? src_node : dst_node;
	struct disk *d = disk_of(proc, disk);

	orr_assert(proc->data->memnodes[from_disk ? dst_node : src_node]->kind == STARPU_CPU_RAM);
	if (!h->ops->pack_data || !(h->ops->unpack_data || h->ops->peek_data) ||
	    !d->ops->full_read || !d->ops->full_write) {
		orr_error(
			"%s cannot be copied between main memory and a disk (node %u): set copy_methods->any_to_any of its interface, or pack_data and "
			"unpack_data, for which the disk's back end needs full_read and full_write",
			orr_handle_name(h), disk);
		return -ENOTSUP;
	}
	if (!orr_sys_has_payload(proc))
		return 0;
	void *obj = starpu_data_handle_to_pointer(h, disk);
	if (!obj) {
		orr_error(
			"%s cannot be packed onto a disk (node %u): to_pointer of its interface must return what starpu_malloc_on_node gave there",
			orr_handle_name(h), disk);
		return -ENOTSUP;
	}
	return from_disk ? read_packed(d, h, dst_node, obj)
			 : write_packed(proc, d, h, src_node, disk, obj);
}

/* ---- the memory node ---- */

static const struct orr_memnode_ops disk_memory = {
	.name = "disk",
	.addressable = 0,
	.alloc = disk_alloc,
	.release = disk_release,
	.copy = disk_copy,
	.copy2d = disk_copy2d,
	.stream = orr_memnode_stream_none,
	.test = disk_test,
	.wait = orr_memnode_wait_none,
	.map = orr_memnode_map_none,
	.pin = orr_memnode_pin_none,
	.unpin = orr_memnode_unpin_none,
	.exit = orr_memnode_exit_none,
};

/* ---- registration ---- */

static int count_disks(const struct orr_process *proc)
{
	int n = 0;

	for (unsigned i = 0; i < proc->data->nmemnodes; i++)
		n += proc->data->memnodes[i]->kind == STARPU_DISK_RAM;
	return n;
}

static void unplug(struct orr_process *proc, struct disk *d)
{
	struct opened *next;

	for (struct opened *o = d->opened; o; o = next) {
		next = o->next;
		if (orr_sys_has_payload(proc))
			d->ops->close(d->base, o->obj, o->size);
		free(o);
	}
	if (orr_sys_has_payload(proc))
		d->ops->unplug(d->base);
	free(d);
}

static int add_disk(struct orr_process *proc, struct starpu_disk_ops *func, void *parameter,
		    starpu_ssize_t size)
{
	struct disk *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	orr_lock_init(&d->lock, ORR_RANK_DISK);
	d->ops = func;
	d->base = orr_sys_has_payload(proc) ? func->plug(parameter, size) : d;
	if (!d->base) {
		free(d);
		return -ENOENT;
	}
	orr_lock(&proc->lock);
	int ret = orr_memory_add_node(proc, STARPU_DISK_RAM, count_disks(proc), &disk_memory, d,
				      size > 0 ? (size_t) size : 0);
	orr_unlock(&proc->lock);
	if (ret < 0) {
		orr_error("a disk cannot be registered: there are %d memory nodes already",
			  STARPU_MAXNODES);
		unplug(proc, d);
		return ret;
	}
	if (func == &starpu_disk_unistd_o_direct_ops && proc->data->malloc_align < DIRECT_ALIGN)
		proc->data->malloc_align = DIRECT_ALIGN;
	return ret;
}

int starpu_disk_register(struct starpu_disk_ops *func, void *parameter, starpu_ssize_t size)
{
	struct orr_process *proc = orr_self();

	if (proc->state != ORR_PROCESS_UP) {
		orr_error(
			"starpu_disk_register: the runtime is not running; call starpu_init first");
		return -ENODEV;
	}
	if (!func || !func->plug || !func->alloc || !func->read || !func->write) {
		orr_error(
			"starpu_disk_register: no back end; give one such as &starpu_disk_unistd_ops");
		return -EINVAL;
	}
	if (size >= 0 && size < STARPU_DISK_SIZE_MIN) {
		orr_error(
			"starpu_disk_register: %zd bytes are too few, give at least %d (STARPU_DISK_SIZE_MIN) or -1 for no limit",
			(ssize_t) size, STARPU_DISK_SIZE_MIN);
		return -EINVAL;
	}
	/* The data that tasks hold are counted if some memory is limited, and must be counted from
	 * a task's beginning. */
	if (size >= 0 && !proc->data->limited && proc->data->up->npending(proc)) {
		orr_error(
			"starpu_disk_register: tasks are under way; register disks of limited size before, or after starpu_task_wait_for_all");
		return -EBUSY;
	}
	return add_disk(proc, func, parameter, size);
}

static struct disk *check_disk(unsigned memnode, const char *what)
{
	struct orr_process *proc = orr_self();

	if (memnode < proc->data->nmemnodes &&
	    proc->data->memnodes[memnode]->kind == STARPU_DISK_RAM)
		return disk_of(proc, memnode);
	orr_error("%s: memory node %u is not a disk; give what starpu_disk_register returned", what,
		  memnode);
	return NULL;
}

void *starpu_disk_open(unsigned node, void *pos, size_t size)
{
	struct disk *d = check_disk(node, "starpu_disk_open");
	struct opened *o = d ? malloc(sizeof(*o)) : NULL;

	if (!o)
		return NULL;
	o->size = size;
	o->obj = orr_sys_has_payload(orr_self()) ? d->ops->open(d->base, pos, size) : d;
	if (!o->obj) {
		free(o);
		return NULL;
	}
	orr_lock(&d->lock);
	o->next = d->opened;
	d->opened = o;
	orr_unlock(&d->lock);
	return o->obj;
}

void starpu_disk_close(unsigned node, void *obj, size_t size)
{
	struct disk *d = check_disk(node, "starpu_disk_close");
	struct opened **at, *o = NULL;

	if (!d)
		return;
	orr_lock(&d->lock);
	for (at = &d->opened; *at && (*at)->obj != obj; at = &(*at)->next)
		;
	if ((o = *at))
		*at = o->next;
	orr_unlock(&d->lock);
	if (!o) {
		orr_error(
			"starpu_disk_close: nothing is open on memory node %u at %p: it was closed already, or never opened",
			node, obj);
		return;
	}
	if (orr_sys_has_payload(orr_self()))
		d->ops->close(d->base, obj, size);
	free(o);
}

/* ---- the disk that main memory overflows to ---- */

int orr_disk_swap_init(struct orr_process *proc)
{
	static const struct {
		const char *name;
		struct starpu_disk_ops *ops;
	} backends[] = {
		{ "unistd", &starpu_disk_unistd_ops },
		{ "stdio", &starpu_disk_stdio_ops },
		{ "unistd_o_direct", &starpu_disk_unistd_o_direct_ops },
	};
	const char *name = proc->cfg->disk_swap_backend ? proc->cfg->disk_swap_backend : "unistd";
	unsigned i;
	int ret;

	if (!proc->cfg->disk_swap)
		return 0;
	for (i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		if (!strcmp(backends[i].name, name))
			break;
	if (i == sizeof(backends) / sizeof(backends[0])) {
		orr_error("STARPU_DISK_SWAP_BACKEND=%s: it takes unistd, stdio or unistd_o_direct",
			  name);
		return -EINVAL;
	}
	ret = add_disk(proc, backends[i].ops, proc->cfg->disk_swap,
		       proc->cfg->disk_swap_size ? (starpu_ssize_t) proc->cfg->disk_swap_size : -1);
	if (ret < 0) {
		orr_error("STARPU_DISK_SWAP=%s: the folder cannot be used (%s)",
			  proc->cfg->disk_swap, strerror(-ret));
		return ret;
	}
	proc->data->swap_node = ret;
	return 0;
}

int orrery_disk_swap_node(void)
{
	struct orr_process *proc = orr_self();

	return proc->state == ORR_PROCESS_DOWN ? -1 : proc->data->swap_node;
}

void orr_disk_exit(struct orr_process *proc)
{
	for (unsigned i = 0; i < proc->data->nmemnodes; i++) {
		if (proc->data->memnodes[i]->kind != STARPU_DISK_RAM)
			continue;
		unplug(proc, disk_of(proc, i));
		proc->data->memnodes[i]->ops_arg = NULL;
	}
}
