/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages to people: one line each on stderr, prefixed with the rank in programs of several
 * processes. What several ranks say in the same words is printed once: in a simulated run always,
 * for news until the runtime is up; in a real one until the runtime is up, once on each host, if
 * Open MPI has started the ranks. Whoever first identifies an error logs it. Any thread may call
 * these.
 *
 * Invariant: one call writes one whole line, so that lines of several processes do not mix. Not
 * asserted: it is how these four functions are written. */
#ifndef ORR_BASE_LOG_H
#define ORR_BASE_LOG_H

/* An error that the caller returns to the program. Always printed. */
void orr_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Something that the program did not mean; and news. STARPU_SILENT switches both off. */
void orr_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void orr_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A user's mistake that no return value can carry (a kernel reads data that were never written,
 * ...): prints the message, then ends the program with a non-zero status. */
void orr_fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
