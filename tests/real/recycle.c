/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Large blocks that the runtime frees are kept for the next one of that size
 * (src/sys/real_memory.c): the same memory comes back, with any alignment that was asked for; not
 * without bounds, not beyond the end of the runtime, and not where memory is limited. */
#include "../core/core_test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((size_t) 1 << 20)

static uintptr_t get(size_t size)
{
	uintptr_t p = starpu_malloc_on_node_flags(STARPU_MAIN_RAM, size, 0);

	CHECK(p != 0);
	memset((void *) p, 1, size);
	return p;
}

static void put(uintptr_t p, size_t size)
{
	starpu_free_on_node_flags(STARPU_MAIN_RAM, p, size, 0);
}

/* Sanitizers keep freed memory themselves: nothing is to be seen from outside. */
static int seen(void)
{
	const char *sanitizer = getenv("ORR_TEST_SANITIZER");

	return !sanitizer || !strcmp(sanitizer, "no");
}

static size_t resident(void)
{
	unsigned long total, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	CHECK(f && fscanf(f, "%lu %lu", &total, &pages) == 2);
	fclose(f);
	return pages * (size_t) sysconf(_SC_PAGESIZE);
}

static void same_size(void)
{
	uintptr_t a = get(MIB), b = get(MIB), c, d;

	CHECK(a != b);
	put(a, MIB);
	c = get(MIB + 4096);
	CHECK(c != a && c != b);
	d = get(MIB);
	CHECK(d == a);
	put(b, MIB);
	put(c, MIB + 4096);
	put(d, MIB);
}

/* Blocks of other sizes make way for those that were freed last. */
static void bounded(void)
{
	enum { N = 400 };
	static uintptr_t p[N];
	size_t before = resident(), full, kept;

	for (unsigned i = 0; i < N; i++)
		p[i] = get(MIB - 4096 * (i % 3));
	full = resident();
	for (unsigned i = 0; i < N; i++)
		put(p[i], MIB - 4096 * (i % 3));
	kept = resident();
	CHECK(full > before + (N - 10) * MIB);
	CHECK(!seen() || (kept > before + 200 * MIB && kept < before + 270 * MIB));
	starpu_shutdown();
	CHECK(!seen() || resident() < before + 50 * MIB);
}

static void limited(void)
{
	uintptr_t a;
	size_t before;

	setenv("STARPU_LIMIT_CPU_MEM", "500", 1);
	core_start(1, NULL);
	a = get(64 * MIB);
	before = resident();
	put(a, 64 * MIB);
	CHECK(!seen() || resident() < before - 60 * MIB);
	starpu_shutdown();
}

int main(void)
{
	core_start(1, NULL);
	same_size();
	starpu_malloc_set_align(1 << 16);
	same_size();
	bounded();
	limited();
	return 0;
}
