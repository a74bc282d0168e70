/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The folder of checkpoints, ORRERY_CHECKPOINT_DIR: whose it is, who uses it, and how files in it
 * are opened.
 *
 * Other users may write where the folder is, so nothing in it is believed because of its name. The
 * folder and its files have to be this user's, no link is followed, and nothing that is no file is
 * read. Rank r holds a lock on rank<r>.lock, so that two runs never share a folder; a file system
 * without locks gets a warning. A process whose lock has lost its name does not use the folder.
 *
 * The folder stays open from begin to end, unless this process has many files open: opening and
 * checking it is a fifth of the time of a checkpoint of some KiB.
 *
 * Invariant: a descriptor that comes from here is of that folder, or of a regular file of this
 * user. */
#include "mpi/checkpoint/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

enum {
	LOCKED_RANKS = 64, /* more of them would keep a descriptor each, and say nothing new */
	KEPT_BELOW = 512,  /* descriptors: one process may have the folders of many ranks */
	TRIES = 50         /* for a lock that the processes of a run that was killed still hold */
};
#define PAUSE_US 100e3

/* ---- who this is ---- */

/* The words of the command, each with its end; their bytes. */
static size_t read_command(char *to, size_t size)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got = fd < 0 ? 0 : 1;

	while (got > 0 && n < size && (got = read(fd, to + n, size - n)) > 0)
		n += (size_t) got;
	if (fd >= 0)
		close(fd);
	return n;
}

static void find_identity(struct orr_cp_identity *id)
{
	static const size_t room = 1 << 17;
	char *words = calloc(1, room + 1);
	size_t n = words ? read_command(words, room) : 0, first = words ? strlen(words) : 0;
	const char *slash = words ? strrchr(words, '/') : NULL, *name = words ? words : "";

	if (slash && (size_t) (slash - words) < first)
		name = slash + 1;
	if (n && first >= n)
		first = n - 1;
	*id = (struct orr_cp_identity){ .program = orr_cp_hash(name, strlen(name)),
					.arguments = n ? orr_cp_hash(words + first, n - first)
						       : 0 };
	for (size_t i = first; i + 1 < n; i++)
		if ((unsigned char) words[i] < ' ')
			words[i] = ' ';
	snprintf(id->command, sizeof(id->command), "%s", name);
	free(words);
}

/* ---- the folder ---- */

/* 0, or -errno after a message: the folder is somebody else's, or anybody may write there. */
static int check_folder(const char *path, int fd)
{
	struct stat st, link;

	if (fstat(fd, &st) || lstat(path, &link)) {
		int ret = -errno;
		orr_error("ORRERY_CHECKPOINT_DIR=%s: %s", path, strerror(-ret));
		return ret;
	}
	if (st.st_uid != geteuid() || (S_ISLNK(link.st_mode) && link.st_uid != geteuid())) {
		orr_error(
			"ORRERY_CHECKPOINT_DIR=%s belongs to user %u, and this is user %u: checkpoints are kept in a folder of one's own",
			path, (unsigned) (st.st_uid != geteuid() ? st.st_uid : link.st_uid),
			(unsigned) geteuid());
		return -EPERM;
	}
	if (st.st_mode & S_IWOTH) {
		orr_error("ORRERY_CHECKPOINT_DIR=%s: everybody may write there; chmod o-w %s", path,
			  path);
		return -EPERM;
	}
	return 0;
}

/* `orrery run` removes the names of locks that it cannot get back otherwise (tools/orrery_run.py).
 */
static int is_locked_out(const struct orr_checkpoints *cp)
{
	struct stat st;

	return cp->lock >= 0 && (fstat(cp->lock, &st) || !st.st_nlink);
}

static int open_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;

	if (fd < 0) {
		ret = -errno;
		orr_error("ORRERY_CHECKPOINT_DIR=%s: %s", path, strerror(-ret));
		return ret;
	}
	ret = check_folder(path, fd);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

int orr_cp_folder(const struct orr_checkpoints *cp)
{
	if (!is_locked_out(cp))
		return cp->folder >= 0 ? cp->folder : open_folder(cp->dir);
	orr_error(
		"ORRERY_CHECKPOINT_DIR=%s: the run goes on without this process, which was not heard for a long time; it writes nothing more",
		cp->dir);
	return -ESTALE;
}

void orr_cp_folder_done(const struct orr_checkpoints *cp, int folder)
{
	if (folder >= 0 && folder != cp->folder)
		close(folder);
}

/* 0, or -errno: it is no regular file of this user. */
static int check_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EMEDIUMTYPE;
	return st.st_uid == geteuid() ? 0 : -EPERM;
}

int orr_cp_file_at(int folder, const char *name, int flags)
{
	int fd = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	/* One that did not exist is this user's. */
	int ret = fd < 0 ? -errno : flags & O_EXCL ? 0 : check_file(fd);

	if (!ret)
		return fd;
	if (fd >= 0)
		close(fd);
	return ret;
}

/* ---- the lock ---- */

/* 1: it is ours, 0: somebody else has it, -errno. */
static int try_lock(int folder, const char *name, int *fd)
{
	struct stat held, named;

	*fd = orr_cp_file_at(folder, name, O_RDWR | O_CREAT);
	if (*fd < 0)
		return *fd;
	int ret = flock(*fd, LOCK_EX | LOCK_NB) ? -errno : 1;
	if (ret == -EWOULDBLOCK)
		return 0;
	/* The one who had it may have removed it meanwhile. */
	if (ret == 1 && (fstat(*fd, &held) || fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) ||
			 held.st_ino != named.st_ino || held.st_dev != named.st_dev))
		return 0;
	return ret;
}

static void name_of_lock(int rank, char *name, size_t size)
{
	snprintf(name, size, "rank%d.lock", rank);
}

/* The file says who has it. */
static void sign(const struct orr_checkpoints *cp)
{
	char text[512], host[128] = "";

	gethostname(host, sizeof(host) - 1);
	int n = snprintf(text, sizeof(text), "process %ld on %s, `%s`\n", (long) getpid(), host,
			 cp->me.command);
	if (ftruncate(cp->lock, 0) || pwrite(cp->lock, text, (size_t) n, 0) != n)
		orr_warn("ORRERY_CHECKPOINT_DIR=%s: the lock cannot be written", cp->dir);
}

static void say_who(const struct orr_checkpoints *cp, int fd)
{
	char text[512] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? strcspn(text, "\n") : 0] = 0;
	orr_error(
		"ORRERY_CHECKPOINT_DIR=%s is in use by another run (%s): wait for its end, or give this run another folder",
		cp->dir, *text ? text : "which has not said who it is");
}

static int lock_folder(struct orr_checkpoints *cp, int folder, int rank)
{
	char name[32];
	int ret = 0;

	if (rank >= LOCKED_RANKS)
		return 0;
	name_of_lock(rank, name, sizeof(name));
	for (int i = 0; i < TRIES && !ret; i++) {
		if (i)
			orr_sys_sleep_us(PAUSE_US);
		ret = try_lock(folder, name, &cp->lock);
		if (ret == 1) {
			sign(cp);
			return 0;
		}
		if (!ret && i == TRIES - 1)
			say_who(cp, cp->lock);
		if (cp->lock >= 0)
			close(cp->lock);
		cp->lock = -1;
	}
	if (!ret)
		return -EBUSY;
	if (ret == -ENOLCK || ret == -EOPNOTSUPP) {
		orr_warn(
			"ORRERY_CHECKPOINT_DIR=%s: its file system has no locks; take care that no other run uses it",
			cp->dir);
		return 0;
	}
	orr_error("ORRERY_CHECKPOINT_DIR=%s: %s: %s", cp->dir, name, orr_cp_why(ret));
	return ret;
}

/* ---- start and end ---- */

const char *orr_cp_why(int ret)
{
	return ret == -EMEDIUMTYPE ? "it is no file"
	       : ret == -ELOOP     ? "it is a link"
	       : ret == -EPERM     ? "it belongs to another user"
	       : ret == -EAGAIN    ? "it is locked"
				   : strerror(-ret);
}

int orr_cp_folder_begin(struct orr_checkpoints *cp, const char *dir, int rank)
{
	cp->lock = cp->folder = -1;
	if (!dir || !*dir)
		return 0;
	find_identity(&cp->me);
	if (mkdir(dir, 0700) && errno != EEXIST) {
		int ret = -errno;
		orr_error("ORRERY_CHECKPOINT_DIR=%s cannot be made: %s", dir, strerror(-ret));
		return ret;
	}
	cp->dir = strdup(dir);
	if (!cp->dir)
		return -ENOMEM;
	cp->folder = open_folder(dir);
	int ret = cp->folder < 0 ? cp->folder : lock_folder(cp, cp->folder, rank);
	if (cp->folder >= 0 && (ret || cp->folder >= KEPT_BELOW)) {
		close(cp->folder);
		cp->folder = -1;
	}
	if (ret) {
		free(cp->dir);
		cp->dir = NULL;
	}
	return ret;
}

/* Removes the locks that nobody holds: those of larger runs that did not end in order. */
static void remove_stale(int folder)
{
	char name[32];

	for (int rank = 1; rank < LOCKED_RANKS; rank++) {
		name_of_lock(rank, name, sizeof(name));
		int fd = orr_cp_file_at(folder, name, O_RDWR);
		if (fd < 0)
			continue;
		if (!flock(fd, LOCK_EX | LOCK_NB))
			unlinkat(folder, name, 0);
		close(fd);
	}
}

void orr_cp_folder_end(struct orr_checkpoints *cp, int rank)
{
	char name[32];
	int folder = cp->lock < 0 ? -1 : orr_cp_folder(cp);

	if (folder >= 0) {
		name_of_lock(rank, name, sizeof(name));
		unlinkat(folder, name, 0);
		if (rank == 0)
			remove_stale(folder);
		orr_cp_folder_done(cp, folder);
	}
	if (cp->lock >= 0)
		close(cp->lock);
	if (cp->folder >= 0)
		close(cp->folder);
	cp->lock = cp->folder = -1;
	free(cp->dir);
	cp->dir = NULL;
}
