/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event recorder: ORRERY_TRACE, marks of the program, switching it off and on.
 *
 * Invariant: the file has one line per event, in the order of time, and nothing that happened while
 * the recorder was off. */
#include "core_test.h"

#include <string.h>

static struct starpu_codelet cl = { .cpu_funcs = { core_count_kernel }, .name = "traced" };
static int ran;

static void insert(void)
{
	CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
				    STARPU_TASK_SYNCHRONOUS, 1, 0),
		 0);
}

static int count(const char *path, const char *what)
{
	char line[512];
	double last = -1e30, us;
	FILE *f = fopen(path, "r");
	int n = 0;

	CHECK(f != NULL);
	while (fgets(line, sizeof(line), f)) {
		if (line[0] == '#')
			continue;
		CHECK(sscanf(line, "%lf", &us) == 1 && us >= last);
		last = us;
		n += strstr(line, what) != NULL;
	}
	fclose(f);
	return n;
}

int main(void)
{
	char path[512];
	const char *dir = getenv("ORR_TEST_TMP");

	snprintf(path, sizeof(path), "%s/orrery-trace-test", dir ? dir : "/tmp");
	setenv("ORRERY_TRACE", path, 1);
	core_start(1, NULL);
	CHECK(starpu_fxt_is_enabled());
	insert();
	starpu_iteration_push(3);
	starpu_fxt_trace_user_event(42);
	starpu_fxt_trace_user_event_string("two\nlines");
	starpu_iteration_pop();
	starpu_fxt_stop_profiling();
	CHECK(!starpu_fxt_is_enabled());
	insert();
	starpu_fxt_trace_user_event_string("unseen");
	starpu_fxt_start_profiling();
	insert();
	starpu_shutdown();
	CHECK_IS(count(path, " start "), 2);
	CHECK_IS(count(path, "traced"), 8);
	CHECK_IS(count(path, " user "), 4);
	CHECK_IS(count(path, "mark two lines"), 1);
	CHECK_IS(count(path, "unseen"), 0);
	starpu_fxt_autostart_profiling(0);
	core_start(1, NULL);
	CHECK(!starpu_fxt_is_enabled());
	insert();
	starpu_fxt_start_profiling();
	insert();
	starpu_shutdown();
	CHECK_IS(count(path, " start "), 1);
	starpu_fxt_autostart_profiling(1);
	unsetenv("ORRERY_TRACE");
	core_start(1, NULL);
	starpu_fxt_start_profiling();
	CHECK(!starpu_fxt_is_enabled());
	starpu_fxt_trace_user_event(1);
	starpu_shutdown();
	remove(path);
	return 0;
}
