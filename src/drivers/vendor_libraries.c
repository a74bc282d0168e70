/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AMD's library of linear algebra on devices: programs start and stop it in every build.
 *
 * Invariant: there is no driver for AMD's devices, so nothing is to be started: these calls do
 * nothing, in both worlds. */
#include <starpu.h>
#include <starpu_hipblas.h>

void starpu_hipblas_init(void) {}
void starpu_hipblas_shutdown(void) {}
