/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A slave that cannot start, because of a setting, while the master waits for it.
 * orr-test: env STARPU_NMPI_MS=1 STARPU_HWLOC_INPUT=nothing
 * orr-test: world real
 * orr-test: expect rank 1 cannot start as a slave */
#include "bad_test.h"

int main(void)
{
	return starpu_init(NULL) ? 1 : 0;
}
