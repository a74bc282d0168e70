/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of loaded models, and their files (see model_store.h).
 *
 * Invariant: a file is replaced as a whole by rename, under a lock file that all processes take,
 * and after the changes of other processes have been read. */
#include "perf/model_store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/checksum.h"
#include "base/log.h"
#include "base/private.h"
#include "perf/model_file.h"
#include "perf/model_index.h"
#include "perf/model_learn.h"

/* The longest wait for the lock of a place, whose holder writes one small file. */
enum { LOCK_PATIENCE_MS = 20000, LOCK_STEP_MS = 2 };

static struct {
	orr_lock_t lock; /* protects the list and the counts of references */
	struct orr_model *first;
} loaded = { .lock = ORR_LOCK_INIT(MODELS) };

/* ---- life ---- */

static void model_free(struct orr_model *m)
{
	if (!m)
		return;
	orr_model_index_free(m);
	orr_model_data_free(m->data);
	free(m->key);
	free(m->symbol);
	free(m->machine);
	free(m);
}

static struct orr_model *model_new(const char *symbol, const char *machine,
				   struct orr_model_data *data)
{
	struct orr_model *m = calloc(1, sizeof(*m));
	if (!m) {
		orr_model_data_free(data);
		return NULL;
	}
	orr_lock_init(&m->lock, ORR_RANK_MODEL);
	m->refs = 1;
	m->symbol = strdup(symbol);
	m->machine = strdup(machine);
	m->data = data ? data : orr_model_data_new();
	if (!m->symbol || !m->machine || !m->data || orr_model_index_all(m)) {
		model_free(m);
		return NULL;
	}
	return m;
}

struct orr_model *orr_model_private(const char *symbol, struct orr_model_data *data)
{
	return model_new(symbol, "", data);
}

static void remember_identity(struct orr_model *m, const char *path)
{
	struct stat st;
	if (stat(path, &st))
		return;
	m->discard = 1;
	m->old_dev = st.st_dev;
	m->old_ino = st.st_ino;
	m->old_mtime = st.st_mtim;
}

static struct orr_model *model_load(const char *symbol, const char *machine,
				    const char *const *dirs, int discard)
{
	char path[4096];
	struct orr_model_data *data = NULL;
	int err = orr_model_locate(symbol, machine, dirs, path, sizeof(path));
	int found = !err;
	if (!err && !discard)
		err = orr_model_file_read(path, &data);
	struct orr_model *m = model_new(symbol, machine, data);
	if (m) {
		size_t n = found ? strnlen(path, sizeof(m->path) - 1) : 0;
		memcpy(m->path, path, n);
		m->path[n] = 0;
		m->broken = err == -EINVAL || err == -EIO;
		if (discard)
			m->learning = 1;
	}
	return m;
}

static char *make_key(const char *symbol, const char *machine, const char *const *dirs, int discard)
{
	size_t n = strlen(symbol) + strlen(machine) + 8;
	for (unsigned i = 0; dirs[i]; i++)
		n += strlen(dirs[i]) + 1;
	char *key = malloc(n), *p = key;
	if (!key)
		return NULL;
	p += sprintf(p, "%d\n%s\n%s", discard, machine, symbol);
	for (unsigned i = 0; dirs[i]; i++)
		p += sprintf(p, "\n%s", dirs[i]);
	return key;
}

struct orr_model *orr_model_acquire(const char *symbol, const char *machine,
				    const char *const *dirs, int discard)
{
	char *key = make_key(symbol, machine, dirs, discard);
	if (!key)
		return NULL;
	orr_lock(&loaded.lock);
	struct orr_model *m = loaded.first;
	while (m && strcmp(m->key, key))
		m = m->next;
	orr_assert(!m || m->refs > 0);
	if (m) {
		m->refs++;
	} else {
		m = model_load(symbol, machine, dirs, discard);
		if (m) {
			m->key = key;
			key = NULL;
			m->next = loaded.first;
			loaded.first = m;
			/* Models are written to the last place. */
			unsigned last = 0;
			char path[4096];
			while (dirs[last] && dirs[last + 1])
				last++;
			if (discard && dirs[0] &&
			    !orr_model_write_path(symbol, machine, dirs[last], path, sizeof(path)))
				remember_identity(m, path);
		}
	}
	orr_unlock(&loaded.lock);
	free(key);
	return m;
}

void orr_model_release(struct orr_model *m)
{
	if (!m)
		return;
	orr_lock(&loaded.lock);
	orr_assert(m->refs > 0);
	int last = --m->refs == 0;
	if (last && m->key) {
		struct orr_model **p = &loaded.first;
		while (*p != m)
			p = &(*p)->next;
		*p = m->next;
	}
	orr_unlock(&loaded.lock);
	if (last)
		model_free(m);
}

/* ---- files ---- */

static int format_path(char *path, size_t size, const char *fmt, const char *dir,
		       const char *symbol, const char *machine)
{
	int n = snprintf(path, size, fmt, dir, symbol, machine);
	return n < 0 || (size_t) n >= size ? -ENAMETOOLONG : 0;
}

int orr_model_write_path(const char *symbol, const char *machine, const char *dir, char *path,
			 size_t size)
{
	return format_path(path, size, "%s/codelets/45/%s.%s", dir, symbol, machine);
}

int orr_model_locate(const char *symbol, const char *machine, const char *const *dirs, char *path,
		     size_t size)
{
	static const char *const forms[] = { "%s/codelets/45/%s.%s", "%s/45/%s.%s", "%s/%s.%s" };
	char candidate[4096];
	if (!*symbol || strchr(symbol, '/'))
		return -ENOENT;
	for (unsigned i = 0; dirs[i]; i++) {
		for (unsigned f = 0; f < 3; f++) {
			if (!format_path(candidate, sizeof(candidate), forms[f], dirs[i], symbol,
					 machine) &&
			    access(candidate, F_OK) == 0) {
				snprintf(path, size, "%s", candidate);
				return 0;
			}
		}
	}
	return -ENOENT;
}

/* 0, or -EPERM: everybody may put files there, and it is somebody else's. */
static int check_folder(const char *dir)
{
	struct stat st;
	return !stat(dir, &st) && st.st_uid != geteuid() && st.st_mode & S_IWOTH ? -EPERM : 0;
}

/* mkdir -p of the folder that the path stands in. What is made is this user's alone. */
static int make_folders(const char *path)
{
	char p[4096];
	int ret = orr_private_parents(path);
	if (ret)
		return ret;
	snprintf(p, sizeof(p), "%.*s", (int) (strrchr(path, '/') - path), path);
	return check_folder(p);
}

/* Users who may write models into the place may lock it, and nobody else may open the lock: a lock
 * for reading would stop all who write. */
static void close_lock(const char *dir, int fd)
{
	struct stat place, st;
	if (stat(dir, &place) || fstat(fd, &st) || st.st_uid != geteuid())
		return;
	mode_t mode = 0600 | (place.st_mode & S_IWGRP ? 0060 : 0) |
		      (place.st_mode & S_IWOTH ? 0006 : 0);
	if ((st.st_mode & 0777) != mode)
		fchmod(fd, mode);
}

/* Locks all model files of a place. Locks of open files exclude threads and processes alike.
 * Returns a descriptor, to be closed by the caller, or -errno: -EAGAIN when somebody else does not
 * give the lock back. */
static int lock_place(const char *dir)
{
	char path[4096];
	struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	snprintf(path, sizeof(path), "%s/.lock", dir);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0)
		return -errno;
	close_lock(dir, fd);
	for (int waited_ms = 0; fcntl(fd, F_OFD_SETLK, &fl); waited_ms += LOCK_STEP_MS) {
		int busy = errno == EAGAIN || errno == EACCES || errno == EINTR;
		if (!busy || waited_ms >= LOCK_PATIENCE_MS) {
			int err = busy ? -EAGAIN : -errno;
			close(fd);
			return err;
		}
		poll(NULL, 0, LOCK_STEP_MS);
	}
	return fd;
}

/* A new file beside the one that it will replace, with the mode that the user's mask says. `tmp`
 * ends with XXXXXX, which become a number. Nobody else is at it, because the place is locked. */
static int new_file(char *tmp)
{
	char *end = tmp + strlen(tmp) - 6;
	for (unsigned tries = 0; tries < 100; tries++) {
		snprintf(end, 7, "%06x", ((unsigned) getpid() * 100 + tries) & 0xffffff);
		int fd = open(tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

/* A model with its checksum. */
static int write_checked(FILE *f, const struct orr_model_data *d)
{
	struct orr_checked checked;

	if (!orr_checked_open(&checked))
		return -ENOMEM;
	int err = orr_model_file_write(checked.stream, d), closed = orr_checked_close(&checked, f);
	return err ? err : closed ? closed : ferror(f) ? -EIO : 0;
}

static int write_and_rename(const char *path, const struct orr_model_data *d)
{
	char tmp[4096];
	/* A hidden file: listings of models do not show one that a killed process left. */
	const char *slash = strrchr(path, '/');
	if (snprintf(tmp, sizeof(tmp), "%.*s.%s.XXXXXX", (int) (slash + 1 - path), path,
		     slash + 1) >= (int) sizeof(tmp))
		return -ENAMETOOLONG;
	int fd = new_file(tmp);
	if (fd < 0)
		return fd;
	FILE *f = fdopen(fd, "w");
	int err = f ? write_checked(f, d) : -ENOMEM;
	if (f ? fclose(f) : close(fd))
		err = err ? err : -errno;
	if (!err && rename(tmp, path))
		err = -errno;
	if (err)
		unlink(tmp);
	return err;
}

static int is_discarded(const struct orr_model *m, const char *path)
{
	struct stat st;
	return m->discard && stat(path, &st) == 0 && st.st_dev == m->old_dev &&
	       st.st_ino == m->old_ino && st.st_mtim.tv_sec == m->old_mtime.tv_sec &&
	       st.st_mtim.tv_nsec == m->old_mtime.tv_nsec;
}

/* Under both locks. */
static int save_locked(struct orr_model *m, const char *path)
{
	struct orr_model_data *file = NULL;
	orr_assert_locked(&m->lock);
	orr_assert(m->dirty && !m->broken);
	int err = is_discarded(m, path) ? -ENOENT : orr_model_file_read(path, &file);
	if (err == -ENOENT) {
		file = orr_model_data_new();
		err = file ? 0 : -ENOMEM;
	}
	if (!err)
		err = orr_model_merge(file, m->data);
	if (!err)
		err = write_and_rename(path, file);
	if (!err) {
		orr_model_settle(m->data);
		m->discard = 0;
		m->dirty = 0;
	}
	orr_model_data_free(file);
	return err;
}

int orr_model_save(struct orr_model *m, const char *dir)
{
	char path[4096];
	if (!m->dirty)
		return 0;
	int err = strchr(m->symbol, '/')
			  ? -EINVAL
			  : orr_model_write_path(m->symbol, m->machine, dir, path, sizeof(path));
	if (err) {
		orr_error(
			"performance model `%s': cannot be stored under %s; give it a short symbol without `/'",
			m->symbol, dir);
		return err;
	}
	if (m->broken) {
		orr_error(
			"%s: malformed, so it is left alone and what was measured is lost; remove it or use STARPU_CALIBRATE=2",
			path);
		return -EINVAL;
	}
	err = make_folders(path);
	int fd = err ? -1 : lock_place(dir);
	if (!err && fd < 0)
		err = fd;
	if (!err) {
		orr_lock(&m->lock);
		err = save_locked(m, path);
		orr_unlock(&m->lock);
	}
	if (fd >= 0)
		close(fd);
	if (err) {
		orr_error(
			"%s: the performance model cannot be written: %s; set STARPU_PERF_MODEL_DIR to a place that can",
			path,
			err == -EAGAIN ? "somebody holds the lock of the place"
			: err == -EPERM
				? "the folder is another user's, and everybody may write there"
			: err == -ELOOP ? "the lock of the place is a link"
					: strerror(-err));
		orr_sys_fail_at_end(orr_self());
	}
	return err;
}
