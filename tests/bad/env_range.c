/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A variable out of its range: -EINVAL.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: env STARPU_MINIMUM_CLEAN_BUFFERS=400
 * orr-test: expect STARPU_MINIMUM_CLEAN_BUFFERS.*percentage
 */
#include "bad_test.h"

int main(void)
{
	return starpu_init(NULL) == -EINVAL ? 1 : 0;
}
