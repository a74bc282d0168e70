/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A codelet that no worker can execute: -ENODEV with a message.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect task gpu only: none of the 2 workers can execute it
 */
#include "bad_test.h"

static void kernel(void *buffers[], void *arg)
{
	nothing(buffers, arg);
}
static struct starpu_codelet cl = { .cuda_funcs = { kernel }, .name = "gpu only" };

int main(void)
{
	start();
	refused(starpu_task_insert(&cl, 0), -ENODEV);
}
