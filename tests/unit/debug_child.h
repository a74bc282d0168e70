/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts that the tests of debug builds share: a mistake is made in a child process, which must
 * end by abort() and with a message that says what went wrong.
 *
 * Invariant: a mistake that goes unnoticed fails the test, and so does another end than abort. */
#ifndef DEBUG_CHILD_H
#define DEBUG_CHILD_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNNOTICED 42

/* All that can be read from fd, as a string. */
static inline void read_all(int fd, char *text, size_t room)
{
	size_t n = 0;
	ssize_t got;

	while (n + 1 < room && (got = read(fd, text + n, room - n - 1)) > 0)
		n += (size_t) got;
	text[n] = 0;
}

/* Makes the mistake in a child. Returns 1, or 0 after a message, when the child does not abort with
 * a message that contains `expected`. */
static inline int is_caught(const char *what, void (*mistake)(void), const char *expected)
{
	char text[4096];
	int fds[2], status;
	pid_t child;

	fflush(NULL);
	if (pipe(fds) || (child = fork()) < 0) {
		perror(what);
		return 0;
	}
	if (!child) {
		struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		alarm(30); /* a deadlock is not the expected end */
		dup2(fds[1], STDERR_FILENO);
		mistake();
		_exit(UNNOTICED);
	}
	close(fds[1]);
	read_all(fds[0], text, sizeof(text));
	close(fds[0]);
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
	    strstr(text, "assertion failed: ") && strstr(text, expected)) {
		printf("%s: %s", what, strstr(text, "assertion failed: "));
		return 1;
	}
	fprintf(stderr, "%s: expected abort() with \"%s\", got status %#x with:\n%s", what,
		expected, (unsigned) status, text);
	return 0;
}
#endif
