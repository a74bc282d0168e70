/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the unit tests of performance models share: checks, files, captured messages, and
 * tasks with made-up data.
 *
 * Invariant: everything is written under $ORR_TEST_TMP (or a fresh folder of /tmp). */
#ifndef TESTS_UNIT_PERF_UTIL_H
#define TESTS_UNIT_PERF_UTIL_H

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/test.h"

/* A folder of this test. */
static inline const char *tmp_dir(void)
{
	static char dir[512];
	if (!*dir) {
		const char *t = getenv("ORR_TEST_TMP");
		snprintf(dir, sizeof(dir), "%s/perf-XXXXXX", t ? t : "/tmp");
		CHECK(mkdtemp(dir));
	}
	return dir;
}

static inline void write_file(const char *path, const char *text, size_t length)
{
	FILE *f = fopen(path, "w");
	CHECK(f && fwrite(text, 1, length, f) == length && fclose(f) == 0);
}

static inline void make_dirs(const char *root)
{
	static const char *const sub[] = { "", "/bus", "/codelets", "/codelets/45" };
	char path[1024];
	for (unsigned i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", root, sub[i]);
		mkdir(path, 0777);
	}
}

/* Standard error goes to a file until captured() gives its text, or until the program ends by a
 * check that failed, which is shown then. */
static int saved_stderr = -1;
static inline const char *captured(void);
static inline void show_captured(void)
{
	if (saved_stderr >= 0)
		fputs(captured(), stderr);
}

static inline void capture(void)
{
	static int at_end;
	char path[1024];
	if (!at_end++)
		atexit(show_captured);
	snprintf(path, sizeof(path), "%s/stderr", tmp_dir());
	fflush(stderr);
	saved_stderr = dup(2);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	CHECK(fd >= 0 && dup2(fd, 2) == 2);
	close(fd);
}

static inline const char *captured(void)
{
	static char text[65536];
	char path[1024];
	fflush(stderr);
	dup2(saved_stderr, 2);
	close(saved_stderr);
	saved_stderr = -1;
	snprintf(path, sizeof(path), "%s/stderr", tmp_dir());
	FILE *f = fopen(path, "r");
	CHECK(f);
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	return text;
}

/* The folder of foreign samples, or NULL. They are no part of the project. */
static inline const char *samples(void)
{
	static char path[1024];
	const char *dir = getenv("ORR_PERFMODELS_SAMPLES"), *src = getenv("ORR_TEST_SRCDIR");
	if (dir)
		snprintf(path, sizeof(path), "%s", dir);
	else
		snprintf(path, sizeof(path), "%s/../shared/perfmodels", src ? src : ".");
	return access(path, R_OK) ? NULL : path;
}

/* One implementation of a model file: header of a combination of one device, then entries. */
#define COMB(kind, devid, cores, nentries, entries) \
	"# number of types devices\n1\n# type\n" #kind "\n# id\n" #devid "\n# cores\n" #cores \
	"\n# implementations\n1\n" \
	"# entries\n" #nentries "\n0 0 0 0 nan nan 0 0 0\nnan nan nan\n0\n" entries

#endif
