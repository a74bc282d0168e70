/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A policy that does not exist: -EINVAL, and one line with the nearest that does and the way to
 * all.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: env STARPU_SCHED=lsw
 * orr-test: expect no scheduling policy "lsw"; is lws meant[?] .*starpu_sched_display.* list them$
 */
#include "bad_test.h"

int main(void)
{
	int ret = starpu_init(NULL);

	/* Nothing is running: no shutdown. */
	return ret == -EINVAL && !starpu_is_initialized() ? 1 : 0;
}
