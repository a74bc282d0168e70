/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The multiformat interface (handbook 27.10) with a layout for each of three kinds of units at
 * once, one of which has no pointers: values after tasks that go round all units, how often each
 * conversion ran, packing byte by byte, and the description.
 *
 * Invariant: a kernel touches the layout of its kind only, by starpu_interface_copy().
 * orr-test: env ORRERY_FAKE_DEVICES=1 ORRERY_FAKE_OPENCL=1 STARPU_NCPU=1 */
#include "data/iface_test.h"

#define N 300

/* In main memory, on CUDA, on OpenCL devices: other sizes, other orders. */
struct cpu_point {
	int x, y;
};
struct cuda_point {
	long y, x;
};
struct opencl_point {
	short x, pad;
	int y, twice_y;
};

static unsigned node_of(enum starpu_worker_archtype type)
{
	return starpu_worker_get_count_by_type(type)
		       ? starpu_worker_get_memory_node(
				 (unsigned) starpu_worker_get_by_type(type, 0))
		       : STARPU_MAIN_RAM;
}

static void *fetch(void *p, unsigned node, size_t size)
{
	void *host = malloc(size);

	CHECK(p && starpu_interface_copy((uintptr_t) p, 0, node, (uintptr_t) host, 0,
					 STARPU_MAIN_RAM, size, NULL) == 0);
	return host;
}

static void store(void *host, void *p, unsigned node, size_t size)
{
	CHECK(p && starpu_interface_copy((uintptr_t) host, 0, STARPU_MAIN_RAM, (uintptr_t) p, 0,
					 node, size, NULL) == 0);
	free(host);
}

/* ---- one step, x += 2y and y += 1, for each kind ---- */

static void step_cpu(void *buffers[], void *arg)
{
	struct cpu_point *p = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);

	(void) arg;
	CHECK(STARPU_MULTIFORMAT_GET_NX(buffers[0]) == N);
	CHECK(!STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]) &&
	      !STARPU_MULTIFORMAT_GET_OPENCL_PTR(buffers[0]));
	for (unsigned i = 0; i < N; i++) {
		p[i].x += 2 * p[i].y;
		p[i].y++;
	}
}

static void step_cuda(void *buffers[], void *arg)
{
	void *there = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]);
	struct cuda_point *p = fetch(there, node_of(STARPU_CUDA_WORKER), N * sizeof(*p));

	(void) arg;
	CHECK(!STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]) &&
	      !STARPU_MULTIFORMAT_GET_OPENCL_PTR(buffers[0]));
	for (unsigned i = 0; i < N; i++) {
		p[i].x += 2 * p[i].y;
		p[i].y++;
	}
	store(p, there, node_of(STARPU_CUDA_WORKER), N * sizeof(*p));
}

static void step_opencl(void *buffers[], void *arg)
{
	void *there = STARPU_MULTIFORMAT_GET_OPENCL_PTR(buffers[0]);
	struct opencl_point *p = fetch(there, node_of(STARPU_OPENCL_WORKER), N * sizeof(*p));

	(void) arg;
	CHECK(!STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]) &&
	      !STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]));
	for (unsigned i = 0; i < N; i++) {
		CHECK(p[i].twice_y == 2 * p[i].y);
		p[i].x = (short) (p[i].x + p[i].twice_y);
		p[i].y++;
		p[i].twice_y += 2;
	}
	store(p, there, node_of(STARPU_OPENCL_WORKER), N * sizeof(*p));
}

/* ---- conversions: on the device towards it, on a CPU back ---- */

static unsigned conversions[4];
enum { CPU_TO_CUDA, CUDA_TO_CPU, CPU_TO_OPENCL, OPENCL_TO_CPU };

static void count(int which)
{
	__atomic_add_fetch(&conversions[which], 1, __ATOMIC_RELAXED);
}

static void cpu_to_cuda(void *buffers[], void *arg)
{
	unsigned node = node_of(STARPU_CUDA_WORKER), i;
	struct cpu_point *from = fetch(STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]), node,
				       N * sizeof(*from));
	struct cuda_point *to = malloc(N * sizeof(*to));

	(void) arg;
	for (i = 0; i < N; i++)
		to[i] = (struct cuda_point){ .x = from[i].x, .y = from[i].y };
	store(to, STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]), node, N * sizeof(*to));
	free(from);
	count(CPU_TO_CUDA);
}

static void cuda_to_cpu(void *buffers[], void *arg)
{
	struct cuda_point *from = STARPU_MULTIFORMAT_GET_CUDA_PTR(buffers[0]);
	struct cpu_point *to = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);

	(void) arg;
	for (unsigned i = 0; i < N; i++)
		to[i] = (struct cpu_point){ (int) from[i].x, (int) from[i].y };
	count(CUDA_TO_CPU);
}

static void cpu_to_opencl(void *buffers[], void *arg)
{
	unsigned node = node_of(STARPU_OPENCL_WORKER), i;
	struct cpu_point *from = fetch(STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]), node,
				       N * sizeof(*from));
	struct opencl_point *to = malloc(N * sizeof(*to));

	(void) arg;
	for (i = 0; i < N; i++)
		to[i] = (struct opencl_point){ .x = (short) from[i].x,
					       .y = from[i].y,
					       .twice_y = 2 * from[i].y };
	store(to, STARPU_MULTIFORMAT_GET_OPENCL_PTR(buffers[0]), node, N * sizeof(*to));
	free(from);
	count(CPU_TO_OPENCL);
}

static void opencl_to_cpu(void *buffers[], void *arg)
{
	struct opencl_point *from = STARPU_MULTIFORMAT_GET_OPENCL_PTR(buffers[0]);
	struct cpu_point *to = STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);

	(void) arg;
	for (unsigned i = 0; i < N; i++)
		to[i] = (struct cpu_point){ from[i].x, from[i].y };
	count(OPENCL_TO_CPU);
}

static struct starpu_codelet step_cl = { .cpu_funcs = { step_cpu },
					 .cuda_funcs = { step_cuda },
					 .opencl_funcs = { step_opencl },
					 .nbuffers = 1,
					 .modes = { STARPU_RW },
					 .name = "step" };
static struct starpu_codelet cpu_to_cuda_cl = { .cuda_funcs = { cpu_to_cuda },
						.nbuffers = 1,
						.modes = { STARPU_RW } };
static struct starpu_codelet cuda_to_cpu_cl = { .cpu_funcs = { cuda_to_cpu },
						.nbuffers = 1,
						.modes = { STARPU_RW } };
static struct starpu_codelet cpu_to_opencl_cl = { .opencl_funcs = { cpu_to_opencl },
						  .nbuffers = 1,
						  .modes = { STARPU_RW } };
static struct starpu_codelet opencl_to_cpu_cl = { .cpu_funcs = { opencl_to_cpu },
						  .nbuffers = 1,
						  .modes = { STARPU_RW } };

static struct starpu_multiformat_data_interface_ops formats = {
	.cpu_elemsize = sizeof(struct cpu_point),
	.cuda_elemsize = sizeof(struct cuda_point),
	.cpu_to_cuda_cl = &cpu_to_cuda_cl,
	.cuda_to_cpu_cl = &cuda_to_cpu_cl,
	.opencl_elemsize = sizeof(struct opencl_point),
	.cpu_to_opencl_cl = &cpu_to_opencl_cl,
	.opencl_to_cpu_cl = &opencl_to_cpu_cl,
};

static void step_on(enum starpu_worker_archtype type, starpu_data_handle_t h)
{
	CHECK(starpu_task_insert(&step_cl, STARPU_RW, h, STARPU_EXECUTE_ON_WORKER,
				 (unsigned) starpu_worker_get_by_type(type, 0), 0) == 0);
}

static void expect(const struct cpu_point *p, unsigned steps)
{
	for (unsigned i = 0; i < N; i++) {
		struct cpu_point want = { (int) i, -(int) i };

		for (unsigned s = 0; s < steps; s++) {
			want.x += 2 * want.y;
			want.y++;
		}
		CHECK(p[i].x == want.x && p[i].y == want.y);
	}
}

/* Bytes are those of main memory's layout. */
static void packing(starpu_data_handle_t h, unsigned steps)
{
	starpu_data_handle_t other;
	starpu_ssize_t size = 0;
	void *bytes;
	char text[80];

	starpu_multiformat_data_register(&other, -1, NULL, N, &formats);
	CHECK(starpu_data_pack_node(h, node_of(STARPU_CUDA_WORKER), &bytes, &size) !=
	      0); /* that layout does not travel */
	CHECK(starpu_data_acquire(h, STARPU_R) == 0 && starpu_data_acquire(other, STARPU_W) == 0);
	CHECK(starpu_data_pack(h, &bytes, &size) == 0 && size == N * sizeof(struct cpu_point));
	expect(bytes, steps);
	CHECK(starpu_data_peek(other, bytes, 3) == -EINVAL &&
	      starpu_data_unpack(other, bytes, (size_t) size) == 0);
	expect(starpu_data_get_local_ptr(other), steps);
	CHECK(starpu_data_get_interface_ops(h)->compare(
		starpu_data_get_interface_on_node(h, 0),
		starpu_data_get_interface_on_node(other, 0)));
	CHECK(starpu_data_get_interface_ops(h)->describe(starpu_data_get_interface_on_node(h, 0),
							 text, sizeof(text)) > 0);
	CHECK(!strcmp(text, "F300x8x16x12"));
	starpu_data_release(other);
	starpu_data_release(h);
	step_on(STARPU_OPENCL_WORKER, other);
	CHECK(starpu_data_acquire(other, STARPU_R) == 0);
	expect(starpu_data_get_local_ptr(other), steps + 1);
	starpu_data_release(other);
	starpu_data_unregister(other);
}

int main(void)
{
	static const enum starpu_worker_archtype round[] = { STARPU_CUDA_WORKER, STARPU_CUDA_WORKER,
							     STARPU_CPU_WORKER,
							     STARPU_OPENCL_WORKER,
							     STARPU_CUDA_WORKER };
	struct cpu_point p[N];
	starpu_data_handle_t h;

	start();
	if (!starpu_cuda_worker_get_count() || !starpu_opencl_worker_get_count())
		return 77;
	CHECK(starpu_node_get_kind(node_of(STARPU_OPENCL_WORKER)) == STARPU_OPENCL_RAM);
	for (unsigned i = 0; i < N; i++)
		p[i] = (struct cpu_point){ (int) i, -(int) i };
	starpu_multiformat_data_register(&h, STARPU_MAIN_RAM, p, N, &formats);
	CHECK(starpu_data_get_interface_id(h) == STARPU_MULTIFORMAT_INTERFACE_ID &&
	      starpu_data_get_size(h) == sizeof(p));
	CHECK(starpu_data_handle_to_pointer(h, STARPU_MAIN_RAM) == p);
	for (unsigned i = 0; i < 5; i++)
		step_on(round[i], h);
	CHECK(starpu_data_acquire(h, STARPU_R) == 0);
	expect(p, 5);
	starpu_data_release(h);
	/* To CUDA, and back for the CPU; to OpenCL; back, for CUDA, where it goes next; back at the
	 * end. */
	CHECK(conversions[CPU_TO_CUDA] == 2 && conversions[CUDA_TO_CPU] == 2);
	CHECK(conversions[CPU_TO_OPENCL] == 1 && conversions[OPENCL_TO_CPU] == 1);
	packing(h, 5);
	starpu_data_unregister(h);
	expect(p, 5);
	for (unsigned i = 0; i < starpu_memory_nodes_get_count(); i++)
		CHECK(starpu_memory_get_used(i) == 0);
	starpu_shutdown();
	return 0;
}
