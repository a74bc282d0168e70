/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that is kept for later use: AddressSanitizer, where the build has it, reports whoever
 * touches it meanwhile.
 *
 * Invariant: other builds do nothing here. */
#ifndef ORR_BASE_POISON_H
#define ORR_BASE_POISON_H

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#define ORR_POISON(at, size) ASAN_POISON_MEMORY_REGION(at, size)
#define ORR_UNPOISON(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#else
#define ORR_POISON(at, size) ((void) (at), (void) (size))
#define ORR_UNPOISON(at, size) ((void) (at), (void) (size))
#endif

#endif
