/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folders and files that are this user's alone.
 *
 * Invariant: see private.h. */
#include "base/private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_STEP_MS = 2, LOCK_PATIENCE_MS = 20000 };

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

/* May everybody make files where the path is? */
static int is_in_public(const char *path)
{
	char folder[4096];
	const char *slash = strrchr(path, '/');
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int) (slash - path) : 0, path);
	return !stat(!slash ? "." : *folder ? folder : "/", &st) && st.st_mode & S_IWOTH;
}

int orr_private_output(const char *path, int flags)
{
	struct stat st;
	int is_public = is_in_public(path);
	/* A file is emptied when its owner is known. */
	int now = is_public ? (flags & ~O_TRUNC) | O_NOFOLLOW | O_NONBLOCK : flags;
	int fd = open(path, now | O_CLOEXEC, 0666);

	if (fd < 0) {
		int err = -errno;
		/* In a folder with the sticky bit, Linux says EACCES of another user's link. */
		return is_public && !lstat(path, &st) && S_ISLNK(st.st_mode) ? -ELOOP : err;
	}
	if (!is_public)
		return fd;
	/* Only the opening may not wait. A file with another name may be one of ours elsewhere. */
	if (!fstat(fd, &st) && st.st_uid == geteuid() &&
	    !(S_ISREG(st.st_mode) && st.st_nlink > 1) &&
	    !fcntl(fd, F_SETFL, flags & ~(O_CREAT | O_TRUNC)) &&
	    !(flags & O_TRUNC && S_ISREG(st.st_mode) && ftruncate(fd, 0)))
		return fd;
	close(fd);
	return -EPERM;
}

int orr_private_lock(int fd)
{
	for (int waited_ms = 0; flock(fd, LOCK_EX | LOCK_NB); waited_ms += LOCK_STEP_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (waited_ms >= LOCK_PATIENCE_MS)
			return -EBUSY;
		poll(NULL, 0, LOCK_STEP_MS);
	}
	return 0;
}

const char *orr_private_why(int err)
{
	return err == -EPERM   ? "it is another user's, has another name, or others may write there"
	       : err == -ELOOP ? "it is a link"
	       : err == -EBUSY ? "somebody holds its lock"
			       : strerror(-err);
}
