/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moving bytes between main memory and a file (see disk_file.h).
 *
 * With O_DIRECT, offset, size and buffer must lie on blocks. What is before the first block and
 * after the last one goes through the page cache, so that a file never grows beyond its size and no
 * block is read to be written; a buffer that does not lie on a block goes through an aligned one,
 * piece by piece.
 *
 * Invariant: short transfers and interrupted ones are continued; a file is closed before a function
 * returns. */
#include "drivers/disk_file.h"
#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ((size_t) 4096) /* what every disk of today is content with */
#define BOUNCE ((size_t) 1 << 20)

static int open_for(const char *path, enum orr_disk_direction dir, int flags)
{
	int fd = open(path, (dir == ORR_DISK_READ ? O_RDONLY : O_WRONLY) | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

static int close_after(int fd, int ret)
{
	/* Some file systems tell here that they are full. */
	return close(fd) && !ret ? -errno : ret;
}

static int move(int fd, char *buf, off_t offset, size_t size, enum orr_disk_direction dir)
{
	size_t done = 0;

	while (done < size) {
		off_t at = offset + (off_t) done;
		ssize_t n = dir == ORR_DISK_READ ? pread(fd, buf + done, size - done, at)
						 : pwrite(fd, buf + done, size - done, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return dir == ORR_DISK_READ ? -ENODATA : -EIO;
		done += (size_t) n;
		orr_assert(done <= size);
	}
	return 0;
}

int orr_disk_move_unistd(const char *path, char *buf, off_t offset, size_t size,
			 enum orr_disk_direction dir)
{
	int fd = open_for(path, dir, 0);

	return fd < 0 ? fd : close_after(fd, move(fd, buf, offset, size, dir));
}

int orr_disk_move_dropped(const char *path, char *buf, off_t offset, size_t size,
			  enum orr_disk_direction dir)
{
	int fd = open_for(path, dir, 0), ret;

	if (fd < 0)
		return fd;
	ret = move(fd, buf, offset, size, dir);
	/* Only what is on the disk can be dropped. */
	if (!ret && dir == ORR_DISK_WRITE && fdatasync(fd) && errno != EINVAL)
		ret = -errno;
	posix_fadvise(fd, offset, (off_t) size, POSIX_FADV_DONTNEED);
	return close_after(fd, ret);
}

int orr_disk_move_stdio(const char *path, char *buf, off_t offset, size_t size,
			enum orr_disk_direction dir)
{
	FILE *f = fopen(path, dir == ORR_DISK_READ ? "rbe" : "r+be");
	size_t n = 0;
	int ret = 0;

	if (!f)
		return -errno;
	errno = 0;
	if (fseeko(f, offset, SEEK_SET) == 0)
		n = dir == ORR_DISK_READ ? fread(buf, 1, size, f) : fwrite(buf, 1, size, f);
	if (n < size)
		ret = feof(f) ? -ENODATA : errno ? -errno : -EIO;
	if (fclose(f) && !ret)
		ret = errno ? -errno : -EIO;
	return ret;
}

/* ---- O_DIRECT ---- */

/* Whole blocks, from or to a buffer that lies anywhere. */
static int move_blocks(int fd, char *buf, off_t offset, size_t size, enum orr_disk_direction dir)
{
	size_t piece = size < BOUNCE ? size : BOUNCE;
	void *bounce;
	int ret = 0;

	orr_assert(offset % (off_t) BLOCK == 0 && size % BLOCK == 0 && size > 0);
	if ((uintptr_t) buf % BLOCK == 0)
		return move(fd, buf, offset, size, dir);
	ret = -posix_memalign(&bounce, BLOCK, piece);
	if (ret)
		return ret;
	for (size_t done = 0; done < size && !ret; done += piece) {
		if (piece > size - done)
			piece = size - done;
		if (dir == ORR_DISK_WRITE)
			memcpy(bounce, buf + done, piece);
		ret = move(fd, bounce, offset + (off_t) done, piece, dir);
		if (!ret && dir == ORR_DISK_READ)
			memcpy(buf + done, bounce, piece);
	}
	free(bounce);
	return ret;
}

int orr_disk_move_direct(const char *path, char *buf, off_t offset, size_t size,
			 enum orr_disk_direction dir)
{
	size_t head = (BLOCK - (size_t) offset % BLOCK) % BLOCK, blocks, tail;
	int fd, ret;

	if (head > size)
		head = size;
	blocks = (size - head) / BLOCK * BLOCK;
	tail = size - head - blocks;
	orr_assert(head < BLOCK && tail < BLOCK);
	if (blocks) {
		fd = open_for(path, dir, O_DIRECT);
		ret = fd < 0 ? fd
			     : close_after(fd, move_blocks(fd, buf + head, offset + (off_t) head,
							   blocks, dir));
		/* Larger blocks than ours, or a file on another file system than its folder. */
		if (ret == -EINVAL)
			return orr_disk_move_dropped(path, buf, offset, size, dir);
		if (ret)
			return ret;
	}
	ret = head ? orr_disk_move_unistd(path, buf, offset, head, dir) : 0;
	if (!ret && tail)
		ret = orr_disk_move_unistd(path, buf + head + blocks,
					   offset + (off_t) (head + blocks), tail, dir);
	return ret;
}

int orr_disk_takes_direct(const char *path)
{
	void *block;
	int fd = open_for(path, ORR_DISK_WRITE, O_DIRECT), ok = 0;

	if (fd < 0)
		return 0;
	if (posix_memalign(&block, BLOCK, BLOCK) == 0) {
		memset(block, 0, BLOCK);
		ok = move(fd, block, 0, BLOCK, ORR_DISK_WRITE) == 0;
		free(block);
	}
	close(fd);
	return ok;
}
