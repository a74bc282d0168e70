/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checksums of files: the one that zlib computes, in one piece or in several; a text that was
 * written with one does not fit to it after any change of a byte, the loss of a line or of its end,
 * or another line; one without any fits. */
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "lib/test.h"

#define ZLIB_SAYS 0xe000b1fbU

static const char lines[] = "first\n# comment\n0.5 1.5\n\nlast words\n";

static void values(void)
{
	static struct orr_crc32 crc;
	char bytes[300];

	orr_crc32_init(&crc);
	CHECK_IS(orr_crc32(&crc, 0, NULL, 0), 0);
	/* The check value of the catalogue of CRCs. */
	CHECK_IS(orr_crc32(&crc, 0, "123456789", 9), 0xcbf43926U);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char) (i * 7);
	/* That of zlib.crc32(bytes(7 * i & 255 for i in range(300))). */
	CHECK_IS(orr_crc32(&crc, 0, bytes, sizeof(bytes)), ZLIB_SAYS);
	for (size_t i = 0; i <= sizeof(bytes); i++)
		CHECK_IS(
			orr_crc32(&crc, orr_crc32(&crc, 0, bytes, i), bytes + i, sizeof(bytes) - i),
			ZLIB_SAYS);
}

/* The same in one piece, which processors take 64 bytes at a time, and byte by byte. */
static void long_values(void)
{
	static struct orr_crc32 crc;
	static char bytes[1000];

	orr_crc32_init(&crc);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char) (i * i * 31 + i / 7);
	for (size_t first = 0; first < 17; first++) {
		uint32_t sum = 0x12345678;

		for (size_t n = 0; first + n < sizeof(bytes); n++) {
			CHECK_IS(orr_crc32(&crc, 0x12345678, bytes + first, n), sum);
			sum = orr_crc32(&crc, sum, bytes + first + n, 1);
		}
	}
}

/* The text with its checksum; the caller frees it. */
static char *write_text(const char *text, size_t *n)
{
	struct orr_checked checked;
	char *whole = NULL;
	FILE *f = open_memstream(&whole, n);

	CHECK(f && orr_checked_open(&checked));
	fputs(text, checked.stream);
	CHECK_IS(orr_checked_close(&checked, f), 0);
	CHECK(!fclose(f));
	return whole;
}

static int fits(const char *text, size_t n)
{
	struct orr_checksum sum;
	/* As large as it is, so that valgrind and sanitizers see who reads on. */
	char *copy = malloc(n ? n : 1);

	CHECK(copy);
	memcpy(copy, text, n);
	int ret = orr_checksum_fits(copy, n, &sum);

	free(copy);
	CHECK(ret >= 0);
	return ret;
}

static void changes(void)
{
	struct orr_checksum sum;
	size_t n;
	char *text = write_text(lines, &n);

	CHECK(strncmp(text, "first\n" ORR_CHECKSUM_FOLLOWS "\n# comment\n", 38) == 0);
	CHECK(fits(text, n));
	for (size_t i = 0; i < n; i++) {
		for (int bit = 0; bit < 8; bit++) {
			text[i] = (char) (text[i] ^ 1 << bit);
			CHECK(!fits(text, n));
			text[i] = (char) (text[i] ^ 1 << bit);
		}
	}
	/* Cut off: what is left still announces a checksum from there on. */
	const char *follows = strstr(text, ORR_CHECKSUM_FOLLOWS);
	size_t announced = (size_t) (follows - text) + strlen(ORR_CHECKSUM) + 1;
	for (size_t i = announced; i < n; i++)
		CHECK(!fits(text, i));
	CHECK_IS(orr_checksum_fits(text, n - 18, &sum), 0);
	CHECK(!sum.there);
	free(text);

	/* Another line, wherever. */
	for (size_t at = 0; at <= n; at++) {
		char *more = write_text(lines, &n), *longer = malloc(n + 3);

		CHECK(longer);
		memcpy(longer, more, at);
		memcpy(longer + at, "7\n", 2);
		memcpy(longer + at + 2, more + at, n - at);
		CHECK(!fits(longer, n + 2));
		free(longer);
		free(more);
	}
}

/* Places in messages, and texts without a checksum. */
static void places(void)
{
	static const char changed[] = ORR_CHECKSUM_FOLLOWS "\na\nb\n" ORR_CHECKSUM "0123abcd\n";
	static const char *const free_texts[] = {
		"",   "\n", "a", "# a comment\n1 2\n", "#checksum\n", " # checksum of something\n",
		lines
	};
	struct orr_checksum sum;

	CHECK_IS(orr_checksum_fits(changed, sizeof(changed) - 1, &sum), 0);
	CHECK(sum.there && sum.line == 4);
	CHECK_IS(sum.says, 0x0123abcdU);
	for (size_t i = 0; i < sizeof(free_texts) / sizeof(free_texts[0]); i++)
		CHECK(fits(free_texts[i], strlen(free_texts[i])));

	size_t n;
	char *text = write_text("", &n);
	CHECK(fits(text, n));
	free(text);
	text = write_text("no end", &n);
	CHECK(fits(text, n));
	free(text);
}

/* Texts that say that they have none: in one line near the begin, and no other. */
static void by_hand(void)
{
	static const char none[] = ORR_CHECKSUM "none\n";
	static char far[ORR_CHECKSUM_NEAR + 64];
	struct orr_checksum sum;

	CHECK(fits(none, sizeof(none) - 1));
	CHECK(fits("first\n# checksum none\n1 2\n", 26));
	CHECK(!fits(none, sizeof(none) - 2));
	CHECK(!fits("# checksum none \n", 17));
	CHECK(!fits("# checksum none\n# checksum at the end\n1\n", 40));
	CHECK(!fits("# checksum none\n1\n# checksum 01234567\n", 38));
	CHECK_IS(orr_checksum_fits_xml("<!-- checksum none -->\n<a/>\n", 28, &sum), 1);
	memset(far, '\n', sizeof(far));
	memcpy(far + ORR_CHECKSUM_NEAR - 1, none, sizeof(none) - 1);
	CHECK(fits(far, sizeof(far)));
	memset(far, '\n', sizeof(far));
	memcpy(far + ORR_CHECKSUM_NEAR, none, sizeof(none) - 1);
	CHECK(!fits(far, sizeof(far)));
}

/* A platform: each change of a bit, and each end that was cut off, is found. */
static void xml(void)
{
	static const char head[] = "<?xml version='1.0'?>\n" ORR_CHECKSUM_XML
				   "at the end" ORR_CHECKSUM_XML_END
				   "\n<platform>\n# checksum 12345678\n</platform>\n";
	const size_t n = sizeof(head) - 1, announced = sizeof("<?xml version='1.0'?>\n") - 1;
	struct orr_checksum sum;
	struct orr_crc32 crc;
	char text[sizeof(head) + 64];

	orr_crc32_init(&crc);
	size_t all = (size_t) snprintf(text, sizeof(text),
				       "%s" ORR_CHECKSUM_XML "%08x" ORR_CHECKSUM_XML_END "\n", head,
				       (unsigned) orr_crc32(&crc, 0, head, n));
	CHECK_IS(orr_checksum_fits_xml(text, all, &sum), 1);
	CHECK(sum.there && sum.line == 6 && sum.says == sum.has);
	for (size_t i = 0; i < all; i++) {
		for (int bit = 0; bit < 8; bit++) {
			text[i] = (char) (text[i] ^ 1 << bit);
			CHECK_IS(orr_checksum_fits_xml(text, all, &sum), 0);
			text[i] = (char) (text[i] ^ 1 << bit);
		}
	}
	for (size_t i = announced + sizeof(ORR_CHECKSUM_XML); i < all; i++)
		CHECK_IS(orr_checksum_fits_xml(text, i, &sum), 0);
	CHECK_IS(orr_checksum_fits_xml("<platform/>\n", 12, &sum), 1);
}

int main(void)
{
	xml();
	values();
	long_values();
	changes();
	places();
	by_hand();
	return 0;
}
