/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Notices: what a rank tells people on stderr in several lines, such as statistics or a list of
 * what waits.
 *
 * Invariant: a notice is written at once, so that a launcher that passes on the output of many
 * ranks never sees half of a line. */
#ifndef ORR_BASE_NOTICE_H
#define ORR_BASE_NOTICE_H

#include <stdio.h>

struct orr_notice {
	FILE *f;
	char *text;
	size_t size;
};

/* [any] The stream to print the notice to, never NULL: without memory for it, stderr itself, so
 * that nothing is lost. */
FILE *orr_notice_open(struct orr_notice *n);
/* [any] Writes it to stderr. The stream is closed. */
void orr_notice_write(struct orr_notice *n);

#endif
