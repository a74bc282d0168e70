/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packed kernel arguments in all forms: the list, one by one, partial reading, what is left over.
 *
 * Invariant: what is unpacked is what was packed, in order, byte for byte. */
#include "core_test.h"

#include <string.h>

static void check_list(void)
{
	int a = 1, a2 = 0;
	char b[3] = { 'x', 'y', 'z' }, b2[3] = { 0 };
	double c = 0.25, c2 = 0;
	void *arg = NULL;
	size_t size = 0;

	starpu_codelet_pack_args(&arg, &size, STARPU_VALUE, &a, sizeof(a), STARPU_VALUE, b,
				 sizeof(b), STARPU_VALUE, &c, sizeof(c), 0);
	CHECK(arg && size >= sizeof(a) + sizeof(b) + sizeof(c));
	starpu_codelet_unpack_args(arg, &a2, b2, &c2);
	CHECK(a2 == 1 && !memcmp(b, b2, 3) && c2 == 0.25);
	a2 = 0;
	c2 = 7;
	starpu_codelet_unpack_args(arg, &a2, NULL); /* stops early */
	CHECK(a2 == 1 && c2 == 7);
	free(arg);
	starpu_codelet_pack_args(&arg, &size, 0);
	CHECK(arg != NULL);
	starpu_codelet_unpack_args(arg, NULL);
	free(arg);
}

static void check_copyleft(void)
{
	int v[5], out[5] = { 0 }, i;
	void *arg;
	size_t size;
	char rest[512];

	for (i = 0; i < 5; i++)
		v[i] = 100 + i;
	starpu_codelet_pack_args(&arg, &size, STARPU_VALUE, &v[0], sizeof(int), STARPU_VALUE, &v[1],
				 sizeof(int), STARPU_VALUE, &v[2], sizeof(int), STARPU_VALUE, &v[3],
				 sizeof(int), STARPU_VALUE, &v[4], sizeof(int), 0);
	CHECK(size <= sizeof(rest));
	starpu_codelet_unpack_args_and_copyleft(arg, rest, size, &out[0], &out[1], NULL);
	CHECK(out[0] == 100 && out[1] == 101 && out[2] == 0);
	starpu_codelet_unpack_args(rest, &out[2], &out[3], &out[4]);
	for (i = 0; i < 5; i++)
		CHECK_IS(out[i], 100 + i);
	free(arg);
}

static void check_one_by_one(void)
{
	struct starpu_codelet_pack_arg_data state;
	char big[1000], *copy, *inside;
	int a = 5, b = 6, got = 0;
	void *arg, *p;
	size_t size, n;

	memset(big, 'b', sizeof(big));
	starpu_codelet_pack_arg_init(&state);
	starpu_codelet_pack_arg(&state, &a, sizeof(a));
	starpu_codelet_pack_arg(&state, big, sizeof(big));
	starpu_codelet_pack_arg(&state, &b, sizeof(b));
	starpu_codelet_pack_arg(&state, big, 10);
	starpu_codelet_pack_arg(&state, &b, sizeof(b));
	starpu_codelet_pack_arg_fini(&state, &arg, &size);

	starpu_codelet_unpack_arg_init(&state, arg, size);
	starpu_codelet_unpack_arg(&state, &got, sizeof(got));
	CHECK_IS(got, 5);
	starpu_codelet_dup_arg(&state, &p, &n);
	copy = p;
	CHECK(n == sizeof(big) && !memcmp(copy, big, n) &&
	      (copy < (char *) arg || copy >= (char *) arg + size));
	free(copy);
	starpu_codelet_unpack_discard_arg(&state);
	starpu_codelet_pick_arg(&state, &p, &n);
	inside = p;
	CHECK(n == 10 && inside > (char *) arg && inside < (char *) arg + size && inside[9] == 'b');
	starpu_codelet_unpack_arg(&state, &got, sizeof(got));
	CHECK_IS(got, 6);
	starpu_codelet_unpack_arg_fini(&state);
	free(arg);
}

static int ran;

static void kernel(void *buffers[], void *arg)
{
	int a;
	float f;

	(void) buffers;
	starpu_codelet_unpack_args(arg, &a, &f);
	CHECK(a == 3 && f == 1.5f);
	INCR(ran);
}

static struct starpu_codelet cl = { .cpu_funcs = { kernel } };

/* A buffer that the program packed itself may be handed to a task, which frees it. */
static void check_task(void)
{
	struct starpu_task *task = starpu_task_create();
	int a = 3;
	float f = 1.5f;

	task->cl = &cl;
	starpu_codelet_pack_args(&task->cl_arg, &task->cl_arg_size, STARPU_VALUE, &a, sizeof(a),
				 STARPU_VALUE, &f, sizeof(f), 0);
	task->cl_arg_free = 1;
	CHECK_IS(starpu_task_submit(task), 0);
	starpu_task_wait_for_all();
	CHECK_IS(ran, 1);
}

int main(void)
{
	core_start(1, NULL);
	check_list();
	check_copyleft();
	check_one_by_one();
	check_task();
	starpu_shutdown();
	return 0;
}
