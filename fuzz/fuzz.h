/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the fuzz targets share. A target is a program *_fuzz.c with LLVMFuzzerTestOneInput();
 * messages.c takes the library's messages in, and either libFuzzer (make fuzz) or replay.c (make
 * check) calls it again and again.
 *
 * Invariant: a target aborts when the library breaks a promise, whatever the input; what one input
 * did leaves no trace for the next. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise of the library: aborts with a line on standard error when it is broken. */
#define MUST(cond) ((cond) ? (void) 0 : fuzz_broken(__FILE__, __LINE__, #cond))
void fuzz_broken(const char *file, int line, const char *cond) __attribute__((noreturn));

/* Errors, and warnings or notes, since the last fuzz_forget(); the text of the first error, "" when
 * there was none. */
extern unsigned fuzz_errors, fuzz_notes;
const char *fuzz_said(void);
void fuzz_forget(void);

/* A copy that ends with a zero; the caller frees it. */
char *fuzz_text(const uint8_t *data, size_t size);
/* Cuts the line that *text begins with off; NULL at the end. */
char *fuzz_line(char **text);

/* A folder of this process with bus/ and codelets/45/ in it, removed at the end; files in it. */
const char *fuzz_dir(void);
void fuzz_path(char *path, size_t size, const char *name);
void fuzz_write(const char *name, const char *text, size_t size);

#endif
