/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The disk back end on the C library's streams.
 *
 * Invariant: a transfer is complete or gives an error; the stream is closed, so flushed, before it returns. */
#include "drivers/disk_file.h"
#include "core/node.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(struct orr_disk_file *f, const char *what, size_t size)
{
	int err = errno ? errno : EIO;

	orr_error("disk: %s %zu bytes of %s failed: %s", what, size, f->path, strerror(err));
	return -err;
}

static int stdio_read(void *base, void *obj, void *buf, off_t offset, size_t size)
{
	struct orr_disk_file *f = obj;
	FILE *file = fopen(f->path, "rb");
	int ok;

	(void) base;
	errno = 0;
	ok = file && fseeko(file, offset, SEEK_SET) == 0 && fread(buf, 1, size, file) == size;
	if (file)
		fclose(file);
	return ok ? 0 : fail(f, "reading", size);
}

static int stdio_write(void *base, void *obj, const void *buf, off_t offset, size_t size)
{
	struct orr_disk_file *f = obj;
	FILE *file = fopen(f->path, "r+b");
	int ok;

	(void) base;
	errno = 0;
	ok = file && fseeko(file, offset, SEEK_SET) == 0 && fwrite(buf, 1, size, file) == size;
	if (file && fclose(file))
		ok = 0;
	return ok ? 0 : fail(f, "writing", size);
}

static int stdio_full_read(void *base, void *obj, void **ptr, size_t *size, unsigned dst_node)
{
	return orr_disk_file_full_read(stdio_read, base, obj, ptr, size, dst_node);
}

static int stdio_full_write(void *base, void *obj, void *ptr, size_t size)
{
	struct orr_disk_file *f = obj;

	return truncate(f->path, (off_t) size) ? -errno : stdio_write(base, obj, ptr, 0, size);
}

struct starpu_disk_ops starpu_disk_stdio_ops = {
	.plug = orr_disk_file_plug,
	.unplug = orr_disk_file_unplug,
	.bandwidth = orr_disk_file_bandwidth,
	.alloc = orr_disk_file_alloc,
	.free = orr_disk_file_free,
	.open = orr_disk_file_open,
	.close = orr_disk_file_close,
	.read = stdio_read,
	.write = stdio_write,
	.full_read = stdio_full_read,
	.full_write = stdio_full_write,
};
