/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: env ORRERY_FAKE_DEVICES=1 STARPU_NCPU=1 STARPU_LIMIT_CUDA_MEM=1 */
/* orr-test: expect exhausted */
/* A device whose memory is full of data in use: an acquisition that does not fit fails with a
 * message, nothing is lost, and it works once room was made. Accounting follows. */
#include "data/mem_test.h"

#include <errno.h>

#define N (150 << 10) /* ints: 600 KiB, two do not fit in 1 MiB */

int main(void)
{
	starpu_data_handle_t a, b;
	int *v[2];
	unsigned dev;

	start();
	dev = device_node(0);
	CHECK(starpu_memory_get_total(dev) == 1 << 20);
	for (unsigned i = 0; i < 2; i++) {
		v[i] = calloc(N, sizeof(int));
		starpu_vector_data_register(i ? &b : &a, STARPU_MAIN_RAM, (uintptr_t) v[i], N,
					    sizeof(int));
	}
	add_on(a, 0, 1);
	add_on(b, 0, 2);
	add_on(a, 0, 3); /* one evicts the other, written back */
	starpu_task_wait_for_all();
	CHECK(starpu_data_acquire_on_node(a, (int) dev, STARPU_R) == 0);
	CHECK(starpu_memory_get_used(dev) == N * sizeof(int));
	CHECK(starpu_memory_get_available(dev) == (starpu_ssize_t) ((1 << 20) - N * sizeof(int)));
	CHECK(starpu_data_evict_from_node(a, dev) != 0 &&
	      !starpu_data_can_evict(a, dev, STARPU_FETCH));
	CHECK(starpu_data_request_allocation(b, dev) == -ENOMEM);
	CHECK(starpu_data_prefetch_on_node(b, dev, 0) == 0); /* gives up quietly */
	CHECK(!starpu_data_is_on_node(b, dev));
	CHECK(starpu_data_acquire_on_node(b, (int) dev, STARPU_R) == -ENOMEM);
	CHECK(starpu_malloc_on_node(dev, 1 << 20) == 0);
	starpu_data_release_on_node(a, (int) dev);
	CHECK(starpu_data_acquire_on_node(b, (int) dev, STARPU_R) == 0);
	starpu_data_release_on_node(b, (int) dev);
	starpu_data_unregister(a);
	starpu_data_unregister(b);
	for (unsigned i = 0; i < N; i++)
		CHECK(v[0][i] == 4 && v[1][i] == 2);
	CHECK(starpu_memory_get_used(dev) == 0);
	free(v[0]);
	free(v[1]);
	starpu_shutdown();
	return 0;
}
