/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An interface for arrays of complex numbers kept as two arrays, real and imaginary parts
 * (chapter 27.9 of the handbook), and a filter that cuts them into blocks.
 *
 * Invariant: a structure describes the two buffers on one memory node; both exist there or none
 * does. On the home node they are the program's. Where a device computes with handles of buffers
 * and offsets instead of pointers (OpenCL), the pointers mean nothing.
 */
#ifndef COMPLEX_INTERFACE_H
#define COMPLEX_INTERFACE_H

#include <starpu.h>

struct complex_interface {
	double *real;
	double *imaginary;
	uintptr_t real_handle, imaginary_handle; /* of the buffers that this is a piece of */
	size_t offset;                           /* in both, in bytes */
	int nx;
};

/* In kernels. */
#define COMPLEX_GET_REAL(interface) (((struct complex_interface *) (interface))->real)
#define COMPLEX_GET_IMAGINARY(interface) (((struct complex_interface *) (interface))->imaginary)
#define COMPLEX_GET_NX(interface) (((struct complex_interface *) (interface))->nx)

void complex_data_register(starpu_data_handle_t *handle, int home_node, double *real,
			   double *imaginary, int nx);

/* Between starpu_data_acquire() and starpu_data_release(). */
double *complex_get_real(starpu_data_handle_t handle);
double *complex_get_imaginary(starpu_data_handle_t handle);
int complex_get_nx(starpu_data_handle_t handle);

/* nparts pieces of (nearly) equal size. */
void complex_filter_block(void *father_interface, void *child_interface,
			  struct starpu_data_filter *f, unsigned id, unsigned nparts);

#endif /* COMPLEX_INTERFACE_H */
