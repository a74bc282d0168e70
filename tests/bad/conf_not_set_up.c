/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A configuration that starpu_conf_init has not seen: -EINVAL.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect starpu_conf_init
 */
#include "bad_test.h"

int main(void)
{
	struct starpu_conf conf = { .ncpus = 1 };

	return starpu_init(&conf) == -EINVAL ? 1 : 0;
}
