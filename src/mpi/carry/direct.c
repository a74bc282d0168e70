/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The memory of devices in messages (STARPU_MPI_GPUDIRECT): a payload leaves the device that has
 * the value, and comes into the device that has used the datum, without a stop in main memory.
 *
 * The node is chosen when a request holds its datum. Of a send it is the device that has the value
 * while main memory has none. Of a receive it is the one device that has the value that is about to
 * be replaced: the tasks that use the datum are there. Small payloads, pieces with gaps, datatypes
 * of the program, packed data and values that travel along a tree go through main memory. So do
 * messages that came before their receive: their payload is in main memory.
 *
 * A payload that leaves a device, or comes from one, is carried by the transport that reaches
 * devices, which the envelope tells the receiver.
 *
 * Invariant: on another node than main memory a payload is contiguous. */
#include "mpi/carry/direct.h"
#include "mpi/carry/datatype.h"

#include "base/log.h"
#include "base/config.h"
#include "data/data.h"
#include "data/memnode.h"

static int is_wanted(const struct orr_mpi *mpi)
{
	long asked = orr_config_long("STARPU_MPI_GPUDIRECT", -1);

	return asked > 0 || (asked < 0 && mpi->proc->cuda);
}

static int has_type(struct orr_mpi *mpi, starpu_data_handle_t h)
{
	int attached = ORR_ATOMIC_LOAD(&h->mpi_flags) & ORR_MPI_ATTACHED;

	return mpi->types.n || (attached && ((const struct orr_mpi_ext *) h->mpi_ext)->type);
}

/* Its payload is here, or is about to come to main memory. */
static int came_early(struct orr_mpi *mpi, const struct orr_mpi_req *req)
{
	orr_lock(&mpi->lock);
	int early = req->early != NULL;
	orr_unlock(&mpi->lock);
	return early;
}

/* The memory node for the payload of a request, which holds its datum. */
static int choose_node(struct orr_acquire *a)
{
	struct orr_mpi *mpi = orr_self()->mpi;
	const struct orr_mpi_req *req = (const struct orr_mpi_req *) a;
	starpu_data_handle_t h = a->access.handle;
	int sends = req->kind == ORR_MPI_SEND, node = orr_handle_device_with_value(h, sends);
	struct orr_mpi_payload p;

	if (node < 0 || has_type(mpi, h) || req->peer == mpi->rank ||
	    !orr_mpi_describe_dense(h, (unsigned) node, &p) || p.form != ORR_FORM_CONTIGUOUS ||
	    p.layout.size < mpi->set.eager_limit || (!sends && came_early(mpi, req)))
		return STARPU_MAIN_RAM;
	return node;
}

void orr_mpi_direct_init(struct orr_mpi *mpi)
{
	mpi->set.direct = is_wanted(mpi) && !mpi->fake && orr_sys_mpi_reaches_devices(mpi->proc);
	if (mpi->set.direct)
		mpi->proc->data->choose_node = choose_node;
	else if (orr_config_long("STARPU_MPI_GPUDIRECT", -1) > 0)
		orr_warn(
			"STARPU_MPI_GPUDIRECT=1: this MPI does not reach the memory of GPUs, so that data of devices are sent from main memory; it needs CUDA devices, an MPI that was built with CUDA (MPIX_Query_cuda_support() says so), and another transport than UCX; or unset the variable");
}

const struct orr_transport *orr_mpi_carrier(const struct orr_mpi *mpi, uint32_t flags)
{
	return flags & ORR_MPI_OF_DEVICE ? orr_sys_mpi_device_transport(mpi->proc) : mpi->transport;
}

int orr_mpi_direct_receives(const struct orr_mpi *mpi, uint32_t flags)
{
	return orr_mpi_carrier(mpi, flags) == orr_sys_mpi_device_transport(mpi->proc);
}

void orr_mpi_direct_put(struct orr_mpi *mpi, starpu_data_handle_t h, unsigned node, const void *buf)
{
	struct orr_mpi_payload p;

	if (!orr_mpi_describe_dense(h, node, &p) ||
	    mpi->proc->data->memnodes[node]->ops->copy(mpi->proc, (uintptr_t) buf, 0,
						       STARPU_MAIN_RAM, (uintptr_t) p.ptr, 0, node,
						       p.layout.size, NULL))
		orr_fatal("data %s was received, and cannot be copied to memory node %u",
			  orr_handle_name(h), node);
}
