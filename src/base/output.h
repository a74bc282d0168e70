/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that the runtime writes because a variable asks for them: traces, statistics, models.
 *
 * Invariant: a file that cannot be written is refused before the run or fails it. Each function
 * that returns an error has printed one line, which names the variable. */
#ifndef ORR_BASE_OUTPUT_H
#define ORR_BASE_OUTPUT_H

#include <stdio.h>

/* [any] Before the run: can the file be written? Empties one that is there, so that the result of
 * an older run does not stay in its place. Returns 0 or -errno. */
int orr_output_prepare(const char *variable, const char *path);
/* [any] The same for a folder, which is made when something is written there. */
int orr_output_prepare_folder(const char *variable, const char *path);

/* [any] Says that the folder of that file cannot be written to, because of err (-errno). */
void orr_output_refuse_folder(const char *variable, const char *path, int err);

/* [any] At the end of the run. What fails here fails the run: the process ends with a status that
 * is not 0. open returns NULL, close -errno. */
FILE *orr_output_open(const char *variable, const char *path);
int orr_output_close(FILE *f, const char *variable, const char *path);

#endif
