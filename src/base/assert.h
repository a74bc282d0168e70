/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Executed invariants. orr_assert states what must be true whatever the program does; a false
 * assertion is a mistake of ours. Mistakes of users return an error or go through base/log.h
 * instead.
 *
 * A debug build (configure --enable-debug or --enable-sanitizer) evaluates each condition, in both
 * worlds. Other builds only check its types: a condition must not have side effects, and no code
 * may rely on its evaluation.
 *
 * Invariant: a false assertion prints one line and then calls abort, so that a core file or a
 * debugger shows the stack. Any thread may assert, with or without locks. */
#ifndef ORR_BASE_ASSERT_H
#define ORR_BASE_ASSERT_H

/* Prints "[orrery][RANK] assertion failed: FILE:LINE: FUNCTION: EXPR", then ": " and the message
 * unless fmt is NULL, and aborts. Exists in debug builds only. */
void orr_assert_failed(const char *file, unsigned line, const char *function, const char *expr,
		       const char *fmt, ...) __attribute__((noreturn, cold, format(printf, 5, 6)));

#ifdef ORR_DEBUG
#define ORR_ASSERT_(cond, text, ...) \
	(__builtin_expect(!!(cond), 1) \
		 ? (void) 0 \
		 : orr_assert_failed(__FILE__, __LINE__, __func__, text, __VA_ARGS__))
#else
#define ORR_ASSERT_(cond, text, ...) \
	((void) sizeof(!(cond)), \
	 (void) sizeof((orr_assert_failed("", 0, "", text, __VA_ARGS__), 0)))
#endif

/* cond holds. */
#define orr_assert(cond) ORR_ASSERT_(cond, #cond, (const char *) 0)
/* The same; when it does not hold, the line ends with a message as of printf. */
#define orr_assertf(cond, ...) ORR_ASSERT_(cond, #cond, __VA_ARGS__)
/* Before a static function that only assertions call. */
#define ORR_ASSERTED __attribute__((unused))

#endif
