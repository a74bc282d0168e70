/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes of the program's threads and mutexes, in both worlds.
 *
 * Invariant: attributes that were destroyed make no thread and no mutex. */
#ifndef ORR_BASE_PTHREAD_ATTR_H
#define ORR_BASE_PTHREAD_ATTR_H

#include "starpu_thread.h"

/* The value of attributes that were destroyed; no type of mutex has it. */
#define ORR_PTHREAD_GONE (-1)

static inline int orr_pthread_attr_gone(const starpu_pthread_attr_t *attr)
{
	return attr->u.align == ORR_PTHREAD_GONE;
}

static inline int orr_pthread_mutexattr_gone(const starpu_pthread_mutexattr_t *attr)
{
	return attr->u.align == ORR_PTHREAD_GONE;
}

#endif
