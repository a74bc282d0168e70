/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Many large blocks of memory for the program, more than there may be addresses: each has an
 * address of its own, can be written from its first byte to its last, and is used again once it
 * was freed. Buffers of data without home are of any size. */
#include <stdint.h>
#include <stdlib.h>
#include <starpu.h>
#include "lib/test.h"

#define COUNT 1500
#define SIZE ((size_t) 4 << 20)

static char *blocks[COUNT];

static int by_address(const void *a, const void *b)
{
	uintptr_t p = (uintptr_t) * (char *const *) a, q = (uintptr_t) * (char *const *) b;

	return p < q ? -1 : p > q;
}

static void take_blocks(void)
{
	for (int i = 0; i < COUNT; i++) {
		CHECK(starpu_malloc((void **) &blocks[i], SIZE) == 0);
		blocks[i][0] = blocks[i][SIZE - 1] = (char) i;
	}
	qsort(blocks, COUNT, sizeof(*blocks), by_address);
	for (int i = 1; i < COUNT; i++)
		CHECK(blocks[i - 1] < blocks[i]);
}

static void touch(void **buffers, void *arg)
{
	(void) buffers;
	(void) arg;
}

static struct starpu_codelet touch_cl = {
	.cpu_funcs = { touch }, .nbuffers = 1, .modes = { STARPU_W }, .name = "touch"
};

int main(void)
{
	starpu_data_handle_t h;

	CHECK(starpu_init(NULL) == 0);
	take_blocks();
	for (int i = 0; i < COUNT; i++)
		CHECK(starpu_free_noflag(blocks[i], SIZE) == 0);
	take_blocks();
	starpu_vector_data_register(&h, -1, 0, 30 << 20, 1);
	CHECK(starpu_task_insert(&touch_cl, STARPU_W, h, 0) == 0);
	starpu_data_unregister(h);
	for (int i = 0; i < COUNT; i++)
		CHECK(starpu_free_noflag(blocks[i], SIZE) == 0);
	starpu_shutdown();
	return 0;
}
