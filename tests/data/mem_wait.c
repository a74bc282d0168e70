/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nobody who waits for memory is forgotten: main memory takes two of four data, the others are on a
 * disk, and there are more workers than that, and than processors. Rounds of starpu_init to
 * starpu_shutdown with each kind of disk in turn; tasks, acquisitions by the program, by callbacks,
 * evictions by name and allocations that wait compete in random order, and every value is right.
 * `make check-long` makes 10000 rounds (ORR_ROUNDS=10000).
 * orr-test: env STARPU_WORKERS_NOBIND=1 STARPU_LIMIT_CPU_MEM=1 STARPU_WATCHDOG_TIMEOUT=15000000 STARPU_WATCHDOG_CRASH=1 */
#include "data/mem_test.h"

#include <unistd.h>

#define N 4
#define SIZE (512 * 1024)
#define NTASKS 10

static unsigned char *first(void *buffer)
{
	return (unsigned char *) STARPU_VECTOR_GET_PTR(buffer);
}

static void zero_func(void *buffers[], void *arg)
{
	(void) arg;
	memset(first(buffers[0]), 0, SIZE);
}

/* The first byte of each page counts, so that a copy of half a datum is found out. */
static void count(unsigned char *v, int step)
{
	for (unsigned i = 0; i < SIZE; i += 4096)
		v[i] = (unsigned char) (v[i] + step);
}

static void inc_func(void *buffers[], void *arg)
{
	(void) arg;
	count(first(buffers[0]), 1);
}

/* Needs all the memory there is. */
static void both_func(void *buffers[], void *arg)
{
	(void) arg;
	count(first(buffers[0]), 1);
	count(first(buffers[1]), 3);
}

static struct starpu_codelet zero_cl = {
	.cpu_funcs = { zero_func }, .nbuffers = 1, .modes = { STARPU_W }, .name = "zero"
};
static struct starpu_codelet inc_cl = {
	.cpu_funcs = { inc_func }, .nbuffers = 1, .modes = { STARPU_RW }, .name = "inc"
};
static struct starpu_codelet both_cl = {
	.cpu_funcs = { both_func }, .nbuffers = 2, .modes = { STARPU_RW, STARPU_RW }, .name = "both"
};

static unsigned long long seed = 1;

static unsigned draw(unsigned n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned) (seed >> 33) % n;
}

static void held(void *arg)
{
	starpu_data_handle_t h = arg;

	count((unsigned char *) starpu_data_get_local_ptr(h), 5);
	starpu_data_release(h);
}

/* The program counts, too. */
static void acquire(starpu_data_handle_t h)
{
	CHECK(starpu_data_acquire(h, STARPU_RW) == 0);
	held(h);
}

static void allocate(void)
{
	CHECK(starpu_memory_allocate(STARPU_MAIN_RAM, SIZE, STARPU_MEMORY_WAIT) == 0);
	starpu_memory_deallocate(STARPU_MAIN_RAM, SIZE);
}

/* One of the things that compete for memory. Returns what it adds to datum i. greedy: tasks may
 * need all the memory, so that nobody else may hold some of it for good. */
static int compete(starpu_data_handle_t *h, unsigned i, int greedy, unsigned *j)
{
	*j = (i + 1 + draw(N - 1)) % N;
	switch (draw(8)) {
	case 0: acquire(h[i]); return 5;
	case 1: CHECK(starpu_data_acquire_cb(h[i], STARPU_RW, held, h[i]) == 0); return 5;
	case 2:
		starpu_data_evict_from_node(h[i], STARPU_MAIN_RAM); /* if nobody uses it */
		return 0;
	case 3:
		if (!greedy)
			allocate();
		return 0;
	case 4:
	case 5:
		if (greedy) {
			CHECK(starpu_task_insert(&both_cl, STARPU_RW, h[i], STARPU_RW, h[*j], 0) ==
			      0);
			return 1;
		}
		/* fall through */
	default:
		*j = N;
		CHECK(starpu_task_insert(&inc_cl, STARPU_RW, h[i], 0) == 0);
		return 1;
	}
}

static void compute(starpu_data_handle_t *h, int want[N + 1], int greedy)
{
	for (int k = 0; k < NTASKS; k++) {
		unsigned i = draw(N), j;
		int added = compete(h, i, greedy, &j);

		want[i] += added;
		want[j] += added == 1 ? 3 : 0;
	}
	CHECK(starpu_task_wait_for_all() == 0);
}

static void check(starpu_data_handle_t h, int want)
{
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	const unsigned char *v = (const unsigned char *) starpu_data_get_local_ptr(h);
	for (unsigned i = 0; i < SIZE; i += 4096)
		CHECK(v[i] == (unsigned char) want, "byte %u is %d, not %d", i, v[i],
		      (unsigned char) want);
	starpu_data_release(h);
}

static void one_round(struct starpu_disk_ops *ops, char *folder, unsigned nworkers, int greedy)
{
	starpu_data_handle_t h[N];
	int want[N + 1] = { 0 };
	char n[8];

	snprintf(n, sizeof(n), "%u", nworkers);
	setenv("STARPU_NCPU", n, 1);
	start();
	if (starpu_disk_register(ops, folder, STARPU_DISK_SIZE_MIN) < 0)
		exit(77);
	for (int i = 0; i < N; i++) {
		starpu_vector_data_register(&h[i], -1, 0, SIZE, 1);
		CHECK(starpu_task_insert(&zero_cl, STARPU_W, h[i], 0) == 0);
	}
	compute(h, want, greedy);
	for (int i = 0; i < N; i++) {
		check(h[i], want[i]);
		starpu_data_unregister(h[i]);
	}
	starpu_shutdown();
}

int main(void)
{
	struct starpu_disk_ops *ops[] = { &starpu_disk_stdio_ops, &starpu_disk_unistd_ops,
					  &starpu_disk_unistd_o_direct_ops };
	const char *tmp = getenv("ORR_TEST_TMP") ? getenv("ORR_TEST_TMP") : "/tmp";
	int rounds = getenv("ORR_ROUNDS") ? atoi(getenv("ORR_ROUNDS")) : 120;
	char folder[300];

	snprintf(folder, sizeof(folder), "%s/mem_wait", tmp);
	for (int i = 0; i < rounds; i++)
		one_round(ops[i % 3], folder, 2 + (unsigned) i % 4, draw(2) != 0);
	return 0;
}
