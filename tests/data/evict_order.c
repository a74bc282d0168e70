/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order in which data leave a full device (handbook 27.2, 27.4): buffers without value first,
 * then data that will not be used, then the least recently used ones, be it by a task, a prefetch
 * or the program; never what is held; what was written there is written back. A prefetch that is
 * waited for also waits until room was made.
 * orr-test: env ORRERY_FAKE_DEVICES=1 STARPU_NCPU=1 STARPU_LIMIT_CUDA_MEM=4 STARPU_MINIMUM_CLEAN_BUFFERS=0 */
#include "data/mem_test.h"

#include <errno.h>

#define NDATA 12
#define ROOM 4
#define N (240 << 10) /* ints: four data fit, and not five */

static int (*v)[N];
static starpu_data_handle_t d[NDATA];
static unsigned dev;
static int added[NDATA];

/* Data on the device, as a mask. */
static unsigned there(void)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < NDATA; i++)
		mask |= starpu_data_is_on_node(d[i], dev) << i;
	return mask;
}

#define MASK4(a, b, c, e) (1U << (a) | 1U << (b) | 1U << (c) | 1U << (e))
#define THERE(mask) \
	do { \
		if (there() != (mask)) \
			fprintf(stderr, "on the device: %#x, not %#x\n", there(), mask); \
		CHECK(there() == (mask)); \
	} while (0)

static void read_func(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet read_cl = {
	.cuda_funcs = { read_func }, .nbuffers = 1, .modes = { STARPU_R }, .name = "read"
};

static void task_reads(int i)
{
	CHECK(starpu_task_insert(&read_cl, STARPU_R, d[i], STARPU_TASK_SYNCHRONOUS, 1, 0) == 0);
}

static void task_writes(int i)
{
	add_on(d[i], 0, 1);
	CHECK(starpu_task_wait_for_all() == 0);
	added[i]++;
}

static void bring(int i)
{
	CHECK(starpu_data_prefetch_on_node(d[i], dev, 0) == 0);
}

static void oldest_first(void)
{
	for (int i = 0; i < ROOM; i++)
		bring(i);
	THERE(MASK4(0, 1, 2, 3));
	bring(4);
	THERE(MASK4(1, 2, 3, 4));
	task_reads(1); /* used by a task */
	bring(2);      /* asked for again */
	bring(5);
	THERE(MASK4(1, 2, 4, 5));
	CHECK(starpu_data_acquire_on_node(d[4], (int) dev, STARPU_R) ==
	      0); /* used by the program */
	starpu_data_release_on_node(d[4], (int) dev);
	bring(6);
	THERE(MASK4(2, 4, 5, 6));
	task_writes(7);
	THERE(MASK4(4, 5, 6, 7));
	bring(0); /* 4 was used after 5 was brought */
	THERE(MASK4(0, 4, 6, 7));
	bring(1);
	THERE(MASK4(0, 1, 6, 7));
}

static void wishes(void)
{
	for (int i = 8; i < 12; i++)
		task_writes(i);
	THERE(MASK4(8, 9, 10, 11));
	for (int i = 0; i < 8; i++)
		CHECK(starpu_data_is_on_node(d[i], STARPU_MAIN_RAM));
	starpu_data_wont_use(d[10]);
	CHECK(starpu_task_wait_for_all() == 0);
	while (!starpu_data_is_on_node(d[10], STARPU_MAIN_RAM))
		starpu_sleep(1e-5f);
	/* The copy to main memory is there a moment before the wish is over. */
	CHECK(starpu_data_acquire_on_node(d[10], STARPU_ACQUIRE_NO_NODE, STARPU_RW) == 0);
	starpu_data_release_on_node(d[10], STARPU_ACQUIRE_NO_NODE);
	THERE(MASK4(8, 9, 10, 11));
	bring(0);
	THERE(MASK4(8, 9, 0, 11));
	CHECK(!starpu_data_is_on_node(d[8], STARPU_MAIN_RAM));
	bring(1); /* written back, and away */
	THERE(MASK4(1, 9, 0, 11));
	CHECK(starpu_data_is_on_node(d[8], STARPU_MAIN_RAM));
	/* The value of 11 is written elsewhere: its buffer goes first. */
	add_on(d[11], -1, 1);
	CHECK(starpu_task_wait_for_all() == 0);
	added[11]++;
	bring(2);
	THERE(MASK4(1, 9, 0, 2));
}

/* 0 1 2 9: what is held stays, whatever its age. */
static void held(void)
{
	CHECK(starpu_data_acquire_on_node(d[9], (int) dev, STARPU_R) == 0 &&
	      starpu_data_acquire_on_node(d[0], (int) dev, STARPU_RW) == 0);
	CHECK(!starpu_data_can_evict(d[9], dev, STARPU_FETCH) &&
	      starpu_data_can_evict(d[1], dev, STARPU_FETCH));
	bring(3);
	THERE(MASK4(0, 9, 2, 3));
	bring(4);
	THERE(MASK4(0, 9, 3, 4));
	CHECK(starpu_data_acquire_on_node(d[3], (int) dev, STARPU_R) == 0 &&
	      starpu_data_acquire_on_node(d[4], (int) dev, STARPU_R) == 0);
	bring(5); /* no room: it stays away, and nothing hangs */
	THERE(MASK4(0, 9, 3, 4));
	CHECK(starpu_data_request_allocation(d[5], dev) == -ENOMEM);
	CHECK(starpu_data_acquire_on_node(d[5], (int) dev, STARPU_R) == -ENOMEM);
	starpu_data_release_on_node(d[3], (int) dev);
	CHECK(starpu_data_acquire_on_node(d[5], (int) dev, STARPU_R) == 0);
	THERE(MASK4(0, 9, 4, 5));
	starpu_data_release_on_node(d[0], (int) dev);
	starpu_data_release_on_node(d[4], (int) dev);
	starpu_data_release_on_node(d[5], (int) dev);
	starpu_data_release_on_node(d[9], (int) dev);
}

int main(void)
{
	start();
	if (!starpu_cuda_worker_get_count())
		return 77;
	dev = device_node(0);
	v = calloc(NDATA, sizeof(*v));
	for (int i = 0; i < NDATA; i++) {
		for (int k = 0; k < N; k++)
			v[i][k] = i * 1000 + k;
		starpu_vector_data_register(&d[i], STARPU_MAIN_RAM, (uintptr_t) v[i], N,
					    sizeof(int));
	}
	oldest_first();
	wishes();
	held();
	for (int i = 0; i < NDATA; i++)
		starpu_data_unregister(d[i]);
	for (int i = 0; i < NDATA; i++)
		for (int k = 0; k < N; k++)
			CHECK(v[i][k] == i * 1000 + k + added[i]);
	CHECK(starpu_memory_get_used(dev) == 0);
	free(v);
	starpu_shutdown();
	return 0;
}
