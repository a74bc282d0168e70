/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages about data: names, and the refusal of handles that are none.
 *
 * Invariant: nothing is read of a handle that ended but the byte that says so. */
#include "data/datum/datum.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>

int orr_handle_refuse(starpu_data_handle_t h, const char *what)
{
	if (!h)
		orr_error("%s: the handle is NULL; register the data first", what);
	else if (ORR_ATOMIC_LOAD_RELAXED(&h->alive) == ORR_HANDLE_LEAVING)
		orr_error(
			"%s: %s was given to starpu_data_unregister_submit; it cannot be used any more",
			what, orr_handle_name(h));
	else
		orr_error("%s: %p is not a registered data; was it unregistered before?", what,
			  (void *) h);
	return -EINVAL;
}

void orr_handle_must_be_known(starpu_data_handle_t h, const char *what)
{
	if (orr_handle_known(h, what))
		orr_fatal("%s cannot go on without a handle", what);
}

const char *orr_interface_name(const struct starpu_data_interface_ops *ops)
{
	return ops->name ? ops->name : "user-defined";
}

const char *orr_handle_name(starpu_data_handle_t h)
{
	static __thread char buffers[4][96];
	static __thread unsigned turn;
	char *b = buffers[turn++ % 4];
	int n;

	if (!h)
		return "NULL";
	if (h->ext && h->ext->name)
		n = snprintf(b, 64, "\"%s\"", h->ext->name);
	else
		n = snprintf(b, 64, "%s datum %p", orr_interface_name(h->ops), (void *) h);
	if (n > 63)
		n = 63;
	if (h->mpi_tag >= 0)
		snprintf(b + n, 96 - (size_t) n, " (tag %lld)", (long long) h->mpi_tag);
	return b;
}
