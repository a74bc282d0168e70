/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A task without starpu_init.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect call starpu_init first
 */
#include "bad_test.h"

int main(void)
{
	return starpu_task_create() == NULL ? 1 : 0;
}
