/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Children that a program makes by fork() may become other programs, by each form of exec. With the
 * argument "here" the program itself tries each form, and writes which error it got: a rank of a
 * simulated run is refused (tests/sim/exec.sh).
 *
 * orr-test: timeout 60
 * orr-test: ranks 2 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <starpu.h>
#include "lib/test.h"

/* Ends with status 7 if the variable and the argument have come through. */
#define SCRIPT "test \"$ORR_EXEC_TEST\" = \"$0\" && exit 7; exit 1"

static char *argv[] = { "sh", "-c", SCRIPT, "told", NULL };
static char *environment[] = { "ORR_EXEC_TEST=told", "PATH=/usr/bin:/bin", NULL };

static void by_execve(const char *path)
{
	execve(path, argv, environment);
}

static void by_execv(const char *path)
{
	execv(path, argv);
}

static void by_execvp(const char *path)
{
	execvp(path, argv);
}

static void by_execvpe(const char *path)
{
	execvpe(path, argv, environment);
}

static void by_execl(const char *path)
{
	execl(path, argv[0], argv[1], argv[2], argv[3], (char *) NULL);
}

static void by_execlp(const char *path)
{
	execlp(path, argv[0], argv[1], argv[2], argv[3], (char *) NULL);
}

static void by_execle(const char *path)
{
	execle(path, argv[0], argv[1], argv[2], argv[3], (char *) NULL, environment);
}

static void by_fexecve(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	fexecve(fd, argv, environment);
	close(fd);
}

/* in_path: the form looks for the program in the folders of PATH. */
static const struct form {
	const char *name;
	void (*exec)(const char *path);
	int in_path;
} forms[] = {
	{ "execve", by_execve, 0 },   { "execv", by_execv, 0 },     { "execvp", by_execvp, 1 },
	{ "execvpe", by_execvpe, 1 }, { "execl", by_execl, 0 },     { "execlp", by_execlp, 1 },
	{ "execle", by_execle, 0 },   { "fexecve", by_fexecve, 0 },
};
#define NFORMS (sizeof(forms) / sizeof(forms[0]))

static void test_child(const struct form *f)
{
	int status = 0;
	pid_t child = fork();

	CHECK(child >= 0, "%s", strerror(errno));
	if (!child) {
		setenv("ORR_EXEC_TEST", "told", 1);
		f->exec(f->in_path ? "sh" : "/bin/sh");
		_exit(99);
	}
	CHECK_IS(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%s: status %#x", f->name, status);
}

/* The file exists and is no program: no form can succeed. */
static void try_here(const struct form *f)
{
	errno = 0;
	f->exec("/dev/null");
	printf("%s: %s\n", f->name, strerror(errno));
}

int main(int argc, char **args)
{
	int here = argc > 1 && !strcmp(args[1], "here");

	OK(starpu_init(NULL));
	for (unsigned i = 0; i < NFORMS; i++)
		(here ? try_here : test_child)(&forms[i]);
	CHECK_IS(starpu_cpu_worker_get_count() > 0, 1);
	starpu_shutdown();
	return 0;
}
