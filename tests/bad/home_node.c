/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Data at home on a memory node that does not exist: stops, saying which there are.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect there is no memory node 5; the home node is -1
 */
#include "bad_test.h"

static float v[12];

int main(void)
{
	starpu_data_handle_t h;

	start();
	starpu_vector_data_register(&h, 5, (uintptr_t) v, 12, sizeof(*v));
	return 0;
}
