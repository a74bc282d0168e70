/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SipHash-2-4 (Aumasson and Bernstein, SipHash: a fast short-input PRF, 2012): the proof that a
 * short message comes from somebody with the key.
 *
 * Invariant: it is the published function, whatever the byte order of the machine
 * (tests/unit/siphash.c). */
#ifndef ORR_BASE_SIPHASH_H
#define ORR_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t orr_siphash_word(const unsigned char *p, size_t n)
{
	uint64_t w = 0;

	for (size_t i = 0; i < n; i++)
		w |= (uint64_t) p[i] << (8 * i);
	return w;
}

static inline void orr_siphash_rounds(uint64_t v[4], int n)
{
#define ORR_ROTATE(x, b) ((x) << (b) | (x) >> (64 - (b)))
	while (n--) {
		v[0] += v[1];
		v[1] = ORR_ROTATE(v[1], 13) ^ v[0];
		v[0] = ORR_ROTATE(v[0], 32);
		v[2] += v[3];
		v[3] = ORR_ROTATE(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = ORR_ROTATE(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = ORR_ROTATE(v[1], 17) ^ v[2];
		v[2] = ORR_ROTATE(v[2], 32);
	}
#undef ORR_ROTATE
}

/* [any] The code of n bytes under a key of 16 bytes. */
static inline uint64_t orr_siphash(const unsigned char key[16], const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t k0 = orr_siphash_word(key, 8), k1 = orr_siphash_word(key + 8, 8);
	uint64_t v[4] = { k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
			  k1 ^ 0x7465646279746573 };
	size_t left = n;

	for (; left >= 8; left -= 8, p += 8) {
		uint64_t w = orr_siphash_word(p, 8);

		v[3] ^= w;
		orr_siphash_rounds(v, 2);
		v[0] ^= w;
	}
	uint64_t last = orr_siphash_word(p, left) | (uint64_t) n << 56;
	v[3] ^= last;
	orr_siphash_rounds(v, 2);
	v[0] ^= last;
	v[2] ^= 0xff;
	orr_siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
