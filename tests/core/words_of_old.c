/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that programs of others need: fields that are accepted, the switch of messages, and the
 * list of functions that a thread is in.
 * orr-test: env STARPU_SILENT=1 STARPU_NCPU=1 */
#include <starpu.h>

#include <string.h>
#include <unistd.h>

#include "lib/test.h"

static int ran;

static void kernel(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	ran++;
}

static starpu_mpi_ms_kernel_t kernel_of_slaves(void)
{
	return kernel;
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel },
				    .mpi_ms_funcs = { kernel_of_slaves },
				    .name = "old" };

/* The text of STARPU_DUMP_BACKTRACE() on stderr. */
__attribute__((noinline)) static void read_backtrace(char *text, size_t room)
{
	int copy = dup(2), fd[2];
	ssize_t n;

	OK(pipe(fd));
	CHECK(dup2(fd[1], 2) == 2);
	STARPU_DUMP_BACKTRACE();
	CHECK(dup2(copy, 2) == 2);
	close(fd[1]);
	close(copy);
	n = read(fd[0], text, room - 1);
	close(fd[0]);
	CHECK(n > 0);
	text[n] = 0;
}

int main(void)
{
	char text[10000];

	CHECK_IS(_starpu_silent, 0);
	int ret = starpu_init(NULL);
	if (ret == -ENODEV)
		return 77;
	OK(ret);
	CHECK_IS(_starpu_silent, 1);
	struct starpu_task *task = starpu_task_create();
	CHECK_IS(task->hypervisor_tag, 0);
	task->hypervisor_tag = 7;
	task->cl = &cl;
	task->synchronous = 1;
	OK(starpu_task_submit(task));
	CHECK_IS(ran, 1);
	read_backtrace(text, sizeof(text));
	/* The runtime's function, this one, and main: a line each. */
	CHECK(strstr(text, "orrery_dump_backtrace"), "%s", text);
	CHECK(strchr(strchr(text, '\n') + 1, '\n'), "%s", text);
	starpu_shutdown();
	return 0;
}
