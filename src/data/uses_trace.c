/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data that tasks use, in the trace: for each its mode, and its tag or a number of its own.
 *
 * Invariant: a datum has one number while it lives, and no other of the process has it. */
#include "data/uses_trace.h"
#include "data/access_record.h"
#include "data/data.h"
#include "data/handle_attributes.h"
#include "trace/trace.h"

static enum orr_trace_use use_of(unsigned mode)
{
	if (mode & STARPU_SCRATCH)
		return ORR_USE_SCRATCH;
	if (mode & STARPU_REDUX)
		return ORR_USE_REDUX;
	switch (mode & STARPU_RW) {
	case STARPU_R: return ORR_USE_R;
	case STARPU_W: return ORR_USE_W;
	default: return ORR_USE_RW;
	}
}

/* A tag that means the same datum in all processes, -1: it has none. */
static int64_t tag_of(starpu_data_handle_t h)
{
	return h->mpi_comm ? -1 : h->mpi_tag;
}

/* The number of a datum without a tag, which gets one here when it has none. Numbers and not
 * addresses: the same simulation writes the same trace. */
static uint32_t number_of(struct orr_process *proc, starpu_data_handle_t h)
{
	uint32_t number = 0;

	orr_lock(&h->lock);
	struct orr_data_ext *ext = orr_handle_ext(h);

	if (ext) {
		if (!ext->used_as)
			ext->used_as = ORR_ATOMIC_ADD(&proc->data->nused, 1);
		number = ext->used_as;
	}
	orr_handle_unlock(h);
	return number;
}

static uint64_t wide_use(struct orr_process *proc, const struct orr_access *a)
{
	int64_t tag = tag_of(a->handle);
	uint64_t of = tag >= 0 && (uint64_t) tag <= ORR_TRACE_USE_LEAST
			      ? (uint64_t) tag
			      : ORR_TRACE_USE_UNTAGGED | number_of(proc, a->handle);

	return ORR_TRACE_USE_MODE(use_of(a->mode)) | of;
}

void orr_handle_record_uses(struct orr_process *proc, uint64_t job, const struct orr_access *access,
			    unsigned n)
{
	struct orr_trace_event e = { .kind = ORR_TRACE_USES, .worker = -1, .b = job };
	int small = 1;

	if (!n || !orr_trace_records(proc, ORR_TRACE_USES))
		return;
	for (unsigned i = 0; i < n; i++)
		small &= (uint64_t) tag_of(access[i].handle) >> ORR_TRACE_SMALL_TAG == 0;
	e.flags = small ? ORR_TRACE_USES_SMALL : 0;
	e.ns = orr_trace_ns_after(proc, ORR_TRACE_SUBMIT, job);
	for (unsigned i = 0, each = small ? 4 : 2; i < n; i += each) {
		uint64_t use[4] = { 0 };

		for (unsigned k = 0; k < each && i + k < n; k++)
			use[k] = small ? (uint64_t) use_of(access[i + k].mode)
							 << ORR_TRACE_SMALL_TAG |
						 (uint64_t) tag_of(access[i + k].handle)
				       : wide_use(proc, &access[i + k]);
		e.c = small ? use[0] | use[1] << 32 : use[0];
		e.d = small ? use[2] | use[3] << 32 : use[1];
		orr_trace_add_at(proc, &e);
	}
}
