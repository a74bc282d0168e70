/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A data interface for lower triangles of square matrices of doubles, stored by columns.
 *
 * Invariant: on every memory node there is room for the whole matrix, of which only the triangle
 * is data.
 */
#ifndef TRIANGLE_H
#define TRIANGLE_H

#include <starpu.h>

struct triangle_interface {
	double *a; /* element (i,j), i >= j, is a[j * n + i] */
	int n;
};

void triangle_data_register(starpu_data_handle_t *handle, int home_node, double *a, int n);

/* The number of the interface: what MPI datatypes are registered for. */
enum starpu_data_interface_id triangle_id(void);

#endif /* TRIANGLE_H */
