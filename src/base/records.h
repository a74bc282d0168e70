/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file of records: one object of JSON a line, to which all processes of a run append, and both
 * libraries. ORRERY_STATISTICS names one.
 *
 * Invariant: the first line is an object "run" that says what the run was; each process appends
 * whole lines, while it has the file locked. The file of an older run is emptied before the first
 * line: in a real run by the first process, which knows its run by its name; in a simulated one by
 * the launcher. */
#ifndef ORR_BASE_RECORDS_H
#define ORR_BASE_RECORDS_H

#include <stddef.h>

#include "base/process.h"

/* [any] Before the run: begins the file, or finds it begun. 0, or -errno after a message. */
int orr_records_begin(struct orr_process *proc, const char *variable, const char *path);
/* [any] Appends lines. What fails here fails the run, after a message. */
void orr_records_add(const char *variable, const char *path, const char *text, size_t size);

#endif
