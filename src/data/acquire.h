/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Acquisitions by the program (starpu_data_acquire and its relatives), as far as others ask.
 *
 * Invariant: an acquisition is in its handle's list from its grant to its release. */
#ifndef ORR_DATA_ACQUIRE_H
#define ORR_DATA_ACQUIRE_H

#include "data/handle.h"

/* Inside a task or a callback the program must not wait for data. 0, or -EDEADLK after a message.
 */
int orr_acquire_check_wait(starpu_data_handle_t h, const char *what);
/* Data that the program holds cannot be unregistered. 0, or -EBUSY after a message. */
int orr_acquire_check_unregister(starpu_data_handle_t h);

#endif
