/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A policy that does not exist: -EINVAL, and the ones that do.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: env STARPU_SCHED=foo
 * orr-test: expect no scheduling policy "foo"
 * orr-test: expect lws
 */
#include "bad_test.h"

int main(void)
{
	int ret = starpu_init(NULL);

	/* Nothing is running: no shutdown. */
	return ret == -EINVAL && !starpu_is_initialized() ? 1 : 0;
}
