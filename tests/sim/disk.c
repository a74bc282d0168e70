/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A node with a disk and a fake device, as disk.sh describes it. `disk PART` runs one part and
 * prints what it took in virtual time: read, write: one datum from and to the disk; both: two data
 * to it at the same time; overlap: tasks whose data are on the disk; convert: multiformat data to
 * the device.
 *
 * Invariant: ends with 0 when every datum has its value, which is not looked at with "skip" as
 * second argument. */
#include <starpu.h>

#include <string.h>

#include "lib/test.h"

#define LENGTH (1 << 18) /* ints: 1 MiB */

static int disk, values;

static starpu_data_handle_t datum(int first)
{
	starpu_data_handle_t h;
	int *v, i;

	starpu_vector_data_register(&h, -1, 0, LENGTH, sizeof(int));
	CHECK(starpu_data_acquire(h, STARPU_W) == 0);
	v = starpu_data_get_local_ptr(h);
	for (i = 0; i < LENGTH && values; i++)
		v[i] = first + i;
	starpu_data_release(h);
	return h;
}

/* Reads it, and that is the end of it. */
static void end(starpu_data_handle_t h, int first)
{
	int *v, i;

	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	v = starpu_data_get_local_ptr(h);
	for (i = 0; i < LENGTH && values; i++)
		CHECK_IS(v[i], first + i);
	starpu_data_release(h);
	starpu_data_unregister(h);
}

static double write_one(void)
{
	starpu_data_handle_t h = datum(7);
	double start = starpu_timing_now();

	CHECK(starpu_data_prefetch_on_node(h, (unsigned) disk, 0) == 0 &&
		      starpu_data_is_on_node(h, (unsigned) disk),
	      "prefetch");
	start = starpu_timing_now() - start;
	end(h, 7);
	return start;
}

static double read_one(void)
{
	starpu_data_handle_t h = datum(8);
	double start;

	CHECK(starpu_data_prefetch_on_node(h, (unsigned) disk, 0) == 0);
	CHECK(starpu_data_acquire_on_node(h, disk, STARPU_RW) == 0);
	starpu_data_release_on_node(h, disk);
	start = starpu_timing_now();
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	start = starpu_timing_now() - start;
	starpu_data_release(h);
	end(h, 8);
	return start;
}

static double both(void)
{
	starpu_data_handle_t h[2];
	double start;

	for (int i = 0; i < 2; i++)
		h[i] = datum(i);
	start = starpu_timing_now();
	for (int i = 0; i < 2; i++)
		CHECK(starpu_data_prefetch_on_node(h[i], (unsigned) disk, 1) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(starpu_data_prefetch_on_node(h[i], (unsigned) disk, 0) == 0);
	start = starpu_timing_now() - start;
	for (int i = 0; i < 2; i++)
		end(h[i], i);
	return start;
}

/* ---- a policy's prefetches ---- */

static void nothing(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
}

/* As long as the read of one datum takes. */
static double read_cost(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) t;
	(void) arch;
	(void) nimpl;
	return starpu_transfer_predict((unsigned) disk, STARPU_MAIN_RAM, LENGTH * sizeof(int));
}

static struct starpu_perfmodel read_model = { .type = STARPU_PER_ARCH,
					      .arch_cost_function = read_cost,
					      .symbol = "read" };
static struct starpu_codelet read_cl = { .cpu_funcs = { nothing },
					 .nbuffers = 1,
					 .modes = { STARPU_R },
					 .model = &read_model,
					 .name = "read" };

/* Ten tasks, each with a datum of its own that is on the disk. */
static double overlap(void)
{
	starpu_data_handle_t h[10];
	double start;

	for (int i = 0; i < 10; i++) {
		h[i] = datum(i);
		CHECK(starpu_data_acquire_on_node(h[i], disk, STARPU_RW) == 0);
		starpu_data_release_on_node(h[i], disk);
	}
	start = starpu_timing_now();
	for (int i = 0; i < 10; i++)
		CHECK(starpu_task_insert(&read_cl, STARPU_R, h[i], 0) == 0);
	CHECK(starpu_task_wait_for_all() == 0);
	start = starpu_timing_now() - start;
	for (int i = 0; i < 10; i++)
		end(h[i], i);
	return start;
}

/* ---- conversion ---- */

static double cost(struct starpu_task *t, struct starpu_perfmodel_arch *arch, unsigned nimpl)
{
	(void) arch;
	(void) nimpl;
	return (double) starpu_data_get_size(STARPU_TASK_GET_HANDLE(t, 0)) / 1024;
}

static unsigned conversions;

static void to_cuda(void *buffers[], void *arg)
{
	const int *from = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
	int *to = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]);
	unsigned i, n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);

	(void) arg;
	for (i = 0; i < n; i++)
		to[i] = -from[i];
	conversions++;
}

static void to_cpu(void *buffers[], void *arg)
{
	int *to = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);
	const int *from = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]);
	unsigned i, n = STARPU_MULTIFORMAT_GET_NX(buffers[0]);

	(void) arg;
	for (i = 0; i < n; i++)
		to[i] = -from[i];
	conversions++;
}

static struct starpu_perfmodel cost_model = { .type = STARPU_PER_ARCH,
					      .arch_cost_function = cost,
					      .symbol = "conversion" };
static struct starpu_codelet to_cuda_cl = { .cuda_funcs = { to_cuda },
					    .nbuffers = 1,
					    .modes = { STARPU_RW },
					    .model = &cost_model,
					    .name = "to_cuda" };
static struct starpu_codelet to_cpu_cl = { .cpu_funcs = { to_cpu },
					   .nbuffers = 1,
					   .modes = { STARPU_RW },
					   .model = &cost_model,
					   .name = "to_cpu" };
static struct starpu_multiformat_data_interface_ops formats = { .cpu_elemsize = sizeof(int),
								.cuda_elemsize = sizeof(int),
								.cpu_to_cuda_cl = &to_cuda_cl,
								.cuda_to_cpu_cl = &to_cpu_cl };

static double convert(void)
{
	static int v[LENGTH];
	starpu_data_handle_t h;
	double start;

	for (int i = 0; i < LENGTH; i++)
		v[i] = i;
	starpu_multiformat_data_register(&h, STARPU_MAIN_RAM, v, LENGTH, &formats);
	start = starpu_timing_now();
	CHECK(starpu_data_acquire_on_node(h, 1, STARPU_RW) == 0);
	start = starpu_timing_now() - start;
	starpu_data_release_on_node(h, 1);
	starpu_data_unregister(h);
	for (int i = 0; i < LENGTH && values; i++)
		CHECK_IS(v[i], i);
	CHECK(conversions == (values ? 2 : 0), "the format does not change twice");
	return start;
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	double us;

	values = argc < 3 || strcmp(argv[2], "skip");
	CHECK(starpu_init(NULL) == 0);
	disk = starpu_disk_register(&starpu_disk_unistd_ops, values ? "." : "/none/there", -1);
	CHECK(disk > 0);
	us = !strcmp(part, "write")     ? write_one()
	     : !strcmp(part, "read")    ? read_one()
	     : !strcmp(part, "both")    ? both()
	     : !strcmp(part, "overlap") ? overlap()
					: convert();
	printf("%s %.1f\n", part, us);
	starpu_shutdown();
	return 0;
}
