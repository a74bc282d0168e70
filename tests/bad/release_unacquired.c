/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Release of data that nobody acquired: a message, nothing else happens.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect release of "free" .*not acquired
 */
#include "bad_test.h"

int main(void)
{
	starpu_data_handle_t h;
	int x = 0;

	start();
	starpu_variable_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) &x, sizeof(x));
	starpu_data_set_name(h, "free");
	starpu_data_release(h);
	if (starpu_data_acquire(h, STARPU_RW))
		return 0;
	starpu_data_release(h);
	starpu_data_unregister(h);
	refused(0, 0);
}
