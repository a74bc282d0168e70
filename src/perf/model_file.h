/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reader and writer of performance model files (text, version 45).
 *
 * A file lists combinations, implementations, regressions and histories in the order of
 * model_data.h. Lines that start with '#' are comments.
 *
 * Invariant: what orr_model_file_parse accepts, orr_model_file_write writes so that
 * orr_model_file_parse gives the same again; numbers of a file never decide how much memory is
 * asked for at once. */
#ifndef ORR_PERF_MODEL_FILE_H
#define ORR_PERF_MODEL_FILE_H

#include <stdio.h>

#include "perf/model_data.h"

#define ORR_MODEL_VERSION 45

/* Reads the text; `name` is the file's name for messages. Returns 0 and *out, or -EINVAL after a
 * message that names file, line and what was expected, or -ENOMEM after a message. *out is
 * untouched on failure. */
int orr_model_file_parse(const char *text, size_t length, const char *name,
			 struct orr_model_data **out);
/* The same from a file, which orr_text_read reads. -ENOENT without a message if it does not exist.
 */
int orr_model_file_read(const char *path, struct orr_model_data **out);
/* Writes the file. Returns 0, or -EIO if the stream is in error. */
int orr_model_file_write(FILE *f, const struct orr_model_data *d);

#endif
