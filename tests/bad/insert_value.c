/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A number where STARPU_VALUE takes the address of one: -EINVAL naming task and number.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect task scale: STARPU_VALUE is followed by 0x2a, which is no address
 */
#include "bad_test.h"

static struct starpu_codelet cl = { .cpu_funcs = { nothing }, .name = "scale" };

int main(void)
{
	const volatile intptr_t answer = 42;

	start();
	refused(starpu_task_insert(&cl, STARPU_VALUE, (int *) answer, sizeof(int), 0), -EINVAL);
}
