/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checksums of files (see checksum.h). Eight bytes are taken at a time, each by a table of its own
 * (M. E. Kounavis, F. L. Berry: A Systematic Approach to Building High Performance Software-Based
 * CRC Generators, ISCC 2005). Processors that multiply polynomials take 64 (V. Gopal et al.: Fast
 * CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction, Intel, 2009).
 *
 * Invariant: table[k][b] is the checksum of byte b and k bytes of 0 behind it, without the
 * inversions at the begin and the end. */
#include "base/checksum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#define POLYNOMIAL 0xedb88320U /* the lowest bit of a byte is its first one */

void orr_crc32_init(struct orr_crc32 *c)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t v = b;

		for (int bit = 0; bit < 8; bit++)
			v = v >> 1 ^ (v & 1 ? POLYNOMIAL : 0);
		c->table[0][b] = v;
	}
	for (int k = 1; k < 8; k++) {
		for (int b = 0; b < 256; b++) {
			uint32_t v = c->table[k - 1][b];

			c->table[k][b] = v >> 8 ^ c->table[0][v & 255];
		}
	}
}

#ifdef __x86_64__

#define FOLDS_FROM 128 /* bytes; fewer are not worth it */
#define FOLDS __attribute__((target("pclmul,sse4.1")))

static int can_fold(void)
{
	return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}

FOLDS static inline __m128i load(const unsigned char *p)
{
	return _mm_loadu_si128((const __m128i *) p);
}

/* Moves 16 bytes forward by as many as the constants say, onto what stands there. */
FOLDS static inline __m128i fold(__m128i x, __m128i by, __m128i onto)
{
	return _mm_xor_si128(
		_mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00), _mm_clmulepi64_si128(x, by, 0x11)),
		onto);
}

/* Takes all bytes but the last ones, fewer than 64: 16 in their place have the same remainder. The
 * constants are powers of x modulo the polynomial, with the exponents 32 bits more and less than
 * the distance, as the paper has them. */
FOLDS static size_t fold_all(uint32_t v, const unsigned char *p, size_t n, unsigned char rest[16])
{
	const __m128i by_64 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4),
		      by_16 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
	__m128i x[4] = { _mm_xor_si128(load(p), _mm_cvtsi32_si128((int) v)), load(p + 16),
			 load(p + 32), load(p + 48) };
	size_t done = 64;

	for (; n - done >= 64; done += 64) {
		x[0] = fold(x[0], by_64, load(p + done));
		x[1] = fold(x[1], by_64, load(p + done + 16));
		x[2] = fold(x[2], by_64, load(p + done + 32));
		x[3] = fold(x[3], by_64, load(p + done + 48));
	}
	for (int i = 1; i < 4; i++)
		x[i] = fold(x[i - 1], by_16, x[i]);
	_mm_storeu_si128((__m128i *) rest, x[3]);
	return done;
}

#else

#define FOLDS_FROM SIZE_MAX

static int can_fold(void)
{
	return 0;
}

static size_t fold_all(uint32_t v, const unsigned char *p, size_t n, unsigned char rest[16])
{
	(void) v;
	(void) p;
	(void) n;
	(void) rest;
	return 0;
}

#endif

/* By the tables, without the inversions. */
static uint32_t look_up(const struct orr_crc32 *c, uint32_t v, const unsigned char *p, size_t n)
{
	for (; n >= 8; n -= 8, p += 8) {
		v ^= (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 |
		     (uint32_t) p[3] << 24;
		v = c->table[7][v & 255] ^ c->table[6][v >> 8 & 255] ^ c->table[5][v >> 16 & 255] ^
		    c->table[4][v >> 24] ^ c->table[3][p[4]] ^ c->table[2][p[5]] ^
		    c->table[1][p[6]] ^ c->table[0][p[7]];
	}
	for (; n; n--, p++)
		v = v >> 8 ^ c->table[0][(v ^ *p) & 255];
	return v;
}

uint32_t orr_crc32(const struct orr_crc32 *c, uint32_t sum, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint32_t v = ~sum;

	if (n >= FOLDS_FROM && can_fold()) {
		unsigned char rest[16];
		size_t done = fold_all(v, p, n, rest);

		v = look_up(c, 0, rest, sizeof(rest));
		p += done;
		n -= done;
	}
	return ~look_up(c, v, p, n);
}

/* ---- writing ---- */

FILE *orr_checked_open(struct orr_checked *c)
{
	c->text = NULL;
	c->bytes = 0;
	c->stream = open_memstream(&c->text, &c->bytes);
	return c->stream;
}

int orr_checked_close(struct orr_checked *c, FILE *f)
{
	static const char follows[] = ORR_CHECKSUM_FOLLOWS "\n";
	int bad = ferror(c->stream);
	struct orr_crc32 *crc = malloc(sizeof(*crc));

	fflush(c->stream);
	if (!bad && c->bytes && c->text[c->bytes - 1] != '\n')
		fputc('\n', c->stream);
	bad |= fclose(c->stream) || !crc;
	if (!bad) {
		const char *end = memchr(c->text, '\n', c->bytes);
		size_t first = end ? (size_t) (end - c->text) + 1 : 0;
		uint32_t sum;

		orr_crc32_init(crc);
		sum = orr_crc32(crc, 0, c->text, first);
		sum = orr_crc32(crc, sum, follows, sizeof(follows) - 1);
		sum = orr_crc32(crc, sum, c->text + first, c->bytes - first);
		fwrite(c->text, 1, first, f);
		fputs(follows, f);
		fwrite(c->text + first, 1, c->bytes - first, f);
		fprintf(f, ORR_CHECKSUM "%08x\n", (unsigned) sum);
	}
	free(crc);
	free(c->text);
	c->stream = NULL;
	c->text = NULL;
	return bad ? -ENOMEM : 0;
}

/* ---- reading ---- */

/* The texts before and behind the digits. */
struct comment {
	const char *begin, *end;
};

/* The number in the line that begins there and ends the text; 0: it has none. */
static int parse_sum(const struct comment *c, const char *line, const char *end, uint32_t *sum)
{
	static const char digits[] = "0123456789abcdef";
	const size_t behind = strlen(c->end);

	line += strlen(c->begin);
	if ((size_t) (end - line) != 9 + behind || end[-1] != '\n' ||
	    memcmp(line + 8, c->end, behind))
		return 0;
	*sum = 0;
	for (int i = 0; i < 8; i++) {
		const char *digit = line[i] ? strchr(digits, line[i]) : NULL;

		if (!digit)
			return 0;
		*sum = *sum << 4 | (uint32_t) (digit - digits);
	}
	return 1;
}

/* Does the line say that the text was written by hand? */
static int says_none(const struct comment *c, const char *text, const char *line, const char *stop)
{
	char none[64];
	const size_t n = (size_t) snprintf(none, sizeof(none), "%snone%s\n", c->begin, c->end);

	return line - text < ORR_CHECKSUM_NEAR && (size_t) (stop - line) == n &&
	       !memcmp(line, none, n);
}

static int fits(const struct comment *c, const char *text, size_t n, struct orr_checksum *out)
{
	const size_t length = strlen(c->begin);
	const char *end = text + n, *last = NULL;

	*out = (struct orr_checksum){ .line = 1 };
	for (const char *line = text; line < end; out->line++) {
		const char *stop = memchr(line, '\n', (size_t) (end - line));

		stop = stop ? stop + 1 : end;
		if ((size_t) (stop - line) > length && !memcmp(line, c->begin, length) &&
		    !says_none(c, text, line, stop))
			last = line;
		if (stop == end)
			break;
		line = stop;
	}
	if (!last)
		return 1;
	out->there = parse_sum(c, last, end, &out->says);

	struct orr_crc32 *crc = malloc(sizeof(*crc));

	if (!crc)
		return -ENOMEM;
	orr_crc32_init(crc);
	out->has = orr_crc32(crc, 0, text, out->there ? (size_t) (last - text) : n);
	free(crc);
	return out->there && out->says == out->has;
}

int orr_checksum_fits(const char *text, size_t n, struct orr_checksum *out)
{
	return fits(&(struct comment){ ORR_CHECKSUM, "" }, text, n, out);
}

int orr_checksum_fits_xml(const char *text, size_t n, struct orr_checksum *out)
{
	return fits(&(struct comment){ ORR_CHECKSUM_XML, ORR_CHECKSUM_XML_END }, text, n, out);
}
