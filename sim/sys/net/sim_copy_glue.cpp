// SPDX-License-Identifier: LGPL-2.1-or-later
// Payloads of SMPI's messages that are not copied, as they have no bytes (machine/sim_memory.c).
//
// Invariant: a payload is left out if and only if its sender's bytes lie in that range.
#include "actors/sim_glue.h"
#include <cstdint>
#include <smpi/smpi.h>
#include <simgrid/s4u.hpp>
#include "simgrid_names.h"

static uintptr_t no_copy_low, no_copy_high;

static void copy_payload(simgrid::kernel::activity::ActivityImpl *activity, void *source,
			 size_t size)
{
	uintptr_t at = reinterpret_cast<uintptr_t>(source);
	if (at - no_copy_low >= no_copy_high - no_copy_low)
		smpi_comm_copy_buffer_callback(
			reinterpret_cast<simgrid::kernel::activity::CommImpl *>(activity), source,
			size);
}

void orr_sim_glue_no_copy(const void *low, const void *high)
{
	no_copy_low = reinterpret_cast<uintptr_t>(low);
	no_copy_high = reinterpret_cast<uintptr_t>(high);
	smpi_comm_set_copy_data_callback(copy_payload);
}
