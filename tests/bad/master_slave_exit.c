/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A master that exits without starpu_shutdown: its slaves would wait for it for ever.
 * orr-test: env STARPU_NMPI_MS=1
 * orr-test: world real
 * orr-test: expect rank 0 exits without starpu_shutdown */
#include "bad_test.h"

int main(void)
{
	return starpu_init(NULL) ? 2 : 0;
}
