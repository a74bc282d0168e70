/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Disk back ends on system calls: with the page cache, and without it (what was transferred is dropped from the cache).
 *
 * Invariant: a transfer is complete or gives an error; short reads and writes are continued. */
#include "drivers/disk_file.h"
#include "core/node.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum direction { READ, WRITE };

static int transfer(void *obj, char *buf, off_t offset, size_t size, enum direction dir, int uncached)
{
	struct orr_disk_file *f = obj;
	size_t done = 0;
	int fd = open(f->path, dir == READ ? O_RDONLY : O_WRONLY), ret = 0;

	while (fd >= 0 && done < size) {
		ssize_t n = dir == READ ? pread(fd, buf + done, size - done, offset + (off_t) done) :
					  pwrite(fd, buf + done, size - done, offset + (off_t) done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t) n;
	}
	if (fd < 0 || done < size) {
		ret = errno ? -errno : -EIO;
		orr_error("disk: %s %zu bytes at %lld of %s failed: %s", dir == READ ? "reading" : "writing", size, (long long) offset, f->path,
			  strerror(-ret));
	}
	if (fd >= 0 && uncached) {
		if (dir == WRITE)
			fdatasync(fd);
		posix_fadvise(fd, offset, (off_t) size, POSIX_FADV_DONTNEED);
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

static int unistd_read(void *base, void *obj, void *buf, off_t offset, size_t size)
{
	(void) base;
	return transfer(obj, buf, offset, size, READ, 0);
}

static int unistd_write(void *base, void *obj, const void *buf, off_t offset, size_t size)
{
	(void) base;
	return transfer(obj, (char *) buf, offset, size, WRITE, 0);
}

static int unistd_full_read(void *base, void *obj, void **ptr, size_t *size, unsigned dst_node)
{
	return orr_disk_file_full_read(unistd_read, base, obj, ptr, size, dst_node);
}

static int unistd_full_write(void *base, void *obj, void *ptr, size_t size)
{
	struct orr_disk_file *f = obj;

	return truncate(f->path, (off_t) size) ? -errno : unistd_write(base, obj, ptr, 0, size);
}

static int direct_read(void *base, void *obj, void *buf, off_t offset, size_t size)
{
	(void) base;
	return transfer(obj, buf, offset, size, READ, 1);
}

static int direct_write(void *base, void *obj, const void *buf, off_t offset, size_t size)
{
	(void) base;
	return transfer(obj, (char *) buf, offset, size, WRITE, 1);
}

static int direct_full_read(void *base, void *obj, void **ptr, size_t *size, unsigned dst_node)
{
	return orr_disk_file_full_read(direct_read, base, obj, ptr, size, dst_node);
}

static int direct_full_write(void *base, void *obj, void *ptr, size_t size)
{
	struct orr_disk_file *f = obj;

	return truncate(f->path, (off_t) size) ? -errno : direct_write(base, obj, ptr, 0, size);
}

struct starpu_disk_ops starpu_disk_unistd_ops = {
	.plug = orr_disk_file_plug,
	.unplug = orr_disk_file_unplug,
	.bandwidth = orr_disk_file_bandwidth,
	.alloc = orr_disk_file_alloc,
	.free = orr_disk_file_free,
	.open = orr_disk_file_open,
	.close = orr_disk_file_close,
	.read = unistd_read,
	.write = unistd_write,
	.full_read = unistd_full_read,
	.full_write = unistd_full_write,
};

struct starpu_disk_ops starpu_disk_unistd_o_direct_ops = {
	.plug = orr_disk_file_plug,
	.unplug = orr_disk_file_unplug,
	.bandwidth = orr_disk_file_bandwidth,
	.alloc = orr_disk_file_alloc,
	.free = orr_disk_file_free,
	.open = orr_disk_file_open,
	.close = orr_disk_file_close,
	.read = direct_read,
	.write = direct_write,
	.full_read = direct_full_read,
	.full_write = direct_full_write,
};
