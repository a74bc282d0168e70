/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The use of a memory in the trace: what is allocated and counted, its peak, that small changes
 * make few events, and that nothing is recorded of what is not counted.
 *
 * Invariant: the test knows what is in use, because nothing else is counted meanwhile. */
#include "core_test.h"
#include "lib/tracefile.h"

#define MB ((size_t) 1 << 20)
#define NBLOCKS 40
#define NSMALL 20000

static void *take(size_t bytes, int flags)
{
	void *p;

	CHECK_IS(starpu_malloc_flags(&p, bytes, flags), 0);
	return p;
}

int main(void)
{
	char path[512];
	const char *dir = getenv("ORR_TEST_TMP");
	void *block[NBLOCKS];
	uint64_t most = 0, last = 0, before = 0;
	int n = 0;

	snprintf(path, sizeof(path), "%s/orrery-trace-memory", dir ? dir : "/tmp");
	remove(path);
	setenv("ORRERY_TRACE", path, 1);
	core_start(1, NULL);
	size_t start = starpu_memory_get_used(STARPU_MAIN_RAM);
	for (int i = 0; i < NBLOCKS; i++)
		block[i] = take(MB, STARPU_MALLOC_COUNT);
	starpu_free_flags(take(64 * MB, 0), 64 * MB, 0);
	for (int i = 0; i < NSMALL; i++)
		starpu_free_flags(take(MB, STARPU_MALLOC_COUNT), MB, STARPU_MALLOC_COUNT);
	CHECK_IS(starpu_memory_get_used(STARPU_MAIN_RAM), start + NBLOCKS * MB);
	starpu_fxt_trace_user_event(1);
	for (int i = 0; i < NBLOCKS; i++)
		starpu_free_flags(block[i], MB, STARPU_MALLOC_COUNT);
	starpu_fxt_stop_profiling();
	starpu_shutdown();

	struct tracefile t = tracefile_read(path);

	for (size_t i = 0; i < t.n; i++) {
		const struct orr_trace_event *e = &t.events[i];

		if (e->kind == ORR_TRACE_USER)
			before = last;
		if (e->kind != ORR_TRACE_MEMORY || e->a != STARPU_MAIN_RAM)
			continue;
		CHECK(e->c <= e->b && !e->d);
		most = e->b > most ? e->b : most;
		last = e->b;
		n++;
	}
	printf("%d events, most %llu, before %llu, last %llu\n", n, (unsigned long long) most,
	       (unsigned long long) before, (unsigned long long) last);
	/* Another megabyte on top, for a moment. */
	CHECK(most >= start + NBLOCKS * MB && most <= start + (NBLOCKS + 1) * MB);
	CHECK(before + most / 8 >= start + NBLOCKS * MB && before <= most);
	CHECK(last <= start + most / 8);
	CHECK(n >= 10 && n < NSMALL / 10);
	free(t.events);
	remove(path);
	return 0;
}
