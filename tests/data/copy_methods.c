/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The copy method that serves a transfer (handbook 27.9.4): the one for the pair of kinds,
 * synchronous or with a stream; any_to_any for the others; through main memory where the interface
 * cannot. What methods move by their own means is told by starpu_interface_data_copy.
 * orr-test: env ORRERY_FAKE_DEVICES=2 STARPU_NCPU=1 */
#include "data/mem_test.h"

#include <errno.h>
#include <orrery.h>

#define N 64

struct line_interface {
	int *p;
};

enum { TO_CUDA, TO_CUDA_ASYNC, TO_RAM, CUDA_TO_CUDA, ANY, NMETHODS };
static unsigned calls[NMETHODS];
static int direct;

static struct line_interface *on(starpu_data_handle_t h, unsigned node)
{
	return starpu_data_get_interface_on_node(h, node);
}

static void line_register(starpu_data_handle_t h, int home, void *iface)
{
	for (int node = 0; node < STARPU_MAXNODES; node++)
		on(h, (unsigned) node)->p = node == home ? ((struct line_interface *) iface)->p
							 : NULL;
}

static starpu_ssize_t line_allocate(void *iface, unsigned node)
{
	struct line_interface *l = iface;

	l->p = (int *) starpu_malloc_on_node(node, N * sizeof(int));
	return l->p ? (starpu_ssize_t) (N * sizeof(int)) : -ENOMEM;
}

static void line_free(void *iface, unsigned node)
{
	starpu_free_on_node(node, (uintptr_t) ((struct line_interface *) iface)->p,
			    N * sizeof(int));
}
static size_t line_size(starpu_data_handle_t h)
{
	(void) h;
	return N * sizeof(int);
}
static uint32_t line_footprint(starpu_data_handle_t h)
{
	(void) h;
	return N;
}

/* By its own means: these devices' memory is the host's. */
static int move(int which, void *src, unsigned src_node, void *dst, unsigned dst_node)
{
	double start;

	calls[which]++;
	starpu_interface_start_driver_copy_async(src_node, dst_node, &start);
	memcpy(((struct line_interface *) dst)->p, ((struct line_interface *) src)->p,
	       N * sizeof(int));
	starpu_interface_end_driver_copy_async(src_node, dst_node, start);
	starpu_interface_data_copy(src_node, dst_node, N * sizeof(int));
	return 0;
}

static int to_cuda(void *src, unsigned src_node, void *dst, unsigned dst_node)
{
	return move(TO_CUDA, src, src_node, dst, dst_node);
}
static int to_ram(void *src, unsigned src_node, void *dst, unsigned dst_node)
{
	return move(TO_RAM, src, src_node, dst, dst_node);
}
static int cuda_to_cuda(void *src, unsigned src_node, void *dst, unsigned dst_node)
{
	return move(CUDA_TO_CUDA, src, src_node, dst, dst_node);
}

static int to_cuda_async(void *src, unsigned src_node, void *dst, unsigned dst_node,
			 starpu_cudaStream_t stream)
{
	(void) stream;
	return move(TO_CUDA_ASYNC, src, src_node, dst, dst_node);
}

static int any(void *src, unsigned src_node, void *dst, unsigned dst_node, void *async)
{
	calls[ANY]++;
	return starpu_interface_copy((uintptr_t) ((struct line_interface *) src)->p, 0, src_node,
				     (uintptr_t) ((struct line_interface *) dst)->p, 0, dst_node,
				     N * sizeof(int), async);
}

static int can_copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
		    unsigned handling_node)
{
	(void) src;
	(void) dst;
	CHECK(handling_node == src_node || handling_node == dst_node);
	return direct || src_node == STARPU_MAIN_RAM || dst_node == STARPU_MAIN_RAM;
}

static struct starpu_data_copy_methods methods;
static struct starpu_data_interface_ops ops = { .register_data_handle = line_register,
						.allocate_data_on_node = line_allocate,
						.free_data_on_node = line_free,
						.copy_methods = &methods,
						.get_size = line_size,
						.footprint = line_footprint,
						.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
						.interface_size = sizeof(struct line_interface),
						.name = "line" };

/* From main memory to device 0, to device 1, and back: which methods were called? Bytes are counted
 * once each. */
static void tour(struct starpu_data_copy_methods m, int device_to_device,
		 const unsigned want[NMETHODS])
{
	int v[N], i;
	struct line_interface line = { v };
	uint64_t in[3], out[3], in2, out2;
	starpu_data_handle_t h;
	unsigned through = device_to_device ? 0 : 1;

	methods = m;
	direct = device_to_device;
	memset(calls, 0, sizeof(calls));
	for (i = 0; i < N; i++)
		v[i] = i;
	for (unsigned k = 0; k < 3; k++)
		CHECK(orrery_transfer_bytes(k, &in[k], &out[k]) == 0);
	starpu_data_register(&h, STARPU_MAIN_RAM, &line, &ops);
	for (unsigned k = 0; k < 2; k++) {
		CHECK(starpu_data_acquire_on_node(h, (int) device_node(k), STARPU_RW) == 0);
		on(h, device_node(k))->p[3] += 100;
		starpu_data_release_on_node(h, (int) device_node(k));
	}
	starpu_data_unregister(h);
	for (i = 0; i < N; i++)
		CHECK(v[i] == i + (i == 3 ? 200 : 0));
	CHECK(!memcmp(calls, want, sizeof(calls)));
	for (unsigned k = 0; k < 3; k++) {
		CHECK(orrery_transfer_bytes(k, &in2, &out2) == 0);
		CHECK(in2 - in[k] == (k ? 1 : 1 + through) * N * sizeof(int));
		CHECK(out2 - out[k] == (k ? 1 : 1 + through) * N * sizeof(int));
	}
}

int main(void)
{
	start();
	if (starpu_cuda_worker_get_count() < 2)
		return 77;
	tour((struct starpu_data_copy_methods){ .any_to_any = any }, 1,
	     (const unsigned[NMETHODS]){ [ANY] = 3 });
	tour((struct starpu_data_copy_methods){ .any_to_any = any, .can_copy = can_copy }, 1,
	     (const unsigned[NMETHODS]){ [ANY] = 3 });
	tour((struct starpu_data_copy_methods){ .any_to_any = any, .can_copy = can_copy }, 0,
	     (const unsigned[NMETHODS]){ [ANY] = 4 });
	tour((struct starpu_data_copy_methods){ .ram_to_cuda = to_cuda,
						.cuda_to_ram = to_ram,
						.cuda_to_cuda = cuda_to_cuda,
						.any_to_any = any },
	     1, (const unsigned[NMETHODS]){ [TO_CUDA] = 1, [TO_RAM] = 1, [CUDA_TO_CUDA] = 1 });
	/* Without a method between devices. */
	tour((struct starpu_data_copy_methods){ .ram_to_cuda = to_cuda, .cuda_to_ram = to_ram }, 0,
	     (const unsigned[NMETHODS]){ [TO_CUDA] = 2, [TO_RAM] = 2 });
	tour((struct starpu_data_copy_methods){ .ram_to_cuda = to_cuda,
						.ram_to_cuda_async = to_cuda_async,
						.any_to_any = any },
	     1, (const unsigned[NMETHODS]){ [TO_CUDA_ASYNC] = 1, [ANY] = 2 });
	starpu_shutdown();
	return 0;
}
