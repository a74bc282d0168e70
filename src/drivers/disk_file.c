/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The disk back ends that keep one file per object in a folder; they differ in how bytes are moved
 * (disk_io.c).
 *
 * A file is opened for each transfer, so that the number of objects is not limited by that of
 * descriptors.
 *
 * Invariant: files made by alloc are removed by free and have their space reserved where the file
 * system can do that; those that open found are never removed nor made shorter. A folder
 * that plug made is removed by unplug if it is empty then. */
#include "drivers/disk_file.h"
#include "core/worker/core.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder {
	char *path;
	orr_disk_move *move;
	int made; /* by plug, so that unplug removes it */
};

struct file {
	char *path;
};

/* ---- folders ---- */

/* Makes a file in the folder; its descriptor or -errno. *path is the caller's. */
static int make_file(const char *folder, char **path)
{
	static const char name[] = "/orrery-XXXXXX";
	int fd;

	*path = malloc(strlen(folder) + sizeof(name));
	if (!*path)
		return -ENOMEM;
	strcat(strcpy(*path, folder), name);
	fd = mkostemp(*path, O_CLOEXEC);
	if (fd >= 0)
		return fd;
	fd = -errno;
	free(*path);
	*path = NULL;
	return fd;
}

/* Can files be made there, and, when that is asked for, be used with O_DIRECT? 1, 0 (only the
 * former) or -errno. */
static int probe(const char *folder, int direct)
{
	char *path;
	int fd = make_file(folder, &path), ret = 1;

	if (fd < 0)
		return fd;
	close(fd);
	if (direct)
		ret = orr_disk_takes_direct(path);
	unlink(path);
	free(path);
	return ret;
}

/* Finds out how the folder can be used. 0, or -1 after a message. */
static int choose_move(const char *path, orr_disk_move **move)
{
	int ret = probe(path, *move == orr_disk_move_direct);

	if (ret < 0) {
		orr_error(
			"disk: no file can be made in %s: %s; give a folder that can be written to",
			path, strerror(-ret));
		return -1;
	}
	if (ret == 0) {
		orr_warn(
			"disk: the file system of %s has no O_DIRECT: what is written there goes through the page cache and is then dropped from it",
			path);
		*move = orr_disk_move_dropped;
	}
	return 0;
}

static void *plug(const char *path, orr_disk_move *move)
{
	if (!path) {
		orr_error("disk: no folder was given");
		return NULL;
	}
	int made = mkdir(path, 0700) == 0;
	if (!made && errno != EEXIST) {
		orr_error("disk: the folder %s cannot be made: %s", path, strerror(errno));
		return NULL;
	}
	struct folder *f = choose_move(path, &move) ? NULL : malloc(sizeof(*f));
	if (f && !(f->path = strdup(path))) {
		free(f);
		f = NULL;
	}
	if (f) {
		f->move = move;
		f->made = made;
	} else if (made) {
		rmdir(path);
	}
	return f;
}

static void *plug_stdio(void *parameter, starpu_ssize_t size)
{
	(void) size;
	return plug(parameter, orr_disk_move_stdio);
}

static void *plug_unistd(void *parameter, starpu_ssize_t size)
{
	(void) size;
	return plug(parameter, orr_disk_move_unistd);
}

static void *plug_direct(void *parameter, starpu_ssize_t size)
{
	(void) size;
	return plug(parameter, orr_disk_move_direct);
}

static void unplug(void *base)
{
	struct folder *f = base;

	/* It stays if the program has files in it. */
	if (f->made)
		rmdir(f->path);
	free(f->path);
	free(f);
}

static int bandwidth(unsigned node, void *base)
{
	(void) node;
	(void) base;
	return 0;
}

/* ---- objects ---- */

static void *object(char *path)
{
	struct file *f = path ? malloc(sizeof(*f)) : NULL;

	if (f)
		f->path = path;
	else
		free(path);
	return f;
}

/* Files are reserved in full, so that a disk that is full says so now. Few file systems cannot:
 * there a write may fail later. */
static int reserve(int fd, size_t size)
{
	if (!size || fallocate(fd, 0, 0, (off_t) size) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	return ftruncate(fd, (off_t) size) ? -errno : 0;
}

static void *object_alloc(void *base, size_t size)
{
	char *path;
	int fd = make_file(((struct folder *) base)->path, &path),
	    ret = fd < 0 ? fd : reserve(fd, size);
	void *obj = NULL;

	if (fd >= 0)
		close(fd);
	if (fd >= 0 && ret) {
		unlink(path);
		free(path);
	}
	if (!ret && !(obj = object(path)))
		ret = -ENOMEM;
	if (ret)
		errno = -ret;
	return obj;
}

static void object_close(void *base, void *obj, size_t size)
{
	struct file *f = obj;

	(void) base;
	(void) size;
	free(f->path);
	free(f);
}

static void object_free(void *base, void *obj, size_t size)
{
	unlink(((struct file *) obj)->path);
	object_close(base, obj, size);
}

static void *object_open(void *base, void *pos, size_t size)
{
	const char *folder = ((struct folder *) base)->path, *name = pos;
	size_t n = strlen(folder) + strlen(name) + 2;
	char *path = malloc(n);
	struct stat st;

	if (!path)
		return NULL;
	snprintf(path, n, "%s/%s", folder, name);
	if (access(path, R_OK | W_OK) || stat(path, &st)) {
		orr_error("disk: %s cannot be opened for reading and writing: %s", path,
			  strerror(errno));
		free(path);
		return NULL;
	}
	if (S_ISREG(st.st_mode) && (size_t) st.st_size < size && truncate(path, (off_t) size)) {
		orr_error("disk: %s has %lld bytes and cannot be extended to %zu: %s", path,
			  (long long) st.st_size, size, strerror(errno));
		free(path);
		return NULL;
	}
	return object(path);
}

/* ---- transfers ---- */

/* The caller tells of a full disk: it knows how much there should be. */
static int told(int ret, const struct file *f, const char *what, off_t offset, size_t size)
{
	if (ret == -ENOSPC || ret == -EDQUOT || ret == -EFBIG)
		return -ENOSPC;
	if (ret == -ENODATA)
		orr_error(
			"disk: %s %zu bytes at %lld of %s: the file ends before; give starpu_disk_open the size that the data have",
			what, size, (long long) offset, f->path);
	else if (ret)
		orr_error("disk: %s %zu bytes at %lld of %s failed: %s", what, size,
			  (long long) offset, f->path, strerror(-ret));
	return ret;
}

static int object_read(void *base, void *obj, void *buf, off_t offset, size_t size)
{
	struct file *f = obj;

	return told(((struct folder *) base)->move(f->path, buf, offset, size, ORR_DISK_READ), f,
		    "reading", offset, size);
}

static int object_write(void *base, void *obj, const void *buf, off_t offset, size_t size)
{
	struct file *f = obj;

	return told(
		((struct folder *) base)->move(f->path, (char *) buf, offset, size, ORR_DISK_WRITE),
		f, "writing", offset, size);
}

static int object_full_read(void *base, void *obj, void **ptr, size_t *size, unsigned dst_node)
{
	struct stat st;
	int ret;

	if (stat(((struct file *) obj)->path, &st))
		return told(-errno, obj, "reading", 0, 0);
	*size = (size_t) st.st_size;
	*ptr = (void *) starpu_malloc_on_node_flags(dst_node, *size, 0);
	if (!*ptr)
		return -ENOMEM;
	ret = object_read(base, obj, *ptr, 0, *size);
	if (ret)
		starpu_free_on_node_flags(dst_node, (uintptr_t) *ptr, *size, 0);
	return ret;
}

static int object_full_write(void *base, void *obj, void *ptr, size_t size)
{
	if (truncate(((struct file *) obj)->path, (off_t) size))
		return told(-errno, obj, "writing", 0, size);
	return object_write(base, obj, ptr, 0, size);
}

#define FILES(how) \
	{ \
		.plug = plug_##how, .unplug = unplug, .bandwidth = bandwidth, \
		.alloc = object_alloc, .free = object_free, .open = object_open, \
		.close = object_close, .read = object_read, .write = object_write, \
		.full_read = object_full_read, .full_write = object_full_write, \
	}

struct starpu_disk_ops starpu_disk_stdio_ops = FILES(stdio);
struct starpu_disk_ops starpu_disk_unistd_ops = FILES(unistd);
struct starpu_disk_ops starpu_disk_unistd_o_direct_ops = FILES(direct);
