/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The library's messages, counted in place of being printed (the linker's --wrap sends them here),
 * and the files of a target.
 *
 * Invariant: every message is formatted, so that a wrong format or argument shows. */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fuzz.h"

unsigned fuzz_errors, fuzz_notes;
static char first_error[2048];

void __wrap_orr_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void __wrap_orr_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void __wrap_orr_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

void __wrap_orr_error(const char *fmt, ...)
{
	char text[sizeof(first_error)];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!fuzz_errors++)
		memcpy(first_error, text, sizeof(text));
}

static void note(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
static void note(const char *fmt, va_list ap)
{
	char text[2048];
	vsnprintf(text, sizeof(text), fmt, ap);
	fuzz_notes++;
}

void __wrap_orr_warn(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	note(fmt, ap);
	va_end(ap);
}

void __wrap_orr_info(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	note(fmt, ap);
	va_end(ap);
}

const char *fuzz_said(void)
{
	return fuzz_errors ? first_error : "";
}

void fuzz_forget(void)
{
	fuzz_errors = fuzz_notes = 0;
}

void fuzz_broken(const char *file, int line, const char *cond)
{
	fprintf(stderr, "%s:%d: broken: %s\n%u errors, %u notes; the first error: %s\n", file, line,
		cond, fuzz_errors, fuzz_notes, fuzz_said());
	abort();
}

/* ---- texts and files ---- */

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	MUST(text);
	memcpy(text, data, size);
	text[size] = 0;
	return text;
}

char *fuzz_line(char **text)
{
	char *line = *text, *nl = strchr(line, '\n');
	if (!*line)
		return NULL;
	*text = nl ? nl + 1 : line + strlen(line);
	if (nl)
		*nl = 0;
	return line;
}

static char dir[512];
/* Each before the one that it is in. */
static const char *const folders[] = { "codelets/45", "codelets", "bus", "" };

static void remove_all(void)
{
	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char place[1024], path[2048];
		snprintf(place, sizeof(place), "%s/%s", dir, folders[i]);
		DIR *d = opendir(place);
		for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
			snprintf(path, sizeof(path), "%s/%s", place, e->d_name);
			unlink(path);
		}
		if (d)
			closedir(d);
		rmdir(place);
	}
}

const char *fuzz_dir(void)
{
	if (*dir)
		return dir;
	/* In memory where that is possible: a target writes some files for each input. */
	const char *tmp = getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : getenv("TMPDIR");
	strcpy(dir, "/dev/shm/orrery-fuzz-XXXXXX");
	if (!mkdtemp(dir)) {
		snprintf(dir, sizeof(dir), "%s/fuzz-XXXXXX", tmp ? tmp : "/tmp");
		MUST(mkdtemp(dir));
	}
	for (unsigned i = sizeof(folders) / sizeof(folders[0]) - 1; i-- > 0;) {
		char path[1024];
		fuzz_path(path, sizeof(path), folders[i]);
		MUST(mkdir(path, 0777) == 0);
	}
	atexit(remove_all);
	return dir;
}

void fuzz_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", fuzz_dir(), name);
}

void fuzz_write(const char *name, const char *text, size_t size)
{
	char path[1024];
	fuzz_path(path, sizeof(path), name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	MUST(fd >= 0);
	MUST(write(fd, text, size) == (ssize_t) size);
	close(fd);
}
