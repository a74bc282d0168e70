/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walks over a table of parts (see part_walk.h). */
#include "mpi/run/part_walk.h"

#include <stddef.h>

#include "base/assert.h"

int orr_mpi_parts_begin(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n,
			const struct orr_mpi_change *to)
{
	for (unsigned i = 0; i < n; i++) {
		int ret = parts[i].begin ? parts[i].begin(mpi, to) : 0;

		orr_assertf(ret <= 0, "part %s begins with %d", parts[i].name, ret);
		if (!ret)
			continue;
		orr_mpi_parts_end(mpi, parts, i);
		return ret;
	}
	return 0;
}

void orr_mpi_parts_end(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n)
{
	while (n-- > 0)
		if (parts[n].end)
			parts[n].end(mpi);
}

int orr_mpi_parts_finish(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n)
{
	int ret = 0;

	for (unsigned i = 0; i < n && !ret; i++)
		if (parts[i].finish)
			ret = parts[i].finish(mpi);
	return ret;
}

int orr_mpi_parts_may_switch(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n,
			     const struct orr_mpi_change *to)
{
	int ret = 0;

	while (n-- > 0 && !ret)
		if (parts[n].may_switch)
			ret = parts[n].may_switch(mpi, to);
	return ret;
}

void orr_mpi_parts_pause(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n)
{
	while (n-- > 0)
		if (parts[n].pause)
			parts[n].pause(mpi);
}

void orr_mpi_parts_leave(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n,
			 const struct orr_mpi_change *to)
{
	while (n-- > 0)
		if (parts[n].leave)
			parts[n].leave(mpi, to);
}

void orr_mpi_parts_stop(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n)
{
	while (n-- > 0)
		if (parts[n].stop)
			parts[n].stop(mpi);
}

void orr_mpi_parts_renumber(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n,
			    const struct orr_mpi_change *to)
{
	for (unsigned i = 0; i < n; i++)
		if (parts[i].renumber)
			parts[i].renumber(mpi, to);
}

void orr_mpi_parts_enter(struct orr_mpi *mpi, const struct orr_mpi_part *parts, unsigned n,
			 const struct orr_mpi_change *to)
{
	for (unsigned i = 0; i < n; i++)
		if (parts[i].enter)
			parts[i].enter(mpi, to);
}
