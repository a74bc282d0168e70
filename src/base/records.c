/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files of records (see records.h).
 *
 * Invariant: as stated there. A process holds the lock of the file for the time of a few calls of
 * the system, and not across a wait. */
#include "base/records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/about.h"
#include "base/log.h"
#include "base/output.h"
#include "base/private.h"

#define KEY "{\"what\": \"run\", \"key\": "

/* The first line, to be freed; NULL when memory is exhausted. Its beginning, up to the key of the
 * run, is *nkey bytes. */
static char *head_of(struct orr_process *proc, size_t *nkey, size_t *n)
{
	char about[ORR_ABOUT_SIZE], key[256], *text = NULL;
	FILE *f = open_memstream(&text, n);

	if (!f)
		return NULL;
	orr_sys_run_name(proc, key, sizeof(key));
	orr_sys_run_describe(proc, about, sizeof(about));
	fputs(KEY, f);
	orr_about_string(f, key);
	fflush(f);
	*nkey = *n;
	orr_about_members(f, about);
	fputs("}\n", f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static int write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		text += n;
		size -= (size_t) n;
	}
	return 0;
}

/* Opens the file and takes its lock, which closing gives back; -errno. */
static int open_locked(const char *path)
{
	int fd = orr_private_output(path, O_RDWR | O_CREAT | O_APPEND);

	if (fd < 0)
		return fd;
	/* A file that cannot be locked, such as a pipe, is written to without. */
	int err = orr_private_lock(fd);
	if (err != -EBUSY)
		return fd;
	close(fd);
	return err;
}

/* The file is locked: is it of this run, and has it its first line? */
static int begun(int fd, const char *head, size_t nkey)
{
	char there[sizeof(KEY) + 600];

	return nkey <= sizeof(there) && pread(fd, there, nkey, 0) == (ssize_t) nkey &&
	       !memcmp(there, head, nkey);
}

int orr_records_begin(struct orr_process *proc, const char *variable, const char *path)
{
	struct stat st;
	size_t nkey = 0, n = 0;
	int simulated = orr_sys_is_simulated();

	if (stat(path, &st) || !S_ISREG(st.st_mode)) {
		int err = orr_output_prepare(variable, path);

		if (err)
			return err;
	}
	char *head = head_of(proc, &nkey, &n);
	int fd = head ? open_locked(path) : -ENOMEM, err = fd < 0 ? fd : 0;
	if (!err && fstat(fd, &st))
		err = -errno;
	if (!err && !begun(fd, head, nkey)) {
		if (S_ISREG(st.st_mode) && !simulated && ftruncate(fd, 0))
			err = -errno;
		if (!err)
			err = write_all(fd, head, n);
	}
	if (fd >= 0)
		close(fd);
	free(head);
	if (err && err != -ENOMEM)
		orr_error("%s: '%s' cannot be written: %s; name another file", variable, path,
			  orr_private_why(err));
	return err;
}

void orr_records_add(const char *variable, const char *path, const char *text, size_t size)
{
	int fd = open_locked(path), err = fd < 0 ? fd : write_all(fd, text, size);

	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err)
		return;
	orr_error("%s: '%s' cannot be written: %s; make room there or name another file", variable,
		  path, orr_private_why(err));
	orr_sys_fail_at_end(orr_self());
}
