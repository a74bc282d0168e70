/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices cuda */
/* orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 STARPU_BUS_STATS=1 */
/* Buses and what they carried: each copy is counted once, on the way that it took. Two devices:
 * nodes 1 and 2. */
#include "../core/core_test.h"

#include <errno.h>
#include <orrery.h>
#include <string.h>
#include <unistd.h>

#define BYTES 65536

static char buffer[BYTES];

static unsigned long long count(int src, int dst, unsigned long long *bytes)
{
	struct starpu_profiling_bus_info info;

	CHECK_IS(starpu_bus_get_profiling_info(starpu_bus_get_id(src, dst), &info), 0);
	CHECK(info.total_time.tv_sec >= 0 && info.total_time.tv_nsec >= 0);
	*bytes = info.transferred_bytes;
	return info.transfer_count;
}

static void carried(int src, int dst, unsigned long long want_count, unsigned long long want_bytes)
{
	unsigned long long bytes;

	CHECK_IS(count(src, dst, &bytes), want_count);
	CHECK_IS(bytes, want_bytes);
}

static void fetch(starpu_data_handle_t h, int node, enum starpu_data_access_mode mode)
{
	CHECK_IS(starpu_data_acquire_on_node(h, node, mode), 0);
	starpu_data_release_on_node(h, node);
}

static void numbers(void)
{
	int src, dst, id, n = (int) starpu_memory_nodes_get_count(), seen[64] = { 0 };

	CHECK_IS(n, 3);
	CHECK_IS(starpu_bus_get_count(), n * (n - 1));
	for (src = 0; src < n; src++)
		for (dst = 0; dst < n; dst++) {
			id = starpu_bus_get_id(src, dst);
			CHECK_IS(id >= 0, src != dst);
			if (id < 0)
				continue;
			CHECK(id < n * (n - 1) && !seen[id]++);
			CHECK_IS(starpu_bus_get_src(id), src);
			CHECK_IS(starpu_bus_get_dst(id), dst);
			CHECK(starpu_bus_get_direct(id) == 0 && starpu_bus_get_ngpus(id) == 0);
			starpu_bus_set_direct(id, src + dst > 2);
			starpu_bus_set_ngpus(id, 10 * src + dst);
		}
	for (id = 0; id < n * (n - 1); id++) {
		src = starpu_bus_get_src(id);
		dst = starpu_bus_get_dst(id);
		CHECK_IS(starpu_bus_get_direct(id), src + dst > 2);
		CHECK_IS(starpu_bus_get_ngpus(id), 10 * src + dst);
	}
	starpu_bus_set_direct(id, 1);
	CHECK(starpu_bus_get_direct(id) == 0 && starpu_bus_get_ngpus(-1) == 0);
	CHECK(starpu_bus_get_id(0, n) == -1 && starpu_bus_get_id(-1, 0) == -1);
	CHECK(starpu_bus_get_src(-1) == -1 && starpu_bus_get_dst(n * (n - 1)) == -1);
	CHECK_IS(starpu_bus_get_profiling_info(n * (n - 1), NULL), -EINVAL);
}

static void new_node(void)
{
	const char *tmp = getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp";
	int before = starpu_bus_get_id(2, 1), disk;
	char folder[300];

	snprintf(folder, sizeof(folder), "%s/bus-%d", tmp, getpid());
	disk = starpu_disk_register(&starpu_disk_unistd_ops, folder, STARPU_DISK_SIZE_MIN);
	CHECK_IS(disk, 3);
	CHECK_IS(starpu_bus_get_count(), 12);
	CHECK_IS(starpu_bus_get_id(2, 1), before);
	CHECK(starpu_bus_get_id(0, disk) >= 6 && starpu_bus_get_id(disk, 2) >= 6);
	carried(0, disk, 0, 0);
}

/* The text that STARPU_BUS_STATS wrote at the end. */
static void summary(const char *path, int want_lines)
{
	char line[256];
	int lines = 0;
	FILE *f = fopen(path, "r");

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		lines += strstr(line, "->") != NULL;
		if (strstr(line, "CUDA 0") && strstr(line, "-> CUDA 1"))
			CHECK(strstr(line, "2 transfers") && strstr(line, "65.536 kB each"));
	}
	fclose(f);
	remove(path);
	CHECK_IS(lines, want_lines);
}

int main(void)
{
	starpu_data_handle_t h;
	unsigned long long bytes, home;
	uint64_t in, out;
	char file[300];

	snprintf(file, sizeof(file), "%s/bus-%d.txt",
		 getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp", getpid());
	setenv("STARPU_BUS_STATS_FILE", file, 1);
	CHECK_IS(starpu_init(NULL), 0);
	numbers();
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) buffer, BYTES, 1);
	carried(0, 1, 0, 0);
	fetch(h, 1, STARPU_R);
	carried(0, 1, 1, BYTES);
	carried(0, 1, 0, 0);   /* since it was last asked */
	fetch(h, 1, STARPU_R); /* is there */
	carried(0, 1, 0, 0);
	fetch(h, 1, STARPU_RW);
	carried(0, 1, 0, 0);
	fetch(h, 2, STARPU_R); /* from the other device, who alone has it */
	carried(0, 2, 0, 0);
	carried(1, 2, 1, BYTES);
	carried(1, 0, 0, 0);
	fetch(h, 2, STARPU_W);
	fetch(h, 0, STARPU_R);
	carried(2, 0, 1, BYTES);
	fetch(h, 1, STARPU_W); /* nothing to bring */
	fetch(h, 2, STARPU_RW);
	fetch(h, 1, STARPU_R);
	CHECK_IS(count(2, 1, &bytes), 1);
	carried(1, 2, 1, BYTES);
	CHECK_IS(orrery_transfer_bytes(2, &in, &out), 0);
	CHECK(in == 2 * BYTES && out == 2 * BYTES);
	starpu_data_unregister(h);
	home = count(1, 0, &bytes);
	CHECK_IS(home + count(2, 0, &bytes), 1); /* from one of the two */
	new_node();
	starpu_shutdown();
	summary(file, 4 + (int) home); /* the ways that were used */
	return 0;
}
