/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Data whose size changes in tasks (chapter 27.1 of the handbook), in its two forms:
 *  - a vector registered with more room than it uses at first: tasks move its end within that
 *    room;
 *  - an interface of its own, a list of integers, whose tasks allocate more memory when it is
 *    needed.
 *
 * Invariant: whatever task comes next, on whatever memory node, sees the size that the last one
 * left.
 *
 *      orrery cc --both variable_size.c -o variable_size
 *      ./variable_size --steps 20
 *      orrery sim -n 1 variable_size.sim
 */
#include <starpu.h>

#include "../options.h"

static const char usage[] = "[OPTIONS]\n"
			    "Appends to a vector and to a list, one element per task and data.\n"
			    "  --steps N        tasks on each (default 30)\n"
			    "  -h, --help       this text\n";

static int steps = 30;

/* ---- an interface: a list of integers ---- */

struct list_interface {
	uintptr_t ptr; /* allocated size bytes, on the node of this structure */
	size_t size;   /* bytes allocated */
	size_t used;   /* elements */
};

#define FLAGS (STARPU_MALLOC_PINNED | STARPU_MALLOC_COUNT | STARPU_MEMORY_OVERFLOW)

static void list_register(starpu_data_handle_t handle, int home_node, void *data_interface)
{
	(void) home_node;
	for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
		struct list_interface *list = starpu_data_get_interface_on_node(handle, node);

		*list = *(struct list_interface *) data_interface;
		list->ptr = 0;
	}
}

static starpu_ssize_t list_allocate(void *data_interface, unsigned node)
{
	struct list_interface *list = data_interface;

	list->ptr = starpu_malloc_on_node_flags(node, list->size, FLAGS);
	return list->ptr ? (starpu_ssize_t) list->size : -ENOMEM;
}

static void list_free(void *data_interface, unsigned node)
{
	struct list_interface *list = data_interface;

	starpu_free_on_node_flags(node, list->ptr, list->size, FLAGS);
	list->ptr = 0;
}

static int list_copy(void *src_interface, unsigned src_node, void *dst_interface, unsigned dst_node,
		     void *async_data)
{
	struct list_interface *src = src_interface, *dst = dst_interface;

	/* The destination may have been allocated before the list grew. */
	if (dst->size < src->size) {
		starpu_free_on_node_flags(dst_node, dst->ptr, dst->size, FLAGS);
		dst->size = src->size;
		dst->ptr = starpu_malloc_on_node_flags(dst_node, dst->size, FLAGS);
		if (!dst->ptr)
			return -ENOMEM;
	}
	dst->used = src->used;
	return starpu_interface_copy(src->ptr, 0, src_node, dst->ptr, 0, dst_node,
				     src->used * sizeof(int), async_data);
}

static size_t list_get_size(starpu_data_handle_t handle)
{
	struct list_interface *list = starpu_data_get_interface_on_node(handle, STARPU_MAIN_RAM);

	return list->used * sizeof(int);
}

static uint32_t list_footprint(starpu_data_handle_t handle)
{
	return starpu_hash_crc32c_be((uint32_t) list_get_size(handle), 0);
}

static const struct starpu_data_copy_methods list_copy_methods = { .any_to_any = list_copy };

static struct starpu_data_interface_ops list_ops = {
	.register_data_handle = list_register,
	.allocate_data_on_node = list_allocate,
	.free_data_on_node = list_free,
	.copy_methods = &list_copy_methods,
	.get_size = list_get_size,
	.footprint = list_footprint,
	.interfaceid = STARPU_UNKNOWN_INTERFACE_ID,
	.interface_size = sizeof(struct list_interface),
	.dontcache = 1, /* allocations differ in size: none can be reused */
	.name = "list",
};

/* ---- tasks ---- */

static void empty_cpu(void *buffers[], void *arg)
{
	(void) arg;
	((struct list_interface *) buffers[0])->used = 0;
	STARPU_VECTOR_SET_NX(buffers[1], 0);
}

/* Twice the room, on the node where the task executes. */
static void grow(struct list_interface *list)
{
	unsigned node = starpu_worker_get_memory_node(starpu_worker_get_id_check());
	uintptr_t old = list->ptr;

	list->ptr = starpu_malloc_on_node_flags(node, 2 * list->size, FLAGS);
	memcpy((void *) list->ptr, (void *) old, list->used * sizeof(int));
	starpu_free_on_node_flags(node, old, list->size, FLAGS);
	list->size *= 2;
}

static void append_cpu(void *buffers[], void *arg)
{
	struct list_interface *list = buffers[0];
	uint32_t n = STARPU_VECTOR_GET_NX(buffers[1]);
	int value;

	starpu_codelet_unpack_args(arg, &value);
	if ((list->used + 1) * sizeof(int) > list->size)
		grow(list);
	((int *) list->ptr)[list->used++] = value * value;
	STARPU_VECTOR_SET_NX(buffers[1], n + 1);
	((int *) STARPU_VECTOR_GET_PTR(buffers[1]))[n] = value;
}

static struct starpu_codelet empty_cl = {
	.cpu_funcs = { empty_cpu },
	.cpu_funcs_name = { "empty_cpu" },
	.nbuffers = 2,
	.modes = { STARPU_W, STARPU_W },
	.flags = STARPU_CODELET_SIMGRID_EXECUTE,
	.name = "empty",
};

static struct starpu_codelet append_cl = {
	.cpu_funcs = { append_cpu },
	.cpu_funcs_name = { "append_cpu" },
	.nbuffers = 2,
	.modes = { STARPU_RW, STARPU_RW },
	.flags = STARPU_CODELET_SIMGRID_EXECUTE,
	.name = "append",
};

static int check(starpu_data_handle_t list_h, starpu_data_handle_t vector_h)
{
	struct list_interface *list;
	int *v, ok;

	if (starpu_data_acquire(list_h, STARPU_R) || starpu_data_acquire(vector_h, STARPU_R))
		return 1;
	list = starpu_data_get_interface_on_node(list_h, STARPU_MAIN_RAM);
	v = (int *) starpu_vector_get_local_ptr(vector_h);
	ok = list->used == (size_t) steps && starpu_vector_get_nx(vector_h) == (uint32_t) steps &&
	     starpu_data_get_size(list_h) == (size_t) steps * sizeof(int);
	for (int i = 0; ok && i < steps; i++)
		ok = ((int *) list->ptr)[i] == i * i && v[i] == i;
	starpu_data_release(vector_h);
	starpu_data_release(list_h);
	return !ok;
}

int main(int argc, char **argv)
{
	struct list_interface list = { .size = 4 * sizeof(int) };
	starpu_data_handle_t list_h, vector_h;
	struct options o;
	int ret;

	for (options_begin(&o, argc, argv); options_more(&o);)
		if (options_int(&o, "--steps", NULL, 0, 10000, &steps))
			;
		else
			options_unknown(&o);
	if ((ret = options_report(&o, 0, "variable_size", usage)) >= 0)
		return ret;
	if (starpu_init(NULL))
		return 77;
	starpu_data_register(&list_h, -1, &list, &list_ops);
	starpu_vector_data_register_allocsize(&vector_h, -1, 0, 1, sizeof(int),
					      (size_t) (steps + 1) * sizeof(int));
	ret = starpu_task_insert(&empty_cl, STARPU_W, list_h, STARPU_W, vector_h, 0);
	for (int i = 0; i < steps; i++)
		ret |= starpu_task_insert(&append_cl, STARPU_RW, list_h, STARPU_RW, vector_h,
					  STARPU_VALUE, &i, sizeof(i), 0);
	ret = ret || check(list_h, vector_h);
	starpu_data_unregister(vector_h);
	starpu_data_unregister(list_h);
	printf("variable_size steps=%d\ncheck: %s\n", steps, ret ? "FAILED" : "OK");
	starpu_shutdown();
	return ret;
}
