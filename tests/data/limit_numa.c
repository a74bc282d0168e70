/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_LIMIT_CPU_NUMA_MEM limits main memory as a whole where NUMA nodes are not told apart; the
 * smaller of it and STARPU_LIMIT_CPU_MEM counts, and that of node 0 comes before that of all.
 * orr-test: env STARPU_NCPU=1 */
#include "data/mem_test.h"

#include <errno.h>

#define MIB (1 << 20)

static void limit(const char *all, const char *numa, const char *numa0, long mib)
{
	setenv("STARPU_LIMIT_CPU_MEM", all, 1);
	setenv("STARPU_LIMIT_CPU_NUMA_MEM", numa, 1);
	if (numa0)
		setenv("STARPU_LIMIT_CPU_NUMA_0_MEM", numa0, 1);
	start();
	CHECK(starpu_memory_get_total(STARPU_MAIN_RAM) == (mib ? mib * MIB : -1));
	starpu_shutdown();
	unsetenv("STARPU_LIMIT_CPU_NUMA_0_MEM");
}

int main(void)
{
	void *p = NULL;

	limit("0", "0", NULL, 0);
	limit("10", "0", NULL, 10);
	limit("0", "20", NULL, 20);
	limit("10", "20", NULL, 10);
	limit("30", "20", NULL, 20);
	limit("30", "20", "15", 15);
	setenv("STARPU_LIMIT_CPU_MEM", "0", 1);
	setenv("STARPU_LIMIT_CPU_NUMA_MEM", "10", 1);
	start();
	CHECK(starpu_malloc_flags(&p, 11 * MIB, STARPU_MALLOC_COUNT) == -ENOMEM);
	CHECK(starpu_malloc_flags(&p, 9 * MIB, STARPU_MALLOC_COUNT) == 0);
	starpu_free_flags(p, 9 * MIB, STARPU_MALLOC_COUNT);
	starpu_shutdown();
	return 0;
}
