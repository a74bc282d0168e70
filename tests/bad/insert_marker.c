/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A marker that does not exist: -EINVAL.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect 0x7b0000
 */
#include "bad_test.h"

static struct starpu_codelet cl = { .cpu_funcs = { nothing } };

int main(void)
{
	start();
	refused(starpu_task_insert(&cl, 123 << 16, 4, 0), -EINVAL);
}
