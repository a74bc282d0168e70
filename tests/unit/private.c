/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folders and files of this user's alone: what is made has no rights for others, and what belongs
 * to somebody else, or is a link, is refused. Root has somebody else. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/private.h"
#include "lib/test.h"

enum { SOMEBODY = 65534 };

static unsigned mode_of(const char *path)
{
	struct stat st;
	CHECK_IS(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void make_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	CHECK(f != NULL, "%s", path);
	fputs(text, f);
	fclose(f);
}

static void folders(void)
{
	CHECK_IS(orr_private_folder("a/b/c"), 0);
	CHECK_IS(mode_of("a"), 0700);
	CHECK_IS(mode_of("a/b/c"), 0700);
	CHECK_IS(orr_private_folder("a/b/c"), 0);
	CHECK_IS(mkdir("open", 0700), 0);
	CHECK_IS(chmod("open", 0777), 0);
	CHECK_IS(orr_private_folder("open"), -EPERM);
	CHECK_IS(chmod("open", 0775), 0);
	CHECK_IS(orr_private_folder("open"), -EPERM);
	CHECK_IS(chmod("open", 0755), 0);
	CHECK_IS(orr_private_folder("open"), 0);
	CHECK_IS(symlink("a/b", "mine"), 0);
	CHECK_IS(orr_private_folder("mine"), 0);
	make_file("file", "x");
	CHECK_IS(orr_private_folder("file"), -ENOTDIR);
	if (geteuid())
		return;
	CHECK_IS(chown("open", SOMEBODY, SOMEBODY), 0);
	CHECK_IS(orr_private_folder("open"), -EPERM);
	CHECK_IS(lchown("mine", SOMEBODY, SOMEBODY), 0);
	CHECK_IS(orr_private_folder("mine"), -EPERM);
}

static void files(void)
{
	int fd = orr_private_open("a/new", O_WRONLY | O_CREAT | O_EXCL);
	CHECK(fd >= 0, "%d", fd);
	CHECK_IS(mode_of("a/new"), 0600);
	CHECK_IS(close(fd), 0);
	CHECK_IS(orr_private_open("a/none", O_RDONLY), -ENOENT);
	make_file("victim", "precious");
	CHECK_IS(symlink("../victim", "a/link"), 0);
	CHECK_IS(orr_private_open("a/link", O_WRONLY | O_CREAT | O_TRUNC), -ELOOP);
	CHECK_IS(orr_private_open("a/link", O_RDONLY), -ELOOP);
	CHECK_IS(mkfifo("a/fifo", 0600), 0);
	CHECK_IS(orr_private_open("a/fifo", O_RDONLY), -EPERM);
	CHECK_IS(orr_private_open("a", O_RDONLY), -EPERM);
	CHECK(strstr(orr_private_why(-ELOOP), "link") != NULL, "no words");
	if (geteuid())
		return;
	CHECK_IS(chown("victim", SOMEBODY, SOMEBODY), 0);
	CHECK_IS(orr_private_open("victim", O_RDONLY), -EPERM);
}

/* Results, where everybody may write and where not. */
static void outputs(void)
{
	int fd;

	CHECK_IS(mkdir("public", 0700), 0);
	CHECK_IS(chmod("public", 01777), 0);
	umask(022);
	fd = orr_private_output("public/new", O_WRONLY | O_CREAT);
	CHECK(fd >= 0, "%d", fd);
	CHECK_IS(mode_of("public/new"), 0644);
	CHECK_IS(close(fd), 0);
	CHECK_IS(symlink("../result", "public/link"), 0);
	CHECK_IS(orr_private_output("public/link", O_WRONLY | O_CREAT), -ELOOP);
	CHECK_IS(access("result", F_OK), -1);
	CHECK_IS(symlink("../result", "a/to_result"), 0);
	fd = orr_private_output("a/to_result", O_WRONLY | O_CREAT);
	CHECK(fd >= 0, "%d", fd);
	CHECK_IS(close(fd), 0);
	CHECK_IS(access("result", F_OK), 0);
	fd = orr_private_output("here", O_RDWR | O_CREAT);
	CHECK(fd >= 0, "%d", fd);
	CHECK_IS(orr_private_lock(fd), 0);
	CHECK_IS(close(fd), 0);
	if (geteuid())
		return;
	CHECK_IS(chown("public/new", SOMEBODY, SOMEBODY), 0);
	CHECK_IS(orr_private_output("public/new", O_WRONLY | O_TRUNC), -EPERM);
}

int main(void)
{
	char folder[] = "private-XXXXXX";
	const char *place = getenv("TMPDIR");
	CHECK_IS(chdir(place ? place : "/tmp"), 0);
	CHECK(mkdtemp(folder) != NULL, "%s", strerror(errno));
	CHECK_IS(chdir(folder), 0);
	folders();
	files();
	outputs();
	return 0;
}
