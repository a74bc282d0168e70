/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A question about data that were unregistered, which has no way to fail: stops, naming the call.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect starpu_data_get_size: .* is not a registered data
 */
#include "bad_test.h"

int main(void)
{
	starpu_data_handle_t h;
	int x = 0;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	starpu_data_unregister(h);
	return starpu_data_get_size(h) == 77;
}
