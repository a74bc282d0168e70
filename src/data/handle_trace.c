/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events of data handles (see handle_trace.h).
 *
 * Invariant: a datum with a tag has an event each time that something of it is set; one without a
 * tag has one, when it ends. Pieces that no tag or name tells apart have none, and none have those
 * whose owner is a rank of another communicator than the world. */
#include "data/handle_trace.h"
#include "trace/trace.h"

#include <stdio.h>

#define ROOM 80 /* characters of five coordinates */

/* The string of the coordinates, 0: there are none. */
static uint32_t coordinates(struct orr_process *proc, const struct orr_data_ext *ext)
{
	char text[ROOM];
	size_t n = 0;

	if (!ext || ext->ncoords <= 0)
		return 0;
	for (int i = 0; i < ext->ncoords && n < sizeof(text); i++)
		n += (size_t) snprintf(text + n, sizeof(text) - n, i ? " %d" : "%d",
				       ext->coords[i]);
	return orr_trace_string(proc, text);
}

static __attribute__((noinline)) void record(struct orr_process *proc, starpu_data_handle_t h,
					     int ends)
{
	const struct orr_data_ext *ext = h->ext;

	orr_trace_add(proc,
		      (struct orr_trace_event){
			      .kind = ORR_TRACE_DATUM,
			      .flags = (uint8_t) ((ends ? ORR_TRACE_DATUM_ENDS : 0) |
						  (h->mpi_tag < 0 ? ORR_TRACE_DATUM_UNTAGGED : 0)),
			      .worker = h->home_node,
			      .a = ext && ext->name ? orr_trace_string(proc, ext->name) : 0,
			      .b = h->mpi_tag >= 0 ? (uint64_t) h->mpi_tag
				   : ext           ? ext->used_as
						   : 0,
			      .c = starpu_data_get_size(h),
			      .d = coordinates(proc, ext) });
}

void orr_handle_record_slow(struct orr_process *proc, starpu_data_handle_t h, int ends)
{
	if (!orr_trace_records(proc, ORR_TRACE_DATUM))
		return;
	/* Most data of a rank are other ranks'. */
	if (h->mpi_tag < 0 ? !ends || (h->piece_of && !(h->ext && h->ext->name))
			   : h->mpi_comm || h->mpi_rank != proc->mpi_rank)
		return;
	record(proc, h, ends);
}
