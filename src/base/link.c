/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The link that is known (see link.h).
 *
 * Invariant: the table is set while libraries are loaded, and is the same for all processes that
 * share them. */
#include "base/link.h"

#include "base/assert.h"

static const struct orr_link_ops *known;

void orr_link_register(const struct orr_link_ops *ops)
{
	orr_assert(ops->join && ops->leave && ops->open && ops->close && ops->post);
	ORR_ATOMIC_STORE(&known, ops);
}

const struct orr_link_ops *orr_link_known(void)
{
	return ORR_ATOMIC_LOAD(&known);
}
