/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Output files (see output.h). */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/private.h"
#include "base/process.h"

/* The folder of the path; "." for none, "/" for the root. */
static void folder_of(const char *path, char *folder, size_t size)
{
	const char *slash = strrchr(path, '/');
	size_t n = !slash ? 0 : slash == path ? 1 : (size_t) (slash - path);

	snprintf(folder, size, "%.*s", n ? (int) n : 1, n ? path : ".");
}

/* Can entries be made in the folder? Returns 0 or -errno. */
static int folder_writable(const char *folder)
{
	struct stat st;

	if (stat(folder, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return access(folder, W_OK | X_OK) ? -errno : 0;
}

/* A pipe or a device is not opened here: a reader would see its end. */
static int file_writable(const char *path, const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	if (!S_ISREG(st->st_mode))
		return access(path, W_OK) ? -errno : 0;

	int fd = orr_private_output(path, O_WRONLY | O_TRUNC);

	return fd < 0 ? fd : close(fd) ? -errno : 0;
}

void orr_output_refuse_folder(const char *variable, const char *path, int err)
{
	char folder[4096];

	folder_of(path, folder, sizeof(folder));
	orr_error("%s: the folder '%s' cannot be written to: %s; create it or name another place",
		  variable, folder, strerror(-err));
}

int orr_output_prepare(const char *variable, const char *path)
{
	char folder[4096];
	struct stat st;
	int err = stat(path, &st) ? -errno : file_writable(path, &st);

	if (err == -ENOENT) {
		folder_of(path, folder, sizeof(folder));
		err = folder_writable(folder);
		if (err)
			orr_output_refuse_folder(variable, path, err);
	} else if (err)
		orr_error("%s: '%s' cannot be written: %s; name another file", variable, path,
			  orr_private_why(err));
	return err;
}

int orr_output_prepare_folder(const char *variable, const char *path)
{
	char folder[4096], parent[4096];
	int err;

	snprintf(folder, sizeof(folder), "%s", path);
	while ((err = folder_writable(folder)) == -ENOENT) {
		folder_of(folder, parent, sizeof(parent));
		if (!strcmp(parent, folder))
			break;
		memcpy(folder, parent, sizeof(folder));
	}
	if (err)
		orr_error("%s: '%s' cannot be written to: '%s': %s; name another folder", variable,
			  path, folder, strerror(-err));
	return err;
}

static int fail(const char *variable, const char *path, int err)
{
	orr_error("%s: '%s' cannot be written: %s; make room there or name another file", variable,
		  path, orr_private_why(err));
	orr_sys_fail_at_end(orr_self());
	return err;
}

FILE *orr_output_open(const char *variable, const char *path)
{
	int fd = orr_private_output(path, O_WRONLY | O_CREAT | O_TRUNC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f)
		fail(variable, path, fd < 0 ? fd : -errno);
	if (!f && fd >= 0)
		close(fd);
	return f;
}

int orr_output_close(FILE *f, const char *variable, const char *path)
{
	int err = fflush(f) || ferror(f) ? -(errno ? errno : EIO) : 0;

	if (fclose(f) && !err)
		err = -errno;
	return err ? fail(variable, path, err) : 0;
}
