/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A script of the resource manager: which resources come and go at which time. One line each,
 *     at SECONDS grow N | shrink N | pool N | leave HOST | fail HOST
 * in any order; lines that begin with # are comments.
 *
 * Invariant: entries are sorted by time, and those of the same time keep their order. */
#ifndef ORR_DYN_SCRIPT_H
#define ORR_DYN_SCRIPT_H

#include "dyn/words.h"

struct orr_dyn_event {
	double s;
	int line;
	struct orr_dyn_words words; /* without the time */
};

struct orr_dyn_script {
	struct orr_dyn_event *events;
	int n;
};

/* Reads the file. NULL, or what is wrong, in a text that stays until the next call. */
const char *orr_dyn_script_read(struct orr_dyn_script *s, const char *path);
/* The words of a line, without "at SECONDS": 0, or -1: it is no demand. */
int orr_dyn_script_line(const char *line, struct orr_dyn_words *words);
/* The same with "at SECONDS": adds it behind the first `done` events, which have happened. 0, or
 * -1: it is none. */
int orr_dyn_script_add(struct orr_dyn_script *s, const char *line, int done);
void orr_dyn_script_free(struct orr_dyn_script *s);

#endif
