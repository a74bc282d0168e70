/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The void and multiformat interfaces where there are only CPUs: ordering without a value; objects
 * in the format of CPUs. */
#include "data/iface_test.h"

struct point {
	float x, y;
};

#define NX 6

static int turns[4], nturns;

static void turn_cpu(void *buffers[], void *arg)
{
	int value;

	(void) buffers;
	starpu_codelet_unpack_args(arg, &value);
	turns[nturns++] = value;
}

static void scale_cpu(void *buffers[], void *arg)
{
	struct point *p = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);

	(void) arg;
	for (unsigned i = 0; i < STARPU_MULTIFORMAT_GET_NX(buffers[0]); i++) {
		p[i].x *= 2;
		p[i].y *= 3;
	}
}

static struct starpu_codelet turn_cl = { .cpu_funcs = { turn_cpu },
					 .cpu_funcs_name = { "turn_cpu" },
					 .nbuffers = 1,
					 .modes = { STARPU_RW },
					 .name = "turn" };
static struct starpu_codelet scale_cl = { .cpu_funcs = { scale_cpu },
					  .cpu_funcs_name = { "scale_cpu" },
					  .nbuffers = 1,
					  .modes = { STARPU_RW },
					  .name = "scale" };
static struct starpu_multiformat_data_interface_ops format = { .cpu_elemsize = sizeof(struct point),
							       .cuda_elemsize = 2 * sizeof(float),
							       .opencl_elemsize = 2 *
										  sizeof(float) };

static void order(void)
{
	starpu_data_handle_t h;
	starpu_ssize_t count = -1;

	starpu_void_data_register(&h);
	CHECK(starpu_data_get_size(h) == 0);
	for (int i = 0; i < 4; i++)
		CHECK(starpu_task_insert(&turn_cl, STARPU_RW, h, STARPU_VALUE, &i, sizeof(i), 0) ==
		      0);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	CHECK(starpu_data_pack(h, NULL, &count) == 0 && count == 0);
	starpu_data_release(h);
	starpu_data_unregister(h);
	for (int i = 0; i < 4; i++)
		CHECK(turns[i] == i);
}

static void multiformat(void)
{
	struct point a[NX], b[NX];
	starpu_data_handle_t h, other;
	starpu_ssize_t count = -1;
	void *buf = NULL;

	for (int i = 0; i < NX; i++)
		a[i].x = a[i].y = (float) i;
	starpu_multiformat_data_register(&h, STARPU_MAIN_RAM, a, NX, &format);
	starpu_multiformat_data_register(&other, STARPU_MAIN_RAM, b, NX, &format);
	CHECK(starpu_task_insert(&scale_cl, STARPU_RW, h, 0) == 0);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0 && starpu_data_acquire(other, STARPU_W) == 0);
	CHECK(starpu_data_pack(h, &buf, &count) == 0 && count == sizeof(a) &&
	      !memcmp(buf, a, sizeof(a)));
	CHECK(starpu_data_unpack(other, buf, (size_t) count) == 0 && !memcmp(a, b, sizeof(a)));
	starpu_data_release(other);
	starpu_data_release(h);
	starpu_data_unregister(other);
	starpu_data_unregister(h);
	for (int i = 0; i < NX; i++)
		CHECK(a[i].x == 2 * (float) i && a[i].y == 3 * (float) i);
}

int main(void)
{
	start();
	order();
	multiformat();
	starpu_shutdown();
	return 0;
}
