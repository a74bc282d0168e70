/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The value of data: whether there is one, and its packed form.
 *
 * Invariant: nothing here changes the state of a replicate. */
#ifndef ORR_DATA_HANDLE_CONTENTS_H
#define ORR_DATA_HANDLE_CONTENTS_H

#include "data/handle.h"

/* Returns true if any replicate is valid. */
int orr_handle_has_value(starpu_data_handle_t h);
/* By the interface's method, for one who holds the datum, which the program may have given up
 * meanwhile (starpu_data_unregister_submit). 0, or a negative code of the method's; -ENOTSUP: there
 * is none. */
int orr_handle_pack(starpu_data_handle_t h, unsigned node, void **ptr, starpu_ssize_t *count);
int orr_handle_unpack(starpu_data_handle_t h, unsigned node, void *ptr, size_t count);

#endif
