/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The network for which shapes are chosen (shape.h): as the seam knows it, or as the user says.
 *
 * Invariant: it is asked for once, and does not change afterwards. */
#include "base/assert.h"
#include "base/config.h"
#include "mpi/carry/layer.h"
#include "mpi/carry/shape.h"

#define NS_PER_US 1e3

static void replace(const char *name, double per_unit, double *value)
{
	long given = orr_config_long(name, 0);

	if (given > 0)
		*value = (double) given / per_unit;
}

const struct orr_mpi_network *orr_mpi_network(struct orr_mpi *mpi)
{
	struct orr_mpi_network *net = &mpi->network;

	orr_mpi_assert_owner(mpi);
	if (net->bytes_per_us > 0)
		return net;
	orr_sys_mpi_network(mpi->proc, net);
	replace("ORRERY_MPI_LATENCY", NS_PER_US, &net->latency_us);
	replace("ORRERY_MPI_BANDWIDTH", 1, &net->bytes_per_us);
	replace("ORRERY_MPI_OVERHEAD", NS_PER_US, &net->overhead_us);
	replace("ORRERY_MPI_PIECES", 1, &net->most_pieces);
	orr_assert(net->latency_us > 0 && net->bytes_per_us > 0 && net->overhead_us > 0);
	return net;
}
