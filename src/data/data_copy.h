/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies of values (starpu_data_cpy) and read-only duplicates (starpu_data_dup_ro).
 *
 * Invariant: a duplicate is linked to its source for as long as it holds the source's value. */
#ifndef ORR_DATA_DATA_COPY_H
#define ORR_DATA_DATA_COPY_H

#include "data/handle.h"

/* The program unregisters h: returns 1 if h is a duplicate that others still use; then it stays. */
int orr_dup_unregister(starpu_data_handle_t h);
/* h is about to be written: from now on its duplicate is of an older value. */
void orr_dup_forget(starpu_data_handle_t h);

#endif
