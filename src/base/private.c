/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folders and files that are this user's alone.
 *
 * Invariant: see private.h. */
#include "base/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_private(const char *path)
{
	struct stat st, link;
	if (stat(path, &st) || lstat(path, &link))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return st.st_uid == geteuid() && link.st_uid == geteuid() &&
			       !(st.st_mode & (S_IWGRP | S_IWOTH))
		       ? 0
		       : -EPERM;
}

int orr_private_parents(const char *path)
{
	char p[4096];
	if ((size_t) snprintf(p, sizeof(p), "%s", path) >= sizeof(p))
		return -ENAMETOOLONG;
	for (char *s = strchr(p + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = 0;
		if (mkdir(p, 0700) && errno != EEXIST)
			return -errno;
		*s = '/';
	}
	return 0;
}

int orr_private_folder(const char *path)
{
	int ret = orr_private_parents(path);
	if (ret)
		return ret;
	return mkdir(path, 0700) && errno != EEXIST ? -errno : is_private(path);
}

int orr_private_open(const char *path, int flags)
{
	struct stat st;
	int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	int err = fstat(fd, &st)                                  ? -errno
		  : S_ISREG(st.st_mode) && st.st_uid == geteuid() ? 0
								  : -EPERM;
	if (!err)
		return fd;
	close(fd);
	return err;
}

const char *orr_private_why(int err)
{
	return err == -EPERM   ? "it is another user's, or others may write there"
	       : err == -ELOOP ? "it is a link"
			       : strerror(-err);
}
