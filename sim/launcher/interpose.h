/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations that the sources of the executable orrery-sim-launcher share (interpose.c).
 *
 * Invariant: no state. */
#ifndef ORR_LAUNCHER_INTERPOSE_H
#define ORR_LAUNCHER_INTERPOSE_H

#include <dlfcn.h>
#include <stdlib.h>

/* The C library's function of that name. */
#define REAL(name) ((__typeof__(&(name))) interpose_real(#name))

static inline void *interpose_real(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);
	if (!f)
		abort();
	return f;
}

#endif
