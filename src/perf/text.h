/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole text files: those of models and of machines. */
#ifndef ORR_PERF_TEXT_H
#define ORR_PERF_TEXT_H

#include <stddef.h>

/* Reads a whole file of at most `max` bytes. A file that holds nothing but the name of another file
 * of its folder (a symbolic link that went through a file system or an archive without links) is
 * followed. One that does not fit to its checksum (base/checksum.h) is refused. The caller frees
 * *text, which ends with a zero. Returns 0, -ENOENT silently if the file does not exist, or
 * -EINVAL, -EIO or -ENOMEM after a message. */
int orr_text_read(const char *path, size_t max, char **text, size_t *length);

/* Cuts off *text up to its next line that is neither blank nor a comment (`#'), and *out is that
 * line, from its first word on. *line counts all lines. Returns 0 at the end. */
int orr_text_line(char **text, unsigned *line, char **out);

#endif
