/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An accessor of vectors on a matrix: stops, naming both.
 * orr-test: ranks 0
 * orr-test: sim-ranks 1
 * orr-test: expect starpu_vector_get_nx: "table" is of the matrix interface
 */
#include "bad_test.h"

static float v[12];

int main(void)
{
	starpu_data_handle_t h;

	start();
	starpu_matrix_data_register(&h, STARPU_MAIN_RAM, (uintptr_t) v, 3, 3, 4, sizeof(*v));
	starpu_data_set_name(h, "table");
	return starpu_vector_get_nx(h) == 77;
}
