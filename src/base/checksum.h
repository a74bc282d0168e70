/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checksums of files that runs and commands write: CRC-32 as zlib, gzip and PNG have it (ISO 3309).
 *
 * A text has it in two lines that are comments: near its begin ORR_CHECKSUM_FOLLOWS, and at its end
 * "# checksum ", 8 hexadecimal digits, the checksum of all that stands before that line. So a text
 * that was damaged or cut off is known. Who changes one by hand puts "# checksum none" in place of
 * both lines. The library reads texts that others write, too, and takes one without any as it is;
 * commands refuse it where only Orrery writes such texts. In XML the lines are
 * "<!-- checksum at the end -->" and such ones with the digits or "none".
 *
 * Invariant: the same bytes, in one piece or in several, have the same checksum on all computers.
 */
#ifndef ORR_BASE_CHECKSUM_H
#define ORR_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ORR_CHECKSUM "# checksum "
#define ORR_CHECKSUM_FOLLOWS ORR_CHECKSUM "at the end"
#define ORR_CHECKSUM_XML "<!-- checksum "
#define ORR_CHECKSUM_XML_END " -->"
/* The bytes of the begin in which a text says whether a checksum follows. */
#define ORR_CHECKSUM_NEAR 65536

/* The tables of the checksum; 8 KiB, too large for the stack of a simulated rank. */
struct orr_crc32 {
	uint32_t table[8][256];
};

/* [any] Must be called before the others. */
void orr_crc32_init(struct orr_crc32 *c);
/* [any] The checksum of what `sum` stands for (0: of nothing) and n bytes more. */
uint32_t orr_crc32(const struct orr_crc32 *c, uint32_t sum, const void *bytes, size_t n);

/* A text that is being written, in memory. */
struct orr_checked {
	FILE *stream;
	char *text;
	size_t bytes;
};

/* [any] A stream for the text, or NULL without memory. */
FILE *orr_checked_open(struct orr_checked *c);
/* [any] Ends the stream, and writes to f: the first line of the text, which says what it is, the
 * announcement, the rest, the checksum. The caller closes f, and sees its errors then. Returns 0,
 * or -ENOMEM: nothing was written. */
int orr_checked_close(struct orr_checked *c, FILE *f);

/* The checksum of a text, as it stands there and as it is. */
struct orr_checksum {
	unsigned line;      /* of the text: where it stands, or should stand */
	int there;          /* a checksum stands there */
	uint32_t says, has; /* that one, and the one of what is before it */
};

/* [any] Does the text fit to its checksum, if it has one? 1: it does, or has none; 0: it does not;
 * -ENOMEM. */
int orr_checksum_fits(const char *text, size_t n, struct orr_checksum *out);
/* [any] The same of an XML text. */
int orr_checksum_fits_xml(const char *text, size_t n, struct orr_checksum *out);

#endif
