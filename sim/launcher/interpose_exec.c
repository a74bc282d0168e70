/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* execve() and its relatives: another program would take the place of all ranks, so a rank is
 * refused. Children that a rank has made by fork() are processes of their own and may.
 *
 * Invariant: no state. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include "calls.h"
#include "interpose.h"
#include "actors/sim_own.h"

extern char **environ;

/* The most arguments of the forms that list them. */
#define MOST 4096

static int refused(const char *function, const char *program)
{
	if (!orrery_sim_in_rank() || !orrery_sim_is_simulator())
		return 0;
	fprintf(stderr,
		"orrery sim: rank %d: %s(\"%s\"): another program cannot take the place of a rank in a simulated run; start it by fork() and %s(), by posix_spawn() or by system()\n",
		orrery_sim_my_rank(), function, program, function);
	errno = ENOTSUP;
	return 1;
}

int execve(const char *path, char *const *argv, char *const *environment)
{
	return refused("execve", path) ? -1 : REAL(execve)(path, argv, environment);
}

int execv(const char *path, char *const *argv)
{
	return refused("execv", path) ? -1 : REAL(execve)(path, argv, environ);
}

int execvp(const char *file, char *const *argv)
{
	return refused("execvp", file) ? -1 : REAL(execvp)(file, argv);
}

int execvpe(const char *file, char *const *argv, char *const *environment)
{
	return refused("execvpe", file) ? -1 : REAL(execvpe)(file, argv, environment);
}

int fexecve(int fd, char *const *argv, char *const *environment)
{
	return refused("fexecve", "a descriptor") ? -1 : REAL(fexecve)(fd, argv, environment);
}

/* The arguments up to the NULL that ends them; -1 and E2BIG if there are too many. */
static int collect(char **argv, const char *first, va_list *list)
{
	int n = 0;
	argv[0] = (char *) first;
	while (argv[n] && ++n < MOST)
		argv[n] = va_arg(*list, char *);
	if (n < MOST)
		return 0;
	errno = E2BIG;
	return -1;
}

int execl(const char *path, const char *arg, ...)
{
	char *argv[MOST];
	va_list list;
	va_start(list, arg);
	int ret = collect(argv, arg, &list);
	va_end(list);
	return ret || refused("execl", path) ? -1 : REAL(execve)(path, argv, environ);
}

int execlp(const char *file, const char *arg, ...)
{
	char *argv[MOST];
	va_list list;
	va_start(list, arg);
	int ret = collect(argv, arg, &list);
	va_end(list);
	return ret || refused("execlp", file) ? -1 : REAL(execvp)(file, argv);
}

int execle(const char *path, const char *arg, ...)
{
	char *argv[MOST];
	va_list list;
	va_start(list, arg);
	int ret = collect(argv, arg, &list);
	char *const *environment = ret ? NULL : va_arg(list, char *const *);
	va_end(list);
	return ret || refused("execle", path) ? -1 : REAL(execve)(path, argv, environment);
}
