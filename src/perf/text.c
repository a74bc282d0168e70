/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading whole text files (see text.h). */
#include "perf/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "base/log.h"

static int read_stream(FILE *f, const char *path, size_t max, char **text, size_t *length)
{
	size_t cap = 16384, n = 0;
	char *buf = malloc(cap + 1);
	while (buf) {
		n += fread(buf + n, 1, cap - n, f);
		if (n < cap || n > max)
			break;
		cap *= 2;
		char *b = realloc(buf, cap + 1);
		if (!b)
			free(buf);
		buf = b;
	}
	if (!buf) {
		orr_error("%s: not enough memory to read it", path);
		return -ENOMEM;
	}
	int bad = ferror(f) ? -EIO : n > max ? -EINVAL : 0;
	if (bad) {
		if (bad == -EIO)
			orr_error("%s: cannot be read; check that it is a file on a healthy disk",
				  path);
		else
			orr_error(
				"%s: longer than %zu bytes, so it is no performance file; remove it",
				path, max);
		free(buf);
		return bad;
	}
	buf[n] = 0;
	*text = buf;
	*length = n;
	return 0;
}

/* Refuses a text that does not fit to its checksum. */
static int check_sum(const char *path, const char *text, size_t length)
{
	struct orr_checksum sum;
	int fits = orr_checksum_fits(text, length, &sum);

	if (fits > 0)
		return 0;
	if (fits < 0)
		orr_error("%s: not enough memory to read it", path);
	else if (!sum.there)
		orr_error(
			"%s:%u: the checksum is missing, which its begin announces: the file was damaged or cut off; write it anew, or, if you changed it, put one line `# checksum none' in place of its lines `# checksum'",
			path, sum.line);
	else
		orr_error(
			"%s:%u: the checksum is %08x, and that of the lines before it %08x: the file was damaged or changed; write it anew, or, if you changed it, put one line `# checksum none' in place of its lines `# checksum'",
			path, sum.line, (unsigned) sum.says, (unsigned) sum.has);
	return fits < 0 ? fits : -EINVAL;
}

/* Is the whole text a single plain file name? */
static int text_is_name(const char *text, size_t length)
{
	if (length == 0 || length > 255 || !memchr(text, '.', length) || text[0] == '.')
		return 0;
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char) text[i];
		if (!isalnum(c) && !strchr("._+-@", c))
			return 0;
	}
	return isalpha((unsigned char) text[0]) || text[0] == '_';
}

int orr_text_read(const char *path, size_t max, char **text, size_t *length)
{
	char current[4096];
	if ((size_t) snprintf(current, sizeof(current), "%s", path) >= sizeof(current))
		return -ENOENT;
	for (int depth = 0; depth < 4; depth++) {
		struct stat st;
		FILE *f = stat(current, &st) == 0 && S_ISREG(st.st_mode) ? fopen(current, "re")
									 : NULL;
		if (!f) {
			if (depth == 0)
				return -ENOENT;
			orr_error(
				"%s: stands for %s, which cannot be opened; remove it or put that file there",
				path, current);
			return -EINVAL;
		}
		int err = read_stream(f, current, max, text, length);
		fclose(f);
		if (err)
			return err;
		size_t n = *length;
		while (n && isspace((unsigned char) (*text)[n - 1]))
			n--;
		if (!text_is_name(*text, n)) {
			err = check_sum(path, *text, *length);
			if (err)
				free(*text);
			return err;
		}
		char *slash = strrchr(current, '/');
		size_t dir = slash ? (size_t) (slash - current) + 1 : 0;
		int fits = dir + n < sizeof(current);
		if (fits) {
			memcpy(current + dir, *text, n);
			current[dir + n] = 0;
		}
		free(*text);
		if (!fits)
			break;
	}
	orr_error("%s: stands for another file that stands for another one, and so on; remove it",
		  path);
	return -EINVAL;
}

int orr_text_line(char **text, unsigned *line, char **out)
{
	while (**text) {
		char *s = *text, *nl = strchr(s, '\n');
		if (nl)
			*nl = 0;
		*text = nl ? nl + 1 : s + strlen(s);
		(*line)++;
		while (isspace((unsigned char) *s))
			s++;
		if (*s && *s != '#') {
			*out = s;
			return 1;
		}
	}
	return 0;
}
