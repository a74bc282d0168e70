/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes that few data have.
 *
 * Invariant: once created they stay until the handle ends. */
#ifndef ORR_DATA_HANDLE_ATTRIBUTES_H
#define ORR_DATA_HANDLE_ATTRIBUTES_H

#include "data/handle.h"

/* The rare attributes, created when missing; NULL when memory is exhausted. Under h->lock. */
struct orr_data_ext *orr_handle_ext(starpu_data_handle_t h);

#endif
