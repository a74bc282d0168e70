/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env STARPU_NCPU=1 ORRERY_FAKE_DEVICES=1 STARPU_SCHED=eager */
/* Memories that run low are tidied by workers without work: only copies are written back ahead
 * (STARPU_MINIMUM_CLEAN_BUFFERS) and stay valid where they are, or data are evicted
 * (STARPU_MINIMUM_AVAILABLE_MEM), each until its target; nothing happens with both at 0, and no
 * value is lost. On a device, and in main memory with a disk. */
#include "data/mem_test.h"
#include "orrery.h"

#define NDATA 15
#define N (64 << 10) /* ints: 256 KiB each, 16 fit */
#define BYTES (N * sizeof(int))
#define MEMORY (16 * BYTES)

static void fill_func(void *buffers[], void *arg)
{
	int *v = (int *) STARPU_VECTOR_GET_PTR(buffers[0]);
	int first;

	starpu_codelet_unpack_args(arg, &first);
	for (int i = 0; i < N; i++)
		v[i] = first + i;
}

static struct starpu_codelet fill_cl = { .cpu_funcs = { fill_func },
					 .cuda_funcs = { fill_func },
					 .nbuffers = 1,
					 .modes = { STARPU_W },
					 .name = "fill" };

static void begin(const char *min_avail, const char *target_avail, const char *min_clean,
		  const char *target_clean, const char *limited)
{
	unsetenv("STARPU_LIMIT_CPU_MEM");
	unsetenv("STARPU_LIMIT_CUDA_MEM");
	setenv(limited, "4", 1);
	setenv("STARPU_MINIMUM_AVAILABLE_MEM", min_avail, 1);
	setenv("STARPU_TARGET_AVAILABLE_MEM", target_avail, 1);
	setenv("STARPU_MINIMUM_CLEAN_BUFFERS", min_clean, 1);
	setenv("STARPU_TARGET_CLEAN_BUFFERS", target_clean, 1);
	start();
}

/* Writes all data, without a home, on a worker of that kind. */
static void fill(starpu_data_handle_t *h, enum starpu_worker_archtype type)
{
	int worker = starpu_worker_get_by_type(type, 0), i, first;

	for (i = 0; i < NDATA; i++) {
		first = 1000 * i;
		starpu_vector_data_register(&h[i], -1, 0, N, sizeof(int));
		CHECK(starpu_task_insert(&fill_cl, STARPU_VALUE, &first, sizeof(first), STARPU_W,
					 h[i], STARPU_EXECUTE_ON_WORKER, worker, 0) == 0);
	}
	CHECK(starpu_task_wait_for_all() == 0);
}

static int count(starpu_data_handle_t *h, unsigned node)
{
	int n = 0;

	for (int i = 0; i < NDATA; i++)
		n += starpu_data_is_on_node(h[i], node);
	return n;
}

/* Waits until at least `least` data are on node `to`, of which there may be `most`, and no more
 * come. */
static void await(starpu_data_handle_t *h, unsigned to, int least, int most)
{
	int before;

	do {
		before = count(h, to);
		starpu_usleep(50000);
	} while (count(h, to) < least || count(h, to) != before);
	if (count(h, to) < least || count(h, to) > most)
		fprintf(stderr, "%d data on node %u, not %d to %d\n", count(h, to), to, least,
			most);
	CHECK(count(h, to) >= least && count(h, to) <= most);
}

static void end(starpu_data_handle_t *h)
{
	for (int i = 0; i < NDATA; i++) {
		CHECK(starpu_data_acquire(h[i], STARPU_R) == 0);
		for (int k = 0; k < N; k++)
			CHECK(((int *) starpu_data_get_local_ptr(h[i]))[k] == 1000 * i + k);
		starpu_data_release(h[i]);
		starpu_data_unregister(h[i]);
	}
	starpu_shutdown();
}

int main(void)
{
	starpu_data_handle_t h[NDATA];
	unsigned dev;
	int disk;
	uint64_t in, out;
	char folder[300];

	/* 15 of 16 on the device. From the 13th on less than a quarter is free: until half could
	 * be, 5 to 7 are written back, those under way when this is reached not counted. */
	begin("0", "0", "25", "50", "STARPU_LIMIT_CUDA_MEM");
	dev = device_node(0);
	CHECK(starpu_memory_get_total(dev) == MEMORY);
	fill(h, STARPU_CUDA_WORKER);
	await(h, STARPU_MAIN_RAM, 5, 10);
	CHECK(count(h, dev) == NDATA);
	CHECK(orrery_transfer_bytes(dev, &in, &out) == 0 && in == 0 &&
	      out == (uint64_t) count(h, STARPU_MAIN_RAM) * BYTES);
	CHECK(starpu_data_is_on_node(h[0], STARPU_MAIN_RAM) &&
	      !starpu_data_is_on_node(h[NDATA - 1], STARPU_MAIN_RAM));
	end(h);

	/* Likewise 5 to 7 are evicted until half is free, and one more by each further worker that
	 * tidies at the same time. */
	begin("25", "50", "0", "0", "STARPU_LIMIT_CUDA_MEM");
	fill(h, STARPU_CUDA_WORKER);
	await(h, STARPU_MAIN_RAM, 5, 6 + (int) starpu_worker_get_count());
	CHECK(starpu_memory_get_available(dev) >= (starpu_ssize_t) MEMORY / 4 &&
	      count(h, dev) == NDATA - count(h, STARPU_MAIN_RAM));
	end(h);

	/* Nothing is asked for: nothing happens; on demand neither. */
	begin("0", "0", "0", "0", "STARPU_LIMIT_CUDA_MEM");
	fill(h, STARPU_CUDA_WORKER);
	starpu_memchunk_tidy(dev);
	await(h, STARPU_MAIN_RAM, 0, 0);
	end(h);

	/* Main memory, with a disk registered as any other: on demand and by itself. */
	begin("0", "0", "25", "50", "STARPU_LIMIT_CPU_MEM");
	snprintf(folder, sizeof(folder), "%s/tidy",
		 getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp");
	disk = starpu_disk_register(&starpu_disk_unistd_ops, folder, -1);
	CHECK(disk > 0);
	fill(h, STARPU_CPU_WORKER);
	await(h, (unsigned) disk, 5, 10);
	CHECK(count(h, STARPU_MAIN_RAM) == NDATA);
	for (int i = 0; i < NDATA; i++)
		CHECK(starpu_data_acquire(h[i], STARPU_RW) == 0 && (starpu_data_release(h[i]), 1));
	starpu_memchunk_tidy(STARPU_MAIN_RAM);
	await(h, (unsigned) disk, 3, NDATA);
	end(h);
	return 0;
}
