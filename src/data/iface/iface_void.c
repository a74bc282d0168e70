/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The void interface: no value, only dependencies (handbook 27.6).
 *
 * Invariant: every size is 0 and nothing is ever copied; allocation succeeds and takes nothing. */
#include "data/iface/iface_parts.h"

/* The structure is a byte that nobody reads, since C has no empty ones. */
ORR_PARTS_INTERFACE(void, STARPU_VOID_INTERFACE_ID, 1, NULL);

void starpu_void_data_register(starpu_data_handle_t *handle)
{
	char nothing = 0;

	orr_parts_register(handle, STARPU_MAIN_RAM, &nothing, &starpu_interface_void_ops);
}
