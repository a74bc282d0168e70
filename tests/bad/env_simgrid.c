/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* STARPU_SIMGRID=1 in a real run: -EINVAL that says how to simulate.
 * orr-test: world real
 * orr-test: ranks 0
 * orr-test: env STARPU_SIMGRID=1
 * orr-test: expect STARPU_SIMGRID=1 asks for a simulated run.*orrery sim
 */
#include "bad_test.h"

int main(void)
{
	return starpu_init(NULL) == -EINVAL ? 1 : 0;
}
