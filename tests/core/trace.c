/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event recorder: ORRERY_TRACE, marks of the program, switching it off and on.
 *
 * Invariant: the file has each event once, and nothing that happened while the recorder was off. */
#include "core_test.h"
#include "lib/tracefile.h"

#include <string.h>

static struct starpu_codelet cl = { .cpu_funcs = { core_count_kernel }, .name = "traced" };
static int ran;

static void insert(void)
{
	CHECK_IS(starpu_task_insert(&cl, STARPU_CL_ARGS_NFREE, &ran, sizeof(ran),
				    STARPU_TASK_SYNCHRONOUS, 1, 0),
		 0);
}

/* Events of that kind in the file; mark: of the marks with that text. */
static int count(const char *path, enum orr_trace_kind kind, const char *mark)
{
	struct tracefile t = tracefile_read(path);
	int n = 0;

	for (size_t i = 0; i < t.n; i++)
		n += t.events[i].kind == kind &&
		     (!mark || (t.events[i].a < 64 && !strcmp(t.strings[t.events[i].a], mark)));
	free(t.events);
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
	for (int kind = ORR_TRACE_SUBMIT; kind <= ORR_TRACE_DONE; kind++)
		CHECK_IS(count(path, kind, NULL), kind == ORR_TRACE_RELEASE ? 0 : 2);
	CHECK_IS(count(path, ORR_TRACE_START, "traced"), 2);
	CHECK_IS(count(path, ORR_TRACE_USER, NULL), 4);
	CHECK_IS(count(path, ORR_TRACE_USER, "mark two lines"), 1);
	CHECK_IS(count(path, ORR_TRACE_USER, "mark unseen"), 0);
	starpu_fxt_autostart_profiling(0);
	core_start(1, NULL);
	CHECK(!starpu_fxt_is_enabled());
	insert();
	starpu_fxt_start_profiling();
	insert();
	starpu_shutdown();
	/* The same run goes on in the same file. */
	CHECK_IS(count(path, ORR_TRACE_START, NULL), 3);
	CHECK_IS(count(path, ORR_TRACE_LEFT, NULL), 2);
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
