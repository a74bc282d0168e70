/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects of a disk as files of one folder (see disk_file.h).
 *
 * Invariant: files made by alloc are removed by free; those that open found are never removed. */
#include "drivers/disk_file.h"
#include "core/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *orr_disk_file_plug(void *parameter, starpu_ssize_t size)
{
	const char *folder = parameter;
	struct stat st;

	(void) size;
	if (!folder)
		return NULL;
	if (mkdir(folder, 0700) && errno != EEXIST) {
		orr_error("disk: the folder %s cannot be made: %s", folder, strerror(errno));
		return NULL;
	}
	if (stat(folder, &st) || !S_ISDIR(st.st_mode) || access(folder, W_OK | X_OK)) {
		orr_error("disk: %s is not a folder that can be written to", folder);
		return NULL;
	}
	return strdup(folder);
}

void orr_disk_file_unplug(void *base) { free(base); }

int orr_disk_file_bandwidth(unsigned node, void *base)
{
	(void) node;
	(void) base;
	return 0;
}

static struct orr_disk_file *make(const char *folder, const char *name)
{
	struct orr_disk_file *f = malloc(sizeof(*f));
	size_t n = strlen(folder) + strlen(name) + 2;

	if (f && !(f->path = malloc(n))) {
		free(f);
		f = NULL;
	}
	if (f)
		snprintf(f->path, n, "%s/%s", folder, name);
	return f;
}

static void unmake(struct orr_disk_file *f)
{
	free(f->path);
	free(f);
}

void *orr_disk_file_alloc(void *base, size_t size)
{
	struct orr_disk_file *f = make(base, "orrery-XXXXXX");
	int fd;

	if (!f)
		return NULL;
	fd = mkstemp(f->path);
	if (fd < 0 || ftruncate(fd, (off_t) size)) {
		orr_error("disk: a file of %zu bytes cannot be made in %s: %s", size, (char *) base, strerror(errno));
		if (fd >= 0) {
			close(fd);
			unlink(f->path);
		}
		unmake(f);
		return NULL;
	}
	close(fd);
	return f;
}

void orr_disk_file_free(void *base, void *obj, size_t size)
{
	struct orr_disk_file *f = obj;

	(void) base;
	(void) size;
	unlink(f->path);
	unmake(f);
}

void *orr_disk_file_open(void *base, void *pos, size_t size)
{
	struct orr_disk_file *f = make(base, pos);

	if (!f)
		return NULL;
	if (access(f->path, R_OK | W_OK)) {
		orr_error("disk: %s cannot be opened for reading and writing: %s", f->path, strerror(errno));
		unmake(f);
		return NULL;
	}
	if (truncate(f->path, (off_t) size) && errno != EINVAL)
		orr_warn("disk: the size of %s cannot be set to %zu: %s", f->path, size, strerror(errno));
	return f;
}

void orr_disk_file_close(void *base, void *obj, size_t size)
{
	(void) base;
	(void) size;
	unmake(obj);
}

int orr_disk_file_full_read(int (*read)(void *, void *, void *, off_t, size_t), void *base, void *obj, void **ptr, size_t *size, unsigned dst_node)
{
	struct orr_disk_file *f = obj;
	struct stat st;
	int ret;

	if (stat(f->path, &st))
		return -errno;
	*size = (size_t) st.st_size;
	*ptr = (void *) starpu_malloc_on_node_flags(dst_node, *size, 0);
	if (!*ptr)
		return -ENOMEM;
	ret = read(base, obj, *ptr, 0, *size);
	if (ret)
		starpu_free_on_node_flags(dst_node, (uintptr_t) *ptr, *size, 0);
	return ret;
}
