/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiler attributes, assertions, atomic operations and environment variables.
 *
 * Invariant: needs no other part of the runtime, so every header and every program may use it at
 * any time, also before starpu_init(). All of it may be called from any thread.
 */
#ifndef STARPU_UTIL_H
#define STARPU_UTIL_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- Attributes and hints ------------------------------------------------------------ */

#define STARPU_UNLIKELY(expr) (__builtin_expect(!!(expr), 0))
#define STARPU_LIKELY(expr) (__builtin_expect(!!(expr), 1))

#define STARPU_ATTRIBUTE_UNUSED __attribute__((unused))
#define STARPU_ATTRIBUTE_NORETURN __attribute__((noreturn))
#define STARPU_ATTRIBUTE_MALLOC __attribute__((malloc))
#define STARPU_ATTRIBUTE_PURE __attribute__((pure))
#define STARPU_ATTRIBUTE_ALIGNED(size) __attribute__((aligned(size)))
#define STARPU_ATTRIBUTE_FORMAT(type, string, first) __attribute__((format(type, string, first)))
#define STARPU_ATTRIBUTE_CALLOC_SIZE(num, size) __attribute__((alloc_size(num, size)))
#define STARPU_ATTRIBUTE_ALLOC_SIZE(size) __attribute__((alloc_size(size)))
#define STARPU_ATTRIBUTE_WARN_UNUSED_RESULT __attribute__((warn_unused_result))
#define STARPU_WARN_UNUSED_RESULT __attribute__((warn_unused_result))
#define STARPU_ATTRIBUTE_VISIBILITY_DEFAULT __attribute__((visibility("default")))
#define STARPU_VISIBILITY_PUSH_HIDDEN _Pragma("GCC visibility push(hidden)")
#define STARPU_VISIBILITY_POP _Pragma("GCC visibility pop")
#define STARPU_DEPRECATED __attribute__((deprecated))
#define STARPU_INLINE __inline__

/* Name of the current function. */
#define __starpu_func__ __func__

/* Bytes that two threads should not share when both write. */
#define STARPU_CACHELINE_SIZE 64

/* --- Assertions ---------------------------------------------------------------------- */

/* Prints where and what went wrong on stderr, then abort()s. The macros below call it; `what`
 * names the violated condition, `fmt` and its arguments the message. */
static inline void orr_util_fail(const char *file, int line, const char *func, const char *what,
				 const char *fmt, ...)
	__attribute__((noreturn, cold, unused, format(printf, 5, 6)));
static inline void orr_util_fail(const char *file, int line, const char *func, const char *what,
				 const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: %s: %s: ", file, line, func, what);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	fflush(stderr);
	abort();
}

/* Same for a failed call: adds the text of the error code `err`, 0 or ±errno. */
static inline void orr_util_fail_err(const char *file, int line, const char *func, int err,
				     const char *fmt, ...)
	__attribute__((noreturn, cold, unused, format(printf, 5, 6)));
static inline void orr_util_fail_err(const char *file, int line, const char *func, int err,
				     const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: %s: unexpected return value %d (%s): ", file, line, func, err,
		strerror(err < 0 ? -err : err));
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	fflush(stderr);
	abort();
}

/* STARPU_ASSERT_MSG_ALWAYS(x, format, ...) aborts with the message when x is false.
 * STARPU_ASSERT_MSG and STARPU_ASSERT do the same unless the program defines STARPU_NO_ASSERT: then
 * x is compiled, not evaluated. */
#define STARPU_ASSERT_MSG_ALWAYS(x, ...) \
	do { \
		if (STARPU_UNLIKELY(!(x))) \
			orr_util_fail(__FILE__, __LINE__, __starpu_func__, \
				      "assertion `" #x "' failed", __VA_ARGS__); \
	} while (0)

#ifdef STARPU_NO_ASSERT
#define STARPU_ASSERT_MSG(x, ...) \
	do { \
		if (0) \
			STARPU_ASSERT_MSG_ALWAYS(x, __VA_ARGS__); \
	} while (0)
#else
#define STARPU_ASSERT_MSG(x, ...) STARPU_ASSERT_MSG_ALWAYS(x, __VA_ARGS__)
#endif
#define STARPU_ASSERT(x) STARPU_ASSERT_MSG(x, "this must not happen")

/* Aborts unless the byte at x can be read (it faults by itself when it cannot). */
#define STARPU_ASSERT_ACCESSIBLE(x) \
	do { \
		volatile const char *orr_addr_ = (volatile const char *) (x); \
		(void) *orr_addr_; \
	} while (0)

#ifdef __cplusplus
#define STARPU_STATIC_ASSERT(x) static_assert(x, #x)
#else
#define STARPU_STATIC_ASSERT(x) _Static_assert(x, #x)
#endif

/* Aborts, without and with a message. */
#define STARPU_ABORT() \
	orr_util_fail(__FILE__, __LINE__, __starpu_func__, "abort", "requested by the program")
#define STARPU_ABORT_MSG(...) \
	orr_util_fail(__FILE__, __LINE__, __starpu_func__, "abort", __VA_ARGS__)

/* STARPU_CHECK_RETURN_VALUE(err, format, ...) aborts when a call returned a negative error: prints
 * the error's text and the message, which usually names the call. _IS aborts when err differs from
 * value. */
#define STARPU_CHECK_RETURN_VALUE(err, ...) \
	do { \
		int orr_err_ = (err); \
		if (STARPU_UNLIKELY(orr_err_ < 0)) \
			orr_util_fail_err(__FILE__, __LINE__, __starpu_func__, orr_err_, \
					  __VA_ARGS__); \
	} while (0)
#define STARPU_CHECK_RETURN_VALUE_IS(err, value, ...) \
	do { \
		int orr_err_ = (err); \
		if (STARPU_UNLIKELY(orr_err_ != (value))) \
			orr_util_fail_err(__FILE__, __LINE__, __starpu_func__, orr_err_, \
					  __VA_ARGS__); \
	} while (0)

/* --- Atomic operations (sequentially consistent, on integers or pointers of any size up to 8
 * bytes) --- */

/* Add; yields the new value. */
#define STARPU_ATOMIC_ADD(ptr, value) (__atomic_add_fetch((ptr), (value), __ATOMIC_SEQ_CST))
#define STARPU_ATOMIC_ADDL(ptr, value) STARPU_ATOMIC_ADD(ptr, value)
#define STARPU_ATOMIC_ADD64(ptr, value) STARPU_ATOMIC_ADD(ptr, value)
/* Bitwise or; yields the previous value. */
#define STARPU_ATOMIC_OR(ptr, value) (__atomic_fetch_or((ptr), (value), __ATOMIC_SEQ_CST))
#define STARPU_ATOMIC_ORL(ptr, value) STARPU_ATOMIC_OR(ptr, value)
#define STARPU_ATOMIC_OR64(ptr, value) STARPU_ATOMIC_OR(ptr, value)
/* Replace old by value; BOOL yields whether it was done, VAL the previous value. */
#define STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value) \
	(__sync_bool_compare_and_swap((ptr), (old), (value)))
#define STARPU_BOOL_COMPARE_AND_SWAP32(ptr, old, value) \
	STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_BOOL_COMPARE_AND_SWAP64(ptr, old, value) \
	STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_BOOL_COMPARE_AND_SWAP_PTR(ptr, old, value) \
	STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value) \
	(__sync_val_compare_and_swap((ptr), (old), (value)))
#define STARPU_VAL_COMPARE_AND_SWAP32(ptr, old, value) STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_VAL_COMPARE_AND_SWAP64(ptr, old, value) STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_VAL_COMPARE_AND_SWAP_PTR(ptr, old, value) \
	STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value)
/* The text of an error number (errno's, or a negative one that a function of the runtime returned),
 * in buf or in memory that lasts; cut to buflen bytes. Any thread may call it. */
const char *starpu_strerror_r(int errnum, char *buf, size_t buflen);
static inline uint64_t starpu_val_compare_and_swap64(uint64_t *dest, uint64_t old, uint64_t value)
{
	return STARPU_VAL_COMPARE_AND_SWAP64(dest, old, value);
}
/* Store value; yields the previous value. */
#define STARPU_VAL_EXCHANGE(ptr, value) (__atomic_exchange_n((ptr), (value), __ATOMIC_SEQ_CST))
#define STARPU_VAL_EXCHANGEL(ptr, value) STARPU_VAL_EXCHANGE(ptr, value)
#define STARPU_VAL_EXCHANGE32(ptr, value) STARPU_VAL_EXCHANGE(ptr, value)
#define STARPU_VAL_EXCHANGE64(ptr, value) STARPU_VAL_EXCHANGE(ptr, value)
/* A minimal lock: TEST_AND_SET yields the previous value with acquire order, RELEASE stores 0. */
#define STARPU_TEST_AND_SET(ptr, value) (__sync_lock_test_and_set((ptr), (value)))
#define STARPU_RELEASE(ptr) (__sync_lock_release(ptr))
/* Full, read and write memory barriers. */
#define STARPU_SYNCHRONIZE() __sync_synchronize()
#define STARPU_RMB() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define STARPU_WMB() __atomic_thread_fence(__ATOMIC_RELEASE)

/* --- Diagnosis ----------------------------------------------------------------------- */

/* The functions that the calling thread is in, innermost first, one a line on stderr: those of
 * shared libraries and of programs linked with -rdynamic have names. */
void orrery_dump_backtrace(void);
#define STARPU_DUMP_BACKTRACE() orrery_dump_backtrace()

/* 1: STARPU_SILENT is set, and programs had better print nothing either. 0 before starpu_init(). */
extern int _starpu_silent;

/* --- Environment variables ----------------------------------------------------------- */

/* Like getenv(): the value, owned by the environment, or NULL. Do not call while another thread
 * sets variables. */
char *starpu_getenv(const char *str);

/* The value of an environment variable as a number, dflt when it is unset. A value that is no
 * number is reported on stderr with the variable's name, and dflt is returned. */
int orrery_getenv_number(const char *name, int dflt);
double orrery_getenv_float(const char *name, double dflt);

/* The place of the variable's value in a list of texts that ends with NULL; defvalue when it is not
 * set, or not in the list (after a message). */
int orrery_getenv_choice(const char *name, const char *strings[], int defvalue);
/* The variable's value as a number of bytes: with k, M, G or T behind it times 1024, and so on,
 * else times 1024. defval when it is not set, cannot be read, or is too large (after a message). */
int orrery_getenv_size(const char *name, int defval);

#define starpu_getenv_number(s) orrery_getenv_number((s), -1)
#define starpu_getenv_number_default(s, d) orrery_getenv_number((s), (d))
#define starpu_getenv_float_default(s, d) orrery_getenv_float((s), (d))
#define starpu_getenv_string_var_default(s, v, d) orrery_getenv_choice((s), (v), (d))
#define starpu_getenv_size_default(s, d) orrery_getenv_size((s), (d))
#define starpu_get_env_string_var_default(s, v, d) starpu_getenv_string_var_default(s, v, d)
#define starpu_get_env_size_default(s, d) starpu_getenv_size_default(s, d)
#define starpu_get_env_number(s) starpu_getenv_number(s)
#define starpu_get_env_number_default(s, d) starpu_getenv_number_default(s, d)
#define starpu_get_env_float_default(s, d) starpu_getenv_float_default(s, d)

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
