/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The number of tasks that write a datum (see heat.h). */
#include "mpi/auto/heat.h"

void orr_mpi_heat_note(struct orr_mpi *mpi, const struct starpu_data_descr *d, unsigned n)
{
	mpi->heat.ntasks++;
	for (unsigned i = 0; i < n; i++) {
		struct orr_mpi_ext *ext = d[i].handle && d[i].mode & STARPU_W
						  ? orr_mpi_ext(d[i].handle)
						  : NULL;
		if (!ext)
			continue;
		if (ext->lb_interval != mpi->heat.interval) {
			ext->lb_interval = mpi->heat.interval;
			ext->lb_tasks = 0;
		}
		ext->lb_tasks++;
		return;
	}
}
