/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A master that is no rank.
 * orr-test: env STARPU_NMPI_MS=1 STARPU_MPI_MASTER_NODE=7
 * orr-test: expect STARPU_MPI_MASTER_NODE is 7, but the ranks go from 0 to 1 */
#include "bad_test.h"

int main(void)
{
	return starpu_init(NULL) ? 1 : 0;
}
