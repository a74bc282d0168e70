/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* More slaves than there are ranks beside the master.
 * orr-test: env STARPU_NMPI_MS=5
 * orr-test: expect 5 slaves are asked for .*only 1 ranks; start 6 processes */
#include "bad_test.h"

int main(void)
{
	return starpu_init(NULL) ? 1 : 0;
}
