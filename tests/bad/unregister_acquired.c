/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unregistration of data that the program holds: stops, naming the data.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect "held" is still acquired by the program: release it
 */
#include "bad_test.h"

int main(void)
{
	starpu_data_handle_t h;
	int x = 0;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	starpu_data_set_name(h, "held");
	if (starpu_data_acquire(h, STARPU_R) == 0)
		starpu_data_unregister(h);
	return 0;
}
