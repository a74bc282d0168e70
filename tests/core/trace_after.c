/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Dependencies in a trace against an oracle: random tasks on a few data, submitted by a program
 * that waits now and then, so that a part of what they depend on is over when they are submitted.
 *
 * Invariant: the oracle knows the accesses in their order and nothing else. Each dependency is in
 * the trace once for all, as a wait (release, ready) or as one that nobody waited for (after), and
 * nothing else is. */
#include "core_test.h"
#include "lib/tracefile.h"

#include <string.h>

#define NTASKS 400
#define NDATA 6

static void work(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_sleep(2e-5);
}

static struct starpu_codelet cl = { .cpu_funcs = { work },
				    .nbuffers = STARPU_VARIABLE_NBUFFERS,
				    .name = "work" };

/* may[u][v]: v comes after u by a datum; must[v][k]: one of these tasks is in the trace. */
static char may[NTASKS][NTASKS], there[NTASKS][NTASKS];
static struct must {
	int v, n, of[NTASKS];
} must[NTASKS * 3];
static int nmust;

static struct {
	int writer, nreaders, readers[NTASKS];
} last[NDATA];

static uint32_t state = 1;

static int random_below(int n)
{
	state = state * 1103515245 + 12345;
	return (int) (state >> 16) % n;
}

/* Task v uses that datum: what it comes after. */
static void expect(int v, int d, int writes)
{
	struct must *m = &must[nmust];

	m->v = v;
	m->n = 0;
	if (writes && last[d].nreaders) {
		m->n = last[d].nreaders;
		memcpy(m->of, last[d].readers, (size_t) m->n * sizeof(int));
	} else if (last[d].writer >= 0)
		m->of[m->n++] = last[d].writer;
	for (int i = 0; i < m->n; i++)
		may[m->of[i]][v] = 1;
	nmust += m->n > 0;
	if (writes) {
		last[d].writer = v;
		last[d].nreaders = 0;
	} else
		last[d].readers[last[d].nreaders++] = v;
}

static void submit(int v, starpu_data_handle_t *h)
{
	static const enum starpu_data_access_mode modes[] = { STARPU_R, STARPU_RW, STARPU_W };
	struct starpu_data_descr data[3];
	int n = 1 + random_below(3), first = random_below(NDATA);

	for (int i = 0; i < n; i++) {
		int d = (first + i) % NDATA, mode = random_below(3);

		data[i] = (struct starpu_data_descr){ .handle = h[d], .mode = modes[mode] };
		expect(v, d, mode > 0);
	}
	CHECK_IS(starpu_task_insert(&cl, STARPU_DATA_MODE_ARRAY, data, n, 0), 0);
	if (!random_below(10))
		CHECK_IS(starpu_task_wait_for_all(), 0);
	else if (!random_below(5))
		starpu_sleep(1e-4);
}

/* The tasks' numbers in the order of their submission. */
static int place_of(const uint64_t *jobs, uint64_t job)
{
	for (int v = 0; v < NTASKS; v++)
		if (jobs[v] == job)
			return v;
	CHECK(0, "no task has the number %llu", (unsigned long long) job);
	return -1;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int main(void)
{
	char path[512];
	const char *dir = getenv("ORR_TEST_TMP");
	starpu_data_handle_t h[NDATA];
	int value[NDATA] = { 0 }, nafter = 0, nwaits = 0, nwaited = 0, n = 0;
	uint64_t jobs[NTASKS];

	snprintf(path, sizeof(path), "%s/orrery-trace-after", dir ? dir : "/tmp");
	setenv("ORRERY_TRACE", path, 1);
	core_start(2, NULL);
	for (int d = 0; d < NDATA; d++) {
		starpu_variable_data_register(&h[d], STARPU_MAIN_RAM, (uintptr_t) &value[d],
					      sizeof(value[d]));
		last[d].writer = -1;
	}
	for (int v = 0; v < NTASKS; v++)
		submit(v, h);
	for (int d = 0; d < NDATA; d++)
		starpu_data_unregister(h[d]);
	starpu_shutdown();

	struct tracefile t = tracefile_read(path);
	for (size_t i = 0; i < t.n; i++)
		if (t.events[i].kind == ORR_TRACE_SUBMIT) {
			CHECK(n < NTASKS);
			jobs[n++] = t.events[i].b;
		}
	CHECK_IS(n, NTASKS);
	qsort(jobs, NTASKS, sizeof(*jobs), by_number);
	for (size_t i = 0; i < t.n; i++) {
		const struct orr_trace_event *e = &t.events[i];

		nwaited += e->kind == ORR_TRACE_WAITED;
		if ((e->kind != ORR_TRACE_RELEASE && e->kind != ORR_TRACE_READY &&
		     e->kind != ORR_TRACE_AFTER) ||
		    e->c >> 60 != ORR_CAUSE_TASK >> 60)
			continue;
		int u = place_of(jobs, e->c & (ORR_CAUSE_TASK - 1)), v = place_of(jobs, e->b);

		CHECK(may[u][v], "task %d does not come after task %d", v, u);
		there[u][v] = 1;
		nafter += e->kind == ORR_TRACE_AFTER;
		nwaits += e->kind != ORR_TRACE_AFTER;
	}
	for (int m = 0; m < nmust; m++) {
		int found = 0;

		for (int i = 0; i < must[m].n; i++)
			found |= there[must[m].of[i]][must[m].v];
		CHECK(found, "task %d comes after task %d, which the trace does not have",
		      must[m].v, must[m].of[0]);
	}
	printf("%d dependencies: %d were waited for, %d were over; %d waits of the program\n",
	       nmust, nwaits, nafter, nwaited);
	CHECK(nafter >= 10 && nwaits >= 10 && nwaited >= 10);
	free(t.events);
	remove(path);
	return 0;
}
