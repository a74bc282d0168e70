/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of internal functions that liborrery hands to liborrery-mpi (see core_table.h).
 *
 * Invariant: the table never changes. */
#include <config.h>
#include "bridge/core_table.h"
#include "base/log.h"

#include <string.h>

static struct orr_thread *thread_self(void)
{
	return orr_thread_self();
}

static const struct orrery_core table = { .process = &orr_the_process,
					  .thread = thread_self,
#define F(name) .name = name,
					  ORR_CORE_TABLE(F)
#undef F
};

const struct orrery_core *orrery_core_interface(const struct orrery_build *build, size_t size)
{
	const struct orrery_build here = orr_build_here();

	if (size == sizeof(here) && !memcmp(build, &here, sizeof(here)))
		return &table;
	orr_error(
		"liborrery %s and liborrery-mpi %.*s come from different builds, which do not fit together; install both from one build, and let neither LD_LIBRARY_PATH nor a second installation mix them (ldd PROGRAM shows which are loaded)",
		here.version, (int) sizeof(build->version), build->version);
	return NULL;
}
