/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices none */
/* Questions about workers, memory nodes, collections and versions have consistent answers.
 *
 * Invariant: holds for any number of workers.
 *
 * orr-test: env STARPU_NCPU=3 STARPU_WORKERS_NOBIND=1 */
#include <orrery.h>
#include <starpu.h>
#include <string.h>

#include "lib/test.h"

static int seen[STARPU_NMAXWORKERS];

static void note(void *arg)
{
	int id = starpu_worker_get_id();

	CHECK(arg == seen && id >= 0 && starpu_worker_get_id_check() == (unsigned) id);
	CHECK(starpu_worker_get_local_memory_node() ==
	      starpu_worker_get_memory_node((unsigned) id));
	CHECK(starpu_combined_worker_get_size() == 1 && starpu_combined_worker_get_rank() == 0);
	CHECK(starpu_worker_get_range() == id);
	seen[id]++;
}

static void check_workers(void)
{
	unsigned n = starpu_worker_get_count(), i;
	int ids[STARPU_NMAXWORKERS], devids[STARPU_NMAXWORKERS];
	char name[64], expected[64];

	CHECK(n == 3 && starpu_cpu_worker_get_count() == n);
	CHECK(starpu_cuda_worker_get_count() == 0 && starpu_opencl_worker_get_count() == 0 &&
	      starpu_mpi_ms_worker_get_count() == 0);
	CHECK(starpu_worker_get_count_by_type(STARPU_ANY_WORKER) == (int) n);
	CHECK(starpu_worker_get_count_by_type(STARPU_CPU_WORKER) == (int) n);
	CHECK(starpu_worker_get_count_by_type((enum starpu_worker_archtype) 77) < 0);
	CHECK(starpu_worker_get_id() == -1);
	CHECK(starpu_worker_get_range() == -1);
	CHECK(starpu_worker_get_range_by_id(-1) == -1 &&
	      starpu_worker_get_range_by_id((int) n) == -1);
	CHECK(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, STARPU_NMAXWORKERS) == n);
	CHECK(starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids, 2) == 2);
	CHECK(starpu_worker_get_devids(STARPU_CPU_WORKER, devids, STARPU_NMAXWORKERS) == (int) n);
	CHECK(starpu_worker_get_by_type(STARPU_CPU_WORKER, (int) n) == -1);
	CHECK(starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0) == -1);
	for (i = 0; i < n; i++) {
		int id = starpu_worker_get_by_type(STARPU_CPU_WORKER, (int) i);

		CHECK(id == (int) i && starpu_worker_get_type(id) == STARPU_CPU_WORKER);
		CHECK(starpu_worker_get_by_devid(STARPU_CPU_WORKER, starpu_worker_get_devid(id)) ==
		      id);
		CHECK(starpu_worker_get_stream_workerids((unsigned) starpu_worker_get_devid(id),
							 ids, STARPU_CPU_WORKER) == 1 &&
		      ids[0] == id);
		CHECK(starpu_worker_get_subworkerid(id) == 0 &&
		      !starpu_worker_is_combined_worker(id));
		CHECK(starpu_worker_get_memory_node(i) == STARPU_MAIN_RAM);
		starpu_worker_get_name(id, name, sizeof(name));
		snprintf(expected, sizeof(expected), "CPU %d", starpu_worker_get_devid(id));
		CHECK(strncmp(name, expected, strlen(expected)) == 0);
	}
	CHECK(strcmp(starpu_worker_get_type_as_string(STARPU_CPU_WORKER), "CPU") == 0);
	CHECK(starpu_arch_mask_to_worker_archtype(STARPU_CPU) == STARPU_CPU_WORKER);
	CHECK(starpu_combined_worker_get_count() == 0);
}

static void check_nodes(void)
{
	char name[32];

	CHECK(starpu_memory_nodes_get_count() == 1 && starpu_memory_nodes_get_numa_count() == 1);
	CHECK(starpu_memory_nodes_get_count_by_kind(STARPU_CPU_RAM) == 1);
	CHECK(starpu_node_get_kind(0) == STARPU_CPU_RAM &&
	      starpu_node_get_kind(1) == STARPU_UNUSED);
	CHECK(starpu_memory_node_get_worker_archtype(
		      starpu_worker_get_memory_node_kind(STARPU_CPU_WORKER)) == STARPU_CPU_WORKER);
	starpu_memory_node_get_name(0, name, sizeof(name));
	CHECK(strcmp(name, "RAM 0") == 0);
	CHECK(starpu_bus_get_count() == 0 && starpu_bus_get_id(0, 0) == -1);
}

static void check_collection(struct starpu_worker_collection c)
{
	struct starpu_sched_ctx_iterator it;
	int order[] = { 2, 0, 1 }, sum = 0, n = 0, i;

	c.init(&c);
	for (i = 0; i < 3; i++)
		CHECK(c.add(&c, order[i]) == order[i]);
	CHECK(c.add(&c, 1) == -1 && c.nworkers == 3 && c.present[1]);
	for (c.init_iterator(&c, &it); c.has_next(&c, &it); n++) {
		int w = c.get_next(&c, &it);

		if (c.type == STARPU_WORKER_LIST)
			CHECK(w == order[n]);
		sum += 1 << w;
	}
	CHECK(n == 3 && sum == 7);
	CHECK(c.remove(&c, 0) == 0 && c.remove(&c, 0) == -1 && c.nworkers == 2);
	c.init_iterator_for_parallel_tasks(&c, &it, NULL);
	CHECK(c.has_next(&c, &it));
	c.deinit(&c);
}

int main(void)
{
	int major, minor, release, previous;
	struct starpu_profiling_worker_info info;
	double start;
	unsigned i;

	starpu_get_version(&major, &minor, &release);
	CHECK(major == STARPU_MAJOR_VERSION && minor == STARPU_MINOR_VERSION &&
	      release == STARPU_RELEASE_VERSION);
	CHECK(orrery_version()[0] && (orrery_is_simulated() == 0 || orrery_is_simulated() == 1));
	if (test_skips(starpu_init(NULL)))
		return 77;
	check_workers();
	check_nodes();
	check_collection(starpu_worker_list);
	check_collection(starpu_worker_tree);

	starpu_execute_on_each_worker(note, seen, STARPU_CPU);
	starpu_execute_on_each_worker_ex(note, seen, STARPU_CUDA, "nobody");
	i = 1;
	starpu_execute_on_specific_workers(note, seen, 1, &i, "one");
	for (i = 0; i < starpu_worker_get_count(); i++)
		CHECK(seen[i] == 1 + (i == 1));

	previous = starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
	CHECK(starpu_profiling_status_get() == STARPU_PROFILING_ENABLE);
	start = starpu_timing_now();
	starpu_usleep(1000);
	CHECK(starpu_profiling_worker_get_info(0, &info) == 0);
	CHECK(starpu_timing_timespec_to_us(&info.total_time) >= 900);
	CHECK(starpu_timing_now() - start >= 900 && orrery_now_us() >= start);
	CHECK(starpu_profiling_worker_get_info(99, &info) < 0);
	CHECK(starpu_profiling_status_set(previous) == STARPU_PROFILING_ENABLE);
	starpu_energy_use(2);
	CHECK(starpu_energy_used() == 2);

	starpu_topology_print(stdout);
	starpu_worker_display_all(stdout);
	starpu_display_bindings();
	starpu_shutdown();
	return 0;
}
