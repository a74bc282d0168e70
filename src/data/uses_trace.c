/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The data that tasks use, in the trace: for each its mode, and its tag or a number of its own.
 *
 * Invariant: a datum has one number while it lives, and no other of the process has it. */
#include "data/uses_trace.h"
#include "data/access_record.h"
#include "data/data.h"
#include "data/handle_attributes.h"
#include "trace/join.h"

_Static_assert((int) STARPU_R == ORR_USE_R && (int) STARPU_W == ORR_USE_W &&
		       (int) STARPU_RW == ORR_USE_RW,
	       "modes");

static inline enum orr_trace_use use_of(unsigned mode)
{
	if (__builtin_expect(mode & (STARPU_SCRATCH | STARPU_REDUX), 0))
		return mode & STARPU_SCRATCH ? ORR_USE_SCRATCH : ORR_USE_REDUX;
	return mode & STARPU_RW ? (enum orr_trace_use)(mode & STARPU_RW) : ORR_USE_RW;
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
	struct orr_data_ext *ext = ORR_ATOMIC_LOAD(&h->ext);
	uint32_t number = ext ? ORR_ATOMIC_LOAD_RELAXED(&ext->used_as) : 0;

	if (number)
		return number;
	orr_lock(&h->lock);
	ext = orr_handle_ext(h);

	if (ext) {
		if (!ext->used_as)
			ORR_ATOMIC_STORE_RELAXED(&ext->used_as,
						 ORR_ATOMIC_ADD(&proc->data->nused, 1));
		number = ext->used_as;
	}
	orr_handle_unlock(h);
	return number;
}

/* A mode, and what names the datum: its tag, or UNTAGGED and a number. */
struct use {
	enum orr_trace_use mode;
	int untagged;
	uint64_t of;
};

static inline struct use use_by(struct orr_process *proc, const struct orr_access *a)
{
	int64_t tag = tag_of(a->handle);
	int tagged = tag >= 0 && (uint64_t) tag <= ORR_TRACE_USE_LEAST;

	return (struct use){ .mode = use_of(a->mode),
			     .untagged = !tagged,
			     .of = tagged ? (uint64_t) tag : number_of(proc, a->handle) };
}

static inline uint32_t small_use(const struct use *u)
{
	return (uint32_t) u->mode << ORR_TRACE_SMALL_MODE |
	       (u->untagged ? ORR_TRACE_SMALL_UNTAGGED : 0) | (uint32_t) u->of;
}

static inline uint64_t wide_use(const struct use *u)
{
	return ORR_TRACE_USE_MODE(u->mode) | (u->untagged ? ORR_TRACE_USE_UNTAGGED : 0) | u->of;
}

/* Some of the data of a task that its submission has no room for. */
static void record_part(struct orr_process *proc, uint64_t job, const struct use *use, unsigned n,
			int small)
{
	struct orr_trace_event e = { .kind = ORR_TRACE_USES,
				     .flags = small ? ORR_TRACE_USES_SMALL : 0,
				     .worker = -1,
				     .b = job,
				     .ns = orr_trace_submit_ns(proc, job) };

	for (unsigned i = 0, each = small ? 4 : 2; i < n; i += each) {
		uint64_t field[4] = { 0 };

		for (unsigned k = 0; k < each && i + k < n; k++)
			field[k] = small ? small_use(&use[i + k]) : wide_use(&use[i + k]);
		e.c = small ? field[0] | field[1] << 32 : field[0];
		e.d = small ? field[2] | field[3] << 32 : field[1];
		orr_trace_add_at(proc, &e);
	}
}

#define AT_ONCE 4 /* data that are looked at together */

/* Any data, as often as not more than a submission has room for. */
static void record_all(struct orr_process *proc, uint64_t job, const struct orr_access *access,
		       unsigned n)
{
	struct use use[AT_ONCE];
	uint32_t small[AT_ONCE];

	for (unsigned i = 0; i < n; i += AT_ONCE) {
		unsigned some = n - i < AT_ONCE ? n - i : AT_ONCE;
		int all_small = 1;

		for (unsigned k = 0; k < some; k++) {
			use[k] = use_by(proc, &access[i + k]);
			small[k] = small_use(&use[k]);
			all_small &= use[k].of >> ORR_TRACE_SMALL_TAG == 0;
		}
		if (!all_small || !orr_trace_submitted_uses(proc, job, small, n))
			record_part(proc, job, use, some, all_small);
	}
}

#define FEW 3 /* that a submission has room for, if they have small tags */

void orr_handle_record_uses(struct orr_process *proc, uint64_t job, const struct orr_access *access,
			    unsigned n)
{
	uint32_t small[FEW] = { 0 };
	uint64_t tags = n > FEW ? UINT64_MAX : 0;

	if (!n || !orr_trace_records(proc, ORR_TRACE_USES))
		return;
	for (unsigned i = 0; i < n && i < FEW; i++) {
		struct use use = use_by(proc, &access[i]);

		tags |= use.of;
		small[i] = small_use(&use);
	}
	if (tags >> ORR_TRACE_SMALL_TAG || !orr_trace_submitted_uses(proc, job, small, n))
		record_all(proc, job, access, n);
}
