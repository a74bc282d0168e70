/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unregistration of data that were unregistered: stops with a message.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect unregistration: .* is not a registered data; was it unregistered before
 */
#include "bad_test.h"

int main(void)
{
	starpu_data_handle_t h;
	int x = 0;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	starpu_data_unregister(h);
	starpu_data_unregister(h);
	return 0;
}
