/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parsing of the variable arguments of starpu_task_insert and its relatives into a task. */
#ifndef ORR_CORE_INSERT_H
#define ORR_CORE_INSERT_H

#include <stdarg.h>
#include "base/process.h"
#include "starpu.h"

/* This thread inserts a task of that codelet (or NULL) until orr_insert_end(): a crash in between
 * names it. */
static inline struct orr_thread *orr_insert_begin(const struct starpu_codelet *cl)
{
	struct orr_thread *self = orr_thread_self();

	self->inserts = cl;
	return self;
}

static inline void orr_insert_end(struct orr_thread *self)
{
	self->inserts = NULL;
}

/* Numbers below this one are access modes, each followed by a handle. */
#define ORR_FIRST_MARKER (1 << 16)

/* Sets the fields of `task` (made by starpu_task_create) from the list. The markers of the MPI
 * layer are consumed and ignored. Returns 0, or -EINVAL / -ENOMEM after a message; the task is then
 * still the caller's. ap is consumed. */
int orr_task_insert_parse(struct starpu_task *task, struct starpu_codelet *cl, va_list ap);

/* The same from an array, for languages without variable arguments: markers, modes and what stands
 * for itself (handles, functions, sizes of STARPU_VALUE) as pointers, other numbers pointed to; a
 * null pointer ends it. */
int orr_task_insert_list(struct starpu_task *task, struct starpu_codelet *cl, void **list);

/* Elements of such an array that belong to a marker, after the marker; 0: there is no such marker.
 */
unsigned orr_marker_elements(int marker);

/* Consumes the arguments of a marker. known: 0 when there is no such marker. owned: the argument
 * that a task would have freed, or NULL. */
struct orr_marker_skipped {
	int known;
	void *owned;
};
struct orr_marker_skipped orr_marker_skip(int marker, va_list *ap);

#endif
