/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A variable that is no number: -EINVAL naming the variable and its value.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: env STARPU_NCPU=two
 * orr-test: expect STARPU_NCPU has the value "two": it takes an integer
 */
#include "bad_test.h"

int main(void)
{
	return starpu_init(NULL) == -EINVAL ? 1 : 0;
}
