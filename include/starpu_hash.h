/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CRC32C hashes, used for footprints of data and parameters.
 *
 * Invariant: the result depends on the bytes and on inputcrc alone, so it may be chained (pass a
 * former result as inputcrc, start with 0) and stored in files. Any thread may call these.
 */
#ifndef STARPU_HASH_H
#define STARPU_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Of n bytes. */
uint32_t starpu_hash_crc32c_be_n(const void *input, size_t n, uint32_t inputcrc);
/* Of the address itself, not of what it points to. */
uint32_t starpu_hash_crc32c_be_ptr(void *input, uint32_t inputcrc);
/* Of a 32-bit number. */
uint32_t starpu_hash_crc32c_be(uint32_t input, uint32_t inputcrc);
/* Of a string without its final zero. */
uint32_t starpu_hash_crc32c_string(const char *str, uint32_t inputcrc);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
