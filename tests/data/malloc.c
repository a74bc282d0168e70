/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* orr-test: devices cuda */
/* Memory for programs and data (handbook 27.2): hooks, alignment, flags, pinning, budgets of nodes
 * and of all of them.
 * orr-test: env ORRERY_FAKE_DEVICES=1 STARPU_NCPU=1 STARPU_LIMIT_CUDA_MEM=2 STARPU_LIMIT_CPU_MEM=8 */
#include "data/mem_test.h"

#include <errno.h>

#define MIB (1 << 20)

static unsigned nmalloc, nfree;
static size_t in_use;

static int malloc_hook(unsigned node, void **a, size_t dim, int flags)
{
	(void) flags;
	CHECK(node == STARPU_MAIN_RAM);
	if (dim == 12345)
		return -ENOMEM;
	*a = malloc(dim);
	if (!*a)
		return -ENOMEM;
	__atomic_add_fetch(&nmalloc, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&in_use, dim, __ATOMIC_RELAXED);
	return 0;
}

static int free_hook(unsigned node, void *a, size_t dim, int flags)
{
	(void) flags;
	CHECK(node == STARPU_MAIN_RAM);
	free(a);
	__atomic_add_fetch(&nfree, 1, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&in_use, dim, __ATOMIC_RELAXED);
	return 0;
}

/* All main memory for data and for the program goes through the hooks; that of devices does not. */
static void hooks(void)
{
	void *a = &a;
	starpu_data_handle_t h;

	starpu_malloc_set_hooks(malloc_hook, free_hook);
	CHECK(starpu_malloc(&a, 1000) == 0 && nmalloc == 1 && in_use == 1000);
	CHECK(starpu_free_noflag(a, 1000) == 0 && nfree == 1 && in_use == 0);
	a = &a;
	CHECK(starpu_malloc(&a, 12345) == -ENOMEM && a == &a);
	CHECK(starpu_free_noflag(NULL, 5) == 0 && nfree == 1);
	starpu_vector_data_register(&h, -1, 0, 1000, sizeof(int));
	CHECK(starpu_data_request_allocation(h, device_node(0)) == 0 && nmalloc == 1);
	CHECK(starpu_data_request_allocation(h, STARPU_MAIN_RAM) == 0 && nmalloc == 2 &&
	      in_use == 4000);
	starpu_data_unregister(h);
}

static void alignment(void)
{
	void *a[8];

	for (size_t align = 64; align <= 8192; align *= 2) {
		starpu_malloc_set_align(align);
		for (int i = 0; i < 8; i++) {
			CHECK(starpu_malloc(&a[i], 100 + (size_t) i) == 0);
			CHECK((uintptr_t) a[i] % align == 0);
			starpu_malloc_set_align(2); /* it only grows */
			memset(a[i], i, 100 + (size_t) i);
			CHECK(starpu_memory_pin(a[i], 100 + (size_t) i) == 0 &&
			      starpu_memory_unpin(a[i], 100 + (size_t) i) == 0);
		}
		for (int i = 0; i < 8; i++) {
			CHECK(((char *) a[i])[99 + i] == i);
			CHECK(starpu_free_noflag(a[i], 100 + (size_t) i) == 0);
		}
	}
	CHECK(starpu_memory_pin(NULL, 10) == -EINVAL && starpu_memory_unpin(NULL, 10) == -EINVAL);
}

/* Only what is to be counted is; more than there is only when asked to. */
static void budgets(unsigned dev)
{
	void *a;
	uintptr_t p;

	CHECK(starpu_memory_get_total(STARPU_MAIN_RAM) == 8 * MIB &&
	      starpu_memory_get_total(dev) == 2 * MIB);
	CHECK(starpu_memory_get_total_all_nodes() == 10 * MIB &&
	      starpu_memory_get_available_all_nodes() == 10 * MIB);
	CHECK(starpu_memory_get_used_all_nodes() == 0);
	CHECK(starpu_malloc(&a, MIB) == 0 && starpu_memory_get_used(STARPU_MAIN_RAM) == 0);
	CHECK(starpu_free_noflag(a, MIB) == 0);
	CHECK(starpu_malloc_flags(&a, MIB, STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT) == 0 &&
	      starpu_memory_get_used(STARPU_MAIN_RAM) == MIB);
	p = starpu_malloc_on_node(dev, MIB);
	CHECK(p && starpu_memory_get_used(dev) == MIB &&
	      starpu_memory_get_used_all_nodes() == 2 * MIB);
	CHECK(starpu_memory_get_available(dev) == MIB &&
	      starpu_memory_get_available_all_nodes() == 8 * MIB);
	CHECK(starpu_malloc_on_node(dev, MIB + 1) == 0);
	CHECK(starpu_memory_allocate(dev, MIB + 1, STARPU_MALLOC_NORECLAIM) == -ENOMEM);
	starpu_free_on_node(dev, p, MIB);
	p = starpu_malloc_on_node_flags(dev, 3 * MIB, STARPU_MALLOC_COUNT | STARPU_MEMORY_OVERFLOW);
	CHECK(p && starpu_memory_get_used(dev) == 3 * MIB && starpu_memory_get_available(dev) == 0);
	starpu_free_on_node_flags(dev, p, 3 * MIB, STARPU_MALLOC_COUNT);
	p = starpu_malloc_on_node_flags(dev, 3 * MIB, 0);
	CHECK(p && starpu_memory_get_used(dev) == 0);
	starpu_free_on_node_flags(dev, p, 3 * MIB, 0);
	starpu_malloc_on_node_set_default_flags(dev, STARPU_MALLOC_PINNED);
	p = starpu_malloc_on_node(dev, 3 * MIB);
	CHECK(p && starpu_memory_get_used(dev) == 0);
	starpu_free_on_node(dev, p, 3 * MIB);
	starpu_malloc_on_node_set_default_flags(dev, STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT);
	CHECK(starpu_memory_allocate(dev, 2 * MIB, 0) == 0 &&
	      starpu_memory_allocate(dev, 1, 0) == -ENOMEM);
	CHECK(starpu_memory_allocate(dev, 5, STARPU_MEMORY_OVERFLOW) == 0 &&
	      starpu_memory_get_used(dev) == 2 * MIB + 5);
	starpu_memory_deallocate(dev, 2 * MIB + 5);
	starpu_memory_wait_available(dev, 2 * MIB);
	CHECK(starpu_free_flags(a, MIB, STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT) == 0 &&
	      starpu_memory_get_used_all_nodes() == 0);
}

/* Nothing overflows, nobody waits for what cannot be, and what is only kept for reuse is free. */
static void extremes(unsigned dev)
{
	static int v[3 * MIB / 8];
	void *a = &a;
	starpu_data_handle_t h;
	uintptr_t p;

	CHECK(starpu_malloc(&a, SIZE_MAX) == -ENOMEM &&
	      starpu_malloc(&a, SIZE_MAX - 8) == -ENOMEM && a == &a);
	CHECK(starpu_malloc_flags(&a, SIZE_MAX, STARPU_MALLOC_COUNT | STARPU_MEMORY_OVERFLOW) ==
		      -ENOMEM &&
	      a == &a);
	p = starpu_malloc_on_node(dev, 5);
	CHECK(p && !starpu_malloc_on_node(dev, SIZE_MAX - 2) &&
	      !starpu_malloc_on_node(dev, SIZE_MAX));
	CHECK(starpu_memory_allocate(dev, SIZE_MAX - 2, 0) == -ENOMEM &&
	      starpu_memory_allocate(dev, SIZE_MAX, STARPU_MEMORY_OVERFLOW) == -ENOMEM);
	CHECK(starpu_memory_allocate(dev, 2 * MIB + 1, STARPU_MEMORY_WAIT) == -ENOMEM &&
	      starpu_memory_allocate(dev, SIZE_MAX, STARPU_MEMORY_WAIT) == -ENOMEM);
	starpu_memory_wait_available(dev, 2 * MIB + 1);
	CHECK(starpu_memory_get_used(dev) == 5 && starpu_memory_get_used(STARPU_MAIN_RAM) == 0);
	starpu_free_on_node(dev, p, 5);
	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, sizeof(v) / sizeof(*v),
				    sizeof(*v));
	CHECK(starpu_data_prefetch_on_node(h, dev, 0) == 0);
	starpu_data_unregister(h);
	CHECK(starpu_memory_get_used(dev) == 0);
	starpu_memory_wait_available(dev, 2 * MIB);
	CHECK(starpu_malloc(&a, 0) == 0 && a && starpu_free_noflag(a, 0) == 0);
}

/* The budget that others hold comes back while somebody waits for it. */
static unsigned budget_node;

static void give_back(void *buffers[], void *arg)
{
	(void) buffers;
	(void) arg;
	starpu_sleep(0.01f);
	starpu_memory_deallocate(budget_node, 2 * MIB);
}

static struct starpu_codelet give_back_cl = { .cpu_funcs = { give_back }, .name = "give_back" };

static void waits(unsigned dev)
{
	budget_node = dev;
	CHECK(starpu_memory_allocate(dev, 2 * MIB, 0) == 0);
	CHECK(starpu_task_insert(&give_back_cl, 0) == 0);
	CHECK(starpu_memory_allocate(dev, MIB, STARPU_MEMORY_WAIT) == 0 &&
	      starpu_memory_get_used(dev) == MIB);
	CHECK(starpu_task_wait_for_all() == 0);
	starpu_memory_deallocate(dev, MIB);
}

/* Data in the way of an allocation go, unless they are in use. */
static void reclaim(unsigned dev)
{
	static int v[3 * MIB / 8];
	starpu_data_handle_t h;
	uintptr_t p;

	starpu_vector_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, sizeof(v) / sizeof(*v),
				    sizeof(*v));
	add_on(h, 0, 1);
	CHECK(starpu_task_wait_for_all() == 0);
	CHECK(starpu_memory_get_used(dev) == sizeof(v));
	CHECK(starpu_memory_allocate(dev, MIB, STARPU_MALLOC_NORECLAIM) == -ENOMEM);
	CHECK(starpu_data_acquire_on_node(h, (int) dev, STARPU_R) == 0);
	CHECK(starpu_malloc_on_node(dev, MIB) == 0 && starpu_data_is_on_node(h, dev));
	starpu_data_release_on_node(h, (int) dev);
	p = starpu_malloc_on_node(dev, MIB);
	CHECK(p && !starpu_data_test_if_allocated_on_node(h, dev) &&
	      starpu_data_is_on_node(h, STARPU_MAIN_RAM));
	starpu_free_on_node(dev, p, MIB);
	starpu_data_unregister(h);
	CHECK(v[0] == 1 && v[sizeof(v) / sizeof(*v) - 1] == 1);
}

int main(void)
{
	unsigned dev;

	start();
	if (!starpu_cuda_worker_get_count())
		return 77;
	dev = device_node(0);
	budgets(dev);
	extremes(dev);
	waits(dev);
	reclaim(dev);
	alignment();
	hooks();
	starpu_shutdown();
	CHECK(nmalloc == nfree && in_use == 0);
	return 0;
}
