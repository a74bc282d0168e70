/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Has a trace converted by a command (see convert.h).
 *
 * Invariant: the command is a process of its own; its words are not read by a shell. */
#include "trace/convert.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/assert.h"
#include "base/log.h"

#define TOOL "starpu_fxt_tool"
#define MOST_WORDS 64

/* The words of text, which is changed, after the n that argv has; how many there are then, or -1
 * if there is no room. */
static int add_words(char **argv, int n, char *text)
{
	char *rest = NULL;

	for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		if (n == MOST_WORDS)
			return -1;
		argv[n++] = word;
	}
	return n;
}

/* The exit status of the command; 128 and more: it was ended by a signal; negative: -errno. */
static int run(char **argv)
{
	pid_t pid;
	int status, err = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

	if (err)
		return -err;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void orr_trace_convert(struct orr_process *proc)
{
	char *options = strdup(proc->cfg->generate_options ? proc->cfg->generate_options : "");
	char *argv[MOST_WORDS + 1] = { TOOL, "-i", proc->cfg->trace };
	int n = options ? add_words(argv, 3, options) : -1;

	orr_assert(proc->cfg->trace);
	int ret = n < 0 ? -E2BIG : run(argv);

	free(options);
	if (!ret)
		return;
	if (ret < 0)
		orr_error(
			"STARPU_GENERATE_TRACE: %s cannot be started: %s; put its folder into PATH, or start it later: %s -i %s",
			TOOL, strerror(-ret), TOOL, proc->cfg->trace);
	else
		orr_error(
			"STARPU_GENERATE_TRACE: %s ended with status %d; the trace %s is as it was, start it again: %s -i %s",
			TOOL, ret, proc->cfg->trace, TOOL, proc->cfg->trace);
	orr_sys_fail_at_end(proc);
}
